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

TYPES = {"f32": "f4", "f64": "f8", "f16": "f2", "s8": "i1", "s16": "i2", "s32": "i4", "s64": "i8",
         "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8"}
KEYS = {"version", "ptx", "kernel", "grid", "block", "cluster", "shared", "buffers", "args", "expect", "accept"}


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


def array(where, spec):
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
    elif "mod" in fill:
        a = (np.arange(n) % fill["mod"]).astype(dtype)
    elif "file" in fill:
        a = np.load(os.path.join(where, fill["file"])).astype(dtype)
    else:
        sys.exit(f"unknown fill {fill!r}")
    return np.ascontiguousarray(a.reshape(shape))


def argument(a, at):
    if a is None:
        return ctypes.c_uint64(0)
    if isinstance(a, str):
        return ctypes.c_uint64(at[a])
    if "ptr" in a:
        return ctypes.c_uint64(at[a["ptr"]] + a.get("offset", 0))
    (kind, value), = a.items()
    return np.ctypeslib.as_ctypes_type(np.dtype(TYPES[kind]))(value)


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
        call("cuMemcpyHtoD_v2", p, a.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(a.nbytes))
        at[name] = p.value
    values = [argument(a, at) for a in doc["args"]]
    params = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
    call("cuLaunchKernel", fn, *triple(doc["grid"]), *triple(doc["block"]), doc.get("shared", 0), None, params, None)
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
