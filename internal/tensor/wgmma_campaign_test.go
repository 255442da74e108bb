package tensor

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var wgPlanDir = flag.String("wgmma", "", "write wgmma's campaign to this directory")
var wgResults = flag.String("wgmmaresults", "", "compare with every register in this output of run.py, not with the golden data; with -update make the golden data from it")

func wgPlan() []*wgCase {
	p := &planner{Rand: rand.New(rand.NewPCG(9, 16))}
	shape := func(n, k int) string { return fmt.Sprintf("m64n%dk%d", n, k) }
	for n := 8; n <= 256; n += 8 {
		p.add(WGMMAForm{Shape: shape(n, 16), D: "f32", A: "f16", B: "f16"}, 6, "n")
	}
	types := [][3]string{{"f32", "f16", "f16"}, {"f16", "f16", "f16"}, {"f32", "bf16", "bf16"}, {"f32", "tf32", "tf32"}, {"s32", "b1", "b1"}}
	for _, a := range []string{"e4m3", "e5m2"} {
		for _, b := range []string{"e4m3", "e5m2"} {
			types = append(types, [3]string{"f32", a, b}, [3]string{"f16", a, b})
		}
	}
	for _, a := range []string{"s8", "u8"} {
		for _, b := range []string{"s8", "u8"} {
			types = append(types, [3]string{"s32", a, b}, [3]string{"s32", a, b})
		}
	}
	for i, t := range types {
		k := 256 / width(t[1])
		integer := t[0] == "s32"
		for _, rs := range []bool{false, true} {
			for _, sparse := range []bool{false, true} {
				if sparse && t[1] == "b1" {
					continue
				}
				for _, n := range []int{8, 24, 64, 128 + 16*int(p.to(8)), 256} {
					f := WGMMAForm{Shape: shape(n, k), D: t[0], A: t[1], B: t[2], ARegs: rs, Sparse: sparse}
					if sparse {
						f.Shape = shape(n, 2*k)
						if width(t[1]) != 8 {
							f.Selector = int(p.to(2))
						}
					}
					f.Satfinite = integer && t[1] != "b1" && i%2 == 1
					if !integer {
						f.NegA, f.NegB = p.to(4) == 0, p.to(4) == 0
					}
					p.add(f, 4, "types")
				}
			}
		}
	}
	for _, t := range types[:3] {
		for v := 1; v < 8; v++ {
			ta, tb, rs := v&1 != 0, v&2 != 0, v&4 != 0
			if ta && rs || !ta && !tb {
				continue
			}
			for _, sparse := range []bool{false, true} {
				for _, n := range []int{8, 16, 72, 64 + 8*int(p.to(16)), 256} {
					f := WGMMAForm{Shape: shape(n, 16), D: t[0], A: t[1], B: t[2], ARegs: rs, TransA: ta, TransB: tb, Sparse: sparse, NegA: p.to(4) == 0}
					if sparse {
						f.Shape = shape(n, 32)
						f.Selector = int(p.to(2))
					}
					p.add(f, 6, "transposed")
				}
			}
		}
	}
	// Metadata that the ISA leaves undefined.
	for _, t := range types[:8] {
		if t[1] == "b1" {
			continue
		}
		at := len(p.cases)
		for _, neg := range []bool{false, true} {
			p.add(WGMMAForm{Shape: shape(32, 512/width(t[1])), D: t[0], A: t[1], B: t[2], Sparse: true, NegB: neg}, 4, "metadata")
		}
		for _, c := range p.cases[at:] {
			c.table = everyTable
		}
	}
	p.probes()
	return p.cases
}

func (p *planner) probes() {
	// By eye: packed layouts, each start within the pattern, each base offset.
	for swizzle := range uint32(4) {
		for _, trans := range []bool{false, true} {
			for i := range uint32(8) {
				p.probe(64, trans, false, makeDescriptor(8192+i*128, 2048, 4096, 0, swizzle), "row start")
				p.probe(64, trans, false, makeDescriptor(8192+i*16, 2048, 4096, 0, swizzle), "column start")
				p.probe(64, trans, false, makeDescriptor(8192, 2048, 4096, i, swizzle), "base offset")
				p.probe(64, trans, false, makeDescriptor(8192+i*128, 2048, 4096, i, swizzle), "base offset and row start")
				p.probe(16, trans, true, makeDescriptor(8192+i*128, 2048, 4096, i, swizzle), "base offset and row start, A")
			}
			for range 12 {
				o := operand{rows: 128, width: 32, mn: trans, elem: 2}
				p.probe(128, trans, false, p.descriptor(o, false), "any")
				o.rows = 64
				p.probe(16, trans, true, p.descriptor(o, false), "any, A")
			}
		}
	}
	for swizzle := range uint32(4) {
		for _, lead := range []uint32{128, 1024, 2064} {
			for _, stride := range []uint32{256, 4096, 4112} {
				for _, start := range []uint32{0, 16, 32, 48, 80, 112, 128, 368, 896} {
					p.probeSparse(16, false, makeDescriptor(16384+start, lead, stride, 0, swizzle))
				}
			}
		}
		for i := range uint32(8) {
			p.probeSparse(64, i%2 == 1, makeDescriptor(16384+i*16, 2048, 8192, i, swizzle))
		}
	}
	for bit := range 64 {
		if reserved>>bit&1 != 0 {
			p.probe(16, false, false, makeDescriptor(8192, 2048, 4096, 0, 1)|1<<bit, "reserved bit")
		}
	}
}

// TestWGMMAPlan writes what testdata/wgmma/run.py takes.
func TestWGMMAPlan(t *testing.T) {
	if *wgPlanDir == "" {
		t.Skip("needs -wgmma")
	}
	const modules = 16
	var ptx [modules]strings.Builder
	var list strings.Builder
	for i, g := range wgGroups(wgPlan()) {
		m := i % modules
		if ptx[m].Len() == 0 {
			ptx[m].WriteString(".version 8.4\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 sm[];\n")
		}
		f := &g[0].form
		ptx[m].WriteString(f.kernel())
		w, _ := NewWGMMA(*f)
		fmt.Fprintf(&list, "%s %d %d %d\n", f.name(), m, w.AccRegs()*128, len(g))
		var b bytes.Buffer
		for _, c := range g {
			binary.Write(&b, binary.LittleEndian, c.words())
		}
		if err := os.WriteFile(filepath.Join(*wgPlanDir, f.name()+".in"), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for m := range ptx {
		if err := os.WriteFile(filepath.Join(*wgPlanDir, fmt.Sprintf("m%d.ptx", m)), []byte(ptx[m].String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(*wgPlanDir, "forms.txt"), []byte(list.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// wgGroups are the cases by form, in the order of their first cases.
func wgGroups(cases []*wgCase) [][]*wgCase {
	at := map[string]int{}
	var groups [][]*wgCase
	for _, c := range cases {
		n := c.form.name()
		i, ok := at[n]
		if !ok {
			i = len(groups)
			at[n] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	return groups
}

// word is a word of the case's shared memory.
func (c *wgCase) word(addr uint32) uint32 {
	if addr < smemBase || addr >= smemEnd {
		return 0
	}
	if c.mode&unitB != 0 && addr >= c.eye && addr < c.eye+512 {
		for i := range uint32(16) {
			if at := c.eye + i%8*18 + i/8*384; at&^3 == addr {
				return 0x3c00 << (at % 4 * 8)
			}
		}
		return 0
	}
	if shift := c.mode & 3; shift != 0 {
		shift = 10 * (shift - 1)
		return 0x3c003c00 | addr/2>>shift&0x3ff | (addr/2+1)>>shift&0x3ff<<16
	}
	return mix(c.seed, (addr-smemBase)/4)&c.mask | c.or
}

func (c *wgCase) read(addr uint32, b []byte) {
	for i := 0; i < len(b); i += 4 {
		binary.LittleEndian.PutUint32(b[i:], c.word(addr+uint32(i)))
	}
}

// run computes D of the case: registers by lanes, a warp after the other.
func (c *wgCase) run(t testing.TB) [4][]*[32]uint32 {
	w, err := NewWGMMA(c.form)
	if err != nil {
		t.Fatal(err)
	}
	var d [4][]*[32]uint32
	for warp := range d {
		fill := func(n, at int, mask, or uint32) []*[32]uint32 {
			l := make([]*[32]uint32, n)
			for i := range l {
				l[i] = new([32]uint32)
				for lane := range l[i] {
					l[i][lane] = mix(c.seed, uint32(at+128*i+32*warp+lane))&mask | or
				}
			}
			return l
		}
		d[warp] = fill(w.AccRegs(), accWord, c.accMask, c.accOr)
		a := fill(w.FragRegs(), aWord, c.mask, c.or)
		if c.mode&unitA != 0 && w.ARegs {
			for i := range a {
				*a[i] = [32]uint32{}
			}
			for row := range 8 {
				for _, r := range []int{0, 3} {
					a[r][row*4+row/2] = 0x3c00 << (row % 2 * 16)
				}
			}
		}
		meta := fill(1, metaWord, 0xffffffff, 0)[0]
		for lane, x := range meta {
			meta[lane] = 0
			for i := 0; i < 32; i += 4 {
				meta[lane] |= uint32(c.table>>(x>>i&15*4)&15) << i
			}
		}
		w.Compute(warp, d[warp], a, uint64(c.a), uint64(c.b), meta, c.scale != 0, c.read)
	}
	return d
}

func wgDigest(d []*[32]uint32) uint64 {
	h := fnv.New64a()
	var b [128]byte
	for _, r := range d {
		for i, x := range r {
			binary.LittleEndian.PutUint32(b[4*i:], x)
		}
		h.Write(b[:])
	}
	return h.Sum64()
}

const wgGolden = "testdata/wgmma/golden.gz"

// TestWGMMA compares D with the H200's in every case, warp by warp.
func TestWGMMA(t *testing.T) {
	cases := wgPlan()
	if *wgResults != "" {
		wgFull(t, cases)
		return
	}
	f, err := os.Open(wgGolden)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	want := make([][4]uint64, len(cases))
	if err := binary.Read(z, binary.LittleEndian, want); err != nil {
		t.Fatal(err)
	}
	for _, g := range wgGroups(cases) {
		for i, c := range g {
			for warp, d := range c.run(t) {
				if got := wgDigest(d); got != want[0][warp] {
					t.Errorf("%s case %d (%s), A 0x%016x, B 0x%016x, warp %d: digest %016x, the H200 has %016x", c.form.name(), i, c.what, uint64(c.a), uint64(c.b), warp, got, want[0][warp])
				}
			}
			want = want[1:]
		}
	}
}

// wgFull compares with every register and writes the golden data.
func wgFull(t *testing.T, cases []*wgCase) {
	var pack bytes.Buffer
	var raw []byte
	for i := 0; ; i++ {
		b, err := os.ReadFile(filepath.Join(*wgResults, fmt.Sprintf("d%d", i)))
		if err != nil {
			break
		}
		raw = append(raw, b...)
	}
	bad, total := map[string]int{}, map[string]int{}
	for _, g := range wgGroups(cases) {
		w, _ := NewWGMMA(g[0].form)
		n := w.AccRegs()
		for _, c := range g {
			total[c.what]++
			if len(raw) < n*512 {
				t.Fatal("the results end early")
			}
			d := raw[:n*512]
			raw = raw[n*512:]
			var sums [4]uint64
			wrong := 0
			first := ""
			for warp, got := range c.run(t) {
				want := make([]*[32]uint32, n)
				for r := range want {
					want[r] = new([32]uint32)
					for lane := range 32 {
						want[r][lane] = binary.LittleEndian.Uint32(d[4*(r*128+warp*32+lane):])
						if x := want[r][lane]; x != got[r][lane] {
							if wrong++; first == "" {
								first = fmt.Sprintf("warp %d register %d lane %d: %08x, the H200 has %08x", warp, r, lane, got[r][lane], x)
							}
						}
					}
				}
				sums[warp] = wgDigest(want)
			}
			binary.Write(&pack, binary.LittleEndian, sums)
			if wrong > 0 {
				if bad[c.what]++; bad[c.what] <= 12 {
					t.Errorf("%s (%s) A 0x%016x B 0x%016x mode %d: %d of %d; %s", c.form.name(), c.what, uint64(c.a), uint64(c.b), c.mode, wrong, n*128, first)
				}
			}
		}
	}
	if len(raw) != 0 {
		t.Errorf("%d bytes are left over", len(raw))
	}
	for what, n := range total {
		t.Logf("%s: %d of %d cases equal", what, n-bad[what], n)
	}
	if !*golden {
		return
	}
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	z.Write(pack.Bytes())
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(wgGolden, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}
