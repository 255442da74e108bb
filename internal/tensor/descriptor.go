package tensor

import "fmt"

// A Descriptor is the 64-bit matrix descriptor of wgmma (ISA 9.7.15.5.1.2.2):
// where in the CTA's shared window a matrix lies. Addresses and offsets are in
// units of 16 bytes and have 14 bits.
//
//	bits 0–13   start address
//	bits 16–29  leading dimension byte offset (LBO)
//	bits 32–45  stride dimension byte offset (SBO)
//	bits 49–51  base offset
//	bits 62–63  swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
//
// The matrix is made of chunks of 16 bytes: K-major, 16 bytes of K of one row
// of M or N; MN-major, one k of eight rows. With W the bytes of a swizzled row,
// 16 where there is no swizzle, the chunk lies at start plus
//
//	K-major, row r, byte b of K      r%8·W + r/8·SBO + b%W + b/W·LBO      W of 16 and 32
//	                                 r%8·W + r/8·SBO + b                  W of 64 and 128
//	MN-major, row r, without swizzle k%8·16 + k/8·LBO + r/8·SBO
//	MN-major, row r, swizzled        k%8·W + k/8·SBO + 2r%W + 2r/W·LBO
//
// and then bits 4 and up of that sum, as many as W has, are xored with its bits
// 7 and up less the base offset: it is the address that is swizzled, so that a
// matrix may start anywhere in a pattern. So a base offset is right if the
// written pattern begins at a multiple of 128 that is no multiple of the
// pattern's own size.
//
// The ISA calls the leading offset unused under every K-major swizzle. That is
// so for A, and for a dense B, whose rows have 32 bytes. A sparse A has a B with
// 64 bytes a row, and under the 32-byte swizzle an H200 takes the second half
// from LBO on.
//
// # What an H200 does with invalid descriptors
//
// The reserved bits are ignored, each of them alone, and so is a base offset
// without swizzle. Strides need not be multiples of the pattern; rows may run
// out of their W bytes and then continue in the next. Offsets are not signed and
// sums do not wrap: one that is past 228 KiB of window is an illegal address,
// even where 18 bits of it would lie inside. The first bytes of the window, below
// the CTA's own memory, can be read. Offsets to a second chunk that the shape does not
// have, such as a K-major SBO with N of 8, are ignored.
type Descriptor uint64

const reserved Descriptor = ^Descriptor(0x3fff | 0x3fff<<16 | 0x3fff<<32 | 7<<49 | 3<<62)

func (d Descriptor) field(bit int) uint32 { return uint32(d>>bit) & 0x3fff << 4 }

// Start is the address of the matrix in the shared window.
func (d Descriptor) Start() uint32 { return d.field(0) }

// Leading is the leading dimension byte offset.
func (d Descriptor) Leading() uint32 { return d.field(16) }

// Stride is the stride dimension byte offset.
func (d Descriptor) Stride() uint32 { return d.field(32) }

// BaseOffset is where the swizzle's pattern begins, in rows of 128 bytes.
func (d Descriptor) BaseOffset() uint32 { return uint32(d>>49) & 7 }

// Swizzle is the width in bytes of the rows that are swizzled: 128, 64, 32, or
// 16 where there is no swizzle.
func (d Descriptor) Swizzle() uint32 { return [4]uint32{16, 128, 64, 32}[d>>62] }

// canonical is where the descriptor places a matrix.
func (d Descriptor) canonical() canonical {
	return canonical{start: d.Start(), lead: d.Leading(), stride: d.Stride(), width: d.Swizzle(), base: d.BaseOffset()}
}

// check returns why the ISA forbids the descriptor, or nil. Its fields cannot be
// misaligned, for they have no low bits; its spans show whether the matrix lies
// outside the CTA's memory; and a descriptor does not say where the pattern
// begins, so which base offset is right.
func (d Descriptor) check() error {
	if r := d & reserved; r != 0 {
		return fmt.Errorf("matrix descriptor 0x%016x has reserved bits set: 0x%x", uint64(d), uint64(r))
	}
	if d.Swizzle() == 16 && d.BaseOffset() != 0 {
		return fmt.Errorf("matrix descriptor 0x%016x has base offset %d but no swizzle", uint64(d), d.BaseOffset())
	}
	return nil
}

// A Span is a range of bytes of the CTA's shared window.
type Span struct{ Addr, Len uint32 }

// An operand is how the instruction, or one warp of it, reads a matrix: rows of
// M or N from first on, width bytes along K.
type operand struct {
	first, rows int // multiples of 8
	width       int // of a row, in bytes: 32, or 64 for the B of a sparse A
	mn          bool
	elem        int // MN-major: bytes from one element to the next
	pad         int // bytes at the end of each chunk that hold nothing
}

// chunks are the addresses of the operand's chunks: row by row with those of K
// together, or, MN-major, k by k with those of M or N together.
func (o *operand) chunks(d Descriptor, visit func(addr uint32)) { d.canonical().chunks(o, visit) }

// A canonical is what descriptors of wgmma and of tcgen05 say in different bits:
// one of the canonical layouts of a matrix in shared memory.
type canonical struct {
	start, lead, stride uint32
	width               uint32 // in bytes of the rows that are swizzled, 16 where there is no swizzle
	base                uint32 // base offset
	wide                bool   // the swizzle moves 32 bytes together: width is 128, MN-major
	next                bool   // K-major: lead is where rows go on behind their 128 bytes
}

// swizzled applies the swizzle to an address.
func (c *canonical) swizzled(addr uint32) uint32 {
	row := addr>>7 - c.base
	if c.wide {
		return addr ^ (row&3)<<5
	}
	return addr ^ (row<<4)&(c.width-16)
}

func (c canonical) chunks(o *operand, visit func(addr uint32)) {
	first, end := uint32(o.first), uint32(o.first+o.rows)
	if !o.mn {
		for r := first; r < end; r++ {
			for b := uint32(0); b < uint32(o.width); b += 16 {
				at := b
				if c.width <= 32 {
					at = b%c.width + b/c.width*c.lead
				}
				from := c.start
				if c.next && c.start%128+b >= 128 {
					from, at = c.lead, c.start%128+b-128
				}
				visit(c.swizzled(from + r%8*c.width + r/8*c.stride + at))
			}
		}
		return
	}
	elem, columns := uint32(o.elem), uint32(8)
	if c.wide {
		columns = 4 // a pattern of half the size
	}
	for k := range uint32(o.width) / elem {
		for m := first * elem; m < end*elem; m += 16 { // bytes along M or N
			if c.width == 16 {
				visit(c.start + k%8*16 + k/8*c.lead + m/16*c.stride)
			} else {
				visit(c.swizzled(c.start + k%columns*c.width + k/columns*c.stride + m%c.width + m/c.width*c.lead))
			}
		}
	}
}
