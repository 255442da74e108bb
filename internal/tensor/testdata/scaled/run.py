#!/usr/bin/env python3
"""Asks MMA-Sim for block-scaled sums: run.py MMA-SIM GOLDEN.

MMA-SIM is a clone of microsoft/MMA-Sim. Of its arithmetic two functions are
called, with the few operations of PyTorch that they need stood in for here, so
that no PyTorch is needed. GOLDEN, gzipped, has a record a sum: its kind, C, the
elements of A and of B, the factors of A and of B, and D, see scaled_test.go.
"""
import gzip, importlib.util, math, os, random, struct, sys, types


class Dtype:
    def __init__(self, name):
        self.name = name


NAMES = ("float64 float32 float16 bfloat16 float8_e8m0fnu float8_e5m2 float8_e4m3fn "
         "float8_e5m2fnuz float8_e4m3fnuz int32 uint32 uint16").split()
torch = types.ModuleType("torch")
for n in NAMES:
    setattr(torch, n, Dtype(n))


class Tensor:
    """Numbers in a row, or one number."""

    def __init__(self, v, dtype, scalar=False):
        self.v, self.dtype, self.scalar = list(v), dtype, scalar

    def item(self):
        return self.v[0]

    def numel(self):
        return len(self.v)

    def double(self):
        return Tensor(self.v, torch.float64, self.scalar)

    def abs(self):
        return Tensor([abs(x) for x in self.v], self.dtype, self.scalar)

    def sum(self):
        s = 0.0
        for x in self.v:
            s += x
        return Tensor([s], self.dtype, True)

    def any(self):
        return any(self.v)

    def view(self, dtype):
        assert dtype is torch.float32
        return Tensor([struct.unpack("<f", struct.pack("<I", x))[0] for x in self.v], dtype, True)

    def __getitem__(self, i):
        if isinstance(i, slice):
            return Tensor(self.v[i], self.dtype)
        return Tensor([self.v[i]], self.dtype, True)

    def _with(self, o, f):
        a, b = self.v, o.v
        if len(a) == 1 and len(b) > 1:
            a = a * len(b)
        if len(b) == 1 and len(a) > 1:
            b = b * len(a)
        return Tensor([f(x, y) for x, y in zip(a, b)], self.dtype, self.scalar and o.scalar)

    def __mul__(self, o):
        return self._with(o, lambda x, y: x * y)

    def __add__(self, o):
        return self._with(o, lambda x, y: x + y)


def tensor(x, dtype=torch.float32):
    if dtype is torch.float32 and not math.isnan(x) and not math.isinf(x):
        try:
            x = struct.unpack("<f", struct.pack("<f", x))[0]
        except OverflowError:
            x = math.copysign(math.inf, x)
    return Tensor([x], dtype, True)


torch.Tensor, torch.tensor, torch.dtype = Tensor, tensor, Dtype
torch.isnan = lambda t: Tensor([math.isnan(x) for x in t.v], t.dtype)
torch.isinf = lambda t: Tensor([math.isinf(x) for x in t.v], t.dtype)
sys.modules["torch"] = torch
spec = importlib.util.spec_from_file_location("arithmetic", os.path.join(sys.argv[1], "mmasim/simulator/arithmetic.py"))
sim = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sim)


def small(exp, frac, bias, finite):
    """The 256 values of a format in a byte."""
    def value(b):
        e, f, s = b >> frac & (1 << exp) - 1, b & (1 << frac) - 1, -1.0 if b >> (exp + frac) & 1 else 1.0
        if finite and b & 0x7F == 0x7F:
            return math.nan
        if not finite and e == (1 << exp) - 1:
            return math.nan if f else s * math.inf
        if e == 0:
            return s * f * 2.0 ** (1 - bias - frac)
        return s * (f | 1 << frac) * 2.0 ** (e - bias - frac)
    return [value(b) for b in range(256)]


E4M3, E5M2 = small(4, 3, 7, True), small(5, 2, 15, False)
E2M1 = [(-1 if b & 8 else 1) * [0, .5, 1, 1.5, 2, 3, 4, 6][b & 7] for b in range(16)]
UE8M0 = [2.0 ** (b - 127) for b in range(255)] + [math.nan]
f32 = lambda b: struct.unpack("<f", struct.pack("<I", b))[0]


def bits(x):
    return 0x7FFFFFFF if math.isnan(x) else struct.unpack("<I", struct.pack("<f", x))[0]


r = random.Random(2026)
out = bytearray()
KINDS = [("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e4m3"), ("e5m2", "e5m2"), (32, "ue8m0"), (16, "ue8m0"), (16, "ue4m3")]


def number(e):
    """An f32 of an exponent near e, of any sign and fraction."""
    e = min(max(e + r.randint(-14, 14), -126), 127)
    frac = r.getrandbits(23) if r.random() < .8 else 0
    return r.getrandbits(1) << 31 | (e + 127) << 23 | frac


for kind, (ka, kb) in enumerate(KINDS):
    for n in range(400):
        wide, special = n % 3 == 0, n % 25 == 24
        mid = r.randint(30, 225) if wide else 127
        scale = lambda: min(254, max(0, mid + r.randint(-9, 9)))
        if kind < 4:
            tables = [E4M3 if k == "e4m3" else E5M2 for k in (ka, kb)]
            span = r.choice([1, 2, 4])

            def element(t):
                while True:
                    b = r.getrandbits(8)
                    if span < 4:
                        e = (b >> 3 if t is E4M3 else b >> 2) & 15
                        b = b if e < span * 4 else b & ~0x60
                    x = t[b]
                    if math.isfinite(x) and (x != 0 or not wide) or special and r.random() < .3:
                        return b
            a, b = [element(tables[0]) for _ in range(32)], [element(tables[1]) for _ in range(32)]
            sa, sb = [scale()], [scale()]
            c = number(sa[0] + sb[0] - 254 + r.randint(-6, 12))
            if special:
                if r.random() < .3:
                    r.choice([sa, sb])[0] = 255
                if r.random() < .3:
                    c = r.choice([0x7F800000, 0xFF800000, 0x7FC00000])
            A = Tensor([tables[0][x] for x in a], torch.float8_e4m3fn if ka == "e4m3" else torch.float8_e5m2)
            B = Tensor([tables[1][x] for x in b], torch.float8_e4m3fn if kb == "e4m3" else torch.float8_e5m2)
            SA, SB = (Tensor([UE8M0[x] for x in s], torch.float8_e8m0fnu, True) for s in (sa, sb))
            d = sim.nv_fused_dot_add(A, B, tensor(f32(c)), 25, "f32", SA, SB)
        else:
            a, b = [r.getrandbits(4) for _ in range(64)], [r.getrandbits(4) for _ in range(64)]
            if r.random() < .3:  # sums that cancel
                for i in range(0, 64, 2):
                    a[i + 1], b[i + 1] = a[i] ^ 8, b[i]
                a[r.randrange(64)] ^= 1
            count, table, dtype = 64 // ka, UE8M0, torch.float8_e8m0fnu
            if kb == "ue4m3":
                table, dtype = E4M3, torch.float8_e4m3fn
                scale = lambda: r.getrandbits(8) & 0x7F if wide else 0x38 + r.randint(-20, 20)
                fine = lambda: min(scale(), 0x7E) | (0x80 if r.random() < .1 else 0)
            else:
                fine = scale
            sa, sb = [fine() for _ in range(count)], [fine() for _ in range(count)]
            top = (max(sa) + max(sb) - 254) if kb == "ue8m0" else r.randint(-2, 14)
            c = number(top)
            if n % 3 == 1:  # groups 0 and 1 cancel, and the others are about 35 bits below
                a[16:32], b[16:32] = [x ^ 8 for x in a[:16]], b[:16]
                for i in range(count):
                    high = i < 32 // ka
                    if kb == "ue4m3":
                        sa[i], sb[i] = (0x7D, 0x7E) if high else (r.randint(1, 15), r.randint(1, 15))
                    else:
                        sa[i], sb[i] = (mid, mid) if high else (mid - r.randint(14, 19), mid - r.randint(14, 19))
                top = 17 if kb == "ue4m3" else 2 * mid - 254
                c = number(top - 30) & 0xFFF00000
            if special:
                r.choice([sa, sb])[r.randrange(count)] = 255 if kb == "ue8m0" else 0x7F
            A, B = (Tensor([E2M1[x] for x in v], torch.float32) for v in (a, b))
            SA, SB = (Tensor([table[x] for x in s], dtype) for s in (sa, sb))
            d = sim.nv_fused_dot_add_with_block_scale(A, B, tensor(f32(c)), SA, SB, 35)
        out += bytes([kind]) + struct.pack("<I", c) + bytes(a) + bytes(b) + bytes(sa) + bytes(sb) + struct.pack("<I", bits(d.item()))
with open(sys.argv[2], "wb") as f:
    f.write(gzip.compress(bytes(out), 9, mtime=0))
print(len(out), "bytes of", 400 * len(KINDS), "sums")
