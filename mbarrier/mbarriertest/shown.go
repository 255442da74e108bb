package mbarriertest

import (
	"slices"

	"muster/mbarrier/internal/history"
)

// The most steps, barriers and sentences of a page.
const (
	mostHistory  = 5000
	mostBarriers = 300
)

// only is the report with some of its goroutines, renumbered, and with the barriers that they need first.
func (r *Report) only(goroutines map[int]bool) *Report {
	s := *r
	s.cut()
	s.Goroutines, s.Barriers, s.Debts, s.Circles, s.Notes, s.History = []Goroutine{}, []Barrier{}, []Debt{}, []Circle{}, []Note{}, []Step{}
	g := numbers{-1: -1}
	for i, o := range r.Goroutines {
		if goroutines[i] {
			g[i] = len(s.Goroutines)
			s.Goroutines = append(s.Goroutines, o)
		}
	}
	s.Left.Goroutines = len(r.Goroutines) - len(s.Goroutines)

	b := r.barriersShown(&s, g)
	for i := range s.Goroutines {
		if w := s.Goroutines[i].Waits; w != nil {
			if n, ok := b[w.Barrier]; ok {
				v := *w
				v.Barrier = n
				s.Goroutines[i].Waits = &v
			} else {
				s.Goroutines[i].Waits = nil
			}
		}
	}
	for _, d := range r.Debts {
		if d.Barrier, d.Goroutine = b.of(d.Barrier), g.of(d.Goroutine); d.Barrier >= 0 && d.Goroutine > gone {
			s.Debts = append(s.Debts, d)
		} else {
			s.Left.Debts++
		}
	}
	for _, c := range r.Circles {
		if c, ok := c.renumbered(g, b); ok {
			s.Circles = append(s.Circles, c)
		}
	}
	for _, n := range r.Notes {
		if n.Barrier, n.Goroutine = b.of(n.Barrier), g.of(n.Goroutine); n.Barrier > gone && n.Goroutine > gone {
			s.Notes = append(s.Notes, n)
		}
	}
	for i := len(r.History) - 1; i >= 0 && len(s.History) < mostHistory; i-- {
		e := r.History[i]
		if e.Goroutine = g.of(e.Goroutine); e.Goroutine == gone {
			e.Goroutine = -1
		}
		if e.Barrier = b.of(e.Barrier); e.Barrier >= 0 && (e.Goroutine >= 0 || len(r.History) <= mostHistory) {
			s.History = append(s.History, e)
		}
	}
	slices.Reverse(s.History)
	s.Left.Steps += len(r.History) - len(s.History)
	s.regroup(r)
	return &s
}

// cut shortens texts, which a report may have from elsewhere.
func (r *Report) cut() {
	const most = 2000
	r.Test, r.Failure = history.Cut(r.Test, most), history.Cut(r.Failure, most)
	r.Words, r.Places = slices.Clone(r.Words), slices.Clone(r.Places)
	for i := range r.Words {
		r.Words[i] = history.Cut(r.Words[i], most)
	}
	for i, p := range r.Places {
		r.Places[i] = Place{history.Cut(p.Function, most), history.Cut(p.File, most), p.Line, history.Cut(p.Text, most)}
	}
}

// gone is the number of what is not shown. -1 stays -1: what never had a number.
const gone = -2

type numbers map[int]int

func (n numbers) of(i int) int {
	if k, ok := n[i]; ok {
		return k
	}
	return gone
}

// barriersShown fills the barriers in: those with waiters first, then those of the last steps, then the others.
func (r *Report) barriersShown(s *Report, g numbers) numbers {
	keep := map[int]bool{}
	add := func(i int) {
		if i >= 0 && len(keep) < mostBarriers {
			keep[i] = true
		}
	}
	for i := range r.Goroutines {
		if w := r.Goroutines[i].Waits; w != nil && g.of(i) >= 0 {
			add(w.Barrier)
		}
	}
	for i := range r.Barriers {
		if r.Barriers[i].Waiting > 0 {
			add(i)
		}
	}
	for i := len(r.History) - 1; i >= 0; i-- {
		add(r.History[i].Barrier)
	}
	for i := range r.Barriers {
		add(i)
	}
	b := numbers{-1: -1}
	for i, o := range r.Barriers {
		if keep[i] {
			b[i] = len(s.Barriers)
			s.Barriers = append(s.Barriers, o)
		}
	}
	s.Left.Barriers += len(r.Barriers) - len(s.Barriers)
	return b
}

func (c Circle) renumbered(g, b numbers) (Circle, bool) {
	n := Circle{Sure: c.Sure}
	for i := range c.Goroutines {
		who, at := g.of(c.Goroutines[i]), b.of(c.Barriers[i])
		if who < 0 || at < 0 {
			return n, false
		}
		n.Goroutines, n.Barriers = append(n.Goroutines, who), append(n.Barriers, at)
	}
	return n, true
}

// regroup numbers the groups that still have a goroutine.
func (s *Report) regroup(r *Report) {
	s.Groups = []Group{}
	n := map[int]int{}
	for i := range s.Goroutines {
		old := s.Goroutines[i].Group
		if _, ok := n[old]; !ok {
			n[old] = len(s.Groups)
			group := r.Groups[old]
			group.First = i
			s.Groups = append(s.Groups, group)
		}
		s.Goroutines[i].Group = n[old]
	}
}
