#!/usr/bin/env python3
"""Run a launch file on the GPU of this machine, as `muster run` does without one.

    gpurun.py LAUNCH.yaml            compare with the arrays under `expect`
    gpurun.py LAUNCH.yaml --keep     write those arrays instead
    gpurun.py LAUNCH.yaml --times 3  launch again from fresh buffers

It needs NumPy, PyYAML and NVIDIA's driver (libcuda), and nothing else. It knows
the parts of the launch file that the examples use; an unknown key is an error.
Exit status: 0 equal, 1 different, 2 the launch faulted. A kernel that hangs
hangs this program: run it under timeout(1).
"""
import argparse
import ctypes
import os
import sys

import numpy as np
import yaml

# bf16 and fp8 travel as raw bits; a tensor map is 128 bytes.
TYPES = {"f32": "f4", "f64": "f8", "f16": "f2", "s8": "i1", "s16": "i2", "s32": "i4", "s64": "i8",
         "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "bf16": "u2", "e4m3": "u1", "tensormap": "V128"}
KEYS = {"version", "ptx", "kernel", "grid", "block", "cluster", "shared", "registers", "buffers", "args", "expect",
        "accept"}
# CUtensorMapDataType, by the buffer's type.
ELEMENTS = {"u8": 0, "e4m3": 0, "u16": 1, "u32": 2, "s32": 3, "u64": 4, "s64": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9}
SWIZZLES = ["none", "32B", "64B", "128B"]
# Bits of the significand, smallest exponent and bits of the exponent.
SMALL_FLOATS = {"bf16": (8, -126, 8), "e4m3": (4, -6, 4)}


class Fault(Exception):
    pass


cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *args):
    code = getattr(cuda, name)(*args)
    if code:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(code, ctypes.byref(text))
        raise Fault(f"{name}: {code} {(text.value or b'').decode()}")


def triple(v):
    v = [v] if isinstance(v, int) else list(v)
    return v + [1] * (3 - len(v))


def splitmix64(seed, n):
    z = np.uint64(seed) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def small_float(v, kind):
    """Rounds f64 to a type that NumPy lacks, once and to nearest even: its bits."""
    digits, least, width = SMALL_FLOATS[kind]
    exponent = np.maximum(np.frexp(v)[1] - 1, least)
    units = np.rint(np.ldexp(np.abs(v), digits - 1 - exponent)).astype(np.int64)
    bits = units + (np.int64(exponent - least) << (digits - 1))  # a carry moves into the exponent by itself
    return bits | (np.signbit(v).astype(np.int64) << (digits - 1 + width))


def random(spec, kind, n):
    low, high = float(spec["low"]), float(spec["high"])
    v = low + (splitmix64(spec["seed"], n) >> np.uint64(11)).astype("f8") * 2.0**-53 * (high - low)
    return small_float(v, kind) if kind in SMALL_FLOATS else v


def array(where, spec):
    if "values" in spec:  # addresses are put in when they are known
        return np.array([0 if isinstance(v, dict) else v for v in spec["values"]], TYPES[spec["type"]])
    dtype, shape, fill = np.dtype(TYPES[spec["type"]]), spec["shape"], spec["fill"]
    n = int(np.prod(shape))
    if fill == "iota":
        a = np.arange(n).astype(dtype)
    elif fill in ("zeros", "uninitialized"):
        a = np.zeros(n, dtype)
    elif fill == "ones":
        a = np.ones(n, dtype)
    elif fill == "nan":
        a = np.full(n, np.nan, dtype)
    elif "random" in fill:
        a = random(fill["random"], spec["type"], n).astype(dtype)
    elif "mod" in fill:
        a = (np.arange(n) % fill["mod"]).astype(dtype)
    elif "file" in fill:
        a = np.load(os.path.join(where, fill["file"])).astype(dtype)
    else:
        sys.exit(f"unknown fill {fill!r}")
    return np.ascontiguousarray(a.reshape(shape))


def tensor_map(spec, buffers, at):
    if set(spec) - {"of", "box", "swizzle"}:
        sys.exit(f"unknown keys of a tensor map {sorted(set(spec))}")
    of = buffers[spec["of"]]
    shape, size, rank = of["shape"][::-1], np.dtype(TYPES[of["type"]]).itemsize, len(of["shape"])
    raw = (ctypes.c_uint8 * (128 + 64))()
    m = (ctypes.c_uint8 * 128).from_buffer(raw, -ctypes.addressof(raw) % 64)
    u64, u32 = ctypes.c_uint64 * rank, ctypes.c_uint32 * rank
    strides = u64(*[int(np.prod(shape[:i + 1])) * size for i in range(rank)])
    call("cuTensorMapEncodeTiled", m, ELEMENTS[of["type"]], rank, ctypes.c_void_p(at[spec["of"]]), u64(*shape), strides,
         u32(*spec["box"][::-1]), u32(*[1] * rank), 0, SWIZZLES.index(spec.get("swizzle", "none")), 0, 0)
    return m


def argument(a, at, buffers):
    if a is None:
        return ctypes.c_uint64(0)
    if isinstance(a, str):
        return ctypes.c_uint64(at[a])
    if "ptr" in a:
        return ctypes.c_uint64(at[a["ptr"]] + a.get("offset", 0))
    if "tensormap" in a:
        return tensor_map(a["tensormap"], buffers, at)
    (kind, value), = a.items()
    return np.ctypeslib.as_ctypes_type(np.dtype(TYPES[kind]))(value)


class Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("pad", ctypes.c_uint32), ("value", ctypes.c_uint32 * 16)]


class Config(ctypes.Structure):
    _fields_ = [("dims", ctypes.c_uint32 * 6), ("shared", ctypes.c_uint32), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint32)]


def start(fn, doc, params):
    shared = doc.get("shared", 0)
    if shared:
        call("cuFuncSetAttribute", fn, 8, shared)  # the most dynamic shared memory
    cluster = Attribute(4, 0, (ctypes.c_uint32 * 16)(*triple(doc.get("cluster", 1))))
    config = Config((ctypes.c_uint32 * 6)(*triple(doc["grid"]), *triple(doc["block"])), shared, None,
                    ctypes.pointer(cluster), 1 if "cluster" in doc else 0)
    call("cuLaunchKernelEx", ctypes.byref(config), fn, params, None)


def launch(doc, where, image):
    fn = ctypes.c_void_p()
    mod = ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(mod), image)
    call("cuModuleGetFunction", ctypes.byref(fn), mod, doc["kernel"].encode())
    host = {name: array(where, spec) for name, spec in doc["buffers"].items()}
    at = {}
    for name, a in host.items():
        p = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(p), ctypes.c_size_t(a.nbytes))
        at[name] = p.value
    for name, a in host.items():
        for i, v in enumerate(doc["buffers"][name].get("values", [])):
            if isinstance(v, dict):
                a[i] = at[v["ptr"]] + v.get("offset", 0)
        call("cuMemcpyHtoD_v2", ctypes.c_uint64(at[name]), a.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(a.nbytes))
    values = [argument(a, at, doc["buffers"]) for a in doc["args"]]
    params = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
    start(fn, doc, params)
    print("launched", flush=True)
    call("cuCtxSynchronize")
    for name, a in host.items():
        call("cuMemcpyDtoH_v2", a.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(at[name]), ctypes.c_size_t(a.nbytes))
        call("cuMemFree_v2", ctypes.c_uint64(at[name]))
    call("cuModuleUnload", mod)
    return host


def compare(got, want, spec):
    if "ulp" in spec:
        sys.exit("ulp: use atol and rtol here")
    ok = np.isclose(got, want, rtol=float(spec.get("rtol", 0)), atol=float(spec.get("atol", 0)), equal_nan=True)
    return int(ok.size - ok.sum())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("file")
    ap.add_argument("--keep", action="store_true")
    ap.add_argument("--times", type=int, default=1)
    opt = ap.parse_args()
    where = os.path.dirname(os.path.abspath(opt.file))
    with open(opt.file) as f:
        doc = yaml.safe_load(f)
    if set(doc) - KEYS:
        sys.exit(f"unknown keys {sorted(set(doc) - KEYS)}")
    with open(os.path.join(where, doc["ptx"]), "rb") as f:
        image = f.read() + b"\0"
    dev, ctx = ctypes.c_int(), ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(dev), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(ctx), dev)
    call("cuCtxSetCurrent", ctx)
    status = 0
    for _ in range(opt.times):
        try:
            host = launch(doc, where, image)
        except Fault as e:
            print("fault:", e, flush=True)
            sys.exit(2)
        for name, spec in doc["expect"].items():
            path = os.path.join(where, spec["file"])
            if opt.keep:
                np.save(path, host[name])
                print(f"kept {spec['file']}: {host[name].ravel()[:3]}", flush=True)
                continue
            bad = compare(host[name], np.load(path), spec)
            print("right" if bad == 0 else f"wrong: {bad} of {host[name].size} elements of {name}", flush=True)
            status |= bad > 0
    sys.exit(status)


if __name__ == "__main__":
    main()
