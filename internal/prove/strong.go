package prove

import (
	"slices"

	"muster/internal/machine"
	"muster/internal/order"
	"muster/ptx"
)

// strongAccesses finds strong accesses that do not commute: they are no data race,
// but two that write one word, other than by one kind of exactly commuting
// read-modify-write, leave a value that the schedule decides. Of sums of floating-point
// numbers that nobody reads it decides no more than the last bits: they are listed.
type strongAccesses struct {
	prog  *machine.Program
	words map[place]writer
	mixed []mixture
	sums  []int32 // instructions by which several add floating-point numbers to a word
	// sumsRead are the loads of such words.
	sumsRead []mixture
	// joint are those of sums by which lanes of one warp add to a word that is read later.
	joint []int32
	adds  bool // some instruction adds floating-point numbers
	maps  bool // a tensor map that lies in memory was read
	// ordered are the accesses taken in the run's own order.
	ordered map[int32]bool
	polls   map[int32]*machine.Poll
	// settled are words whose writes something else watches.
	settled map[place]bool
	// open holds the words with strong writes in no order, as far as the judge knows; nil: it was
	// not asked.
	open map[place]bool
}

// pair serves as order.Config.Strong.
func (s *strongAccesses) pair(p order.Pair) {
	for _, pc := range [...]int32{p.Prior, p.Cur} {
		if in := s.prog.Inst(pc); in != nil && !in.Effect().Has(ptx.Writes) {
			return
		}
	}
	for at := p.At.Addr &^ 3; at < p.At.Addr+p.At.Len; at += 4 {
		s.open[place{p.At.Mem, at}] = true
	}
}

type place struct {
	mem  machine.MemID
	addr uint64
}

type writer struct {
	by   int64 // lane in the grid, an operation, or several
	name string
	pc   int32
	sum  bool // of floating-point numbers
	read bool // since the first was added
	// The lane that added last, by which instruction, and whether lanes of one warp added by
	// one instruction.
	lane  int64
	last  int32
	joint bool
}

type mixture struct {
	pc  int32
	why string
}

func (s *strongAccesses) Observe(m *machine.Machine, ev *machine.Event) {
	if s.adds {
		s.reads(ev)
	}
	switch {
	case ev.Kind == machine.EvIssue:
		s.maps = s.maps || ev.Op.Map.Len > 0
		if ev.Op.Kind == machine.OpBulkReduce || ev.Op.Kind == machine.OpRedAsync {
			s.reduce(ev)
		}
	case ev.Kind == machine.EvAccess && s.polls[ev.PC] != nil:
		// It writes back what it read.
	case ev.Kind == machine.EvAccess && s.ordered[ev.PC]:
		if ev.Access&machine.Write != 0 {
			for lane := range 32 {
				if ev.Mask>>lane&1 != 0 {
					s.write(ev, lane, inOrder)
				}
			}
		}
	case ev.Kind == machine.EvAccess && ev.Access&machine.Write != 0 && ev.Sem != machine.Weak:
		for lane := range 32 {
			if ev.Mask>>lane&1 != 0 {
				s.write(ev, lane, (int64(ev.CTA)<<20|int64(ev.Warp))<<5|int64(lane))
			}
		}
	}
}

// reduce takes an asynchronous reduction, which belongs to no lane: two of one thread
// are unordered, too.
func (s *strongAccesses) reduce(ev *machine.Event) {
	name, why := s.prog.OpOperation(ev.Op), s.prog.OpCommutes(ev.Op)
	for _, w := range ev.Op.Writes {
		for at := w.Addr &^ 3; at < w.Addr+w.Len; at += 4 {
			s.writeAs(place{w.Mem, at}, operations+ev.Op.ID, ev.PC, name, why, s.prog.OpFloatSum(ev.Op))
		}
	}
}

// several stands for a writer that is not one lane, inOrder for writers taken in the
// run's own order.
const (
	several = -1
	inOrder = -2
	// operations is more than the number of any lane: asynchronous operations count on
	// from there.
	operations = 1 << 62
)

func (s *strongAccesses) write(ev *machine.Event, lane int, by int64) {
	name, why, sum := s.prog.Operation(ev.PC), s.prog.Commutes(ev.PC), s.prog.FloatSum(ev.PC)
	for at := ev.Addr[lane] &^ 3; at < ev.Addr[lane]+uint64(ev.Size); at += 4 {
		s.writeAs(place{ev.Mem, at}, by, ev.PC, name, why, sum)
	}
}

func (s *strongAccesses) writeAs(at place, by int64, pc int32, name, why string, sum bool) {
	if s.words == nil {
		s.words = map[place]writer{}
	}
	if s.settled[at] {
		return
	}
	s.adds = s.adds || sum
	old, known := s.words[at]
	switch {
	case !known:
		s.words[at] = writer{by: by, name: name, pc: pc, sum: sum, lane: by, last: pc}
	case s.open != nil && !s.open[at] && !old.sum:
		s.words[at] = writer{by: by, name: name, pc: pc, sum: sum, lane: by, last: pc} // after all before
	case old.by == inOrder && by == inOrder:
	case old.by == by && by != several:
		if old.name != name {
			old.name, old.sum = "several", false // what commutes with none
			s.words[at] = old
		}
	case sum && old.sum && old.name == name && !old.read:
		if old.last == pc && old.lane>>5 == by>>5 {
			old.joint = true
		}
		old.by, old.lane, old.last = several, by, pc
		s.words[at] = old
		if !slices.Contains(s.sums, pc) {
			s.sums = append(s.sums, pc)
		}
	case why != "":
		s.note(pc, why)
	case old.name != name:
		s.note(pc, "strong accesses of different kinds write one word")
	default:
		old.by = several
		s.words[at] = old
	}
}

// reads watches for reads of the sums of floating-point numbers.
func (s *strongAccesses) reads(ev *machine.Event) {
	switch ev.Kind {
	case machine.EvAccess:
		if in := s.prog.Inst(ev.PC); in == nil || !in.Effect().Has(ptx.Reads) || in.Effect().Has(ptx.Updates) {
			return // what an atomic operation returns matters nowhere, by C9
		}
		for lane := range 32 {
			if ev.Mask>>lane&1 != 0 {
				s.read(ev.Mem, ev.Addr[lane], uint64(ev.Size), ev.PC)
			}
		}
	case machine.EvIssue:
		for _, r := range ev.Op.Reads {
			s.read(r.Mem, r.Addr, r.Len, ev.PC)
		}
	}
}

func (s *strongAccesses) read(mem machine.MemID, addr, n uint64, pc int32) {
	for at := addr &^ 3; at < addr+n; at += 4 {
		w, ok := s.words[place{mem, at}]
		if !ok || !w.sum || w.read {
			continue
		}
		w.read = true
		s.words[place{mem, at}] = w
		if w.joint && !slices.Contains(s.joint, w.last) {
			s.joint = append(s.joint, w.last)
		}
		if w.by == several {
			s.sumsRead = noted(s.sumsRead, pc, "a sum of floating-point numbers, whose last bits depend on the order of its additions")
		}
	}
}

func (s *strongAccesses) note(pc int32, why string) { s.mixed = noted(s.mixed, pc, why) }

// noted adds why an instruction is one of a list, once.
func noted(list []mixture, pc int32, why string) []mixture {
	if slices.ContainsFunc(list, func(f mixture) bool { return f.pc == pc }) {
		return list
	}
	return append(list, mixture{pc, why})
}
