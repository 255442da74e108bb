package rules

import (
	"fmt"

	"muster/internal/machine"
	"muster/internal/order"
	"muster/ptx"
)

var lockstepLanes = register(Kind{
	Name:     "lockstep-lanes",
	Severity: Warning,
	Title:    "a volatile read of what another lane of the warp writes, in no order",
	Section:  "3.2, 8.4, 9.7.9.8",
	Text: `A lane reads by ld.volatile what another lane of its warp writes by st.volatile, no
bar.warp.sync or barrier stands between, and what it reads is stored, or says where
something is. Whether it reads the old value or the new one depends on the schedule.

By the letter that is no data race: volatile accesses are strong, as relaxed ones are
(ISA 8.4). But nothing says that the lanes go in step: each is a thread (3.2), and since
sm_70 a warp need not even reconverge.

The usual shape: the last steps of a reduction in shared memory, written for cards
before sm_70, s[t] += s[t+16] down to s[t] += s[t+1] with a volatile pointer and no
__syncwarp. It gives the right sum as long as the compiler keeps the warp together.

A read that only decides a branch, such as a look at a flag, is not named.

Mend it by bar.warp.sync (__syncwarp) after the reads and after the writes of each step,
or reduce by shfl.sync or redux.sync.`,
})

// A lockstep is two volatile accesses of lanes of one warp, in no order.
type lockstep struct {
	order.Pair
	count int
}

// lockstepReads returns the volatile loads of a program of which something stores what they give,
// or takes it for an address.
func lockstepReads(p *machine.Program) map[int32]bool {
	var list map[int32]bool
	for _, d := range p.Dependences() {
		if d.Branch {
			continue
		}
		for _, pc := range d.Roots {
			if in := p.Inst(pc); in != nil && in.Sem() == ptx.Volatile && in.Effect().Has(ptx.Reads) && !in.Effect().Has(ptx.Updates) {
				if list == nil {
					list = map[int32]bool{}
				}
				list[pc] = true
			}
		}
	}
	return list
}

// strong takes two strong accesses in no order.
func (j *Judge) strong(p order.Pair) {
	if !p.OneWarp || p.Async || !j.stepReads[p.Prior] && !j.stepReads[p.Cur] {
		return
	}
	for _, pc := range [2]int32{p.Prior, p.Cur} {
		if in := j.Program.Inst(pc); in == nil || in.Sem() != ptx.Volatile {
			return
		}
	}
	if j.stepReads[p.Prior] == j.stepReads[p.Cur] { // one of them writes
		return
	}
	for i := range j.steps {
		if s := &j.steps[i]; s.Prior == p.Prior && s.Cur == p.Cur {
			s.count++
			return
		}
	}
	j.steps = append(j.steps, lockstep{p, 1})
}

// locksteps makes findings of volatile accesses in no order.
func (j *Judge) locksteps() {
	for i := range j.steps {
		s := &j.steps[i]
		read, write := s.Cur, s.Prior
		if j.stepReads[s.Prior] {
			read, write = write, read
		}
		site := func(role string, pc int32) Site {
			return Site{Role: role, PC: pc, CTA: s.CTA, Warp: s.Warp, Mem: s.At.Mem, Addr: s.At.Addr, Len: s.At.Len}
		}
		f := Finding{
			Headline: fmt.Sprintf("%s: a lane of warp %d of CTA %d reads what another lane of its warp writes, in no order but that the lanes go in step", place(s.At), s.Warp, s.CTA),
			Sites:    []Site{site("writes", write), site("reads", read)},
			Missing:  fmt.Sprintf("no bar.warp.sync between %s and %s", j.at(s.Prior), j.at(s.Cur)),
			Fix:      fmt.Sprintf("bar.warp.sync with the mask of all lanes that take part, after %s and before %s", j.at(s.Prior), j.at(s.Cur)),
			Count:    s.count,
		}
		canonical(&f)
		j.add(lockstepLanes, f)
	}
}
