package kernel

import "fmt"

// This file changes tensor maps in memory (tensormap.replace, ISA 9.7.9.26, PTX 8.3,
// sm_90a). A replacement is a weak access of the generic proxy to the whole map; copies
// read maps through the tensormap proxy. Between the two there must be a release and an
// acquire, by FenceTensormapRelease and FenceTensormapAcquire, or CopyFence instead of
// the release.

// ReplaceAddress moves the tensor to another address in global memory, a multiple of 16.
func (m TensorMap) ReplaceAddress(tensor Ptr) {
	const what = "TensorMap.ReplaceAddress"
	if k := m.kernel(); k.space(what, "the tensor", tensor, Generic, Global) {
		if tensor.space == Global {
			tensor = tensor.Generic()
		}
		m.replace(what, "global_address", B64, nil, tensor.Address())
	}
}

// ReplaceRank changes the number of dimensions, 1 to 5.
func (m TensorMap) ReplaceRank(rank int) {
	const what = "TensorMap.ReplaceRank"
	if rank < 1 || rank > 5 {
		m.kernel().fail("%s(%d): a tensor has 1 to 5 dimensions", what, rank)
		return
	}
	m.replace(what, "rank", B32, nil, rank-1) // the field counts from zero
}

// ReplaceBox, ReplaceDim and ReplaceElementStride change the box size, size in elements
// or element stride of dimension dim, 0 for the innermost.
func (m TensorMap) ReplaceBox(dim int, n Num) {
	m.replace("TensorMap.ReplaceBox", "box_dim", B32, &dim, n)
}
func (m TensorMap) ReplaceDim(dim int, n Num) {
	m.replace("TensorMap.ReplaceDim", "global_dim", B32, &dim, n)
}
func (m TensorMap) ReplaceElementStride(dim int, n Num) {
	m.replace("TensorMap.ReplaceElementStride", "element_stride", B32, &dim, n)
}

// ReplaceStride changes a stride in bytes: stride dim belongs to dimension dim+1, since
// the innermost has none. It is a number or a register of 64 bits, and a multiple of 16.
func (m TensorMap) ReplaceStride(dim int, bytes Num) {
	const what = "TensorMap.ReplaceStride"
	if n, ok := toInt(bytes); ok && (n <= 0 || n%16 != 0) {
		m.kernel().fail("%s: a stride of %d bytes; it is a multiple of 16", what, n)
		return
	}
	m.replace(what, "global_stride", B64, &dim, bytes)
}

// elementTypes are the encodings of element types in tensormap.replace (ISA table 33),
// which differ from the driver's.
var elementTypes = map[Type]int{U8: 0, U16: 1, U32: 2, S32: 3, U64: 4, S64: 5, F16: 6, F32: 7, F64: 9, BF16: 10, TF32: 11}

// ReplaceElem changes the element type: U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16
// or TF32.
func (m TensorMap) ReplaceElem(t Type) {
	n, ok := elementTypes[t]
	if !ok {
		m.kernel().fail("TensorMap.ReplaceElem: a map has no elements of type %s", t)
		return
	}
	m.replace("TensorMap.ReplaceElem", "elemtype", B32, nil, n)
}

// ReplaceSwizzle changes the swizzle: 0, 32, 64 or 128 bytes.
func (m TensorMap) ReplaceSwizzle(bytes int) {
	m.choice("ReplaceSwizzle", "swizzle_mode", bytes, 0, 32, 64, 128)
}

// ReplaceInterleave changes the interleaving: 0, 16 or 32 bytes.
func (m TensorMap) ReplaceInterleave(bytes int) {
	m.choice("ReplaceInterleave", "interleave_layout", bytes, 0, 16, 32)
}

// ReplaceFill sets the value that loads write where the box is outside of the tensor:
// NaN, or zeros.
func (m TensorMap) ReplaceFill(nan bool) {
	n := 0
	if nan {
		n = 1
	}
	m.replace("TensorMap.ReplaceFill", "fill_mode", B32, nil, n)
}

func (m TensorMap) choice(what, field string, bytes int, of ...int) {
	for i, n := range of {
		if n == bytes {
			m.replace("TensorMap."+what, field, B32, nil, i)
			return
		}
	}
	m.kernel().fail("TensorMap.%s(%d): it is one of %v bytes", what, bytes, of)
}

func (m TensorMap) replace(what, field string, t Type, dim *int, v Num) {
	k := m.kernel()
	if !m.param.IsZero() {
		k.fail("%s: the map is a parameter, which is constant; copy it to memory and use TensorMapAt", what)
		return
	}
	operands := []any{m.at}
	if dim != nil {
		if *dim < 0 || *dim > 4 || field == "global_stride" && *dim > 3 {
			k.fail("%s: dimension %d; the innermost is 0, and a tensor has five at most", what, *dim)
			return
		}
		operands = append(operands, *dim)
	}
	k.Inst(fmt.Sprintf("tensormap.replace.tile.%s%s.b1024.%s", field, m.at.spaceMod(), t), append(operands, v)...)
}

// CopyFence copies a map that this CTA changed in shared memory to global memory and
// releases it to threads of the scope, which acquire it with FenceTensormapAcquire. All
// threads of a warp execute it together. It emits tensormap.cp_fenceproxy (ISA
// 9.7.13.16), PTX 8.3.
func (m TensorMap) CopyFence(to TensorMap, scope Mod) {
	const what = "TensorMap.CopyFence"
	k := m.kernel()
	if !k.space(what, "the map", m.at, SharedCTA) || !k.space(what, "the destination", to.at, Global) {
		return
	}
	op := "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release"
	if !scoped(scope) {
		k.fail("%s: %q is no scope; it is CTA, Cluster, GPU or Sys", what, string(scope))
		return
	}
	k.Inst(op+"."+string(scope)+".sync.aligned", to.at, m.at, tensorMapBytes)
}

// Copy copies this map's current bytes to another place in memory, to be changed there by
// Replace: eight loads and stores of 16 bytes by the executing thread.
func (m TensorMap) Copy(to Ptr) TensorMap {
	const what = "TensorMap.Copy"
	k := m.kernel()
	if !k.space(what, "the destination", to, SharedCTA, Generic, Global) || !k.aligned(what, "the destination", to, tensorMapBytes) {
		return k.TensorMapAt(to)
	}
	from := m.at
	if !m.param.IsZero() {
		from = m.param
	}
	for i := 0; i < tensorMapBytes; i += 16 {
		to.Bytes(i).Cast(U32).StoreVec(from.Bytes(i).Cast(U32).LoadVec(4))
	}
	return k.TensorMapAt(to)
}
