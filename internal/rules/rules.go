// Package rules turns what a run showed into findings.
//
// A Kind is one defect that Muster names: a small file of its own, with its
// text, its severity, and a wrong and a right example in testdata that its
// test runs. A Judge observes a run: it feeds internal/order, keeps the little
// state that the protocol rules need (the arrivals at each barrier, and their
// places), and at the end of the run asks every rule. Rules execute nothing and
// order nothing: what a conflict lacks comes from order, what happened from the
// machine's events and its Stop.
//
// A Finding is a value without pointers into the run, so that findings of
// many runs can be merged, sorted and compared.
package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"muster/internal/coherence"
	"muster/internal/machine"
	"muster/internal/order"
)

// A Severity says what a finding means for the verdict.
type Severity uint8

const (
	Note    Severity = iota // no defect: costs time, or worth knowing
	Warning                 // the ISA is unclear, or common code relies on more than it says
	Error                   // undefined or wrong under the PTX ISA
)

func (s Severity) String() string { return [...]string{"note", "warning", "error"}[s] }

// A Kind is one kind of defect. Its name is stable.
type Kind struct {
	Name     string
	Severity Severity
	Title    string // the defect, in one line
	Text     string // why it is wrong, with the source, and how to fix it
	Section  string // of the PTX ISA
	Order    Order
	Habit    bool // what a kernel does everywhere or nowhere: many findings are one
}

// Edition is the version of the PTX ISA whose numbers Section has: they change. It is that of
// Hopper's kinds, and for what came with Blackwell the first that has all of it.
func (k *Kind) Edition() string {
	for s := range strings.SplitSeq(k.Section, ", ") {
		if strings.HasPrefix(s, "9.7.18.") || s == "9.7.18" || s == "9.7.15.18" { // in 9.0 video, and nothing
			return "9.4"
		}
	}
	return "9.0"
}

// An Order says which of several findings a reader should see first: a mistake comes before
// the conflicts and the hang that it leads to.
type Order int

// The orders.
const (
	Mistake  Order = iota // an instruction, a count or an operand is wrong
	Conflict              // two accesses are not ordered
	Effect                // a hang, an exit, an arrival too many
)

var kinds = map[string]*Kind{}

// register enters a kind in the catalogue; each kind's file does it once.
func register(k Kind) *Kind {
	if kinds[k.Name] != nil || k.Name == "" || k.Title == "" || k.Text == "" || k.Section == "" {
		panic("BUG: kind " + k.Name + " is registered twice, or has an empty field")
	}
	kinds[k.Name] = &k
	return &k
}

// Kinds returns the catalogue, sorted by name.
func Kinds() []*Kind {
	var all []*Kind
	for _, k := range kinds {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b *Kind) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Names returns the names of the catalogue, sorted.
func Names() []string {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// Lookup returns the kind of that name, or nil.
func Lookup(name string) *Kind { return kinds[name] }

// A Finding is one defect with its evidence.
type Finding struct {
	Kind     string
	Severity Severity
	// Headline says in one line what happened, here.
	Headline string
	// Sites are the places involved, the earlier first.
	Sites []Site
	// Behind are the places of what the error may come of: an access that takes an overwritten
	// value, and what overwrote it.
	Behind []Site
	// Missing names the missing edge; Fix says what would give it.
	Missing string
	Fix     string
	// Ledger is the state of the barriers involved, one line each.
	Ledger []string
	// Waiting lists, for a deadlock, the waiting splits and what each waits for.
	Waiting []Waiter
	// Notes say what else a reader should know: sources that disagree, what the card
	// does.
	Notes []string
	// Register numbers an entry of machine.Program.Unset that the finding is about, from
	// 1 on.
	Register int32
	// Count is how often the same instructions met like this.
	Count int
	// Need is what the finding lacks, and Stands what of that kind the run has and does not
	// suffice: package near looks for it.
	Need   Need
	Stands []string
	// Rows says what is known of a race on the operands of a tcgen05.mma.
	Rows Rows
	Ties Ties
}

// A Site is one place in a finding.
type Site struct {
	// Role says what this site did: "writes", "reads", "arrives", "exits".
	Role  string
	PC    int32 // -1 if the site is no instruction
	CTA   int32
	Warp  int32
	Lanes uint32
	// Op says which asynchronous operation did it, as in
	// "bulk copy 3, source not read"; empty for a thread's own access.
	Op   string
	Mem  machine.MemID
	Addr uint64
	Len  uint64 // 0 if the site touches no memory
}

// A Waiter is a split that waits in a deadlock.
type Waiter struct {
	Site Site
	For  string // "phase 3 (parity 1) of the mbarrier at shared+1024 of CTA 0: pending 1 of 5, tx 512"
	Owed string // the threads that should have arrived, and their places; empty if unknown
}

// Key identifies a finding across runs: what is found and where in the
// program, without the circumstances of one schedule.
func (f *Finding) Key() string {
	k := f.Kind
	if f.Register > 0 {
		k += fmt.Sprintf("|%d", f.Register)
	}
	for _, s := range f.Sites {
		k += fmt.Sprintf("|%s:%d", s.Role, s.PC)
	}
	return k
}

// A Gap is something that makes a verdict incomplete.
type Gap struct {
	What string // what was not modelled, or which limit ran out
	PC   int32  // -1 if it has no place
	// AtLeast is what the limit that ran out must at least be; 0 if nothing is known.
	AtLeast int64 `json:",omitempty"`
	// Executions: an exploration of executions that are no interleavings settles it.
	Executions bool `json:",omitempty"`
}

// A Judge watches one run.
type Judge struct {
	Config
	Order *order.Tracker
	// Words, with Config.Executions, says which versions accesses may take, and took.
	Words    *coherence.Run
	findings []Finding
	keys     map[string]int // where in findings, up to as many as it has
	gaps     []Gap
	// stepReads are the loads of which lanes of one warp may be expected to go in step, steps what
	// they are in no order with.
	stepReads map[int32]bool
	steps     []lockstep
	watch     watch // the protocol rules' state
	// over: the run ended (machine.Over). If not, two conclusions are invalid:
	// that something never happens, and that no graver finding, which may yet come,
	// explains a finding.
	over bool
}

// A Config is what rules need to know about a launch.
type Config struct {
	machine.Shape
	Program *machine.Program
	// MustOnly leaves out orderings that only the schedule of the run decided.
	MustOnly bool
	// Executions is order.Config's.
	Executions bool
	// WeakFences is order.Config's.
	WeakFences bool
	// Equal, Ends, Round, Looks, Strong, Pairs and Locks are order.Config's.
	Equal  func(pc int32) bool
	Ends   func(m order.Memory, ev *machine.Event, lane int) bool
	Round  func(ev *machine.Event, lane int) (int, bool)
	Looks  func(pc int32) bool
	Strong func(order.Pair)
	Pairs  *order.Pairs
	Locks  *order.Locks
	// Unused is order.Config's: races on these bytes are warnings.
	Unused machine.OperandBytes
}

// NewJudge returns a judge for one run of a launch.
func NewJudge(c Config) *Judge {
	j := &Judge{Config: c}
	if c.Strong == nil && !c.MustOnly && !c.Executions {
		if j.stepReads = lockstepReads(c.Program); j.stepReads != nil {
			c.Strong = j.strong
		}
	}
	j.Order = order.New(order.Config{Shape: c.Shape, MustOnly: c.MustOnly, Executions: c.Executions, WeakFences: c.WeakFences, Equal: c.Equal, Ends: c.Ends, Round: c.Round, Looks: c.Looks, Strong: c.Strong, Pairs: c.Pairs, Locks: c.Locks, Unused: c.Unused, Invals: invalidates(c.Program)})
	if c.Executions {
		j.Words = coherence.NewRun(j.Order, c.Program)
	}
	return j
}

// invalidates reports whether a program has mbarrier.inval.
func invalidates(p *machine.Program) bool {
	for pc := range int32(p.Len()) {
		if in := p.Inst(pc); in != nil && in.Form != nil && in.Form.Barrier == "inval" {
			return true
		}
	}
	return false
}

// Observe makes a Judge a machine.Observer.
func (j *Judge) Observe(m *machine.Machine, ev *machine.Event) {
	found := j.Order.Found()
	if j.Words != nil {
		j.Words.Observe(m, ev)
	}
	j.Order.Observe(m, ev)
	if ev.Kind == machine.EvAccess && ev.Op == nil && (ev.Init != ev.Mask || j.Order.Found() > found) {
		j.guards(ev.CTA, ev.Warp, ev.PC)
		j.guardsBefore(j.Order.Since(found))
	}
	if ev.Kind == machine.EvRegister && ev.Unset != 0 {
		j.unset(ev)
	} else if ev.Kind != machine.EvAccess {
		j.protocol(m, ev)
	} else {
		if ev.Init != ev.Mask {
			j.uninitialized(ev)
		}
		j.placed(ev, uint64(ev.Size))
		if len(j.watch.filled) > 0 && ev.Access&(machine.Write|machine.Update) != 0 {
			j.collectedAccess(ev)
		}
	}
}

// Finish asks every rule about the run, and returns the findings, sorted, and the
// gaps, which make the verdict incomplete. A run that a limit cut, or that was
// abandoned, yields only findings that it would also yield at its end.
func (j *Judge) Finish(m *machine.Machine) ([]Finding, []Gap) {
	j.over = m.Over()
	j.races()
	j.locksteps()
	j.lifetimes()
	j.stopped(m)
	j.atEnd(m)
	j.repeatedCopies()
	j.staleWords()
	j.behindErrors()
	j.tie(j.findings)
	Sort(j.findings)
	j.keys = nil
	return j.findings, j.gaps
}

// add enters a finding, or counts one that is there already.
func (j *Judge) add(k *Kind, f Finding) {
	f.Kind = k.Name
	if f.Severity == Note {
		f.Severity = k.Severity
	}
	f.Count = max(f.Count, 1)
	if i := j.find(f.Key()); i >= 0 {
		old := &j.findings[i]
		f.Count += old.Count
		if f.Severity > old.Severity { // a contested form of the same does not hide it
			*old = f
		}
		old.Count = f.Count
		return
	}
	j.findings = append(j.findings, f)
}

// find returns where the finding with a key is; -1 for nowhere.
func (j *Judge) find(key string) int {
	if j.keys == nil {
		j.keys = map[string]int{}
	}
	for i := len(j.keys); i < len(j.findings); i++ { // those added since
		j.keys[j.findings[i].Key()] = i
	}
	if i, ok := j.keys[key]; ok {
		return i
	}
	return -1
}

// Sort orders findings: errors first, mistakes before what they lead to, then by name and
// place. It does not depend on the schedule.
func Sort(fs []Finding) {
	type keyed struct {
		Finding
		key string
	}
	list := make([]keyed, len(fs))
	for i := range fs {
		list[i] = keyed{fs[i], fs[i].Key()}
	}
	slices.SortStableFunc(list, func(a, b keyed) int {
		if c := cmp.Compare(b.Severity, a.Severity); c != 0 {
			return c
		}
		if c := cmp.Compare(kinds[a.Kind].Order, kinds[b.Kind].Order); c != 0 {
			return c
		}
		if c := cmp.Compare(a.Kind, b.Kind); c != 0 {
			return c
		}
		return cmp.Compare(a.key, b.key)
	})
	for i := range list {
		fs[i] = list[i].Finding
	}
}
