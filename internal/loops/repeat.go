package loops

import (
	"fmt"
	"sort"
)

// A Refusal is why a run does not stand for longer ones, and where.
type Refusal struct {
	PC   int32 // -1 for no place
	Text string
}

func refuse(pc int32, format string, args ...any) *Refusal {
	return &Refusal{PC: pc, Text: fmt.Sprintf(format, args...)}
}

// A stream is what one lane did, for itself and for the lanes with it, turn by
// turn.
type stream struct {
	lane  int32
	turns [][]int // events, by turn
}

// streams groups the events of turns by the lane that they are entered under.
func (r *Recorder) streams() []*stream {
	by := map[int32]*stream{}
	var all []*stream
	for i := range r.events {
		e := &r.events[i]
		if e.turn < 0 {
			continue
		}
		s := by[e.lane]
		if s == nil {
			s = &stream{lane: e.lane}
			by[e.lane] = s
			all = append(all, s)
		}
		for len(s.turns) <= int(e.turn) {
			s.turns = append(s.turns, nil)
		}
		s.turns[e.turn] = append(s.turns[e.turn], i)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].lane < all[j].lane })
	return all
}

// differ compares turns i and k of a stream; it returns an event that one of them
// has and the other has not, or -1.
func (r *Recorder) differ(s *stream, i, k int) int {
	a, b := s.at(i), s.at(k)
	for n := range a {
		if n >= len(b) {
			return a[n]
		}
		if e, f := &r.events[a[n]], &r.events[b[n]]; e.sig != f.sig || e.parity != f.parity && !r.InTurns {
			return b[n]
		}
	}
	if len(b) > len(a) {
		return b[len(a)]
	}
	return -1
}

func (s *stream) at(i int) []int {
	if i < len(s.turns) {
		return s.turns[i]
	}
	return nil
}

// Repeats reports whether every lane's turns repeat after period(lane) of them,
// except for an eighth of the turns at either end. If not, it names an event that
// differs; or, if the run has less than four periods, no place.
func (r *Recorder) Repeats(period func(lane int32) int32) (bool, *Refusal) {
	all := r.streams()
	for _, s := range all {
		if p, n := period(s.lane), r.follower.Turn(int(s.lane)); p > 0 && n < 4*p {
			return false, refuse(-1, "what is done in %d turns of the loop does not repeat", n)
		}
	}
	for _, s := range all {
		p := int(period(s.lane))
		n := int(r.follower.Turn(int(s.lane))) // turns
		if p <= 0 {
			continue
		}
		for i := n / 8; i+p < n-n/8; i++ {
			if e := r.differ(s, i, i+p); e >= 0 {
				return false, refuse(r.events[e].pc, "turn %d of the loop does not do what turn %d does", i+p, i)
			}
		}
	}
	return true, nil
}
