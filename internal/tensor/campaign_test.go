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
	"slices"
	"strings"
	"testing"

	"muster/internal/num"
)

var resultsFile = flag.String("results", "", "replay this output of run.py, not the golden data")
var golden = flag.Bool("update", false, "make the golden data from -results")

var planDir = flag.String("plan", "", "write the campaign's kinds and inputs to this directory")

// A kind is one instruction of the campaign. One tile of it is 16 rows of A, 8
// columns of B and 16 × 8 elements of C.
type kind struct {
	name  string
	defs  string // what testdata/h200/probe.cu is compiled with, but for INSTR
	instr string
	a, b  string // element types
	acc   string // type of C and D; "f32<f16" has an f16 C
	kw    int    // words in a row of A
}

const tiles = 400

// width is the bits of an element in storage.
func width(t string) int {
	switch t {
	case "f64":
		return 64
	case "tf32", "f32", "s32":
		return 32
	case "f16", "bf16":
		return 16
	case "s4", "u4":
		return 4
	case "b1":
		return 1
	}
	return 8
}

func (k kind) elems() int { return 32 * k.kw / width(k.a) }

func (k kind) rows() int {
	if strings.HasPrefix(k.name, "m8") {
		return 8
	}
	return 16
}

func (k kind) accWords() int {
	if k.acc == "f64" {
		return 2
	}
	return 1
}

var kinds = allKinds()

func allKinds() []kind {
	var l []kind
	mma := func(class string, kw int, shape, acc, a, b, more string) {
		def := map[string]string{"f32": "F32", "f16": "F16", "s32": "S32", "f64": "F64"}[acc]
		name := shape + "." + acc + "." + a + "." + b
		name += strings.ReplaceAll(strings.ReplaceAll(strings.TrimPrefix(more, "^"), ".popc", ""), "0", "")
		instr := "mma.sync.aligned." + shape + ".row.col"
		if class == "SP16" {
			instr = "mma.sp::ordered_metadata.sync.aligned." + shape + ".row.col"
			name = "sp." + name
		}
		if more == ".satfinite" {
			instr += more
		}
		instr += "." + acc + "." + a + "." + b + "." + acc
		if strings.HasSuffix(more, ".popc") {
			instr += more
		}
		l = append(l, kind{name, fmt.Sprintf("CLASS=%s\tACC=%s\tKW=%d", class, def, kw), instr, a, b, acc, kw})
	}
	wg := func(shape, acc, a, b, tail, more string) {
		def := map[string]string{"f32": "F32", "f16": "F16", "s32": "S32"}[acc]
		instr := "wgmma.mma_async.sync.aligned." + shape + more + "." + acc + "." + a + "." + b
		if a == "b1" {
			instr += ".and.popc"
		}
		l = append(l, kind{"wgmma." + shape + "." + acc + "." + a + "." + b + more, fmt.Sprintf("CLASS=WG\tACC=%s\tKW=8\tTAIL=\"%s\"", def, tail), instr, a, b, acc, 8})
	}
	for _, acc := range []string{"f32", "f16"} {
		mma("M16W8", 8, "m16n8k16", acc, "f16", "f16", "")
		mma("M16W4", 4, "m16n8k8", acc, "f16", "f16", "")
	}
	mma("M16W8", 8, "m16n8k16", "f32", "bf16", "bf16", "")
	mma("M16W4", 4, "m16n8k8", "f32", "bf16", "bf16", "")
	mma("M16W8", 8, "m16n8k8", "f32", "tf32", "tf32", "")
	mma("M16W4", 4, "m16n8k4", "f32", "tf32", "tf32", "")
	for i, s := range []string{"f32.f16.f16.f32", "f32.f16.f16.f16", "f16.f16.f16.f16"} {
		acc := []string{"f32", "f32<f16", "f16"}[i]
		l = append(l, kind{"m8n8k4." + s, fmt.Sprintf("CLASS=QUAD\tACC=F32\tKW=2\tQUADKIND=%d", i), "mma.sync.aligned.m8n8k4.row.col." + s, "f16", "f16", acc, 2})
	}
	for i, s := range []string{"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"} {
		kw := []int{8, 8, 16, 32}[i]
		l = append(l, kind{s + ".f64", fmt.Sprintf("CLASS=DMMA\tACC=F64\tKW=%d\tM=%d", kw, []int{8, 16, 16, 16}[i]), "mma.sync.aligned." + s + ".row.col.f64.f64.f64.f64", "f64", "f64", "f64", kw})
	}
	for _, p := range [][2]string{{"s8", "s8"}, {"u8", "s8"}, {"s8", "u8"}, {"u8", "u8"}} {
		mma("M16W8", 8, "m16n8k32", "s32", p[0], p[1], "")
		mma("M16W8", 8, "m16n8k32", "s32", p[0], p[1], ".satfinite")
		wg("m64n8k32", "s32", p[0], p[1], "", "")
		wg("m64n8k32", "s32", p[0], p[1], "", ".satfinite")
	}
	mma("M16W4", 4, "m16n8k16", "s32", "s8", "s8", ".satfinite")
	mma("M8W4", 4, "m8n8k16", "s32", "s8", "u8", ".satfinite")
	for _, p := range [][2]string{{"s4", "s4"}, {"u4", "s4"}, {"s4", "u4"}, {"u4", "u4"}} {
		mma("M16W8", 8, "m16n8k64", "s32", p[0], p[1], ".satfinite")
	}
	mma("M16W8", 8, "m16n8k64", "s32", "s4", "s4", "")
	mma("M16W4", 4, "m16n8k32", "s32", "s4", "u4", ".satfinite")
	mma("M8W4", 4, "m8n8k32", "s32", "s4", "s4", ".satfinite")
	for _, op := range []string{".and.popc", ".xor.popc"} {
		mma("M16W8", 8, "m16n8k256", "s32", "b1", "b1", op)
		mma("M16W4", 4, "m16n8k128", "s32", "b1", "b1", op)
		mma("M8W4", 4, "m8n8k128", "s32", "b1", "b1", op)
	}
	wg("m64n8k256", "s32", "b1", "b1", "", "")
	for _, acc := range []string{"f32", "f16"} {
		for _, p := range [][2]string{{"e4m3", "e4m3"}, {"e5m2", "e5m2"}, {"e4m3", "e5m2"}, {"e5m2", "e4m3"}} {
			mma("M16W8", 8, "m16n8k32", acc, p[0], p[1], "")
			wg("m64n8k32", acc, p[0], p[1], ", 1, 1", "")
		}
		mma("M16W4", 4, "m16n8k16", acc, "e4m3", "e5m2", "")
		wg("m64n8k16", acc, "f16", "f16", ", 1, 1, 0, 0", "")
		mma("SP16", 8, "m16n8k32", acc, "f16", "f16", "")
	}
	wg("m64n8k16", "f32", "bf16", "bf16", ", 1, 1, 0, 0", "")
	wg("m64n8k8", "f32", "tf32", "tf32", ", 1, 1", "")
	mma("SP16", 8, "m16n8k32", "f32", "bf16", "bf16", "")
	mma("SP16", 8, "m16n8k16", "f32", "tf32", "tf32", "")
	mma("SP16", 8, "m16n8k64", "f32", "e4m3", "e4m3", "")
	mma("SP16", 8, "m16n8k64", "s32", "s8", "s8", "")
	for _, s := range []struct{ shape, acc, in, tail string }{
		{"m64n8k32", "f32", "f16", ", 1, 1, 0, 0"}, {"m64n8k32", "f16", "f16", ", 1, 1, 0, 0"}, {"m64n8k16", "f32", "tf32", ", 1, 1"},
		{"m64n8k64", "f32", "e4m3", ", 1, 1"}, {"m64n8k64", "f16", "e5m2", ", 1, 1"}, {"m64n8k64", "s32", "s8", ""},
	} {
		wg(s.shape, s.acc, s.in, s.in, s.tail, "")
		k := &l[len(l)-1]
		k.name = strings.Replace(k.name, "wgmma", "wgmma.sp", 1)
		k.defs = strings.Replace(k.defs, "CLASS=WG", "CLASS=WGSP", 1)
		k.instr = strings.Replace(k.instr, "mma_async", "mma_async.sp", 1)
	}
	for i := range l {
		if strings.Contains(l[i].name, "sp.") && width(l[i].a) == 8 {
			l[i].defs += "\tHALVES=1"
		}
	}
	// The accumulator not taken (scale-d false), and both operands negated.
	l = append(l, kind{"wgmma.zero.f32.f16", "CLASS=WG\tACC=F32\tKW=8\tTAIL=\", 1, 1, 0, 0\"\tSCALED=\"0\"", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "f16", "f16", "f32", 8})
	l = append(l, kind{"wgmma.zero.f32.e4m3", "CLASS=WG\tACC=F32\tKW=8\tTAIL=\", 1, 1\"\tSCALED=\"0\"", "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3", "e4m3", "e4m3", "f32", 8})
	l = append(l, kind{"wgmma.negate.f32.f16", "CLASS=WG\tACC=F32\tKW=8\tTAIL=\", -1, 1, 0, 0\"", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", "f16", "f16", "f32", 8})
	return l
}

// layout gives exponent and fraction bits of a float type.
func layout(t string) (exp, frac int) {
	switch t {
	case "f16":
		return 5, 10
	case "bf16":
		return 8, 7
	case "tf32", "f32":
		return 8, 23
	case "f64":
		return 11, 52
	case "e4m3":
		return 4, 3
	}
	return 5, 2
}

func compose(t string, sign, exp, frac uint64) uint64 {
	e, f := layout(t)
	return sign&1<<(e+f) | exp<<f | frac&(1<<f-1)
}

// source is one tile's stream of random numbers. Only Uint64 is drawn from:
// its values are the same in every version of Go.
type source struct{ *rand.Rand }

func (s source) to(n int) int { return int(s.Uint64() % uint64(n)) }

// element draws one operand. What tile says, modulo 10, decides how.
func (s source) element(t string, tile, i int) uint64 {
	if strings.HasPrefix(t, "s") || strings.HasPrefix(t, "u") || t == "b1" {
		m := uint64(1)<<width(t) - 1
		switch v := s.Uint64(); {
		case tile%10 == 0 || tile%10 == 3:
			return m >> (v & 1) & m
		case tile%10 == 1:
			return (v&1)*(m>>1) ^ (v>>1&1)*m
		default:
			return v & m
		}
	}
	e, _ := layout(t)
	bias, top := 1<<(e-1)-1, 1<<e-1
	if t == "e4m3" {
		top = 16 // its largest exponent is finite but for one fraction
	}
	v := s.Uint64()
	near := func(spread int) uint64 {
		x := bias - spread/2 + s.to(spread+1)
		x = max(1, min(x, top-1))
		return uint64(x)
	}
	fr := func(x, fr uint64) uint64 {
		b := compose(t, v>>63, x, fr)
		if t == "e4m3" && b&0x7f == 0x7f {
			b--
		}
		return b
	}
	switch tile % 10 {
	case 0:
		return fr(near(4), v)
	case 1:
		return fr(uint64(s.to(top)), v)
	case 2:
		return fr(near(24), v)
	case 3: // pairs along k that cancel, see dot
		return fr(near(12), v)
	case 4: // few elements, far apart
		if s.to(4) != 0 {
			return compose(t, v>>63, 0, 0)
		}
		return fr(near(26), v)
	case 5: // small and subnormal
		return fr(uint64(min(top-1, s.to(3)*s.to(bias))), v)
	case 6: // large
		return fr(uint64(max(0, top-1-s.to(4)*s.to(4))), v)
	case 7: // specials, rare enough for each to decide alone now and then
		if tile/10%4 == 3 { // next to nothing but zeros
			if s.to(64) == 0 {
				return fr(near(6), v)
			}
			return compose(t, uint64(s.to(32)/31), uint64(bias*s.to(2)*(i%2)), 0)
		}
		switch s.to(40) {
		case 0:
			if t == "e4m3" {
				return compose(t, v>>63, 15, 7)
			}
			return compose(t, v>>63, uint64(top), v%2*v)
		case 1, 2, 3, 4, 5:
			return compose(t, v>>63, 0, 0)
		case 6:
			return compose(t, v>>63, 0, v)
		}
		return fr(near(6), v)
	case 8: // powers of two
		return fr(near(40), 0)
	}
	if tile/10%2 == 1 && i%16 != tile/20%16 { // one product alone
		return compose(t, v>>63, 0, 0)
	}
	return fr(near(16), v)
}

// accumulator draws one element of C.
func (s source) accumulator(t string, tile int) uint64 {
	v := s.Uint64()
	switch {
	case t == "s32":
		switch tile % 10 {
		case 0, 1:
			return v & 0xffffffff
		case 2, 3:
			return (0x7fffffff ^ v>>63*0xffffffff) - v%1000000&0xffffffff
		case 4, 5:
			return (0x80000000 + v%3000000) & 0xffffffff
		case 6, 7:
			return (0x7fffffff - v%3000000) & 0xffffffff
		}
		return v % 100000
	case t == "f32<f16":
		t = "f16"
	}
	e, _ := layout(t)
	bias, top := 1<<(e-1)-1, 1<<e-1
	near := func(spread int) uint64 {
		return uint64(max(1, min(bias-spread/2+s.to(spread+1), top-1)))
	}
	switch tile % 10 {
	case 0:
		return compose(t, v>>63, near(8), v)
	case 1:
		return compose(t, v>>63, uint64(s.to(top)), v)
	case 2:
		return compose(t, v>>63, near(60), v)
	case 3:
		return compose(t, v>>63, near(20), v)
	case 4:
		return compose(t, v>>63, near(60), v)
	case 5:
		return compose(t, v>>63, uint64(s.to(4)*s.to(bias/4+1)), v)
	case 6:
		return compose(t, v>>63, uint64(top-1-s.to(3)*s.to(4)), v)
	case 7:
		switch s.to(6) {
		case 0:
			return compose(t, v>>63, uint64(top), v%2*v)
		case 1, 2:
			return compose(t, v>>63, 0, 0)
		case 3:
			return compose(t, v>>63, 0, v)
		}
		return compose(t, v>>63, near(6), v)
	case 8:
		return compose(t, v>>63, near(50), 0)
	}
	if tile/10%4 >= 2 {
		return compose(t, v>>63, 0, 0)
	}
	return compose(t, v>>63, near(40), v)
}

// input is a kind's operands, elements in storage order.
type input struct{ a, b, c []uint64 }

func (k kind) input() input {
	n := k.elems()
	in := input{make([]uint64, tiles*16*n), make([]uint64, tiles*8*n), make([]uint64, tiles*128)}
	var seed uint64
	for _, c := range []byte(k.name) {
		seed = seed*131 + uint64(c)
	}
	for tile := range tiles {
		s := source{rand.New(rand.NewPCG(seed, uint64(tile)))}
		a, b, c := in.a[tile*16*n:][:16*n], in.b[tile*8*n:][:8*n], in.c[tile*128:][:128]
		for i := range a {
			a[i] = s.element(k.a, tile, i%n)
		}
		for i := range b {
			b[i] = s.element(k.b, tile, i%n)
		}
		for i := range c {
			c[i] = s.accumulator(k.acc, tile)
		}
		if tile%10 == 7 && tile/10%8 == 3 && k.acc != "s32" {
			for i := range a {
				a[i] ^= 1 << (width(k.a) - 1)
			}
		}
		if tile%10 == 3 && k.acc != "s32" {
			// Pairs of products cancel, all but the last bits of some.
			for i := range a {
				if j := i % n; j%2 == 1 {
					a[i] = a[i-1] ^ 1<<(width(k.a)-1) ^ s.Uint64()>>40&s.Uint64()>>40&1
				}
			}
			for i := range b {
				if j := i % n; j%2 == 1 {
					b[i] = b[i-1]
				}
			}
		}
	}
	return in
}

func words(dst *bytes.Buffer, w int, v []uint64) {
	for i := 0; i < len(v); {
		if w == 64 {
			binary.Write(dst, binary.LittleEndian, v[i])
			i++
			continue
		}
		var x uint32
		for j := 0; j < 32; j += w {
			x |= uint32(v[i]) << j
			i++
		}
		binary.Write(dst, binary.LittleEndian, x)
	}
}

// TestPlan writes what run.py takes.
func TestPlan(t *testing.T) {
	if *planDir == "" {
		t.Skip("needs -plan")
	}
	var list strings.Builder
	for _, k := range kinds {
		fmt.Fprintf(&list, "%s\t%d\t%d\t%d\t%s\tINSTR=\"%s\"\n", k.name, k.kw, k.accWords(), tiles, k.defs, k.instr)
		in := k.input()
		var b bytes.Buffer
		words(&b, width(k.a), in.a)
		words(&b, width(k.b), in.b)
		words(&b, 32*k.accWords(), in.c)
		if err := os.WriteFile(filepath.Join(*planDir, k.name+".in"), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(*planDir, "kinds.tsv"), []byte(list.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// element computes element e of D's tile as the package has it.
type element func(tile, e int) uint64

func integer(t string, v uint64) int32 {
	if t[0] == 's' {
		n := 64 - width(t)
		return int32(int64(v<<n) >> n)
	}
	return int32(v)
}

var formats = map[string]Format{"f16": F16, "bf16": BF16, "tf32": TF32, "e4m3": E4M3, "e5m2": E5M2, "f32": F32}

func (k kind) model(in input) element {
	n := k.elems()
	row := func(tile, e int) ([]uint64, []uint64, uint64) {
		return in.a[(tile*16+e/8)*n:][:n], in.b[(tile*8+e%8)*n:][:n], in.c[tile*128+e]
	}
	switch {
	case k.acc == "f64":
		return func(tile, e int) uint64 {
			a, b, c := row(tile, e)
			return ChainF64(c, a, b)
		}
	case k.a == "b1":
		return func(tile, e int) uint64 {
			a, b, c := row(tile, e)
			var aw, bw []uint32
			for i := range a {
				if i%32 == 0 {
					aw, bw = append(aw, 0), append(bw, 0)
				}
				aw[i/32] |= uint32(a[i]) << (i % 32)
				bw[i/32] |= uint32(b[i]) << (i % 32)
			}
			if strings.HasSuffix(k.name, "xor") {
				return uint64(DotXor(uint32(c), aw, bw))
			}
			return uint64(DotAnd(uint32(c), aw, bw))
		}
	case k.acc == "s32":
		return func(tile, e int) uint64 {
			a, b, c := row(tile, e)
			x, y := make([]int32, n), make([]int32, n)
			for i := range a {
				x[i], y[i] = integer(k.a, a[i]), integer(k.b, b[i])
			}
			return uint64(uint32(DotInt(strings.HasSuffix(k.name, ".satfinite"), int32(c), x, y)))
		}
	case strings.HasPrefix(k.name, "m8n8k4"):
		return func(tile, e int) uint64 {
			a, b, c := row(tile, e)
			var x, y []uint16
			for i := range a {
				x, y = append(x, uint16(a[i])), append(y, uint16(b[i]))
			}
			switch k.acc {
			case "f16":
				return uint64(ChainF16(uint16(c), x, y))
			case "f32<f16":
				c = uint64(num.F16ToF32(uint16(c)))
			}
			return uint64(Chain(uint32(c), x, y))
		}
	}
	rule := MMA
	if strings.HasPrefix(k.name, "wgmma") {
		rule = WGMMARule
	}
	r := rule(formats[k.acc], formats[k.a], formats[k.b])
	var a, b Vector
	for _, x := range in.a {
		if strings.Contains(k.name, "negate") {
			x ^= 1 << (width(k.a) - 1)
		}
		r.AppendA(&a, uint32(x))
	}
	for _, x := range in.b {
		r.AppendB(&b, uint32(x))
	}
	return func(tile, e int) uint64 {
		at, bt := (tile*16+e/8)*n, (tile*8+e%8)*n
		c := in.c[tile*128+e]
		if strings.Contains(k.name, "zero") {
			c = 0
		}
		x, y := a.Slice(at, at+n), b.Slice(bt, bt+n)
		return uint64(r.Dot(uint32(c), &x, &y))
	}
}

// results reads what run.py wrote: D of each kind, in words.
func results(t *testing.T, path string) map[string][]uint32 {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string][]uint32{}
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		var name string
		var n int
		if _, err := fmt.Sscanf(string(line), "%s %d", &name, &n); err != nil {
			t.Fatal(err)
		}
		w := make([]uint32, n)
		for i := range w {
			w[i] = binary.LittleEndian.Uint32(rest[4*i:])
		}
		m[name], data = w, rest[4*n:]
	}
	return m
}

// shown are the elements at the head of each tile that the golden data holds in
// full; of the others it holds a sum.
const shown = 4

// digest is a tile in the golden data: what the test compares, and where it is
// made from.
func digest(d []uint64) []uint32 {
	h := fnv.New32a()
	for _, x := range d {
		binary.Write(h, binary.LittleEndian, x)
	}
	out := []uint32{h.Sum32()}
	for _, x := range d[:shown] {
		out = append(out, uint32(x), uint32(x>>32))
	}
	return out
}

const goldenFile = "testdata/h200/golden.gz"

// TestReplay compares the package with the H200's results: with every element
// where -results is given, and otherwise with the golden data.
func TestReplay(t *testing.T) {
	if *resultsFile != "" {
		full(t, results(t, *resultsFile))
		return
	}
	f, err := os.Open(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		want := make([]uint32, tiles*len(digest(make([]uint64, 128))))
		if err := binary.Read(z, binary.LittleEndian, want); err != nil {
			t.Fatal(err)
		}
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			m := k.model(k.input())
			per := len(want) / tiles
			for tile := range tiles {
				if testing.Short() && tile >= 40 {
					break
				}
				if got := digest(k.tile(m, tile)); !slices.Equal(got, want[tile*per:][:per]) {
					t.Fatalf("tile %d: sum and first elements %08x, the H200 has %08x", tile, got, want[tile*per:][:per])
				}
			}
		})
	}
}

// tile computes one tile of D; rows that the instruction lacks are zero.
func (k kind) tile(m element, tile int) []uint64 {
	d := make([]uint64, 128)
	for e := range 8 * k.rows() {
		d[e] = m(tile, e)
	}
	return d
}

// full compares every element, and packs the golden data.
func full(t *testing.T, res map[string][]uint32) {
	var pack bytes.Buffer
	for _, k := range kinds {
		raw := res[k.name]
		if len(raw) != tiles*128*k.accWords() {
			t.Errorf("%s: no results", k.name)
			continue
		}
		m := k.model(k.input())
		bad := 0
		for tile := range tiles {
			want := make([]uint64, 128)
			for e := range want {
				if k.acc == "f64" {
					want[e] = uint64(raw[2*(tile*128+e)]) | uint64(raw[2*(tile*128+e)+1])<<32
				} else {
					want[e] = uint64(raw[tile*128+e])
				}
			}
			binary.Write(&pack, binary.LittleEndian, digest(want))
			for e, got := range k.tile(m, tile) {
				if got != want[e] {
					if bad++; bad <= 3 {
						t.Errorf("%s tile %d element %d: %x, the H200 has %x", k.name, tile, e, got, want[e])
					}
				}
			}
		}
		t.Logf("%s: %d of %d equal", k.name, tiles*8*k.rows()-bad, tiles*8*k.rows())
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
	if err := os.WriteFile(goldenFile, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}
