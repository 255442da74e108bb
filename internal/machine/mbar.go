package machine

import (
	"math/bits"
	"sort"

	"muster/mbarrier"
	"muster/ptx"
)

// The mbarrier instructions. The words live beside memory, in a table of the
// CTA: on the card a load of a live barrier's word may return either the word
// or what was stored there before init, and inval always writes it back.

// An mbarInfo is a decoded mbarrier instruction; its access gives the address
// and the ordering.
type mbarInfo struct {
	access
	op         MbarOp
	noComplete bool
	token      bool // it returns one, in d
	parity     bool
	count      bool // the count is given, in b
}

var mbarOps = map[string]MbarOp{
	"init": MbarInit, "inval": MbarInval, "arrive": MbarArrive, "arrive_drop": MbarArriveDrop,
	"expect_tx": MbarExpectTx, "complete_tx": MbarCompleteTx, "test_wait": MbarTest, "try_wait": MbarTry,
}

func decodeMbarrier(d *decoder, in *ptx.Inst) error {
	if len(in.Mods) == 0 {
		return errNotModelled
	}
	d.read(in.Mods[0])
	if in.Mods[0] == "pending_count" {
		return d.pendingCount(in)
	}
	op, ok := mbarOps[in.Mods[0]]
	switch {
	case !ok, has(in, "layout::v1"):
		return errNotModelled
	case len(in.Operands) > 0:
		if _, report := in.Operands[0].(*ptx.Pair); report {
			return notModelled("with a report")
		}
	}
	mi := &mbarInfo{op: op}
	mi.space, mi.elem, mi.n, mi.size = d.ownSpace(), 8, 1, 8
	mi.mbarOrdering(d)
	i := instr{class: visible, visit: visitMbar, x: mi}
	switch op {
	case MbarTest, MbarTry:
		return d.mbarTest(in, mi)
	case MbarInit, MbarExpectTx, MbarCompleteTx:
		return d.mbarPlain(in, mi, i, 2)
	case MbarInval:
		return d.mbarPlain(in, mi, i, 1)
	}
	return d.mbarArrive(in, mi, i)
}

// mbarOrdering reads the semantics and scope, with the defaults of the ISA:
// arrives release and waits acquire, at CTA scope (9.7.13.15).
func (a *mbarInfo) mbarOrdering(d *decoder) {
	a.semDefaulted, a.scopeDefaulted = true, true
	switch a.op {
	case MbarArrive, MbarArriveDrop:
		a.sem, a.scope = Release, ScopeCTA
	case MbarTest, MbarTry:
		a.sem, a.scope = Acquire, ScopeCTA
	case MbarExpectTx, MbarCompleteTx:
		a.sem, a.scope = Relaxed, ScopeCTA
	}
	for _, m := range d.cur.Mods {
		known := true
		switch m {
		case "release":
			a.sem, a.semDefaulted = Release, false
		case "acquire":
			a.sem, a.semDefaulted = Acquire, false
		case "relaxed":
			a.sem, a.semDefaulted = Relaxed, false
		default:
			known = false
		}
		if s, ok := scopes[m]; ok {
			a.scope, a.scopeDefaulted, known = s, false, true
		}
		if known {
			d.read(m)
		}
	}
}

func (d *decoder) mbarPlain(in *ptx.Inst, mi *mbarInfo, i instr, n int) error {
	if len(in.Operands) != n {
		return d.errorf("%s takes %d operands", Name(in), n)
	}
	if err := d.mem(in.Operands[0], &mi.access); err != nil {
		return err
	}
	if n > 1 {
		var err error
		if i.b, err = d.src(in.Operands[1], u32); err != nil {
			return err
		}
		mi.count = true
	}
	d.emit(i)
	return nil
}

// mbarArrive decodes arrive and arrive_drop: an optional token, the address,
// an optional count or byte count.
func (d *decoder) mbarArrive(in *ptx.Inst, mi *mbarInfo, i instr) error {
	mi.noComplete = d.has("noComplete")
	if d.has("expect_tx") {
		mi.op = map[MbarOp]MbarOp{MbarArrive: MbarArriveExpectTx, MbarArriveDrop: MbarArriveDropExpectTx}[mi.op]
	}
	ops := in.Operands
	if len(ops) > 0 {
		if _, isMem := ops[0].(*ptx.Mem); !isMem {
			var err error
			if i.d, err = d.dst(ops[0], b64); err != nil {
				return err
			}
			_, sink := ops[0].(ptx.Sink)
			mi.token = !sink
			ops = ops[1:]
		}
	}
	if !mi.token && !mi.noComplete && mi.space == spOwn {
		mi.space = spGeneric // without a state it may arrive at a peer's
	}
	if len(ops) < 1 || len(ops) > 2 {
		return d.errorf("%s takes a state, an address and a count", Name(in))
	}
	if err := d.mem(ops[0], &mi.access); err != nil {
		return err
	}
	if len(ops) == 2 {
		mi.count = true
		var err error
		if i.b, err = d.src(ops[1], u32); err != nil {
			return err
		}
	} else if mi.op != MbarArrive && mi.op != MbarArriveDrop {
		return d.errorf("%s needs a byte count", Name(in))
	}
	d.emit(i)
	return nil
}

func (d *decoder) mbarTest(in *ptx.Inst, mi *mbarInfo) error {
	if len(in.Operands) < 3 {
		return d.errorf("%s takes a predicate, an address and a phase", Name(in))
	}
	p, err := d.dst(in.Operands[0], pred)
	if err != nil {
		return err
	}
	if err := d.mem(in.Operands[1], &mi.access); err != nil {
		return err
	}
	mi.parity = d.has("parity")
	t := b64
	if mi.parity {
		t = u32
	}
	b, err := d.src(in.Operands[2], t)
	if err != nil {
		return err
	}
	d.emit(instr{class: visible, visit: visitMbarTest, ready: readyMbarTest, test: true, x: mi, d: p, b: b})
	return nil
}

func (d *decoder) pendingCount(in *ptx.Inst) error {
	if len(in.Operands) != 2 {
		return d.errorf("mbarrier.pending_count takes a destination and a state")
	}
	dst, err := d.dst(in.Operands[0], u32)
	if err != nil {
		return err
	}
	a, err := d.src(in.Operands[1], b64)
	if err != nil {
		return err
	}
	d.emit(instr{exec: execPendingCount, d: dst, a: a})
	return nil
}

func execPendingCount(x *ctx, in *instr, mask uint32) {
	d, a := x.w32(in.d), x.a64(in.a)
	for l := range lanesOf(mask) {
		if t := x.tokenOf(in.a, l); x.m.cfg.Observer != nil && !t.NoComplete && (t.Known || !x.m.prog.noComplete) {
			x.m.emit(Event{Kind: EvPendingCount, CTA: x.w.cta, Warp: x.w.index, Mask: 1 << l, Lane: int8(l), PC: x.s.pc, Token: t})
		}
		d[l] = mbarrier.Token(a[l]).PendingCount()
	}
}

// barrier returns the barrier at an address of a CTA's shared memory, live or
// not, or nil if none was ever made there.
func (m *Machine) barrier(mem MemID, addr uint64) *mbar {
	if mem.Kind() != SharedMemory || int(mem.CTA()) >= len(m.ctas) || m.ctas[mem.CTA()] == nil {
		return nil
	}
	t := m.ctas[mem.CTA()]
	i := sort.Search(len(t.mbars), func(i int) bool { return t.mbars[i].addr >= addr })
	if i < len(t.mbars) && t.mbars[i].addr == addr {
		return &t.mbars[i]
	}
	return nil
}

// barrierAt is barrier, but if there is none it adds one that is not live, with memory's
// word.
func (m *Machine) barrierAt(mem MemID, addr uint64) *mbar {
	if b := m.barrier(mem, addr); b != nil {
		if !b.live {
			b.word = mbarrier.Word(m.ctas[mem.CTA()].shared.load(addr-m.ctas[mem.CTA()].shared.base, 8))
		}
		return b
	}
	t := m.ctas[mem.CTA()]
	i := sort.Search(len(t.mbars), func(i int) bool { return t.mbars[i].addr >= addr })
	t.mbars = append(t.mbars, mbar{})
	copy(t.mbars[i+1:], t.mbars[i:])
	t.mbars[i] = mbar{addr: addr, word: mbarrier.Word(t.shared.load(addr-t.shared.base, 8))}
	return &t.mbars[i]
}

// mbarAddress resolves one lane's barrier operand; the run ends on a bad one.
func (x *ctx) mbarAddress(a *access, lane int) (MemID, uint64, bool) {
	addr := x.m.addr[lane]
	mem, at, ok := x.resolve(a.space, addr)
	switch {
	case !ok || mem.Kind() != SharedMemory || !x.m.ctas[mem.CTA()].shared.within(at-x.m.ctas[mem.CTA()].shared.base, 8):
		x.fault(FaultBounds, a, lane, addr)
		return 0, 0, false
	case at%8 != 0:
		x.fault(FaultAlign, a, lane, addr)
		return 0, 0, false
	}
	return mem, at, true
}

// visitMbar performs an operation other than a wait, lane by lane.
func visitMbar(x *ctx, in *instr, mask uint32) verdict {
	mi := in.x.(*mbarInfo)
	x.m.mbarAddresses(x, mi)
	for k := mask; k != 0; {
		l := bits.TrailingZeros32(k) & 31
		lanes := uint32(1) << l
		if mi.op == MbarInit {
			lanes = x.alike(in, mi, l, k)
		}
		k &^= lanes
		mem, at, ok := x.mbarAddress(&mi.access, l)
		if !ok {
			return halted
		}
		arg := uint32(1)
		if mi.count {
			arg = x.a32(in.b)[l]
		}
		ev := Mbar{Op: mi.op, NoComplete: mi.noComplete}
		tok := x.m.mbarOp(mem, at, &ev, arg)
		x.m.emitMbar(Event{Kind: EvMbar, CTA: x.w.cta, Warp: x.w.index, Mask: lanes, Lane: int8(l), PC: x.s.pc, Members: mask,
			Sem: mi.sem, Scope: mi.scope, SemDefaulted: mi.semDefaulted, ScopeDefaulted: mi.scopeDefaulted}, &ev)
		if ev.Fault != mbarrier.NoFault {
			return x.m.halt(Stop{Kind: FaultBarrier, CTA: x.w.cta, Warp: x.w.index, Lane: int8(l), Mask: 1 << l, PC: x.s.pc,
				Mem: mem, Addr: at, Size: 8, Mbar: &ev, Msg: ev.Fault.String()})
		}
		if mi.token {
			x.w64(in.d)[l] = uint64(tok)
			if x.m.prog.tokens {
				x.setToken(in.d, l, Token{Bar: ev.Bar, Phase: ev.Phase, PC: x.s.pc, NoComplete: mi.noComplete, Known: true})
			}
		}
	}
	return performed
}

// alike returns the lanes of mask that initialize the barrier that a lane does, with the
// same count: together they are one init.
func (x *ctx) alike(in *instr, mi *mbarInfo, lane int, mask uint32) uint32 {
	same := uint32(0)
	for l := range lanesOf(mask) {
		if x.m.addr[l] == x.m.addr[lane] && x.a32(in.b)[l] == x.a32(in.b)[lane] {
			same |= 1 << l
		}
	}
	return same
}

func (m *Machine) emitMbar(ev Event, b *Mbar) {
	if m.cfg.Observer != nil {
		ev.Mbar = *b
		m.emit(ev)
	}
}

// mbarAddresses computes the lanes' barrier addresses.
func (m *Machine) mbarAddresses(x *ctx, mi *mbarInfo) {
	x.addressesOf(&mi.access, &m.addr)
}

// mbarOp performs ev.Op on the barrier at an address, fills ev in, and
// returns the token of an arrival.
func (m *Machine) mbarOp(mem MemID, at uint64, ev *Mbar, arg uint32) mbarrier.Token {
	b := m.barrierAt(mem, at)
	m.ctas[mem.CTA()].tests++
	ev.Bar = BarRef{Mem: mem, Addr: at, Life: b.life}
	ev.Live, ev.Before, ev.Phase = b.live, b.word, b.phase
	w := b.word
	var r mbarrier.Result
	switch ev.Op {
	case MbarInit:
		w, r = mbarrier.Init(arg)
		ev.Count = arg
		b.life++
		b.live, b.phase = true, 0
		ev.Bar.Life = b.life
	case MbarInval:
		w = w.Inval()
		m.ctas[mem.CTA()].shared.store(at-m.ctas[mem.CTA()].shared.base, 8, uint64(w), m.owner)
		b.live = false
	case MbarArrive:
		ev.Count = arg
		w, r = arriveForms[boolIndex(ev.NoComplete)](w, arg)
	case MbarArriveDrop:
		ev.Count = arg
		w, r = dropForms[boolIndex(ev.NoComplete)](w, arg)
	case MbarExpectTx:
		ev.Bytes = arg
		w, r = w.ExpectTx(arg)
	case MbarArriveExpectTx:
		ev.Bytes, ev.Count = arg, 1
		w, r = w.ArriveExpectTx(arg)
	case MbarArriveDropExpectTx:
		ev.Bytes, ev.Count = arg, 1
		w, r = w.ArriveDropExpectTx(arg)
	case MbarCompleteTx:
		ev.Bytes = arg
		w, r = w.CompleteTx(arg)
	case MbarIncrement:
		w, r = w.CpAsyncArrive()
	case MbarAsyncArrive:
		ev.Count = 1
		if ev.NoComplete { // .noinc: the arrival was counted at init
			w, r = w.CpAsyncLandNoinc()
		} else {
			w, r = w.CpAsyncLand()
		}
	}
	ev.After, ev.Completed, ev.Fault, ev.Undefined = w, r.Completed, r.Fault, r.Undefined
	b.word = w
	if r.Completed {
		b.phase++
	}
	if !b.live && ev.Op != MbarInval {
		m.ctas[mem.CTA()].shared.store(at-m.ctas[mem.CTA()].shared.base, 8, uint64(w), m.owner)
	}
	ev.Token = uint64(r.Token)
	return r.Token
}

var (
	arriveForms = [2]func(mbarrier.Word, uint32) (mbarrier.Word, mbarrier.Result){mbarrier.Word.Arrive, mbarrier.Word.ArriveNoComplete}
	dropForms   = [2]func(mbarrier.Word, uint32) (mbarrier.Word, mbarrier.Result){mbarrier.Word.ArriveDrop, mbarrier.Word.ArriveDropNoComplete}
)

func boolIndex(b bool) int {
	if b {
		return 1
	}
	return 0
}

// asked returns the phase that a test asks for, and whether it is complete.
func (b *mbar) asked(mi *mbarInfo, v uint64) (phase int64, ok bool) {
	if mi.parity {
		ok = b.word.TestWaitParity(uint32(v))
	} else {
		ok = b.word.TestWait(mbarrier.Token(v))
	}
	if ok {
		return b.phase - 1, true
	}
	return b.phase, false
}

// testOperand returns one lane's token or parity.
func (x *ctx) testOperand(in *instr, mi *mbarInfo, l int) uint64 {
	if mi.parity {
		return uint64(x.a32(in.b)[l])
	}
	return x.a64(in.b)[l]
}

// readyMbarTest reports whether some lane's phase is complete. A test whose
// address is bad is ready: performing it ends the run.
func readyMbarTest(x *ctx, in *instr, mask uint32) bool {
	t := x.m.ctas[x.w.cta]
	if x.s.asleep == (asleep{mask, t.tests}) {
		return false
	}
	mi := in.x.(*mbarInfo)
	x.m.mbarAddresses(x, mi)
	first := lowest(mask) & 31
	asked, v := x.m.addr[first], x.testOperand(in, mi, first)
	own := true
	for k := mask; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k) & 31
		if l != first && x.m.addr[l] == asked && x.testOperand(in, mi, l) == v {
			continue // the same test as the first lane's
		}
		mem, at, ok := x.resolve(mi.space, x.m.addr[l])
		if !ok || mem.Kind() != SharedMemory || at%8 != 0 || !x.m.ctas[mem.CTA()].shared.within(at-x.m.ctas[mem.CTA()].shared.base, 8) {
			return true
		}
		b := x.m.barrierAt(mem, at)
		if _, done := b.asked(mi, x.testOperand(in, mi, l)); done {
			return true
		}
		own = own && b.live && mem.CTA() == x.w.cta
	}
	if own {
		x.s.asleep = asleep{mask, t.tests}
	}
	return false
}

// visitMbarTest performs test_wait or try_wait.
func visitMbarTest(x *ctx, in *instr, mask uint32) verdict {
	m, mi := x.m, in.x.(*mbarInfo)
	m.mbarAddresses(x, mi)
	out := uint32(0)
	for rest := mask; rest != 0; {
		first := lowest(rest)
		mem, at, ok := x.mbarAddress(&mi.access, first)
		if !ok {
			return halted
		}
		v := x.testOperand(in, mi, first)
		same := uint32(0)
		for k := rest; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			if m.addr[l] == m.addr[first] && x.testOperand(in, mi, l) == v {
				same |= 1 << l
			}
		}
		rest &^= same
		if x.testOne(in, mi, mem, at, v, same) {
			out |= same
		}
	}
	x.p[in.d] = x.p[in.d]&^mask | out
	x.quiet, x.idle = out == 0, true
	return performed
}

// strayToken returns the first lane that tests bar with a token of another barrier, or of
// a phase before the one that precedes the open one, and that token.
func (x *ctx) strayToken(r reg, bar BarRef, open int64, lanes uint32) (t Token, lane int) {
	for l := range lanesOf(lanes) {
		if t := x.tokenOf(r, l); t.Known && (t.Bar != bar || t.Phase < open-1) {
			return t, l
		}
	}
	return Token{}, lowest(lanes)
}

// testOne tests one barrier for the lanes in same.
func (x *ctx) testOne(in *instr, mi *mbarInfo, mem MemID, at, v uint64, same uint32) bool {
	m := x.m
	if m.refusing {
		x.s.gaveUp++
		return false
	}
	b := m.barrierAt(mem, at)
	phase, done := b.asked(mi, v)
	peeks := m.cfg.failing[x.s.pc]
	done = done && !peeks
	x.s.lookMbar(x.s.pc, mem, at, b, same, done)
	slept := x.s.failed(x.s.pc, mem, at)
	if !done && slept && !m.anyAwait(x.s) {
		return false // the observer has seen this test fail, and nothing has happened since
	}
	if !done && !peeks {
		x.s.note(await{pc: x.s.pc, mem: mem, addr: at, life: b.life, val: uint64(phase), lanes: same})
	}
	ev := Mbar{Bar: BarRef{Mem: mem, Addr: at, Life: b.life}, Op: mi.op, Live: b.live, Before: b.word, After: b.word,
		Phase: phase, Parity: mi.parity, Token: v, OK: done, Slept: slept}
	if mi.parity {
		ev.Undefined = mbarrier.CheckParity(uint32(v))
	} else {
		ev.Undefined = b.word.CheckToken(mbarrier.Token(v))
	}
	token, lane := Token{}, lowest(same)
	if m.prog.tokens && !mi.parity {
		token, lane = x.strayToken(in.b, ev.Bar, b.phase, same)
	}
	m.emitMbar(Event{Kind: EvMbarWait, CTA: x.w.cta, Warp: x.w.index, Mask: same, Lane: int8(lane), PC: x.s.pc, Token: token,
		Sem: mi.sem, Scope: mi.scope, SemDefaulted: mi.semDefaulted, ScopeDefaulted: mi.scopeDefaulted}, &ev)
	return done
}
