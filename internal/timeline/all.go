package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/internal/resolve"
	"muster/report"
)

// This file shows what a Recorder shows only if it is asked: who accesses which buffer and
// when, the generations of named barriers, and columns of tensor memory. Its methods take a
// nil receiver, of a Recorder that was not asked.

// Ranks of further tracks: behind mbarriers, whose ranks grow with their addresses.
const (
	firstNamed  = 1 << 26
	firstColumn = 1<<26 + 1<<8
	firstBuffer = 1<<26 + 1<<9
	globalRank  = 1 << 30
)

// Categories of their marks.
const (
	catAccess     = "access"
	catGeneration = "generation"
	catColumns    = "columns"
)

// All makes the recorder show these too.
func (r *Recorder) All() {
	r.all = &all{buffers: map[buffer]uint64{}, named: map[namedBar]*generation{}, columns: map[machine.Span]*allocated{}, rows: map[int32][]*row{}}
}

type all struct {
	buffers map[buffer]uint64 // tracks
	access  []access          // of the present step
	named   map[namedBar]*generation
	columns map[machine.Span]*allocated
	rows    map[int32][]*row // of columns, by CTA
}

// A buffer names a region of a memory; a nil region is what lies in none.
type buffer struct {
	mem    machine.MemID
	region *resolve.Region
}

// An access is what a step does in a buffer.
type access struct {
	at           buffer
	does         machine.Access
	lo, hi       uint64 // from lo to below hi
	bytes        uint64
	lanes        uint32
	pc           int32
	cta, warp    int32
	proxy        machine.Proxy
	op           *machine.Op
	strong, init bool
}

type namedBar struct{ cta, id int32 }

// A generation is the open one of a named barrier.
type generation struct {
	track, arrived uint64
	open           bool
	gen            uint64
	begin          int64
	warps          int64
	by             string
	place          *place
}

type allocated struct {
	row   *row
	begin int64
	mark  report.TraceMark
}

func (a *all) observe(r *Recorder, ev *machine.Event) {
	if a == nil {
		return
	}
	defer r.meet(ev)
	switch ev.Kind {
	case machine.EvAccess:
		a.lanes(r, ev)
	case machine.EvSource:
		a.spans(r, ev, ev.Op.Reads, machine.Read)
	case machine.EvWritten:
		a.spans(r, ev, ev.Op.Writes, machine.Write)
	case machine.EvBarArrive:
		a.arrive(r, ev)
	case machine.EvTensorAlloc:
		a.allocate(r, ev)
	case machine.EvTensorFree:
		a.free(r, ev.Span, r.now.n, r.names.Agent(ev.CTA, ev.Warp))
	}
}

// lanes records what lanes of a warp access, buffer by buffer.
func (a *all) lanes(r *Recorder, ev *machine.Event) {
	for k := ev.Mask; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k)
		a.add(r, access{does: ev.Access, lanes: 1 << l, pc: ev.PC, cta: ev.CTA, warp: ev.Warp, proxy: ev.Proxy,
			strong: ev.Sem != machine.Weak, init: ev.Init>>l&1 != 0}, ev.Mem, ev.Addr[l], uint64(ev.Size))
	}
}

func (a *all) spans(r *Recorder, ev *machine.Event, spans []machine.Span, does machine.Access) {
	o := ev.Op
	for _, s := range spans {
		a.add(r, access{does: does, pc: o.PC, cta: o.CTA, warp: o.Warp, proxy: o.Proxy, op: o, init: !o.Uninit}, s.Mem, s.Addr, s.Len)
	}
}

// add adds an access of n bytes to those of the step. Of one agent there is one a buffer.
func (a *all) add(r *Recorder, x access, mem machine.MemID, addr, n uint64) {
	if n == 0 || mem == machine.Local {
		return
	}
	x.at, x.lo, x.hi, x.bytes = buffer{mem, r.res.RegionAt(mem, addr)}, addr, addr+n, n
	for i := range a.access {
		o := &a.access[i]
		if o.at == x.at && o.op == x.op && o.pc == x.pc {
			o.does |= x.does
			o.lo, o.hi, o.bytes = min(o.lo, x.lo), max(o.hi, x.hi), o.bytes+n
			o.lanes |= x.lanes
			o.init = o.init && x.init
			return
		}
	}
	a.access = append(a.access, x)
}

// stepped shows what the step did in buffers and at named barriers.
func (a *all) stepped(r *Recorder) {
	if a == nil {
		return
	}
	for i := range a.access {
		a.accessed(r, &a.access[i])
	}
	a.access = a.access[:0]
	for k := range int32(16) {
		at := namedBar{r.now.choice.CTA, k}
		if g := a.named[at]; g != nil && g.open {
			a.counted(r, at, g)
		}
	}
}

// does names what an access does.
func doing(a machine.Access) string {
	switch {
	case a&machine.Update != 0:
		return "updates"
	case a == machine.Read|machine.Write:
		return "reads and writes"
	case a&machine.Write != 0:
		return "writes"
	}
	return "reads"
}

var proxies = map[machine.Proxy]string{machine.Async: "async", machine.TensorMap: "tensormap", machine.Constant: "constant"}

// accessed shows an access. Offsets are numbers, since texts would be as many as steps.
func (a *all) accessed(r *Recorder, x *access) {
	p := r.place(x.pc)
	base := uint64(0)
	if x.at.region != nil {
		base = x.at.region.Base
	}
	who := r.names.Agent(x.cta, x.warp)
	args := []report.TraceArg{{Name: "offset", Number: int64(x.lo - base)}, {Name: "end", Number: int64(x.hi - base)}, {Name: "bytes", Number: int64(x.bytes)},
		{Name: "instruction", Text: p.name}}
	if x.op != nil {
		who = r.names.Op(x.op) + " of " + who
		args = append(args, report.TraceArg{Name: "operation", Number: x.op.ID})
	} else if x.lanes != ^uint32(0) {
		args = append(args, report.TraceArg{Name: "lanes", Text: r.names.Lanes(x.lanes)})
	}
	args = append(args, report.TraceArg{Name: "by", Text: who})
	if name := proxies[x.proxy]; name != "" {
		args = append(args, report.TraceArg{Name: "proxy", Text: name})
	}
	if x.does&machine.Read != 0 && !x.init {
		args = append(args, report.TraceArg{Name: "unwritten", Text: "some of the bytes that are read"})
	}
	r.slice(a.buffer(r, x.at), r.now.n-1, r.now.n, report.TraceMark{Name: doing(x.does), Category: catAccess, File: p.file, Line: p.line,
		PTX: p.ptx, PTXLine: p.ptxLine, Args: args})
}

// buffer returns the track of a buffer.
func (a *all) buffer(r *Recorder, at buffer) uint64 {
	if id := a.buffers[at]; id != 0 {
		return id
	}
	t := report.TraceTrack{Text: "who reads and writes it", Rank: globalRank, Kind: report.TrackBuffer, Name: r.names.Memory(at.mem, at.region)}
	if at.mem != machine.Global {
		t.Parent, t.Rank = r.cta(at.mem.CTA()).track, firstBuffer
	}
	if at.region != nil && at.mem != machine.Global {
		t.Rank += int(min(at.region.Base, globalRank/2))
	}
	id := r.track(t)
	a.buffers[at] = id
	return id
}

// arrive records an arrival at a named barrier.
func (a *all) arrive(r *Recorder, ev *machine.Event) {
	at := namedBar{ev.CTA, ev.Bar}
	g := a.named[at]
	if g == nil {
		g = &generation{}
		g.track = r.track(report.TraceTrack{Parent: r.cta(ev.CTA).track, Name: fmt.Sprintf("barrier %d", ev.Bar), Text: "a slice a generation, from its first arrival",
			Rank: firstNamed + int(ev.Bar), Kind: report.TrackBarrier})
		g.arrived = r.track(report.TraceTrack{Parent: g.track, Name: "threads arrived", Counter: true, Unit: "threads", Rank: 1, Kind: report.TrackCounter})
		a.named[at] = g
	}
	if !g.open {
		g.open, g.gen, g.begin, g.warps = true, ev.Gen, r.now.n-1, 0
	}
	g.warps++
	g.by, g.place = r.names.Agent(ev.CTA, ev.Warp), r.place(ev.PC)
}

// counted shows how many threads have arrived, and ends a generation that is complete.
func (a *all) counted(r *Recorder, at namedBar, g *generation) {
	gen, arrived, _ := r.m.NamedBarrier(at.cta, at.id)
	r.out.Mark(report.TraceMark{Kind: report.TraceValue, Track: g.arrived, Time: r.now.n, Value: int64(arrived)})
	if gen > g.gen {
		g.end(r, r.now.n, g.by)
	}
}

func (g *generation) end(r *Recorder, end int64, how string) {
	g.open = false
	r.slice(g.track, g.begin, end, report.TraceMark{Name: fmt.Sprintf("generation %d", g.gen), Category: catGeneration, File: g.place.file, Line: g.place.line,
		PTX: g.place.ptx, PTXLine: g.place.ptxLine, Args: []report.TraceArg{{Name: "generation", Number: int64(g.gen)}, {Name: "warps", Number: g.warps}, {Name: "ended_by", Text: how}}})
}

// allocate records columns of tensor memory that are allocated.
func (a *all) allocate(r *Recorder, ev *machine.Event) {
	cta := ev.Span.Mem.CTA()
	var at *row
	for _, x := range a.rows[cta] {
		if !x.busy && x.until <= r.now.n-1 {
			at = x
			break
		}
	}
	if at == nil {
		at = &row{track: r.track(report.TraceTrack{Parent: r.cta(cta).track, Name: "columns", Text: "columns of tensor memory, from alloc to dealloc", Rank: firstColumn, Kind: report.TrackColumns})}
		a.rows[cta] = append(a.rows[cta], at)
	}
	at.busy = true
	p := r.place(ev.PC)
	first, n := ev.Span.Addr/512, ev.Span.Len/512
	a.columns[ev.Span] = &allocated{row: at, begin: r.now.n - 1, mark: report.TraceMark{Name: fmt.Sprintf("columns %d..%d", first, first+n-1), Category: catColumns,
		File: p.file, Line: p.line, PTX: p.ptx, PTXLine: p.ptxLine,
		Args: []report.TraceArg{{Name: "first", Number: int64(first)}, {Name: "columns", Number: int64(n)}, {Name: "by", Text: r.names.Agent(ev.CTA, ev.Warp)}}}}
}

func (a *all) free(r *Recorder, s machine.Span, end int64, by string) {
	x := a.columns[s]
	if x == nil {
		return
	}
	delete(a.columns, s)
	x.row.free(end)
	x.mark.Args = append(x.mark.Args, report.TraceArg{Name: "ended_by", Text: by})
	r.slice(x.row.track, x.begin, end, x.mark)
}

// gone ends what is open of a CTA.
func (a *all) gone(r *Recorder, cta int32) {
	if a == nil {
		return
	}
	for k := range int32(16) {
		if g := a.named[namedBar{cta, k}]; g != nil && g.open {
			g.end(r, r.now.n, "the end of its CTA")
		}
	}
	a.left(r, func(s machine.Span) bool { return s.Mem.CTA() == cta }, r.now.n, "the end of its CTA")
}

// left ends columns that nobody freed.
func (a *all) left(r *Recorder, of func(machine.Span) bool, end int64, how string) {
	for _, s := range a.spansOf(of) {
		a.free(r, s, end, how)
	}
}

func (a *all) spansOf(of func(machine.Span) bool) (list []machine.Span) {
	for s := range a.columns {
		if of(s) {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b machine.Span) int { return cmp.Or(cmp.Compare(a.Mem, b.Mem), cmp.Compare(a.Addr, b.Addr)) })
	return list
}

// close ends what is open when the run ends.
func (a *all) close(r *Recorder, end int64) {
	if a == nil {
		return
	}
	for _, at := range slices.SortedFunc(maps.Keys(a.named), func(a, b namedBar) int { return cmp.Or(cmp.Compare(a.cta, b.cta), cmp.Compare(a.id, b.id)) }) {
		if g := a.named[at]; g.open {
			g.end(r, end, "open at the end")
		}
	}
	a.left(r, func(machine.Span) bool { return true }, end, "held at the end")
}
