package tensor

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What an H100 answered. wmma.py there made it, and says how its inputs are drawn.
const wmmaCard = "../machine/testdata/card/wmma"

func readCard(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(wmmaCard, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
}

// TestWMMALayouts compares fragments with what a card loads and stores.
func TestWMMALayouts(t *testing.T) {
	var answers []struct {
		Op, Shape, Matrix, Type, Layout string
		Stride, Registers               int
		Elements                        [][][]int // by lane, register and place
		Slots                           []int     `json:"slot_of_element"`
		PaddingWritten                  bool      `json:"padding_written"`
	}
	readCard(t, "layout.json", &answers)
	loads, stores := 0, 0
	for _, a := range answers {
		name := strings.Join([]string{a.Op, a.Matrix, a.Layout, a.Shape, a.Type}, ".")
		w, err := ParseWarpMatrix(a.Shape, a.Matrix, a.Type)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if w.Regs != a.Registers {
			t.Errorf("%s: %d registers, want %d", name, w.Regs, a.Registers)
		}
		got := make([]int, w.Rows*w.Cols) // the last slot of each element
		for lane := range 32 {
			for reg := range w.Regs {
				row, col := w.At(lane, reg)
				for i := range w.Per {
					el := row*w.Cols + col
					got[el] = (lane*w.Regs+reg)*w.Per + i
					if a.Elements != nil && a.Elements[lane][reg][i] != el {
						t.Fatalf("%s: lane %d, register %d, place %d holds element %d, want %d", name, lane, reg, i, el, a.Elements[lane][reg][i])
					}
					if w.Down {
						row++
					} else {
						col++
					}
				}
			}
		}
		switch {
		case a.Elements != nil:
			loads++
		case !slices.Equal(got, a.Slots):
			t.Errorf("%s: elements come from %v, want %v", name, got, a.Slots)
		case a.PaddingWritten:
			t.Errorf("%s: the card writes beside the matrix", name)
		default:
			stores++
		}
	}
	t.Logf("%d loads, %d stores", loads, stores)
	if loads != 264 || stores != 52 {
		t.Errorf("%d loads and %d stores, want 264 and 52", loads, stores)
	}
}

// --- inputs, as wmma.py draws them ---

var wmmaBits = map[string]uint{"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "u8": 8, "s8": 8, "s32": 32, "f64": 64, "u4": 4, "s4": 4, "b1": 1}

var wmmaFloats = map[string]struct{ exp, frac uint }{"f16": {5, 10}, "bf16": {8, 7}, "tf32": {8, 23}, "f32": {8, 23}, "f64": {11, 52}}

func splitmix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func drawFloat(typ, kind string, which byte, u uint64) uint64 {
	f := wmmaFloats[typ]
	bias := int64(1)<<(f.exp-1) - 1
	top := f.exp + f.frac
	if kind == "bits" {
		return u >> (63 - top)
	}
	var lo, hi int64
	switch kind {
	case "near":
		lo, hi = -2, 2
	case "wide":
		hi = 12
		if typ == "f16" {
			hi = 10
		}
		lo = -hi
	case "subnormal":
		lo, hi = -bias, 3-bias
		if which == 'b' {
			lo, hi = -1, 1
		}
	default:
		lo, hi = -3, 3
	}
	sign := u >> 63 << top
	frac := u & (1<<f.frac - 1)
	exp := uint64(bias+lo) + u>>53&1023%uint64(hi-lo+1)
	if kind != "special" || u>>48&31 != 0 {
		return sign | exp<<f.frac | frac
	}
	inf := uint64(1<<f.exp-1) << f.frac
	switch k := u >> 44 & 15; {
	case k < 4:
		return sign | inf
	case k < 7:
		return sign | inf | 1<<(f.frac-1)
	case k < 9:
		return sign
	case k < 11:
		return sign | 1
	case k < 13:
		return sign | inf | 1
	}
	return sign | inf - 1
}

func drawInt(typ, kind string, u uint64) uint64 {
	high := u>>63 != 0
	switch {
	case typ == "s32" && kind == "near":
		return uint64(uint32(int64(u>>48) - 32768))
	case typ == "s32" && kind == "extreme" && high:
		return 0x7fffff00 + u&255
	case typ == "s32" && kind == "extreme":
		return 0x80000000 + u&255
	case kind == "extreme":
		ends := map[string][2]uint64{"u8": {254, 255}, "s8": {128, 127}, "u4": {14, 15}, "s4": {8, 7}, "b1": {0, 1}}[typ]
		return ends[u>>63]
	}
	return u >> (64 - wmmaBits[typ])
}

func drawMatrix(typ, kind string, seed uint64, which byte, n int) []uint64 {
	m := make([]uint64, n)
	for i := range m {
		u := splitmix(seed<<32 + uint64(i))
		if _, ok := wmmaFloats[typ]; ok {
			m[i] = drawFloat(typ, kind, which, u)
		} else {
			m[i] = drawInt(typ, kind, u)
		}
	}
	return m
}

// drawCancelling makes pairs of products cancel but for a last bit.
func drawCancelling(a, b []uint64, typ string, cols, k int) {
	f := wmmaFloats[typ]
	for i := range a {
		if i%k%2 == 1 {
			a[i] = a[i-1]
		}
	}
	for i := range b {
		if i/cols%2 == 1 {
			b[i] = b[i-cols] ^ 1<<(f.exp+f.frac) ^ b[i]&1
		}
	}
}

// A cardForm is a form that the card ran.
type cardForm struct {
	Name, Shape, AB, C, D, Op, SHA, Error string
	Index, Tiles                          int
	Satfinite                             bool
	Kinds                                 []string
}

// mods are the qualifiers of the form.
func (f *cardForm) mods(layouts string) []string {
	_, name, _ := strings.Cut(f.Name, ".")
	name, op := strings.CutPrefix(name, f.Op+".")
	if op && f.Op != "" {
		return strings.Split("mma."+f.Op+".popc.sync.aligned."+layouts+"."+name, ".")
	}
	return strings.Split("mma.sync.aligned."+layouts+"."+name, ".")
}

// fillWarp puts a matrix into a fragment.
func fillWarp[T uint32 | uint64](w *WarpMatrix, m []uint64) []*[32]T {
	regs := make([]*[32]T, w.Regs)
	for r := range regs {
		regs[r] = new([32]T)
		for lane := range 32 {
			row, col := w.At(lane, r)
			for i := range w.Per {
				regs[r][lane] |= T(m[row*w.Cols+col] << (i * w.Bits))
				if w.Down {
					row++
				} else {
					col++
				}
			}
		}
	}
	return regs
}

// takeWarp is its inverse.
func takeWarp[T uint32 | uint64](w *WarpMatrix, regs []*[32]T) []uint64 {
	m := make([]uint64, w.Rows*w.Cols)
	for r := range regs {
		for lane := range 32 {
			row, col := w.At(lane, r)
			for i := range w.Per {
				m[row*w.Cols+col] = uint64(regs[r][lane]) >> (i * w.Bits) & (1<<w.Bits - 1)
				if w.Down {
					row++
				} else {
					col++
				}
			}
		}
	}
	return m
}

func runWMMA[T uint32 | uint64](w *WMMA, run func(d, a, b, c []*[32]T), a, b, c []uint64) []uint64 {
	d := fillWarp[T](&w.D, make([]uint64, w.D.Rows*w.D.Cols))
	run(d, fillWarp[T](&w.A, a), fillWarp[T](&w.B, b), fillWarp[T](&w.C, c))
	return takeWarp(&w.D, d)
}

// TestWMMAProducts compares every product that the card computed, bit for bit.
func TestWMMAProducts(t *testing.T) {
	var forms []cardForm
	readCard(t, "forms.json", &forms)
	ran := 0
	for _, f := range forms {
		t.Run(f.Name, func(t *testing.T) {
			w, err := ParseWMMA(f.mods("row.col"))
			if f.Error != "" {
				if err == nil {
					t.Errorf("ptxas refuses it: %s", f.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var m, n, k int
			fmt.Sscanf(f.Shape, "m%dn%dk%d", &m, &n, &k)
			card, err := os.ReadFile(filepath.Join(wmmaCard, "d", f.Name+".bin"))
			if err != nil {
				t.Fatal(err)
			}
			bytes := int(wmmaBits[f.D]) / 8
			if len(card) != len(f.Kinds)*f.Tiles*m*n*bytes {
				t.Fatalf("%d bytes", len(card))
			}
			ran++
			var all [3][]uint64
			bad := map[string]int{}
			for ki, kind := range f.Kinds {
				for tile := range f.Tiles {
					seed := uint64(((f.Index*8+ki)*256 + tile) * 4)
					a, b, c := drawMatrix(f.AB, kind, seed, 'a', m*k), drawMatrix(f.AB, kind, seed+1, 'b', k*n), drawMatrix(f.C, kind, seed+2, 'c', m*n)
					if kind == "cancel" {
						drawCancelling(a, b, f.AB, n, k)
					}
					all[0], all[1], all[2] = append(all[0], a...), append(all[1], b...), append(all[2], c...)
					var d []uint64
					if w.Wide {
						d = runWMMA(w, w.Run64, a, b, c)
					} else {
						d = runWMMA(w, w.Run, a, b, c)
					}
					for i, got := range d {
						var raw [8]byte
						copy(raw[:], card[:bytes])
						card = card[bytes:]
						want := binary.LittleEndian.Uint64(raw[:])
						if got == want {
							continue
						}
						if bad[kind]++; bad[kind] <= 3 {
							t.Errorf("%s, tile %d, row %d, column %d: %#x, want %#x, from %#x", kind, tile, i/n, i%n, got, want, c[i])
						}
					}
				}
			}
			sum := sha256.New()
			for _, m := range all {
				for _, x := range m {
					sum.Write(binary.LittleEndian.AppendUint64(nil, x))
				}
			}
			if got := hex.EncodeToString(sum.Sum(nil)); got != f.SHA {
				t.Errorf("the inputs are others than the card's")
			}
			if len(bad) > 0 {
				t.Errorf("differ: %v", bad)
			}
		})
	}
	if ran != 39 {
		t.Errorf("%d forms, want 39", ran)
	}
}
