"""c = a b^T by two CTAs that take tile after tile, through tensor maps that the
kernel itself makes in global scratch memory."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from dump import keep, random


@triton.jit
def matmul_persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    ad = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    bd = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    cd = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    across = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * across, tl.num_programs(0), flatten=True):
        m, n = tile // across * BM, tile % across * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(ad.load([m, k]), bd.load([n, k]).T, acc)
        cd.store([m, n], acc.to(tl.float16))


triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
a = torch.from_numpy(random((128, 192), 1, -1, 1)).cuda()
b = torch.from_numpy(random((192, 192), 2, -1, 1)).cuda()
c = torch.empty(128, 192, dtype=torch.float16, device="cuda")
kernel = matmul_persistent[(2,)](a, b, c, 128, 192, 192, BM=64, BN=64, BK=64, num_stages=3, num_warps=4)
print("worst", (c.float() - a.float() @ b.float().T).abs().max().item())
keep(__file__, kernel, c=c)
