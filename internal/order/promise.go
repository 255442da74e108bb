package order

import (
	"slices"

	"muster/internal/machine"
)

// Promise adds a version of a word that is read before it is written, behind another one. It hands
// on nothing: what comes before the write is not known yet.
func (t *Tracker) Promise(w machine.Word, after, name machine.Version) {
	tab := t.writeLocs()
	s := locState{loc: location{w.Mem, w.Addr, w.Size}, name: name}
	list := tab.m[s.loc.granule()]
	// What was there before all strong writes comes before the location's first state.
	at := slices.IndexFunc(list, func(o locState) bool { return o.loc == s.loc })
	for i := range list {
		if list[i].loc == s.loc && list[i].name == after {
			at = i + 1
		}
	}
	if at < 0 {
		at = len(list)
	}
	tab.m[s.loc.granule()] = slices.Insert(list, at, s)
}
