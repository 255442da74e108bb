package tma

import (
	"encoding/binary"
	"fmt"
)

// A Field is what tensormap.replace changes (ISA, section 9.7.9.26).
type Field uint8

const (
	FieldAddress       Field = iota // .global_address
	FieldRank                       // .rank: the rank less one
	FieldBox                        // .box_dim
	FieldDim                        // .global_dim
	FieldStride                     // .global_stride, in bytes, ordinal 0 of dimension 1
	FieldElementStride              // .element_stride
	FieldType                       // .elemtype
	FieldInterleave                 // .interleave_layout
	FieldSwizzle                    // .swizzle_mode
	FieldAtomicity                  // .swizzle_atomicity, from sm_100 on
	FieldFill                       // .fill_mode
)

// fields has a row for each Field: its name in PTX and the number of ordinals
// or of immediate values that ptxas takes for sm_90a, and of values that there are (ISA,
// table 36). Of strides it takes five, although a map has four.
var fields = [...]struct {
	name              string
	ords, values, all int
}{
	FieldAddress: {"global_address", 0, 0, 0}, FieldRank: {"rank", 0, 0, 0},
	FieldBox: {"box_dim", 5, 0, 0}, FieldDim: {"global_dim", 5, 0, 0}, FieldStride: {"global_stride", 5, 0, 0}, FieldElementStride: {"element_stride", 5, 0, 0},
	FieldType: {"elemtype", 0, 13, len(replaceTypes)}, FieldInterleave: {"interleave_layout", 0, 3, 3}, FieldSwizzle: {"swizzle_mode", 0, 4, 5},
	FieldAtomicity: {"swizzle_atomicity", 0, 0, 4}, FieldFill: {"fill_mode", 0, 2, 2},
}

// replaceTypes are the types as tensormap.replace numbers them; the driver
// numbers them otherwise.
var replaceTypes = [...]Type{U8, U16, U32, S32, U64, S64, F16, F32, F32FTZ, F64, BF16, TF32, TF32FTZ, B4x16, B4x16P64, B6x16P32}

// String is the field's qualifier in PTX.
func (f Field) String() string { return fields[f].name }

// ParseField finds a field by its qualifier.
func ParseField(name string) (Field, bool) {
	for f, row := range fields {
		if row.name == name {
			return Field(f), true
		}
	}
	return 0, false
}

// Indexed reports whether the instruction has the operand ord.
func (f Field) Indexed() bool { return fields[f].ords > 0 }

// Immediate reports whether the new value must be an immediate.
func (f Field) Immediate() bool { return f >= FieldType }

// Wide reports whether the new value has 64 bits.
func (f Field) Wide() bool { return f == FieldAddress || f == FieldStride }

// values is how many immediate values an architecture has.
func (f Field) values(a Arch) int {
	switch row := fields[f]; {
	case a < Blackwell:
		return row.values
	case f == FieldSwizzle && a != 103 && a != 107: // 96B
		return row.all - 1
	default:
		return row.all
	}
}

// Check says what ptxas refuses for an architecture: an ordinal that the field does not
// have, an immediate that is none of its values. v is an immediate or ignored.
func (f Field) Check(a Arch, ord int, v uint64) error {
	row := fields[f]
	switch {
	case f == FieldAtomicity && a < Blackwell:
		return fmt.Errorf("%s is of sm_100 and later", f)
	case f.Indexed() && (ord < 0 || ord >= row.ords):
		return fmt.Errorf("ordinal %d of %s is not in 0 to %d", ord, f, row.ords-1)
	case f.Immediate() && v >= uint64(f.values(a)):
		return fmt.Errorf("%s has no value %d on sm_%d", f, v, a)
	}
	return nil
}

// Replace changes a field as the instruction does: with plain loads and stores
// of at most eight bytes (the compiler makes them), checking nothing else. Bits
// that do not fit are dropped; dimensions, boxes and element strides are stored
// less one, so that 0 is the largest; rank is given less one. The size of the box
// and the alignment, which the driver derives, stay as they were; the card reads
// neither. ord is ignored unless f is Indexed. The error is that of Check, and
// then b is untouched.
//
// A type below tf32 leaves bit 80 as it is: f32 after tf32 is still tf32, and
// another type after tf32 makes a map that faults. What Blackwell adds is written where
// Encode writes it.
func Replace(b *[Size]byte, a Arch, f Field, ord int, v uint64) error {
	if err := f.Check(a, ord, v); err != nil {
		return err
	}
	var w word
	w.load(b)
	switch f {
	case FieldAddress:
		w.set(0, 64, v)
	case FieldRank:
		w.set(68, 3, v)
	case FieldBox:
		w.set(440+8*ord, 8, v-1)
	case FieldDim:
		w.set(256+32*ord, 32, v-1)
	case FieldStride:
		// Ordinal 4 goes where a fifth would be: over the high bits of the others.
		w.set(96+32*ord, 32, v>>4)
		w.set(224+4*ord, 4, v>>36)
	case FieldElementStride:
		w.set(416+3*ord, 3, v-1)
	case FieldType:
		t := types[replaceTypes[v]]
		w.set(71, 4, t.code)
		if t.tf32 != 0 {
			w.set(80, 1, 1)
		}
	case FieldInterleave:
		w.set(75, 2, v)
	case FieldSwizzle:
		w.set(77, 2, v)
		w.set(86, 1, v>>2)
	case FieldAtomicity:
		w.set(83, 3, v)
	case FieldFill:
		w.set(79, 1, v)
	}
	for i, v := range w {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	return nil
}
