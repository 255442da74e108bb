#!/usr/bin/env python3
"""Writes the plans that probe.cu runs: more.py DIR [SEED]

DIR/more: a line a case; DIR/more.what: the name of its group, a line each;
DIR/more.N: patterns for the reductions. DIR/replace: tensormap.replace."""
import random, struct, sys
from plan import SIZE, FLOAT, SPAN, case, draw, aim, line

NAME = ["u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32ftz", "tf32", "tf32ftz"]
rows = []


def put(group, c, store=0, coord=(), off=(), dst=0, bytes=0, where=0, shift=0, cluster=1, mask=-1, target=0, hint=0, dim=-1, mode=-1, flip=(), pattern=0):
    pad = lambda x, n, v: (list(x) + [v] * n)[:n]
    d = dict(c)
    d.update(store=store, coord=pad(coord, 5, 0), off=pad(off, 3, 0), dst=dst, bytes=bytes or dst + box_bytes(c) + 128)
    assert d["bytes"] <= 40 * 1024, d["bytes"]
    rows.append((group, line(d) + " " + " ".join(map(str, [where, shift, cluster, mask, target, hint, dim, mode, *pad(flip, 2, -1), pattern]))))


def box_bytes(c):
    size, span = SIZE[c["type"]], {1: 16, 2: 32}.get(c["il"]) or SPAN[c["sw"]]
    if c["mode"]:
        return max(c["ch"] * size, span) * c["px"]
    n = max(c["box"][0] * size, span) if not c["il"] else span * c["box"][0]
    for i, b in enumerate(c["box"][1:c["rank"]]):
        if not (c["il"] and i == c["rank"] - 3):
            n *= b
    return n


def packed(rank, type=2, dim=(16, 8, 6, 5, 4), box=(8, 3, 2, 2, 2), il=0, sw=0, fill=0, pitch=32, **k):
    size = SIZE[type]
    unit = {1: 16, 2: 32}.get(il)
    stride, s = [], dim[0] * (unit or size)
    for i in range(1, rank):
        s = (s + pitch - 1) // pitch * pitch
        stride.append(s)
        s *= dim[i]
    if il:  # dimension rank-2 counts slices, one a box
        box = [b if i != rank - 2 else unit // size for i, b in enumerate(box)]
        box[0] = max(box[0] * size // 16 * 16 // size, 16 // size)
    return case(type=type, rank=rank, dim=dim[:rank], stride=stride, box=box[:rank], il=il, sw=sw, fill=fill, **k)


def column(rank, type=2, dim=(16, 8, 6, 5, 4), lower=(), upper=(), px=12, ch=8, **k):
    return packed(rank, type, dim, (1,) * 5, **k) | dict(mode=1, lower=(list(lower) + [0] * 3)[:3], upper=(list(upper) + [0] * 3)[:3], ch=ch, px=px, box=[1] * 5)


def negative():
    for il, sw in ((0, 0), (1, 0), (2, 1)):
        for rank in range(1 if not il else 3, 6):
            c = packed(rank, il=il, sw=sw)
            for i in range(rank):
                far = 4 if i == 0 and not il else 1
                for v in (-far, -c["box"][i], -4096):
                    if not (il and v == -4096):
                        yield c, i, v
                for v in (c["dim"][i] - far, c["dim"][i], c["dim"][i] + 8, 0x7ffffff0):
                    yield c, i, v
    for rank in range(3, 6):
        c = column(rank)
        for i in (0, rank - 1):
            for v in (-4, -4096, c["dim"][i] - 4, c["dim"][i], 0x7ffffff0):
                yield c, i, v


def special(type):
    r = random.Random(type)
    if type in (6, 9):
        t = {6: [0, 1, 2, 0x3ff, 0x400, 0x401, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7fff, 0x3c00, 0x3c01, 0x1000, 0x0c00, 0x6400, 0x67ff],
             9: [0, 1, 2, 0x7f, 0x80, 0x81, 0x7f7f, 0x7f80, 0x7f81, 0x7fc0, 0x7fff, 0x3f80, 0x3f81, 0x3b00, 0x3300, 0x4300, 0x437f]}[type]
        return "<H", t + [x | 0x8000 for x in t], lambda: r.getrandbits(16)
    if type in (7, 10, 11, 12):
        t = [0, 1, 2, 0x7fffff, 0x800000, 0x800001, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff, 0x3f800000, 0x3f800001, 0x33800000, 0x4b000000, 0x00ffffff, 0x3f801000]
        return "<I", t + [x | 0x80000000 for x in t], lambda: r.choice([r.getrandbits(32), 0x3f000000 + r.getrandbits(25), r.getrandbits(24) | r.getrandbits(1) << 31])
    if type == 8:
        t = [0, 1, 0xfffffffffffff, 0x10000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff0000000000001, 0x7ff8000000000000, 0x3ff0000000000000, 0x3ff0000000000001, 0x3ca0000000000000]
        return "<Q", t + [x | 1 << 63 for x in t], lambda: r.choice([r.getrandbits(64), 0x3fe0000000000000 + r.getrandbits(54)])
    n = 8 * SIZE[type]
    t = [0, 1, 2, 3, (1 << n) - 1, (1 << n) - 2, 1 << (n - 1), (1 << (n - 1)) - 1, (1 << (n - 1)) + 1, 0x55, 0xaa % (1 << n), (1 << n // 2) - 1, 1 << n // 2]
    return {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}[SIZE[type]], t, lambda: r.choice([r.getrandbits(n), r.getrandbits(n // 2), r.getrandbits(n) | 1 << (n - 1)])


def patterns(dir):
    for type in range(13):
        form, t, rnd = special(type)
        n = 16384 // SIZE[type]
        a = [t[i % len(t)] if i < len(t) ** 2 else rnd() for i in range(n)]
        b = [t[i // len(t)] if i < len(t) ** 2 else rnd() for i in range(n)]
        with open(f"{dir}/more.{type + 1}", "wb") as f:
            for v in a + b:
                f.write(struct.pack(form, v))


TYPES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 9, 9: 10, 10: 8, 11: 7, 12: 8}
raws = []


def raw(group, c, code=None, tf32=None, store=0, coord=(), **fields):
    """A map that the driver would not make: c with fields put as they are."""
    v = 0

    def set(at, n, x):
        nonlocal v
        v = v & ~(((1 << n) - 1) << at) | (x & ((1 << n) - 1)) << at

    d = {**c, **fields}
    rank = d["rank"]
    set(0, 64, d["addr"]), set(68, 3, rank - 1), set(75, 2, d["il"]), set(77, 2, d["sw"]), set(79, 1, d["fill"])
    set(71, 4, TYPES[d["type"]] if code is None else code), set(80, 1, d["type"] > 10 if tf32 is None else tf32)
    for i in range(rank):
        if i:
            set(64 + 32 * i, 32, d["stride"][i - 1] >> 4), set(220 + 4 * i, 4, d["stride"][i - 1] >> 36)
        set(256 + 32 * i, 32, d["dim"][i] - 1), set(416 + 3 * i, 3, d["es"][i] - 1)
        if not d["mode"]:
            set(440 + 8 * i, 8, d["box"][i] - 1)
    if d["mode"]:
        set(64, 1, 1), set(440, 8, d["ch"] - 1), set(480, 10, d["px"] - 1)
        n = {3: 16, 4: 8, 5: 5}[rank]
        for i in range(rank - 2):
            set(448 + n * i, n, d["lower"][i]), set(464 + n * i, n, d["upper"][i])
    raws.append(v.to_bytes(128, "little"))
    put(group, c, store, coord, bytes=16384, flip=(3000 + len(raws) - 1,))


def broken():
    c, t = packed(2), packed(3, il=1)
    for n in (15, 16, 17, 20, 24, 32, 64, 1024, 1 << 16, 1 << 20, 1 << 24, 1 << 28, (1 << 29) - 1, 1 << 29, (1 << 29) + 1, 1 << 30, (1 << 30) + 1, (1 << 31) - 1, 1 << 31, (1 << 31) + 1, 3 << 30, 1 << 32):
        for type in (0, 2, 4):
            b = packed(2, type, (16, 8), (16, 3))
            raw("inner dimension", b, dim=[n, 8])
        raw("inner dimension", c, dim=[n, 8], stride=[(1 << 40) - 16], box=[8, 1])
        raw("inner dimension", packed(1), dim=[n])
        raw("outer dimension", c, dim=[16, n])
        raw("outer dimension", packed(3), dim=[16, 8, n])
        raw("inner dimension", c, store=1, dim=[n, 8])
        raw("interleaved dimension", t, dim=[n, 8, 6])
    for w in (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 24, 32, 33, 36, 64):
        for sw in range(4):
            raw("row", c, box=[w, 3], sw=sw)
        raw("interleaved row", t, box=[w, 1, 2])
        raw("interleaved row", packed(3, il=2), box=[w, 1, 2])
    for code in range(16):
        for tf32 in (0, 1):
            raw("type", packed(2, 2, box=(16, 3)), code=code, tf32=tf32)
            raw("type", packed(2, 2, box=(16, 3)), code=code, tf32=tf32, fill=1)
    for il in range(4):
        for sw in range(4):
            for il0 in (0, 1, 2):
                raw("interleave", packed(3, il=il0), il=il, sw=sw)
    for shift in (1, 2, 4, 8, 16, 32):
        for b in (c, t, packed(3, il=2)):
            raw("address", b, addr=shift)
    for stride in (0, 16, 32, 48, 64, 80):
        for b in (c, t, packed(3, il=2)):
            raw("stride", b, stride=[stride] + b["stride"][1:])
    for es in range(1, 9):
        raw("element stride", c, es=[es, 1])
        raw("element stride", packed(3), es=[1, es, 9 - es])
    big = case(type=2, rank=2, dim=(256, 64), stride=(1024,), box=(256, 8))
    for dst in (32768, 38912, 39936, 40832):
        rows.append(("past shared", line({**big, "store": 0, "coord": [0] * 5, "off": [0] * 3, "dst": dst, "bytes": 40960}) + " 0 0 1 -1 0 0 -1 -1 -1 -1 0"))
        rows.append(("past shared", line({**big, "store": 1, "coord": [0] * 5, "off": [0] * 3, "dst": dst, "bytes": 40960}) + " 0 0 1 -1 0 0 -1 -1 -1 -1 0"))
    for type in (2, 6, 7, 8, 9):
        put("bulk " + NAME[type], case(type=type, rank=2, dim=(256, 16384 // 256 // SIZE[type]), stride=(256 * SIZE[type],), box=(256, 16384 // 256 // SIZE[type])), 11, pattern=type + 1)


def columns():
    """Broken maps of im2col mode, and coordinates at the ends of their range."""
    c = column(4, px=6)
    for ch in (1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 17, 20, 32, 36):
        for sw in range(4):
            raw("im2col row", c, ch=ch, sw=sw)
        raw("im2col row", c, ch=ch, il=1)
        raw("im2col row", c, ch=ch, il=2)
    for n in ((1 << 31) - 1, 1 << 31, (1 << 31) + 1, 1 << 32):
        for i in range(4):
            raw("im2col dimension", c, dim=[n if k == i else v for k, v in enumerate((16, 8, 6, 5))])
    for lo, up in ((0, -7), (0, -8), (1, -7), (5, -4), (-8, -16), (7, 0), (8, 0), (8, 1), (-128, 127), (0, -128)):
        for w in (lo, lo - 1, lo + 1, 0, 7 + up):
            raw("im2col corner", c, lower=[lo, 0, 0], upper=[up, 0, 0], coord=(0, w, 0, 0))
    for v in (-(1 << 31), -(1 << 31) + 4, (1 << 31) - 4, (1 << 31) - 1, 1 << 30, -(1 << 30)):
        for b in (packed(3), packed(3, il=1), packed(3, il=2), packed(3, sw=3), c, packed(3, 6), packed(3, 4)):
            for i in range(b["rank"]):
                coord = [0] * 5
                coord[i] = v
                if not b["il"] and i == 0:
                    coord[i] = v // 8 * 8
                put("far coordinate", b, 0, coord)
                if v > 0 and i:
                    put("far coordinate", b, 1, coord)


def main():
    dir, r = sys.argv[1], random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 11)
    patterns(dir)

    for c, i, v in negative():
        coord = [0] * 5
        coord[i] = v
        put("store beyond", c, 1, coord)
        if v in (-4096, 0x7ffffff0) or r.random() < .4:
            put("load beyond", c, 0, coord)
        if v == -4 or v == -1 or r.random() < .1:
            put("reduce beyond", c, 2, coord)

    for n in range(150):  # im2col stores and reductions
        while True:
            d = aim(r, draw(r, True))
            if d and d["mode"] and d["store"] and d["type"] < 6:
                break
        c = {k: d[k] for k in case()}
        op = 1 if n % 3 or c["type"] not in (2, 4) else 2
        put("store im2col", c, op, d["coord"], (), d["dst"] // 1024 * 1024, d["bytes"])
    for rank in (3, 4, 5):
        for i in range(rank - 2):
            for lo, up in ((-1, 0), (0, 1), (1, 0), (0, -1), (1, -1)):
                c = column(rank, lower=[lo * (k == i) for k in range(3)], upper=[up * (k == i) for k in range(3)])
                put("store im2col corner", c, 1, [0, 1, 1, 1, 1] if rank > 3 else [0, 1, 0])

    for rank, dim in ((3, (16, 65000, 1)), (4, (16, 300, 200, 1)), (5, (16, 40, 40, 39, 1))):
        c = column(rank, 0, dim, px=4, ch=16, pitch=16)
        for i in range(rank - 2):
            for v in (0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 127, 128, 129, 255, 256, 257, 299, 511, 1024, 4096, 32767, 32768, 40000, 64999, 65535):
                off = [0] * 3
                off[i] = v
                put("im2col offset", c, 0, (), off)
        for _ in range(25):
            off = [r.choice([0, 1, 3, 9, 20, 31, 32, 100, 255, 256, 1000, 65535]) for _ in range(3)]
            put("im2col offset", c, 0, [0, r.randint(0, 5), r.randint(0, 5) if rank > 3 else 0, r.randint(0, 5) if rank > 4 else 0], off)
        for _ in range(25):
            d = column(rank, 2, (16, 20, 20, 20, 3), [r.randint(-4, 2) for _ in range(3)], [r.randint(-4, 2) for _ in range(3)], px=30, ch=8)
            first = [r.randint(d["lower"][i], 19 + d["upper"][i]) for i in range(rank - 2)]
            put("im2col offset", d, 0, [0, *first, 1], [r.randint(0, 12) for _ in range(3)])

    shapes = [(3, 0, 0), (3, 0, 1), (3, 0, 2), (3, 0, 3), (3, 1, 0), (3, 2, 0), (3, 2, 1)]
    for rank, il, sw in shapes:
        c = packed(rank, il=il, sw=sw)
        for dst in (1, 2, 4, 8, 16, 32, 48, 64, 96, 112, 128, 144, 160, 192, 256, 320, 384, 512, 640, 896, 1024):
            put("load misaligned", c, 0, (), (), dst)
            if dst % 128 == 0 or dst in (4, 16, 32, 64):
                put("store misaligned", c, 1, (), (), dst)
        for dst in (8, 16, 64, 128, 256, 384):
            put("reduce misaligned", c, 2, (), (), dst)
    c = column(4, px=20, sw=2)
    for dst in (16, 32, 64, 128, 256, 384):
        put("load misaligned", c, 0, (), (), dst)

    for type in range(13):
        for fill in range(2 if type in FLOAT else 1):
            for sw in (0, 2):
                c = packed(2, type, (48 // SIZE[type], 7), (64 // SIZE[type], 5), sw=sw, fill=fill)
                far = 16 // SIZE[type]
                for coord in ((-far, -1), (32 // SIZE[type], 4), (0, 9), (-4096, 0), (far, 5)):
                    put("fill", c, 0, coord)
                put("fill", column(3, type, (64 // SIZE[type], 9, 5), (-2,), (1,), 40, 32 // SIZE[type], sw=sw, fill=fill), 0, (far, -2, 0))

    for type in range(13):
        c = case(type=type, rank=2, dim=(256, 16384 // 256 // SIZE[type]), stride=(256 * SIZE[type],), box=(256, 16384 // 256 // SIZE[type]))
        for op in range(2, 10):
            put("reduce " + NAME[type], c, op, pattern=type + 1)
    for n in range(160):
        while True:
            d = aim(r, draw(r, True))
            if d and d["store"] and d["type"] in (2, 3, 4, 6, 7, 9):
                break
        c = {k: d[k] for k in case()}
        ops = {2: range(2, 10), 3: (2, 3, 4, 7, 8, 9), 4: (2, 3, 4, 7), 6: (2, 3, 4), 7: (2,), 9: (2, 3, 4)}[c["type"]]
        put("reduce box", c, r.choice(list(ops)), d["coord"], (), d["dst"] // 1024 * 1024, d["bytes"])

    n = 0
    while n < 170:  # multicast
        d = aim(r, draw(r, True))
        if not d or d["store"]:
            continue
        c = {k: d[k] for k in case()}
        size = 2 if n < 40 else 4
        mask = 1 + n % 3 if size == 2 else 1 + n % 15
        put("multicast", c, 0, d["coord"], d["off"], d["dst"], d["bytes"], cluster=size, mask=mask)
        n += 1
    c = packed(2)
    for size, mask in ((2, 0), (2, 4), (2, 7), (4, 0x100), (4, 0xffff), (1, 1), (1, 0), (1, 3), (8, 0xa5)):
        put("multicast mask", c, 0, cluster=size, mask=mask)
    for size, target in ((2, 1), (4, 3), (4, 2)):
        put("peer", c, 0, cluster=size, target=target)
        put("peer", packed(3, sw=3), 0, (0, -1, 1), cluster=size, target=target, dst=256)

    for where in range(4):
        for shift in (0, 8, 16, 32, 48, 64, 96, 128) if where != 3 else (0, 64):
            put("place", c, 0, where=where, shift=shift)
            if where and shift in (0, 32, 64):
                put("place", c, 1, where=where, shift=shift)
    for rank in range(1, 6):
        for dim in range(1, 6):
            if dim != rank:
                put("dimension", packed(rank), 0, dim=dim)
    for rank in range(3, 6):
        put("mode", packed(rank), 0, mode=1)
        put("mode", column(rank), 0, mode=0)
        put("mode", packed(rank), 1, mode=1)
        put("mode", column(rank), 1, mode=0)
    bits = [*range(0, 4), *range(57, 96), 125, 220, 224, 228, 287, 288, 320, *range(416, 440), 447, 448, 456, 464, 472, *range(480, 544, 3), 520, 543, 544, 560, 575, *range(576, 608, 2), 577, 579, 581, 585, 608, 640, 700, 768, 896, 1000, 1023]
    for b in bits:
        put("bit", c, 0, flip=(b,))
    for b in (512, 515, 520, 543, 576, 580, 584, 588):
        put("bit", packed(3, sw=3), 0, flip=(b,))
        put("bit", column(4, sw=2), 0, flip=(b,))
        put("bit", c, 1, flip=(b,))
    for f in range(2000, 2008):
        put("garbage", c, 0, flip=(f,))
        put("garbage", c, 1, flip=(f,))
    for rank in range(1, 6):
        put("hint", packed(rank), 0, hint=1)
        put("hint", packed(rank), 1, hint=1)
        put("prefetch", packed(rank), 10)
    for coord in ((1, 0), (-4, -1), (400, 400), (2, 0)):
        put("prefetch", c, 10, coord)
    put("prefetch", column(4), 10, (0, 1, 1, 0))
    put("prefetch", column(4), 10, (0, 100, 1, 0))
    put("prefetch", c, 10, flip=(2001,))
    put("prefetch", c, 10, flip=(2000,))
    put("prefetch", c, 10, dim=3)
    put("prefetch", packed(3), 10, mode=1)
    put("prefetch", c, 10, where=1, shift=32)

    broken()
    columns()
    with open(dir + "/more.maps", "wb") as f:
        f.write(b"".join(raws))
    with open(dir + "/more", "w") as f, open(dir + "/more.what", "w") as g:
        for what, text in rows:
            f.write(text + "\n")
            g.write(what + "\n")
    print(len(rows), "cases")


if __name__ == "__main__":
    main()
