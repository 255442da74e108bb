#!/usr/bin/env python3
"""Runs wgmma's campaign on an H200: run.py DIR OUT.

DIR is what `go test ./internal/tensor -run TestWGMMAPlan -args -wgmma DIR`
wrote: PTX modules m*.ptx, a line a form in forms.txt (name, module, words of D
a case, cases) and the cases NAME.in, 64 bytes each. D of every case, registers
by threads, goes to OUT/d0, OUT/d1, …, one stream in pieces. A form that faults
leaves zeros and a line in OUT/report. It needs ptxas and CuPy.
"""
import concurrent.futures, os, subprocess, sys

dir, out = sys.argv[1], sys.argv[2]
forms = [l.split() for l in open(os.path.join(dir, "forms.txt"))]
PIECE = 15 << 20


def work(first):
    import cupy, numpy
    mods = {}
    for name, m, words, n in forms[first:]:
        if m not in mods:
            mods[m] = cupy.RawModule(path="/tmp/m%s.cubin" % m)
        f = mods[m].get_function(name)
        f.max_dynamic_shared_size_bytes = 227 << 10
        cases = cupy.asarray(numpy.fromfile(os.path.join(dir, name + ".in"), dtype=numpy.uint32))
        d, base = cupy.zeros(int(words) * int(n), dtype=cupy.uint32), cupy.zeros(1, dtype=cupy.uint32)
        f((int(n),), (128,), (cases, d, base), shared_mem=227 << 10)
        cupy.cuda.Device().synchronize()
        if int(base[0]) != 1024:
            raise SystemExit("dynamic shared memory begins at %d" % int(base[0]))
        cupy.asnumpy(d).tofile("/tmp/" + name + ".d")


def build(m):
    return subprocess.run(["ptxas", "-arch=sm_90a", "-o", "/tmp/m%d.cubin" % m, os.path.join(dir, "m%d.ptx" % m)], capture_output=True, text=True)


if len(sys.argv) > 3:
    work(int(sys.argv[3]))
    sys.exit(0)
report = open(os.path.join(out, "report"), "w")
with concurrent.futures.ThreadPoolExecutor(16) as ex:
    for m, r in enumerate(ex.map(build, range(1 + max(int(f[1]) for f in forms)))):
        lines = [l for l in (r.stderr + r.stdout).splitlines() if "error" in l or "C75" in l]
        report.write("module %d: %d %s\n" % (m, r.returncode, lines[:4]))
at, faults = 0, 0
while at < len(forms) and faults < 12:
    r = subprocess.run([sys.executable, __file__, dir, out, str(at)], capture_output=True, text=True, timeout=100)
    while at < len(forms) and os.path.exists("/tmp/" + forms[at][0] + ".d"):
        at += 1
    if r.returncode and at < len(forms):
        report.write("%s: %s\n" % (forms[at][0], r.stderr.strip().splitlines()[-1:]))
        at, faults = at + 1, faults + 1
stream = bytearray()
for name, m, words, n in forms:
    size = 4 * int(words) * int(n)
    p = "/tmp/" + name + ".d"
    stream += open(p, "rb").read() if os.path.exists(p) else bytes(size)
for i in range(0, len(stream), PIECE):
    open(os.path.join(out, "d%d" % (i // PIECE)), "wb").write(stream[i:i + PIECE])
report.write("%d forms, %d faults, %d bytes\n" % (len(forms), faults, len(stream)))
report.close()
print(open(os.path.join(out, "report")).read()[-6000:])
