package campaign

import (
	"slices"

	"muster/ptx"
)

// covering lists choices of a form's modifiers such that every choice is valid,
// every combination of the slots named whole occurs, and so does every pair of
// values of any two slots that occurs in a valid choice at all.
func covering(f *ptx.Form, whole []string, valid func(choice) bool) []choice {
	s := newSource("covering " + f.Name)
	vals := make([][]string, len(f.Slots))
	for i, slot := range f.Slots {
		vals[i] = values(slot)
	}
	var list []choice
	seen := map[[4]int]bool{}
	take := func(ix []int) {
		ch := make(choice, len(ix))
		for i, k := range ix {
			ch[i] = vals[i][k]
			for j := range i {
				seen[[4]int{j, ix[j], i, k}] = true
			}
		}
		list = append(list, ch)
	}
	// fill completes a partial choice (-1 is open) with values, the unseen
	// pairs first.
	fill := func(fixed []int) bool {
		var best []int
		most := -1
		for range 200 {
			ix := slices.Clone(fixed)
			ch := make(choice, len(ix))
			for i := range ix {
				if ix[i] < 0 {
					ix[i] = s.n(len(vals[i]))
				}
				ch[i] = vals[i][ix[i]]
			}
			if !valid(ch) {
				continue
			}
			fresh := 0
			for i := range ix {
				for j := range i {
					if !seen[[4]int{j, ix[j], i, ix[i]}] {
						fresh++
					}
				}
			}
			if fresh > most {
				best, most = ix, fresh
			}
		}
		if best == nil {
			return false
		}
		take(best)
		return true
	}
	var each func(at int, fixed []int)
	each = func(at int, fixed []int) {
		if at == len(f.Slots) {
			fill(fixed)
			return
		}
		if !slices.Contains(whole, f.Slots[at].Name) {
			fixed[at] = -1
			each(at+1, fixed)
			return
		}
		for k := range vals[at] {
			fixed[at] = k
			each(at+1, slices.Clone(fixed))
		}
	}
	each(0, make([]int, len(f.Slots)))
	for i := range f.Slots {
		for j := range i {
			for a := range vals[i] {
				for b := range vals[j] {
					if !seen[[4]int{j, b, i, a}] {
						fixed := slices.Repeat([]int{-1}, len(f.Slots))
						fixed[i], fixed[j] = a, b
						fill(fixed)
					}
				}
			}
		}
	}
	return list
}
