package tensor

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"muster/internal/tensor/wmmacard"
)

// What an H100 answered. wmma.py there made it, and says how its inputs are drawn.
const wmmaCard = "../machine/testdata/card/wmma"

func readCard(t *testing.T, name string, into any) {
	t.Helper()
	if err := wmmacard.Read(wmmaCard, name, into); err != nil {
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
	var forms []wmmacard.Form
	readCard(t, "forms.json", &forms)
	ran := 0
	for _, f := range forms {
		t.Run(f.Name, func(t *testing.T) {
			w, err := ParseWMMA(f.Mods("row.col"))
			if f.Error != "" {
				if err == nil {
					t.Errorf("ptxas refuses it: %s", f.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			m, n, _ := f.Size()
			card, err := f.Answer(wmmaCard)
			if err != nil {
				t.Fatal(err)
			}
			bytes := int(wmmacard.Bits[f.D]) / 8
			if len(card) != len(f.Kinds)*f.Tiles*m*n*bytes {
				t.Fatalf("%d bytes", len(card))
			}
			ran++
			bad := map[string]int{}
			for ki, kind := range f.Kinds {
				for tile := range f.Tiles {
					a, b, c := f.Inputs(ki, tile)
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
			if f.Sum() != f.SHA {
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
