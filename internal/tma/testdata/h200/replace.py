#!/usr/bin/env python3
"""Prepares tensormap.replace for probe.cu: replace.py DIR MAPS

Asks ptxas which instructions there are, and writes those to DIR/replace.inc,
the verdicts to DIR/ptxas, and a plan to DIR/replace. MAPS is maps.jsonl.gz,
from which maps to change are taken."""
import gzip, json, os, random, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {\n.reg .b64 %a, %w; .reg .b32 %r<4>; .reg .b16 %h; .reg .b64 %m;\n.shared .align 128 .b8 s[256]; .shared .align 8 .b64 full;\nld.param.u64 %a, [p]; mov.b64 %w, 1; mov.b32 %r0, s; mov.b32 %r1, full; mov.b32 %r2, 0; mov.b16 %h, 1;\n"

# Other forms that one may ask for.
FORMS = """
cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [%r0], [%a, {%r2, %r2, %r2, %r2, %r2}], [%r1];
cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r0], [%a, {%r2, %r2, %r2, %r2, %r2}], [%r1];
cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%a, {%r2, %r2, %r2, %r2, %r2}], [%r0];
cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes [%r0], [%a, {%r2, %r2, %r2}], [%r1], {%h, %h};
cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r0], [%a, {%r2, %r2}], [%r1];
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%r0], [%a, {%r2, %r2}], [%r1], %h;
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%r0], [%a, {%r2, %r2}], [%r1], %h, %w;
cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%r0], [%a, {%r2, %r2, %r2}], [%r1], {%h}, %h, %w;
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::1 [%r0], [%a, {%r2, %r2}], [%r1];
cp.async.bulk.tensor.3d.global.shared::cta.im2col.bulk_group [%a, {%r2, %r2, %r2}], [%r0];
cp.reduce.async.bulk.tensor.3d.global.shared::cta.add.im2col.bulk_group [%a, {%r2, %r2, %r2}], [%r0];
cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group.L2::cache_hint [%a, {%r2, %r2}], [%r0], %w;
cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%a, {%r2, %r2}];
cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%a, {%r2, %r2, %r2, %r2, %r2}];
prefetch.tensormap [%a];
prefetch.param.tensormap [p];
tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [s], %r2, %r2;
tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [s], %r2;
tensormap.replace.tile.rank.b1024.b32 [%a], %r2;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%a], [s], 128;
""".strip().split("\n")


def candidates():
    """id, field, ord, immediate, type"""
    yield 1, "global_address", None, None, "b64"
    yield 2, "rank", None, None, "b32"
    for n, (f, t) in enumerate((("box_dim", "b32"), ("global_dim", "b32"), ("global_stride", "b64"), ("element_stride", "b32"))):
        for ord in range(-1, 8):
            yield 11 + 10 * n + ord, f, ord, None, t
    for n, (f, most) in enumerate((("elemtype", 17), ("interleave_layout", 5), ("swizzle_mode", 7), ("swizzle_atomicity", 6), ("fill_mode", 4))):
        for v in range(-1, most + 1):
            yield 101 + 20 * n + v, f, None, v, "b32"


def text(c, space, addr, new):
    id, f, ord, imm, t = c
    ops = [f"[{addr}]"] + ([str(ord)] if ord is not None else []) + [str(imm) if imm is not None else new]
    return f"tensormap.replace.tile.{f}.{space}.b1024.{t} {', '.join(ops)};"


def verdict(args):
    dir, i, line, target = args
    path = f"{dir}/v{i}"
    head = HEAD.replace("sm_90a", target)
    open(path + ".ptx", "w").write(head + line + "\nret;\n}\n")
    p = subprocess.run(["ptxas", "-arch=" + target, "-o", path + ".cubin", path + ".ptx"], capture_output=True, text=True)
    sass = ""
    if p.returncode == 0 and i in (0, 1, 3, 13, 23, 33, 43, 50):
        sass = subprocess.run(["cuobjdump", "-sass", path + ".cubin"], capture_output=True, text=True).stdout
        sass = "\n".join(l for l in sass.split("\n") if "/*0" in l and any(w in l for w in ("LD", "ST", "LOP", "PRMT", "BFI", "UTM", "SHF", "LEA", "IMAD", "IADD", "SGXT")))
    for e in (".ptx", ".cubin"):
        if os.path.exists(path + e):
            os.remove(path + e)
    return p.returncode == 0, (p.stdout + p.stderr).strip().split("\n")[0], sass


def plan(out, ids, maps):
    r = random.Random(5)
    rows = [json.loads(l) for l in gzip.open(maps)]
    rows = [g for g in rows if g["hex"]]
    bases = [g["hex"] for mode in (0, 1) for rank in range(1, 6) for g in [g for g in rows if g["in"][0] == mode and g["in"][2] == rank][: 4 - 2 * mode]]
    bases += ["00" * 128, "ff" * 128] + ["%0256x" % r.getrandbits(1024) for _ in range(3)]
    values = [0, 1, 2, 3, 7, 8, 15, 16, 17, 255, 256, 257, 0x1234, 0xffff, 0x10000, 0x12345678, 0x80000000, 0xffffffff]
    wide = [0, 1, 8, 15, 16, 32, 48, 0x7f1234567890, (1 << 36) - 16, 1 << 36, (1 << 40) - 16, 1 << 40, (1 << 44) - 1, (1 << 57) - 16, 1 << 57, 1 << 63, (1 << 64) - 1, 0x0123456789abcdef]
    with open(out, "w") as f:
        for id, kind in ids:
            for b in bases:
                for v in {"b32": values, "b64": wide, "imm": [0]}[kind]:
                    f.write(f"{id} {v} {b}\n")


def main():
    dir, maps = sys.argv[1:]
    all = list(candidates())
    jobs = [(dir, i, text(c, "shared::cta", "s", "%w" if c[4] == "b64" else "%r2"), "sm_90a") for i, c in enumerate(all)]
    jobs += [(dir, 1000 + i, text(c, "global", "%a", "%w" if c[4] == "b64" else "%r2"), "sm_90a") for i, c in enumerate(all)]
    jobs += [(dir, 2000 + i, l, "sm_90a") for i, l in enumerate(FORMS)] + [(dir, 3000 + i, l, "sm_90") for i, l in enumerate(FORMS)]
    with ThreadPoolExecutor(16) as pool:
        got = list(pool.map(verdict, jobs))
    ids = []
    with open(dir + "/ptxas", "w") as f, open(dir + "/sass", "w") as g:
        for j, (ok, err, sass) in zip(jobs, got):
            f.write(f"{'ok' if ok else 'no'}\t{j[3]}\t{j[2]}\t{'' if ok else err}\n")
            if sass:
                g.write(j[2] + "\n" + sass + "\n")
    with open(dir + "/replace.inc", "w") as f:
        for i, c in enumerate(all):
            kind = "imm" if c[3] is not None else c[4]
            for k, base, space, reg in ((0, 0, "shared::cta", "s"), (len(all), 1000, "global", "g")):
                if got[i + k][0]:
                    new = "%1"
                    asm = text(c, space, "%0", new)
                    ins = {"b64": '"l"(w)', "b32": '"r"(v)', "imm": '"r"(v)'}[kind]
                    f.write(f'case {base + c[0]}: asm volatile("{asm}" ::"{"r" if base == 0 else "l"}"({reg}), {ins} : "memory"); break;\n')
                    ids.append((base + c[0], kind))
    plan(dir + "/replace", ids, maps)


main()
