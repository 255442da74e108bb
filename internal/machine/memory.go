package machine

import (
	"fmt"
	"math/bits"

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
	"alloca":        decodeUnknown,
}

func decodeUnknown(*decoder, *ptx.Inst) error { return errNotModelled }

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
)

// An access is what a memory instruction carries besides its rows.
type access struct {
	space space
	base  baseKind
	breg  reg
	off   int64
	frame bool // the address is an offset in the function's frame
	elem  int32
	n     int32 // elements
	size  int32 // bytes a lane: elem*n
	regs  []reg
	wide  []bool // by element: the register is 64 bits wide
	skip  []bool // by element: a sink
	half  []bool // by element: the register is 16 bits wide
	t     typ
	sext  bool
	acc   Access
	sem   Sem
	scope Scope
	proxy Proxy
	poll  bool // a strong read: it can be part of a waiting loop
	// nc: ld.global.nc; red and atom: the operation.
	atom                         atomOp
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
func stateSpace(in *ptx.Inst) space {
	for _, m := range in.Mods {
		switch m {
		case "global":
			return spGlobal
		case "shared", "shared::cta":
			return spShared
		case "shared::cluster":
			return spCluster
		case "local":
			return spLocal
		case "param", "param::entry", "param::func":
			return spParam
		case "const":
			return spConst
		}
	}
	return spGeneric
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
	switch y.kind {
	case symReg:
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
		if a.space == spGeneric || a.space == spParam {
			a.space = spLocal
		}
		return nil
	case symShared, symDynamic:
		if a.space == spGeneric {
			a.space = spShared
		}
	case symParam:
		if a.space == spGeneric || a.space == spParam {
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
	return nil
}

// ordering reads .weak .relaxed .acquire .release .volatile .mmio and the scope.
func (a *access) ordering(in *ptx.Inst) {
	for _, m := range in.Mods {
		switch m {
		case "volatile":
			a.sem, a.scope = Volatile, ScopeSys
		case "mmio":
			a.sem = MMIO
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
		}
		if s, ok := scopes[m]; ok {
			a.scope = s
		}
	}
	if a.sem == MMIO {
		a.sem = Relaxed
	}
}

func decodeLd(d *decoder, in *ptx.Inst) error {
	a := &access{space: stateSpace(in), acc: Read, t: lastType(in)}
	a.ordering(in)
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
	if has(in, "async") {
		return decodeStAsync(d, in)
	}
	if has(in, "bulk") {
		return errNotModelled
	}
	a := &access{space: stateSpace(in), acc: Write, t: lastType(in)}
	a.ordering(in)
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
	if want := vecCount(in); want != int(a.n) {
		return d.errorf("%s takes %d elements, not %d", Name(in), want, a.n)
	}
	for _, op := range list {
		if err := d.datum(op, a); err != nil {
			return err
		}
	}
	return nil
}

func vecCount(in *ptx.Inst) int {
	for _, m := range in.Mods {
		switch m {
		case "v2":
			return 2
		case "v4":
			return 4
		case "v8":
			return 8
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

// addressesOf computes the addresses that a names, for every lane, and
// reports whether they form a row: lane i at out[0] + i*size.
func (x *ctx) addressesOf(a *access, out *[32]uint64) bool {
	step := uint64(a.size)
	diff := uint64(0)
	switch a.base {
	case base32:
		row, off := x.a32(a.breg), uint32(a.off)
		want := uint64(row[0] + off)
		for i := range out {
			v := uint64(row[i] + off)
			out[i] = v
			diff |= v ^ want
			want += step
		}
	case base64:
		row, off := x.a64(a.breg), uint64(a.off)
		want := row[0] + off
		for i := range out {
			v := row[i] + off
			out[i] = v
			diff |= v ^ want
			want += step
		}
	default:
		v := uint64(a.off)
		if a.frame {
			v += uint64(x.s.lbase)
		}
		for i := range out {
			out[i] = v
		}
		return false
	}
	return diff == 0
}

// resolve maps an address in a space to a memory and an address there.
func (x *ctx) resolve(sp space, addr uint64) (MemID, uint64, bool) {
	m := x.m
	if sp == spGeneric {
		switch {
		case addr-sharedWindow < windowSize:
			sp, addr = spCluster, addr-sharedWindow
		case addr-localWindow < windowSize, addr-paramWindow < windowSize:
			return Local, addr, false
		default:
			sp = spGlobal
		}
	}
	switch sp {
	case spGlobal, spConst:
		return Global, addr, m.global.find(addr) != nil
	case spShared, spCluster:
		cta, ok := x.sharedCTA(sp, addr)
		if !ok {
			return Local, addr, false
		}
		off := addr & (1<<rankShift - 1)
		r := &m.ctas[cta].shared
		return SharedOf(cta), off, off-r.base < r.size
	}
	return Local, addr, false
}

// sharedCTA returns the CTA whose shared memory a shared address means: the
// top byte of a shared::cluster address is the CTA's rank.
func (x *ctx) sharedCTA(sp space, addr uint64) (int32, bool) {
	if addr>>32 != 0 {
		return 0, false
	}
	rank := int32(addr >> rankShift)
	if rank == x.c.rank || rank == 0 && sp == spShared {
		return x.c.index, true
	}
	if sp == spShared || rank >= x.m.csize {
		return 0, false
	}
	cta := x.m.clusterMember(x.c.first, rank)
	return cta, x.m.ctas[cta] != nil
}

// A where is the memory that some lanes of an access go to.
type where struct {
	mem  MemID
	r    *region
	mask uint32
}

// locate resolves the addresses of the lanes in mask, in place: on return
// m.addr holds addresses in the lanes' memories. It returns the memory of the
// first lane and the lanes that share it.
func (x *ctx) locate(sp space, mask uint32, size int32, addr *[32]uint64) (where, bool) {
	first := lowest(mask)
	mem, a0, ok := x.resolve(sp, addr[first])
	if !ok {
		return where{}, false
	}
	var r *region
	var delta uint64
	if mem == Global {
		r = x.m.global.find(a0)
	} else {
		r = &x.m.ctas[mem].shared
	}
	delta = addr[first] - a0
	// The lanes whose address falls in the same region, whole, share it.
	lo, n := r.base+delta, r.size-uint64(size)
	if r.size < uint64(size) {
		return where{}, false
	}
	same := uint32(0)
	if mask == ^uint32(0) {
		for i := range addr {
			if addr[i]-lo <= n {
				same |= 1 << i
			}
		}
	} else {
		for k := mask; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			if addr[i]-lo <= n {
				same |= 1 << i
			}
		}
	}
	if same>>first&1 == 0 {
		return where{}, false
	}
	if delta != 0 {
		for k := same; k != 0; k &= k - 1 {
			addr[bits.TrailingZeros32(k)&31] -= delta
		}
	}
	return where{mem: mem, r: r, mask: same}, true
}

// fault ends the run at the first lane of mask whose access is bad.
func (x *ctx) fault(kind StopKind, a *access, lane int, addr uint64) verdict {
	mem, at, _ := x.resolve(a.space, addr)
	return x.m.halt(Stop{Kind: kind, CTA: x.w.cta, Warp: x.w.index, Lane: int8(lane), Mask: x.s.mask, PC: x.s.pc,
		Mem: mem, Addr: at, Size: uint64(a.size), Acc: a.acc, Msg: a.space.String()})
}

func (s space) String() string {
	return [...]string{"generic", "global", "shared::cta", "shared::cluster", "local", "param", "const"}[s]
}

// misaligned returns a lane of mask whose address is no multiple of size,
// a power of two, or -1.
func misaligned(mask uint32, addr *[32]uint64, size int32) int {
	low := uint64(size) - 1
	if mask == ^uint32(0) {
		or := uint64(0)
		for i := range addr {
			or |= addr[i]
		}
		if or&low == 0 {
			return -1
		}
	}
	for k := mask; k != 0; k &= k - 1 {
		if i := bits.TrailingZeros32(k) & 31; addr[i]&low != 0 {
			return i
		}
	}
	return -1
}

// visitAccess performs a load or a store.
func visitAccess(x *ctx, in *instr, mask uint32) verdict {
	a := in.x.(*access)
	m := x.m
	addr := &m.addr
	x.quiet = a.acc&Write == 0
	if x.addressesOf(a, addr) && mask == ^uint32(0) && addr[0]&uint64(a.size-1) == 0 {
		if at, ok := x.locateRow(a, addr); ok {
			x.perform(a, at, true)
			return performed
		}
	}
	if l := misaligned(mask, addr, a.size); l >= 0 {
		return x.fault(FaultAlign, a, l, addr[l])
	}
	if a.space == spGeneric {
		mask = x.localLanes(in, a, mask)
	}
	for mask != 0 {
		at, ok := x.locate(a.space, mask, a.size, addr)
		if !ok && a.space == spGlobal && addr[lowest(mask)]-paramWindow < windowSize {
			// A kernel parameter by its global address.
			mask = x.localLanes(in, a, mask)
			continue
		}
		if !ok || a.acc&Write != 0 && at.r.fixed {
			l := lowest(mask)
			return x.fault(FaultBounds, a, l, addr[l])
		}
		x.perform(a, at, false)
		mask &^= at.mask
	}
	return performed
}

// perform shows an access that lies within one region and does it.
func (x *ctx) perform(a *access, at where, row bool) {
	if x.m.cfg.Observer != nil {
		x.accessEvent(a, at, row)
	}
	if a.acc&Write != 0 {
		x.store(a, at, row)
		return
	}
	x.load(a, at, row)
	if p := x.m.cfg.Poison; p != nil && p.PC == x.s.pc && at.mem != Global {
		x.poison(a, at, p.Value)
	}
	if a.poll {
		x.polled(a, at)
	}
}

// poison overwrites what the lanes loaded from uninitialized bytes.
func (x *ctx) poison(a *access, at where, v byte) {
	word := uint64(v) * 0x0101010101010101
	for l := range lanesOf(at.mask) {
		for e := int32(0); e < a.n; e++ {
			off := x.m.addr[l] - at.r.base + uint64(e*a.elem)
			if a.skip[e] || at.r.initialized(off, uint64(a.elem)) {
				continue
			}
			switch {
			case a.t == b128:
				x.w64(a.regs[e])[l], x.w64(a.regs[e] + 1)[l] = word, word
			case a.wide[e]:
				x.w64(a.regs[e])[l] = word >> (64 - 8*uint(a.elem))
			default:
				x.w32(a.regs[e])[l] = uint32(word >> (64 - 8*uint(a.elem)))
			}
		}
	}
}

// locateRow is locate for a full warp that accesses a row: its first and last
// lane tell for all.
func (x *ctx) locateRow(a *access, addr *[32]uint64) (where, bool) {
	mem, a0, ok := x.resolve(a.space, addr[0])
	if !ok {
		return where{}, false
	}
	var r *region
	if mem == Global {
		r = x.m.global.find(a0)
	} else {
		r = &x.m.ctas[mem].shared
	}
	if !r.within(a0-r.base, 32*uint64(a.size)) || a.acc&Write != 0 && r.fixed {
		return where{}, false
	}
	if delta := addr[0] - a0; delta != 0 {
		for i := range addr {
			addr[i] -= delta
		}
	}
	return where{mem: mem, r: r, mask: ^uint32(0)}, true
}

// accessEvent shows an access to the observer.
func (x *ctx) accessEvent(a *access, at where, row bool) {
	m := x.m
	ev := &m.ev
	ev.at(EvAccess, x, at.mask)
	ev.Access, ev.Sem, ev.Scope, ev.Proxy, ev.Row = a.acc, a.sem, a.scope, a.proxy, row
	ev.SemDefaulted, ev.ScopeDefaulted = a.semDefaulted, a.scopeDefaulted
	ev.Mem, ev.Size, ev.Addr, ev.Val, ev.Init = at.mem, a.size, &m.addr, nil, at.mask
	if a.acc&Write != 0 {
		if a.n == 1 && a.size <= 8 && a.acc&Read == 0 && a.atom == atomNone {
			x.storeValues(a, at.mask)
			ev.Val = &m.vals
		}
	}
	if a.acc&Read != 0 {
		ev.Init = x.initialized(a, at, row)
	}
	m.cfg.Observer.Observe(m, ev)
}

func (x *ctx) storeValues(a *access, mask uint32) {
	if a.skip[0] {
		return
	}
	v := &x.m.vals
	if a.wide[0] {
		*v = *x.a64(a.regs[0])
		if a.elem < 8 {
			for i := range v {
				v[i] &= 1<<(8*uint(a.elem)) - 1
			}
		}
		return
	}
	row := x.a32(a.regs[0])
	m := uint32(1)<<(8*uint(a.elem)&31) - 1
	if a.elem == 4 {
		m = ^uint32(0)
	}
	for i := range v {
		v[i] = uint64(row[i] & m)
	}
}

// initialized returns the lanes whose bytes have all been written.
func (x *ctx) initialized(a *access, at where, row bool) uint32 {
	addr := &x.m.addr
	if row && at.r.initialized(addr[0]-at.r.base, 32*uint64(a.size)) {
		return at.mask
	}
	ok := uint32(0)
	for k := at.mask; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		if at.r.initialized(addr[i]-at.r.base, uint64(a.size)) {
			ok |= 1 << i
		}
	}
	return ok
}

func (x *ctx) load(a *access, at where, row bool) {
	addr, r := &x.m.addr, at.r
	if row && a.n == 1 && a.elem == 4 && !a.wide[0] && !a.skip[0] {
		off := addr[0] - r.base
		if o := off % pageBytes / 4; o <= pageWords-32 {
			d := x.w32(a.regs[0])
			if p := r.pages[off/pageBytes]; p != nil {
				copy(d[:], p.words[o:o+32])
			} else {
				*d = [32]uint32{}
			}
			return
		}
	}
	for e := int32(0); e < a.n; e++ {
		if !a.skip[e] {
			x.loadElem(a, r, at.mask, e)
		}
	}
}

func (x *ctx) loadElem(a *access, r *region, mask uint32, e int32) {
	addr := &x.m.addr
	shift := uint64(e*a.elem) - r.base
	if a.t == b128 {
		lo, hi := x.w64(a.regs[e]), x.w64(a.regs[e]+1)
		for k := mask; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			lo[i], hi[i] = r.load(addr[i]+shift, 8), r.load(addr[i]+shift+8, 8)
		}
		return
	}
	if a.wide[e] {
		d := x.w64(a.regs[e])
		for k := mask; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			v := r.load(addr[i]+shift, a.elem)
			if a.sext {
				sh := 64 - 8*uint(a.elem)
				v = uint64(int64(v<<sh) >> sh)
			}
			d[i] = v
		}
		return
	}
	d := x.w32(a.regs[e])
	if a.elem == 4 {
		for k := mask; k != 0; k &= k - 1 {
			i := bits.TrailingZeros32(k) & 31
			d[i] = r.load32(addr[i] + shift)
		}
		return
	}
	for k := mask; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		v := uint32(r.load(addr[i]+shift, a.elem))
		if a.sext {
			sh := 32 - 8*uint(a.elem)
			v = uint32(int32(v<<sh) >> sh)
			if a.half[e] {
				v &= 0xffff
			}
		}
		d[i] = v
	}
}

func (x *ctx) store(a *access, at where, row bool) {
	addr, r, owner := &x.m.addr, at.r, x.m.owner
	if row && a.n == 1 && a.elem == 4 && !a.wide[0] {
		off := addr[0] - r.base
		if o := off % pageBytes / 4; o <= pageWords-32 {
			p := r.write(off, owner)
			copy(p.words[o:o+32], x.a32(a.regs[0])[:])
			if !p.full {
				p.mark(uint32(off%pageBytes), 128)
			}
			return
		}
	}
	for k := at.mask; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		off := addr[i] - r.base
		for e := int32(0); e < a.n; e++ {
			if a.skip[e] {
				continue
			}
			if a.t == b128 {
				r.store(off, 8, x.a64(a.regs[e])[i], owner)
				r.store(off+8, 8, x.a64(a.regs[e] + 1)[i], owner)
			} else if a.wide[e] {
				r.store(off, a.elem, x.a64(a.regs[e])[i], owner)
			} else {
				r.store(off, a.elem, uint64(x.a32(a.regs[e])[i]), owner)
			}
			off += uint64(a.elem)
		}
	}
}

// polled remembers what a strong read saw, for a loop that waits for it to
// change.
func (x *ctx) polled(a *access, at where) {
	for k := at.mask; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		for o := int32(0); o < a.size; o += 8 {
			n := min(a.size-o, 8)
			adr := x.m.addr[i] + uint64(o)
			x.s.note(await{pc: x.s.pc, mem: at.mem, addr: adr, size: n, val: at.r.load(adr-at.r.base, n), lanes: at.mask})
		}
	}
}

// localLanes performs the part of a generic access that goes to local memory
// or to parameters, and returns the other lanes.
func (x *ctx) localLanes(in *instr, a *access, mask uint32) uint32 {
	rest := mask
	for k := mask; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		switch v := x.m.addr[i]; {
		case v-localWindow < windowSize:
			x.private(a, &x.w.local, i, uint64(i)*x.w.lsize, v-localWindow, x.w.lsize)
			rest &^= 1 << i
		case v-paramWindow < windowSize:
			x.private(a, &x.m.params, i, 0, v-paramWindow, x.m.params.size)
			rest &^= 1 << i
		}
	}
	return rest
}

// private performs one lane's access to memory that no other agent sees.
func (x *ctx) private(a *access, r *region, lane int, base, off, limit uint64) {
	if off > limit || uint64(a.size) > limit-off || r.fixed && a.acc&Write != 0 {
		x.m.halt(Stop{Kind: FaultBounds, CTA: x.w.cta, Warp: x.w.index, Lane: int8(lane), Mask: 1 << lane, PC: x.s.pc,
			Mem: Local, Addr: off, Size: uint64(a.size), Acc: a.acc, Msg: r.name})
		return
	}
	if off&uint64(a.size-1) != 0 {
		x.m.halt(Stop{Kind: FaultAlign, CTA: x.w.cta, Warp: x.w.index, Lane: int8(lane), Mask: 1 << lane, PC: x.s.pc,
			Mem: Local, Addr: off, Size: uint64(a.size), Acc: a.acc, Msg: r.name})
		return
	}
	var save = x.m.addr[lane]
	x.m.addr[lane] = base + off
	at := where{mem: Local, r: &region{}, mask: 1 << lane}
	at.r = r
	b := r.base
	r.base = 0
	if a.acc&Write != 0 {
		x.store(a, at, false)
	} else {
		x.load(a, at, false)
	}
	r.base = b
	x.m.addr[lane] = save
}

// execLocal performs a .local access.
func execLocal(x *ctx, in *instr, mask uint32) {
	a := in.x.(*access)
	x.addressesOf(in.x.(*access), &x.m.addr)
	addr := x.m.addr
	for k := mask; k != 0 && x.m.stop == nil; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		v := addr[i]
		if v-localWindow < windowSize {
			v -= localWindow
		}
		x.private(a, &x.w.local, i, uint64(i)*x.w.lsize, v, x.w.lsize)
	}
}

// execLdParam loads a kernel parameter at a constant address: every lane
// reads the same bytes.
func execLdParam(x *ctx, in *instr, mask uint32) {
	a := in.x.(*access)
	p := &x.m.params
	off := uint64(a.off)
	for e := int32(0); e < a.n; e++ {
		o := off + uint64(e*a.elem)
		if !p.within(o, uint64(a.elem)) {
			x.fault(FaultBounds, a, lowest(mask), o)
			return
		}
		if o%uint64(a.elem) != 0 {
			x.fault(FaultAlign, a, lowest(mask), o)
			return
		}
		if a.skip[e] {
			continue
		}
		if a.t == b128 {
			x.fill64(a.regs[e], mask, p.load(o, 8))
			x.fill64(a.regs[e]+1, mask, p.load(o+8, 8))
			continue
		}
		v := p.load(o, a.elem)
		if a.sext {
			sh := 64 - 8*uint(a.elem)
			v = uint64(int64(v<<sh) >> sh)
		}
		if a.wide[e] {
			x.fill64(a.regs[e], mask, v)
		} else {
			if a.elem < 4 && a.half[e] {
				v &= 0xffff
			}
			x.fill32(a.regs[e], mask, uint32(v))
		}
	}
}

func (x *ctx) fill32(r reg, mask uint32, v uint32) {
	d := x.w32(r)
	for k := mask; k != 0; k &= k - 1 {
		d[bits.TrailingZeros32(k)&31] = v
	}
}

func (x *ctx) fill64(r reg, mask uint32, v uint64) {
	d := x.w64(r)
	for k := mask; k != 0; k &= k - 1 {
		d[bits.TrailingZeros32(k)&31] = v
	}
}

// execConst loads from the constant bank or from parameters by address.
func execConst(x *ctx, in *instr, mask uint32) {
	a := in.x.(*access)
	x.addressesOf(in.x.(*access), &x.m.addr)
	addr := x.m.addr
	for k := mask; k != 0 && x.m.stop == nil; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		v := addr[i]
		if a.space == spParam {
			if v-paramWindow < windowSize {
				v -= paramWindow
			}
			x.private(a, &x.m.params, i, 0, v, x.m.params.size)
			continue
		}
		r := x.m.global.find(v)
		if r == nil || !r.within(v-r.base, uint64(a.size)) {
			x.fault(FaultBounds, a, i, v)
			return
		}
		x.private(a, r, i, 0, v-r.base, r.size)
	}
}

func execSharedAddr(x *ctx, in *instr, mask uint32) {
	v := in.imm + uint64(x.c.rank)<<rankShift
	if in.t.wide() {
		x.fill64(in.d, x.s.mask, v)
	} else {
		x.fill32(in.d, x.s.mask, uint32(v))
	}
}

func execLocalAddr(x *ctx, in *instr, mask uint32) {
	v := in.imm + uint64(x.s.lbase)
	if in.t.wide() {
		x.fill64(in.d, x.s.mask, v)
	} else {
		x.fill32(in.d, x.s.mask, uint32(v))
	}
}

// windows gives the generic address of a space's address 0.
var windows = map[space]uint64{spShared: sharedWindow, spCluster: sharedWindow, spLocal: localWindow}

// decodeCvta decodes cvta{.to}.space: adding or removing the window.
func decodeCvta(d *decoder, in *ptx.Inst) error {
	if len(in.Operands) != 2 {
		return d.errorf("cvta takes two operands")
	}
	t := lastType(in)
	if t != u64 && t != u32 {
		return d.errorf("cvta needs .u32 or .u64")
	}
	w := windows[stateSpace(in)]
	sp := stateSpace(in)
	op := in.Operands[1]
	src, err := d.src(op, t)
	if err != nil {
		return err
	}
	if sp == spParam && !has(in, "to") {
		// The address of a kernel parameter is generic already.
		w = 0
	}
	dst, err := d.dst(in.Operands[0], t)
	if err != nil {
		return err
	}
	if has(in, "to") {
		w = -w
	}
	if t == u32 {
		d.emit(instr{exec: execMove32, d: dst, a: src})
		return nil
	}
	d.emit(instr{exec: execAddImm64, d: dst, a: src, imm: w})
	return nil
}

func execMove32(x *ctx, in *instr, mask uint32) {
	d, a := x.w32(in.d), x.a32(in.a)
	for k := mask; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		d[i] = a[i]
	}
}

func execAddImm64(x *ctx, in *instr, mask uint32) {
	d, a := x.w64(in.d), x.a64(in.a)
	if mask == ^uint32(0) {
		for i := range d {
			d[i] = a[i] + in.imm
		}
		return
	}
	for k := mask; k != 0; k &= k - 1 {
		i := bits.TrailingZeros32(k) & 31
		d[i] = a[i] + in.imm
	}
}

// decodeIsspacep decodes isspacep.space p, a.
func decodeIsspacep(d *decoder, in *ptx.Inst) error {
	if len(in.Operands) != 2 {
		return d.errorf("isspacep takes two operands")
	}
	p, err := d.dst(in.Operands[0], pred)
	if err != nil {
		return err
	}
	a, err := d.src(in.Operands[1], u64)
	if err != nil {
		return err
	}
	d.emit(instr{exec: execIsspacep, d: p, a: a, op: uint8(stateSpace(in))})
	return nil
}

func execIsspacep(x *ctx, in *instr, mask uint32) {
	row := x.a64(in.a)
	out := uint32(0)
	for l := range lanesOf(mask) {
		if x.inSpace(space(in.op), row[l]) {
			out |= 1 << l
		}
	}
	x.p[in.d] = x.p[in.d]&^mask | out
}

func (x *ctx) inSpace(sp space, a uint64) bool {
	switch sp {
	case spLocal:
		return a-localWindow < windowSize
	case spParam:
		return a-paramWindow < windowSize
	case spShared:
		rank := int32((a - sharedWindow) >> rankShift)
		return a-sharedWindow < windowSize && rank == x.c.rank
	case spCluster:
		return a-sharedWindow < windowSize
	case spConst:
		r := x.m.global.find(a)
		return r != nil && r.fixed
	}
	// The window of kernel parameters lies within the global one.
	r := x.m.global.find(a)
	return a-localWindow >= windowSize && a-sharedWindow >= windowSize && (r == nil || !r.fixed)
}

// decodeMapa decodes mapa{.space}.type d, a, rank.
func decodeMapa(d *decoder, in *ptx.Inst) error {
	t := lastType(in)
	if len(in.Operands) != 3 || t != u32 && t != u64 {
		return d.errorf("mapa takes a destination, an address and a rank, of .u32 or .u64")
	}
	dst, err := d.dst(in.Operands[0], t)
	if err != nil {
		return err
	}
	a, err := d.src(in.Operands[1], t)
	if err != nil {
		return err
	}
	b, err := d.src(in.Operands[2], u32)
	if err != nil {
		return err
	}
	d.emit(instr{exec: execMapa, d: dst, a: a, b: b, t: t})
	return nil
}

func execMapa(x *ctx, in *instr, mask uint32) {
	rank := x.a32(in.b)
	const low = 1<<rankShift - 1
	if in.t == u32 {
		d, a := x.w32(in.d), x.a32(in.a)
		for l := range lanesOf(mask) {
			d[l] = a[l]&low | rank[l]<<rankShift
		}
		return
	}
	d, a := x.w64(in.d), x.a64(in.a)
	for l := range lanesOf(mask) {
		d[l] = a[l]&^(0xff<<rankShift) | uint64(rank[l])<<rankShift
	}
}

func decodeGetctarank(d *decoder, in *ptx.Inst) error {
	t := lastType(in)
	if len(in.Operands) != 2 || t != u32 && t != u64 {
		return d.errorf("getctarank takes a destination and an address, of .u32 or .u64")
	}
	dst, err := d.dst(in.Operands[0], u32)
	if err != nil {
		return err
	}
	a, err := d.src(in.Operands[1], t)
	if err != nil {
		return err
	}
	d.emit(instr{exec: execGetctarank, d: dst, a: a, t: t})
	return nil
}

func execGetctarank(x *ctx, in *instr, mask uint32) {
	d := x.w32(in.d)
	for l := range lanesOf(mask) {
		if in.t == u32 {
			d[l] = x.a32(in.a)[l] >> rankShift
		} else {
			d[l] = uint32(x.a64(in.a)[l]>>rankShift) & 0xff
		}
	}
}

// decodePrefetch: hints to caches have no effect that a program can see.
// discard.L2 leaves the data undefined and is refused.
func decodePrefetch(d *decoder, in *ptx.Inst) error {
	if in.Op == "discard" || has(in, "tensormap") {
		return errNotModelled
	}
	return decodeNothing(d, in)
}

func decodeCreatepolicy(d *decoder, in *ptx.Inst) error {
	if len(in.Operands) < 1 {
		return d.errorf("createpolicy takes a destination")
	}
	dst, err := d.dst(in.Operands[0], b64)
	if err != nil {
		return err
	}
	d.emit(instr{exec: func(x *ctx, in *instr, mask uint32) { x.fill64(in.d, mask, 0) }, d: dst})
	return nil
}

func sprint(format string, args ...any) string { return fmt.Sprintf(format, args...) }
