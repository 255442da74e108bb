"""Kernels for Triton; the PTX of each goes to OUT/triton_NAME.ptx.

    triton_kernels.py OUT
"""
import os
import sys
import traceback

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

out = sys.argv[1]
f32 = lambda *s: torch.randn(*s, device="cuda")
f16 = lambda *s: f32(*s).half()


@triton.jit
def softmax(x, y, n, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + row * n + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * n + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def layernorm(x, w, b, y, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, B)
    m = i < n
    v = tl.load(x + row * n + i, mask=m, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / n
    d = tl.where(m, v - mean, 0.0)
    r = 1 / tl.sqrt(tl.sum(d * d, 0) / n + eps)
    o = d * r * tl.load(w + i, mask=m) + tl.load(b + i, mask=m)
    tl.store(y + row * n + i, o.to(y.dtype.element_ty), mask=m)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm, pn = tl.program_id(0), tl.program_id(1)
    i, j, k = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN), tl.arange(0, BK)
    pa = a + i[:, None] * K + k[None, :]
    pb = b + k[:, None] * N + j[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for s in range(0, K, BK):
        acc = tl.dot(tl.load(pa, mask=k[None, :] < K - s, other=0.0), tl.load(pb, mask=k[:, None] < K - s, other=0.0), acc)
        pa += BK
        pb += BK * N
    tl.store(c + i[:, None] * N + j[None, :], acc.to(c.dtype.element_ty), mask=(i[:, None] < M) & (j[None, :] < N))


@triton.jit
def matmul_descriptor(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
    c.store([m, n], acc.to(tl.float16))


@triton.jit
def matmul_roles(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
    tl.store(c + (m + tl.arange(0, BM))[:, None] * N + (n + tl.arange(0, BN))[None, :], acc.to(tl.float16))


@triton.jit
def descriptor_on_device(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    e = tl.make_tensor_descriptor(y, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    m = tl.program_id(0) * BM
    for n in range(0, N, BN):
        e.store([m, n], d.load([m, n]) * 2)


@triton.jit
def prefix(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.store(y + i, tl.cumsum(v, 0) + tl.cumsum(v, 0, reverse=True), mask=i < n)


@triton.jit
def combine(av, ai, bv, bi):
    take = (av > bv) | ((av == bv) & (ai < bi))
    return tl.where(take, av, bv), tl.where(take, ai, bi)


@triton.jit
def arg_and_sort(x, y, z, B: tl.constexpr, R: tl.constexpr):
    i, r = tl.arange(0, B), tl.arange(0, R)
    v = tl.load(x + r[:, None] * B + i[None, :])
    best, where = tl.reduce((v, tl.broadcast_to(i[None, :], (R, B))), 1, combine)
    tl.store(y + r, best + where)
    tl.store(z + r[:, None] * B + i[None, :], tl.sort(v))


@triton.jit
def histogram(x, h, lock, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(h + (v & 63), 1, mask=i < n)
    tl.atomic_max(h + 64 + i * 0, v)
    tl.atomic_xchg(h + 65, tl.sum(v, 0), sem="release", scope="sys")
    while tl.atomic_cas(lock, 0, 1, sem="acquire", scope="gpu") == 1:
        pass
    tl.store(h + 66, tl.load(h + 66, volatile=True) + 1)
    tl.atomic_xchg(lock, 0, sem="release")


@triton.jit
def eighths(x, y, z, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    a, b = v.to(tl.float8e4nv), v.to(tl.float8e5)
    tl.store(y + i, a)
    tl.store(z + i, a.to(tl.float16) + b.to(tl.float16) + v.to(tl.bfloat16).to(tl.float16))


@triton.jit
def attention(q, k, v, o, scale, T, D: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr):
    i, d, j = tl.program_id(0) * BQ + tl.arange(0, BQ), tl.arange(0, D), tl.arange(0, BK)
    qs = tl.load(q + i[:, None] * D + d[None, :])
    top = tl.full((BQ,), -float("inf"), tl.float32)
    norm = tl.zeros((BQ,), tl.float32)
    acc = tl.zeros((BQ, D), tl.float32)
    for s in range(0, T, BK):
        ks = tl.load(k + (s + j)[None, :] * D + d[:, None])
        p = tl.dot(qs, ks) * scale
        p = tl.where(i[:, None] >= (s + j)[None, :], p, -1.0e6)
        new = tl.maximum(top, tl.max(p, 1))
        p = tl.math.exp2(p - new[:, None])
        alpha = tl.math.exp2(top - new)
        norm = norm * alpha + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), tl.load(v + (s + j)[:, None] * D + d[None, :]), acc * alpha[:, None])
        top = new
    tl.store(o + i[:, None] * D + d[None, :], (acc / norm[:, None]).to(tl.float16))


@triton.jit
def helper(x):
    return tl.sin(x) + tl.cos(x) + tl.log(x) + tl.math.rsqrt(x) + tl.math.erf(x) + tl.floor(x)


@triton.jit(noinline=True)
def apart(x, y):
    return x * y + 1


@triton.jit
def mathematics(x, y, seed, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, eviction_policy="evict_first")
    r = helper(v) + tl.rand(seed, i) + tl.math.fma(v, v, v) + tl.clamp(v, -1.0, 1.0)
    r = tl.where(r != r, tl.umulhi(i.to(tl.uint32), 77).to(tl.float32), r)
    tl.device_assert(v < 1.0e9, "too large")
    tl.device_print("r", r)
    tl.store(y + i, r + apart(seed, 3), cache_modifier=".cs")


def dump(name, kernel, grid, *args, run=True, **meta):
    try:
        k = kernel[grid](*args, **meta) if run else kernel.warmup(*args, grid=grid, **meta)
        torch.cuda.synchronize()
        with open(os.path.join(out, f"triton_{name}.ptx"), "w") as f:
            f.write(k.asm["ptx"])
        print(f"made triton_{name}")
    except Exception as e:
        print(f"FAILED triton_{name}: {type(e).__name__} {str(e)[:600]}")
        traceback.print_exc(limit=2)


def scratch(size, align, stream):
    return torch.empty(size, dtype=torch.int8, device="cuda")


triton.set_allocator(scratch)
x, y = f32(16, 512), f32(16, 512)
ints = torch.randint(0, 100, (4096,), device="cuda", dtype=torch.int32)
dump("softmax", softmax, (16,), x, y, 500, B=512)
dump("softmax_warp", softmax, (16,), x, y, 100, B=128, num_warps=1)
dump("layernorm", layernorm, (16,), x, x[0], x[1], f16(16, 512), 512, 1e-5, B=512, num_warps=8)
A, B = f16(256, 256), f16(256, 256)
dump("matmul_f16", matmul, (2, 2), A, B, f16(256, 256), 256, 256, 256, BM=128, BN=128, BK=64, num_stages=3, num_warps=4)
dump("matmul_tf32", matmul, (4, 4), f32(256, 256), f32(256, 256), f32(256, 256), 256, 256, 256, BM=64, BN=64, BK=32, num_stages=2)
dump("matmul_small", matmul, (16, 16), A, B, f32(256, 256), 256, 256, 256, BM=16, BN=16, BK=32, num_warps=1, num_stages=1)
e4 = lambda *s: f32(*s).to(torch.float8_e4m3fn)
dump("matmul_fp8", matmul, (2, 2), e4(256, 256), e4(256, 256), f32(256, 256), 256, 256, 256, BM=128, BN=128, BK=64, num_stages=3, num_warps=8)
box = lambda t, *b: TensorDescriptor.from_tensor(t, list(b))
C = f16(256, 256)
dump("matmul_descriptor", matmul_descriptor, (2, 2), box(A, 128, 64), box(B, 128, 64), box(C, 128, 128), 256, BM=128, BN=128, BK=64, num_stages=3)
# Compiled only: run on an H200, this had not ended after three minutes.
dump("matmul_specialized", matmul_roles, (2, 2), box(A, 128, 64), box(B, 128, 64), C, 256, 256, BM=128, BN=128, BK=64, num_stages=3, num_warps=4, run=False)
dump("descriptor_on_device", descriptor_on_device, (4,), x.reshape(-1)[:8192], y.reshape(-1)[:8192], 128, 64, BM=32, BN=32)
dump("prefix", prefix, (1,), ints, torch.empty_like(ints), 1000, B=1024)
dump("arg_and_sort", arg_and_sort, (1,), x, f32(16), y, B=64, R=4)
dump("histogram", histogram, (4,), ints, torch.zeros(80, device="cuda", dtype=torch.int32), torch.zeros(1, device="cuda", dtype=torch.int32), 4000, B=1024)
dump("eighths", eighths, (1,), f32(256), torch.empty(256, device="cuda", dtype=torch.float8_e4m3fn), f16(256), B=256)
dump("attention", attention, (2,), f16(128, 64), f16(128, 64), f16(128, 64), f16(128, 64), 0.125, 128, D=64, BQ=64, BK=64, num_stages=2)
os.environ["TRITON_DEBUG"] = "1"
dump("mathematics", mathematics, (1,), f32(128).abs(), f32(128), 5, B=128, debug=True)

try:  # an old target, compiled but not run
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    for name, fn, sig, const in [
        ("softmax_sm75", softmax, {"x": "*fp32", "y": "*fp32", "n": "i32", "B": "constexpr"}, {"B": 512}),
        ("matmul_sm80", matmul, {"a": "*fp16", "b": "*fp16", "c": "*fp16", "M": "i32", "N": "i32", "K": "i32", "BM": "constexpr", "BN": "constexpr", "BK": "constexpr"}, {"BM": 64, "BN": 64, "BK": 32}),
        ("attention_sm100", attention, {"q": "*fp16", "k": "*fp16", "v": "*fp16", "o": "*fp16", "scale": "fp32", "T": "i32", "D": "constexpr", "BQ": "constexpr", "BK": "constexpr"}, {"D": 64, "BQ": 128, "BK": 64}),
    ]:
        try:
            k = triton.compile(ASTSource(fn, sig, const), target=GPUTarget("cuda", int(name.rsplit("sm", 1)[1]), 32))
            with open(os.path.join(out, f"triton_{name}.ptx"), "w") as f:
                f.write(k.asm["ptx"])
            print(f"made triton_{name}")
        except Exception as e:
            print(f"FAILED triton_{name}: {type(e).__name__} {str(e)[:300]}")
except ImportError as e:
    print("FAILED old targets:", e)
