package machine

import (
	"hash/maphash"
	"slices"

	"muster/internal/tensor"
	"muster/ptx"
)

// Tensor memory (ISA 9.7.18.1): 128 lanes of 512 columns of 32 bits a CTA, of which a kernel
// allocates columns. An alloc waits for columns that are not free. CTAs that share a
// multiprocessor (Launch.CoResident) share its columns, and each accesses its own alone.
//
// With cta_group::2 a warp of each CTA of a pair takes part: tensorpair.go.

const (
	tensorBytes  = 4 * tensor.TensorLanes * tensor.TensorColumns
	TensorColumn = 4 * tensor.TensorLanes // bytes of a column in MemIDs of tensor memory
	leastColumns = 32
)

// A tensorMemory is a CTA's.
type tensorMemory struct {
	cells  region
	allocs []tensorAlloc // by column
	last   uint32        // columns of the last alloc; 0: none yet
	turn   uint32        // allocs so far, for otherColumns alone
	barred bool          // it has executed relinquish_alloc_permit
	group  int8          // the cta_group of its tcgen05 instructions; 0: none yet
	asks   []pairAsk
}

// A tensorAlloc is columns that are allocated.
type tensorAlloc struct {
	first, n uint32
	warp, pc int32 // that allocated them
	mask     uint32
}

func (t *tensorMemory) clone() *tensorMemory {
	if t == nil {
		return nil
	}
	c := *t
	c.cells = t.cells.clone()
	c.allocs, c.asks = slices.Clone(t.allocs), slices.Clone(t.asks)
	return &c
}

// tensors returns a CTA's tensor memory.
func (t *cta) tensors() *tensorMemory {
	if t.tensor == nil {
		t.tensor = &tensorMemory{cells: newRegion("tensor", 0, tensorBytes)}
	}
	return t.tensor
}

// otherOf returns the number of the other CTA of a pair, plus 1, for an instruction of both; 0 for
// one of a single CTA.
func (x *ctx) otherOf(pair bool) int32 {
	if !pair {
		return 0
	}
	return x.c.g.clusterMember(x.c.first, x.c.rank^1) + 1
}

// Pair returns the other CTA of a tcgen05 operation of .cta_group::2; ok: it is one.
func (op *Op) Pair() (other int32, ok bool) { return op.pair - 1, op.pair != 0 }

// An allocInfo is a decoded alloc, dealloc or relinquish_alloc_permit.
type allocInfo struct {
	access // alloc: where it writes the address
	pair   bool
	does   columnsDeed
	at     reg // dealloc: the address
	cols   reg
}

// A columnsDeed is what an instruction does with columns.
type columnsDeed uint8

const (
	allocates columnsDeed = iota
	frees
	relinquishes
)

// ctaPair reads the modifier that says whether one CTA or a pair takes part.
func (d *decoder) ctaPair() bool {
	d.read("cta_group::1")
	return d.has("cta_group::2")
}

func (d *decoder) tensorAlloc(in *ptx.Inst) error {
	ai := &allocInfo{pair: d.ctaPair()}
	if d.has("exclusive") {
		return notModelled("with .exclusive")
	}
	if len(in.Operands) != 2 {
		return d.errorf("%s takes an address in shared memory and a number of columns", Name(in))
	}
	ai.space, ai.acc, ai.t, ai.elem, ai.n, ai.size = d.ownSpace(), Write, u32, 4, 1, 4
	if err := d.mem(in.Operands[0], &ai.access); err != nil {
		return err
	}
	var err error
	if ai.cols, err = d.src(in.Operands[1], u32); err != nil {
		return err
	}
	d.emit(instr{class: visible, visit: visitTensorAlloc, ready: readyTensorAlloc, x: ai})
	d.prog.columns = true
	return nil
}

// AllocatesColumns reports whether the program has a tcgen05.alloc.
func (p *Program) AllocatesColumns() bool { return p.columns }

func (d *decoder) tensorDealloc(in *ptx.Inst) error {
	ai := &allocInfo{pair: d.ctaPair(), does: frees}
	if d.has("exclusive") {
		return notModelled("with .exclusive")
	}
	if len(in.Operands) != 2 {
		return d.errorf("%s takes an address in tensor memory and a number of columns", Name(in))
	}
	var err error
	if ai.at, err = d.src(in.Operands[0], u32); err != nil {
		return err
	}
	if ai.cols, err = d.src(in.Operands[1], u32); err != nil {
		return err
	}
	d.emit(instr{class: visible, visit: visitTensorAlloc, ready: readyTensorAlloc, x: ai})
	return nil
}

func (d *decoder) tensorRelinquish(in *ptx.Inst) error {
	ai := &allocInfo{pair: d.ctaPair(), does: relinquishes}
	d.emit(instr{class: visible, visit: visitRelinquish, ready: readyAligned, x: ai})
	return nil
}

func visitRelinquish(x *ctx, in *instr, mask uint32) verdict {
	ai := in.x.(*allocInfo)
	if !x.ctaGroup(mask, ai.pair) {
		return halted
	}
	x.c.tensors().barred = true
	x.m.emit(Event{Kind: EvTensorRelinquish, CTA: x.c.index, Warp: x.w.index, Mask: mask, PC: x.s.pc, Span: *Permit(x.c.index)})
	if ai.pair {
		return x.askPair(pairAsk{does: relinquishes, mask: mask})
	}
	return performed
}

// ctaGroup notes the cta_group of a tcgen05 instruction. All of a kernel have the same (ISA
// 9.7.18).
func (x *ctx) ctaGroup(mask uint32, pair bool) bool {
	group := int8(1)
	if pair {
		group = 2
	}
	t := x.c.tensors()
	if t.group != 0 && t.group != group {
		x.badOperand(FaultTensorAlloc, mask, sprint("it has cta_group::%d, and another tcgen05 instruction of the CTA had cta_group::%d; all of a kernel have the same (ISA 9.7.18)", group, t.group))
	}
	if t.group == 0 {
		t.group = group
	}
	if pair && x.c.g.size(x.c.first)%2 != 0 {
		x.tensorFault(FaultTensorAlloc, mask, "cta_group::2 needs a cluster of an even number of CTAs (ISA 9.7.18.1)")
		return false
	}
	return true
}

func (x *ctx) tensorFault(kind StopKind, mask uint32, msg string) verdict {
	return x.m.halt(Stop{Kind: kind, CTA: x.w.cta, Warp: x.w.index, Lane: int8(lowest(mask)), Mask: mask, PC: x.s.pc,
		Mem: TensorOf(x.w.cta), Acc: Write, Msg: msg})
}

// readyTensorAlloc reports whether an alloc finds its columns. A pair's waits for the other
// CTA after its visit.
func readyTensorAlloc(x *ctx, in *instr, mask uint32) bool {
	ai := in.x.(*allocInfo)
	if mask != x.w.live {
		return false
	}
	if ai.does == frees || ai.pair {
		return true
	}
	n := x.a32(ai.cols)[lowest(mask)]
	if badColumns(n) || x.c.tensors().barred {
		return true // performing it says so
	}
	_, ok := x.m.freeColumns(x.c, n)
	return ok
}

func badColumns(n uint32) bool {
	return n < leastColumns || n > tensor.TensorColumns || n&(n-1) != 0
}

// freeColumns returns the first of n columns that are free on a CTA's multiprocessor.
func (m *Machine) freeColumns(t *cta, n uint32) (first uint32, ok bool) {
	var used [tensor.TensorColumns]bool
	for _, i := range m.running {
		o := m.ctas[i]
		if o.tensor == nil || !m.sameMultiprocessor(t, o) {
			continue
		}
		for _, a := range o.tensor.allocs {
			for c := a.first; c < a.first+a.n; c++ {
				used[c] = true
			}
		}
	}
	if m.cfg.otherColumns {
		if first, ok := otherColumns(&used, n, t.tensor.turn); ok {
			return first, true
		}
	}
	free := uint32(0)
	for c := range used {
		if free++; used[c] {
			free = 0
		}
		if free == n {
			return uint32(c) + 1 - n, true
		}
	}
	return 0, false
}

// otherColumns returns n columns that are free, n being a power of two: the highest at the
// first turn, and others at each turn after it.
func otherColumns(used *[tensor.TensorColumns]bool, n, turn uint32) (first uint32, ok bool) {
	slots := tensor.TensorColumns / n
	for i := range slots {
		first = (slots - 1 - (i+turn)%slots) * n
		if !slices.Contains(used[first:first+n], true) {
			return first, true
		}
	}
	return 0, false
}

// sameMultiprocessor reports whether two CTAs share a multiprocessor's tensor memory: those
// of a grid do in the order of their numbers, CoResident together.
func (m *Machine) sameMultiprocessor(a, b *cta) bool {
	if a == b {
		return true
	}
	return a.g == b.g && m.Multiprocessor(a.index) == m.Multiprocessor(b.index)
}

// SharesColumns returns the CTAs on which what a CTA can allocate depends: itself and the other
// of its pair. Those of its multiprocessor have one Multiprocessor.
func (m *Machine) SharesColumns(cta int32) []int32 {
	t := m.ctas[cta]
	list := []int32{cta}
	if p := m.peer(t); p != nil && t.tensor != nil && t.tensor.group == 2 {
		list = append(list, p.index)
	}
	return list
}

func visitTensorAlloc(x *ctx, in *instr, mask uint32) verdict {
	ai := in.x.(*allocInfo)
	l := lowest(mask)
	t := x.c.tensors()
	n := x.a32(ai.cols)[l]
	if !x.ctaGroup(mask, ai.pair) {
		return halted
	}
	if !uniform(x.a32(ai.cols), mask) || ai.does == frees && !uniform(x.a32(ai.at), mask) {
		return x.tensorFault(FaultTensorAlloc, mask, "lanes of the warp give different operands (ISA 9.7.18.7.1)")
	}
	at := uint32(0)
	switch {
	case ai.does == frees:
		at = x.a32(ai.at)[l]
		if why := t.refuseFree(at, n); why != "" {
			return x.tensorFault(FaultTensorAlloc, mask, why)
		}
	case badColumns(n):
		return x.tensorFault(FaultTensorAlloc, mask, sprint("it asks for %d columns; a power of two from 32 to 512 is allowed (ISA 9.7.18.7.1)", n))
	case t.barred:
		return x.tensorFault(FaultTensorAlloc, mask, "the CTA has executed tcgen05.relinquish_alloc_permit, after which it may not allocate (ISA 9.7.18.7.1)")
	case t.last != 0 && n > t.last:
		x.badOperand(FaultTensorAlloc, mask, sprint("it asks for %d columns and the CTA's last alloc for %d; the number may not increase (ISA 9.7.18.7.1)", n, t.last))
	}
	if ai.pair {
		return x.askPair(pairAsk{does: ai.does, n: n, at: at, mask: mask})
	}
	if ai.does == allocates {
		at, _ = x.m.freeColumns(x.c, n)
	}
	return x.changeColumns(ai, mask, at, n)
}

// refuseFree says why columns cannot be freed, or "".
func (t *tensorMemory) refuseFree(at, n uint32) string {
	for _, a := range t.allocs {
		if a.first == at {
			if a.n != n {
				return sprint("it frees %d columns at %d, where %d were allocated (ISA 9.7.18.7.1)", n, at, a.n)
			}
			return ""
		}
	}
	return sprint("it frees columns at %#x, and no alloc that is not freed yet returned that address (ISA 9.7.18.7.1)", at)
}

// changeColumns allocates or frees columns, and writes an alloc's address.
func (x *ctx) changeColumns(ai *allocInfo, mask, at, n uint32) verdict {
	ev := x.c.tensors().change(x.c, ai.does, tensorAlloc{first: at, n: n, warp: x.w.index, pc: x.s.pc, mask: mask}, x.m.owner)
	if ai.does == allocates {
		ev.Permit = Permit(x.c.index)
	}
	x.m.emit(ev)
	if ai.does == frees {
		return performed
	}
	return x.storeWord(&ai.access, lowest(mask), at)
}

// change allocates or frees columns, and returns the event.
func (t *tensorMemory) change(c *cta, does columnsDeed, a tensorAlloc, owner uint64) Event {
	ev := Event{Kind: EvTensorFree, CTA: c.index, Warp: a.warp, Mask: a.mask, PC: a.pc,
		Span: Span{Mem: TensorOf(c.index), Addr: uint64(a.first) * TensorColumn, Len: uint64(a.n) * TensorColumn}}
	if does == frees {
		t.allocs = slices.DeleteFunc(t.allocs, func(o tensorAlloc) bool { return o.first == a.first })
		return ev
	}
	t.last = a.n
	t.turn++
	t.allocs = append(t.allocs, a)
	slices.SortFunc(t.allocs, func(a, b tensorAlloc) int { return int(a.first) - int(b.first) })
	end := ev.Span.Addr + ev.Span.Len
	for off := ev.Span.Addr; off < end; off += pageBytes {
		t.cells.forget(off, min(pageBytes, end-off), owner)
	}
	ev.Kind = EvTensorAlloc
	return ev
}

// storeWord makes a lane store a word that no register holds.
func (x *ctx) storeWord(a *access, lane int, v uint32) verdict {
	m := x.m
	mask := uint32(1) << lane
	x.addressesOf(a, &m.addr)
	m.addr[lane] = sharedBits(m.addr[lane])
	if misaligned(mask, &m.addr, 4) >= 0 {
		return x.fault(FaultAlign, a, lane, m.addr[lane])
	}
	at, ok := x.locate(spShared, mask, 4, &m.addr)
	if !ok || at.r.fixed {
		return x.fault(FaultBounds, a, lane, m.addr[lane])
	}
	if m.cfg.Observer != nil {
		m.vals[0][lane] = uint64(v)
		ev := &m.ev
		ev.at(EvAccess, x, mask)
		ev.Access, ev.Sem, ev.Scope, ev.Proxy, ev.Row = Write, Weak, NoScope, Generic, false
		ev.SemDefaulted, ev.ScopeDefaulted = false, false
		ev.Mem, ev.Size, ev.Addr, ev.Init = at.mem, 4, &m.addr, mask
		ev.Val, ev.storing, ev.by, ev.Part, ev.Whole = m.vals[:1], nil, x, 0, 0
		m.cfg.Observer.Observe(m, ev)
	}
	at.r.store(m.addr[lane]-at.r.base, 4, uint64(v), m.owner)
	return performed
}

// leavesColumns reports the columns that a CTA has not freed when it ends.
func (m *Machine) leavesColumns(t *cta) {
	if t.tensor == nil {
		return
	}
	for _, a := range t.tensor.allocs {
		m.emit(Event{Kind: EvTensorLeft, CTA: t.index, Warp: a.warp, Mask: a.mask, PC: a.pc, Count: a.n,
			Span: Span{Mem: TensorOf(t.index), Addr: uint64(a.first) * TensorColumn, Len: uint64(a.n) * TensorColumn}})
	}
	t.tensor.allocs = nil
}

// allocated reports whether columns belong to one live alloc of the CTA.
func (t *cta) allocated(first, n uint32) bool {
	return t.tensor != nil && slices.ContainsFunc(t.tensor.allocs, func(a tensorAlloc) bool { return a.first <= first && first+n <= a.first+a.n })
}

// hash adds tensor memory to a hash of the machine's state; old is that of an earlier state,
// of which unchanged pages are left out.
func (t *tensorMemory) hash(h *maphash.Hash, old *cta) {
	if t == nil {
		return
	}
	var cells *region
	if old != nil && old.tensor != nil {
		cells = &old.tensor.cells
	}
	t.cells.hashSince(h, cells)
	maphash.WriteComparable(h, [4]int{len(t.allocs), len(t.asks), int(t.last), int(t.group)})
	for _, a := range t.allocs {
		maphash.WriteComparable(h, a)
	}
	maphash.WriteComparable(h, t.barred)
	for _, a := range t.asks {
		maphash.WriteComparable(h, a)
	}
}

// TensorCells names a range of tensor memory: lanes of a column, or columns.
func TensorCells(addr, n uint64) string {
	first, last := addr/TensorColumn, (addr+max(n, 1)-1)/TensorColumn
	if first != last {
		return sprint("columns %d to %d", first, last)
	}
	from, to := addr%TensorColumn/4, (addr+max(n, 1)-1)%TensorColumn/4
	if from == to {
		return sprint("column %d, lane %d", first, from)
	}
	return sprint("column %d, lanes %d to %d", first, from, to)
}

// TensorColumnBytes are the bytes of a column of tensor memory.
const TensorColumnBytes = TensorColumn

// Permit returns a place behind a CTA's columns that stands for its right to allocate: an alloc
// reads it, relinquish_alloc_permit writes it.
func Permit(cta int32) *Span { return &Span{Mem: TensorOf(cta), Addr: tensorBytes, Len: 4} }

// IsPermit reports whether a place stands for a CTA's right to allocate.
func (s Span) IsPermit() bool { return s.Mem.Kind() == TensorMemory && s.Addr >= tensorBytes }

// FreeColumns is how many columns a CTA could allocate, whether they lie together or not.
func (m *Machine) FreeColumns(cta int32) uint32 { return m.columnsFree(cta) }

// columnsFree is how many columns of a CTA's multiprocessor are not allocated.
func (m *Machine) columnsFree(cta int32) uint32 {
	free := uint32(tensor.TensorColumns)
	for _, h := range m.Columns(cta) {
		free -= h.Count
	}
	return free
}

// Columns are columns that are allocated.
type Columns struct {
	First, Count  uint32
	CTA, Warp, PC int32 // whose alloc it was
}

// Allocated returns all columns that are allocated.
func (m *Machine) Allocated() (list []Columns) {
	for _, i := range m.running {
		if o := m.ctas[i]; o.tensor != nil {
			for _, a := range o.tensor.allocs {
				list = append(list, Columns{a.first, a.n, i, a.warp, a.pc})
			}
		}
	}
	return list
}

// Columns returns the columns that are allocated on a CTA's multiprocessor.
func (m *Machine) Columns(cta int32) (list []Columns) {
	t := m.ctas[cta]
	for _, i := range m.running {
		if o := m.ctas[i]; o.tensor != nil && m.sameMultiprocessor(t, o) {
			for _, a := range o.tensor.allocs {
				list = append(list, Columns{a.first, a.n, i, a.warp, a.pc})
			}
		}
	}
	return list
}

// SharesMultiprocessors reports whether CTAs of a launch share tensor memory's columns.
func (m *Machine) SharesMultiprocessors() bool {
	return slices.ContainsFunc(m.grids, func(g *grid) bool { return g.CoResident > 1 })
}

// Multiprocessor returns the first of the CTAs that share a CTA's columns.
func (m *Machine) Multiprocessor(cta int32) int32 {
	g := m.gridOf(cta)
	n := int32(max(g.CoResident, 1))
	return g.first + (cta-g.first)/n*n
}
