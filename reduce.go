package muster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"muster/internal/evidence"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/progress"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/launch"
	"muster/ptx"
)

// ReduceOptions bound the work of Reduce.
type ReduceOptions struct {
	// Schedule shows the finding; nil to search for one as Check does.
	Schedule *Schedule
	// Runs bounds the runs made to find a smaller launch; 0 for DefaultReduceRuns.
	// Shrinking the schedule has its own bound.
	Runs int
}

// DefaultReduceRuns bounds the runs of Reduce.
const DefaultReduceRuns = 400

// firstShrinkRuns bounds the runs that shorten a schedule while the launch is
// made smaller.
const firstShrinkRuns = 300

// A Reduced is a smaller launch that shows the same finding.
type Reduced struct {
	File     *launch.File
	Launch   *Launch
	ID       string // of the finding; if lines are shared, valid in this launch
	Schedule Schedule
	Shrunk   Shrunk
	Runs     int // made to find the launch
	// Changes say what became smaller: "grid: 8x1x1 to 1x1x1".
	Changes []string
	// All: no single further move makes it smaller. It is false where the bound ran out.
	All bool
}

// Reduce looks for the smallest launch of the same kernel that shows the same finding:
// the same kind between the same instructions. It reduces, one after the other, the grid,
// the block where the kernel leaves it open, and the integer scalar arguments, each to
// the least of the values that it tries; buffers keep their sizes. A launch that the
// kernel or a GPU would refuse, or that faults otherwise, is rejected. Then it shrinks
// the schedule. The result is the same everywhere, unless ctx or a limit on time or
// memory ends the search early; then it is the best so far.
//
// id is the finding's ID in a report of this launch, or a kind, meaning the first finding
// of that kind. Expected buffer contents are dropped.
func Reduce(ctx context.Context, f *launch.File, lim Limits, id string, o ReduceOptions) (*Reduced, error) {
	mod, src, err := ReadModule(f)
	if err != nil {
		return nil, err
	}
	l, err := LoadModule(f, mod, src, lim)
	if err != nil {
		return nil, err
	}
	ctx = l.subject.Within(ctx, 1)
	r := &reducer{ctx: ctx, w: l.subject.Budget(ctx), mod: mod, src: src, lim: lim, left: o.Runs, launch: l, file: plain(f)}
	if r.left <= 0 {
		r.left = DefaultReduceRuns
	}
	runs := r.left
	progress.Of(ctx).Stage("looking for the finding", "", 0)
	if err := r.begin(id, o.Schedule); err != nil {
		return nil, err
	}
	r.meter = r.w.Meter
	r.meter.StageAtMost("looking for a smaller launch", "run", runs)
	r.ctx, r.w = progress.Hidden(ctx), r.w.Quietly()
	for changed := true; changed && !r.over(); {
		changed = false
		for _, p := range r.parts() {
			changed = r.smaller(p) || changed
		}
	}
	out := &Reduced{File: r.file, Launch: r.launch, ID: r.id, Schedule: r.schedule, Runs: runs - r.left, All: !r.over(), Changes: changes(f, r.file)}
	out.Shrunk, err = r.launch.Shrink(ctx, r.schedule, r.id, ShrinkOptions{})
	if err == nil {
		out.Schedule = out.Shrunk.Schedule
	}
	return out, err
}

// plain copies a file for modification, without the expected contents, which belong to
// the original size.
func plain(f *launch.File) *launch.File {
	c := *f
	c.Launches = slices.Clone(f.Launches)
	c.Launches[0].Args = copyArgs(f.Launches[0].Args)
	c.Expect = nil
	return &c
}

func copyArgs(list []launch.Arg) []launch.Arg {
	list = slices.Clone(list)
	for i := range list {
		list[i].Parts = copyArgs(list[i].Parts)
	}
	return list
}

type reducer struct {
	ctx      context.Context
	w        *trial.Budget
	meter    *progress.Meter // of the runs for a smaller launch
	mod      *ptx.Module
	src      []byte
	lim      Limits
	left     int // runs left
	file     *launch.File
	launch   *Launch
	id       string
	key      string
	severity rules.Severity
	schedule Schedule
}

// over reports whether the budget is spent.
func (r *reducer) over() bool { return r.left <= 0 || r.w.Over() != "" }

// begin looks up the finding in the launch as given.
func (r *reducer) begin(id string, s *Schedule) error {
	o := CheckOptions{}
	if s != nil {
		o.Schedules, o.Mode = []Schedule{*s}, OnlySchedules
	}
	rep, err := r.launch.Check(r.ctx, o)
	if err != nil {
		return err
	}
	for i := range rep.Findings {
		f := &rep.Findings[i]
		if !f.Is(id) && f.Kind != id {
			continue
		}
		if f.Schedule == "" {
			return fmt.Errorf("%s is of the launch itself, which needs no run to show it", f.ID)
		}
		shown, err := ParseSchedule(f.Schedule)
		if err != nil {
			return err
		}
		with, rest, _ := r.launch.withSizes([]Schedule{shown})
		whole, err := with.shown(r.launch.subject.Budget(r.ctx), rest[0], f.ID)
		if err != nil {
			return err
		}
		r.id, r.key, r.severity, r.schedule = f.ID, whole.Finding.Key(), whole.Finding.Severity, Schedule{whole.Schedule}
		r.schedule.of.Prefix = slices.Concat(with.sizes, whole.Schedule.Prefix)
		r.shorten()
		return r.ctx.Err()
	}
	return &Absent{ID: id, Summary: rep.Summary}
}

// shorten shrinks the schedule for the current launch: a short run ends early, and what
// comes after its end can then be removed.
func (r *reducer) shorten() {
	if got, err := r.launch.Shrink(r.ctx, r.schedule, r.id, ShrinkOptions{Runs: firstShrinkRuns}); err == nil {
		r.schedule = got.Schedule
	}
}

// An Absent is the error for a finding that no run showed.
type Absent struct {
	ID      string
	Summary string // of the report that lacks it
}

func (e *Absent) Error() string {
	return fmt.Sprintf("there is no %s in this launch: %s", e.ID, e.Summary)
}

// A part is one number of the launch that can be reduced.
type part struct {
	set  func(*launch.File, uint64)
	now  uint64
	step uint64 // values are multiples of it
	low  uint64 // the least value
}

// parts lists the numbers of the current launch that can be reduced.
func (r *reducer) parts() []part {
	var list []part
	first := &r.file.Launches[0]
	cluster := r.launch.config.Cluster
	if r.launch.prefers() {
		cluster = r.launch.config.Preferred
	}
	for i := range first.Grid {
		list = append(list, part{now: uint64(first.Grid[i]), step: uint64(cluster[i]), low: uint64(cluster[i]),
			set: func(f *launch.File, v uint64) { f.Launches[0].Grid[i] = uint32(v) }})
	}
	for i := range first.Block {
		step := uint64(1)
		if i == 0 {
			step = 32
		}
		list = append(list, part{now: uint64(first.Block[i]), step: step, low: step,
			set: func(f *launch.File, v uint64) { f.Launches[0].Block[i] = uint32(v) }})
	}
	for i := range first.Args {
		list = appendInteger(list, &first.Args[i], func(f *launch.File) *launch.Arg { return &f.Launches[0].Args[i] })
		for k := range first.Args[i].Parts {
			list = appendInteger(list, &first.Args[i].Parts[k], func(f *launch.File) *launch.Arg { return &f.Launches[0].Args[i].Parts[k] })
		}
	}
	return list
}

// appendInteger adds an argument if it is an integer, not negative.
func appendInteger(list []part, a *launch.Arg, of func(*launch.File) *launch.Arg) []part {
	bits := 8 * a.Type.Size()
	switch {
	case a.Kind != launch.ArgScalar || a.Type.IsFloat():
		return list
	case strings.HasPrefix(a.Type.String(), "s") && a.Bits>>(bits-1)&1 != 0:
		return list // negative
	}
	return append(list, part{now: a.Bits, step: 1, set: func(f *launch.File, v uint64) { of(f).Bits = v }})
}

// values lists the candidates below now, ascending: the first few in steps of step, then
// each index half as large again.
func (p *part) values() []uint64 {
	var list []uint64
	for k := uint64(0); ; {
		v := p.low + k*p.step
		if v >= p.now {
			return list
		}
		list = append(list, v)
		k += max(1, k/2)
	}
}

// smaller reduces a part as much as possible, and reports whether it could: to the first
// of values that shows the finding, then by bisection towards the value before it, which
// does not.
func (r *reducer) smaller(p part) bool {
	list := p.values()
	for i, v := range list {
		if !r.take(p, v) {
			continue
		}
		if i > 0 {
			lo, hi := list[i-1], v
			for hi-lo > p.step {
				mid := lo + (hi-lo)/2/p.step*p.step
				if r.take(p, mid) {
					hi = mid
				} else {
					lo = mid
				}
			}
		}
		return true
	}
	return false
}

// take sets a part to v if the launch then still shows the finding.
func (r *reducer) take(p part, v uint64) bool {
	if r.over() {
		return false
	}
	f := plain(r.file)
	p.set(f, v)
	l, s, ok := r.shows(f)
	if ok {
		r.file, r.launch, r.schedule = f, l, s
		if s.of.Policy == explore.Random {
			r.shorten()
		}
	}
	return ok
}

// shows reports whether a run of the whole launch shows the finding: under the schedule
// that last did, or one of a handful.
func (r *reducer) shows(f *launch.File) (*Launch, Schedule, bool) {
	if f.Validate() != nil {
		return nil, Schedule{}, false
	}
	l, err := LoadModule(f, r.mod, r.src, r.lim)
	if err != nil || len(l.findings) > 0 {
		return nil, Schedule{}, false
	}
	tried := map[string]bool{}
	stop, _ := r.w.Stop()
	for _, s := range append([]Schedule{r.schedule}, r.handful()...) {
		with, rest, _ := l.withSizes([]Schedule{s})
		if tried[s.String()] || r.left <= 0 || stop() || with.subject.Offers(rest[0].of, stop) != nil {
			continue
		}
		tried[s.String()] = true
		r.left--
		r.meter.Did(1)
		if r.shownIn(with, rest[0]) {
			return l, s, true
		}
	}
	return nil, Schedule{}, false
}

// handful are the default schedules, with the sizes of clusters that show the finding.
func (r *reducer) handful() []Schedule {
	list := Handful(DefaultRandom)
	for _, c := range r.schedule.of.Prefix {
		if c.Kind == machine.Prefer && c.CTA < 0 {
			for i := range list {
				list[i].of.Prefix = allPreferred
			}
		}
	}
	return list
}

func (r *reducer) shownIn(l *Launch, s Schedule) bool {
	return evidence.In(l.subject, l.predictor, r.w, s.of, evidence.Sought{ID: r.key, Is: func(f *rules.Finding) bool {
		shows := f.Key() == r.key && f.Severity >= r.severity
		if shows {
			r.id = l.resolver.Finding(f).ID
		}
		return shows
	}})
}

// changes describes the differences between two files.
func changes(a, b *launch.File) []string {
	var list []string
	x, y := &a.Launches[0], &b.Launches[0]
	shape := func(d [3]uint32) string { return fmt.Sprintf("%dx%dx%d", d[0], d[1], d[2]) }
	if x.Grid != y.Grid {
		list = append(list, fmt.Sprintf("grid: %s to %s", shape(x.Grid), shape(y.Grid)))
	}
	if x.Block != y.Block {
		list = append(list, fmt.Sprintf("block: %s to %s", shape(x.Block), shape(y.Block)))
	}
	for i := range x.Args {
		list = appendChange(list, fmt.Sprintf("argument %d", i+1), &x.Args[i], &y.Args[i])
		for k := range x.Args[i].Parts {
			list = appendChange(list, fmt.Sprintf("argument %d, part %d", i+1, k+1), &x.Args[i].Parts[k], &y.Args[i].Parts[k])
		}
	}
	return list
}

func appendChange(list []string, name string, a, b *launch.Arg) []string {
	if a.Kind != launch.ArgScalar || a.Bits == b.Bits {
		return list
	}
	return append(list, fmt.Sprintf("%s (%v): %s to %s", name, a.Type, a.Type.Format(a.Bits), b.Type.Format(b.Bits)))
}
