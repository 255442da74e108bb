package story

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"muster/internal/diag"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/resolve"
	"muster/mbarrier"
	"muster/report"
)

// A Teller observes a run and tells steps of it.
type Teller struct {
	Print
	names    *resolve.Resolver
	told     []told
	telling  bool
	who      string // the agent of the step
	does     []phrase
	issues   []issue
	bars     []barrier
	passed   []string // named barriers' generations that the step completed
	columns  []int32  // CTAs whose columns of tensor memory the step changed
	pc       int32
	multiple bool // the grid has more CTAs than one
}

// A phrase is what a step does, with the lanes that do it where that matters.
type phrase struct {
	text  string // with %s for the number
	lanes int
	each  bool // lanes count
}

// NewTeller returns a teller of the given steps, which ascend.
func NewTeller(names *resolve.Resolver, steps []told) *Teller {
	g := names.Grid
	return &Teller{names: names, told: steps, multiple: g[0]*g[1]*g[2] > 1 || len(names.Launches) > 0}
}

// Go steps a machine that the teller observes through a run, to step until, and
// tells it.
func (t *Teller) Go(m *machine.Machine, run []machine.Choice, until int) *report.Story {
	s := &report.Story{Version: report.StoryVersion, Total: len(run), Switches: explore.Switches(run), Steps: []report.Step{}}
	if until < len(run) {
		s.Until = until
	}
	next, from := 0, 1
	for i, c := range run[:until] {
		n := i + 1
		t.choice(c)
		if next == len(t.told) || t.told[next].step != n {
			m.Step(c)
			continue
		}
		if from < n {
			s.Steps = append(s.Steps, t.stretch(run, from, n-1))
		}
		s.Steps = append(s.Steps, t.tell(m, c, t.told[next]))
		from, next = n+1, next+1
	}
	if from <= until {
		s.Steps = append(s.Steps, t.stretch(run, from, until))
	}
	if s.Until == 0 {
		m.Conclude()
		s.End = t.End(m)
	}
	t.close(m)
	return s
}

// maxTurns is how many turns of a stretch are told one by one.
const maxTurns = 4

// stretch folds steps first to last.
func (t *Teller) stretch(run []machine.Choice, first, last int) report.Step {
	s := report.Step{First: first, Last: last, Site: -1}
	type turn struct {
		who   string
		steps int
	}
	var turns []turn
	for n := first; n <= last; n++ {
		if n > first && explore.SameAgent(run[n-1], run[n-2]) {
			turns[len(turns)-1].steps++
			continue
		}
		who := t.chooser(run[n-1])
		if k := len(turns); k > 0 && turns[k-1].who == who {
			turns[k-1].steps++
			continue
		}
		turns = append(turns, turn{who, 1})
	}
	s.Turns = len(turns)
	if !slices.ContainsFunc(run[first-1:last], func(c machine.Choice) bool { return c.Kind != machine.GiveUp }) {
		s.Who = fmt.Sprintf("%s: %s, %swhich gives up a wait as a timeout would", t.summary(run[first-1:last]), diag.Plural(last-first+1, "step"), iff(first == last, "", "each of "))
		return s
	}
	if s.Turns > maxTurns {
		s.Who = fmt.Sprintf("%s: %s in %d turns", t.summary(run[first-1:last]), diag.Plural(last-first+1, "step"), s.Turns)
		return s
	}
	var parts []string
	for _, u := range turns {
		parts = append(parts, fmt.Sprintf("%s: %s", u.who, diag.Plural(u.steps, "step")))
	}
	s.Who = strings.Join(parts, "; ")
	return s
}

// chooser names the agent of a choice, without its lanes.
func (t *Teller) chooser(c machine.Choice) string {
	switch c.Kind {
	case machine.Milestone, machine.Refuse:
		return fmt.Sprintf("operation %d", c.Op)
	case machine.Start:
		return t.cta(c.CTA)
	}
	return t.warp(c.CTA, c.Warp)
}

// cta names a CTA, by its launch too where there are several.
func (t *Teller) cta(i int32) string {
	if l := t.names.LaunchOf(i); l != "" {
		return l + ", " + diag.CTA(t.names.CTA(i))
	}
	return diag.CTA(t.names.CTA(i))
}

// warp names a warp, with its CTA if there are several.
func (t *Teller) warp(cta, warp int32) string {
	if !t.multiple {
		return fmt.Sprintf("warp %d", warp)
	}
	return fmt.Sprintf("%s, warp %d", t.cta(cta), warp)
}

// summary names the agents of a stretch.
func (t *Teller) summary(run []machine.Choice) string {
	type place struct{ cta, warp int32 }
	var warps []place
	ctas := map[int32]bool{}
	var ops []int64
	starts := 0
	for _, c := range run {
		switch c.Kind {
		case machine.Milestone, machine.Refuse:
			ops = append(ops, c.Op)
		case machine.Start:
			starts++
		default:
			warps = append(warps, place{c.CTA, c.Warp})
			ctas[c.CTA] = true
		}
	}
	slices.SortFunc(warps, func(a, b place) int {
		if a.cta != b.cta {
			return int(a.cta) - int(b.cta)
		}
		return int(a.warp) - int(b.warp)
	})
	warps = slices.Compact(warps)
	slices.Sort(ops)
	ops = slices.Compact(ops)
	var parts []string
	switch {
	case len(warps) == 1:
		parts = append(parts, t.warp(warps[0].cta, warps[0].warp))
	case len(ctas) == 1 && int(warps[len(warps)-1].warp-warps[0].warp) == len(warps)-1:
		text := fmt.Sprintf("warps %d-%d", warps[0].warp, warps[len(warps)-1].warp)
		if t.multiple {
			text = t.cta(warps[0].cta) + ", " + text
		}
		parts = append(parts, text)
	case len(ctas) == 1:
		parts = append(parts, diag.Plural(len(warps), "warp"))
	case len(warps) > 0:
		parts = append(parts, fmt.Sprintf("%s of %s", diag.Plural(len(warps), "warp"), diag.Plural(len(ctas), "CTA")))
	}
	switch {
	case len(ops) == 1:
		parts = append(parts, fmt.Sprintf("operation %d", ops[0]))
	case len(ops) > 1 && int(ops[len(ops)-1]-ops[0]) == len(ops)-1:
		parts = append(parts, fmt.Sprintf("operations %d-%d", ops[0], ops[len(ops)-1]))
	case len(ops) > 1:
		parts = append(parts, diag.Plural(len(ops), "operation"))
	}
	if starts > 0 {
		parts = append(parts, diag.Plural(starts, "start"))
	}
	return strings.Join(parts, ", ")
}

// tell performs a step and tells it.
func (t *Teller) tell(m *machine.Machine, c machine.Choice, of told) report.Step {
	s := report.Step{First: of.step, Last: of.step, Choice: c.String(), Site: of.site}
	t.telling, t.does, t.issues, t.bars, t.passed, t.columns, t.pc = true, nil, nil, nil, nil, nil, -1
	lane := c.Lane
	switch c.Kind {
	case machine.Milestone, machine.Refuse:
		s.Who = fmt.Sprintf("operation %d", c.Op)
		for _, op := range m.InFlight() {
			if op.ID == c.Op {
				s.Who = fmt.Sprintf("%s %d", opWord(op), op.ID)
				t.pc = op.PC
			}
		}
	case machine.Start:
		s.Who = t.cta(c.CTA)
	default:
		s.Who = t.warp(c.CTA, c.Warp)
		for _, v := range m.Waiting() {
			if v.CTA == c.CTA && v.Warp == c.Warp && v.Mask>>lane&1 != 0 {
				t.pc = v.PC
				switch {
				case c.Kind == machine.Alone:
					s.Who += lanesText(1 << lane)
				case c.Kind == machine.Subset:
					s.Who += lanesText(uint32(c.Op))
				case v.Mask != ^uint32(0):
					s.Who += lanesText(v.Mask)
				}
			}
		}
	}
	s.Where, s.PTX = t.names.Where(t.pc)
	t.who = s.Who
	m.Step(c)
	t.telling = false
	asleep := false
	s.Does, asleep = t.phrases(m, c)
	if of.asleep && !asleep {
		s.Site = -1
	}
	s.Ledger = t.ledger(m)
	return s
}

func lanesText(mask uint32) string {
	if mask&(mask-1) == 0 {
		return ", lane " + diag.Lanes(mask)
	}
	return ", lanes " + diag.Lanes(mask)
}

// phrases lists what the step did: its events, and whether and where the split
// falls asleep.
func (t *Teller) phrases(m *machine.Machine, c machine.Choice) (list []string, asleep bool) {
	for _, p := range t.does {
		text := p.text
		if p.each && p.lanes > 1 {
			text += fmt.Sprintf(", by %d lanes", p.lanes)
		}
		list = append(list, text)
	}
	for i := range t.issues {
		list = append(list, t.issued(&t.issues[i]))
	}
	if c.Kind == machine.GiveUp {
		list = append(list, "gives up its wait, as a bound or a timeout would")
	}
	if len(list) == 0 && t.pc >= 0 {
		if in := t.names.Program.Inst(t.pc); in != nil {
			list = append(list, "executes "+machine.Name(in))
		}
	}
	if c.Kind != machine.Milestone && c.Kind != machine.Refuse && c.Kind != machine.Start {
		for _, v := range m.Waiting() {
			if v.CTA == c.CTA && v.Warp == c.Warp && v.Mask>>c.Lane&1 != 0 {
				if what := t.waitsFor(&v); what != "" {
					asleep = true
					if v.PC == t.pc {
						list = append(list, "sleeps until "+what)
						continue
					}
					where, _ := t.names.Where(v.PC)
					list = append(list, fmt.Sprintf("comes to %s and sleeps there until %s", where, what))
				}
			}
		}
	}
	return list, asleep
}

// waitsFor says what a split waits for; empty if for nothing.
func (t *Teller) waitsFor(v *machine.WaitingSplit) string {
	switch v.Kind {
	case machine.WaitMbar:
		var parts []string
		for i, b := range v.Tests {
			if i == 2 {
				parts = append(parts, "…")
				break
			}
			parts = append(parts, fmt.Sprintf("phase %d of %s is complete", b.Phase, t.barName(barrier{mem: b.Bar.Mem, addr: b.Bar.Addr})))
		}
		if len(parts) == 0 {
			return ""
		}
		return strings.Join(parts, ", or ")
	case machine.WaitMemory:
		return t.bytes(machine.Span{Mem: v.Mem, Addr: v.Addr, Len: 4}, v.CTA) + " changes"
	case machine.WaitNamed:
		return fmt.Sprintf("generation %d of barrier %d is complete", v.Gen, v.Bar)
	case machine.WaitWarp:
		return "the other lanes of its warp come"
	case machine.WaitCluster:
		return "every thread of the cluster has arrived"
	case machine.WaitRegisters:
		return fmt.Sprintf("%d registers are free, of which the pool has %d", v.Need, v.Free)
	case machine.WaitGroup:
		return "its own asynchronous operations are complete"
	case machine.WaitColumns:
		return fmt.Sprintf("%d columns of tensor memory are free together, of which %d are", v.Need, v.Free)
	case machine.WaitPair:
		return "the other CTA of its pair comes"
	}
	return ""
}

// barName names a barrier.
func (t *Teller) barName(b barrier) string {
	if b.named {
		return fmt.Sprintf("barrier %d", b.addr)
	}
	return t.mbarName(b.mem, b.addr, -1)
}

// maxBarriers is the largest variable, in bytes, that may be an array of mbarriers.
const maxBarriers = 512

// mbarName names an mbarrier: as the element of an array that a C++ program sees.
func (t *Teller) mbarName(mem machine.MemID, addr uint64, cta int32) string {
	name := t.names.Span(machine.Span{Mem: mem, Addr: addr, Len: 8})
	text := name.Text
	// Larger variables also hold other things, as dynamic shared memory does.
	if size := t.names.SizeOf(name); name.Name != "" && name.Offset%8 == 0 && size <= maxBarriers {
		text = name.Name
		if size > 8 {
			text += fmt.Sprintf("[%d]", name.Offset/8)
		}
	} else if name.Name != "" {
		text = fmt.Sprintf("%s+%d", name.Name, name.Offset)
	}
	if name.CTA != nil && t.multiple && mem.CTA() != cta {
		text += " of " + diag.CTA(*name.CTA)
	}
	return text
}

// bytes names a range, and the CTA whose shared memory it is if that is not cta.
func (t *Teller) bytes(s machine.Span, cta int32) string {
	mem := t.names.Span(s)
	if mem.CTA != nil && t.multiple && s.Mem.CTA() != cta {
		return mem.Text + " of " + diag.CTA(*mem.CTA)
	}
	return mem.Text
}

// ledger is the state of the barriers that the step touched, and of the tensor memory that it
// allocated or freed.
func (t *Teller) ledger(m *machine.Machine) []string {
	var list []string
	for _, b := range t.bars {
		if text := t.state(m, b); text != "" {
			list = append(list, text)
		}
	}
	for _, cta := range t.columns {
		list = append(list, t.allocated(m, cta))
	}
	return append(list, t.passed...)
}

// state is a barrier's ledger.
func (t *Teller) state(m *machine.Machine, b barrier) string {
	name := t.barName(b)
	if b.named {
		gen, arrived, count := m.NamedBarrier(b.mem.CTA(), int32(b.addr))
		if count == 0 {
			return ""
		}
		return fmt.Sprintf("%s: generation %d, %d of %d threads have come", name, gen, arrived, count)
	}
	now, ok := m.BarrierAt(b.mem, b.addr)
	switch {
	case !ok:
		return ""
	case !now.Live:
		return name + ": not live"
	}
	return name + ": " + mbarrier.State{Word: now.Word, Phase: uint64(now.Phase)}.String()
}

// End says how the run of a machine ended.
func (t *Teller) End(m *machine.Machine) string {
	st := m.Stopped()
	switch {
	case st == nil && m.Done():
		return "every CTA has ended"
	case st == nil:
		return "the run was cut short"
	case st.Kind == machine.Deadlock:
		return "nothing can go on: " + strings.Join(t.sleepers(m), "; ")
	}
	where, _ := t.names.Where(st.PC)
	text := st.Msg
	if text == "" {
		text = stopWords[st.Kind]
	}
	if where == "" {
		return "it stops: " + t.names.Names(text)
	}
	return fmt.Sprintf("it stops at %s: %s", where, t.names.Names(text))
}

// maxSleepers bounds the groups of waiting splits named at the end.
const maxSleepers = 8

// sleepers names the splits that wait at the end and what for, consecutive warps
// with the same wait together.
func (t *Teller) sleepers(m *machine.Machine) []string {
	type group struct {
		cta, first, last int32
		mask             uint32
		what             string
	}
	var list []group
	for _, v := range m.Waiting() {
		what := t.waitsFor(&v)
		if what == "" {
			continue
		}
		where, _ := t.names.Where(v.PC)
		g := group{v.CTA, v.Warp, v.Warp, v.Mask, fmt.Sprintf("at %s until %s", where, what)}
		if n := len(list) - 1; n >= 0 && list[n].cta == g.cta && list[n].mask == g.mask && list[n].what == g.what && list[n].last+1 == g.first {
			list[n].last = g.last
			continue
		}
		list = append(list, g)
	}
	var parts []string
	for i, g := range list {
		if i == maxSleepers {
			return append(parts, fmt.Sprintf("and %d more", len(list)-i))
		}
		who := t.warp(g.cta, g.first)
		if g.last > g.first {
			who = strings.Replace(who, fmt.Sprintf("warp %d", g.first), fmt.Sprintf("warps %d-%d", g.first, g.last), 1)
		}
		if g.mask != ^uint32(0) {
			who += lanesText(g.mask)
		}
		parts = append(parts, who+" "+g.what)
	}
	return parts
}

var stopWords = map[machine.StopKind]string{
	machine.FaultBounds: "an address outside of memory", machine.FaultAlign: "a misaligned address", machine.FaultBarrier: "a barrier faults",
	machine.FaultTrap: "trap", machine.FaultAssert: "an assertion", machine.FaultMap: "a tensor map that does not allow it",
	machine.FaultDescriptor: "a matrix descriptor", machine.FaultOther: "what the ISA leaves undefined", machine.Unmodelled: "not modelled",
	machine.FaultTensorAlloc: "what the allocation of tensor memory forbids", machine.FaultTensorBounds: "columns that are not allocated", machine.FaultTensorLanes: "lanes of another warp",
	machine.LimitInstrs: "the limit of instructions", machine.LimitLocal: "the limit of local memory",
}

var kindWords = map[machine.OpKind]string{
	machine.OpCpAsync: "cp.async", machine.OpBulkCopy: "bulk copy", machine.OpBulkReduce: "bulk reduction", machine.OpBulkPrefetch: "bulk prefetch",
	machine.OpStAsync: "st.async", machine.OpRedAsync: "red.async", machine.OpMbarArrive: "asynchronous arrive", machine.OpWgmma: "wgmma",
	machine.OpTensorMultiply: "tcgen05.mma", machine.OpTensorCopy: "tcgen05.cp", machine.OpTensorShift: "tcgen05.shift", machine.OpTensorLoad: "tcgen05.ld", machine.OpTensorStore: "tcgen05.st", machine.OpCancel: "request for a cluster",
}

// opWord names an operation: the arrival of a tcgen05.commit by what makes it.
func opWord(op *machine.Op) string {
	if op.Tracks == machine.GroupTensor {
		return "commit"
	}
	return kindWord(op.Kind)
}

func kindWord(k machine.OpKind) string {
	if w := kindWords[k]; w != "" {
		return w
	}
	return "operation"
}

// use records that the step touched a barrier.
func (t *Teller) use(b barrier) {
	b.is = true
	if !slices.Contains(t.bars, b) {
		t.bars = append(t.bars, b)
	}
}

// say records what the step did; the same by several lanes once.
func (t *Teller) say(lanes uint32, each bool, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for i := range t.does {
		if t.does[i].text == text {
			t.does[i].lanes += bits.OnesCount32(lanes)
			return
		}
	}
	t.does = append(t.does, phrase{text: text, lanes: bits.OnesCount32(lanes), each: each})
}
