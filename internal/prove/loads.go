package prove

import (
	"cmp"
	"slices"

	"muster/internal/machine"
	"muster/internal/order"
	"muster/ptx"
)

// Strong loads. What one gives depends on the schedule only if some write of its word comes
// before it in one schedule and after it in another: so it does not if the run shows every
// write of the word in order with all that reads it.

// loads lists the strong loads whose values would matter if they depended on the schedule.
func loads(p *machine.Program) map[int32]bool {
	list := map[int32]bool{}
	for _, d := range p.Dependences() {
		for _, pc := range d.Roots {
			if in := p.Inst(pc); in != nil && in.Effect().Has(ptx.Reads) && !in.Effect().Has(ptx.Updates|ptx.Tests) && in.Sem().Strong() && p.Flips()[pc] == nil {
				list[pc] = true
			}
		}
	}
	return list
}

// loadedWords holds the words that such loads read against those with strong accesses in no
// order. The words, and not the loads: of a lane's accesses to a word order keeps the last.
type loadedWords struct {
	prog *machine.Program
	pcs  map[int32]bool
	read map[place]int32 // the load
	open map[place]bool
}

func newLoadedWords(p *machine.Program, pcs map[int32]bool) *loadedWords {
	return &loadedWords{prog: p, pcs: pcs, read: map[place]int32{}, open: map[place]bool{}}
}

// Observe makes a loadedWords a machine.Observer.
func (s *loadedWords) Observe(_ *machine.Machine, ev *machine.Event) {
	if ev.Kind != machine.EvAccess || !s.pcs[ev.PC] {
		return
	}
	for lane := range 32 {
		if ev.Mask>>lane&1 != 0 {
			for at := ev.Addr[lane] &^ 3; at < ev.Addr[lane]+uint64(ev.Size); at += 4 {
				s.read[place{ev.Mem, at}] = ev.PC
			}
		}
	}
}

// pair serves as order.Config.Strong. Two updates of one kind leave the same in both orders, but
// for the last bits of sums, which strongAccesses lists: what a load gives that is in order with
// each of them does not depend on theirs.
func (s *loadedWords) pair(p order.Pair) {
	if !p.Async && s.alike(p.Prior, p.Cur) {
		return
	}
	for at := p.At.Addr &^ 3; at < p.At.Addr+p.At.Len; at += 4 {
		s.open[place{p.At.Mem, at}] = true
	}
}

// alike reports whether two instructions update words in ways that commute.
func (s *loadedWords) alike(a, b int32) bool {
	for _, pc := range [...]int32{a, b} {
		if in := s.prog.Inst(pc); in == nil || !in.Effect().Has(ptx.Updates) || s.prog.Commutes(pc) != "" && !s.prog.FloatSum(pc) {
			return false
		}
	}
	return s.prog.Operation(a) == s.prog.Operation(b)
}

// unsettled lists the loads of words with strong accesses in no order, each once.
func (s *loadedWords) unsettled() (list []mixture) {
	told := map[int32]bool{}
	for at, pc := range s.read {
		told[pc] = told[pc] || s.open[at]
	}
	for pc, open := range told {
		if open {
			list = append(list, mixture{pc, "a strong load of a word with accesses in no order: what it gives decides something"})
		}
	}
	slices.SortFunc(list, func(a, b mixture) int { return cmp.Compare(a.pc, b.pc) })
	return list
}
