#!/usr/bin/env python3
"""Joins the plans of more.py and replace.py with what probe.cu answered:
goldenmore.py DIR OUT, where DIR also holds more.out, raw, replace.out."""
import json, random, struct, sys
from golden import write

KEEP = 4800  # bytes of a reduction's operands and results: all pairs of special values, and some at random


def reductions(dir, plan, what):
    seen, raw, at = set(), open(dir + "/raw", "rb").read(), 0
    while at < len(raw):
        i, n = struct.unpack_from("<II", raw, at)
        data, at = raw[at + 8 : at + 8 + n], at + 8 + n
        p = plan[i][-1]
        if p not in seen:
            seen.add(p)
            both = open(f"{dir}/more.{p}", "rb").read()
            yield {"pattern": p, "a": both[:KEEP].hex(), "b": both[16384 : 16384 + KEEP].hex()}
        yield {"type": plan[i][1], "op": plan[i][35], "out": data[:KEEP].hex()}


def main():
    dir, out = sys.argv[1:]
    plan = [[int(x) for x in l.split()] for l in open(dir + "/more")]
    what = [l.strip() for l in open(dir + "/more.what")]
    maps = open(dir + "/more.maps", "rb").read()
    rows = []
    for l in open(dir + "/more.out"):
        f = l.split()
        i = int(f[0])
        if plan[i][35] == 11:  # its result is in reduce.jsonl.gz
            continue
        row = {"what": what[i], "in": plan[i]}
        if plan[i][54] >= 3000:
            row["map"] = maps[128 * (plan[i][54] - 3000) :][:128].hex()
        if f[1] == "fault":
            row["fault"] = int(f[2])
        elif f[1] == "ok":
            row["word"], row["hash"] = f[2::2], f[3::2]
        elif f[1] == "refused":
            continue
        else:
            raise SystemExit("line " + l)
        rows.append(row)
    write(out + "/more.jsonl.gz", rows)
    write(out + "/reduce.jsonl.gz", sorted(reductions(dir, plan, what), key=lambda r: ("type" in r, r.get("pattern", 0), r.get("type", 0), r.get("op", 0))))
    rows = [dict(id=int(a[0]), value=int(a[1]), map=a[2], out=b.strip()) for a, b in zip((l.split() for l in open(dir + "/replace")), open(dir + "/replace.out"))]
    random.Random(1).shuffle(rows)
    write(out + "/replace.jsonl.gz", rows[:3000])


main()
