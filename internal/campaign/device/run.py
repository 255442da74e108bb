#!/usr/bin/env python3
"""Assembles and runs the campaign's kernels on a GPU. See README.md.

    run.py DIR     DIR is what `gen plan DIR` wrote; results.json and out go there.

It needs ptxas on the PATH (or in /usr/local/cuda/bin) and the driver's libcuda.
A kernel that ptxas refuses is recorded with its message. A kernel that fails
takes its process along; the next process starts after it.
"""
import concurrent.futures, ctypes, json, os, re, shutil, subprocess, sys, tempfile, time

PTXAS = shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
TIMEOUT = 20  # seconds without a finished case


def assemble(source, out):
    """Returns the assembler's messages, '' if it took the source."""
    with tempfile.NamedTemporaryFile("w", suffix=".ptx", delete=False) as f:
        f.write(source)
    r = subprocess.run([PTXAS, "-arch=sm_90a", f.name, "-o", out], capture_output=True, text=True)
    os.unlink(f.name)
    if r.returncode == 0:
        return ""
    return (r.stderr + r.stdout).replace(f.name, "") or "ptxas failed"


def reason(messages):
    for line in messages.splitlines():
        m = re.search(r"(?:error\s*:|fatal\s*:)\s*(.*)", line)
        if m:
            return re.sub(r"%v\d+", "%v", m.group(1)).strip()
    return messages.strip()[:200]


def text(plan, cases):
    parts, seen = [plan["Header"]], set()
    for c in cases:
        if c["Module"] and c["Module"] not in seen:
            seen.add(c["Module"])
            parts.append(c["Module"])
        parts.append(c["Kernel"])
    return "".join(parts)


def compile_batch(plan, dir, n, cases):
    """Assembles a batch without those that are refused, whom it returns."""
    out = os.path.join(dir, "m%04d.cubin" % n)
    refused, good = {}, list(cases)
    for _ in range(3):
        source = text(plan, good)
        messages = assemble(source, out)
        if not messages:
            return n, refused
        starts, line = [], 1
        head = plan["Header"]
        bad = {}
        # The line of each case's entry.
        lines = source.split("\n")
        at = {}
        for i, l in enumerate(lines, 1):
            m = re.match(r"\.visible \.entry (\w+)\(", l)
            if m:
                starts.append((i, m.group(1)))
        for l in messages.splitlines():
            m = re.search(r"line (\d+); (?:error|fatal)\s*:\s*(.*)", l)
            if m:
                owner = [name for i, name in starts if i <= int(m.group(1))]
                if owner:
                    bad.setdefault(owner[-1], reason(l))
        if not bad:
            break
        refused.update(bad)
        good = [c for c in good if c["Name"] not in bad]
    # What is left is asked one by one.
    for c in list(good):
        messages = assemble(text(plan, [c]), out)
        if messages:
            refused[c["Name"]] = reason(messages)
            good.remove(c)
    if assemble(text(plan, good), out):
        raise SystemExit("batch %d does not assemble without what is refused" % n)
    return n, refused


class Driver:
    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)
        dev, ctx = ctypes.c_int(), ctypes.c_void_p()
        self("cuDeviceGet", ctypes.byref(dev), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(ctx), dev)
        self("cuCtxSetCurrent", ctx)

    def __call__(self, name, *args):
        name = {"cuMemAlloc": "cuMemAlloc_v2", "cuMemFree": "cuMemFree_v2", "cuMemcpyHtoD": "cuMemcpyHtoD_v2", "cuMemcpyDtoH": "cuMemcpyDtoH_v2", "cuMemsetD8": "cuMemsetD8_v2"}.get(name, name)
        r = getattr(self.lib, name)(*args)
        if r:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorString(r, ctypes.byref(text))
            raise RuntimeError("%s: %s" % (name, (text.value or b"?").decode()))


def worker(dir, first):
    """Runs cases from number first on; appends to out and to log."""
    plan = json.load(open(os.path.join(dir, "plan.json")))
    refused = json.load(open(os.path.join(dir, "refused.json")))
    cases, per = plan["Cases"], plan["PerModule"]
    d = Driver()
    u64 = ctypes.c_uint64
    room = max(max(c["InLen"] for c in cases), max(c["OutLen"] for c in cases)) + 4096
    din, dout = u64(), u64()
    d("cuMemAlloc", ctypes.byref(din), ctypes.c_size_t(room))
    d("cuMemAlloc", ctypes.byref(dout), ctypes.c_size_t(room))
    blob = ctypes.create_string_buffer(open(os.path.join(dir, "blob"), "rb").read(), 64)
    host = ctypes.create_string_buffer(room)
    log = open(os.path.join(dir, "log"), "a")
    out = open(os.path.join(dir, "out"), "ab")
    mod, loaded, data, file = ctypes.c_void_p(), -1, b"", ""
    for n in range(first, len(cases)):
        c = cases[n]
        if c["Name"] in refused:
            continue
        log.write("start %d\n" % n)
        log.flush()
        if n // per != loaded:
            if loaded >= 0:
                d("cuModuleUnload", mod)
            loaded = n // per
            d("cuModuleLoad", ctypes.byref(mod), os.path.join(dir, "m%04d.cubin" % loaded).encode())
        if c["In"] != file:
            file = c["In"]
            data = open(os.path.join(dir, file), "rb").read()
        f = ctypes.c_void_p()
        try:
            d("cuModuleGetFunction", ctypes.byref(f), mod, c["Name"].encode())
            if c["InLen"]:
                d("cuMemcpyHtoD", din, data[c["InAt"] : c["InAt"] + c["InLen"]], ctypes.c_size_t(c["InLen"]))
            if c["OutLen"]:
                d("cuMemsetD8", dout, ctypes.c_ubyte(0), ctypes.c_size_t(c["OutLen"]))
            a, b = u64(din.value), u64(dout.value)
            args = [ctypes.addressof(a), ctypes.addressof(b)]
            if c["Blob"]:
                args.append(ctypes.addressof(blob))
            params = (ctypes.c_void_p * len(args))(*args)
            d("cuLaunchKernel", f, plan["CTAs"], 1, 1, plan["Block"], 1, 1, 0, None, params, None)
            d("cuCtxSynchronize")
            if c["OutLen"]:
                d("cuMemcpyDtoH", host, dout, ctypes.c_size_t(c["OutLen"]))
        except RuntimeError as e:
            log.write("fail %d %s\n" % (n, e))
            log.flush()
            os._exit(1)
        out.seek(0, 2)
        at = out.tell()
        out.write(host.raw[: c["OutLen"]])
        out.flush()
        log.write("done %d %d\n" % (n, at))
    log.close()
    os._exit(0)


def execute(dir, cases):
    log = os.path.join(dir, "log")
    for name in ("log", "out"):
        open(os.path.join(dir, name), "w").close()
    first, failed = 0, {}
    while True:
        p = subprocess.Popen([sys.executable, __file__, dir, str(first)])
        size, since = -1, time.time()
        while p.poll() is None:
            time.sleep(0.05)
            now = os.path.getsize(log)
            if now != size:
                size, since = now, time.time()
            elif time.time() - since > TIMEOUT:
                p.kill()
                p.wait()
        if p.returncode == 0:
            break
        last, message = -1, "no answer in %d s, or the process died" % TIMEOUT
        for line in open(log):
            w = line.split(" ", 2)
            if w[0] == "start":
                last = int(w[1])
            elif w[0] == "fail" and int(w[1]) == last:
                message = w[2].strip()
        if last < first:
            raise SystemExit("the worker does not start")
        failed[cases[last]["Name"]] = message
        print("failed:", cases[last]["Name"], message, flush=True)
        first = last + 1
    at = {}
    for line in open(log):
        w = line.split()
        if w[0] == "done":
            at[cases[int(w[1])]["Name"]] = int(w[2])
    return at, failed


def machine():
    gpu = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], capture_output=True, text=True).stdout.strip().splitlines()[0]
    version = re.search(r"V[\d.]+", subprocess.run([PTXAS, "--version"], capture_output=True, text=True).stdout).group(0)
    return "%s, driver %s, ptxas %s" % (*gpu.split(", "), version)


def main():
    dir = sys.argv[1]
    if len(sys.argv) == 3:
        return worker(dir, int(sys.argv[2]))
    plan = json.load(open(os.path.join(dir, "plan.json")))
    cases, per = plan["Cases"], plan["PerModule"]
    t = time.time()
    refused = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(compile_batch, plan, dir, i // per, cases[i : i + per]) for i in range(0, len(cases), per)]
        for j in concurrent.futures.as_completed(jobs):
            refused.update(j.result()[1])
    json.dump(refused, open(os.path.join(dir, "refused.json"), "w"))
    print("assembled %d cases, %d refused, %.0f s" % (len(cases), len(refused), time.time() - t), flush=True)
    t = time.time()
    at, failed = execute(dir, cases)
    print("ran %d, %d failed, %.0f s" % (len(at), len(failed), time.time() - t), flush=True)
    json.dump({"Machine": machine(), "Refused": refused, "Failed": failed, "At": at}, open(os.path.join(dir, "results.json"), "w"))


main()
