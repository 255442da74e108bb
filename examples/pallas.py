"""What the Pallas examples expect, and their PTX, made again with JAX on a
Hopper GPU: pallas.py matmul|matmul_bf16|attention"""
import glob
import os
import re
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here)
dump = tempfile.mkdtemp()
os.environ["MOSAIC_GPU_DUMP_TO"] = dump
os.environ["MOSAIC_GPU_DUMP_PTX"] = "1"
os.environ["XLA_FLAGS"] = "--xla_gpu_enable_command_buffer="

import jax
import ml_dtypes
import numpy as np
from jax.experimental.pallas.ops.gpu import attention_mgpu, hopper_matmul_mgpu

from dump import random


def matmul():
    config = hopper_matmul_mgpu.TuningConfig(tile_m=64, tile_n=128, tile_k=64, max_concurrent_steps=4, epi_tile_n=64, epi_tile_m=64)
    a, b, c = random((512, 256), 1, -1, 1), random((256, 512), 2, -1, 1), random((512, 512), 3, -8, 8)
    return jax.jit(lambda *t: hopper_matmul_mgpu.matmul(*t, config))(a, b, c)


def matmul_bf16():
    config = hopper_matmul_mgpu.TuningConfig(tile_m=64, tile_n=128, tile_k=64, max_concurrent_steps=2, epi_tile_n=64, epi_tile_m=64)
    shapes = (128, 256), (256, 256), (128, 256)
    a, b, c = (random(s, i + 1, -1, 1, np.float32).astype(ml_dtypes.bfloat16) for i, s in enumerate(shapes))
    return jax.jit(lambda *t: hopper_matmul_mgpu.matmul(*t, config))(a, b, c)


def attention():
    config = attention_mgpu.TuningConfig(block_q=64, block_kv=64, max_concurrent_steps=2, use_schedule_barrier=True)
    q, k, v = (random((1, 256, 2, 64), i + 1, -l, l) for i, l in enumerate((2, 2, 1)))
    return jax.jit(lambda *t: attention_mgpu.attention(*t, config))(q, k, v)


name = sys.argv[1]
result = np.asarray(globals()[name]())
if result.dtype == ml_dtypes.bfloat16:
    result = result.view(np.uint16)
np.save(f"{here}/pallas_{name}/result.npy", result)
for ptx in glob.glob(f"{dump}/**/*.ptx", recursive=True):
    with open(ptx) as f:
        text = re.sub(r'(\.file\s+\d+\s+")[^"]*/(?=jax/)', r"\1", f.read())
    with open(f"{here}/pallas_{name}/pallas_{name}.ptx", "w") as f:
        f.write(text)
