package litmus

import (
	"fmt"
	"strings"
	"unicode"

	"muster/report"
)

// maxQuestion is how much of a condition stands in the first line.
const maxQuestion = 300

// Text writes an answer: the verdict in one line, then the outcomes. Those that are asked for
// are marked, and told: where the condition of exists holds, or that of forall does not. With
// all each outcome is told.
func (a *Answer) Text(all bool) string {
	var b strings.Builder
	question := a.Question
	if len(question) > maxQuestion {
		question = strings.ToValidUTF8(question[:maxQuestion], "") + "…"
	}
	fmt.Fprintf(&b, "%s: %s: %s\n", visible(a.File), a.Verdict, question)
	for i := range a.Outcomes {
		r := &a.Outcomes[i]
		mark, asked := " ", r.Holds != (a.quant == Forall)
		if asked {
			mark = "*"
		}
		fmt.Fprintf(&b, "%s %s%s\n", mark, a.values(r), a.who(r))
		if all || asked {
			a.run(&b, r, all)
		}
	}
	switch {
	case len(a.Outcomes) > 0:
	case a.Verdict == Unknown:
		b.WriteString("  no outcome was found\n")
	default:
		b.WriteString("  no execution ends\n")
	}
	fmt.Fprintf(&b, "  %s\n", a.engines())
	for _, n := range a.Notes {
		fmt.Fprintf(&b, "  note: %s\n", n)
	}
	return b.String()
}

// visible is a name without what a terminal would take for more.
func visible(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, name)
}

func (a *Answer) values(r *Row) string {
	if len(r.Values) == 0 {
		return "some execution ends"
	}
	var list []string
	for i, v := range r.Values {
		list = append(list, fmt.Sprintf("%s = %d", a.Observed[i], int32(v)))
	}
	return strings.Join(list, ", ")
}

// who says who has an outcome, unless both do or there is one engine.
func (a *Answer) who(r *Row) string {
	switch {
	case r.Machine == r.Axioms || a.Axioms == nil || a.Machine == nil || a.Machine.Needs != "" || a.Axioms.Needs != "":
		return ""
	case r.Machine:
		return "  by the machine alone"
	case r.Buffering:
		return "  by the axioms: load buffering"
	case a.Machine.Complete:
		return "  by the axioms: the machine has no such interleaving"
	}
	return "  by the axioms"
}

// run writes how an outcome comes about.
func (a *Answer) run(b *strings.Builder, r *Row, all bool) {
	if r.Graph != nil && (all || !r.Machine) {
		for _, l := range r.Graph.Lines() {
			fmt.Fprintf(b, "      %s\n", l)
		}
	}
	if r.Schedule != "" {
		loops := ""
		if a.Loops != DefaultLoops {
			loops = fmt.Sprintf(" --loops %d", a.Loops)
		}
		fmt.Fprintf(b, "      run: muster litmus %s%s --schedule %s\n", report.Quote(a.File), loops, report.Quote(r.Schedule))
	}
}

// engines says what was looked at.
func (a *Answer) engines() string {
	var list []string
	tell := func(e *Engine, what, one, many string) {
		switch {
		case e == nil:
		case e.Needs != "":
			list = append(list, what+": none")
		default:
			s := fmt.Sprintf("%s: %s of %s", what, count(e.Outcomes, "outcome", "outcomes"), count(e.Runs, one, many))
			if !e.Complete {
				s += ", incomplete: " + e.Why
			}
			list = append(list, s)
		}
	}
	tell(a.Axioms, "axioms", "execution", "executions")
	tell(a.Machine, "machine", "run", "runs")
	return strings.Join(list, "; ")
}
