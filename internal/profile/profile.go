package profile

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"muster/report"
)

// An Instruction is one of the kernel, and how often warps executed it.
type Instruction struct {
	Name      string
	File      string // of the PTX
	Line      int
	Source    *report.Place
	Executed  []int64 // by the number of the warp in its CTA
	Matrix    bool    // it multiplies matrices
	Warpgroup bool    // by four warps, each of which executes it
}

// place is where an instruction stands. Those of one line and one name are one.
type place struct {
	file string
	line int
}

type at struct {
	place
	name string
}

type waitKey struct {
	what string
	at
}

type opKey struct {
	kind string
	at
}

// A Recorder takes a run.
type Recorder struct {
	tracks map[uint64]*track
	ctas   map[uint64]*cta
	warps  []*warp // by number in their CTA
	steps  map[at]int64
	waits  map[waitKey]*report.Waited
	ops    map[opKey]*report.OperationProfile
	source map[place]report.Place
	slots  report.SlotsProfile
	flight flight
}

type track struct {
	kind report.TrackKind
	cta  *cta
	warp *warp
	open []open
	slot *slot
}

// An open is a slice that has begun.
type open struct {
	mark  report.TraceMark
	begin int64
}

type cta struct {
	rank  int
	is    report.CTAProfile
	slots []*slot
}

type warp struct {
	steps int64
	report.Waited
	report.Moved
}

// New returns a recorder.
func New() *Recorder {
	return &Recorder{tracks: map[uint64]*track{}, ctas: map[uint64]*cta{}, steps: map[at]int64{}, waits: map[waitKey]*report.Waited{},
		ops: map[opKey]*report.OperationProfile{}, source: map[place]report.Place{}}
}

// Err makes a Recorder a report.Tracer.
func (r *Recorder) Err() error { return nil }

// Track makes a Recorder a report.Tracer.
func (r *Recorder) Track(t report.TraceTrack) {
	x := &track{kind: t.Kind}
	if up := r.tracks[t.Parent]; up != nil {
		x.cta, x.warp = up.cta, up.warp
	}
	switch t.Kind {
	case report.TrackCTA:
		x.cta = &cta{rank: t.Rank, is: report.CTAProfile{Name: t.Name}}
		r.ctas[t.ID] = x.cta
	case report.TrackWarp:
		for len(r.warps) <= t.Rank {
			r.warps = append(r.warps, &warp{})
		}
		x.warp = r.warps[t.Rank]
	case report.TrackSlot:
		x.slot = &slot{}
		x.cta.slots = append(x.cta.slots, x.slot)
	case report.TrackCounter:
		x.cta = nil
		if t.Name == "bytes in flight" {
			x.cta = r.tracks[t.Parent].cta
		}
	}
	r.tracks[t.ID] = x
}

// Mark makes a Recorder a report.Tracer.
func (r *Recorder) Mark(m report.TraceMark) {
	t := r.tracks[m.Track]
	switch m.Kind {
	case report.TraceBegin:
		t.open = append(t.open, open{m, m.Time})
	case report.TraceEnd:
		last := len(t.open) - 1
		o := t.open[last]
		t.open = t.open[:last]
		r.slice(t, &o.mark, o.begin, m.Time)
	case report.TraceValue:
		if t.cta != nil {
			r.flight.set(m.Track, m.Value, m.Time)
		}
	}
}

// slice adds a slice that is over.
func (r *Recorder) slice(t *track, m *report.TraceMark, begin, end int64) {
	switch {
	case m.Category == "step" && t.warp != nil:
		k := r.at(m)
		t.warp.steps++
		t.cta.is.Steps++
		r.steps[k]++
	case t.kind == report.TrackWait:
		r.wait(t, m, end-begin)
	case t.kind == report.TrackOperation && m.Category == "operation":
		r.operation(t, m, end-begin)
	case t.kind == report.TrackSlot:
		r.slot(t, m, begin, end)
	case t.kind == report.TrackCTA:
		t.cta.close(&r.slots, end)
	}
}

// at is the instruction of a mark.
func (r *Recorder) at(m *report.TraceMark) at {
	name := m.Name
	if m.Category != "step" {
		name = text(m, "instruction")
	}
	p := place{m.PTX, m.PTXLine}
	if m.File != "" && (m.File != m.PTX || m.Line != m.PTXLine) {
		r.source[p] = report.Place{File: m.File, Line: m.Line}
	}
	return at{p, name}
}

func text(m *report.TraceMark, name string) string {
	for i := range m.Args {
		if m.Args[i].Name == name {
			return m.Args[i].Text
		}
	}
	return ""
}

func number(m *report.TraceMark, name string) int64 {
	for i := range m.Args {
		if m.Args[i].Name == name {
			return m.Args[i].Number
		}
	}
	return 0
}

// wait adds a wait.
func (r *Recorder) wait(t *track, m *report.TraceMark, steps int64) {
	// The same barrier of every CTA is one.
	what, _, _ := strings.Cut(strings.TrimPrefix(m.Name, "wait: "), " of CTA ")
	k := waitKey{what, r.at(m)}
	w := r.waits[k]
	if w == nil {
		w = &report.Waited{}
		r.waits[k] = w
	}
	for _, w := range []*report.Waited{w, &t.cta.is.Waited, &t.warp.Waited} {
		w.Waits++
		w.Stood += steps
		w.Longest = max(w.Longest, steps)
		w.Failed += number(m, "failed_tests")
	}
}

// noCopy reports whether operations of a kind move no bytes from memory to memory: they read or
// write operands of the tensor cores.
func noCopy(kind string) bool {
	return strings.HasPrefix(kind, "wgmma") || strings.HasPrefix(kind, "tcgen05")
}

// operation adds an asynchronous operation.
func (r *Recorder) operation(t *track, m *report.TraceMark, steps int64) {
	k := opKey{m.Name, r.at(m)}
	o := r.ops[k]
	if o == nil {
		o = &report.OperationProfile{Kind: m.Name}
		r.ops[k] = o
	}
	bytes := number(m, "bytes")
	if noCopy(k.kind) {
		bytes = 0
	}
	for _, w := range []*report.Moved{&o.Moved, &t.cta.is.Moved, &t.warp.Moved} {
		w.Operations++
		w.Bytes += bytes
	}
	o.InFlight += steps
	o.Longest = max(o.Longest, steps)
	if k.kind == "wgmma" || k.kind == "tcgen05.mma" {
		t.cta.is.Products++
	}
}

// Profile returns what the run went into, of a kernel with some instructions.
func (r *Recorder) Profile(schedule string, steps int64, cut string, code []Instruction) *report.Profile {
	p := &report.Profile{Schedule: schedule, Steps: steps, Cut: cut, Warps: []report.WarpsProfile{}, CTAs: []report.CTAProfile{},
		Lines: []report.InstructionProfile{}, Waits: []report.WaitProfile{}, Operations: []report.OperationProfile{}}
	r.lines(p, code)
	r.roles(p, code)
	for _, c := range r.ctas {
		c.close(&r.slots, steps)
	}
	for _, c := range slices.SortedFunc(values(r.ctas), func(a, b *cta) int { return cmp.Compare(a.rank, b.rank) }) {
		p.CTAs = append(p.CTAs, c.is)
	}
	for k, w := range r.waits {
		p.Waits = append(p.Waits, report.WaitProfile{For: k.what, Name: k.name, PTX: k.ptx(), Source: r.sourceOf(k.place), Waited: *w})
	}
	slices.SortFunc(p.Waits, func(a, b report.WaitProfile) int {
		return cmp.Or(cmp.Compare(b.Stood, a.Stood), cmp.Compare(a.PTX.File, b.PTX.File), cmp.Compare(a.PTX.Line, b.PTX.Line), cmp.Compare(a.For, b.For), cmp.Compare(a.Name, b.Name))
	})
	for k, o := range r.ops {
		o.Name, o.PTX, o.Source = k.name, k.ptx(), r.sourceOf(k.place)
		p.Operations = append(p.Operations, *o)
	}
	slices.SortFunc(p.Operations, func(a, b report.OperationProfile) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.PTX.File, b.PTX.File), cmp.Compare(a.PTX.Line, b.PTX.Line), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	p.Slots = r.slots
	p.InFlight = r.flight.profile(steps)
	return p
}

func values(m map[uint64]*cta) func(func(*cta) bool) {
	return func(yield func(*cta) bool) {
		for _, c := range m {
			if !yield(c) {
				return
			}
		}
	}
}

func (k at) ptx() report.Place { return report.Place{File: k.file, Line: k.line} }

func (r *Recorder) sourceOf(p place) *report.Place {
	if s, ok := r.source[p]; ok {
		return &s
	}
	return nil
}

// lines adds what was executed, the most first.
func (r *Recorder) lines(p *report.Profile, code []Instruction) {
	index := map[at]int{}
	by := map[at][]int64{}
	for i := range code {
		in := &code[i]
		k := at{place{in.File, in.Line}, in.Name}
		n := int64(0)
		for w, m := range in.Executed {
			n += m
			if by[k] == nil {
				by[k] = make([]int64, len(in.Executed))
			}
			by[k][w] += m
		}
		if n == 0 && r.steps[k] == 0 {
			continue
		}
		at, ok := index[k]
		if !ok {
			at = len(p.Lines)
			index[k] = at
			p.Lines = append(p.Lines, report.InstructionProfile{Name: in.Name, PTX: k.ptx(), Source: in.Source, Steps: r.steps[k]})
		}
		p.Lines[at].Instructions += n
		p.Instructions += n
		if in.Matrix {
			products(&p.Products, in, n)
		}
	}
	for k, i := range index {
		p.Lines[i].Warps = numbers(by[k])
	}
	slices.SortStableFunc(p.Lines, func(a, b report.InstructionProfile) int { return cmp.Compare(b.Instructions, a.Instructions) })
}

// numbers lists which counts are not zero, as "0,2-4".
func numbers(counts []int64) string {
	var parts []string
	for i := 0; i < len(counts); i++ {
		if counts[i] == 0 {
			continue
		}
		first := i
		for i+1 < len(counts) && counts[i+1] != 0 {
			i++
		}
		text := strconv.Itoa(first)
		if i > first {
			text += "-" + strconv.Itoa(i)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ",")
}

var shape = regexp.MustCompile(`\.m(\d+)n(\d+)k(\d+)`)

// products adds n executions of a matrix instruction, each by one warp.
func products(p *report.ProductsProfile, in *Instruction, n int64) {
	p.Instructions += n
	m := shape.FindStringSubmatch(in.Name)
	if m == nil {
		p.Unknown += n
		return
	}
	each := int64(1)
	for _, s := range m[1:] {
		d, _ := strconv.ParseInt(s, 10, 32)
		each *= d
	}
	if in.Warpgroup {
		each /= 4
	}
	p.MultiplyAdds += n * each
}

// roles adds the warps, neighbours that execute the same instructions together.
func (r *Recorder) roles(p *report.Profile, code []Instruction) {
	for i, w := range r.warps {
		var n int64
		for k := range code {
			if i < len(code[k].Executed) {
				n += code[k].Executed[i]
			}
		}
		if last := len(p.Warps) - 1; last >= 0 && alike(code, i-1, i) {
			g := &p.Warps[last]
			g.Last = i
			g.Steps, g.Instructions = g.Steps+w.steps, g.Instructions+n
			g.Waits, g.Stood, g.Failed, g.Longest = g.Waits+w.Waits, g.Stood+w.Stood, g.Failed+w.Failed, max(g.Longest, w.Longest)
			g.Operations, g.Bytes = g.Operations+w.Operations, g.Bytes+w.Bytes
			continue
		}
		p.Warps = append(p.Warps, report.WarpsProfile{First: i, Last: i, Steps: w.steps, Instructions: n, Waited: w.Waited, Moved: w.Moved})
	}
}

// alike reports whether two warps execute the same instructions, however often.
func alike(code []Instruction, a, b int) bool {
	for i := range code {
		n := code[i].Executed
		if a >= len(n) || b >= len(n) || (n[a] != 0) != (n[b] != 0) {
			return false
		}
	}
	return true
}
