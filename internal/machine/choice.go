package machine

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The machine's interface to exploration: list the choices of a state, take one,
// and shortcuts for policies that do not need the whole list.

// A Choice is one alternative of a schedule.
type Choice struct {
	Kind ChoiceKind
	CTA  int32
	Warp int32
	Lane int8  // lowest lane of the split
	Op   int64 // the operation, for Milestone and Refuse; the Version, for Pick; the
	// lanes, for Subset
	// Rest holds the versions of the words after the first, for Pick of an access to several: see
	// Picked.
	Rest string
}

// A ChoiceKind says what a Choice does.
type ChoiceKind uint8

const (
	// Run performs the visible operation that a split stands before.
	Run ChoiceKind = iota
	// GiveUp lets a waiting split's test come out false, as a timeout or a
	// bound would, so that what follows a failed test runs.
	GiveUp
	// Milestone advances an asynchronous operation by one stage.
	Milestone
	// Refuse is the first milestone of a request for a cluster that has not started, and the
	// answer that nothing is cancelled although there is one: see cancel.go.
	Refuse
	// Start starts the next cluster; CTA is its first.
	Start
	// Alone has one lane of a split perform, without the others, the access or the
	// operation on an mbarrier before which the split stands: the threads of a warp
	// are no unit (ISA 3.2).
	Alone
	// Pick is Alone, or Run of one lane, where the access reads the version that Op names, or
	// follows it in coherence order, and not the last: see version.go. Of several words, one for
	// each of them.
	Pick
	// Subset has some lanes of a split, whose mask is Op, execute the activemask before which the
	// split stands, without the others: see together.go. Enabled never lists it.
	Subset
	// Part makes lanes that diverge reconverge, from here on, only where they wait for
	// each other: see KeepApart. It is possible in every state, and Enabled never lists
	// it.
	Part
	// Lead makes elect.sync elect the highest lane of its mask from here on, not the
	// lowest: see LeadHighest. It is possible in every state, and Enabled never lists it.
	Lead
	// Prefer gives the preferred size to the cluster that begins at CTA, or to all if that is
	// negative: see sizes.go. A schedule begins with it; it is taken before a machine runs,
	// by Machine.Prefer and PreferAll, and no machine offers it.
	Prefer
)

func (c Choice) String() string {
	switch c.Kind {
	case Run:
		return fmt.Sprintf("r%d.%d.%d", c.CTA, c.Warp, c.Lane)
	case GiveUp:
		return fmt.Sprintf("g%d.%d.%d", c.CTA, c.Warp, c.Lane)
	case Alone:
		return fmt.Sprintf("a%d.%d.%d", c.CTA, c.Warp, c.Lane)
	case Pick:
		return fmt.Sprintf("o%d.%d.%d<%s", c.CTA, c.Warp, c.Lane, pickText(c.Picked()))
	case Subset:
		return fmt.Sprintf("k%d.%d.%d:%x", c.CTA, c.Warp, c.Lane, uint32(c.Op))
	case Milestone:
		return fmt.Sprintf("m%d", c.Op)
	case Refuse:
		return fmt.Sprintf("n%d", c.Op)
	case Part:
		return "p"
	case Lead:
		return "e"
	case Prefer:
		if c.CTA < 0 {
			return "c"
		}
		return fmt.Sprintf("c%d", c.CTA)
	}
	return fmt.Sprintf("s%d", c.CTA)
}

// Step takes one choice, which must be enabled.
func (m *Machine) Step(c Choice) {
	if m.stop != nil {
		return
	}
	m.clock++
	switch c.Kind {
	case Start:
		m.startCluster(m.gridOf(c.CTA))
	case Milestone:
		if !m.spend(stepWork) {
			return
		}
		m.advance(m.ops[m.opIndex(c.Op)])
	case Refuse:
		if !m.spend(stepWork) {
			return
		}
		op := m.ops[m.opIndex(c.Op)]
		op.refused = true
		m.advance(op)
	case Part:
		m.KeepApart()
	case Lead:
		m.LeadHighest()
	case Prefer:
		panic("BUG: sizes of clusters are chosen before the run")
	default:
		w := m.ctas[c.CTA].warps[c.Warp]
		s := w.find(c.Lane)
		if c.Kind == GiveUp && (s == nil || s.state != atPoint || !m.mayGiveUp(w, s)) {
			return // offered before another split gave up and merged with it
		}
		switch c.Kind {
		case Alone:
			s = w.alone(s, c.Lane)
		case Subset:
			s = w.group(s, uint32(c.Op))
		case Pick:
			s = w.alone(s, c.Lane)
			m.took = c.Picked()
		}
		m.step(w, s, c.Kind == GiveUp)
	}
}

// Enabled appends the choices that the state offers to buf: splits in order
// of CTA, warp and lane, then milestones in order of issue, then the start of
// the next cluster. If there is none of these, it offers GiveUp for waiting
// splits whose failed path has not run yet. No choice: the run is over, and
// Conclude says how.
func (m *Machine) Enabled(buf []Choice) []Choice {
	if m.stop != nil {
		return buf
	}
	for _, i := range m.running {
		for _, w := range m.ctas[i].warps {
			for _, s := range w.splits {
				if m.ready(w, s) {
					buf = append(buf, Choice{Kind: Run, CTA: i, Warp: w.index, Lane: int8(lowest(s.mask))})
				}
			}
		}
	}
	buf = m.milestones(buf)
	if buf = m.starts(buf); len(buf) > 0 {
		return buf
	}
	return m.exits(buf)
}

// milestones appends the milestones that can happen.
func (m *Machine) milestones(buf []Choice) []Choice {
	for _, op := range m.ops {
		if !m.canAdvance(op) {
			continue
		}
		buf = append(buf, Choice{Kind: Milestone, Op: op.ID})
		if m.mayRefuse(op) {
			buf = append(buf, Choice{Kind: Refuse, Op: op.ID})
		}
	}
	return buf
}

// MayFail reports whether the split that takes a choice stands at a test, or at a
// repeated read, that may fail once more.
func (m *Machine) MayFail(c Choice) bool {
	if m.stop != nil || c.CTA < 0 || int(c.CTA) >= len(m.ctas) || c.Lane < 0 || c.Lane > 31 {
		return false
	}
	t := m.ctas[c.CTA]
	if t == nil || c.Warp < 0 || int(c.Warp) >= len(t.warps) {
		return false
	}
	w := t.warps[c.Warp]
	s := w.find(c.Lane)
	return s != nil && s.state == atPoint && !m.prog.code[s.pc].aligned() && !m.ready(w, s) && m.mayGiveUp(w, s)
}

// moves reports whether anything other than a split can go on: another split, an
// operation, a cluster that has not started.
func (m *Machine) moves(but *split) bool {
	for _, i := range m.running {
		for _, w := range m.ctas[i].warps {
			for _, s := range w.splits {
				if s != but && m.ready(w, s) {
					return true
				}
			}
		}
	}
	return m.canStart() || slices.ContainsFunc(m.ops, m.canAdvance)
}

// canStart reports whether a cluster can start.
func (m *Machine) canStart() bool {
	return slices.ContainsFunc(m.grids, func(g *grid) bool { return m.mayStart(g, int32(m.cfg.MaxResident)) })
}

// starts appends the start of the next cluster of each grid that can start one.
func (m *Machine) starts(buf []Choice) []Choice {
	had := len(buf)
	for _, g := range m.grids {
		if m.mayStart(g, int32(m.cfg.MaxResident)) {
			buf = append(buf, m.startOf(g))
		}
	}
	if had > 0 || len(buf) > 0 || m.resident >= maxResident {
		return buf
	}
	// All splits wait, perhaps for CTAs that have not started: MaxResident is this
	// machine's limit, a card has its own.
	for _, g := range m.grids {
		if m.mayStart(g, math.MaxInt32) {
			buf = append(buf, m.startOf(g))
		}
	}
	return buf
}

func (m *Machine) startOf(g *grid) Choice {
	return Choice{Kind: Start, CTA: g.clusterFirst(m.at[g.index].started)}
}

// exits offers GiveUp to the waiting splits that could then reach a new state; to splits
// that wait for the rest of their warp only if no other split can, since the rest may
// still arrive.
func (m *Machine) exits(buf []Choice) []Choice {
	var aligned []Choice
	for _, i := range m.running {
		for _, w := range m.ctas[i].warps {
			for _, s := range w.splits {
				if s.state != atPoint || !m.mayGiveUp(w, s) {
					continue
				}
				c := Choice{Kind: GiveUp, CTA: i, Warp: w.index, Lane: int8(lowest(s.mask))}
				if m.prog.code[s.pc].aligned() {
					aligned = append(aligned, c)
				} else {
					buf = append(buf, c)
				}
			}
		}
	}
	if len(buf) == 0 {
		return aligned
	}
	return buf
}

// Conclude ends a run that has no choice left: unless every CTA has ended, it
// is deadlocked.
func (m *Machine) Conclude() {
	if m.stop == nil && m.ended < m.goal && len(m.Enabled(nil)) == 0 {
		m.halt(Stop{Kind: Deadlock, PC: -1, Mem: Local})
	}
}

// Go takes the Run choice c, and then the same split's next ones for as long
// as it can and at most n in all. It returns how many it took.
func (m *Machine) Go(c Choice, n int) int {
	w := m.ctas[c.CTA].warps[c.Warp]
	took := 0
	for took < n && m.stop == nil {
		s := w.find(c.Lane)
		if s == nil || took > 0 && !m.ready(w, s) {
			break
		}
		m.clock++
		m.step(w, s, false)
		took++
	}
	return took
}

// Next returns the first split after the place that c names, in cyclic order
// of CTA, warp and lane, that can run.
func (m *Machine) Next(c Choice) (Choice, bool) {
	if m.stop != nil || len(m.running) == 0 {
		return Choice{}, false
	}
	start := 0
	for i, idx := range m.running {
		if idx >= c.CTA {
			start = i
			break
		}
	}
	n := len(m.running)
	for k := 0; k <= n; k++ {
		i := m.running[(start+k)%n]
		for _, w := range m.ctas[i].warps {
			if k == 0 && i == c.CTA && w.index < c.Warp {
				continue
			}
			if k == n && (i != m.running[start] || w.index > c.Warp) {
				continue
			}
			for _, s := range w.splits {
				l := int8(lowest(s.mask))
				if k == 0 && i == c.CTA && w.index == c.Warp && l <= c.Lane {
					continue
				}
				if m.ready(w, s) {
					return Choice{Kind: Run, CTA: i, Warp: w.index, Lane: l}, true
				}
			}
		}
	}
	return Choice{}, false
}

// MilestoneChoice returns the milestone of the oldest operation that can advance, if any.
func (m *Machine) MilestoneChoice() (Choice, bool) {
	for _, op := range m.ops {
		if m.canAdvance(op) {
			return Choice{Kind: Milestone, Op: op.ID}, true
		}
	}
	return Choice{}, false
}

// StartChoice returns the start of the next cluster, if it is enabled.
func (m *Machine) StartChoice() (Choice, bool) {
	for _, g := range m.grids {
		if m.stop == nil && m.mayStart(g, int32(m.cfg.MaxResident)) {
			return m.startOf(g), true
		}
	}
	return Choice{}, false
}

// GoUntilIssue is Go, but stops after a step that issued an asynchronous
// operation, so that its milestones can come at once.
func (m *Machine) GoUntilIssue(c Choice, n int) int {
	w := m.ctas[c.CTA].warps[c.Warp]
	took := 0
	for before := m.nextOp; took < n && m.stop == nil && m.nextOp == before; took++ {
		s := w.find(c.Lane)
		if s == nil || took > 0 && !m.ready(w, s) {
			break
		}
		m.clock++
		m.step(w, s, false)
	}
	return took
}

// ParseChoice reads what Choice.String writes.
func ParseChoice(text string) (Choice, error) {
	var c Choice
	bad := fmt.Errorf("%q is no choice", text)
	if text == "" {
		return c, bad
	}
	rest := text[1:]
	var err error
	switch text[0] {
	case 'r', 'g', 'a':
		switch text[0] {
		case 'g':
			c.Kind = GiveUp
		case 'a':
			c.Kind = Alone
		}
		_, err = fmt.Sscanf(rest, "%d.%d.%d", &c.CTA, &c.Warp, &c.Lane)
	case 'o':
		c.Kind = Pick
		place, of, found := strings.Cut(rest, "<")
		if _, err = fmt.Sscanf(place, "%d.%d.%d", &c.CTA, &c.Warp, &c.Lane); err != nil || !found {
			return c, bad
		}
		var list []Version
		if list, err = parsePicks(of); err == nil {
			c = c.taking(list)
		}
	case 'k':
		c, err = parseSubset(rest)
	case 'm', 'n':
		if c.Kind = Milestone; text[0] == 'n' {
			c.Kind = Refuse
		}
		_, err = fmt.Sscanf(rest, "%d", &c.Op)
	case 's':
		c.Kind = Start
		_, err = fmt.Sscanf(rest, "%d", &c.CTA)
	case 'p':
		c.Kind = Part
	case 'e':
		c.Kind = Lead
	case 'c':
		c.Kind, c.CTA = Prefer, -1
		if rest != "" {
			_, err = fmt.Sscanf(rest, "%d", &c.CTA)
		}
	default:
		return c, bad
	}
	if err != nil || c.String() != text {
		return c, bad
	}
	return c, nil
}
