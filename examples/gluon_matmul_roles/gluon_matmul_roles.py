"""c = a b with roles written in Gluon: a warp that loads, a warpgroup that
multiplies."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma, warpgroup_mma, warpgroup_mma_wait
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

from dump import keep, random


@gluon.jit
def load_tiles(a, b, at, bt, full, empty, m, n, K, S: gl.constexpr):
    BK: gl.constexpr = a.block_shape[1]
    for k in range(0, K, BK):
        i = k // BK
        mbarrier.wait(empty.index(i % S), (i // S & 1) ^ 1)
        mbarrier.expect(full.index(i % S), a.block_type.nbytes + b.block_type.nbytes)
        tma.async_copy_global_to_shared(a, [m, k], full.index(i % S), at.index(i % S))
        tma.async_copy_global_to_shared(b, [k, n], full.index(i % S), bt.index(i % S))


@gluon.jit
def multiply_tiles(c, at, bt, ct, full, empty, m, n, K, BK: gl.constexpr, S: gl.constexpr, num_warps: gl.constexpr):
    M: gl.constexpr = c.block_shape[0]
    N: gl.constexpr = c.block_shape[1]
    layout: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[num_warps, 1], instr_shape=[16, N, 16])
    acc = gl.zeros([M, N], gl.float32, layout)
    for k in range(0, K, BK):
        i = k // BK
        mbarrier.wait(full.index(i % S), i // S & 1)
        acc = warpgroup_mma(at.index(i % S), bt.index(i % S), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
        mbarrier.arrive(empty.index(i % S), count=1)
    ct.store(acc.to(c.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(c, [m, n], ct)
    tma.store_wait(pendings=0)


@gluon.jit
def roles(a, b, c, K, S: gl.constexpr, num_warps: gl.constexpr):
    m = gl.program_id(0) * c.block_shape[0]
    n = gl.program_id(1) * c.block_shape[1]
    at = gl.allocate_shared_memory(a.dtype, [S] + a.block_shape, a.layout)
    bt = gl.allocate_shared_memory(b.dtype, [S] + b.block_shape, b.layout)
    ct = gl.allocate_shared_memory(c.dtype, c.block_shape, c.layout)
    full = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    for s in gl.static_range(S):
        mbarrier.init(full.index(s), count=1)
        mbarrier.init(empty.index(s), count=1)
    gl.warp_specialize([(multiply_tiles, (c, at, bt, ct, full, empty, m, n, K, a.block_shape[1], S, num_warps)),
                        (load_tiles, (a, b, at, bt, full, empty, m, n, K, S))], [1], [24])


layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)


def box(t):
    return TensorDescriptor.from_tensor(t, [64, 64], layout)


a = torch.from_numpy(random((128, 384), 1, -1, 1)).cuda()
b = torch.from_numpy(random((384, 128), 2, -1, 1)).cuda()
c = torch.empty(128, 128, dtype=torch.float16, device="cuda")
kernel = roles[(2, 2)](box(a), box(b), box(c), 384, S=3, num_warps=4)
print("worst", (c.float() - a.float() @ b.float()).abs().max().item())
keep(__file__, kernel, c=c)
