package machine

import (
	"fmt"
	"slices"

	"muster/ptx"
)

// Loads and stores. An access resolves the lanes' addresses to memories,
// checks bounds and alignment as the card does, shows itself to the observer,
// one event for each memory that lanes touch, and is then performed. The
// common case, a warp that accesses one row of consecutive elements, takes
// one copy.

var memoryDecoders = map[string]decodeFn{
	"ld":            decodeLd,
	"ldu":           decodeLd,
	"st":            decodeSt,
	"atom":          decodeAtom,
	"red":           decodeRed,
	"cvta":          decodeCvta,
	"isspacep":      decodeIsspacep,
	"mapa":          decodeMapa,
	"getctarank":    decodeGetctarank,
	"prefetch":      decodePrefetch,
	"prefetchu":     decodePrefetch,
	"applypriority": decodePrefetch,
	"discard":       decodePrefetch,
	"createpolicy":  decodeCreatepolicy,
	"alloca":        decodeAlloca,
	"stacksave":     decodeStacksave,
	"stackrestore":  decodeStackrestore,
}

// A space is a state space as an instruction names it.
type space uint8

const (
	spGeneric space = iota
	spGlobal
	spShared // shared::cta
	spCluster
	spLocal
	spParam // a kernel's parameters, or a function's by frame offset
	spConst
	spOwn // generic, where the instruction takes shared::cta only
)

// An access is a decoded memory access: its address, data registers and ordering.
type access struct {
	space space
	base  baseKind
	breg  reg
	off   int64
	frame bool // the address is an offset in the function's frame
	// from and to bound the variable that the address names, in the units of off: both 0
	// if it names none, or one without a size of its own.
	from, to int64
	elem     int32
	n        int32 // elements
	size     int32 // bytes a lane: elem*n
	regs     []reg
	wide     []bool // by element: the register is 64 bits wide
	skip     []bool // by element: a sink
	half     []bool // by element: the register is 16 bits wide
	t        typ
	sext     bool
	acc      Access
	sem      Sem
	scope    Scope
	proxy    Proxy
	poll     bool // a strong read: it can be part of a waiting loop
	// nc: ld.global.nc; red and atom: the operation.
	atom                         atomOp
	noftz                        bool // of f32: keeps subnormals, also in global memory
	semDefaulted, scopeDefaulted bool
}

type baseKind uint8

const (
	baseImm baseKind = iota
	base32
	base64
)

var scopes = map[string]Scope{"cta": ScopeCTA, "cluster": ScopeCluster, "gpu": ScopeGPU, "sys": ScopeSys}

// stateSpace reads the state space among an instruction's modifiers.
func (d *decoder) stateSpace() space {
	for _, m := range d.cur.Mods {
		if s, ok := spaceNames[m]; ok {
			d.read(m)
			return s
		}
	}
	return spGeneric
}

// ownSpace is stateSpace, but spOwn for a generic address of an instruction whose row
// allows only shared::cta: the address must lie there (ISA 9.7.13.15.9 and others).
func (d *decoder) ownSpace() space {
	sp := d.stateSpace()
	if sp != spGeneric || d.cur.Form == nil {
		return sp
	}
	for i := range d.cur.Form.Slots {
		if s := &d.cur.Form.Slots[i]; s.Name == "space" && !slices.ContainsFunc(s.Values, func(v string) bool { return v != "shared" && v != "shared::cta" }) {
			return spOwn
		}
	}
	return sp
}

var spaceNames = map[string]space{
	"global": spGlobal, "shared": spShared, "shared::cta": spShared, "shared::cluster": spCluster, "local": spLocal,
	"param": spParam, "param::entry": spParam, "param::func": spParam, "const": spConst,
}

// mem decodes a memory operand in the given space into a.
func (d *decoder) mem(op ptx.Operand, a *access) error {
	m, ok := op.(*ptx.Mem)
	if !ok {
		return d.errorf("operand must be an address in brackets")
	}
	a.off = m.Off
	switch b := m.Base.(type) {
	case nil:
	case ptx.Int:
		a.off += int64(b.Bits)
	case ptx.Name:
		y := d.symbol(b)
		if y == nil {
			return d.errorf("unknown name %s", b)
		}
		return d.memSymbol(b, y, a)
	default:
		y, off, ok := d.symbolPlus(b)
		if !ok {
			return d.errorf("address is no constant expression")
		}
		a.off += off
		return d.memSymbol(ptx.Name(y.fn), y, a)
	}
	return nil
}

func (d *decoder) memSymbol(n ptx.Name, y *symbol, a *access) error {
	if a.space == spOwn && y.kind != symReg {
		a.space = spGeneric // the variable says which
	}
	switch y.kind {
	case symReg:
		if y.vec > 0 {
			return d.whole(n)
		}
		switch {
		case y.typ.wide():
			a.base = base64
		case y.typ.size() == 4:
			a.base = base32
		default:
			return d.errorf("%s cannot hold an address", n)
		}
		a.breg = y.reg
		return nil
	case symLocal, symFormal:
		a.frame = true
		a.off += int64(y.addr)
		a.bound(y)
		if a.space == spGeneric || a.space == spParam {
			a.space = spLocal
		}
		return nil
	case symShared, symDynamic:
		if a.space == spCluster {
			// The variable of the CTA itself, whose rank is in the address.
			r, err := d.address(y, 0, u32)
			if err != nil {
				return err
			}
			a.base, a.breg = base32, r
			return nil
		}
		if a.space == spGeneric {
			a.space = spShared
		}
	case symParam:
		if a.space == spGeneric || a.space == spParam {
			if a.acc&Write != 0 {
				return d.errorf("%s is a parameter of the kernel, which is read-only (ISA 5.1.6)", n)
			}
			a.space = spParam
			a.off += int64(y.addr - paramWindow)
			return nil
		}
		return d.errorf("%s is a kernel parameter; this instruction accesses another state space", n)
	case symGlobal:
		if a.space == spGeneric {
			a.space = spGlobal
		}
	default:
		return d.errorf("%s has no address", n)
	}
	a.off += int64(y.addr)
	a.bound(y)
	return nil
}

// bound notes the variable that the address names. A single byte of shared memory is how LLVM
// prints an array without a size, as Mosaic has for dynamic shared memory: it bounds nothing.
func (a *access) bound(y *symbol) {
	if y.kind == symShared && y.size == 1 {
		return
	}
	if y.kind != symDynamic && y.size > 0 {
		a.from, a.to = int64(y.addr), int64(y.addr+y.size)
	}
}

// outside reports whether an address names a variable and leaves it: the ISA does not
// define what lies beside a variable (5.4), so no other variable is reached there.
func (a *access) outside() bool {
	return a.to > a.from && (a.off < a.from || a.off+int64(a.size) > a.to)
}

// visitOutside ends the run at an access that leaves the variable that its address names.
func visitOutside(x *ctx, in *instr, mask uint32) verdict {
	a, l := in.x.(*access), lowest(mask)
	addr := &x.m.addr
	x.addressesOf(a, addr)
	if a.frame {
		return x.m.halt(Stop{Kind: FaultBounds, CTA: x.w.cta, Warp: x.w.index, Lane: int8(l), Mask: x.s.mask, PC: x.s.pc,
			Mem: Local, Addr: addr[l], Size: uint64(a.size), Acc: a.acc, Msg: a.space.String()})
	}
	return x.fault(FaultBounds, a, l, addr[l])
}

// ordering reads .weak .relaxed .acquire .release .volatile .mmio and the scope.
func (a *access) ordering(d *decoder) {
	for _, m := range d.cur.Mods {
		known := true
		switch m {
		case "volatile":
			a.sem, a.scope = Volatile, ScopeSys
		case "mmio":
			if a.sem == Weak { // else it is said, in either order
				a.sem = MMIO
			}
		case "relaxed":
			a.sem = Relaxed
		case "acquire":
			a.sem = Acquire
		case "release":
			a.sem = Release
		case "acq_rel":
			a.sem = AcqRel
		case "nc":
			a.proxy = Constant
		default:
			known = false
		}
		if s, ok := scopes[m]; ok {
			a.scope, known = s, true
		}
		if known {
			d.read(m)
		}
	}
	if a.sem == MMIO {
		a.sem = Relaxed
	}
}

func decodeLd(d *decoder, in *ptx.Inst) error {
	a := &access{space: d.stateSpace(), acc: Read, t: d.lastType()}
	a.ordering(d)
	if err := d.transfer(in, a, 0, 1); err != nil {
		return err
	}
	if a.space == spConst {
		a.proxy = Constant
	}
	a.sext = a.t.signed()
	return d.emitAccess(a)
}

func decodeSt(d *decoder, in *ptx.Inst) error {
	if d.has("async") {
		return decodeStAsync(d, in)
	}
	if d.has("bulk") {
		return decodeStBulk(d, in)
	}
	a := &access{space: d.stateSpace(), acc: Write, t: d.lastType()}
	a.ordering(d)
	if err := d.transfer(in, a, 1, 0); err != nil {
		return err
	}
	return d.emitAccess(a)
}

// transfer decodes the data and address operands of a load or a store.
func (d *decoder) transfer(in *ptx.Inst, a *access, data, addr int) error {
	if a.t == tNone || a.t == pred {
		return d.errorf("%s has no type", Name(in))
	}
	if len(in.Operands) < 2 {
		return d.errorf("%s takes a register and an address", in.Op)
	}
	if err := d.mem(in.Operands[addr], a); err != nil {
		return err
	}
	list := d.elems(in.Operands[data])
	a.elem, a.n = a.t.size(), int32(len(list))
	a.size = a.elem * a.n
	if want := d.vecCount(); want != int(a.n) {
		return d.errorf("%s takes %d elements, not %d", Name(in), want, a.n)
	}
	if a.size == wideAccess && a.space != spGlobal && a.space != spGeneric {
		return malformed{d.errorf("%s: an access of 256 bits takes .global, or a generic address that points there (ISA %s)", Name(in), wideSection(a))}
	}
	for _, op := range list {
		if err := d.datum(op, a); err != nil {
			return err
		}
	}
	return nil
}

// wideSection is the section of the ISA that restricts .v8, and .v4 of 64 bits.
func wideSection(a *access) string {
	if a.acc&Write != 0 {
		return "9.7.9.11"
	}
	return "9.7.9.8"
}

func (d *decoder) vecCount() int {
	for n, m := range map[int]string{2: "v2", 4: "v4", 8: "v8"} {
		if d.has(m) {
			return n
		}
	}
	return 1
}

// datum adds one data register; it may be wider than the element.
func (d *decoder) datum(op ptx.Operand, a *access) error {
	if _, ok := op.(ptx.Sink); ok {
		a.regs, a.wide, a.skip = append(a.regs, 0), append(a.wide, false), append(a.skip, true)
		a.half = append(a.half, false)
		return nil
	}
	n, isName := op.(ptx.Name)
	y := (*symbol)(nil)
	if isName {
		y = d.symbol(n)
	}
	if y == nil || y.kind != symReg {
		if a.acc&Write == 0 {
			return d.errorf("destination must be a register")
		}
		r, err := d.src(op, a.t)
		if err != nil {
			return err
		}
		a.regs, a.wide, a.skip = append(a.regs, r), append(a.wide, a.t.wide()), append(a.skip, false)
		a.half = append(a.half, false)
		return nil
	}
	if y.typ == pred || y.typ.size() < a.t.size() {
		return d.errorf("register %s is narrower than .%s data", n, typeName(a.t))
	}
	if (y.typ == b128) != (a.t == b128) {
		return d.errorf("register %s does not fit .%s data", n, typeName(a.t))
	}
	a.regs, a.wide, a.skip = append(a.regs, y.reg), append(a.wide, y.typ.wide() || y.typ == b128), append(a.skip, false)
	a.half = append(a.half, y.typ.size() == 2)
	return nil
}

func typeName(t typ) string {
	for n, v := range typNames {
		if v == t {
			return n
		}
	}
	return "?"
}

func (d *decoder) emitAccess(a *access) error {
	in := instr{x: a}
	a.poll = a.acc&Read != 0 && a.sem != Weak && a.space != spLocal && a.space != spParam && a.space != spConst
	switch {
	case a.outside():
		in.class, in.visit = visible, visitOutside
	case a.space == spParam && a.base == baseImm && !a.frame:
		in.exec = execLdParam
	case a.space == spLocal:
		in.exec = execLocal
	case a.space == spConst || a.space == spParam:
		in.exec = execConst
	default:
		in.class, in.visit = visible, visitAccess
	}
	d.emit(in)
	return nil
}

// OwnShared is Stop.Msg for a generic address that must lie in the shared memory of the
// own CTA.
const OwnShared = "generic, of shared::cta alone"

// GlobalOnly is Stop.Msg for a generic address that must point to global memory and does not.
const GlobalOnly = "generic, of global alone"

func (s space) String() string {
	return [...]string{"generic", "global", "shared::cta", "shared::cluster", "local", "param", "const", OwnShared}[s]
}

func sprint(format string, args ...any) string { return fmt.Sprintf(format, args...) }
