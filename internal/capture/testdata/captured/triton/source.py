import os, torch, triton, triton.language as tl
import torch.distributed as dist
dist.init_process_group("gloo")
@triton.jit
def scale(x, n, f, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, i < n) * f, i < n)
x = torch.ones(1000, device='cuda'); scale[(1,)](x, 1000, float(dist.get_rank() + 2), 1024)
y = x.cpu(); dist.all_reduce(y); print(dist.get_rank(), y[0].item()); dist.destroy_process_group()
