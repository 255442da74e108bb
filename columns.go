package muster

import (
	"fmt"
	"slices"

	"muster/internal/machine"
	"muster/internal/rules"
	"muster/internal/trial"
)

// columnsMatter says what a launch makes of the columns that tcgen05.alloc finds. The machine
// gives the lowest that are free, and the ISA promises nothing of which they are (9.7.18.7.1).
// So the first cluster runs once more, with others: what goes wrong there alone uses an address
// that alloc did not return, or relies on what it is.
func (c *checking) columnsMatter() {
	wrong := func(f rules.Finding) bool { return f.Severity == rules.Error }
	if c.o.Mode != EverySchedule || !c.config.Program.AllocatesColumns() || slices.ContainsFunc(c.Findings, wrong) {
		return
	}
	c.budget.Meter.Stage("runs with other columns of tensor memory", "", 0)
	plain, ok := c.runWithColumns(func(*machine.Machine) {})
	others, also := c.runWithColumns((*machine.Machine).OtherColumns)
	if !ok || !also {
		return
	}
	known := map[string]bool{}
	for i := range plain {
		known[plain[i].Key()] = true
	}
	for i := range others {
		if f := &others[i]; wrong(*f) && !known[f.Key()] {
			at := f.Sites[len(f.Sites)-1].PC
			c.columns = fmt.Sprintf("tcgen05.alloc returns the lowest columns that are free, of which the ISA says nothing: in a run in which it returned others there was an error, %s at %s", f.Kind, c.subject.Line(at))
			return
		}
	}
}

// runWithColumns returns what a run of the first cluster shows.
func (c *checking) runWithColumns(set func(*machine.Machine)) ([]rules.Finding, bool) {
	j := rules.NewJudge(c.subject.Rules())
	m := c.subject.Part(j, c.skip, 0, c.subject.Start.ClusterCount())
	set(m)
	gap, err := c.subject.Follow(c.budget, m, trial.ProofSchedule)
	if gap != nil || err != nil {
		return nil, false
	}
	fs, _ := j.Finish(m)
	return fs, true
}
