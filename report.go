package muster

import (
	"fmt"
	"strings"

	"muster/internal/diag"
	"muster/internal/rules"
	"muster/internal/trial"
	"muster/report"
)

// report resolves what was found and draws the verdict.
func (l *Launch) report(o CheckOptions, ran []trial.Schedule, all merged) *Report {
	c := &l.config
	first := &l.file.Launches[0]
	r := &Report{
		Version: report.Version,
		Launch: report.Launch{
			File: l.file.Name, PTX: first.PTX, Kernel: c.Program.Kernel.Name, Grid: c.Grid, Block: c.Block, Cluster: c.Cluster,
			Shared: c.Shared, CTAs: l.subject.Shape.CTAs, Threads: l.subject.Shape.CTAs * l.subject.Shape.Threads, Arguments: o.Arguments,
		},
	}
	if grids := l.subject.Shape.Grids; len(grids) > 0 {
		r.Launch.Kernel, r.Launch.Threads = l.Name(), 0
		for _, g := range grids {
			r.Launch.Threads += g.CTAs * g.Threads
		}
	}
	r.Proof, r.Explored, r.Notices = all.proof, all.coverage, all.notices
	if r.Launch.Arguments == "" {
		r.Launch.Arguments = report.Quote(l.file.Name)
		if l.unwritten {
			r.Launch.Note = "Call.Write writes " + l.file.Name
		}
	}
	for _, s := range ran {
		r.Schedules = append(r.Schedules, l.written(s).String())
	}
	l.resolve(r, all)
	for _, g := range all.Gaps {
		r.Gaps = append(r.Gaps, l.gap(g))
	}
	if c.Program.Static+c.Shared > 0 {
		r.Assumptions = append(r.Assumptions, "shared memory of a CTA starts at a multiple of 1,024 bytes, as it does on the card")
	}
	if (r.Proof != nil && r.Proof.All || r.Explored != nil && r.Explored.Complete) && c.Program.Traps() {
		r.Assumptions = append(r.Assumptions, "no timeout strikes that ends in a trap")
	}
	if r.Proof != nil && r.Proof.All && r.Proof.InOrder && !r.Proof.Residency {
		which := "clusters start in the order of their numbers"
		if len(l.subject.Shape.Grids) > 0 {
			which += ", and launches in that of the file"
		}
		r.Assumptions = append(r.Assumptions, which+": some wait for what others write, which start before them")
	}
	if c.Program.Cancels() && l.subject.Start.ClusterCount() > 1 && (r.Proof != nil && r.Proof.All || r.Explored != nil && r.Explored.Complete) {
		r.Assumptions = append(r.Assumptions, "clusters start, or are got by clusterlaunchcontrol.try_cancel, in the order of their numbers")
	}
	if r.Proof != nil && r.Proof.All && r.Proof.Together {
		r.Assumptions = append(r.Assumptions, "lanes of a warp that come to an mbarrier together arrive, or leave their wait, together, as on a card; the ISA lets them part (3.2)")
	}
	if r.Proof != nil && r.Proof.All && r.Proof.Residency {
		r.Assumptions = append(r.Assumptions, "all CTAs are resident together: some wait for what others write, which need not have started")
	}
	if all.contested {
		r.Assumptions = append(r.Assumptions, "volatile loads behind an atomic operation whose result decides that they are executed return what was written last, as on a card; by the letter that takes a fence between (ISA 8.8)")
	}
	if all.inherits != "" {
		r.Assumptions = append(r.Assumptions, all.inherits)
	}
	if len(all.joint) > 0 && (r.Proof == nil || !r.Proof.All) {
		r.Assumptions = append(r.Assumptions, fmt.Sprintf("lanes that add floating-point numbers to one word by one instruction (%s) do so in the order of their numbers; another order may leave another sum", l.lines(all.joint)))
	}
	if l.subject.Highest {
		r.Assumptions = append(r.Assumptions, "elect.sync elects the highest lane of its mask; the ISA lets it be any (9.7.13.14)")
	}
	if c.Program.Allocates() {
		r.Assumptions = append(r.Assumptions, "malloc finds a heap of 8 MiB, and no room is lost between its blocks")
	}
	if c.Program.UsesTensorMemory() {
		r.Assumptions = append(r.Assumptions, "tensor memory and tcgen05 are as the ISA's text, CuTe's layouts and published models of the sums have them ('muster explain sums'), and the commits of one thread arrive in the order of their issue: no card was asked")
		if c.CoResident <= 1 && len(c.More) == 0 {
			r.Assumptions = append(r.Assumptions, "no other CTA, of this grid or another, holds columns of tensor memory on the same SM (co-resident of a launch file lets CTAs of the grid)")
		}
	}
	r.Assumptions = append(r.Assumptions, c.Program.Assumes()...)
	if all.columns != "" {
		r.Assumptions = append(r.Assumptions, all.columns)
	}
	if c.Program.OrdersGrids() && len(c.More) == 0 {
		r.Assumptions = append(r.Assumptions, "the launch depends on no other grid, and none on it: griddepcontrol does nothing")
	}
	if c.VectorAtomic {
		r.Assumptions = append(r.Assumptions, "an aligned load or store of up to 16 bytes is one access, as on the card; the ISA has one for each element (8.2.4)")
	}
	r.Assuming = l.file.Assume
	r.Rounding = all.rounding
	r.Accept(l.accepts())
	r.Known(o.Baseline)
	r.Conclude(report.Options{FailOnWarning: o.FailOnWarning})
	return r
}

// gap resolves a gap, and says what would close it.
func (l *Launch) gap(g rules.Gap) report.Gap {
	out := l.resolver.Gap(g)
	values := map[string]int64{"Limits.Instrs": l.limits.Instrs, "Limits.Local": int64(l.limits.Local), "Limits.Memory": l.limits.Memory, "Limits.Time": 0}
	switch in := trial.LimitIn(g.What); {
	case trial.Interrupted(g.What):
		out.Needs = report.NoNumber("it was interrupted")
	case in == "Limits.Local" && g.AtLeast > mostLocal:
		out.Needs = report.NoNumber(fmt.Sprintf("it is at least %s, and no limit is larger than %s", diag.Group(g.AtLeast), diag.Group(mostLocal)))
	case in != "":
		out.Limits = []report.Limit{{Option: in, Value: values[in], AtLeast: g.AtLeast}}
		out.Needs = report.Needs(out.Limits)
	case inDoubt(g.What):
		out.Needs = report.NoNumber("with more schedules it may be decided")
	case strings.Contains(g.What, "not modelled"):
		out.Needs = report.NoNumber("what is not modelled stays open")
	default:
		out.Needs = report.NoNumber("no limit ended this, it is not decided by more runs")
	}
	return out
}

// mostLocal is more local memory than any limit allows.
const mostLocal = 1 << 30

func (l *Launch) resolve(r *Report, all merged) {
	fs := append(append([]rules.Finding{}, l.findings...), all.Findings...)
	rules.Sort(fs)
	for i := range fs {
		f := l.resolver.Finding(&fs[i])
		key := fs[i].Key()
		if n, ran := all.First[key]; ran {
			f.Schedule, f.Seen = r.Schedules[n], all.Seen[key]
		}
		r.Findings = append(r.Findings, f)
	}
	r.SetReplays()
}

func (l *Launch) accepts() []report.Accept {
	var list []report.Accept
	for _, a := range l.file.Accept {
		list = append(list, report.Accept{Kind: a.Finding, At: a.At, Reason: a.Reason, Where: a.Pos.String()})
	}
	return list
}
