package report

import (
	"cmp"
	"slices"
)

// Ties are what links a finding to others of its report: lists of instructions, sorted.
type Ties struct {
	// Class says how near findings of the kind are to the mistake itself, the nearest 0, where
	// each of two could have led to the other.
	Class int
	// Always: the finding holds of every schedule, whichever shows it, as a wrong count does.
	Always bool
	// Directed: a run shows it that was made for it, and others need not.
	Directed bool
	// Breaks are the instructions of the barriers and collectives that no longer say what they
	// should, Needs those of the ones that would have had to, and Early operations that come
	// before what they should come after.
	Breaks, Needs, Early []int32
	// Of a conflict, whose earlier access reads (Reader), or writes what others read before the
	// later one, which overwrites it (Again).
	Reader, Again bool
}

// The classes that have a rule of their own.
const (
	account = 1 // a count or a number of bytes is wrong
	access  = 2 // two accesses are in no order
	timing  = 3 // an operation or a wait can meet another phase than it should
	outcome = 4 // a hang, an exit, an unwritten value
)

// maxFollowed bounds the findings that are held against each other.
const maxFollowed = 512

// follow sets Finding.Follows of findings that an error may have led to, directly or by others,
// and puts them behind those that follow from none.
func (r *Report) follow() {
	var list []*Finding
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Follows = ""
		if f.Severity != SevNote && len(list) < maxFollowed {
			list = append(list, f)
		}
	}
	most := 0
	for _, f := range list {
		most = max(most, f.Seen)
	}
	class := func(f *Finding) int {
		// A wrong count shows in most schedules; one that few show was led to by what more show.
		if f.Ties.Class == account && !f.Ties.Directed && 2*f.Seen < most {
			return timing
		}
		return f.Ties.Class
	}
	slices.SortStableFunc(list, func(a, b *Finding) int {
		return cmp.Or(cmp.Compare(class(a), class(b)), cmp.Compare(b.Seen, a.Seen))
	})
	reached := reach(list)
	var roots []int
	for i := range list {
		root := true
		for k := range list {
			// Of those that could have led to each other, the first is taken for the root.
			if k != i && reached[k][i] && (!reached[i][k] || k < i) {
				root = false
			}
		}
		if root {
			roots = append(roots, i)
		}
	}
	for i, f := range list {
		if slices.Contains(roots, i) {
			continue
		}
		k := slices.IndexFunc(roots, func(k int) bool { return list[k].leadsTo(f) })
		if k < 0 {
			k = slices.IndexFunc(roots, func(k int) bool { return reached[k][i] })
		}
		f.Follows = list[roots[k]].ID
	}
	r.oneRoot()
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Severity.rank(), b.Severity.rank()), cmp.Compare(min(len(a.Follows), 1), min(len(b.Follows), 1)))
	})
}

// oneRoot lets what follows from one finding of a group follow from the first, which stands for
// all, and nothing follow from its own group. If one of a group follows from an error, all of its
// group do, since they have one cause.
func (r *Report) oneRoot() {
	first, led := map[string]string{}, map[string]bool{}
	groups := r.groups(false)
	for _, g := range groups {
		for _, f := range g {
			first[f.ID] = g[0].ID
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Follows = first[f.Follows]; f.Follows == first[f.ID] {
			f.Follows = ""
		}
		led[f.Follows] = true
	}
	for _, g := range groups {
		i := slices.IndexFunc(g, func(f *Finding) bool { return f.Follows != "" })
		for _, f := range g {
			if i >= 0 && f.Follows == "" && !f.Habit && !led[g[0].ID] {
				f.Follows = g[i].Follows
			}
		}
	}
}

func (s Severity) rank() int { return slices.Index([]Severity{SevError, SevWarning, SevNote}, s) }

// reach says which finding of a list may have led to which, directly or by others.
func reach(list []*Finding) [][]bool {
	next := make([][]int, len(list))
	for i, f := range list {
		for k, g := range list {
			if i != k && f.leadsTo(g) {
				next[i] = append(next[i], k)
			}
		}
	}
	all := make([][]bool, len(list))
	for i := range list {
		all[i] = make([]bool, len(list))
		for todo := next[i]; len(todo) > 0; {
			k := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if !all[i][k] {
				all[i][k] = true
				todo = append(slices.Clip(todo), next[k]...)
			}
		}
	}
	return all
}

// leadsTo reports whether an error may have led to another finding. One that fewer schedules
// show did not, unless it holds of all. There must be a reason: what it breaks is what the other
// needed; the other's operation is the one that comes too early here; or, for an outcome, two
// accesses in no order are at one of its instructions.
func (f *Finding) leadsTo(g *Finding) bool {
	if f.Severity != SevError || f.Accepted != "" || !f.Ties.Always && f.Seen > 0 && f.Seen < g.Seen {
		return false
	}
	t, o := &f.Ties, &g.Ties
	switch {
	case meet(t.Breaks, o.Needs):
		return f.Kind != g.Kind || !meet(o.Breaks, t.Needs)
	case t.Class == access && meet(t.Early, o.Early):
		return o.Class == timing || o.Again && t.Reader
	}
	return t.Class == access && o.Class == outcome && f.meets(g)
}

// meet reports whether two sorted lists have a number in common.
func meet(a, b []int32) bool {
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch cmp.Compare(a[i], b[k]) {
		case 0:
			return true
		case -1:
			i++
		default:
			k++
		}
	}
	return false
}

// meets reports whether two findings name the same instruction.
func (f *Finding) meets(g *Finding) bool {
	at := func(o *Site) bool {
		return o.PTX != nil && slices.ContainsFunc(f.Sites, func(s Site) bool { return s.PTX != nil && *o.PTX == *s.PTX })
	}
	return slices.ContainsFunc(g.Sites, func(o Site) bool { return at(&o) }) ||
		slices.ContainsFunc(g.Waiting, func(w Waiter) bool { return at(&w.Site) })
}
