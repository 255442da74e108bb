#!/usr/bin/env python3
"""Runs the tensor campaign on an H200: run.py DIR OUT.

DIR is what `go test ./internal/tensor -run TestPlan -args -plan DIR` wrote: a
line a kind in kinds.tsv (name, words a row of A, words an element of C, tiles,
nvcc's definitions) and its input NAME.in. The results go to OUT/results, in the
order of the list: a line 'NAME words' and the words. It needs nvcc and CuPy.
"""
import concurrent.futures, os, subprocess, sys
import cupy, numpy

src, dir, out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "probe.cu"), sys.argv[1], sys.argv[2]
kinds = [l.rstrip("\n").split("\t") for l in open(os.path.join(dir, "kinds.tsv"))]


def build(kind):
    cubin = os.path.join("/tmp", kind[0] + ".cubin")
    r = subprocess.run(["nvcc", "-gencode=arch=compute_90a,code=sm_90a", "-cubin", "-o", cubin, src] + ["-D" + d for d in kind[4:]], capture_output=True, text=True)
    sass = ""
    if r.returncode == 0:
        s = subprocess.run(["cuobjdump", "-sass", cubin], capture_output=True, text=True).stdout
        ops = [l.split("*/")[1].strip().split(";")[0] for l in s.splitlines() if "*/" in l and any(m in l for m in ("MMA", "F2FP", "FFMA", "HFMA"))]
        sass = " | ".join(" ".join(o.split()[:1]) for o in ops)
    return r, cubin, sass


with concurrent.futures.ThreadPoolExecutor(16) as ex:
    built = list(ex.map(build, kinds))
res, report = open(os.path.join(out, "results"), "wb"), open(os.path.join(out, "report"), "w")
for kind, (r, cubin, sass) in zip(kinds, built):
    name, kw, ew, n = kind[0], int(kind[1]), int(kind[2]), int(kind[3])
    if r.returncode:
        report.write("%s refused: %s\n" % (name, " / ".join((r.stderr + r.stdout).splitlines()[:3])))
        continue
    raw = numpy.fromfile(os.path.join(dir, name + ".in"), dtype=numpy.uint32)
    a, b, c = numpy.split(raw, [n * 16 * kw, n * 24 * kw])
    d = cupy.zeros(n * 128 * ew, dtype=cupy.uint32)
    f = cupy.RawModule(path=cubin).get_function("probe")
    f((n,), (128 if name.startswith("wgmma") else 32,), (cupy.asarray(a), cupy.asarray(b), cupy.asarray(c), d))
    w = cupy.asnumpy(d)
    res.write(b"%s %d\n" % (name.encode(), len(w)))
    res.write(w.tobytes())
    report.write("%s ok: %s\n" % (name, sass))
