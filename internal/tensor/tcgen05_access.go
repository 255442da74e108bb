package tensor

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
)

// A TensorAccessForm is what the text of a tcgen05.ld or tcgen05.st says.
type TensorAccessForm struct {
	Shape string // as in "32x32b"
	Num   int    // of x1, x2, …
	Split int    // immHalfSplitoff, of 16x32bx2
	Pack  bool   // .pack::16b or .unpack::16b
}

// A TensorAccess is one form of tcgen05.ld and tcgen05.st: which cells of tensor
// memory the registers of a warp are (ISA 9.7.18.2.3, 9.7.18.8). The ISA has
// figures alone; they are taken from CuTe's traits of these copies. With L and C
// relative to taddr, register i of thread t is cell
//
//	32x32b           L = t                 C = i
//	16x64b           L = t%2·8 + t/4       C = 2i + t/2%2
//	16x128b, i=h+2k  L = t/4 + 8h          C = 4k + t%4
//	16x256b, i=j+2h+4k  L = t/4 + 8h       C = 8k + 2(t%4) + j
//	16x32bx2         L = t%16              C = i, from thread 16 on split + i
//
// With .pack::16b a register is the low halves of two cells that follow each
// other, the first in its low bits: C counts pairs of columns, but for the split,
// which counts columns. What .unpack::16b leaves in the high halves is not said;
// here it is zero.
//
// A TensorAccess is immutable, and may be used by many goroutines.
type TensorAccess struct {
	TensorAccessForm
	lanes, regs, columns int

	// Relative to the first lane of the access and to its first column.
	spans []Span
	words []uint16 // by register and lane: which word of the spans together; packed, two
	plain bool     // words are 0, 1, 2, …
	size  uint32   // bytes of the spans together
}

// NewTensorAccess returns a form, or an error that says why the ISA has none.
func NewTensorAccess(f TensorAccessForm) (*TensorAccess, error) {
	a := &TensorAccess{TensorAccessForm: f, lanes: 16}
	per, most, bits := 1, 128, 32 // registers and bits of x1, and the largest x
	switch f.Shape {
	case "32x32b":
		a.lanes = 32
	case "16x32bx2":
	case "16x64b":
		bits = 64
	case "16x128b":
		per, most, bits = 2, 64, 128
	case "16x256b":
		per, most, bits = 4, 32, 256
	default:
		return nil, fmt.Errorf("tcgen05.ld and tcgen05.st have no shape %q (ISA 9.7.18.2.3)", f.Shape)
	}
	if f.Num < 1 || f.Num > most || f.Num&(f.Num-1) != 0 {
		return nil, fmt.Errorf("tcgen05.ld and tcgen05.st have no %s.x%d, only powers of two from x1 to x%d (ISA 9.7.18.8.3)", f.Shape, f.Num, most)
	}
	if f.Shape != "16x32bx2" && f.Split != 0 {
		return nil, fmt.Errorf("immHalfSplitoff is an operand of shape 16x32bx2 only, not of %s (ISA 9.7.18.8.3)", f.Shape)
	}
	if f.Split < 0 || f.Split >= TensorColumns {
		return nil, fmt.Errorf("immHalfSplitoff %d is no column of tensor memory, which has %d (ISA 9.7.18.8.3)", f.Split, TensorColumns)
	}
	a.regs, a.columns = per*f.Num, bits/32*f.Num
	if f.Pack {
		a.columns *= 2
	}
	if f.Shape == "16x32bx2" {
		a.columns += f.Split
	}
	a.plan()
	return a, nil
}

// Registers is how many registers a thread has in the access.
func (a *TensorAccess) Registers() int { return a.regs }

// Columns is how many columns the access spans, from its first to its last.
func (a *TensorAccess) Columns() int { return a.columns }

// Lanes is how many lanes the access has: 16 or 32.
func (a *TensorAccess) Lanes() int { return a.lanes }

// Cell is the cell of a thread's register, relative to taddr. With Pack it is the
// first of two, and the second is in the next column.
func (a *TensorAccess) Cell(thread, register int) (lane, column int) {
	t, i := thread, register
	switch a.Shape {
	case "32x32b":
		lane, column = t, i
	case "16x32bx2":
		lane, column = t%16, i
	case "16x64b":
		lane, column = t%2*8+t/4, 2*i+t/2%2
	case "16x128b":
		lane, column = t/4+i%2*8, i/2*4+t%4
	default:
		lane, column = t/4+i/2%2*8, i/4*8+t%4*2+i%2
	}
	if a.Pack {
		column *= 2
	}
	if a.Shape == "16x32bx2" && t >= 16 {
		column += a.Split
	}
	return lane, column
}

// cells visits all cells in the order of words.
func (a *TensorAccess) cells(visit func(offset uint32)) {
	for r := range a.regs {
		for t := range 32 {
			lane, column := a.Cell(t, r)
			visit(TensorOffset(lane, column))
			if a.Pack {
				visit(TensorOffset(lane, column+1))
			}
		}
	}
}

func (a *TensorAccess) plan() {
	var at []uint32
	a.cells(func(offset uint32) { at = append(at, offset) })
	sorted := slices.Clone(at)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	word := make(map[uint32]uint16, len(sorted))
	for i, o := range sorted {
		word[o] = uint16(i)
		if n := len(a.spans); n > 0 && a.spans[n-1].Addr+a.spans[n-1].Len == o {
			a.spans[n-1].Len += laneBytes
		} else {
			a.spans = append(a.spans, Span{o, laneBytes})
		}
	}
	a.size = uint32(len(sorted)) * laneBytes
	a.plain = !a.Pack
	for i, o := range at {
		a.words = append(a.words, word[o])
		a.plain = a.plain && int(word[o]) == i
	}
}

// Check says in one sentence why the ISA forbids a warp the address; warp counts
// in the CTA.
func (a *TensorAccess) Check(taddr uint32, warp int) error {
	lane, column := TensorCell(taddr)
	own := 32 * (warp % 4)
	if lane != own && (a.lanes == 32 || lane != own+16) {
		switch {
		case lane < own || lane >= own+32:
			return fmt.Errorf("tensor address 0x%08x is of lane %d, where warp %d reaches lanes %d to %d (ISA 9.7.18.8.1)", taddr, lane, warp, own, own+31)
		case a.lanes == 32:
			return fmt.Errorf("tensor address 0x%08x is of lane %d, where shape %s of warp %d begins at lane %d (ISA 9.7.18.8.1)", taddr, lane, a.Shape, warp, own)
		}
		return fmt.Errorf("tensor address 0x%08x is of lane %d, where shape %s of warp %d begins at lane %d or %d (ISA 9.7.18.8.1)", taddr, lane, a.Shape, warp, own, own+16)
	}
	return checkColumns(fmt.Sprintf("the access at tensor address 0x%08x", taddr), column, a.columns)
}

// Spans are the bytes of tensor memory that the access reads or writes.
func (a *TensorAccess) Spans(taddr uint32) []Span {
	base := TensorOffset(TensorCell(taddr))
	spans := make([]Span, len(a.spans))
	for i, s := range a.spans {
		spans[i] = Span{base + s.Addr, s.Len}
	}
	return spans
}

// accessBuffers hold the words of an access: 16 lanes of all columns at most.
var accessBuffers = sync.Pool{New: func() any { return new([16 * TensorColumns * laneBytes]byte) }}

// Load is tcgen05.ld: regs are the registers, lane-wide, and read copies bytes of
// tensor memory, the ranges of Spans.
func (a *TensorAccess) Load(taddr uint32, regs []*[32]uint32, read func(addr uint32, b []byte)) {
	buffer := accessBuffers.Get().(*[16 * TensorColumns * laneBytes]byte)
	defer accessBuffers.Put(buffer)
	b, off, base := buffer[:a.size], uint32(0), TensorOffset(TensorCell(taddr))
	for _, s := range a.spans {
		read(base+s.Addr, b[off:off+s.Len])
		off += s.Len
	}
	word := func(i uint16) uint32 { return binary.LittleEndian.Uint32(b[laneBytes*int(i):]) }
	for r, to := range regs[:a.regs] {
		switch {
		case a.plain:
			from := (*[32 * laneBytes]byte)(b[r*32*laneBytes:])
			for lane := range to {
				to[lane] = binary.LittleEndian.Uint32(from[laneBytes*lane:])
			}
		case a.Pack:
			for lane, at := 0, a.words[64*r:][:64]; lane < 32; lane++ {
				to[lane] = word(at[2*lane])&0xffff | word(at[2*lane+1])<<16
			}
		default:
			for lane, at := range a.words[32*r:][:32] {
				to[lane] = word(at)
			}
		}
	}
}

// Store is tcgen05.st: write takes bytes of tensor memory, the ranges of Spans.
func (a *TensorAccess) Store(taddr uint32, regs []*[32]uint32, write func(addr uint32, b []byte)) {
	buffer := accessBuffers.Get().(*[16 * TensorColumns * laneBytes]byte)
	defer accessBuffers.Put(buffer)
	b := buffer[:a.size]
	put := func(i uint16, x uint32) { binary.LittleEndian.PutUint32(b[laneBytes*int(i):], x) }
	for r, from := range regs[:a.regs] {
		switch {
		case a.plain:
			to := (*[32 * laneBytes]byte)(b[r*32*laneBytes:])
			for lane, x := range from {
				binary.LittleEndian.PutUint32(to[laneBytes*lane:], x)
			}
		case a.Pack:
			at := a.words[64*r:][:64]
			for lane, x := range from {
				put(at[2*lane], x&0xffff)
				put(at[2*lane+1], x>>16)
			}
		default:
			at := a.words[32*r:][:32]
			for lane, x := range from {
				put(at[lane], x)
			}
		}
	}
	off, base := uint32(0), TensorOffset(TensorCell(taddr))
	for _, s := range a.spans {
		write(base+s.Addr, b[off:off+s.Len])
		off += s.Len
	}
}
