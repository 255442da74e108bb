package flow

// A Bad is a kind of outcome that a correct program does not have.
type Bad uint8

const (
	None Bad = iota
	Race
	Trapped
	Outside
	Hung
	NotSequential // a final memory that no interleaving produces
)

func (b Bad) String() string {
	return [...]string{"none", "race", "trap", "out of bounds", "hang", "final memory"}[b]
}

// Allowed returns all outcomes that the axioms allow, enumerating at most most graphs.
// For programs with a race it returns only final memories in which the last write of each
// word is determined.
func (p *Program) Allowed(most int) (*Outcomes, error) {
	out := &Outcomes{Final: map[string]bool{}}
	err := p.each(most, out, func(g *graph) bool {
		if _, _, race := g.races(); race {
			out.Race = true
		}
		out.add(g)
		return true
	})
	return out, err
}

// Races reports whether some execution has a data race.
func (p *Program) Races(most int) (race, cut bool, err error) {
	var out Outcomes
	err = p.each(most, &out, func(g *graph) bool {
		_, _, race = g.races()
		return !race
	})
	return race, out.Cut, err
}

func (o *Outcomes) add(g *graph) {
	o.Trap = o.Trap || g.trap
	o.Out = o.Out || g.out
	switch {
	case g.trap || g.out:
	case g.hangs():
		o.Hang = true
	default:
		o.Final[memory(g.final())] = true
	}
}

// hangs reports whether some thread does not reach its end.
func (g *graph) hangs() bool {
	for i := range g.state.th {
		if t := &g.state.th[i]; !t.done || t.stuck {
			return true
		}
	}
	return false
}

// mostLoops bounds how often a thread goes back to the beginning of a loop.
const mostLoops = 8

func (p *Program) each(most int, out *Outcomes, found func(*graph) bool) error {
	th, err := p.threads()
	if err != nil {
		return err
	}
	x := &search{p: p, th: th, most: most, found: found, free: p.reasons, loops: mostLoops}
	x.run()
	out.States, out.Cut = x.graph, x.cut || x.looped
	return x.err
}

// Worst finds a bad outcome that the axioms allow. seq has the outcomes of interleavings. Shared
// memory is gone at the end of a CTA: what is left there is no outcome.
// If the search was cut off before it found one, cut is true.
func (p *Program) Worst(seq *Outcomes, most int) (bad Bad, cut bool, err error) {
	var out Outcomes
	global := map[string]bool{}
	for m := range seq.Final {
		global[m[:4*p.Words]] = true
	}
	err = p.each(most, &out, func(g *graph) bool {
		_, _, race := g.races()
		switch {
		case race:
			bad = Race
		case g.trap:
			bad = Trapped
		case g.out:
			bad = Outside
		case g.hangs():
			bad = Hung
		case !global[memory(g.final())[:4*p.Words]]:
			bad = NotSequential
		}
		return bad == None
	})
	return bad, bad == None && out.Cut, err
}
