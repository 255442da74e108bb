import jax, jax.numpy as jnp, sys, inspect
from jax.experimental import pallas as pl
which = sys.argv[1]
if which == "triton":
    from jax.experimental.pallas import triton as plgpu
    def kernel(x_ref, y_ref, o_ref):
        o_ref[...] = x_ref[...] * y_ref[...] + 1.0
    @jax.jit
    def f(x, y):
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), grid=(4,), in_specs=[pl.BlockSpec((64,), lambda i: (i,))] * 2, out_specs=pl.BlockSpec((64,), lambda i: (i,)), compiler_params=plgpu.CompilerParams(num_warps=4), name="muladd")(x, y)
    x = jnp.arange(256, dtype=jnp.float32); y = jnp.ones(256, jnp.float32) * 2
    print(f(x, y)[:4])
else:
    from jax.experimental.pallas import mosaic_gpu as plgpu
    print(inspect.signature(plgpu.kernel))
    def kernel(x_gmem, o_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem, barrier)
        plgpu.barrier_wait(barrier)
        smem[...] = smem[...] + 1.0
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, o_gmem)
        plgpu.wait_smem_to_gmem(0)
    x = jnp.arange(256, dtype=jnp.float32)
    S = jax.ShapeDtypeStruct(x.shape, x.dtype)
    last = None
    for names in (("out_shape", "scratch_shapes"), ("out_type", "scratch_types"), ("out_shape", "scratch_types"), ("out_type", "scratch_shapes")):
        try:
            f = jax.jit(plgpu.kernel(kernel, **{names[0]: S, names[1]: [plgpu.SMEM((256,), jnp.float32), plgpu.Barrier()]}))
            print(f(x)[:4]); print("names", names); break
        except TypeError as e: last = e
    else: raise last
