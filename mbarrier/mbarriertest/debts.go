package mbarriertest

import (
	"fmt"
	"slices"
	"strings"
)

// The most goroutines that are named for one barrier, and that a guess may name.
const (
	mostDebtors = 1000
	mostGuesses = 8
)

// debts finds, for each barrier with waiters, who still owes it what.
func (b *builder) debts() {
	for i := range b.Barriers {
		bar := &b.Barriers[i]
		if bar.Waiting == 0 {
			continue
		}
		if bar.Pending > 0 {
			b.debt(i, b.owing(i))
		}
		if bar.Tx > 0 {
			b.debt(i, b.landing(i))
		}
	}
}

// debt adds the debts of a barrier, up to a limit.
func (b *builder) debt(barrier int, all []Debt) {
	if extra := len(all) - mostDebtors; extra > 0 {
		b.Left.Debts += extra
		all = all[:mostDebtors]
	}
	for _, d := range all {
		d.Barrier, d.Phase = barrier, b.Barriers[barrier].Phase
		b.Debts = append(b.Debts, d)
	}
}

// owing lists goroutines that owe an arrival, by the best that is known: those that arrived in earlier
// phases, those whose role it is in the pipeline; if they are too few, those like the ones that arrived, and at
// last those that are left.
func (b *builder) owing(barrier int) (all []Debt) {
	bar, a := &b.Barriers[barrier], &b.arrived[barrier]
	done := func(g int) bool { s, ok := a.last[g]; return ok && s.Phase == bar.Phase || a.left[g] }
	named := map[int]bool{}
	add := func(g int, known Known, step int, format string, args ...any) {
		if !done(g) && !named[g] {
			named[g] = true
			all = append(all, Debt{Goroutine: g, What: "arrival", Known: known, Step: step, Why: fmt.Sprintf(format, args...)})
		}
	}
	for _, g := range a.order {
		s := a.last[g]
		add(g, FromHistory, s.Step, "it arrived in phase %d (step %d), and not in phase %d", s.Phase, s.Step, bar.Phase)
	}
	if bar.Ring >= 0 {
		for _, r := range b.roles(bar.Ring, bar.Role) {
			add(r.goroutine, FromRole, r.step, "it is a %s of the pipeline (step %d), and has not arrived there", r.role, r.step)
		}
	}
	if len(all) < bar.Pending {
		for _, g := range b.siblings(a) {
			add(g, FromSibling, 0, "goroutines of the same function have arrived there, and it has not")
		}
	}
	if len(all) == 0 {
		rest := b.rest(barrier, done)
		if len(rest) > mostGuesses {
			return []Debt{{Goroutine: -1, What: "arrival", Known: FromNothing, Why: fmt.Sprintf("%d goroutines are left that have not arrived there, and nothing shows which of them is to", len(rest))}}
		}
		for _, g := range rest {
			why := "it is the only other goroutine that is left, and has not arrived there"
			if len(rest) > 1 {
				why = fmt.Sprintf("it is one of %d goroutines that are left and have not arrived there", len(rest))
			}
			add(g, FromRest, 0, "%s", why)
		}
	}
	if len(all) == 0 {
		all = []Debt{{Goroutine: -1, What: "arrival", Known: FromNothing, Why: "no goroutine is left that could arrive, but those that have arrived already"}}
	}
	return all
}

// A role is what a goroutine is to a pipeline.
type role struct {
	goroutine, step int
	role            string
}

// roles lists the goroutines whose arrivals a barrier of that role expects: full those of producers, empty
// those of consumers.
func (b *builder) roles(ring int, barrier string) (all []role) {
	who := map[string]string{"full": "producer", "empty": "consumer"}[barrier]
	seen := map[int]bool{}
	for _, s := range b.History {
		if s.Goroutine < 0 || seen[s.Goroutine] || b.Barriers[s.Barrier].Ring != ring {
			continue
		}
		if of := map[string]string{"Producer": "producer", "Consumer": "consumer"}[first(s.Op)]; of == who {
			seen[s.Goroutine] = true
			all = append(all, role{s.Goroutine, s.Step, who})
		}
	}
	return all
}

// siblings lists the goroutines that began where those that arrived did.
func (b *builder) siblings(a *arrived) (all []int) {
	places := map[int]bool{}
	for _, g := range a.order {
		if b.Goroutines[g].Place >= 0 {
			places[b.Goroutines[g].Place] = true
		}
	}
	for g := range b.Goroutines {
		if places[b.Goroutines[g].Place] {
			all = append(all, g)
		}
	}
	return all
}

// rest lists the goroutines that are left and could arrive: those that wait at another barrier, and if there
// are none, those that are blocked elsewhere.
func (b *builder) rest(barrier int, done func(int) bool) []int {
	for _, state := range []string{"waits", "runs", "blocked"} {
		var all []int
		for g := range b.Goroutines {
			o := &b.Goroutines[g]
			if o.State == state && !done(g) && (o.Waits == nil || o.Waits.Barrier != barrier) {
				all = append(all, g)
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	return nil
}

// landing lists the goroutines that landed bytes in earlier phases, or in this one some of them.
func (b *builder) landing(barrier int) (all []Debt) {
	bar := &b.Barriers[barrier]
	for g := range b.Goroutines {
		if s, ok := b.arrived[barrier].landed[g]; ok {
			all = append(all, Debt{Goroutine: g, What: "bytes", Known: FromHistory, Step: s.Step, Why: fmt.Sprintf("it landed %d bytes in phase %d (step %d)", -s.Bytes, s.Phase, s.Step)})
		}
	}
	if len(all) == 0 {
		all = []Debt{{Goroutine: -1, What: "bytes", Known: FromNothing, Why: fmt.Sprintf("nobody has landed any of phase %d's", bar.Phase)}}
	}
	return all
}

// first is the type whose method an operation is.
func first(op string) string {
	of, _, _ := strings.Cut(op, ".")
	return of
}

// The most circles that are told, and the most debts that the search for them looks at.
const (
	mostCircles = 20
	mostLooks   = 5_000_000
)

// circles finds goroutines that wait for each other. A goroutine waits at one barrier at most, so the shortest
// circle through it is found by a search from the debts of that barrier.
func (b *builder) circles() {
	owed := map[int][]Debt{} // by barrier
	for _, d := range b.Debts {
		if d.Goroutine >= 0 && d.What == "arrival" {
			owed[d.Barrier] = append(owed[d.Barrier], d)
		}
	}
	seen := map[int]bool{}
	looks := mostLooks
	for _, sure := range []bool{true, false} {
		for g := range b.Goroutines {
			if len(b.Circles) == mostCircles || looks <= 0 {
				return
			}
			if seen[g] || !b.held(g) {
				continue
			}
			if c := b.circle(g, owed, sure, seen, &looks); c != nil {
				for _, m := range c.Goroutines {
					seen[m] = true
				}
				b.Circles = append(b.Circles, *c)
			}
		}
	}
}

// held reports whether a goroutine waits for the barrier's present phase.
func (b *builder) held(g int) bool {
	w := b.Goroutines[g].Waits
	return w != nil && b.Barriers[w.Barrier].Phase == w.Phase
}

// circle returns the shortest circle through g, nil if there is none. Each barrier is looked at once.
func (b *builder) circle(g int, owed map[int][]Debt, sure bool, skip map[int]bool, looks *int) *Circle {
	from := map[int]int{}
	visited := map[int]bool{}
	queue := []int{g}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		barrier := b.Goroutines[at].Waits.Barrier
		if visited[barrier] {
			continue
		}
		visited[barrier] = true
		*looks -= len(owed[barrier])
		for _, d := range owed[barrier] {
			next := d.Goroutine
			if sure && d.Known == FromRest || skip[next] || !b.held(next) {
				continue
			}
			if next == g {
				c := &Circle{Sure: sure}
				for ; ; at = from[at] {
					c.Goroutines = append(c.Goroutines, at)
					if at == g {
						break
					}
				}
				slices.Reverse(c.Goroutines)
				for _, m := range c.Goroutines {
					c.Barriers = append(c.Barriers, b.Goroutines[m].Waits.Barrier)
				}
				return c
			}
			if _, ok := from[next]; !ok {
				from[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}
