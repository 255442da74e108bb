"""Kernels for Gluon, Triton's lower language; PTX goes to OUT/gluon_NAME.ptx.

    gluon_kernels.py OUT
"""
import os
import sys
import traceback

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import (fence_async_shared, mbarrier, tma, warpgroup_mma,
                                                              warpgroup_mma_wait)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

out = sys.argv[1]


@gluon.jit
def tma_ring(src, dst, tiles, S: gl.constexpr, layout: gl.constexpr):
    dtype: gl.constexpr = src.dtype
    ring = gl.allocate_shared_memory(dtype, [S] + src.block_shape, src.layout)
    back = gl.allocate_shared_memory(dtype, dst.block_shape, dst.layout)
    full = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    for s in gl.static_range(S):
        mbarrier.init(full.index(s), count=1)
    row = gl.program_id(0) * src.block_shape[0]
    for k in range(S - 1):
        mbarrier.expect(full.index(k), src.block_type.nbytes)
        tma.async_copy_global_to_shared(src, [row, k * src.block_shape[1]], full.index(k), ring.index(k))
    for k in range(tiles):
        ahead = k + S - 1
        if ahead < tiles:
            mbarrier.expect(full.index(ahead % S), src.block_type.nbytes)
            tma.async_copy_global_to_shared(src, [row, ahead * src.block_shape[1]], full.index(ahead % S), ring.index(ahead % S))
        mbarrier.wait(full.index(k % S), (k // S) & 1)
        v = ring.index(k % S).load(layout)
        tma.store_wait(pendings=0)
        back.store(v * 2)
        fence_async_shared()
        tma.async_copy_shared_to_global(dst, [row, k * src.block_shape[1]], back)
    tma.store_wait(pendings=0)
    for s in gl.static_range(S):
        mbarrier.invalidate(full.index(s))


@gluon.jit
def wgmma(a, b, c, num_warps: gl.constexpr):
    at = gl.allocate_shared_memory(a.dtype, a.block_shape, a.layout)
    bt = gl.allocate_shared_memory(b.dtype, b.block_shape, b.layout)
    ct = gl.allocate_shared_memory(c.dtype, c.block_shape, c.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, a.block_type.nbytes + b.block_type.nbytes)
    tma.async_copy_global_to_shared(a, [0, 0], bar, at)
    tma.async_copy_global_to_shared(b, [0, 0], bar, bt)
    mbarrier.wait(bar, 0)
    mbarrier.invalidate(bar)
    layout: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[num_warps, 1], instr_shape=[16, 64, 16])
    M: gl.constexpr = c.block_shape[0]
    N: gl.constexpr = c.block_shape[1]
    acc = gl.zeros([M, N], gl.float32, layout)
    acc = warpgroup_mma(at, bt, acc, is_async=True)
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    ct.store(acc.to(c.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(c, [0, 0], ct)
    tma.store_wait(pendings=0)


@gluon.jit
def ldgsts(src, dst, n, B: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    buf = gl.allocate_shared_memory(gl.float32, [2, B], shared)
    i = gl.arange(0, B, layout)
    async_copy.async_copy_global_to_shared(buf.index(0), src + i, mask=i < n)
    async_copy.commit_group()
    for k in range(0, n, B):
        async_copy.async_copy_global_to_shared(buf.index((k // B + 1) & 1), src + k + B + i, mask=k + B + i < n)
        async_copy.commit_group()
        async_copy.wait_group(1)
        v = buf.index((k // B) & 1).load(layout)
        gl.store(dst + k + i, v + 1, mask=k + i < n)


def dump(name, kernel, grid, *args, **meta):
    try:
        k = kernel[grid](*args, **meta)
        torch.cuda.synchronize()
        with open(os.path.join(out, f"gluon_{name}.ptx"), "w") as f:
            f.write(k.asm["ptx"])
        print(f"made gluon_{name}")
    except Exception as e:
        print(f"FAILED gluon_{name}: {type(e).__name__} {str(e)[:800]}")
        traceback.print_exc(limit=2)


x, y = torch.randn(64, 512, device="cuda"), torch.empty(64, 512, device="cuda")
sl = gl.NVMMASharedLayout.get_default_for([32, 32], gl.float32)
reg = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
dump("tma_ring", tma_ring, (2,), TensorDescriptor.from_tensor(x, [32, 32], sl), TensorDescriptor.from_tensor(y, [32, 32], sl), 16, S=3, layout=reg, num_warps=4)
a, b, c = (torch.randn(64, 64, device="cuda").half() for _ in range(3))
hl = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
td = lambda t: TensorDescriptor.from_tensor(t, [64, 64], hl)
dump("wgmma", wgmma, (1,), td(a), td(b), td(c), num_warps=4)
flat = gl.BlockedLayout([4], [32], [4], [0])
dump("ldgsts", ldgsts, (1,), x, y, 5000, B=512, layout=flat, shared=gl.SwizzledSharedLayout(1, 1, 1, [0]), num_warps=4)
