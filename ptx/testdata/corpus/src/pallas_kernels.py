"""Kernels for JAX: Pallas on Mosaic GPU. PTX goes to OUT/pallas_NAME.ptx.

    pallas_kernels.py OUT
"""
import glob
import os
import shutil
import sys
import tempfile
import traceback

out = os.path.abspath(sys.argv[1])
box = tempfile.mkdtemp()
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
os.environ["MOSAIC_GPU_DUMP_TO"] = box
os.environ["MOSAIC_GPU_DUMP_PTX"] = "1"

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu


def dump(name, fn, *args):
    for old in glob.glob(box + "/**", recursive=True):
        if os.path.isfile(old):
            os.remove(old)
    try:
        jax.block_until_ready(jax.jit(fn)(*args))
    except Exception as e:
        print(f"FAILED pallas_{name}: {type(e).__name__} {str(e)[:800]}")
        traceback.print_exc(limit=2)
    sys.stdout.flush()
    found = glob.glob(box + "/**/*.ptx", recursive=True)
    if not found:
        print(f"FAILED pallas_{name}: no PTX")
        return
    shutil.copy(found[0], os.path.join(out, f"pallas_{name}.ptx"))
    print(f"made pallas_{name}")


f16 = lambda *s: jax.random.normal(jax.random.key(0), s, jnp.float16)
f32 = lambda *s: jax.random.normal(jax.random.key(1), s, jnp.float32)


def mgpu_add(x, y):
    def body(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] + y_ref[...] * 2
    return plgpu.kernel(body, out_type=jax.ShapeDtypeStruct(x.shape, x.dtype))(x, y)


def mgpu_copy(x):
    def body(x_ref, o_ref, smem, bar):
        i = lax.axis_index("grid")
        plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(i * 64, 64)], smem, bar)
        plgpu.barrier_wait(bar)
        smem[...] = smem[...] + 1
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_ref.at[pl.ds(i * 64, 64)])
        plgpu.wait_smem_to_gmem(0)
    return plgpu.kernel(
        body, out_type=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(x.shape[0] // 64,), grid_names=("grid",),
        scratch_types=[plgpu.SMEM((64, 128), x.dtype), plgpu.Barrier()])(x)


def mgpu_matmul(a, b, cluster=False):
    m, k = a.shape
    _, n = b.shape
    swizzle = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))

    def body(a_ref, b_ref, o_ref, o_smem, acc):
        i, j = lax.axis_index("m"), lax.axis_index("n")

        def step(_, a_smem, b_smem):
            plgpu.wgmma(acc, a_smem, b_smem)
            plgpu.wgmma_wait(0)

        plgpu.emit_pipeline(
            step, grid=(k // 64,), max_concurrent_steps=3,
            in_specs=[plgpu.BlockSpec((64, 64), lambda s: (i, s), transforms=swizzle),
                      plgpu.BlockSpec((64, 64), lambda s: (s, j), transforms=swizzle)])(a_ref, b_ref)
        o_smem[...] = acc[...].astype(o_smem.dtype)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(o_smem, o_ref.at[pl.ds(i * 64, 64), pl.ds(j * 64, 64)])
        plgpu.wait_smem_to_gmem(0)

    return plgpu.kernel(
        body, out_type=jax.ShapeDtypeStruct((m, n), a.dtype), grid=(m // 64, n // 64), grid_names=("m", "n"),
        scratch_types=[plgpu.SMEM((64, 64), a.dtype, transforms=swizzle), plgpu.ACC((64, 64))])(a, b)


def mgpu_roles(x):
    def body(x_ref, o_ref, smem, full, empty):
        wg = lax.axis_index("wg")

        @pl.when(wg == 0)
        def _():
            plgpu.set_max_registers(40, action="decrease")

            @pl.loop(0, 8)
            def _(k):
                s = lax.rem(k, 2)
                pl.when(k >= 2)(lambda: plgpu.barrier_wait(empty.at[s]))
                plgpu.copy_gmem_to_smem(x_ref.at[k], smem.at[s], full.at[s])

        @pl.when(wg == 1)
        def _():
            plgpu.set_max_registers(200, action="increase")

            def step(k, total):
                s = lax.rem(k, 2)
                plgpu.barrier_wait(full.at[s])
                total = total + smem[s]
                plgpu.barrier_arrive(empty.at[s])
                return total

            o_ref[...] = lax.fori_loop(0, 8, step, plgpu.layout_cast(jnp.zeros((256,), jnp.float32), plgpu.Layout.WG_STRIDED((256,), 1)))

    return plgpu.kernel(
        body, out_type=jax.ShapeDtypeStruct((256,), jnp.float32), num_threads=2, thread_name="wg",
        scratch_types=[plgpu.SMEM((2, 256), jnp.float32), plgpu.Barrier(num_barriers=2), plgpu.Barrier(num_barriers=2)])(x)


def pipe_warp(x):
    def body(x_ref, o_ref):
        def step(_, x_smem, o_smem, *_rest):
            o_smem[...] = jnp.exp(x_smem[...]) * 0.5
        plgpu.emit_pipeline(
            step, grid=(4,), max_concurrent_steps=2,
            in_specs=[plgpu.BlockSpec((64, 64), lambda s: (0, s))],
            out_specs=[plgpu.BlockSpec((64, 64), lambda s: (0, s))])(x_ref, o_ref)
    return plgpu.kernel(body, out_type=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)


dump("add", mgpu_add, f32(128, 128), f32(128, 128))
dump("copy", mgpu_copy, f32(256, 128))
dump("wgmma", mgpu_matmul, f16(128, 256), f16(256, 128))
dump("roles", mgpu_roles, f32(8, 256))
dump("pipeline", pipe_warp, f32(64, 256))
