package kernel

import (
	"fmt"

	"muster/ptx"
)

// A Ptr is an address in a state space, of elements of one type. An array's Ptr also has
// its dimensions. It is a value: At and Bytes return new ones.
type Ptr struct {
	k     *Kernel
	space Space
	elem  Type
	reg   Reg       // the base, unless it is a variable
	sym   *variable // the base, or nil
	off   int64     // bytes
	dims  []int
	bytes bool // Bytes computed the address
}

// A variable is a variable in memory: in shared memory, or of the module.
type variable struct {
	name  string
	space Space
	elem  Type
	dims  []int
	align int
	size  int64
	at    Place
	// off is its offset, if shared memory is dynamic.
	off int64
}

// Space gives the state space of the address.
func (p Ptr) Space() Space { return p.space }

// Elem gives the type of the elements.
func (p Ptr) Elem() Type { return p.elem }

// Dims returns the dimensions not yet indexed; none for an address that is not an
// array's.
func (p Ptr) Dims() []int { return p.dims }

// Size returns the bytes of the array, or of one element.
func (p Ptr) Size() int {
	n := p.elem.Size()
	for _, d := range p.dims {
		n *= d
	}
	return n
}

// element reports an operation on one element at the address of several, since it would
// silently use the first. Bytes selects an element, like At.
func (p Ptr) element(what string) {
	if p.Size() > p.elem.Size() && !p.bytes {
		p.kernel().fail("%s at %s: say which element with At", what, p.describe())
	}
}

// IsZero reports whether p is the zero Ptr.
func (p Ptr) IsZero() bool { return p.k == nil }

func (p Ptr) kernel() *Kernel {
	if p.k == nil {
		panic("kernel: the zero Ptr is no address: it comes from Param, Shared, Global or another Ptr")
	}
	return p.k
}

// Pointer makes an address from a register that holds one: 64 bits, or 32 in shared
// memory.
func (k *Kernel) Pointer(space Space, elem Type, address Reg) Ptr {
	if address.kernel() != k {
		k.fail("a register of kernel %s is used in kernel %s", address.k.name, k.name)
		return Ptr{k: k, space: space, elem: elem, reg: k.lost(space.address())}
	}
	if t := space.address(); address.kernel() == k && !(address.t.Size() == t.Size() && address.t.integer()) && !(t == U32 && address.t.Size() == 8) {
		k.fail("Pointer: an address in %s has %d bits, and the register has type %s", space, 8*t.Size(), address.t)
	}
	return Ptr{k: k, space: space, elem: elem, reg: address}
}

// Shared allocates an array in shared memory. If a kernel's total shared memory exceeds
// 48 KiB, Build makes it dynamic, and the launch must request SharedBytes.
func (k *Kernel) Shared(name string, elem Type, dims ...int) Ptr {
	return k.SharedAlign(name, 0, elem, dims...)
}

// SharedAlign is Shared with an alignment in bytes, a power of two up to 1,024; 0 for the
// default: that of the elements, but 16 for an array of at least 16 bytes.
func (k *Kernel) SharedAlign(name string, align int, elem Type, dims ...int) Ptr {
	return k.shared(name, k.claim(name, "shared variable"), align, elem, dims)
}

// shared is SharedAlign for a variable whose name is already claimed.
func (k *Kernel) shared(name, claimed string, align int, elem Type, dims []int) Ptr {
	v := &variable{name: claimed, space: SharedCTA, elem: elem, dims: dims, at: k.here(), size: int64(elem.Size())}
	if elem.Size() == 0 {
		k.fail("Shared(%q): %q is no type of memory", name, string(elem))
	}
	for _, d := range dims {
		if d < 1 || d > 1<<20 || v.size > 1<<20 {
			k.fail("Shared(%q): dimensions %v; each is at least 1, and a CTA has 227 KiB", name, dims)
			v.size, v.dims = int64(max(1, elem.Size())), nil
			break
		}
		v.size *= int64(d)
	}
	v.align = align
	if align == 0 {
		v.align = max(1, elem.Size())
		if v.size >= 16 {
			v.align = max(16, v.align)
		}
	}
	if v.align&(v.align-1) != 0 || v.align > 1024 || v.align < max(1, elem.Size()) {
		k.fail("Shared(%q): an alignment of %d; it is a power of two from %d to 1,024", name, align, max(1, elem.Size()))
		v.align = 16
	}
	k.vars = append(k.vars, v)
	return Ptr{k: k, space: SharedCTA, elem: elem, sym: v, dims: v.dims}
}

// At returns the address of an element, or of a subarray if there are fewer indices than
// dimensions. An address that is not an array's takes one index. An index is a Go integer
// or a register of 32 bits, or 64 for global memory. Go integers are bounds-checked here,
// registers never.
func (p Ptr) At(index ...Num) Ptr {
	k := p.kernel()
	dims := p.dims
	if dims == nil && len(index) == 1 {
		return p.Bytes(k.scale(index[0], int64(max(1, p.elem.Size())), p.space))
	}
	if len(index) > len(dims) {
		k.fail("At: %d indices for %s", len(index), p.describe())
		return p
	}
	q := p
	for i, x := range index {
		step := int64(max(1, p.elem.Size()))
		for _, d := range dims[i+1:] {
			step *= int64(d)
		}
		if n, ok := toInt(x); ok && (n < 0 || n >= int64(dims[i])) {
			k.fail("At: index %d of dimension %d, which has %d elements", n, i, dims[i])
			return q
		}
		q = q.Bytes(k.scale(x, step, p.space))
	}
	q.dims, q.bytes = dims[len(index):], p.bytes
	if len(q.dims) == 0 {
		q.dims = nil
	}
	return q
}

func (p Ptr) describe() string {
	if p.sym != nil {
		return fmt.Sprintf("%s, which has %d dimensions left", p.sym.name, len(p.dims))
	}
	return fmt.Sprintf("an address with %d dimensions", len(p.dims))
}

// scale multiplies an index, in the width of addresses in the space.
func (k *Kernel) scale(x Num, by int64, space Space) Num {
	if n, ok := toInt(x); ok {
		return n * by
	}
	r, ok := x.(Reg)
	if !ok || r.k == nil || !r.t.integer() {
		k.fail("an index is %s; it must be an integer or an integer register", describe(x))
		return 0
	}
	switch {
	case by == 1:
		return r
	case r.t.Size() == 4 && space.address() == U64 && by < 1<<31:
		return r.MulWide(by)
	case by&(by-1) == 0:
		n := 0
		for by>>n > 1 {
			n++
		}
		return r.Shl(n)
	}
	return r.Mul(by)
}

func describe(x any) string {
	switch x := x.(type) {
	case Reg:
		if x.k == nil {
			return "the zero Reg"
		}
		return "a register of type " + string(x.t)
	case Pred:
		return "a predicate"
	case Ptr:
		return "an address"
	case nil:
		return "nil"
	}
	return fmt.Sprintf("a %T", x)
}

// Bytes returns the address n bytes further.
func (p Ptr) Bytes(n Num) Ptr {
	k := p.kernel()
	p.bytes = true
	if i, ok := toInt(n); ok {
		p.off += i
		return p
	}
	r, ok := n.(Reg)
	if !ok || r.k == nil || !r.t.integer() {
		k.fail("an offset is %s; it must be an integer or an integer register", describe(n))
		return p
	}
	t := p.space.address()
	switch {
	case r.t.Size() < t.Size():
		if r.t.kind() == 's' {
			r = r.Cvt(S64).As(U64)
		} else {
			r = r.Cvt(t)
		}
	case r.t.Size() > t.Size():
		r = r.Cvt(t)
	}
	off := p.off
	p.off = 0
	q := Ptr{k: k, space: p.space, elem: p.elem, dims: p.dims, off: off}
	q.reg = p.Address().As(t).Add(r.As(t))
	return q
}

// Cast returns the same address, for elements of another type.
func (p Ptr) Cast(elem Type) Ptr {
	p.elem, p.dims = elem, nil
	return p
}

// Address returns the address in a register: of 32 bits in shared memory, else of 64.
func (p Ptr) Address() Reg {
	k := p.kernel()
	t := p.space.address()
	if p.sym == nil {
		if p.off == 0 {
			return p.reg
		}
		return p.reg.Add(p.off)
	}
	d := k.reg(t)
	k.Inst("mov."+string(t), d, ptx.Operand(ptx.Name(p.sym.name)))
	if p.off != 0 {
		return d.Add(p.off)
	}
	return d
}

// Generic returns the same location as a generic address (cvta).
func (p Ptr) Generic() Ptr {
	k := p.kernel()
	if p.space == Generic {
		return p
	}
	a := p.Address()
	if a.t.Size() == 4 {
		a = a.Cvt(U64)
	}
	d := k.reg(U64)
	space := string(p.space)
	if p.space == SharedCTA {
		space = "shared"
	}
	k.Inst("cvta."+space+".u64", d, a)
	return Ptr{k: k, space: Generic, elem: p.elem, reg: d, dims: p.dims}
}

// To converts a generic address to one in a state space that must contain it (cvta.to).
func (p Ptr) To(space Space) Ptr {
	k := p.kernel()
	if p.space != Generic {
		k.fail("To(%s): the address is in %s already, and not generic", space, p.space)
		return p
	}
	d := k.reg(U64)
	name := string(space)
	if space == SharedCTA {
		name = "shared"
	}
	k.Inst("cvta.to."+name+".u64", d, p.Address())
	if space.address() == U32 {
		d = d.Cvt(U32)
	}
	return Ptr{k: k, space: space, elem: p.elem, reg: d, dims: p.dims}
}

// Remote returns the same location in the shared memory of another CTA of the cluster, by
// its rank there (mapa).
func (p Ptr) Remote(rank Num) Ptr {
	k := p.kernel()
	if p.space != SharedCTA {
		k.fail("Remote: an address in %s; only one in this CTA's shared memory has a place in another's", p.space)
		return p
	}
	if k.cluster == [3]int{} {
		k.fail("Remote: the kernel has no clusters; give New the option Clusters")
	}
	d := k.reg(U32)
	k.Inst("mapa.shared::cluster.u32", d, p.Address(), rank)
	return Ptr{k: k, space: SharedCluster, elem: p.elem, reg: d, dims: p.dims}
}

// mem returns the address as an operand in brackets.
func (p Ptr) mem(k *Kernel) (ptx.Operand, bool) {
	if p.k == nil {
		k.fail("an operand is the zero Ptr, which is no address")
		return nil, false
	}
	if p.k != k {
		k.fail("an address of kernel %s is used in kernel %s", p.k.name, k.name)
		return nil, false
	}
	m := &ptx.Mem{Off: p.off}
	if p.sym != nil {
		m.Base = ptx.Name(p.sym.name)
		return m, true
	}
	x, ok := k.operandOf(p.reg)
	m.Base = x
	return m, ok
}

// A mem is an address with further operands in its brackets.
type mem struct {
	at   Ptr
	rest []any
}

// Mem is an operand of Inst with further operands after an address in brackets: the
// coordinates of a tensor copy, as a Vec.
func Mem(at Ptr, rest ...any) any { return mem{at, rest} }

func (m mem) mem(k *Kernel) (ptx.Operand, bool) {
	x, ok := m.at.mem(k)
	if !ok {
		return nil, false
	}
	for _, r := range m.rest {
		if c, isCoords := r.(Coords); isCoords {
			v := &ptx.Vector{}
			for _, e := range c {
				y, ok := k.operandOf(e)
				if !ok {
					return nil, false
				}
				v.Elems = append(v.Elems, y)
			}
			x.(*ptx.Mem).Rest = append(x.(*ptx.Mem).Rest, v)
			continue
		}
		y, ok := k.operandOf(r)
		if !ok {
			return nil, false
		}
		x.(*ptx.Mem).Rest = append(x.(*ptx.Mem).Rest, y)
	}
	return x, true
}

// Coords are the coordinates of a tensor copy, innermost first, in elements.
type Coords []Num

// spaceMod returns the modifier for the address's space, with its dot; "" for generic
// addressing.
func (p Ptr) spaceMod() string {
	if p.space == Generic {
		return ""
	}
	return "." + string(p.space)
}

// Load reads an element (ld). Modifiers are those of ld except space and type; without
// .relaxed, .acquire or .volatile the access is weak. The address is that of one element:
// for an array, or a row of one, select it with At.
func (p Ptr) Load(mods ...Mod) Reg {
	k := p.kernel()
	p.element("Load")
	d := k.reg(p.elem)
	k.Inst("ld"+join(mods)+p.spaceMod()+"."+p.memType(), d, p)
	return d
}

// LoadVec reads 2, 4 or 8 elements, of 16 bytes together at most, from an address that is
// a multiple of their total size.
func (p Ptr) LoadVec(n int, mods ...Mod) Vec {
	k := p.kernel()
	if n != 2 && n != 4 && n != 8 {
		k.fail("LoadVec of %d elements; it reads 2, 4 or 8", n)
		return k.lostVec(p.elem, n)
	}
	d := make(Vec, n)
	for i := range d {
		d[i] = k.reg(p.elem)
	}
	k.Inst(fmt.Sprintf("ld%s%s.v%d.%s", join(mods), p.spaceMod(), n, p.memType()), d, p)
	return d
}

// Store writes an element (st).
func (p Ptr) Store(v Num, mods ...Mod) {
	k := p.kernel()
	p.element("Store")
	if r, ok := v.(Reg); ok && r.k != nil && !r.t.fits(p.elem, r.t.Size() >= p.elem.Size() && p.elem.Size() < 4) {
		k.fail("%s", mismatch("Store: the value", r.t, p.elem))
		return
	}
	k.Inst("st"+join(mods)+p.spaceMod()+"."+p.memType(), p, k.half(v, p.elem))
}

// StoreVec writes 2, 4 or 8 elements, of 16 bytes together at most.
func (p Ptr) StoreVec(v Vec, mods ...Mod) {
	k := p.kernel()
	if n := len(v); n != 2 && n != 4 && n != 8 {
		k.fail("StoreVec of %d elements; it writes 2, 4 or 8", n)
		return
	}
	for _, r := range v {
		if r.k != nil && !r.t.fits(p.elem, p.elem.Size() < 4) {
			k.fail("%s", mismatch("StoreVec: a value", r.t, p.elem))
			return
		}
	}
	k.Inst(fmt.Sprintf("st%s%s.v%d.%s", join(mods), p.spaceMod(), len(v), p.memType()), p, v)
}

// half puts a number into a register if its type has no immediates.
func (k *Kernel) half(v Num, t Type) Num {
	if t.half() && isNumber(v) {
		return k.Const(t, v)
	}
	return v
}

// memType returns the type for loads and stores of an element: floating point narrower
// than 32 bits moves as bits.
func (p Ptr) memType() string {
	switch p.elem {
	case F16, BF16:
		return "b16"
	case F16x2, BF16x2, TF32:
		return "b32"
	case E4M3, E5M2:
		return "b8"
	}
	return string(p.elem)
}

func join(mods []Mod) string {
	s := ""
	for _, m := range mods {
		s += "." + string(m)
	}
	return s
}
