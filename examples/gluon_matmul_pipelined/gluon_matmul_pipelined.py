"""c = a b in Gluon: one warpgroup loads two tiles ahead and leaves one product
in flight."""
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
def pipelined(a, b, c, K, S: gl.constexpr, num_warps: gl.constexpr):
    m = gl.program_id(0) * c.block_shape[0]
    n = gl.program_id(1) * c.block_shape[1]
    BK: gl.constexpr = a.block_shape[1]
    at = gl.allocate_shared_memory(a.dtype, [S] + a.block_shape, a.layout)
    bt = gl.allocate_shared_memory(b.dtype, [S] + b.block_shape, b.layout)
    ct = gl.allocate_shared_memory(c.dtype, c.block_shape, c.layout)
    full = gl.allocate_shared_memory(gl.int64, [S, 1], mbarrier.MBarrierLayout())
    for s in gl.static_range(S):
        mbarrier.init(full.index(s), count=1)
    for s in gl.static_range(S - 2):
        mbarrier.expect(full.index(s), a.block_type.nbytes + b.block_type.nbytes)
        tma.async_copy_global_to_shared(a, [m, s * BK], full.index(s), at.index(s))
        tma.async_copy_global_to_shared(b, [s * BK, n], full.index(s), bt.index(s))
    M: gl.constexpr = c.block_shape[0]
    N: gl.constexpr = c.block_shape[1]
    layout: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[num_warps, 1], instr_shape=[16, N, 16])
    acc = gl.zeros([M, N], gl.float32, layout)
    for k in range(0, K, BK):
        i = k // BK
        ahead = i + S - 2
        if ahead * BK < K:
            mbarrier.expect(full.index(ahead % S), a.block_type.nbytes + b.block_type.nbytes)
            tma.async_copy_global_to_shared(a, [m, ahead * BK], full.index(ahead % S), at.index(ahead % S))
            tma.async_copy_global_to_shared(b, [ahead * BK, n], full.index(ahead % S), bt.index(ahead % S))
        mbarrier.wait(full.index(i % S), i // S & 1)
        acc = warpgroup_mma(at.index(i % S), bt.index(i % S), acc, is_async=True)
        acc = warpgroup_mma_wait(num_outstanding=1, deps=(acc, ))
    acc = warpgroup_mma_wait(num_outstanding=0, deps=(acc, ))
    for s in gl.static_range(S):
        mbarrier.invalidate(full.index(s))
    ct.store(acc.to(c.dtype))
    fence_async_shared()
    tma.async_copy_shared_to_global(c, [m, n], ct)
    tma.store_wait(pendings=0)


layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)


def box(t):
    return TensorDescriptor.from_tensor(t, [64, 64], layout)


a = torch.from_numpy(random((128, 384), 1, -1, 1)).cuda()
b = torch.from_numpy(random((384, 128), 2, -1, 1)).cuda()
c = torch.empty(128, 128, dtype=torch.float16, device="cuda")
kernel = pipelined[(2, 2)](box(a), box(b), box(c), 384, S=4, num_warps=4)
print("worst", (c.float() - a.float() @ b.float()).abs().max().item())
keep(__file__, kernel, c=c)
