#!/usr/bin/env python3
"""Writes the plans that tensormap.cu runs: plan.py DIR [SEED]

DIR/encode: every field alone, then every rule at its edge, then random maps.
DIR/copy:   random maps that fit the buffer, with coordinates in and out of it.
"""
import random, sys

SIZE = [1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4]
FLOAT = {6, 7, 8, 9, 10, 11, 12}
SPAN = [0, 32, 64, 128, 128, 128, 128]


def case(mode=0, type=6, rank=2, addr=0, dim=(), stride=(), box=(), lower=(), upper=(), ch=0, px=0, es=(), il=0, sw=0, l2=0, fill=0):
    pad = lambda x, n, v: (list(x) + [v] * n)[:n]
    return dict(mode=mode, type=type, rank=rank, addr=addr, dim=pad(dim, 5, 1), stride=pad(stride, 4, 0), box=pad(box, 5, 1),
                lower=pad(lower, 3, 0), upper=pad(upper, 3, 0), ch=ch, px=px, es=pad(es, 5, 1), il=il, sw=sw, l2=l2, fill=fill)


def line(c):
    v = [c["mode"], c["type"], c["rank"], c["addr"], *c["dim"], *c["stride"], *c["box"], *c["lower"], *c["upper"], c["ch"], c["px"],
         *c["es"], c["il"], c["sw"], c["l2"], c["fill"]]
    if "store" in c:
        v += [c["store"], *c["coord"], *c["off"], c["dst"], c["bytes"]]
    return " ".join(map(str, v))


def bases():
    for rank in range(1, 6):
        for t, b0 in ((6, 16), (0, 32), (10, 8)):
            yield case(rank=rank, type=t, addr=0x7F1234560000, dim=[100, 201, 302, 403, 504], stride=[0x1000, 0x400000, 0x20000000, 0x3000000000],
                       box=[b0, 5, 6, 7, 8], il=0)
    for rank in range(3, 6):
        for il, sw in ((1, 0), (2, 1)):
            yield case(rank=rank, type=6, addr=0x7F1234560000, dim=[104, 201, 302, 403, 504], stride=[0x1000, 0x400000, 0x20000000, 0x3000000000],
                       box=[16 if il == 2 else 8, 5, 6, 7, 8], il=il, sw=sw)
    for rank in range(3, 6):
        for il, sw in ((0, 0), (0, 3), (1, 0), (2, 1)):
            yield case(mode=1, rank=rank, type=6, addr=0x7F1234560000, dim=[104, 201, 302, 403, 504], stride=[0x1000, 0x400000, 0x20000000, 0x3000000000],
                       lower=[-3, -2, -1], upper=[-5, -6, -7], ch=16 if il != 1 else 8, px=33, il=il, sw=sw)


def edges(c):
    """c with one field changed, every way that could matter."""
    def put(key, v, i=None):
        d = {k: (list(x) if isinstance(x, list) else x) for k, x in c.items()}
        if i is None:
            d[key] = v
        else:
            d[key][i] = v
        return d
    yield c
    rank = c["rank"]
    for b in range(0, 64):
        yield put("addr", 1 << b)
    for v in (0, 1, 2, 4, 8, 16, 24, 32, 48, 64, (1 << 57) - 32, (1 << 48) - 32, (1 << 49) - 32):
        yield put("addr", v)
    for t in range(-1, 18):
        yield put("type", t)
        for f in (0, 1, 2):
            yield {**put("type", t), "fill": f}
    for r in range(0, 7):
        yield put("rank", min(r, 5) if r != 6 else 6)
    for i in range(min(rank + 1, 5)):
        for b in range(0, 34):
            yield put("dim", 1 << b, i)
        for v in (0, 3, (1 << 32) - 1, (1 << 32) + 1, 1 << 40):
            yield put("dim", v, i)
        for v in list(range(0, 34)) + [48, 56, 60, 64, 72, 80, 96, 120, 128, 129, 144, 192, 255, 256, 257, 288, 384, 512, 1024, 0x10001]:
            yield put("box", v, i)
        for v in list(range(0, 18)) + [256, 257]:
            yield put("es", v, i)
    for i in range(min(rank, 4)):
        for b in range(0, 45):
            yield put("stride", 1 << b, i)
        for v in (0, 24, 40, 48, 80, 96, (1 << 40) - 16, (1 << 40) - 32, (1 << 40) + 16, 208, 192, 224):
            yield put("stride", v, i)
    for il in range(-1, 5):
        for sw in range(-1, 9):
            d = put("il", il)
            d["sw"] = sw
            yield d
            for b0 in (4, 8, 12, 16, 20, 24, 32, 40, 48, 64, 128, 256):
                e = {**d, "box": [b0] + d["box"][1:], "ch": b0}
                yield e
    for l2 in range(-1, 6):
        yield put("l2", l2)
    for f in range(-1, 4):
        yield put("fill", f)
    if c["mode"]:
        for key in ("lower", "upper"):
            for i in range(3):
                for b in range(0, 18):
                    for v in ((1 << b) - 1, 1 << b, -(1 << b), -(1 << b) - 1):
                        yield put(key, v, i)
        for v in list(range(0, 34)) + [40, 48, 64, 96, 128, 255, 256, 257, 264, 288, 512, 1024, 65536]:
            yield put("ch", v)
        for v in list(range(0, 12)) + [255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025, 2048, 65536]:
            yield put("px", v)


def draw(r, small=False):
    """A random map that is likely legal. small: it fits the buffer."""
    mode = int(r.random() < 0.4)
    il = r.choice([0, 0, 0, 0, 1, 2])
    rank = r.randint(3, 5) if mode or il else r.randint(1, 5)
    type = r.randrange(13)
    size = SIZE[type]
    sw = 1 if il == 2 else 0 if il == 1 else r.choice([0, 1, 2, 3])
    if il and r.random() < 0.2:
        sw = r.randrange(4)
    span = {1: 16, 2: 32}.get(il) or SPAN[sw] or 256
    inner = r.randint(1, max(1, min(span // 16, 256 * size // 16))) * 16
    if r.random() < 0.5:
        inner = min(span, 256 * size)
    b0 = max(1, inner // size)
    if small:
        dim = [r.randint(1, 40) for _ in range(rank)]
        if r.random() < 0.3:
            dim[0] = r.randint(1, 300)
        if rank >= 4:
            dim = [dim[0]] + [r.randint(1, 10) for _ in dim[1:]]
    else:
        dim = [min(1 << 32, max(1, int(2 ** (r.random() * r.choice([8, 16, 32.2])) ))) for _ in range(rank)]
    gran = 32 if il == 2 else 16
    stride, s = [], dim[0] * size
    if il:
        s = gran * (1 if r.random() < .5 else (dim[0] * size + gran - 1) // gran)
    for i in range(rank - 1):
        s = (s + gran - 1) // gran * gran + gran * (r.choice([0, 0, 1, 3]))
        stride.append(s)
        s *= dim[i + 1]
    if not small and (r.random() < 0.5 or max(stride, default=0) >= 1 << 40):
        stride = [min((1 << 40) - gran, int(2 ** (r.random() * 40))) // gran * gran for _ in range(rank - 1)]
    box = [b0] + [min(256, max(1, int(2 ** (r.random() * (8.01 if not small else 4))))) for _ in range(rank - 1)]
    es = [1] * rank
    if r.random() < 0.3:
        es = [r.choice([1, 1, 2, 3, 4, 5, 6, 7, 8]) for _ in range(rank)]
    c = case(mode=mode, type=type, rank=rank, addr=0, dim=dim, stride=stride, box=box, es=es, il=il, sw=sw, l2=r.randrange(4), fill=int(type in FLOAT and r.random() < 0.5))
    if mode:
        lim = {3: 15, 4: 7, 5: 4}[rank]
        k = min(lim, 15 if not small else 3)
        pick = lambda: r.randint(-(1 << k), (1 << k) - 1)
        c["lower"] = [pick() if i < rank - 2 else 0 for i in range(3)]
        c["upper"] = [pick() if i < rank - 2 else 0 for i in range(3)]
        if small:
            c["lower"] = [r.randint(-3, 2) if i < rank - 2 else 0 for i in range(3)]
            c["upper"] = [r.randint(-3, 2) if i < rank - 2 else 0 for i in range(3)]
        c["ch"], c["px"] = b0, r.randint(1, 1024 if not small else 60)
        if r.random() < .1 and not small:
            c["px"] = 1024
        c["box"] = [1] * 5
    if not small:
        c["addr"] = r.getrandbits(r.choice([32, 47, 57])) // gran * gran
    return c


def spoil(r, c):
    """c with one or two numbers changed for others that are often illegal."""
    c = {k: (list(x) if isinstance(x, list) else x) for k, x in c.items()}
    for _ in range(r.choice([1, 1, 2])):
        key = r.choice(["addr", "dim", "stride", "box", "es", "il", "sw", "l2", "fill", "type", "rank", "lower", "upper", "ch", "px"])
        if key == "addr": c[key] += r.choice([8, 16, 4, 1])
        elif key in ("dim", "stride", "box", "es", "lower", "upper"):
            i = r.randrange(len(c[key]))
            c[key][i] = {"dim": lambda: r.choice([0, 1, 1 << 32, (1 << 32) + 1]), "stride": lambda: r.choice([0, 8, 16, 48, 1 << 40, (1 << 40) - 16]),
                         "box": lambda: r.choice([0, 1, 3, 255, 256, 257]), "es": lambda: r.choice([0, 2, 8, 9]),
                         "lower": lambda: r.choice([-17, -16, 15, 16, -129, -128, 127, 128, 32767, 32768, -32768, -32769]),
                         "upper": lambda: r.choice([-17, -16, 15, 16, -129, -128, 127, 128, 32767, 32768, -32768, -32769])}[key]()
        elif key == "il": c[key] = r.randrange(4)
        elif key == "sw": c[key] = r.randrange(8)
        elif key == "l2": c[key] = r.randrange(5)
        elif key == "fill": c[key] = r.randrange(3)
        elif key == "type": c[key] = r.randrange(17)
        elif key == "rank": c[key] = r.randint(0, 6)
        elif key == "ch": c[key] = r.choice([0, 1, 8, 16, 32, 255, 256, 257])
        elif key == "px": c[key] = r.choice([0, 1, 1023, 1024, 1025])
    return c


def aim(r, c):
    """Coordinates, offsets and a destination for a small map.

    Most of them are such that the copy does not fault: the innermost coordinate
    a multiple of 16 bytes, the first pixel in the bounding box, no store at a
    negative coordinate, no im2col store with a box beyond the tensor."""
    rank, d = c["rank"], dict(c)
    size = SIZE[c["type"]]
    d["store"] = int(r.random() < 0.3)
    good = r.random() < 0.96
    near = lambda i: r.choice([0, 0, r.randint(0, c["dim"][i]), r.randint(-c["box"][i], c["dim"][i] + 2)])
    d["coord"] = [near(i) if i < rank else 0 for i in range(5)]
    d["off"] = [0, 0, 0]
    first = 0 if c["il"] else 1
    if c["mode"]:
        d["coord"][rank - 1] = r.choice([0, 0, r.randint(0, c["dim"][rank - 1]), -1])
        if d["store"] and good:
            d["lower"] = [abs(x) for x in c["lower"]]
            d["upper"] = [-abs(x) for x in c["upper"]]
        for i in range(rank - 2):
            lo, hi = d["lower"][i], c["dim"][i + first] - 1 + d["upper"][i]
            d["coord"][i + first] = r.randint(lo, hi) if good and lo <= hi else r.randint(-3, 5)
        if not d["store"]:
            d["off"] = [r.choice([0, 0, 1, 2, 3, 7]) if i < rank - 2 else 0 for i in range(3)]
    if not c["il"] and good:
        d["coord"][0] = d["coord"][0] * size // 16 * 16 // size
    if d["store"] and good:
        d["coord"] = [max(0, x) for x in d["coord"]]
    span = {1: 16, 2: 32}.get(c["il"]) or SPAN[c["sw"]]
    if c["mode"]:
        total = max(c["ch"] * size, span) * c["px"]
    else:
        total = max(c["box"][0] * size, c["box"][0] * span if c["il"] else span)
        for i in range(1, rank):
            total *= c["box"][i]
    d["dst"] = r.choice([0, 0, 0, 128, 256, 384, 512, 1024, 1152])
    d["bytes"] = d["dst"] + (total + 127) // 128 * 128 + 128
    # What an address can reach at most, for any layout that could be meant.
    reach = sum(s * x for s, x in zip(c["stride"], [c["dim"][i] for i in range(1, rank)])) + c["dim"][0] * size
    if c["il"]:
        reach *= 1 + c["dim"][0]
    ok = reach <= ((1 << 20) if not d["store"] else 1 << 16) and d["bytes"] <= 24 * 1024
    return d if ok else None


def main():
    dir, seed = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    r = random.Random(seed)
    with open(dir + "/encode", "w") as f:
        for c in bases():
            for d in edges(c):
                f.write(line(d) + "\n")
        for i in range(20000):
            c = draw(r)
            if i % 2: c = spoil(r, c)
            f.write(line(c) + "\n")
    with open(dir + "/copy", "w") as f:
        n = 0
        while n < 3000:
            d = aim(r, draw(r, True))
            if d:
                n += 1
                f.write(line(d) + "\n")


if __name__ == "__main__":
    main()
