package prove

import "muster/internal/machine"

// strongAccesses finds strong accesses that do not commute: they are no data race,
// but two that write one word, other than by one kind of exactly commuting
// read-modify-write, leave a value that the schedule decides.
type strongAccesses struct {
	prog  *machine.Program
	words map[place]writer
	mixed []mixture
	maps  bool // a tensor map that lies in memory was read
	// ordered are the accesses taken in the run's own order.
	ordered map[int32]bool
	polls   map[int32]*machine.Poll
}

type place struct {
	mem  machine.MemID
	addr uint64
}

type writer struct {
	by   int64 // lane in the grid, an operation, or several
	name string
	pc   int32
}

type mixture struct {
	pc  int32
	why string
}

func (s *strongAccesses) Observe(m *machine.Machine, ev *machine.Event) {
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
					s.write(place{ev.Mem, ev.Addr[lane] &^ 3}, inOrder, ev.PC)
				}
			}
		}
	case ev.Kind == machine.EvAccess && ev.Access&machine.Write != 0 && ev.Sem != machine.Weak:
		for lane := range 32 {
			if ev.Mask>>lane&1 != 0 {
				s.write(place{ev.Mem, ev.Addr[lane] &^ 3}, (int64(ev.CTA)<<20|int64(ev.Warp))<<5|int64(lane), ev.PC)
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
			s.writeAs(place{w.Mem, at}, operations+ev.Op.ID, ev.PC, name, why)
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

func (s *strongAccesses) write(at place, by int64, pc int32) {
	s.writeAs(at, by, pc, s.prog.Operation(pc), s.prog.Commutes(pc))
}

func (s *strongAccesses) writeAs(at place, by int64, pc int32, name, why string) {
	if s.words == nil {
		s.words = map[place]writer{}
	}
	old, known := s.words[at]
	switch {
	case !known:
		s.words[at] = writer{by, name, pc}
	case old.by == inOrder && by == inOrder:
	case old.by == by && by != several:
		if old.name != name {
			old.name = "several" // what commutes with none
			s.words[at] = old
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

func (s *strongAccesses) note(pc int32, why string) {
	for _, f := range s.mixed {
		if f.pc == pc {
			return
		}
	}
	s.mixed = append(s.mixed, mixture{pc, why})
}
