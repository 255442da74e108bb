"""For the examples that a Python package compiles: the launch file's random
fill, and writing down what was compiled and computed."""
import os
import re

import numpy as np


def random(shape, seed, low, high, dtype=np.float16):
    """What `{random: {seed: …, low: …, high: …}}` fills a buffer with."""
    n = int(np.prod(shape))
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + (np.arange(n, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9e3779b97f4a7c15)
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xbf58476d1ce4e5b9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94d049bb133111eb)
        z = z ^ z >> np.uint64(31)
    u = (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return (low + u * (high - low)).astype(dtype).reshape(shape)


def keep(file, kernel, **arrays):
    """Writes FILE.ptx beside FILE.py and each array as a .npy, and prints what
    the launch file needs."""
    base, _ = os.path.splitext(os.path.abspath(file))
    ptx = re.sub(r'(\.file\s+\d+\s+")[^"]*/', r"\1", kernel.asm["ptx"])
    with open(base + ".ptx", "w") as f:
        f.write(ptx)
    for name, a in arrays.items():
        np.save(os.path.join(os.path.dirname(base), name + ".npy"), a.cpu().numpy())
    m = kernel.metadata
    print(m.name, "threads", 32 * m.num_warps, "shared", m.shared, "scratch", m.global_scratch_size, "maps", getattr(m, "tensordesc_meta", None))
