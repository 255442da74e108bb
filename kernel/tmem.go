package kernel

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// TensorMemory is columns of a CTA's tensor memory: 128 lanes of 32 bits each, in which
// Blackwell's tensor cores add up (ISA 9.7.18.1). It has an owner, the warp that calls
// Alloc, and is freed once before the kernel ends:
//
//	t := k.TensorMemory("tmem", 256)
//	d := t.Accumulator(F32, 128, 256)
//	k.SingleWarp(0, func() { t.Alloc(); t.Relinquish() })
//	k.Sync()
//	… d.Mma, d.Load
//	k.Sync()
//	k.SingleWarp(0, t.Free)
//
// Alloc leaves the address in a word of shared memory, and each part of the kernel reads
// it there before it first uses the memory: a Sync lies between. What the columns hold at
// first is undefined.
type TensorMemory struct {
	k       *Kernel
	name    string
	columns int
	pair    bool
	word    Ptr
	at      Place

	allocated, freed Place
	taken            int // columns that parts have
	parts            []string
	known            []tensorAddress
}

// A tensorAddress is a register that holds the address, in the parts of the text that the
// load dominates.
type tensorAddress struct {
	in   *body
	open []int
	reg  Reg
}

// tensorColumns are the columns of a CTA (ISA 9.7.18.1).
const tensorColumns = 512

type tensorKey struct{}

// tensors is what a kernel knows of its tensor memory.
type tensors struct {
	all          []*TensorMemory
	relinquished Place
}

func (k *Kernel) tensors() *tensors {
	s, ok := k.state[tensorKey{}].(*tensors)
	if !ok {
		s = &tensors{}
		k.state[tensorKey{}] = s
		k.onBuild(k.finishTensors)
	}
	return s
}

// TensorMemory declares columns of tensor memory: 32, 64, 128, 256 or 512, and 512 at most
// in all. It takes a word of shared memory, for the address.
func (k *Kernel) TensorMemory(name string, columns int) *TensorMemory {
	return k.tensorMemory("TensorMemory", name, columns, false)
}

// TensorMemoryPair declares columns in each CTA of a pair: the CTAs of a cluster whose ranks
// differ in the last bit (.cta_group::2, ISA 9.7.18.5). A product then has the rows of both:
// the CTA of even rank issues it for the pair, and reads A and B of both.
//
// Alloc, Relinquish and Free are executed by a warp of each CTA, and each waits for the
// other CTA's: a ClusterSync lies before the first, so that the other CTA has begun, and
// before Free, so that nothing of the pair is on its way. A kernel has memory of pairs, or of
// CTAs alone, and not both.
func (k *Kernel) TensorMemoryPair(name string, columns int) *TensorMemory {
	if k.CTAs()%2 != 0 {
		k.fail("TensorMemoryPair(%q): the kernel has clusters of %d; pairs need an even number: give New the option Clusters", name, k.CTAs())
	}
	return k.tensorMemory("TensorMemoryPair", name, columns, true)
}

func (k *Kernel) tensorMemory(what, name string, columns int, pair bool) *TensorMemory {
	what = fmt.Sprintf("%s(%q)", what, name)
	t := &TensorMemory{k: k, name: name, pair: pair, at: k.here()}
	s, errs := k.tensors(), len(k.errs)
	for _, o := range s.all {
		if o.pair != pair {
			k.fail("%s: %s is %s; all tensor memory of a kernel is of pairs of CTAs, or of single ones", what, o.name, map[bool]string{true: "a pair's", false: "a single CTA's"}[o.pair])
			break
		}
	}
	if n, suffix, _ := parseSM(k.target); n < 100 || n >= 120 || suffix == "" {
		k.fail("%s: the kernel is for %s, which has no tensor memory; give New the option Target(\"sm_100a\")", what, k.target)
	}
	switch {
	case columns < 1 || columns > tensorColumns:
		k.fail("%s: %d columns; a CTA has %d", what, columns, tensorColumns)
		columns = tensorColumns
	case columns < 32 || columns&(columns-1) != 0:
		next := max(32, 1<<bits.Len(uint(columns)))
		k.fail("%s: %d columns; they are allocated by powers of two from 32 on: the next is %d", what, columns, next)
		columns = next
	}
	sum := columns
	var others []string
	for _, o := range s.all {
		sum += o.columns
		others = append(others, fmt.Sprintf("%s has %d", o.name, o.columns))
	}
	if sum > tensorColumns && len(others) > 0 {
		k.fail("%s: %d columns, and %s; a CTA has %d, and Alloc would wait for ever", what, columns, strings.Join(others, ", "), tensorColumns)
	}
	t.columns, t.word = columns, k.Shared(name, U32)
	if len(k.errs) == errs { // finishTensors has no more to say of a mistake
		s.all = append(s.all, t)
	}
	return t
}

// ctaGroup is the modifier of all of the kernel's instructions of tcgen05: they must have the
// same (ISA 9.7.18.5).
func (k *Kernel) ctaGroup() string {
	if all := k.tensors().all; len(all) > 0 && all[0].pair {
		return "cta_group::2"
	}
	return "cta_group::1"
}

// finishTensors reports memory that is not allocated, or not freed.
func (k *Kernel) finishTensors() {
	for _, t := range k.tensors().all {
		switch {
		case t.allocated == (Place{}):
			k.failAt(t.at, "tensor memory %s is never allocated: one warp calls Alloc", t.name)
		case t.freed == (Place{}):
			k.failAt(t.allocated, "tensor memory %s is allocated and never freed: one warp calls Free when everything in it is complete, for a kernel must not end with it", t.name)
		}
	}
}

func (t *TensorMemory) kernel() *Kernel {
	if t == nil || t.k == nil {
		panic("kernel: the zero TensorMemory has no columns: it comes from Kernel.TensorMemory")
	}
	return t.k
}

// Name and Columns are those that it was declared with.
func (t *TensorMemory) Name() string { return t.name }
func (t *TensorMemory) Columns() int { return t.columns }

// owner reports a group that is not exactly one warp.
func (t *TensorMemory) owner(what string) bool {
	k := t.kernel()
	if !k.sized(what) {
		return false
	}
	if g := k.Group(); g.AnyWarp || g.Threads != 32 || g.First%32 != 0 {
		k.fail("%s of tensor memory %s is for one warp, all its threads together, and here are %s: use SingleWarp", what, t.name, g)
		return false
	}
	return true
}

// Alloc takes the columns, and waits until they are free. One warp executes it, once. The
// others may use the memory after a Sync. It emits tcgen05.alloc (ISA 9.7.18.7.1).
func (t *TensorMemory) Alloc() {
	if !t.owner("Alloc") {
		t.allocated = t.k.here()
		return
	}
	k := t.k
	switch s := k.tensors(); {
	case t.allocated != (Place{}):
		k.fail("Alloc of tensor memory %s, which is allocated already, at %s", t.name, t.allocated)
		return
	case s.relinquished != (Place{}):
		k.fail("Alloc of tensor memory %s: the CTA has given its permit up, at %s; Relinquish comes after the last Alloc", t.name, s.relinquished)
	}
	t.allocated = k.here()
	k.Inst("tcgen05.alloc."+k.ctaGroup()+".sync.aligned.shared::cta.b32", t.word, t.columns)
}

// Relinquish says that this CTA allocates no more, so that others on the processor need
// not wait for it. One warp executes it, after the last Alloc. It emits
// tcgen05.relinquish_alloc_permit.
func (t *TensorMemory) Relinquish() {
	if !t.owner("Relinquish") {
		return
	}
	k := t.k
	switch s := k.tensors(); {
	case s.relinquished != (Place{}):
		k.fail("Relinquish: the CTA has given its permit up already, at %s", s.relinquished)
		return
	case t.allocated == (Place{}):
		k.fail("Relinquish before Alloc of tensor memory %s: without the permit nothing can be allocated", t.name)
	default:
		s.relinquished = k.here()
	}
	k.Inst("tcgen05.relinquish_alloc_permit." + k.ctaGroup() + ".sync.aligned")
}

// Free gives the columns back. One warp executes it, once, when all products, loads and
// stores in them are complete. It emits tcgen05.dealloc.
func (t *TensorMemory) Free() {
	if !t.owner("Free") {
		t.freed = t.k.here()
		return
	}
	k := t.k
	switch {
	case t.freed != (Place{}):
		k.fail("Free of tensor memory %s, which is freed already, at %s", t.name, t.freed)
		return
	case t.allocated == (Place{}):
		k.fail("Free of tensor memory %s before its Alloc", t.name)
	}
	t.freed = k.here()
	k.Inst("tcgen05.dealloc."+k.ctaGroup()+".sync.aligned.b32", t.Address(), t.columns)
}

// Address returns the address of the first column, which Alloc has left in shared memory:
// a Sync lies between Alloc and the first use in other warps. The first call in a part of
// the text, a group, a loop or a branch, loads it, and calls inside of that part use the
// same register: call it ahead of a loop for one load.
func (t *TensorMemory) Address() Reg {
	k := t.kernel()
	for _, a := range t.known {
		if a.in == k.at && len(a.open) <= len(k.at.open) && slices.Equal(a.open, k.at.open[:len(a.open)]) {
			return a.reg
		}
	}
	r := t.word.Load()
	if k.guard == nil {
		t.known = append(t.known, tensorAddress{k.at, k.at.open, r})
	}
	return r
}

// take gives columns to a part, in turn.
func (t *TensorMemory) take(what string, n int) int {
	k := t.kernel()
	if t.taken+n > t.columns {
		who := ""
		if len(t.parts) > 0 {
			who = ", of which are taken: " + strings.Join(t.parts, ", ")
		}
		k.fail("%s takes %d columns of tensor memory %s, which has %d%s", what, n, t.name, t.columns, who)
		return 0
	}
	first := t.taken
	t.taken += n
	t.parts = append(t.parts, fmt.Sprintf("%d by %s at %s", n, what, k.here()))
	return first
}

// A tensorPart is columns of tensor memory, and all lanes or 32 of them.
type tensorPart struct {
	t     *TensorMemory
	first int
	vars  []term // columns
	lanes int    // the first of 32; -1 for all
}

// ptr returns the address of a column, in the first lane plus what lane adds.
func (p tensorPart) ptr(col int, lane Num) Ptr {
	a := p.t.Address()
	for _, v := range p.vars {
		a = v.reg.As(U32).Mad(v.bytes, a)
	}
	off := p.first + col
	if p.lanes > 0 {
		off += p.lanes << 16
	}
	if off != 0 {
		a = a.Add(off)
	}
	if r, ok := lane.(Reg); ok {
		a = a.Add(r)
	}
	return Ptr{k: p.t.k, space: Tensor, elem: B32, reg: a}
}

// warps reports a group that does not consist of whole warps.
func (k *Kernel) tensorWarps(what string) bool {
	if !k.sized(what) {
		return false
	}
	if g := k.Group(); g.First%32 != 0 || g.Threads%32 != 0 {
		k.fail("%s is for all threads of a warp together, and here are %s", what, g)
		return false
	}
	return true
}

// warp returns the address of a column in the lanes of the executing warp: a warp reaches
// the 32 of its number modulo 4 (ISA 9.7.18.8.1).
func (p tensorPart) warp(what string, col int) (Ptr, bool) {
	k := p.t.k
	if !k.tensorWarps(what) {
		return Ptr{}, false
	}
	if p.lanes < 0 {
		return p.ptr(col, k.index(false).And(96).Shl(16)), true
	}
	g := k.Group()
	if !g.AnyWarp && (g.Threads > 32 || g.First/32%4 != p.lanes/32) {
		k.fail("%s of lanes %d to %d by %s: a warp reaches the 32 lanes of its number modulo 4, and these are those of warp %d", what, p.lanes, p.lanes+31, g, p.lanes/32)
		return Ptr{}, false
	}
	return p.ptr(col, nil), true
}

// TensorWaitLoad waits for the thread's earlier loads from tensor memory. A register may be
// read before, by the ISA's letter, but only after it do the loads come before what the
// thread signals: that their columns may be written, or freed. It emits tcgen05.wait::ld
// (ISA 9.7.18.8.5).
func (k *Kernel) TensorWaitLoad() {
	if k.tensorWarps("TensorWaitLoad") {
		k.Inst("tcgen05.wait::ld.sync.aligned")
	}
}

// TensorWaitStore waits for the thread's earlier stores to tensor memory. It emits
// tcgen05.wait::st.
func (k *Kernel) TensorWaitStore() {
	if k.tensorWarps("TensorWaitStore") {
		k.Inst("tcgen05.wait::st.sync.aligned")
	}
}

// TensorFenceBefore orders the thread's earlier accesses of tensor memory before a
// synchronization that follows, such as an arrival or a Sync. It emits
// tcgen05.fence::before_thread_sync (ISA 9.7.18.11.1). Commit implies it.
func (k *Kernel) TensorFenceBefore() { k.Inst("tcgen05.fence::before_thread_sync") }

// TensorFenceAfter orders the thread's later accesses of tensor memory, and its products,
// after the synchronization before it, such as a wait or a Sync. It emits
// tcgen05.fence::after_thread_sync.
func (k *Kernel) TensorFenceAfter() { k.Inst("tcgen05.fence::after_thread_sync") }
