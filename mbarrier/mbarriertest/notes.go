package mbarriertest

import "fmt"

const mostNotes = 100

// notes looks for mistakes that the history shows.
func (b *builder) notes() {
	b.ended()
	b.counts()
	b.lapped()
	b.leaks()
	b.refused()
}

func (b *builder) note(n Note, format string, args ...any) {
	if len(b.Notes) < mostNotes {
		n.Text = fmt.Sprintf(format, args...)
		b.Notes = append(b.Notes, n)
	}
}

// ended: who owes an arrival has ended.
func (b *builder) ended() {
	for _, d := range b.Debts {
		if d.Goroutine >= 0 && b.Goroutines[d.Goroutine].State == "ended" {
			g := &b.Goroutines[d.Goroutine]
			last := 0
			if n := len(g.Last); n > 0 {
				last = g.Last[n-1]
			}
			b.note(Note{Kind: "ended", Barrier: d.Barrier, Goroutine: d.Goroutine, Step: last}, "%s has ended, after step %d: what it owes %s does not come any more.", b.who(d.Goroutine), last, b.bar(d.Barrier))
		}
	}
}

// counts: more arrivals are expected than there have ever been goroutines that arrive.
func (b *builder) counts() {
	for i := range b.Barriers {
		bar, a := &b.Barriers[i], &b.arrived[i]
		if bar.Waiting == 0 || bar.Pending == 0 || b.Left.Steps > 0 {
			continue
		}
		known := false
		for _, d := range b.Debts {
			known = known || d.Barrier == i && d.What == "arrival" && d.Known != FromRest && d.Known != FromNothing
		}
		if n := len(a.order); !known && n > 0 && n < bar.Expected {
			b.note(Note{Kind: "count", Barrier: i, Goroutine: -1}, "%s expects %s in each phase, and %s there so far, in any phase: is the count right?", b.bar(i), plural(bar.Expected, "arrival", "arrivals"), plural(n, "goroutine has arrived", "goroutines have arrived"))
		}
	}
}

// lapped: a wait by parity that means a phase before the one that it waits for. A parity does not tell phases
// apart that are two apart.
func (b *builder) lapped() {
	type key struct{ goroutine, barrier int }
	last := map[key]int64{}
	since := map[key]int{}
	for _, s := range b.History {
		k := key{s.Goroutine, s.Barrier}
		if s.Goroutine < 0 || s.Kind != "waits" && s.Kind != "passes" {
			continue
		}
		before, ok := last[k]
		if !ok {
			before = -1
		}
		g := &b.Goroutines[s.Goroutine]
		stuck := g.Waits != nil && g.Waits.Since == s.Step
		meant := before + 1
		if s.Op == "WaitParity" && stuck && s.Phase > meant && (s.Phase-meant)%2 == 0 && b.Left.Steps == 0 {
			after := "is its first there"
			if ok {
				after = fmt.Sprintf("follows one for phase %d (step %d)", before, since[k])
			}
			b.note(Note{Kind: "lapped", Barrier: s.Barrier, Goroutine: s.Goroutine, Step: s.Step},
				"The wait of %s for parity %d of %s, in step %d, %s: it may mean phase %d, which was complete, as were all up to phase %d. A parity does not tell phase %d from phase %d; a token does.",
				b.name(s.Goroutine), s.Phase&1, b.bar(s.Barrier), s.Step, after, meant, s.Phase-1, meant, s.Phase)
		}
		last[k], since[k] = s.Phase, s.Step
	}
}

// leaks: stages of a pipeline that were taken and not given back.
func (b *builder) leaks() {
	type key struct{ goroutine, ring int }
	held := map[key][]Step{}
	var order []key
	if b.Left.Steps > 0 {
		return // what was taken before cannot be told
	}
	for _, s := range b.History {
		if s.Goroutine < 0 || b.Barriers[s.Barrier].Ring < 0 {
			continue
		}
		k := key{s.Goroutine, b.Barriers[s.Barrier].Ring}
		switch takes := s.Kind == "passes" || s.Kind == "resumes"; {
		case takes && (s.Op == "Producer.Acquire" || s.Op == "Consumer.Wait"):
			if _, ok := held[k]; !ok {
				order = append(order, k)
			}
			held[k] = append(held[k], s)
		case s.Op == "Producer.Commit" || s.Op == "Producer.CommitTx" || s.Op == "Consumer.Release":
			if len(held[k]) > 0 {
				held[k] = held[k][1:]
			}
		case s.Op == "Producer.Quit" || s.Op == "Consumer.Quit":
			delete(held, k)
		}
	}
	for _, k := range order {
		for _, s := range held[k] {
			if gives, took := "released", "waited for"; b.owes(s) {
				if s.Op == "Producer.Acquire" {
					gives, took = "committed", "acquired"
				}
				b.note(Note{Kind: "leak", Barrier: s.Barrier, Goroutine: s.Goroutine, Step: s.Step}, "%s %s stage %d of its pipeline in step %d (%s) and has not %s it.", b.who(s.Goroutine), took, b.record.Barriers[s.Barrier].Slot, s.Step, b.at(s.Place), gives)
			}
		}
	}
}

// owes reports whether somebody waits for what the goroutine of s took.
func (b *builder) owes(s Step) bool {
	ring, slot := b.Barriers[s.Barrier].Ring, b.record.Barriers[s.Barrier].Slot
	for i := range b.Barriers {
		if o := &b.Barriers[i]; o.Ring == ring && b.record.Barriers[i].Slot == slot && o.Role != b.Barriers[s.Barrier].Role && o.Waiting > 0 {
			return true
		}
	}
	return false
}

// refused: operations that panicked.
func (b *builder) refused() {
	for _, s := range b.History {
		if s.Kind == "panics" {
			b.note(Note{Kind: "refused", Barrier: s.Barrier, Goroutine: s.Goroutine, Step: s.Step}, "%s panics in step %d, at %s: %s", b.who(s.Goroutine), s.Step, b.at(s.Place), oneLine(s.Text))
		}
	}
}
