package flow

import (
	"encoding/binary"

	"muster/internal/axiom"
)

// Outcomes are the possible results of a program.
type Outcomes struct {
	// Final holds the final memories of executions whose threads all ended, as the
	// concatenated bytes of the words.
	Final map[string]bool
	Trap  bool // some thread traps
	Out   bool // an access is out of bounds
	Hang  bool // some thread waits for ever
	Race  bool // two accesses are in a data race (ISA 8.7.1)
	// Cut says that the search was cut off: further outcomes may be possible.
	Cut bool
	// States counts visited states, or executions.
	States int
}

// A walker is a thread of an interleaving.
type walker struct {
	pc   int
	elem int // for a vector access: mask of the elements that are done
	regs [MaxRegs]uint32
	done bool // also by a trap
	in   bool // waits at a barrier
}

type world struct {
	mem   []uint32
	th    []walker
	wrong bool // some thread trapped, or was out of bounds
}

func (w *world) clone() *world {
	return &world{append([]uint32(nil), w.mem...), append([]walker(nil), w.th...), w.wrong}
}

func (w *world) key() string {
	b := make([]byte, 0, 4*len(w.mem)+len(w.th)*(MaxRegs+8))
	if w.wrong {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	for _, v := range w.mem {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	for i := range w.th {
		t := &w.th[i]
		f := byte(0)
		if t.done {
			f |= 1
		}
		if t.in {
			f |= 2
		}
		b = append(b, byte(t.pc), byte(t.elem), f)
		for _, r := range t.regs {
			b = binary.AppendUvarint(b, uint64(r))
		}
	}
	return string(b)
}

func memory(words []uint32) string {
	b := make([]byte, 0, 4*len(words))
	for _, v := range words {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return string(b)
}

// An interleaver enumerates all interleavings of a program's threads, over sequentially
// consistent memory. Each lane is a thread of its own: only collectives join lanes (ISA
// 3.2). A vector access is one step per element, in every order (8.2.4).
type interleaver struct {
	p    *Program
	th   []thread
	seen map[string]bool
	max  int
	// whole: a load or a store has all of its elements in one step.
	whole bool
	out   Outcomes
}

// Interleave finds the outcomes of interleavings, visiting at most most states.
func (p *Program) Interleave(most int) (*Outcomes, error) { return p.interleave(most, false) }

// InterleaveWhole is Interleave for interleavings in which a load or a store is one step, whatever
// its elements.
func (p *Program) InterleaveWhole(most int) (*Outcomes, error) { return p.interleave(most, true) }

func (p *Program) interleave(most int, whole bool) (*Outcomes, error) {
	th, err := p.threads()
	if err != nil {
		return nil, err
	}
	x := &interleaver{p: p, th: th, seen: map[string]bool{}, max: most, whole: whole, out: Outcomes{Final: map[string]bool{}}}
	w := &world{mem: make([]uint32, p.places()), th: make([]walker, len(th))}
	for at := range w.mem {
		w.mem[at] = p.start(at)
	}
	x.walk(w)
	x.out.States = len(x.seen)
	return &x.out, nil
}

func (x *interleaver) walk(w *world) {
	for i := range w.th {
		x.local(w, i)
	}
	x.open(w)
	k := w.key()
	if x.seen[k] || x.out.Cut {
		return
	}
	if x.seen[k] = true; len(x.seen) > x.max {
		x.out.Cut = true
		return
	}
	moved, ended := false, true
	for i := range w.th {
		t := &w.th[i]
		if t.done {
			continue
		}
		ended = false
		if t.in {
			continue
		}
		in := &x.th[i].code[t.pc]
		if x.whole && !in.updates() {
			if x.able(w, i) {
				moved = true
				v := w.clone()
				for e := range in.elements() {
					x.access(v, i, e)
				}
				x.walk(v)
			}
			continue
		}
		for e := range in.elements() {
			if t.elem>>e&1 == 0 && (e > 0 || x.able(w, i)) {
				moved = true
				v := w.clone()
				x.access(v, i, e)
				x.walk(v)
			}
		}
	}
	switch {
	case w.wrong:
	case ended:
		x.out.Final[memory(w.mem)] = true
	case !moved:
		x.out.Hang = true
	}
}

func value(v Value, regs *[MaxRegs]uint32) uint32 {
	if v.Reg > 0 {
		return v.Const + regs[v.Reg-1]
	}
	return v.Const
}

// local advances a thread to its next access.
func (x *interleaver) local(w *world, i int) {
	t := &w.th[i]
	for !t.done && !t.in {
		in := &x.th[i].code[t.pc]
		switch in.Kind {
		case Move:
			t.regs[in.Dst[0]] = apply(in.Op, value(in.Src[0], &t.regs), value(in.Src[1], &t.regs))
		case Fence:
		case Jump:
			if !in.Cmp.holds(value(in.Src[0], &t.regs), value(in.Src[1], &t.regs)) {
				t.pc = in.Target
				continue
			}
		case Meet:
			t.in = true
			continue
		case Trap:
			x.out.Trap, t.done, w.wrong = true, true, true
			continue
		case Halt:
			t.done = true
			// Registers that are never read again are dropped from the state.
			t.regs = [MaxRegs]uint32{}
			continue
		default:
			if !x.p.within(in, value(in.At, &t.regs)) {
				x.out.Out, t.done, w.wrong = true, true, true
			}
			return
		}
		t.pc++
	}
}

// open releases the threads at a barrier that all participants have reached.
func (x *interleaver) open(w *world) {
	for again := true; again; {
		again = false
		for i := range w.th {
			if !w.th[i].in {
				continue
			}
			b := &x.th[i].code[w.th[i].pc]
			var all []int
			for j := range w.th {
				if w.th[j].in && x.th[j].meets(&x.th[i], b.group) {
					if c := &x.th[j].code[w.th[j].pc]; c.group == b.group && c.Bar == b.Bar {
						all = append(all, j)
					}
				}
			}
			if len(all) == b.members {
				for _, j := range all {
					w.th[j].in = false
					w.th[j].pc++
					x.local(w, j)
				}
				again = true
			}
		}
	}
}

// able reports whether a thread's first element can be accessed: for a poll, once it
// ends. The other elements of its last iteration may be read before.
func (x *interleaver) able(w *world, i int) bool {
	t := &w.th[i]
	in := &x.th[i].code[t.pc]
	if in.Kind != Poll {
		return true
	}
	at := x.p.place(x.th[i].cta, in.Shared, value(in.At, &t.regs))
	return in.Cmp.holds(w.mem[at], value(in.Want, &t.regs))
}

func (i *Instr) updates() bool {
	return i.Kind == Atom || i.Kind == Red || i.Kind == Poll && i.By != Load
}

// access performs the access of one element.
func (x *interleaver) access(w *world, i, e int) {
	t := &w.th[i]
	in := &x.th[i].code[t.pc]
	n := in.width()
	at := x.p.place(x.th[i].cta, in.Shared, value(in.At, &t.regs)) + e*n
	kind := in.Kind
	if kind == Poll {
		kind = in.By
	}
	old := append([]uint32(nil), w.mem[at:at+n]...)
	switch kind {
	case Store:
		for k := range n {
			w.mem[at+k] = value(in.Src[e*n+k], &t.regs)
		}
	case Atom, Red:
		src := make([]uint32, len(in.Src))
		for k := range src {
			src[k] = value(in.Src[k], &t.regs)
		}
		if v, wrote := combine(in.Op, old, src); wrote {
			copy(w.mem[at:at+n], v[:n])
		}
	}
	if kind == Load || kind == Atom {
		for k := range n {
			t.regs[in.Dst[e*n+k]] = old[k]
		}
	}
	if t.elem |= 1 << e; t.elem == 1<<in.elements()-1 {
		t.elem = 0
		t.pc++
	}
}

func strong(s axiom.Sem) bool { return s != axiom.Weak }
