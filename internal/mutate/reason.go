package mutate

import (
	"fmt"
	"slices"

	"muster/ptx"
	"muster/report"
)

// maxTogether bounds the survivors that are tried two at a time.
const maxTogether = 32

// reasons enters why each survivor is one, where that can be found.
func (r *runner) reasons(rows []Row) {
	var open []*Row
	for i := range rows {
		if rows[i].Outcome == Survived && rows[i].Why == "" {
			open = append(open, &rows[i])
		}
	}
	r.meter.Stage("looking why mutants survive", "mutant", len(open))
	r.each(len(open), func(i int) {
		open[i].Why = r.alone(open[i].Mutation)
		r.meter.Did(1)
	})
	open = slices.DeleteFunc(open, func(x *Row) bool { return x.Why != "" })
	if len(open) > maxTogether {
		for _, x := range open[maxTogether:] {
			x.Why = fmt.Sprintf("not tried with the others: more than %d survive", maxTogether)
		}
		open = open[:maxTogether]
	}
	r.together(open)
	for _, x := range open {
		if why := r.over(); why != "" && x.Why == "" {
			x.Why = "no reason was looked for: " + why
		}
		if x.Why == "" && orders[x.Kind] {
			x.Why = "without it no two accesses race in these schedules"
		}
	}
}

// orders are the kinds that remove only order: the mutant computes what the
// kernel does, and the check has judged the remaining order.
var orders = map[string]bool{"fence": true, "scope": true, "order": true}

// alone returns the reasons that depend on one mutation only.
func (r *runner) alone(m *Mutation) string {
	if !r.comes(m) {
		return "no thread of this launch comes here"
	}
	l := &r.base.Launch
	switch have := m.inst.Mod("scope"); {
	case m.Kind == "scope" && l.CTAs == 1 && have != "sys" && m.inst.Mod("level") != "sys":
		return "the launch has one CTA"
	case m.Kind == "scope" && have == "cluster" && l.Cluster == [3]uint32{1, 1, 1}:
		return "a cluster has one CTA here"
	case m.Kind == "scope" && (have == "sys" || m.inst.Mod("level") == "sys"):
		return "no other GPU and no CPU takes part in a launch"
	case m.Kind == "registers":
		return "it orders nothing, and the registers suffice without"
	}
	return ""
}

// comes reports whether a thread executes the instruction: with a trap in its
// place, the run ends there.
func (r *runner) comes(m *Mutation) bool {
	trap := inst("trap")
	trap.Pos, trap.Guard = m.inst.Pos, m.inst.Guard
	at := slices.IndexFunc(m.edit.block.Stmts, func(s ptx.Stmt) bool { return s == ptx.Stmt(m.inst) })
	mod, _ := Apply(r.mod, &Mutation{edit: edit{m.edit.block, at, at + 1, []ptx.Stmt{trap}}})
	l, err := r.load(mod)
	if err != nil {
		return true
	}
	out, err := r.check(l)
	return err != nil || out.finding != nil || out.gap != ""
}

// together tries survivors two at a time. If a pair is found but neither alone,
// each provides what the other does.
func (r *runner) together(open []*Row) {
	type pair struct{ a, b int }
	var pairs []pair
	for a := range open {
		for b := a + 1; b < len(open); b++ {
			pairs = append(pairs, pair{a, b})
		}
	}
	kinds := make([]string, len(pairs))
	r.each(len(pairs), func(i int) {
		mod, ok := Apply(r.mod, open[pairs[i].a].Mutation, open[pairs[i].b].Mutation)
		if !ok {
			return
		}
		l, err := r.load(mod)
		if err != nil {
			return
		}
		if out, err := r.check(l); err == nil && out.finding != nil && out.finding.Severity == report.SevError {
			kinds[i] = out.finding.Kind
		}
	})
	for i, p := range pairs {
		if kinds[i] == "" {
			continue
		}
		for _, x := range [][2]*Row{{open[p.a], open[p.b]}, {open[p.b], open[p.a]}} {
			if x[0].Why == "" {
				x[0].Why = fmt.Sprintf("%s gives the same: both together are %s", x[1].ID, kinds[i])
			}
		}
	}
}
