package tma

import (
	"encoding/binary"

	"muster/internal/num"
)

// An Op is the operation of a cp.reduce.async.bulk.tensor.
type Op uint8

const (
	OpAdd Op = iota
	OpMin
	OpMax
	OpInc
	OpDec
	OpAnd
	OpOr
	OpXor
)

var opNames = [...]string{"add", "min", "max", "inc", "dec", "and", "or", "xor"}

// String is the operation's qualifier in PTX.
func (o Op) String() string { return opNames[o] }

const (
	sums  = 1 << OpAdd
	picks = 1<<OpMin | 1<<OpMax
	logic = 1<<OpAnd | 1<<OpOr | 1<<OpXor
	wraps = 1<<OpInc | 1<<OpDec
)

// reductions has, for each type, a bit for each Op that an H200 performs. The
// ISA's table (9.7.9.25.5.3) lists no f64, which the card adds, and all 64-bit
// types for and, or and xor, where the card takes u64 only.
var reductions = [...]uint8{
	U32: sums | picks | logic | wraps, S32: sums | picks | logic, U64: sums | picks | logic, S64: picks,
	F16: sums | picks, BF16: sums | picks, F32: sums, F32FTZ: sums, TF32: sums, TF32FTZ: sums, F64: sums,
}

// CheckReduce gives a *FaultError if the card has no such reduction for the
// type of the map. CheckStore checks the coordinates.
func (m *Map) CheckReduce(op Op) error {
	if int(m.Type) >= len(reductions) || reductions[m.Type]>>op&1 == 0 {
		return fault("no reduction .%s of elements of type %s", op, m.Type)
	}
	return nil
}

// Reduce does global[i] = global[i] op shared[i] for each element of a run, as
// CheckReduce allows it.
func (m *Map) Reduce(op Op, global, shared []byte) {
	switch le := binary.LittleEndian; m.Type.Size() {
	case 2:
		for i := 0; i+2 <= len(global); i += 2 {
			le.PutUint16(global[i:], m.reduce16(op, le.Uint16(global[i:]), le.Uint16(shared[i:])))
		}
	case 4:
		for i := 0; i+4 <= len(global); i += 4 {
			le.PutUint32(global[i:], m.reduce32(op, le.Uint32(global[i:]), le.Uint32(shared[i:])))
		}
	case 8:
		for i := 0; i+8 <= len(global); i += 8 {
			le.PutUint64(global[i:], m.reduce64(op, le.Uint64(global[i:]), le.Uint64(shared[i:])))
		}
	}
}

func (m *Map) reduce16(op Op, a, b uint16) uint16 {
	if m.Type == BF16 {
		return [...]func(num.Mod, uint16, uint16) uint16{num.AddBF16, num.MinBF16, num.MaxBF16}[op](0, a, b)
	}
	return [...]func(num.Mod, uint16, uint16) uint16{num.AddF16, num.MinF16, num.MaxF16}[op](0, a, b)
}

func (m *Map) reduce32(op Op, a, b uint32) uint32 {
	switch {
	case m.Type.Float():
		return num.AddF32(num.RN, m.Type.flush(), a, b)
	case op == OpInc && a >= b:
		return 0
	case op == OpInc:
		return a + 1
	case op == OpDec && (a == 0 || a > b):
		return b
	case op == OpDec:
		return a - 1
	case m.Type == S32 && op == OpMin:
		return uint32(min(int32(a), int32(b)))
	case m.Type == S32 && op == OpMax:
		return uint32(max(int32(a), int32(b)))
	}
	return integer(op, a, b)
}

// flush returns FTZ if sums flush subnormals: if the type has ftz in its name.
// atom and red on global memory always flush them. cp.reduce.async.bulk.add.f32
// keeps them on an H200, although the ISA says that it flushes them
// (9.7.9.25.4.2).
func (t Type) flush() num.Mod {
	if t == F32FTZ || t == TF32FTZ {
		return num.FTZ
	}
	return 0
}

func (m *Map) reduce64(op Op, a, b uint64) uint64 {
	switch {
	case m.Type == F64:
		return num.AtomAddF64(a, b)
	case m.Type == S64 && op == OpMin:
		return uint64(min(int64(a), int64(b)))
	case m.Type == S64 && op == OpMax:
		return uint64(max(int64(a), int64(b)))
	}
	return integer(op, a, b)
}

func integer[T uint32 | uint64](op Op, a, b T) T {
	switch op {
	case OpAdd:
		return a + b
	case OpMin:
		return min(a, b)
	case OpMax:
		return max(a, b)
	case OpAnd:
		return a & b
	case OpOr:
		return a | b
	}
	return a ^ b
}
