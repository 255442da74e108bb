package rules

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/ptx"
)

// A namedWatch records one named barrier of a CTA: the open generation and the
// one before.
type namedWatch struct {
	gen   uint64
	count uint32
	forms uint8 // seen in this generation, as Event.Forms has them
	who   []lanes
	prior []lanes // of generation gen-1
	usual []lanes
	sites []Site
	// counts are the thread counts that the instructions at sites give; pcs
	// are all instructions of this barrier.
	counts []uint32
	pcs    []int32
	bad    string // the first error
	lapped string // a warp that may arrive too early, though it did not here
	times  int
	// registers propagates the counts of setmaxnreg.
	registers handing
}

var barRoles = [...]string{machine.BarSync: "syncs", machine.BarArrive: "arrives", machine.BarRed: "reduces"}

// whole is the count of a barrier at which every thread of the CTA arrives.
func (j *Judge) whole() uint32 { return uint32(j.Warps) * 32 }

// wrong records an error at a named barrier.
func (b *namedWatch) wrong(text string) {
	if b.bad == "" {
		b.bad = text
	}
	b.times++
}

// namedArrive records a warp's arrival at a named barrier.
func (j *Judge) namedArrive(ev *machine.Event) {
	b := &j.cta(ev.CTA).named[ev.Bar]
	if ev.Gen != b.gen {
		b.prior, b.who = b.who, b.prior[:0]
		if ev.Gen != b.gen+1 {
			b.prior = b.prior[:0]
		}
		b.gen, b.count, b.forms = ev.Gen, 0, 0
	}
	b.place(ev)
	if !slices.Contains(b.pcs, ev.PC) {
		b.pcs = append(b.pcs, ev.PC)
	}
	x := j.warp(ev.CTA, ev.Warp)
	switch at := fmt.Sprintf; {
	case b.count != 0 && b.count != ev.Count:
		b.wrong(at("generation %d counts %d threads for one warp and %d for another", ev.Gen, b.count, ev.Count))
	case !j.watch.strong && unknown(b.prior, ev.Warp, x.most(ev.Mask)):
		b.lap(at("warp %d comes to generation %d without knowing that generation %d is complete: it may fill that one instead", ev.Warp, ev.Gen, ev.Gen-1))
	case mixed(b.forms | ev.Forms):
		b.wrong(at("generation %d mixes bar.red with other forms", ev.Gen))
	case bits.OnesCount8(b.forms|ev.Forms) > 1 && !synced(b.forms|ev.Forms):
		b.wrong(at("generation %d mixes reductions by several operations", ev.Gen))
	}
	b.count, b.forms = ev.Count, b.forms|ev.Forms
	e := lanes{cta: ev.CTA, warp: ev.Warp, mask: ev.Mask, count: 32, pc: ev.PC, first: j.watch.now, last: j.watch.now}
	b.who = join(b.who, e)
	b.usual = join(b.usual, e)
}

// synced reports whether there is a sync or an arrive among forms, mixed whether there
// are reductions too.
func synced(forms uint8) bool { return forms&(1<<machine.BarRed-1) != 0 }

func mixed(forms uint8) bool { return synced(forms) && forms>>machine.BarRed != 0 }

// lap records an error that another schedule could show.
func (b *namedWatch) lap(text string) {
	if b.lapped == "" {
		b.lapped = text
	}
	b.times++
}

// place keeps, for each form and count, the first instruction of the program.
func (b *namedWatch) place(ev *machine.Event) {
	role := barRoles[ev.Mode]
	for i := range b.sites {
		if b.counts[i] == ev.Count && b.sites[i].Role == role {
			if ev.PC < b.sites[i].PC {
				b.sites[i] = eventSite(role, ev)
			}
			return
		}
	}
	if len(b.sites) < maxSites {
		b.sites, b.counts = append(b.sites, eventSite(role, ev)), append(b.counts, ev.Count)
	}
}

// unknown reports whether some other warp's arrival is later than the time up to
// which a warp can know of events.
func unknown(list []lanes, warp int32, known int64) bool {
	for i := range list {
		if list[i].warp != warp && list[i].last > known {
			return true
		}
	}
	return false
}

// namedPass lets a warp learn all events up to the generation's last arrival.
func (j *Judge) namedPass(ev *machine.Event) {
	b := &j.cta(ev.CTA).named[ev.Bar]
	x := j.warp(ev.CTA, ev.Warp)
	list := b.who
	if ev.Gen != b.gen {
		list = b.prior
	}
	if ev.ByExit || ev.Gen != b.gen && ev.Gen+1 != b.gen || len(list) == 0 {
		j.learn(x, ev.Mask, j.watch.now)
	}
	last := int64(0)
	for i := range list {
		last = max(last, list[i].last)
	}
	j.learn(x, ev.Mask, last)
}

// namedFindings turns the evidence of a CTA into findings. If there was an error
// in the CTA, possible errors are usually its consequence; if the run was cut, an
// error may yet come.
func (j *Judge) namedFindings(cta int32, how parting) {
	named := &j.watch.ctas[cta].named
	wrong := slices.ContainsFunc(named[:], func(b namedWatch) bool { return b.bad != "" })
	for id := range named {
		b := &named[id]
		if !wrong && how != cut {
			b.bad = b.lapped
		}
		if b.bad != "" {
			j.add(namedBarrierMismatch, b.finding(cta, id))
		}
	}
}

func (b *namedWatch) finding(cta int32, id int) Finding {
	return Finding{
		Headline: fmt.Sprintf("named barrier %d of CTA %d: %s", id, cta, b.bad),
		Sites:    sorted(b.sites),
		Missing:  "nothing makes every generation of this barrier one arrival of each warp that its count stands for",
		Fix:      "give every bar of this number the same count, the number of threads that come to one generation (syncing and arriving warps together); let a warp come again only after a barrier that the others pass later, such as a second number for the way back",
		Ledger:   []string{fmt.Sprintf("barrier %d, generation %d: %d of %d threads have come, %d warps use it", id, b.gen, total(b.who), b.count, len(b.usual))},
		Count:    b.times,
	}
}

// clusterArrive and clusterWait check that each thread alternates.
func (j *Judge) clusterArrive(ev *machine.Event) {
	x := j.warp(ev.CTA, ev.Warp)
	if again := (x.cluster | ev.Again) & ev.Mask; again != 0 {
		j.note(clusterBarrierMismatch, x.arrived, ev.PC, func() Finding {
			s := eventSite("arrives again", ev)
			s.Lanes = again
			first := s
			first.Role, first.PC = "arrives", x.arrived
			return Finding{
				Headline: fmt.Sprintf("warp %d of CTA %d arrives at the cluster's barrier twice with no wait between", ev.Warp, ev.CTA),
				Sites:    []Site{first, s},
				Missing:  "no barrier.cluster.wait stands between the two arrivals of a thread",
				Fix:      "wait after each barrier.cluster.arrive before the thread arrives again",
			}
		})
	}
	x.cluster |= ev.Mask
	x.arrived = ev.PC
}

func (j *Judge) clusterWait(ev *machine.Event) {
	x := j.warp(ev.CTA, ev.Warp)
	if none := ev.Mask &^ x.cluster; none != 0 {
		j.note(clusterBarrierMismatch, -1, ev.PC, func() Finding {
			s := eventSite("waits", ev)
			s.Lanes = none
			return Finding{
				Headline: fmt.Sprintf("warp %d of CTA %d waits at the cluster's barrier without having arrived", ev.Warp, ev.CTA),
				Sites:    []Site{s},
				Missing:  "no barrier.cluster.arrive of the same thread comes before this wait",
				Fix:      "let each thread that waits at the cluster's barrier arrive at it first",
			}
		})
	}
	x.cluster &^= ev.Mask
	j.learn(x, ev.Mask, j.watch.now)
}

// A parted is an aligned instruction that part of a warp reached while the other lanes
// waited for other threads, with the instruction still reachable. If they wait for ever,
// the error is that wait, and not the aligned instruction.
type parted struct {
	a, b    int32
	finding Finding
	kind    *Kind
	far     []machine.WaitingSplit
}

// divergent reports an aligned instruction that part of a warp executes: the
// first one of each warp, for later ones follow from it.
func (j *Judge) divergent(m *machine.Machine, ev *machine.Event) {
	x := j.warp(ev.CTA, ev.Warp)
	in := j.Program.Inst(ev.PC)
	if x.diverged || in != nil && in.Effect().Has(ptx.Warpgroup) { // which is reported with its warpgroup
		return
	}
	x.diverged = true
	kind, what := divergentBarrier, "lanes"
	if in != nil && in.Effect().Has(ptx.SetsRegisters) {
		kind = registerBudget
	}
	sites := []Site{eventSite("reaches", ev)}
	var elsewhere []Waiter
	rest, far := j.rest(m, ev)
	for _, v := range rest {
		s := Site{Role: "reaches", PC: v.PC, CTA: v.CTA, Warp: v.Warp, Lanes: v.Mask}
		sites = enter(sites, s)
		elsewhere = append(elsewhere, Waiter{Site: s, For: "the rest of its warp"})
	}
	key := sites[len(sites)-1].PC
	f := Finding{
		Headline: fmt.Sprintf("%d %s of warp %d of CTA %d execute %s, which is aligned, without the rest of the warp", bits.OnesCount32(ev.Mask), what, ev.Warp, ev.CTA, j.at(ev.PC)),
		Sites:    sites,
		Missing:  "nothing makes all lanes of the warp that have not exited come to the same instruction",
		Fix:      "move the instruction out of the divergent branch, or make the branch's condition the same for all lanes of a warp; a barrier that lanes may reach apart is barrier.sync without .aligned",
		Waiting:  elsewhere,
	}
	if kind == registerBudget {
		f.Fix = "let all lanes of all four warps of the warpgroup execute the same setmaxnreg"
	}
	j.part(&parted{sites[0].PC, key, f, kind, far}, rest)
}

// rest returns the other waiting lanes of the warp of an aligned instruction, and those
// of them that wait for other threads with the instruction still reachable.
func (j *Judge) rest(m *machine.Machine, ev *machine.Event) (rest, far []machine.WaitingSplit) {
	for _, v := range m.Waiting() {
		if v.CTA != ev.CTA || v.Warp != ev.Warp || v.Mask&ev.Mask != 0 {
			continue
		}
		rest = append(rest, v)
		if reachesFar(v) && j.Program.Reach(append([]int32{v.PC}, v.Returns...)...)[ev.PC] {
			far = append(far, v)
		}
	}
	return rest, far
}

// part reports p now or, if all other lanes of the warp may yet come, at the run's end.
func (j *Judge) part(p *parted, rest []machine.WaitingSplit) {
	if len(p.far) > 0 && len(p.far) == len(rest) {
		j.watch.parted = append(j.watch.parted, *p)
		return
	}
	j.tell(p)
}

func (j *Judge) tell(p *parted) { j.note(p.kind, p.a, p.b, func() Finding { return p.finding }) }

// keepApart reports all parted: the run did not end in a deadlock.
func (j *Judge) keepApart() {
	for i := range j.watch.parted {
		j.tell(&j.watch.parted[i])
	}
	j.watch.parted = nil
}

// dropApart reports, at a deadlock, those parted whose other lanes have moved on
// since, and drops the rest.
func (j *Judge) dropApart(all []machine.WaitingSplit, stop *machine.Stop) {
	gotOn := func(was machine.WaitingSplit) bool {
		return !slices.ContainsFunc(all, func(v machine.WaitingSplit) bool {
			// Lanes that trapped had waited up to their bound.
			return sameWait(&v, &was) || v.CTA == was.CTA && v.Warp == was.Warp && v.Mask&was.Mask != 0 && v.PC == stop.PC
		})
	}
	j.watch.parted = slices.DeleteFunc(j.watch.parted, func(p parted) bool { return !slices.ContainsFunc(p.far, gotOn) })
	j.keepApart()
}

// sameWait reports whether lanes still wait at the same place for the same thing.
func sameWait(v, was *machine.WaitingSplit) bool {
	return v.CTA == was.CTA && v.Warp == was.Warp && v.PC == was.PC && v.Mask&was.Mask == was.Mask && v.Kind == was.Kind &&
		v.Mem == was.Mem && v.Addr == was.Addr && v.Val == was.Val && slices.Equal(v.Looks, was.Looks) &&
		slices.EqualFunc(v.Tests, was.Tests, func(a, b machine.MbarTestState) bool { return a.Bar == b.Bar && a.Phase == b.Phase })
}

// sorted returns sites in order of the program.
func sorted(sites []Site) []Site {
	out := slices.Clone(sites)
	slices.SortFunc(out, func(a, b Site) int { return cmp.Or(cmp.Compare(a.PC, b.PC), cmp.Compare(a.Role, b.Role)) })
	return out
}
