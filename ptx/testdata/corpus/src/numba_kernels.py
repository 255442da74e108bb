"""Kernels for Numba's CUDA compiler; PTX goes to OUT/numba_NAME.ptx.

    numba_kernels.py OUT
"""
import math
import os
import sys

import numpy

if not hasattr(numpy, "row_stack"):  # gone from NumPy 2.5, still named by Numba
    numpy.row_stack = numpy.vstack

from numba import cuda, float32, float64, int32, int64, uint8

out = sys.argv[1]


def transpose(a, b):
    tile = cuda.shared.array((16, 17), float32)
    x, y = cuda.grid(2)
    if x < a.shape[0] and y < a.shape[1]:
        tile[cuda.threadIdx.x, cuda.threadIdx.y] = a[x, y]
    cuda.syncthreads()
    if x < b.shape[1] and y < b.shape[0]:
        b[y, x] = tile[cuda.threadIdx.x, cuda.threadIdx.y]


def mandel(img, limit):
    i = cuda.grid(1)
    if i < img.size:
        c = complex(i % 64 / 32 - 1.5, i // 64 / 32 - 1)
        z = 0j
        for k in range(limit):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag > 4:
                img[i] = k
                return
        img[i] = int(math.sin(limit) ** 2 * 255)


def count(keys, bins):
    cuda.atomic.add(bins, keys[cuda.grid(1)] % bins.size, 1)
    cuda.atomic.max(bins, 0, cuda.laneid)
    if cuda.any_sync(0xFFFFFFFF, keys[0] > 3):
        bins[1] += cuda.popc(cuda.activemask())


for name, fn, sig in [("transpose", transpose, (float32[:, :], float32[:, :])), ("mandel", mandel, (uint8[:], int32)),
                      ("count", count, (int64[:], int32[:]))]:
    try:
        ptx, _ = cuda.compile_ptx(fn, sig, cc=(9, 0), device=False)
        with open(os.path.join(out, f"numba_{name}.ptx"), "w") as f:
            f.write(ptx)
        print(f"made numba_{name}")
    except Exception as e:
        print(f"FAILED numba_{name}: {type(e).__name__} {str(e)[:300]}")
