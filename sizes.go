package muster

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"muster/internal/machine"
	"muster/internal/predict"
	"muster/internal/progress"
	"muster/internal/shards"
	"muster/internal/trial"
	"muster/report"
)

// Preferred clusters. A launch may have two sizes of clusters, and the device chooses, for
// each cluster of the preferred size, whether it runs as one or as regular ones
// (internal/machine/sizes.go). So a check is one of the launch with regular clusters alone,
// and another with preferred ones alone. A mix of both does the same, place by place, where
// both are proven by one run and trial.Subject.Apart holds; else each mix is checked, and
// where there are too many, the verdict is incomplete.

// maxMixes bounds the mixes that are checked.
const maxMixes = 14

// allPreferred is the choice of the preferred size for all clusters.
var allPreferred = []machine.Choice{{Kind: machine.Prefer, CTA: -1}}

// sized returns the launch in which the clusters have the preferred size that these choices
// name; nil if they name none of its clusters.
func (l *Launch) sized(choices []machine.Choice) *Launch {
	of := l.subject.Sized(choices)
	if of == nil {
		return nil
	}
	h := *l
	h.subject, h.sizes = of, choices
	h.predictor = predict.New(of)
	return &h
}

// withSizes strips the sizes of clusters from schedules that all begin with the same, and
// returns the launch with these sizes.
func (l *Launch) withSizes(list []Schedule) (*Launch, []Schedule, bool) {
	if len(l.sizes) > 0 || len(list) == 0 {
		return l, list, false
	}
	of := func(s *trial.Schedule) []machine.Choice {
		n := slices.IndexFunc(s.Prefix, func(c machine.Choice) bool { return c.Kind != machine.Prefer })
		if n < 0 {
			n = len(s.Prefix)
		}
		return s.Prefix[:n:n]
	}
	choices := of(&list[0].of)
	if len(choices) == 0 {
		return l, list, false
	}
	rest := slices.Clone(list)
	for i := range rest {
		s := &rest[i].of
		if !slices.Equal(of(s), choices) {
			return l, list, false
		}
		if s.Prefix = s.Prefix[len(choices):]; len(s.Prefix) == 0 {
			s.Prefix = nil
		}
	}
	with := l.sized(choices)
	if with == nil {
		return l, list, false
	}
	return with, rest, true
}

// prefers reports whether the launch has two sizes of clusters.
func (l *Launch) prefers() bool { return len(l.subject.Start.PreferredClusters()) > 0 }

// sizeText says which sizes the clusters of a launch with two have.
func (l *Launch) sizeText() string {
	of := func(d [3]uint32) string { return fmt.Sprintf("%dx%dx%d", d[0], d[1], d[2]) }
	small, large := of(l.config.Cluster), of(l.config.Preferred)
	several := len(l.config.More) > 0
	switch {
	case several && l.sizes == nil:
		return "all clusters have their regular size"
	case several && l.sizes[0].CTA < 0:
		return "all clusters have their preferred size"
	case l.sizes == nil:
		return "all clusters have the regular size, " + small
	case l.sizes[0].CTA < 0:
		return "all clusters have the preferred size, " + large
	}
	var firsts []string
	for _, c := range l.sizes {
		firsts = append(firsts, fmt.Sprint(c.CTA))
	}
	what := "clusters that begin at CTAs " + strings.Join(firsts, ", ") + " have"
	if len(firsts) == 1 {
		what = "the cluster that begins at CTA " + firsts[0] + " has"
	}
	if several {
		return what + " the preferred size, and the others the regular one"
	}
	return fmt.Sprintf("%s the preferred size, %s, and the others the regular one, %s", what, large, small)
}

// checkSizes checks the launch with other sizes of clusters than report r, whose clusters are
// regular, and joins the reports.
func (l *Launch) checkSizes(ctx context.Context, o CheckOptions, e *shards.Options, r *Report) (*Report, error) {
	if len(l.findings) > 0 {
		return r, nil // the driver would refuse it
	}
	r.Launch.Preferred = &l.config.Preferred
	p := l.sized(allPreferred)
	l.sign(r)
	h, err := p.checkSized(ctx, o, e)
	if h != nil {
		r = l.join(r, h, o)
	}
	if err != nil {
		return r, err
	}
	restore := l.openSizes()
	firsts := l.subject.Start.PreferredClusters()
	if r.Verdict != report.Clean || len(firsts) == 1 && l.handing == nil {
		return r, nil
	}
	if proof := r.Proof; proof != nil && proof.All && !proof.Orders {
		if apart, same := l.subject.Apart(p.subject, l.subject.Budget(ctx), l.handing != nil); apart {
			if same {
				restore()
			}
			if len(firsts) > 1 {
				r.Assumptions = append(r.Assumptions, "which clusters have the preferred size is the device's choice: all and none were checked, and no preferred cluster touches what another, or the regular ones in its place, writes, so that a mix does the same")
			}
			return r, nil
		}
	}
	if len(firsts) == 1 {
		return r, nil
	}
	return l.checkMixes(ctx, o, e, r, firsts)
}

// checkSized is the check of a launch with other sizes of clusters.
func (l *Launch) checkSized(ctx context.Context, o CheckOptions, e *shards.Options) (*Report, error) {
	r, err := l.checkLeaders(progress.In(ctx, "where "+l.sizeText()), o, e.Sized(trial.Schedule{Prefix: l.sizes}.String()))
	if r != nil {
		l.sign(r)
	}
	return r, err
}

// sign adds to a report's gaps the sizes for which they are.
func (l *Launch) sign(r *Report) {
	for i := range r.Gaps {
		r.Gaps[i].What += " (where " + l.sizeText() + ")"
	}
}

// checkMixes checks mixes of preferred and regular clusters, as many as its bound allows.
func (l *Launch) checkMixes(ctx context.Context, o CheckOptions, e *shards.Options, r *Report, firsts []int32) (*Report, error) {
	why := ""
	list, all := mixes(firsts)
	switch {
	case l.subject.Program.Cancels():
		list, all = nil, false
		why = ": it is said nowhere which cluster a request of clusterlaunchcontrol.try_cancel gets where sizes differ"
	case !all:
		why = fmt.Sprintf(": there are more than %d, and clusters of one place may touch what those of another write", maxMixes)
	}
	for _, choices := range list {
		m := l.sized(choices)
		h, err := m.checkSized(ctx, o, e)
		if h != nil {
			r = m.join(r, h, o)
		}
		if err != nil || r.Verdict != report.Clean {
			return r, err
		}
	}
	if all {
		r.Assumptions = append(r.Assumptions, fmt.Sprintf("which clusters have the preferred size is the device's choice: all %d were checked", len(list)+2))
		return r, nil
	}
	r.Gaps = append(r.Gaps, report.Gap{What: "not every mix of preferred and regular clusters was checked" + why, Needs: report.NoNumber("no more mixes are checked")})
	r.Conclude(report.Options{FailOnWarning: o.FailOnWarning})
	return r, nil
}

// mixes lists the choices of the preferred size for some clusters, all of them if they are
// few: else for one cluster, and for all but one, the first and the last.
func mixes(firsts []int32) (list [][]machine.Choice, all bool) {
	n := len(firsts)
	of := func(has func(i int) bool) {
		var choices []machine.Choice
		for i, first := range firsts {
			if has(i) {
				choices = append(choices, machine.Choice{Kind: machine.Prefer, CTA: first})
			}
		}
		list = append(list, choices)
	}
	if n < 8 && 1<<n-2 <= maxMixes {
		for bits := 1; bits < 1<<n-1; bits++ {
			of(func(i int) bool { return bits>>i&1 != 0 })
		}
		return list, true
	}
	for _, one := range []int{0, n - 1} {
		of(func(i int) bool { return i == one })
		of(func(i int) bool { return i != one })
	}
	return list, false
}

// join adds to report r what report h found, whose clusters have other sizes. Findings that
// only some sizes show say which. l is the launch whose sizes are the mix, or else those of r.
func (l *Launch) join(r, h *Report, o CheckOptions) *Report {
	known := func(r *Report, id string) int {
		return slices.IndexFunc(r.Findings, func(f Finding) bool { return f.ID == id })
	}
	hs := l
	if l.sizes == nil {
		hs = l.sized(allPreferred)
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if l.sizes == nil && known(h, f.ID) < 0 {
			f.Notes = append(f.Notes, "in the schedule that shows it, "+l.sizeText())
		}
	}
	redundant := func(f Finding) bool { return strings.HasPrefix(f.Kind, "redundant-") }
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return redundant(f) && known(h, f.ID) < 0 })
	for _, f := range h.Findings {
		switch k := known(r, f.ID); {
		case k < 0 && redundant(f):
		case k < 0:
			f.Notes = append(slices.Clone(f.Notes), "in the schedule that shows it, "+hs.sizeText())
			r.Findings = append(r.Findings, f)
		case rank(f.Severity) < rank(r.Findings[k].Severity):
			f.Seen += r.Findings[k].Seen
			r.Findings[k] = f
		default:
			r.Findings[k].Seen += f.Seen
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return rank(a.Severity) - rank(b.Severity) })
	r.Schedules = append(r.Schedules, h.Schedules...)
	r.Gaps = append(r.Gaps, h.Gaps...)
	if r.Decided == nil {
		r.Decided = h.Decided
	}
	r.Assumptions = union(r.Assumptions, h.Assumptions)
	r.Notices = union(r.Notices, h.Notices)
	r.Proof, r.Explored = bothProofs(r.Proof, h.Proof), bothCoverages(r, h)
	r.Notices = slices.DeleteFunc(r.Notices, report.Unaccepted)
	r.Accept(l.accepts())
	r.Conclude(report.Options{FailOnWarning: o.FailOnWarning})
	return r
}

// union adds the texts that are not there.
func union(a, b []string) []string {
	for _, t := range b {
		if !slices.Contains(a, t) {
			a = append(a, t)
		}
	}
	return a
}

// bothProofs is what holds of two sizes. A report without a proof has findings or gaps.
func bothProofs(a, b *report.Proof) *report.Proof {
	switch {
	case a == nil || b == nil:
		return nil
	case !a.All:
		return a
	case !b.All:
		return b
	}
	p := *a
	p.AnyContents = a.AnyContents && b.AnyContents
	p.InOrder, p.Together, p.Residency, p.Orders = a.InOrder || b.InOrder, a.Together || b.Together, a.Residency || b.Residency, a.Orders || b.Orders
	return &p
}

// bothCoverages is what the explorations of two sizes covered.
func bothCoverages(r, h *Report) *report.Coverage {
	a, b := r.Explored, h.Explored
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	return a.And(b)
}
