package kernel

import (
	"fmt"

	"muster/ptx"
)

// A TensorMap describes a tensor in global memory and the box that one copy moves: 128
// opaque bytes that the host encodes (MapOf), as a parameter of the kernel or in memory
// (ISA 5.5, 9.7.9.25.5). Its methods are the tensor copies of the asynchronous proxy,
// issued by one thread.
//
// Coordinates are in elements, one for each of the map's one to five dimensions,
// innermost first: the reverse of MapOf's shape. They are s32 and may be outside of the
// tensor: loads fill with zeros or NaN there, stores skip it. The innermost one is a
// multiple of 16 bytes.
//
// The address in shared memory is a multiple of 128 bytes. With a swizzle it should be a
// multiple of the pattern's period, 256, 512 or 1,024 bytes for 32, 64 or 128 bytes of
// swizzle, so that the pattern begins with the box.
//
// A load completes at an mbarrier, with the bytes of the whole box, including those
// outside of the tensor. Stores and reductions complete in the thread's bulk async-group,
// like BulkStore.
type TensorMap struct {
	k     *Kernel
	at    Ptr
	param Ptr // for a parameter, its address in param space
}

// tensorMapBytes is the size of a map.
const tensorMapBytes = 128

// TensorMap adds a parameter that is a tensor map: 128 bytes, aligned to 64. A call
// passes the result of MapOf. The parameter is constant: a kernel that changes a map uses
// one in memory, TensorMapAt.
func (k *Kernel) TensorMap(name string) TensorMap {
	v := &ptx.Var{Space: "param", Align: 64, Type: "b8", Name: k.claim(name, "parameter"), Dims: []int64{tensorMapBytes}}
	k.params = append(k.params, v)
	if k.at != k.entry {
		k.fail("parameter %q is added inside of a function's body", v.Name)
	}
	d := k.reg(U64)
	a := k.reg(U64)
	k.prologue(func() {
		k.Inst("mov.b64", a, ptx.Operand(ptx.Name(v.Name)))
		k.Inst("cvta.param.u64", d, a)
	})
	param := Ptr{k: k, space: Param, elem: B8, sym: &variable{name: v.Name, space: Param, align: v.Align, size: tensorMapBytes}}
	return TensorMap{k: k, param: param, at: Ptr{k: k, space: Generic, elem: B8, reg: d, dims: []int{tensorMapBytes}}}
}

// TensorMapAt declares a tensor map at an address in global memory, a multiple of 128
// (global or generic), or in this CTA's shared memory, where Replace can change it and
// CopyFence copies it to global memory.
func (k *Kernel) TensorMapAt(p Ptr) TensorMap {
	m := TensorMap{k: k, at: p}
	if p.kernel() != k {
		k.fail("TensorMapAt: an address of another kernel")
	}
	if k.space("TensorMapAt", "the map", p, SharedCTA, Generic, Global) {
		k.aligned("TensorMapAt", "the map", p, tensorMapBytes)
	}
	return m
}

// Ptr returns the map's address: generic for a parameter, else as given to TensorMapAt.
func (m TensorMap) Ptr() Ptr { return m.at }

func (m TensorMap) kernel() *Kernel {
	if m.k == nil {
		panic("kernel: the zero TensorMap is no map: it comes from TensorMap or TensorMapAt")
	}
	return m.k
}

// Load copies the box at the coordinates into shared memory, and completes its bytes at
// bar. Options: Multicast, CacheHint, PairBarrier. It emits
// cp.async.bulk.tensor.Nd.shared::cluster.global.tile (PTX 8.0, ISA 9.7.9.25.5.2).
func (m TensorMap) Load(dst Ptr, bar Mbarrier, at Coords, opts ...CopyOption) {
	if m.copies("TensorMap.Load", at, 1) {
		m.load("TensorMap.Load", "tile", dst, bar, at, nil, opts)
	}
}

// LoadIm2col copies a column of pixels in im2col order: at is the position of the first,
// of three to five dimensions (channels, then the spatial ones, then the batch), and
// offsets, of 16 bits, one for each spatial dimension, are the filter's position (ISA
// 5.5.5). The map must be in im2col mode. Options: Multicast, CacheHint. It emits
// cp.async.bulk.tensor.Nd.shared::cluster.global.im2col.
func (m TensorMap) LoadIm2col(dst Ptr, bar Mbarrier, at Coords, offsets []Num, opts ...CopyOption) {
	const what = "TensorMap.LoadIm2col"
	if m.copies(what, at, 3) && m.spatial(what, at, offsets) {
		m.load(what, "im2col", dst, bar, at, offsets, opts)
	}
}

func (m TensorMap) load(what, mode string, dst Ptr, bar Mbarrier, at Coords, offsets []Num, opts []CopyOption) {
	k := m.k
	c, ok := k.copying(what, takesHint|takesMulticast|takesPair, opts)
	if !ok || !k.space(what, "the destination", dst, SharedCTA, SharedCluster) || !k.aligned(what, "the destination", dst, 128) || !k.counts(what, dst, bar, c.pair) {
		return
	}
	op := fmt.Sprintf("cp.async.bulk.tensor.%dd.shared::cluster.global.%s%s", len(at), mode, completes)
	operands := []any{dst, Mem(m.address(), at), bar.Ptr()}
	if offsets != nil {
		operands = append(operands, k.halves(offsets))
	}
	if c.multicast != nil {
		op += ".multicast::cluster"
		operands = append(operands, c.multicast)
	}
	if c.pair {
		op += ".cta_group::2"
	}
	op, operands = c.hint(op, operands)
	k.Inst(op, operands...)
}

// Store copies shared memory into the box at the coordinates. Option: CacheHint.
// It emits cp.async.bulk.tensor.Nd.global.shared::cta.tile.bulk_group.
func (m TensorMap) Store(at Coords, src Ptr, opts ...CopyOption) {
	if m.copies("TensorMap.Store", at, 1) {
		m.store("TensorMap.Store", "cp.async.bulk.tensor", "tile", at, src, opts)
	}
}

// StoreIm2col copies shared memory into a column of pixels, for a map in im2col mode,
// without a filter's offsets. Option: CacheHint. It emits
// cp.async.bulk.tensor.Nd.global.shared::cta.im2col_no_offs.bulk_group.
func (m TensorMap) StoreIm2col(at Coords, src Ptr, opts ...CopyOption) {
	if m.copies("TensorMap.StoreIm2col", at, 3) {
		m.store("TensorMap.StoreIm2col", "cp.async.bulk.tensor", "im2col_no_offs", at, src, opts)
	}
}

// Reduce combines each element of the box with one of shared memory: Add, Min,
// Max, Inc, Dec, And, Or, Xor, in the map's element type, each element a relaxed
// read-modify-write at GPU scope. Option: CacheHint. It emits
// cp.reduce.async.bulk.tensor.Nd.global.shared::cta (ISA 9.7.9.25.5.3).
func (m TensorMap) Reduce(op Op, at Coords, src Ptr, opts ...CopyOption) {
	if m.reducing("TensorMap.Reduce", op, at, 1) {
		m.store("TensorMap.Reduce", "cp.reduce.async.bulk.tensor", string(op)+".tile", at, src, opts)
	}
}

// ReduceIm2col is Reduce into a column of pixels, for a map in im2col mode.
func (m TensorMap) ReduceIm2col(op Op, at Coords, src Ptr, opts ...CopyOption) {
	if m.reducing("TensorMap.ReduceIm2col", op, at, 3) {
		m.store("TensorMap.ReduceIm2col", "cp.reduce.async.bulk.tensor", string(op)+".im2col_no_offs", at, src, opts)
	}
}

func (m TensorMap) reducing(what string, op Op, at Coords, least int) bool {
	switch op {
	case Add, Min, Max, Inc, Dec, And, Or, Xor:
		return m.copies(what, at, least)
	}
	m.kernel().fail("%s: there is no operation %q; it takes add, min, max, inc, dec, and, or, xor", what, string(op))
	return false
}

func (m TensorMap) store(what, op, mode string, at Coords, src Ptr, opts []CopyOption) {
	k := m.k
	c, ok := k.copying(what, takesHint, opts)
	if !ok || !k.space(what, "the source", src, SharedCTA) || !k.aligned(what, "the source", src, 128) {
		return
	}
	op, operands := c.hint(fmt.Sprintf("%s.%dd.global.shared::cta.%s.bulk_group", op, len(at), mode), []any{Mem(m.address(), at), src})
	k.Inst(op, operands...)
}

// Prefetch hints that the box at the coordinates will be needed in L2 (ISA 9.7.9.25.5.4).
// Option: CacheHint. It emits cp.async.bulk.prefetch.tensor and has no completion.
func (m TensorMap) Prefetch(at Coords, opts ...CopyOption) {
	if m.copies("TensorMap.Prefetch", at, 1) {
		m.prefetch("TensorMap.Prefetch", "tile", at, nil, opts)
	}
}

// PrefetchIm2col is Prefetch for a load by LoadIm2col.
func (m TensorMap) PrefetchIm2col(at Coords, offsets []Num, opts ...CopyOption) {
	const what = "TensorMap.PrefetchIm2col"
	if m.copies(what, at, 3) && m.spatial(what, at, offsets) {
		m.prefetch(what, "im2col", at, offsets, opts)
	}
}

func (m TensorMap) prefetch(what, mode string, at Coords, offsets []Num, opts []CopyOption) {
	k := m.k
	c, ok := k.copying(what, takesHint, opts)
	if !ok {
		return
	}
	operands := []any{Mem(m.address(), at)}
	if offsets != nil {
		operands = append(operands, k.halves(offsets))
	}
	op, operands := c.hint(fmt.Sprintf("cp.async.bulk.prefetch.tensor.%dd.L2.global.%s", len(at), mode), operands)
	k.Inst(op, operands...)
}

// PrefetchMap hints that the map itself will be needed (prefetch.tensormap, ISA
// 9.7.9.15).
func (m TensorMap) PrefetchMap() {
	if m.inGlobal("TensorMap.PrefetchMap") {
		m.k.Inst("prefetch.tensormap", m.address())
	}
}

// address returns the map's address in the form for copies: generic.
func (m TensorMap) address() Ptr { return m.at.Generic() }

func (m TensorMap) inGlobal(what string) bool {
	k := m.kernel()
	if m.at.space == SharedCTA {
		k.fail("%s: the map is in shared memory, where it can only be changed; CopyFence takes it to global memory", what)
		return false
	}
	return true
}

// copies checks the map, and that a copy has least to five coordinates.
func (m TensorMap) copies(what string, at Coords, least int) bool {
	if !m.inGlobal(what) {
		return false
	}
	k := m.k
	switch {
	case len(at) < least || len(at) > 5:
		k.fail("%s: %d coordinates; it takes %d to 5, one for each dimension of the map, innermost first", what, len(at), least)
		return false
	}
	for i, x := range at {
		if r, ok := x.(Reg); ok && r.k != nil && (!r.t.integer() || r.t.Size() != 4) {
			k.fail("%s: coordinate %d has type %s; coordinates are s32", what, i, r.t)
			return false
		}
	}
	return true
}

func (m TensorMap) spatial(what string, at Coords, offsets []Num) bool {
	if len(offsets) == len(at)-2 {
		return true
	}
	m.k.fail("%s: %d offsets for %d coordinates; a map of %d dimensions has %d spatial ones, all but the first and the last", what, len(offsets), len(at), len(at), len(at)-2)
	return false
}

// halves returns im2col offsets as a vector of 16-bit values.
func (k *Kernel) halves(offsets []Num) ptx.Operand {
	v := &ptx.Vector{}
	for _, o := range offsets {
		if r, ok := o.(Reg); ok && r.k != nil && r.t.integer() && r.t.Size() == 4 {
			o = r.Cvt(U16)
		}
		x, ok := k.operandOf(o)
		if !ok {
			x = integer(0)
		}
		v.Elems = append(v.Elems, x)
	}
	return v
}
