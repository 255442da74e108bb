package muster

import (
	"fmt"
	"path/filepath"
	"strings"

	"muster/internal/diag"
	"muster/internal/rules"
	"muster/internal/undecided"
)

// What a check has done so far, for a process that has to end before the report is there
// (CheckOptions.SoFar).

// maxToldSoFar is how many findings, and reasons why there is no proof, are named.
const maxToldSoFar = 3

// tell tells what the check has done, and what is next.
func (c *checking) tell(next string) {
	if c.o.SoFar != nil {
		c.o.SoFar(c.soFar() + next + " next")
	}
}

// tellsExploring has the exploration tell how far it has come.
func (c *checking) tellsExploring() {
	if c.o.SoFar == nil {
		return
	}
	done := c.soFar()
	c.o.SoFar(done + "exploration next")
	c.explore.SoFar = func(schedules, findings int) {
		text := fmt.Sprintf("%s%s explored besides", done, diag.Plural(schedules, "schedule"))
		if findings > 0 {
			text += ", with " + diag.Plural(findings, "finding")
		}
		c.o.SoFar(text)
	}
}

// soFar says what is done, each part with a comma or semicolon behind it.
func (c *checking) soFar() string {
	var b strings.Builder
	if c.subject.Highest {
		b.WriteString("with the highest lanes as leaders: ")
	}
	switch {
	case c.proof == nil:
		return b.String() + "nothing was decided; "
	case c.proof.All:
		b.WriteString("one run decides every schedule; ")
	default:
		b.WriteString("no proof of every schedule" + c.unproven() + "; ")
	}
	n := 0
	if c.ran {
		n = len(c.list)
	}
	fmt.Fprintf(&b, "%s ran", diag.Plural(n, "schedule"))
	if n > 0 {
		b.WriteString(c.showed())
	}
	return b.String() + "; "
}

// unproven says in words which conditions of a proof fail first, and where.
func (c *checking) unproven() string {
	var list []string
	reasons := c.proof.Reasons
	for i := 0; i < len(reasons); {
		if len(list) == maxToldSoFar {
			list = append(list, fmt.Sprintf("%d more", len(reasons)-i))
			break
		}
		why := &reasons[i]
		var at []string
		for ; i < len(reasons) && reasons[i].Condition == why.Condition; i++ {
			if p := reasons[i].Place; p != nil && len(at) < maxToldSoFar {
				at = append(at, fmt.Sprintf("%s:%d", filepath.Base(p.File), p.Line))
			}
		}
		text := why.Text
		if k := undecided.Lookup(why.Condition); k != nil {
			text = fmt.Sprintf("it is open whether %s ('explain %s' has more)", k.Title, k.Name)
		}
		if len(at) > 0 {
			text += " at " + strings.Join(at, ", ")
		}
		list = append(list, text)
	}
	if len(list) == 0 {
		return ""
	}
	return ": " + strings.Join(list, ", ")
}

// showed names the first findings of the schedules that ran, the gravest first.
func (c *checking) showed() string {
	found := append([]rules.Finding{}, c.Findings...)
	rules.Sort(found)
	if len(found) == 0 {
		return ", and nothing was found"
	}
	var list []string
	for i := range found {
		f := &found[i]
		if i == maxToldSoFar {
			list = append(list, fmt.Sprintf("%d more", len(found)-i))
			break
		}
		text := fmt.Sprintf("%s[%s]", f.Severity, f.Kind)
		if len(f.Sites) > 0 {
			text += " at " + c.subject.Line(f.Sites[0].PC)
		}
		list = append(list, text)
	}
	return ", and showed " + strings.Join(list, ", ")
}
