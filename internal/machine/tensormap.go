package machine

import (
	"math/bits"

	"muster/internal/tma"
	"muster/ptx"
)

// Tensor maps that the device changes: tensormap.replace and tensormap.cp_fenceproxy.

var tensormapDecoders = map[string]decodeFn{"tensormap": decodeTensormap}

func decodeTensormap(d *decoder, in *ptx.Inst) error {
	switch {
	case d.reads(in, 0, "cp_fenceproxy"):
		return d.cpFenceproxy(in)
	case !d.reads(in, 0, "replace"):
		return errNotModelled
	}
	return d.replaceMap(in)
}

type mapFieldInfo struct {
	arch  tma.Arch
	at    access
	field tma.Field
	ord   int
}

// replaceMap decodes tensormap.replace: a weak access to the whole map, by
// ordinary loads and stores of the lane.
func (d *decoder) replaceMap(in *ptx.Inst) error {
	ri := &mapFieldInfo{arch: d.arch(), at: access{space: d.stateSpace(), size: tma.Size}, ord: -1}
	found := false
	for _, m := range in.Mods {
		if f, ok := tma.ParseField(m); ok {
			ri.field, found = f, true
			d.read(m)
		}
	}
	ops := in.Operands
	if want := map[bool]int{false: 2, true: 3}[ri.field.Indexed()]; !found || len(ops) != want {
		return d.errorf("%s takes an address, an ordinal if its field has several, and a value", Name(in))
	}
	if err := d.mem(ops[0], &ri.at); err != nil {
		return err
	}
	if ri.field.Indexed() {
		n, ok := ops[1].(ptx.Int)
		if !ok || n.Bits > 1<<16 {
			return d.errorf("%s takes an immediate ordinal", Name(in))
		}
		ri.ord = int(n.Bits)
	}
	value := ops[len(ops)-1]
	known := uint64(0)
	if n, ok := value.(ptx.Int); ok {
		known = n.Bits
	} else if ri.field.Immediate() {
		return d.errorf("%s takes an immediate value", Name(in))
	}
	if err := ri.field.Check(ri.arch, ri.ord, known); err != nil {
		return d.errorf("%v", err)
	}
	t, name := b32, "b32"
	if ri.field.Wide() {
		t, name = b64, "b64"
	}
	if !d.has("b1024") || !d.has(name) {
		return errNotModelled
	}
	v, err := d.src(value, t)
	if err != nil {
		return err
	}
	d.emit(instr{class: visible, visit: visitReplaceMap, a: v, x: ri})
	return nil
}

func visitReplaceMap(x *ctx, in *instr, mask uint32) verdict {
	ri := in.x.(*mapFieldInfo)
	var addr [32]uint64
	x.addressesOf(&ri.at, &addr)
	for k := mask; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k) & 31
		at, ok := x.span(&ri.at, l, addr[l], tma.Size, tma.Size, Write)
		if !ok {
			return halted
		}
		v := uint64(x.a32(in.a)[l])
		if ri.field.Wide() {
			v = x.a64(in.a)[l]
		}
		var b [tma.Size]byte
		r, off := x.m.memory(at.Mem, at.Addr)
		x.spanEvent(l, at, Read)
		r.read(off, b[:])
		if err := tma.Replace(&b, ri.arch, ri.field, ri.ord, v); err != nil {
			panic("BUG: " + err.Error()) // replaceMap has checked it
		}
		x.spanEvent(l, at, Write)
		r, off = x.m.memory(at.Mem, at.Addr)
		r.put(off, b[:], x.m.owner)
	}
	return performed
}

type mapCopyInfo struct {
	dst, src access
	scope    Scope
}

// cpFenceproxy decodes tensormap.cp_fenceproxy: the warp copies a map from
// shared to global memory, and releases it to the tensor-map proxy.
func (d *decoder) cpFenceproxy(in *ptx.Inst) error {
	if len(in.Operands) != 3 {
		return d.errorf("%s takes two addresses and a size", Name(in))
	}
	if n, ok := in.Operands[2].(ptx.Int); !ok || n.Bits != tma.Size {
		return d.errorf("%s copies %d bytes", Name(in), tma.Size)
	}
	for _, m := range []string{"global", "shared::cta", "tensormap::generic", "release"} {
		if !d.has(m) {
			return errNotModelled
		}
	}
	ci := &mapCopyInfo{dst: access{space: spGlobal, size: tma.Size}, src: access{space: spShared, size: tma.Size}}
	for _, m := range in.Mods {
		if s, ok := scopes[m]; ok {
			ci.scope = s
			d.read(m)
		}
	}
	if err := d.mem(in.Operands[0], &ci.dst); err != nil {
		return err
	}
	if err := d.mem(in.Operands[1], &ci.src); err != nil {
		return err
	}
	d.emit(instr{class: visible, visit: visitMapCopy, ready: readyAligned, x: ci})
	return nil
}

// visitMapCopy performs tensormap.cp_fenceproxy for the warp. In shipped code (Triton,
// CUTLASS), one lane writes the map in shared memory and another uses the copy, with only
// the .sync of this instruction between them. So it orders the lanes here, though the ISA
// does not say so explicitly.
func visitMapCopy(x *ctx, in *instr, mask uint32) verdict {
	ci := in.x.(*mapCopyInfo)
	var dst, src [32]uint64
	x.addressesOf(&ci.dst, &dst)
	x.addressesOf(&ci.src, &src)
	l := lowest(mask)
	meet := Event{Kind: EvWarpSync, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: x.s.pc, Count: 1}
	x.m.emit(meet)
	from, ok := x.span(&ci.src, l, src[l], tma.Size, tma.Size, Read)
	if !ok {
		return halted
	}
	to, ok := x.span(&ci.dst, l, dst[l], tma.Size, tma.Size, Write)
	if !ok {
		return halted
	}
	b := make([]byte, tma.Size)
	r, off := x.m.memory(from.Mem, from.Addr)
	x.spanEvent(l, from, Read)
	r.read(off, b)
	x.spanEvent(l, to, Write)
	r, off = x.m.memory(to.Mem, to.Addr)
	r.put(off, b, x.m.owner)
	x.m.emit(meet)
	x.m.emit(Event{Kind: EvFence, CTA: x.w.cta, Warp: x.w.index, Mask: mask, PC: x.s.pc,
		Fence: FenceProxyTensorMapRelease, Sem: Release, Scope: ci.scope, Space: AllSpaces})
	return performed
}

// spanEvent shows one lane's weak access to a range whose size is a power of
// two.
func (x *ctx) spanEvent(lane int, s Span, acc Access) {
	m := x.m
	m.addr[lane] = s.Addr
	ev := Event{Access: acc, Mem: s.Mem, Size: int32(s.Len), Addr: &m.addr}
	ev.at(EvAccess, x, 1<<lane)
	if r, off := m.memory(s.Mem, s.Addr); acc&Read != 0 && r.initialized(off, s.Len) {
		ev.Init = 1 << lane
	}
	m.emit(ev)
}

// arch is the architecture that the module is for.
func (d *decoder) arch() tma.Arch {
	sm, _ := d.mod.Architecture()
	return tma.Arch(sm.Number)
}
