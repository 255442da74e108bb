package tensor

import "fmt"

// A TensorDescriptor is the 64-bit shared memory descriptor of tcgen05 (ISA
// 9.7.18.4.1): where in a CTA's shared window a matrix lies. It places matrices
// as [Descriptor] does, in other bits; addresses and offsets are in units of 16
// bytes and have 14 bits, for matrix-descriptor-encode keeps no more.
//
//	bits 0–13   start address
//	bits 16–29  leading dimension byte offset (LBO)
//	bits 32–45  stride dimension byte offset (SBO)
//	bits 46–48  0b001
//	bits 49–51  base offset
//	bit  52     LBO is an absolute address: sm_103a with K of 48 bytes only. Rows of
//	            128 bytes go on there, as CUTLASS's kernels for sm_103 have it
//	bits 61–63  swizzle: 0 none, 1 128 bytes that moves 32 bytes together,
//	            2 128 bytes, 4 64 bytes, 6 32 bytes
//
// Bits 14 and 30 belong to address and LBO from PTX ISA 9.4 on; they would lie
// past every shared window of sm_100.
//
// Under the swizzle of 128 bytes that moves 32 together, which is for MN-major
// tf32, a pattern has four columns of K, and SBO is from one four to the next: so
// the atom of Table 67 and CuTe's canonical layout. The ISA's sentence about SBO
// counts eight columns without distinction.
type TensorDescriptor uint64

const (
	tensorVersion  TensorDescriptor = 1 << 46
	tensorReserved TensorDescriptor = 3<<14 | 3<<30 | 0xff<<53
)

func (d TensorDescriptor) field(bit int) uint32 { return uint32(d>>bit) & 0x3fff << 4 }

// Start is the address of the matrix in the shared window.
func (d TensorDescriptor) Start() uint32 { return d.field(0) }

// Leading is the leading dimension byte offset.
func (d TensorDescriptor) Leading() uint32 { return d.field(16) }

// Stride is the stride dimension byte offset.
func (d TensorDescriptor) Stride() uint32 { return d.field(32) }

// BaseOffset is where the swizzle's pattern begins, in rows of 128 bytes.
func (d TensorDescriptor) BaseOffset() uint32 { return uint32(d>>49) & 7 }

// Absolute says that the leading dimension is given as an address.
func (d TensorDescriptor) Absolute() bool { return d>>52&1 != 0 }

// Swizzle is the width in bytes of the rows that are swizzled: 128, 64, 32, or
// 16 where there is no swizzle; 0 for an invalid code.
func (d TensorDescriptor) Swizzle() uint32 {
	return [8]uint32{0: 16, 1: 128, 2: 128, 4: 64, 6: 32}[d>>61]
}

// Wide says that the swizzle moves 32 bytes together.
func (d TensorDescriptor) Wide() bool { return d>>61 == 1 }

func (d TensorDescriptor) canonical() canonical {
	c := canonical{start: d.Start(), lead: d.Leading(), stride: d.Stride(), width: d.Swizzle(), base: d.BaseOffset(), wide: d.Wide(), next: d.Absolute()}
	if c.width == 0 {
		c.width = 16 // of an invalid code
	}
	return c
}

// Unmarked reports whether bits 46 to 48 are those of wgmma's descriptors, 0b000. The ISA wants
// 0b001; JAX's Mosaic leaves them so in all of its kernels.
func (d TensorDescriptor) Unmarked() bool { return d>>46&7 == 0 }

// Idle reports whether there is a base offset where no swizzle has a pattern for it. The ISA
// gives a value for each swizzle, and none without one. Triton's copies of scales have one; an
// H200 ignores it in wgmma's descriptors.
func (d TensorDescriptor) Idle() bool { return d.Swizzle() == 16 && d.BaseOffset() != 0 }

// Check says in one sentence why the ISA forbids the descriptor.
func (d TensorDescriptor) Check() error {
	const section = "(ISA 9.7.18.4.1)"
	switch {
	case d>>46&7 > 1: // and Unmarked for 0b000
		return fmt.Errorf("shared memory descriptor 0x%016x has 0b%03b in bits 46-48, where tcgen05 wants 0b001 %s", uint64(d), d>>46&7, section)
	case d.Swizzle() == 0:
		return fmt.Errorf("shared memory descriptor 0x%016x has swizzling mode %d in bits 61-63, where 0, 1, 2, 4 and 6 are defined %s", uint64(d), d>>61, section)
	case d&tensorReserved != 0:
		return fmt.Errorf("shared memory descriptor 0x%016x has reserved bits set: 0x%x, where bits 14-15, 30-31 and 53-60 must be 0 %s", uint64(d), uint64(d&tensorReserved), section)
	}
	return nil
}

// checkFor is Check for an operand of tcgen05.mma: which swizzles go with its
// major-ness and type (ISA 9.7.18.10.1, 9.7.18.10.3). k is the bytes of a row.
func (d TensorDescriptor) checkFor(matrix string, f Format, mn bool, k int) error {
	if err := d.Check(); err != nil {
		return fmt.Errorf("matrix %s: %w", matrix, err)
	}
	if err := d.checkLead(matrix, k); err != nil {
		return err
	}
	switch {
	case mn && f == TF32 && !d.Wide():
		return fmt.Errorf("matrix %s: shared memory descriptor 0x%016x has swizzling mode %d, where a transposed matrix of tf32 must have mode 1, 128 bytes with 32-byte atoms (ISA 9.7.18.10.1)", matrix, uint64(d), d>>61)
	case mn && f != TF32 && d.Wide():
		return fmt.Errorf("matrix %s: shared memory descriptor 0x%016x has swizzling mode 1, 128 bytes with 32-byte atoms, which only tf32 has for a transposed matrix (ISA 9.7.18.10.1)", matrix, uint64(d))
	case d.Wide() && !mn:
		return fmt.Errorf("matrix %s: shared memory descriptor 0x%016x has swizzling mode 1 for a K-major matrix, which has no layout in the ISA: %w", matrix, uint64(d), ErrNotModelled)
	}
	return nil
}

// checkLead checks what the leading dimension is.
func (d TensorDescriptor) checkLead(matrix string, k int) error {
	long := k == 48
	switch {
	case d.Absolute() && !long:
		return fmt.Errorf("matrix %s: shared memory descriptor 0x%016x has leading dimension mode 1 in bit 52, an absolute address, which only K of 96 has, on sm_103a (ISA 9.7.18.4.1)", matrix, uint64(d))
	case d.Absolute() && (d.Swizzle() != 128 || d.Wide() || d.BaseOffset() != 0):
		return fmt.Errorf("matrix %s: shared memory descriptor 0x%016x has an absolute address as its leading dimension, where the swizzle must be mode 2, 128 bytes, and the base offset 0 (ISA 9.7.18.4.1)", matrix, uint64(d))
	case long && !d.Absolute() && d.Swizzle() > 16 && d.Start()%d.Swizzle()+48 > d.Swizzle():
		return fmt.Errorf("matrix %s: shared memory descriptor 0x%016x of rows of 48 bytes that pass the end of the swizzle, without an absolute address: where they go on is %w", matrix, uint64(d), ErrNotModelled)
	}
	return nil
}
