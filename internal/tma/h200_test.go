package tma

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
)

type golden struct {
	In    []int64
	Hex   string // of a map; "" if the driver refused
	Word  string // of a load: the mbarrier
	Hash  string // FNV-1a of what the copy wrote into
	Fault bool   // illegal instruction
}

func readGolden(t testing.TB, name string) []golden { return readRows[golden](t, name) }

func readRows[T any](t testing.TB, name string) []T {
	t.Helper()
	f, err := os.Open("testdata/h200/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all []T
	s := bufio.NewScanner(z)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var g T
		if err := json.Unmarshal(s.Bytes(), &g); err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	return all
}

// toMap reads the map of a golden row. A kind that is no byte becomes 255, also an
// invalid kind.
func (g *golden) toMap() (m Map) {
	v := g.In
	next := func() int64 { x := v[0]; v = v[1:]; return x }
	kind := func() uint8 {
		x := next()
		if x < 0 || x > 255 {
			return 255
		}
		return uint8(x)
	}
	m.Mode, m.Type, m.Rank, m.Address = Mode(next()), Type(kind()), int(next()), uint64(next())
	for i := range m.Dims {
		m.Dims[i] = uint64(next())
	}
	for i := range m.Strides {
		m.Strides[i] = uint64(next())
	}
	for i := range m.Box {
		m.Box[i] = uint32(next())
	}
	for i := range m.Lower {
		m.Lower[i] = int32(next())
	}
	for i := range m.Upper {
		m.Upper[i] = int32(next())
	}
	m.Channels, m.Pixels = uint32(next()), uint32(next())
	for i := range m.ElementStrides {
		m.ElementStrides[i] = uint32(next())
	}
	m.Interleave, m.Swizzle, m.L2, m.Fill = Interleave(kind()), Swizzle(kind()), L2Promotion(kind()), Fill(kind())
	return m
}

// canonical drops the entries that mean nothing.
func canonical(m Map) Map {
	for i := m.Rank; i < 5; i++ {
		m.Dims[i], m.ElementStrides[i], m.Box[i] = 0, 0, 0
		m.Strides[i-1] = 0
	}
	for i := m.Rank - 2; i < 3; i++ {
		m.Lower[max(i, 0)], m.Upper[max(i, 0)] = 0, 0
	}
	if m.Mode == Im2col {
		m.Box = [5]uint32{}
	} else {
		m.Lower, m.Upper, m.Channels, m.Pixels = [3]int32{}, [3]int32{}, 0, 0
	}
	return m
}

func TestEncodeIsTheDrivers(t *testing.T) {
	counts := map[Mode][2]int{}
	rules := map[Rule]int{}
	for i, g := range readGolden(t, "maps.jsonl.gz") {
		m := g.toMap()
		err := m.CheckOn(Hopper)
		var b [Size]byte
		if err == nil {
			b, err = m.Encode()
		}
		c := counts[m.Mode]
		switch {
		case g.Hex == "":
			c[1]++
			if err == nil {
				t.Errorf("map %d: the driver refuses %+v", i, m)
				continue
			}
			refused, ok := err.(*RefusedError)
			if !ok {
				t.Fatalf("map %d: %T", i, err)
			}
			rules[refused.Rule]++
		case err != nil:
			t.Errorf("map %d: the driver takes it: %v\n%+v", i, err, m)
		default:
			c[0]++
			if got := hex.EncodeToString(b[:]); got != g.Hex {
				t.Errorf("map %d: %+v\n%s\n%s", i, m, got, g.Hex)
			}
			if back, err := Decode(b); err != nil || back != canonical(m) {
				t.Errorf("map %d: %v decoded\n%+v\n%+v", i, err, back, canonical(m))
			}
		}
		counts[m.Mode] = c
	}
	for _, mode := range []Mode{Tiled, Im2col} {
		if c := counts[mode]; c[0] < 500 || c[1] < 500 {
			t.Errorf("mode %d: %d maps taken and %d refused", mode, c[0], c[1])
		}
	}
	for r := RuleType; r <= RuleBoundingBox; r++ {
		if rules[r] == 0 {
			t.Errorf("rule %d refused nothing", r)
		}
	}
	t.Log(counts, rules)
}
