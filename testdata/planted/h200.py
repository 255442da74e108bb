"""Runs the planted bugs on a GPU, and prints the table of README.md.

    python3 testdata/planted/h200.py [LAUNCHES]

Needs libcuda and ptxas, nothing else. Each kernel runs in a process of its own,
which a hang ends with it: a wrong twin LAUNCHES times (200), a right one a tenth
of that, each time from fresh buffers. After ten hangs a kernel is left alone.
"""

import concurrent.futures
import ctypes as c
import glob
import os
import re
import shlex
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WAIT = 1.0  # seconds after which a launch hangs; each takes microseconds
MOST_HANGS = 10


def parts(text):
    sections = ("\n" + text).split("\n-- ")
    return sections[0], {name: body + "\n" for name, body in (s.split(" --\n", 1) for s in sections[1:])}


class Launch:
    def __init__(self, file, twin):
        comment, files = parts(open(file).read())
        self.ptx = files[twin + ".ptx"]
        self.grid = self.block = self.cluster = 1
        self.buffers, self.args, self.want = {}, [], {}
        words = shlex.split(files["launch"])
        for flag, value in zip(words[::2], words[1::2]):
            if flag == "--buffer":
                name, n, fill = re.fullmatch(r"(\w+)=u32\[(\d+)\]:(iota|zeros)", value).groups()
                self.buffers[name] = list(range(int(n))) if fill == "iota" else [0] * int(n)
            elif flag == "--arg":
                self.args.append(value)
            else:
                setattr(self, flag[2:], int(value))
        for line in comment.splitlines():
            if line.startswith("want: "):
                name, *values = line.split()[1:]
                self.want[name] = [int(v) for v in values]


class Config(c.Structure):
    _fields_ = [("dims", c.c_uint * 6), ("shared", c.c_uint), ("stream", c.c_void_p), ("attrs", c.c_void_p), ("n", c.c_uint)]


NOT_READY = 600


class Driver:
    def __init__(self):
        self.lib = c.CDLL("libcuda.so.1")
        dev, ctx = c.c_int(), c.c_void_p()
        self("cuInit", 0)
        self("cuDeviceGet", c.byref(dev), 0)
        self("cuCtxCreate_v2", c.byref(ctx), 0, dev)

    def __call__(self, name, *args):
        status = getattr(self.lib, name)(*args)
        if status not in (0, NOT_READY):
            text = c.c_char_p()
            self.lib.cuGetErrorName(status, c.byref(text))
            raise RuntimeError(f"{name}: {text.value.decode()}")
        return status


def worker(file, twin, launches):
    """Prints a line a launch: right, wrong with what was left, hang or fault."""
    l, cu = Launch(file, twin), Driver()
    mod, fn, at = c.c_void_p(), c.c_void_p(), {}
    cu("cuModuleLoadData", c.byref(mod), l.ptx.encode() + b"\0")
    cu("cuModuleGetFunction", c.byref(fn), mod, b"kernel")
    for name, data in l.buffers.items():
        at[name] = c.c_uint64()
        cu("cuMemAlloc_v2", c.byref(at[name]), c.c_size_t(max(256, 4 * len(data))))
    attr = (c.c_uint * 18)(4, 0, l.cluster, 1, 1)  # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
    config = Config((c.c_uint * 6)(l.grid, 1, 1, l.block, 1, 1), 0, None, c.addressof(attr), 1 if l.cluster > 1 else 0)
    params = (c.c_void_p * len(l.args))(*[c.addressof(at[a]) for a in l.args])
    for _ in range(launches):
        for name, data in l.buffers.items():
            cu("cuMemcpyHtoD_v2", at[name], struct.pack(f"{len(data)}I", *data), c.c_size_t(4 * len(data)))
        try:
            cu("cuLaunchKernelEx", c.byref(config), fn, params, None)
            until = time.monotonic() + WAIT
            while cu("cuStreamQuery", None) == NOT_READY:
                if time.monotonic() > until:
                    print("hang", flush=True)
                    os._exit(3)
        except RuntimeError as e:
            print("fault", e, flush=True)
            os._exit(3)
        result = "right"
        for name, want in l.want.items():
            got = (c.c_uint * len(want))()
            cu("cuMemcpyDtoH_v2", got, at[name], c.c_size_t(4 * len(want)))
            if list(got) != want:
                result = f"wrong {name} {list(got)}"
        print(result, flush=True)


def campaign(file, twin, launches):
    left, seen = launches, {"right": 0, "wrong": 0, "hang": 0, "fault": 0}
    samples = []
    while left > 0 and seen["hang"] + seen["fault"] < MOST_HANGS:
        run = [sys.executable, __file__, "worker", file, twin, str(left)]
        try:
            r = subprocess.run(run, capture_output=True, text=True, timeout=60)
            out, err = r.stdout, r.stderr
        except subprocess.TimeoutExpired as e:
            out, err = (e.stdout or b"").decode(), "the process did not end"
        lines = out.splitlines()
        for line in lines:
            seen[line.split()[0]] += 1
        samples += [x for x in lines if x[:5] in ("wrong", "fault")][:1]
        left -= len(lines)
        if not lines or "did not end" in err:
            samples.append(err.strip().splitlines()[-1] if err.strip() else "no result")
            break
    return seen, samples[:2]


def ptxas(file, twin):
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
        f.write(Launch(file, twin).ptx)
        f.flush()
        r = subprocess.run(["ptxas", "-arch=sm_90a", "-o", "/dev/null", f.name], capture_output=True, text=True)
    return r.returncode, (r.stdout + r.stderr).strip().replace(f.name, twin)


def main():
    launches = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    files = sorted(glob.glob(os.path.join(HERE, "*.txtar")))
    jobs = [(f, t) for f in files for t in ("wrong", "right")]
    for f, t in jobs:
        status, text = ptxas(f, t)
        if status or text:
            print("ptxas:", os.path.basename(f), t, status, text)
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        results = dict(zip(jobs, pool.map(lambda j: campaign(*j, launches if j[1] == "wrong" else max(1, launches // 10)), jobs)))
    print("| kernel | right answer | wrong answer | hung or faulted | mended twin |")
    print("|---|---:|---:|---:|---:|")
    for f in files:
        (wrong, samples), (right, rsamples) = results[f, "wrong"], results[f, "right"]
        name = os.path.basename(f).removesuffix(".txtar")
        total = sum(right.values())
        print(f"| `{name}` | {wrong['right']} | {wrong['wrong']} | {wrong['hang'] + wrong['fault']} | {right['right']} of {total} |")
        for s in samples + rsamples:
            print("   ", name, s, file=sys.stderr)


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        worker(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main()
