"""Times the GEMM of gemm.go against cuBLAS on one GPU, and checks what it computes.

    go test ./examples/kernels -run TestWriteGEMM -args -gemm DIR
    python3 examples/kernels/gemm_bench.py DIR

The first writes DIR/kernels.json, the PTX that it names, and small launches with
what the machine computed for them; it needs no GPU. The second needs PyTorch and
NVIDIA's driver. For every small launch it says whether the GPU's bits are the
machine's. Every other kernel is compared with a product in f32 and timed: rounds
of a few launches of each kernel and of torch.matmul (cuBLAS), in an order by
chance, so that all see the same clocks, and of each the median. Random numbers
make the GPU draw as much power as it may, and slow down; a third argument "zeros"
(after the number of rounds) times the same kernels on zeros, which cost less.
"""
import ctypes
import json
import os
import random
import statistics
import sys

import numpy as np
import torch

cuda = ctypes.CDLL("libcuda.so.1")
TYPES = {"f16": (6, torch.float16), "bf16": (9, torch.bfloat16)}  # CUtensorMapDataType


def call(name, *args):
    code = getattr(cuda, name)(*args)
    if code:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(code, ctypes.byref(text))
        sys.exit(f"{name}: {code} {text.value and text.value.decode()}")


def tensor_map(matrix, kind, box):
    """The map of a row-major matrix: boxes of rows of 128 bytes, swizzled."""
    raw = (ctypes.c_uint8 * 192)()
    m = (ctypes.c_uint8 * 128).from_buffer(raw, -ctypes.addressof(raw) % 64)
    rows, cols = matrix.shape
    u64, u32 = ctypes.c_uint64, ctypes.c_uint32
    call("cuTensorMapEncodeTiled", m, TYPES[kind][0], 2, ctypes.c_void_p(matrix.data_ptr()), (u64 * 2)(cols, rows),
         (u64 * 1)(2 * cols), (u32 * 2)(box[1], box[0]), (u32 * 2)(1, 1), 0, 3, 2, 0)  # 128-byte swizzle, L2 128 bytes
    return m


class Kernel:
    def __init__(self, where, spec):
        self.spec, self.fn, module = spec, ctypes.c_void_p(), ctypes.c_void_p()
        with open(os.path.join(where, spec["ptx"]), "rb") as f:
            text = f.read() + b"\0"
        call("cuModuleLoadData", ctypes.byref(module), text)
        call("cuModuleGetFunction", ctypes.byref(self.fn), module, b"gemm")
        call("cuFuncSetAttribute", self.fn, 8, spec["shared"])  # the most dynamic shared memory

    def bind(self, a, b, c):
        kind = self.spec["type"]
        self.maps = [tensor_map(x, kind, box) for x, box in zip((a, b, c), self.spec["boxes"])]
        self.params = (ctypes.c_void_p * 3)(*[ctypes.addressof(m) for m in self.maps])

    def __call__(self):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        s = self.spec
        call("cuLaunchKernel", self.fn, s["grid"], 1, 1, s["block"], 1, 1, s["shared"], stream, self.params, None)


def small(where, spec):
    def load(name, shape):
        bits = np.fromfile(os.path.join(where, spec[name]), dtype=np.int16).reshape(shape)
        return torch.from_numpy(bits).cuda().view(TYPES[spec["type"]][1])

    m, n, k = spec["m"], spec["n"], spec["k"]
    a, b, want = load("a", (m, k)), load("b", (n, k)), load("c", (m, n))
    c = torch.full_like(want, float("nan"))
    kernel = Kernel(where, spec)
    kernel.bind(a, b, c)
    kernel()
    torch.cuda.synchronize()
    bad = int((c.view(torch.int16) != want.view(torch.int16)).sum())
    print(f"{spec['name']:28} {m}x{n}x{k}: {'all bits are those of the machine' if bad == 0 else f'{bad} elements DIFFER'}", flush=True)
    return bad == 0


def timed(fn, times):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(times):
        fn()
    end.record()
    return begin, end


def large(where, specs, rounds, zeros):
    """Kernels of one problem, in turn with cuBLAS."""
    s = specs[0]
    m, n, k, dtype = s["m"], s["n"], s["k"], TYPES[s["type"]][1]
    gen = torch.Generator(device="cuda").manual_seed(m + n + k)
    a = torch.randn((m, k), device="cuda", generator=gen).to(dtype)
    b = torch.randn((n, k), device="cuda", generator=gen).to(dtype)
    if zeros:
        a.zero_(), b.zero_()
    c = torch.empty((m, n), device="cuda", dtype=dtype)
    blas = torch.empty_like(c)
    exact = a.float() @ b.float().T
    runs, ok = {"cuBLAS": lambda: torch.matmul(a, b.T, out=blas)}, True
    for spec in specs:
        kernel = Kernel(where, spec)
        kernel.bind(a, b, c)
        c.fill_(float("nan"))
        kernel()
        torch.cuda.synchronize()
        worst = float((c.float() - exact).abs().max() / exact.abs().max().clamp(min=1))
        if spec.get("right", True) and not worst < 4e-3:
            print(f"{spec['name']}: WRONG, the worst error is {worst} of the largest element")
            ok = False
        spec["worst"] = worst
        runs[spec["name"]] = kernel
    times = max(2, int(4e-3 / (2 * m * n * k / 7e14)))
    got = {name: [] for name in runs}
    for name, fn in runs.items():
        timed(fn, times)
    for _ in range(rounds):
        order = random.sample(list(runs), len(runs))  # so that none profits from who came before
        events = {name: timed(runs[name], times) for name in order}
        torch.cuda.synchronize()
        for name, (begin, end) in events.items():
            got[name].append(begin.elapsed_time(end) / times)
    base = statistics.median(got["cuBLAS"])
    for name, ms in got.items():
        t = statistics.median(ms)
        worst = next((f"{x['worst']:.1e}" for x in specs if x["name"] == name), "")
        print(f"{m}x{n}x{k} {s['type']:4} {name:24} {t:8.4f} ms {2 * m * n * k / t / 1e9:7.1f} TFLOPS  {base / t:6.3f} of cuBLAS  {worst}", flush=True)
    return ok


def main():
    where = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    with open(os.path.join(where, "kernels.json")) as f:
        specs = json.load(f)
    ok = all([small(where, s) for s in specs if "c" in s])
    problems = {}
    for s in specs:
        if "c" not in s:
            problems.setdefault((s["m"], s["n"], s["k"], s["type"]), []).append(s)
    for group in problems.values():
        ok = large(where, group, rounds, "zeros" in sys.argv) and ok
    sys.exit(0 if ok else 1)


main()
