package tensor

import "testing"

// Triton's layouts are a second witness. They are linear: each bit of an index
// has a place, and an index the exclusive or of the places of its bits.
type linear []([2]int)

func (l linear) at(i int) (row, column int) {
	for bit, p := range l {
		if i>>bit&1 != 0 {
			row, column = row^p[0], column^p[1]
		}
	}
	return row, column
}

// columnsFrom continues a layout of registers, or of columns.
func columnsFrom(l linear, first, last int) linear {
	for c := first; c < last; c *= 2 {
		l = append(l, [2]int{0, c})
	}
	return l
}

// TestTensorAccessTriton compares cells with getTileLayout of
// lib/Dialect/TritonNvidiaGPU/IR/Dialect.cpp, which has a row and a column for
// each bit of a thread and of a register.
func TestTensorAccessTriton(t *testing.T) {
	for _, a := range []struct {
		shape       string
		lane, reg   linear
		width, most int // columns of x1, and the largest x
	}{
		{"32x32b", linear{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}}, linear{}, 1, 128},
		{"16x64b", linear{{8, 0}, {0, 1}, {1, 0}, {2, 0}, {4, 0}}, linear{}, 2, 128},
		{"16x128b", linear{{0, 1}, {0, 2}, {1, 0}, {2, 0}, {4, 0}}, linear{{8, 0}}, 4, 64},
		{"16x256b", linear{{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}}, linear{{0, 1}, {8, 0}}, 8, 32},
	} {
		for n := 1; n <= a.most; n *= 2 {
			access, err := NewTensorAccess(TensorAccessForm{Shape: a.shape, Num: n})
			if err != nil {
				t.Fatal(err)
			}
			reg := columnsFrom(append(linear(nil), a.reg...), a.width, a.width*n)
			for thread := range 32 {
				for i := range access.Registers() {
					row, column := a.lane.at(thread)
					r, c := reg.at(i)
					if lane, col := access.Cell(thread, i); lane != row^r || col != column^c {
						t.Fatalf("%s.x%d thread %d register %d: (%d,%d), Triton has (%d,%d)", a.shape, n, thread, i, lane, col, row^r, column^c)
					}
				}
			}
		}
	}
}

// TestTensorLayoutTriton compares where D and A lie with
// tensorMemoryToLinearLayout of lib/Dialect/TritonGPU/IR/LinearLayoutConversions.cpp,
// from a row (lane) and a column of tensor memory to an element.
func TestTensorLayoutTriton(t *testing.T) {
	rows := linear{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {32, 0}, {64, 0}}
	for _, c := range []struct {
		ctas, m int
		lane    func(n int) linear
		a       linear // where A has other lanes than D
	}{
		{1, 128, func(int) linear { return rows }, nil},
		{2, 256, func(int) linear { return rows }, nil},
		{1, 64, func(int) linear { return linear{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 0}, {16, 0}, {32, 0}} }, nil},
		{2, 128, func(n int) linear { return linear{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {32, 0}, {0, n / 2}} }, append(append(linear(nil), rows[:6]...), [2]int{})},
	} {
		for n := 16; n <= 256; n *= 2 {
			g, err := NewTCGen05(TCGen05Form{Kind: "f16", CTAs: c.ctas, ATensor: true, ScaleD: -1, Desc: idesc(F32, F16, F16, c.m, n)})
			if err != nil {
				t.Fatal(err)
			}
			lane, column := c.lane(n), columnsFrom(nil, 1, g.ColumnsD())
			for m := range g.M {
				for col := range n {
					_, l, at := g.CellD(m, col)
					r, c0 := lane.at(l)
					_, c1 := column.at(at)
					if r != m%g.Rows() || c0^c1 != col {
						t.Fatalf("layout %c: (%d,%d) is at lane %d column %d, where Triton has (%d,%d)", g.Layout(), m, col, l, at, r, c0^c1)
					}
				}
			}
			if c.a == nil {
				continue
			}
			// A is read of every lane, and twice.
			read := map[int]int{}
			for _, s := range g.SpansTA(0) {
				for at := s.Addr; at < s.Addr+s.Len; at += 4 {
					r, _ := c.a.at(int(at) % columnBytes / laneBytes)
					read[r]++
				}
			}
			for m := range g.Rows() {
				if read[m] != 2*ColumnsTA {
					t.Fatalf("layout %c: row %d of A has %d cells, Triton has it twice", g.Layout(), m, read[m])
				}
			}
		}
	}
}
