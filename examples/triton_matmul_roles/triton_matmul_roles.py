"""c = a b^T, specialized by Triton itself: tl.range(..., warp_specialize=True)."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from dump import keep, random


@triton.jit
def matmul_roles(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
    c.store([m, n], acc.to(tl.float16))


def box(t, *b):
    return TensorDescriptor.from_tensor(t, list(b))


a = torch.from_numpy(random((128, 384), 1, -1, 1)).cuda()
b = torch.from_numpy(random((256, 384), 2, -1, 1)).cuda()
c = torch.empty(128, 256, dtype=torch.float16, device="cuda")
kernel = matmul_roles[(2, 2)](box(a, 64, 64), box(b, 128, 64), box(c, 64, 128), 384, BM=64, BN=128, BK=64, num_stages=3, num_warps=4)
print("worst", (c.float() - a.float() @ b.float().T).abs().max().item())
keep(__file__, kernel, c=c)
