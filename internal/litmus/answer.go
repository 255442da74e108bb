package litmus

import (
	"errors"
	"fmt"
	"strings"

	"muster/internal/axiom/flow"
)

// A Verdict is the answer to a test's question: whether the condition of exists or ~exists
// holds in some execution, whether that of forall holds in all.
type Verdict string

const (
	Allowed   Verdict = "allowed"
	Forbidden Verdict = "forbidden"
	Holds     Verdict = "holds"
	Fails     Verdict = "fails"
	Unknown   Verdict = "incomplete"
	Unread    Verdict = "bad input"
)

// DefaultLoops is how often a thread jumps backward unless more is asked for.
const DefaultLoops = 2

// Options say how a test is answered.
type Options struct {
	Loops  int // how often a thread may jump backward
	Limits Limits
	// Over, if set, is asked now and then, and says why the work has to end, if it has to.
	Over func() string
	// Without leaves an engine out.
	WithoutAxioms, WithoutMachine bool
}

// An Answer is what the engines say of a test.
type Answer struct {
	File     string `json:"file"`
	Name     string `json:"name"`
	Question string `json:"question"`
	// Verdict is the answer, and OK what herd prints: whether what the file states is so,
	// a question with exists included.
	Verdict Verdict `json:"verdict"`
	OK      bool    `json:"ok"`
	// By says who gives the answer: "both", "axioms" or "machine"; nobody if it is incomplete.
	By       string   `json:"by,omitempty"`
	Observed []string `json:"observed"`
	Outcomes []Row    `json:"outcomes"`
	Loops    int      `json:"loops"`
	Axioms   *Engine  `json:"axioms,omitempty"`
	Machine  *Engine  `json:"machine,omitempty"`
	// Notes say what is to know of the answer, Needs what it lacks. Wrong says that the
	// machine shows what the axioms forbid: a mistake in one of the two.
	Notes []string `json:"notes,omitempty"`
	Needs []string `json:"needs,omitempty"`
	Wrong bool     `json:"wrong,omitempty"`
	// Error is why a file was not read.
	Error string `json:"error,omitempty"`

	quant Quant
}

// An Engine is what one engine did. Why says why its outcomes are not all.
type Engine struct {
	Outcomes int    `json:"outcomes"`
	Runs     int    `json:"runs"` // executions, or runs of the machine
	Complete bool   `json:"complete"`
	Why      string `json:"why,omitempty"`
	Needs    string `json:"needs,omitempty"`
	Hangs    bool   `json:"hangs,omitempty"`
	Races    bool   `json:"races,omitempty"`
	Loops    bool   `json:"loops,omitempty"` // runs of longer loops were left out
}

// A Row is an outcome.
type Row struct {
	Values []uint32 `json:"values"` // of Answer.Observed
	Holds  bool     `json:"holds"`  // the condition
	// Who has it, and for the axioms whether only by load buffering (ISA 8.10.4).
	Axioms    bool   `json:"axioms"`
	Machine   bool   `json:"machine"`
	Buffering bool   `json:"load_buffering,omitempty"`
	Graph     *Graph `json:"graph,omitempty"`
	Schedule  string `json:"schedule,omitempty"`
}

// Answer asks both engines.
func (t *Test) Answer(o Options) (*Answer, error) {
	a := &Answer{Observed: []string{}, File: t.File, Name: t.Name, Question: t.CondText(), Verdict: Unknown, Loops: o.Loops, Notes: t.Notes, quant: t.Quant}
	for i := range t.Observed {
		a.Observed = append(a.Observed, t.Observed[i].Name)
	}
	var axioms, machine *Outcomes
	var err error
	var stop func() bool
	if o.Over != nil {
		stop = func() bool { return o.Over() != "" }
	}
	if !o.WithoutAxioms {
		axioms, err = t.Axioms(o.Loops, stop)
		if a.Axioms, err = o.engine(axioms, err); err != nil {
			return nil, err
		}
	}
	if !o.WithoutMachine {
		machine, err = t.Machine(o.Loops, o.Limits, stop)
		if a.Machine, err = o.engine(machine, err); err != nil {
			return nil, err
		}
	}
	a.rows(t, axioms, machine)
	a.decide(t, axioms, machine)
	a.differ(axioms, machine)
	a.remark(axioms, machine)
	return a, nil
}

// engine summarizes what an engine found, or what it lacks.
func (p *Options) engine(o *Outcomes, err error) (*Engine, error) {
	var need *Need
	switch {
	case errors.As(err, &need):
		return &Engine{Needs: need.Error()}, nil
	case err != nil:
		return nil, err
	}
	if o.Loops && o.Complete && len(o.List) == 0 {
		o.Complete, o.Why = false, fmt.Sprintf("no execution ends in which no thread jumps backward more than %s (--loops)", count(p.Loops, "time", "times"))
	}
	if o.Why == flow.Stopped {
		o.Why = p.Over()
	}
	return &Engine{Outcomes: len(o.List), Runs: o.Count, Complete: o.Complete, Why: o.Why, Hangs: o.Hangs, Races: o.Races, Loops: o.Loops}, nil
}

// rows joins the outcomes of both.
func (a *Answer) rows(t *Test, axioms, machine *Outcomes) {
	a.Outcomes = []Row{}
	if axioms != nil {
		for i := range axioms.List {
			o := &axioms.List[i]
			a.Outcomes = append(a.Outcomes, Row{Values: o.Values, Holds: t.Cond.Holds(o.Values), Axioms: true, Buffering: o.Buffers, Graph: o.Graph})
		}
	}
	if machine == nil {
		return
	}
	for i := range machine.List {
		o := &machine.List[i]
		if axioms != nil && axioms.find(o.Values) != nil {
			continue
		}
		a.Outcomes = append(a.Outcomes, Row{Values: o.Values, Holds: t.Cond.Holds(o.Values)})
	}
	for i := range a.Outcomes {
		r := &a.Outcomes[i]
		if o := machine.find(r.Values); o != nil {
			r.Machine, r.Schedule = true, o.Schedule
		}
	}
}

// holds evaluates the test's question for the outcomes of one engine. sure is false where the
// outcomes are not all, and others could change the answer.
func (t *Test) holds(o *Outcomes) (holds, sure bool) {
	some, all := false, true
	for i := range o.List {
		if t.Cond.Holds(o.List[i].Values) {
			some = true
		} else {
			all = false
		}
	}
	switch t.Quant {
	case Exists:
		return some, some || o.Complete
	case NotExists:
		return !some, some || o.Complete
	}
	return all, !all || o.Complete
}

// verdict names an answer.
func (t *Test) verdict(holds bool) Verdict {
	switch {
	case t.Quant == Forall && holds:
		return Holds
	case t.Quant == Forall:
		return Fails
	case holds == (t.Quant == Exists):
		return Allowed
	}
	return Forbidden
}

// decide answers. The axioms decide; what a run of the machine shows is decided, too, but what
// no run shows if the machine is alone, and there is no load buffering.
func (a *Answer) decide(t *Test, axioms, machine *Outcomes) {
	var byAxioms, byMachine, sureAxioms, sureMachine bool
	if axioms != nil {
		byAxioms, sureAxioms = t.holds(axioms)
	}
	if machine != nil {
		byMachine, sureMachine = t.holds(machine)
	}
	shown := byMachine == (t.Quant == Exists) // an outcome of the machine decides
	switch {
	case sureAxioms && sureMachine && byAxioms == byMachine:
		a.OK, a.By = byAxioms, "both"
	case sureAxioms:
		a.OK, a.By = byAxioms, "axioms"
	case sureMachine && (shown || !machine.Loose):
		a.OK, a.By = byMachine, "machine"
	default:
		a.lacking()
		return
	}
	a.Verdict = t.verdict(a.OK)
}

// lacking says what an answer needs.
func (a *Answer) lacking() {
	add := func(name string, e *Engine) {
		switch {
		case e == nil:
		case e.Needs != "":
			a.Needs = append(a.Needs, e.Needs)
		case e.Why != "":
			a.Needs = append(a.Needs, a.File+": "+name+": "+e.Why)
		case name == "machine" && a.Axioms == nil:
			a.Needs = append(a.Needs, a.File+": there may be load buffering, which the machine does not have, so that only the axioms can forbid (--engine both)")
		}
	}
	add("axioms", a.Axioms)
	add("machine", a.Machine)
}

// differ says where the engines differ, and why.
func (a *Answer) differ(axioms, machine *Outcomes) {
	if axioms == nil || machine == nil {
		return
	}
	buffering, lacks := 0, false
	for i := range a.Outcomes {
		switch r := &a.Outcomes[i]; {
		case r.Axioms && r.Machine:
		case r.Machine && axioms.Complete:
			a.Wrong = true
		case r.Axioms && machine.Complete && r.Buffering:
			buffering++
		case r.Axioms && machine.Complete:
			lacks = true
		}
	}
	if lacks {
		a.Wrong = true
		a.Notes = append(a.Notes, "the machine lacks an outcome that the axioms allow: one of them is wrong")
		return
	}
	if a.Wrong {
		a.Notes = append(a.Notes, "the machine shows an outcome that the axioms forbid: one of them is wrong")
	}
	if buffering > 0 {
		a.Notes = append(a.Notes, fmt.Sprintf("%s by load buffering alone (ISA 8.10.4), which the machine does not do: the answer is the axioms'", count(buffering, "outcome comes", "outcomes come")))
	}
}

// remark adds what else is to know.
func (a *Answer) remark(axioms, machine *Outcomes) {
	for _, e := range []*Engine{a.Axioms, a.Machine} {
		if e != nil && e.Needs != "" && a.Verdict != Unknown {
			a.Notes = append(a.Notes, "one engine answers: the other "+strings.TrimPrefix(e.Needs, a.File+": "))
		}
	}
	if a.unrolls() {
		a.Notes = append(a.Notes, fmt.Sprintf("loops are unrolled: executions in which a thread jumps backward more than %s are left out (--loops)", count(a.Loops, "time", "times")))
	}
	if axioms != nil && axioms.Hangs || machine != nil && machine.Hangs {
		a.Notes = append(a.Notes, "in some executions a thread waits for ever: they have no outcome")
	}
	if axioms != nil && axioms.Races {
		a.Notes = append(a.Notes, "in some execution two accesses are in a data race (ISA 8.7.1)")
	}
}

// unrolls reports whether executions of longer loops were left out.
func (a *Answer) unrolls() bool {
	return a.Axioms != nil && a.Axioms.Loops || a.Machine != nil && a.Machine.Loops
}

// Within says, behind a verdict that longer loops could change, of which executions it is.
func (a *Answer) Within() string {
	if !a.unrolls() || a.Verdict != Forbidden && a.Verdict != Holds {
		return ""
	}
	return fmt.Sprintf(" (where no thread jumps backward more than %s)", count(a.Loops, "time", "times"))
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
