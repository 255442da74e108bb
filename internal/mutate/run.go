package mutate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"muster"
	"muster/internal/diag"
	"muster/internal/parallel"
	"muster/internal/progress"
	"muster/launch"
	"muster/ptx"
	"muster/report"
)

// Options say what to run.
type Options struct {
	Schedules []muster.Schedule // by default a check's
	Jobs      int               // mutants at a time; it changes nothing in the table
	Only      []string          // kinds, variants or IDs; all if there are none
	Limits    muster.Limits
}

// An Outcome is the result for a mutant.
type Outcome string

const (
	Found    Outcome = "found"
	Survived Outcome = "survived"
	// Unproven is a survivor for which one run no longer proves every schedule,
	// as it does for the original.
	Unproven Outcome = "no longer proven"
	// Changes is a survivor that leaves other results in memory: a defect
	// that the checker does not see.
	Changes Outcome = "changes the result"
	// Unfinished is a mutant with no finding and a run that ended at a limit or at
	// something not modelled, or one that was not run because a limit of the whole was
	// exhausted.
	Unfinished Outcome = "unfinished"
	// Refused is a mutant that cannot be launched.
	Refused Outcome = "refused"
)

// A Row is a mutation with its result.
type Row struct {
	*Mutation
	Outcome Outcome
	// Finding is the finding that gave the outcome Found: the first error in the order
	// of the schedules, else the first warning. Also are other kinds that the same
	// schedule shows.
	Finding  *muster.Finding
	Also     []string
	Schedule string // that showed the finding, or the other result
	// Why is the reason why nothing was found, the condition that fails, the
	// buffer that differs, or what was not finished. It is empty if no reason was
	// found.
	Why string
}

// A Table is a kernel with all its mutants.
type Table struct {
	Original *muster.Report
	Rows     []Row
	// Loose names buffers that the kernel itself leaves different in
	// different schedules, and that are not compared between it and a mutant.
	Loose []string
}

// Count counts the rows with an outcome.
func (t *Table) Count(o Outcome) (n int) {
	for i := range t.Rows {
		if t.Rows[i].Outcome == o {
			n++
		}
	}
	return n
}

// ListLaunch lists the mutations of a launch's kernel that only names; all if it is
// empty.
func ListLaunch(f *launch.File, only []string) ([]*Mutation, error) {
	mod, _, err := muster.ReadModule(f)
	if err != nil {
		return nil, err
	}
	return pick(List(mod, f.Launches[0].Kernel), only)
}

func pick(all []*Mutation, only []string) ([]*Mutation, error) {
	for _, o := range only {
		if !slices.Contains(Kinds(), o) && !slices.ContainsFunc(all, func(m *Mutation) bool { return m.is(o) }) {
			return nil, fmt.Errorf("no mutation here is called %q%s; there are the kinds %s", o, diag.Meant(diag.Nearest(o, Kinds())), strings.Join(Kinds(), ", "))
		}
	}
	return slices.DeleteFunc(all, func(m *Mutation) bool {
		return len(only) > 0 && !slices.ContainsFunc(only, m.is)
	}), nil
}

func (m *Mutation) is(word string) bool { return m.Kind == word || m.Variant == word || m.ID == word }

// Run checks the kernel of a launch and then its mutants. Limits.Time is for all of them
// together; mutants for which it is too short are Unfinished. The error is that of ctx,
// and comes with the table until then, or of the launch as it is.
func Run(ctx context.Context, f *launch.File, o Options) (*Table, error) {
	if o.Limits.Time <= 0 {
		o.Limits.Time = muster.DefaultTime
	}
	ctx = muster.WithTime(ctx, o.Limits.Time)
	if o.Schedules == nil {
		o.Schedules = muster.Handful(muster.DefaultRandom)
	}
	mod, src, err := muster.ReadModule(f)
	if err != nil {
		return nil, err
	}
	l, err := muster.LoadModule(f, mod, src, o.Limits)
	if err != nil {
		return nil, err
	}
	list, err := pick(List(mod, f.Launches[0].Kernel), o.Only)
	if err != nil {
		return nil, err
	}
	r := &runner{ctx: progress.In(ctx, "the kernel as it is"), file: f, mod: mod, src: src, o: o}
	if err := r.original(l); err != nil {
		return nil, err
	}
	proof, err := l.Check(r.ctx, muster.CheckOptions{Schedules: o.Schedules[:1], Jobs: max(1, o.Jobs)})
	if proof == nil {
		return nil, err
	}
	r.proven = proof.Proof != nil && proof.Proof.All
	rows := make([]Row, len(list))
	// Mutants are checked side by side: what each is at would be told all at once.
	r.meter, r.ctx = progress.Of(ctx), progress.Hidden(ctx)
	r.meter.Stage("checking mutants", "mutant", len(list))
	parallel.Each(max(1, o.Jobs), len(list), func(i int) {
		rows[i] = r.row(list[i])
		r.meter.Did(1)
	})
	r.reasons(rows)
	return &Table{Original: r.base, Rows: rows, Loose: r.loose}, ctx.Err()
}

// A runner runs mutants of one kernel.
type runner struct {
	ctx   context.Context
	meter *progress.Meter
	file  *launch.File
	mod   *ptx.Module
	src   []byte
	o     Options
	base  *muster.Report
	drawn map[string]report.Severity // by the original
	left  [][]sum                    // hashes of what the original leaves, by schedule and buffer
	loose []string
	cut   string // why runs of the original did not end
	// proven: the original is, for every schedule.
	proven bool
}

type sum [sha256.Size]byte

// each calls f for 0 to n-1, in parallel, until a limit runs out.
func (r *runner) each(n int, f func(int)) {
	parallel.Each(max(1, r.o.Jobs), n, func(i int) {
		if r.over() == "" {
			f(i)
		}
	})
}

// over returns why no more may be run; empty while more may.
func (r *runner) over() string { return muster.Over(r.ctx, r.o.Limits) }

// patience is a mutant's limit of instructions as a multiple of the original's,
// and haste the least limit: a mutant that does not end is stopped soon.
const patience, haste = 16, 1 << 20

func (r *runner) original(l *muster.Launch) error {
	var err error
	if r.base, err = l.Check(r.ctx, muster.CheckOptions{Schedules: r.o.Schedules, Jobs: max(1, r.o.Jobs), Mode: muster.OnlySchedules}); r.base == nil {
		return err
	}
	r.drawn = map[string]report.Severity{}
	for i := range r.base.Findings {
		r.drawn[key(&r.base.Findings[i])] = r.base.Findings[i].Severity
	}
	most := int64(0)
	for _, s := range r.o.Schedules {
		res, err := l.Run(r.ctx, muster.RunOptions{Schedule: s})
		if res == nil {
			return err
		}
		sums, err := r.sums(res)
		if err != nil {
			return err
		}
		if gap := cut(res); gap != "" {
			r.cut = "the original: " + gap
		}
		r.left = append(r.left, sums)
		most = max(most, res.Warps)
	}
	for i, b := range r.file.Buffers {
		if slices.ContainsFunc(r.left, func(s []sum) bool { return s[i] != r.left[0][i] }) {
			r.loose = append(r.loose, b.Name)
		}
	}
	if r.o.Limits.Instrs <= 0 {
		r.o.Limits.Instrs = muster.DefaultInstrs
	}
	r.o.Limits.Instrs = min(r.o.Limits.Instrs, patience*most+haste)
	return nil
}

// sums digests the buffers that a run left.
func (r *runner) sums(res *muster.RunResult) ([]sum, error) {
	var list []sum
	for _, b := range r.file.Buffers {
		data, err := res.Buffer(b.Name)
		if err != nil {
			return nil, err
		}
		list = append(list, sha256.Sum256(data))
	}
	return list, nil
}

// key identifies a finding by kind and places.
func key(f *muster.Finding) string {
	k := f.Kind
	for _, s := range f.Sites {
		if s.PTX != nil {
			k += fmt.Sprintf(" %s:%d", s.PTX.String(), s.PTX.Col)
		}
	}
	return k
}

// load makes the launch of a module.
func (r *runner) load(mod *ptx.Module) (*muster.Launch, error) {
	return muster.LoadModule(r.file, mod, r.src, r.o.Limits)
}

// fails is the result of one check of a mutant.
type fails struct {
	finding  *muster.Finding
	also     []string
	schedule string
	gap      string
	proof    *report.Proof
}

// check runs a mutant until a schedule shows an error. Warnings do not end it;
// a proof does, where the original has one. proof is then what the report says.
func (r *runner) check(l *muster.Launch) (out fails, err error) {
	for i, s := range r.o.Schedules {
		mode := muster.OnlySchedules
		if i == 0 && r.proven {
			mode = muster.EverySchedule
		}
		rep, err := l.Check(r.ctx, muster.CheckOptions{Schedules: []muster.Schedule{s}, Jobs: 1, Mode: mode})
		if rep == nil {
			return out, err
		}
		if rep.Proof != nil {
			out.proof = rep.Proof
			if out.proof.All && len(rep.Findings) == 0 {
				return out, nil
			}
		}
		if f, also := r.first(rep); f != nil && (out.finding == nil || f.Severity == report.SevError) {
			out.finding, out.also, out.schedule = f, also, s.String()
		}
		if out.finding != nil && out.finding.Severity == report.SevError {
			return out, nil
		}
		if i := slices.IndexFunc(rep.Gaps, r.newGap); i >= 0 && out.gap == "" {
			out.gap = fmt.Sprintf("%s: %s", s, rep.Gaps[i].What)
		}
	}
	return out, nil
}

// first returns the first of a report's gravest new findings, and the other kinds
// of that severity.
func (r *runner) first(rep *muster.Report) (first *muster.Finding, also []string) {
	for _, severity := range []report.Severity{report.SevError, report.SevWarning} {
		for i := range rep.Findings {
			f := &rep.Findings[i]
			switch {
			case f.Severity != severity || !r.isNew(f):
			case first == nil:
				first = f
			case f.Kind != first.Kind && !slices.Contains(also, f.Kind):
				also = append(also, f.Kind)
			}
		}
		if first != nil {
			break
		}
	}
	return first, also
}

// newGap reports whether a gap is not one of the original's.
func (r *runner) newGap(g report.Gap) bool {
	return !slices.ContainsFunc(r.base.Gaps, func(o report.Gap) bool { return o.What == g.What })
}

// cut returns why a run was cut by a limit or by something not modelled, or "": the
// memory that a cut run leaves proves nothing.
func cut(res *muster.RunResult) string {
	if res.Report == nil || len(res.Report.Gaps) == 0 {
		return ""
	}
	return res.Report.Gaps[0].What
}

// isNew reports whether the original does not draw a finding, or only with a
// lower severity.
func (r *runner) isNew(f *muster.Finding) bool {
	old, drawn := r.drawn[key(f)]
	return !drawn || old != report.SevError && old != f.Severity
}

func (r *runner) row(m *Mutation) Row {
	row := Row{Mutation: m, Outcome: Survived}
	if why := r.over(); why != "" {
		row.Outcome, row.Why = Unfinished, why
		return row
	}
	mod, _ := Apply(r.mod, m)
	l, err := r.load(mod)
	if err != nil {
		row.Outcome, row.Why = Refused, err.Error()
		return row
	}
	out, err := r.check(l)
	switch {
	case err != nil:
		row.Outcome, row.Why = Refused, err.Error()
	case out.finding != nil:
		row.Outcome, row.Finding, row.Also, row.Schedule = Found, out.finding, out.also, out.schedule
	case out.gap != "":
		row.Outcome, row.Why = Unfinished, out.gap
	case out.proof != nil && out.proof.All:
		if r.compare(&row, l, 1); row.Outcome == Survived {
			row.Why = "right in every schedule without it, which is proven"
		}
	default:
		if r.compare(&row, l, len(r.o.Schedules)); row.Outcome == Survived && out.proof != nil {
			row.Outcome, row.Why = Unproven, reason(out.proof)
			if slices.ContainsFunc(out.proof.Reasons, func(why report.Reason) bool { return why.Condition == report.CutShort }) {
				row.Outcome = Unfinished
			}
		}
	}
	return row
}

// reason gives the first reason against a proof.
func reason(p *report.Proof) string {
	if len(p.Reasons) == 0 {
		return "no reason given"
	}
	why := p.Reasons[0]
	if why.Place != nil {
		return fmt.Sprintf("%s at line %d: %s", why.Condition, why.Place.Line, why.Text)
	}
	return why.Condition + ": " + why.Text
}

// compare compares the memory that a survivor leaves with that of the original in the
// same schedule, for the first n. A buffer that in the original depends on the schedule
// is compared with its expected contents, if there are any.
func (r *runner) compare(row *Row, l *muster.Launch, n int) {
	for i, s := range r.o.Schedules[:n] {
		res, err := l.Run(r.ctx, muster.RunOptions{Schedule: s})
		if res == nil {
			row.Outcome, row.Why = Refused, err.Error()
			return
		}
		if why := cmp.Or(r.cut, cut(res)); why != "" {
			row.Outcome, row.Why, row.Schedule = Unfinished, why, s.String()
			return
		}
		sums, err := r.sums(res)
		if err != nil {
			row.Outcome, row.Why = Refused, err.Error()
			return
		}
		for b, sum := range sums {
			if name := r.file.Buffers[b].Name; sum != r.left[i][b] && (!slices.Contains(r.loose, name) || r.unexpected(res, name)) {
				row.Outcome, row.Why, row.Schedule = Changes, "buffer "+name+" differs", s.String()
				return
			}
		}
	}
}

func (r *runner) unexpected(res *muster.RunResult, name string) bool {
	return slices.ContainsFunc(res.Comparisons, func(c muster.Comparison) bool { return c.Buffer == name && !c.OK() })
}
