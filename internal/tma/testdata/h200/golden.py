#!/usr/bin/env python3
"""Joins plans and results into the golden files: golden.py PLANS RESULTS OUT [MAPS]

Of the maps MAPS at random are kept (6,000); of the copies all.
"""
import gzip, json, random, sys


def write(path, rows):
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as f:
        for row in rows:
            f.write((json.dumps(row, separators=(",", ":")) + "\n").encode())


def main():
    plans, results, out = sys.argv[1:4]
    keep = int(sys.argv[4]) if len(sys.argv) > 4 else 6000
    maps = []
    for p, r in zip(open(plans + "/encode"), open(results + "/encode")):
        r = r.split()
        assert r[0] in ("0", "1")
        p = [int(x) for x in p.split()]
        if max(p) < 1 << 63:  # what tensormap.cu could read
            maps.append({"in": p, "hex": r[1] if r[0] == "0" else ""})
    random.Random(1).shuffle(maps)
    write(out + "/maps.jsonl.gz", maps[:keep])
    plan = [[int(x) for x in l.split()] for l in open(plans + "/copy")]
    copies = []
    for l in open(results + "/copy.txt"):
        f = l.split()
        row = {"in": plan[int(f[0])]}
        if f[1] == "ok":
            row["word"], row["hash"] = f[2], f[3]
        elif f[1] == "fault" and f[2] == "715":
            row["fault"] = True
        elif f[1] == "refused":
            continue
        else:
            raise SystemExit("line " + l)
        copies.append(row)
    write(out + "/copies.jsonl.gz", copies)


if __name__ == "__main__":
    main()
