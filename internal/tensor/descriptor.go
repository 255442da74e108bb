package tensor

import (
	"errors"
	"fmt"
)

// A Descriptor is the 64-bit matrix descriptor of wgmma (ISA 9.7.15.5.1.2.2):
// where in the CTA's shared window a matrix lies, in units of 16 bytes of 18-bit
// addresses.
//
//	bits 0–13   start address
//	bits 16–29  leading dimension byte offset
//	bits 32–45  stride dimension byte offset
//	bits 49–51  base offset
//	bits 62–63  swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
type Descriptor uint64

const reserved Descriptor = ^Descriptor(0x3fff | 0x3fff<<16 | 0x3fff<<32 | 7<<49 | 3<<62)

func (d Descriptor) field(bit int) uint32 { return uint32(d>>bit) & 0x3fff << 4 }

// Start is the address of the matrix in the shared window.
func (d Descriptor) Start() uint32 { return d.field(0) }

// Leading is the leading dimension byte offset.
func (d Descriptor) Leading() uint32 { return d.field(16) }

// Stride is the stride dimension byte offset.
func (d Descriptor) Stride() uint32 { return d.field(32) }

// BaseOffset is the phase of the swizzle pattern, in rows of 128 bytes.
func (d Descriptor) BaseOffset() uint32 { return uint32(d>>49) & 7 }

// Swizzle is the width in bytes of the rows that are swizzled: 128, 64, 32, or
// 16 where there is no swizzle.
func (d Descriptor) Swizzle() uint32 { return [4]uint32{16, 128, 64, 32}[d>>62] }

// swizzled is the address that the swizzle makes of an address: the number of
// the 16-byte column is xored with that of the 128-byte row.
func (d Descriptor) swizzled(addr uint32) uint32 {
	row := addr>>7 - d.BaseOffset()
	return addr ^ (row<<4)&(d.Swizzle()-16)
}

// check says why the ISA forbids the descriptor.
func (d Descriptor) check() error {
	if r := d & reserved; r != 0 {
		return fmt.Errorf("matrix descriptor 0x%016x: reserved bits 0x%x are set", uint64(d), uint64(r))
	}
	w := d.Swizzle()
	if w == 16 {
		if d.BaseOffset() != 0 {
			return fmt.Errorf("matrix descriptor 0x%016x: base offset %d without a swizzle", uint64(d), d.BaseOffset())
		}
		return nil
	}
	return nil
}

var errRegisters = errors.New("matrix A is in registers, it has no descriptor")

// A Span is a range of bytes of the CTA's shared window.
type Span struct{ Addr, Len uint32 }

// An operand is how the instruction, or one warp of it, reads a matrix: rows of
// M or N from first on, width bytes along K.
type operand struct {
	first, rows int // multiples of 8
	width       int // of a row, in bytes: 32, or 64 for the B of a sparse A
	mn          bool
}

// chunks are the addresses of the 16-byte pieces of the operand, before they
// wrap: row by row with those of K together, or, M- or N-major, K's row by row
// with those of eight elements along M or N together.
func (o *operand) chunks(d Descriptor, visit func(addr uint32)) {
	lead, stride, w := d.Leading(), d.Stride(), d.Swizzle()
	if o.mn {
		for k := range uint32(o.width / 2) {
			for m := uint32(o.first / 8); m < uint32(o.first+o.rows)/8; m++ {
				a := d.Start()
				if w == 16 {
					a += m*stride + k/8*lead + k%8*16
				} else {
					a += m*16%w + m*16/w*lead + k%8*w + k/8*stride
				}
				visit(d.swizzled(a))
			}
		}
		return
	}
	for r := uint32(o.first); r < uint32(o.first+o.rows); r++ {
		for c := range uint32(o.width / 16) {
			at := c * 16
			if w == 16 || w == 32 {
				at = c*16%w + c*16/w*lead
			}
			visit(d.swizzled(d.Start() + r%8*w + r/8*stride + at))
		}
	}
}
