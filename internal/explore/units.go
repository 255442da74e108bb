package explore

import (
	"slices"

	"muster/internal/machine"
)

// A search can be split. What is left to try along the run under way forms units, one
// for each choice: a unit explores by itself what begins with that choice, and the
// backtrack points that it finds on the way there. Units are independent, and only
// the search determines them, so that any number of processors or machines finds the
// same.

// Split divides what is left of a search into units, those that begin first first.
func (s *Search) Split(l Limits) []*Search {
	s.begin()
	if s.ended {
		return nil
	}
	if len(s.nodes) == 0 {
		return []*Search{NewSearch(s.space, l)}
	}
	c := &collector{}
	m := s.space.Fork(c)
	c.start(m)
	var units []*Search
	for d, n := range s.nodes {
		done, list := n.done, n.todo
		if d < len(s.steps) {
			done = slices.Concat(done, s.steps[d:d+1])
		} else {
			list = slices.Concat([]machine.Choice{process(n.taken)}, list) // it was to be next
		}
		var todo []*step
		for _, p := range list {
			if !n.tried(p) && !n.asleep(p) && !holds(todo, p) {
				todo = append(todo, probe(m, n.way(p)))
			}
		}
		for i := range todo {
			u := NewSearch(s.space, l)
			u.above, u.before = s.nodes[:d:d], s.steps[:d:d]
			// Choices before this one count as tried, those after it wait.
			at := n.apart()
			at.done = slices.Concat(done, todo[:i])
			at.later = slices.Concat(n.later, todo[i+1:])
			at.taken = todo[i].choice
			u.nodes = append(u.nodes, at)
			u.fresh = d
			units = append(units, u)
		}
		n.todo, n.later = nil, slices.Concat(n.later, todo)
		if d < len(s.steps) {
			m.Step(n.taken)
		}
	}
	s.ended = true
	return units
}

// Weight estimates the fraction of all kinds of schedules that a unit that has not
// run holds, from the number of ways at each state on the way to it (Knuth,
// Estimating the efficiency of backtrack programs, 1975).
func (s *Search) Weight() float64 {
	w := 1.0
	for _, list := range [2][]*node{s.above, s.nodes} {
		for _, n := range list {
			w /= float64(1 + len(n.done) + len(n.later))
		}
	}
	return w
}

// begin makes a unit's way its own: units share it until they run, since there may be as many
// as it is long.
func (s *Search) begin() {
	if s.above == nil {
		return
	}
	nodes := make([]*node, 0, len(s.above)+len(s.nodes))
	for _, n := range s.above {
		nodes = append(nodes, n.apart())
	}
	s.nodes, s.steps = append(nodes, s.nodes...), append(slices.Clone(s.before), s.steps...)
	s.above, s.before = nil, nil
}

// apart returns a copy of the node for a unit that takes the same way from it, without
// the choices that other units try.
func (n *node) apart() *node {
	c := *n
	c.todo = nil
	c.done = slices.Clone(n.done)
	c.later = slices.Clone(n.later)
	return &c
}

// probe returns the step that a choice would be in m's state.
func probe(m *machine.Machine, choice machine.Choice) *step {
	c := &collector{}
	f := m.Clone().Fork(c, nil)
	f.StopWhen(nil)
	c.start(f)
	return c.take1(f, choice)
}

// A Snapshot is a search between two runs, as it is written down.
type Snapshot struct {
	Nodes []NodeSnapshot `json:"nodes"`
	Fresh int            `json:"fresh"`
	Ended bool           `json:"ended"`
	Count Coverage       `json:"count"`
}

// A NodeSnapshot is what a search keeps of a state on its way; choices are
// written as in schedules.
type NodeSnapshot struct {
	Taken string   `json:"taken"`
	Todo  []string `json:"todo,omitempty"`
	Done  []string `json:"done,omitempty"`
	Sleep []string `json:"sleep,omitempty"`
	Later []string `json:"later,omitempty"`
}

// Snapshot returns where the search is. It must be called between runs: by stop, or
// when Run has returned.
func (s *Search) Snapshot() Snapshot {
	s.begin()
	snap := Snapshot{Fresh: s.fresh, Ended: s.ended, Count: s.Covered()}
	for _, n := range s.nodes {
		snap.Nodes = append(snap.Nodes, NodeSnapshot{
			Taken: n.taken.String(), Todo: written(n.todo), Done: choices(n.done), Sleep: choices(n.sleep), Later: choices(n.later),
		})
	}
	return snap
}

func written(list []machine.Choice) []string {
	var out []string
	for _, c := range list {
		out = append(out, c.String())
	}
	return out
}

func choices(list []*step) []string {
	var out []string
	for _, s := range list {
		out = append(out, s.choice.String())
	}
	return out
}

// Resume returns the search of a snapshot. The error reports a snapshot of another
// launch.
func Resume(space *Space, l Limits, snap Snapshot) (*Search, error) {
	s := NewSearch(space, l)
	s.fresh, s.ended, s.count = snap.Fresh, snap.Ended, snap.Count
	c := &collector{}
	m := space.Fork(c)
	c.start(m)
	var before *step
	for d, of := range snap.Nodes {
		n := &node{ways: ways(m)}
		if d > 0 {
			n.since = appeared(s.nodes[d-1].ways, n.ways)
			n.follow(s.nodes[d-1], before, m)
		}
		r := reader{m: m, n: n}
		n.taken = r.choice(of.Taken)
		for _, text := range of.Todo {
			n.todo = append(n.todo, r.choice(text))
		}
		n.done, n.sleep, n.later = r.steps(of.Done), r.steps(of.Sleep), r.steps(of.Later)
		if r.err != nil {
			return nil, r.err
		}
		s.nodes = append(s.nodes, n)
		before = c.take1(m, n.taken)
		if d < s.fresh || s.ended {
			s.steps = append(s.steps, before)
		}
	}
	return s, nil
}

// A reader reads the choices of one state.
type reader struct {
	m   *machine.Machine
	n   *node
	err error
}

func (r *reader) choice(text string) machine.Choice {
	c, err := machine.ParseChoice(text)
	if err == nil && !r.n.can(process(c)) {
		err = &Misfit{text}
	}
	if err != nil {
		r.err = err
	}
	return c
}

func (r *reader) steps(list []string) []*step {
	var out []*step
	for _, text := range list {
		if c := r.choice(text); r.err == nil {
			out = append(out, probe(r.m, c))
		}
	}
	return out
}

// A Misfit is a choice that a state does not offer.
type Misfit struct{ Choice string }

func (e *Misfit) Error() string {
	return "choice " + e.Choice + " is not possible there; this launch or its kernel is another"
}
