// Package launches has small programs of several launches, and which of their accesses may
// come in either order, by going through all states that a card may be in. Verdicts are held
// against it. It uses no other package of this project.
//
// # What a card may do
//
// A thread executes its operations in order. What an access does is performed at any time
// after it is executed: another thread may notice it late. launch_dependents, and the end of a
// thread, wait until what preceded the thread's last fence is performed: its own accesses, and
// those that a barrier of its CTA put before it. A launch
// begins when each launch that it comes after has completed, or, behind a programmatic edge,
// when each CTA of that launch has executed launch_dependents in some thread, or has ended. A
// launch has completed when its threads have ended, all that they did is performed, and what
// it comes after has completed. A wait (griddepcontrol.wait) is over when all that the launch
// comes after has completed.
//
// Two accesses race if in some state the one is performed and the other is not, and in some
// state it is the other way round.
package launches

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// An Op is an operation of a thread.
type Op uint8

// The operations.
const (
	Load Op = iota
	Store
	Fence
	Barrier // of the CTA; all of its threads have as many
	Trigger
	Wait
)

// A Step is an operation, on a word of memory where it is an access.
type Step struct {
	Op   Op
	Word int
}

// A Launch is its threads, by CTA.
type Launch struct {
	CTAs  [][][]Step
	After []Edge
}

// An Edge leads from an earlier launch.
type Edge struct {
	Launch       int
	Programmatic bool
}

// A Program is launches in the order in which they are made.
type Program []Launch

// Words is how many words of memory there are.
const Words = 2

// Random returns a program. Its launches follow each other in streams or by edges.
func Random(r *rand.Rand) Program {
	var p Program
	for i := range 2 + r.IntN(2) {
		var l Launch
		for range 1 + r.IntN(2) {
			threads := 1 + r.IntN(2)
			var cta [][]Step
			barrier := threads > 1 && r.IntN(2) == 0
			for range threads {
				t := steps(r)
				if barrier {
					t = append(append(t, Step{Op: Barrier}), steps(r)...)
				}
				cta = append(cta, t)
			}
			l.CTAs = append(l.CTAs, cta)
		}
		switch {
		case i == 0 || r.IntN(6) == 0:
		case i == 2 && r.IntN(3) == 0:
			l.After = []Edge{{0, r.IntN(2) == 0}, {1, r.IntN(2) == 0}}
		default:
			l.After = []Edge{{i - 1, r.IntN(4) > 0}}
		}
		p = append(p, l)
	}
	return p
}

func steps(r *rand.Rand) []Step {
	var list []Step
	for range r.IntN(3) {
		s := Step{Op: Op(r.IntN(6)), Word: r.IntN(Words)}
		if s.Op == Barrier {
			s.Op = Trigger
		}
		list = append(list, s)
	}
	return list
}

// A Place names an access: launch, CTA, thread, step.
type Place [4]int

// a thread as the search sees it.
type thread struct {
	launch, cta int
	steps       []Step
	first       int // number of its first step, counted through all threads
}

type search struct {
	p       Program
	threads []thread
	places  []Place
	access  []Step
	seen    map[state]bool
	todo    []state
	before  []uint64 // bit b of before[a]: a is performed and b is not, in some state
}

const (
	maxLaunches = 3
	maxThreads  = 12
)

// maxStates bounds a search.
const maxStates = 400_000

// A state is how far each thread is, which steps are performed, and which steps each thread
// knows to precede it.
type state struct {
	at        [maxThreads]uint8
	begun     [maxLaunches]bool
	performed uint64 // by number of step
	knows     [maxThreads]uint64
	fenced    [maxThreads]uint64 // of what it knows, what precedes its last fence
}

// Races returns the pairs of accesses of different launches that race. It is not ok where
// there are too many states to go through.
func Races(p Program) (races map[[2]Place]bool, ok bool) {
	s := &search{p: p, seen: map[state]bool{}}
	for l := range p {
		for c, cta := range p[l].CTAs {
			for t, list := range cta {
				s.threads = append(s.threads, thread{l, c, list, len(s.places)})
				for k, step := range list {
					s.places = append(s.places, Place{l, c, t, k})
					s.access = append(s.access, step)
				}
			}
		}
	}
	n := len(s.places)
	s.before = make([]uint64, n)
	s.add(state{})
	for len(s.todo) > 0 {
		if len(s.seen) > maxStates {
			return nil, false
		}
		st := s.todo[len(s.todo)-1]
		s.todo = s.todo[:len(s.todo)-1]
		s.visit(st)
	}
	races = map[[2]Place]bool{}
	for a := range n {
		for b := range a {
			x, y := s.access[a], s.access[b]
			if x.Op <= Store && y.Op <= Store && (x.Op == Store || y.Op == Store) && x.Word == y.Word &&
				s.places[a][0] != s.places[b][0] && s.before[a]>>b&1 != 0 && s.before[b]>>a&1 != 0 {
				races[[2]Place{s.places[b], s.places[a]}] = true
			}
		}
	}
	return races, true
}

func (s *search) add(st state) {
	if !s.seen[st] {
		s.seen[st] = true
		s.todo = append(s.todo, st)
	}
}

func (s *search) visit(st state) {
	for a := range s.places {
		if st.performed>>a&1 != 0 {
			s.before[a] |= ^st.performed
		}
	}
	next := func(change func(st *state)) {
		c := st
		change(&c)
		s.add(c)
	}
	for l := range s.p {
		if !st.begun[l] && s.begins(&st, l) {
			next(func(st *state) { st.begun[l] = true })
		}
	}
	for i, t := range s.threads {
		// What was executed is performed at some time.
		for k := range int(st.at[i]) {
			if n := t.first + k; t.steps[k].Op <= Store && st.performed>>n&1 == 0 {
				next(func(st *state) { st.performed |= 1 << n })
			}
		}
		if !st.begun[t.launch] || int(st.at[i]) == len(t.steps) {
			continue
		}
		n := t.first + int(st.at[i])
		switch step := t.steps[st.at[i]]; step.Op {
		case Load, Store:
			next(func(st *state) { st.at[i]++; st.knows[i] |= 1 << n })
		case Trigger:
			if st.fenced[i]&^st.performed == 0 {
				next(func(st *state) { st.at[i]++; st.performed |= 1 << n })
			}
		case Fence:
			next(func(st *state) { st.at[i]++; st.performed |= 1 << n; st.fenced[i] = st.knows[i] })
		case Wait:
			if s.waited(&st, t.launch) {
				next(func(st *state) { st.at[i]++; st.performed |= 1 << n })
			}
		case Barrier:
			s.barrier(&st, i, next)
		}
	}
}

// barrier lets all threads of a CTA pass when all have come; the first of them does so.
func (s *search) barrier(st *state, i int, next func(func(*state))) {
	t := s.threads[i]
	var all []int
	for k, o := range s.threads {
		if o.launch == t.launch && o.cta == t.cta {
			if int(st.at[k]) >= len(o.steps) || o.steps[st.at[k]].Op != Barrier {
				return
			}
			all = append(all, k)
		}
	}
	if all[0] != i {
		return
	}
	next(func(st *state) {
		known := uint64(0)
		for _, k := range all {
			known |= st.knows[k]
		}
		for _, k := range all {
			st.performed |= 1 << (s.threads[k].first + int(st.at[k]))
			st.knows[k] = known
			st.at[k]++
		}
	})
}

// begins reports whether a launch may begin.
func (s *search) begins(st *state, l int) bool {
	for _, e := range s.p[l].After {
		if !s.completed(st, e.Launch) && !(e.Programmatic && s.triggered(st, e.Launch)) {
			return false
		}
	}
	return true
}

func (s *search) waited(st *state, l int) bool {
	return !slices.ContainsFunc(s.p[l].After, func(e Edge) bool { return !s.completed(st, e.Launch) })
}

func (s *search) completed(st *state, l int) bool {
	if !st.begun[l] || !s.waited(st, l) {
		return false
	}
	for i, t := range s.threads {
		if t.launch != l {
			continue
		}
		if int(st.at[i]) < len(t.steps) {
			return false
		}
		for k := range t.steps {
			if st.performed>>(t.first+k)&1 == 0 {
				return false
			}
		}
	}
	return true
}

// triggered reports whether each CTA of a launch has executed launch_dependents, or has ended.
func (s *search) triggered(st *state, l int) bool {
	if !st.begun[l] {
		return false
	}
	for c := range s.p[l].CTAs {
		some, ended := false, true
		for i, t := range s.threads {
			if t.launch == l && t.cta == c {
				ended = ended && int(st.at[i]) == len(t.steps) && st.fenced[i]&^st.performed == 0
				some = some || slices.ContainsFunc(t.steps[:st.at[i]], func(s Step) bool { return s.Op == Trigger })
			}
		}
		if !some && !ended {
			return false
		}
	}
	return true
}

// Word returns the word that an access is of.
func (p Program) Word(at Place) int { return p[at[0]].CTAs[at[1]][at[2]][at[3]].Word }

// PTX returns a module with a kernel for each launch, and the place of each access by line.
// Thread t of a CTA is the first lane of its warp t.
func (p Program) PTX() (text string, lines map[int]Place) {
	var b strings.Builder
	n := 0
	line := func(format string, args ...any) {
		fmt.Fprintf(&b, format+"\n", args...)
		n++
	}
	lines = map[int]Place{}
	line(".version 8.6")
	line(".target sm_90a")
	line(".address_size 64")
	for l := range p {
		line(".visible .entry k%d(.param .u64 m)", l)
		line("{")
		line(".reg .pred %%p<4>; .reg .b32 %%r<8>; .reg .b64 %%rd<4>;")
		line("ld.param.u64 %%rd1, [m];")
		line("mov.u32 %%r1, %%tid.x;")
		line("mov.u32 %%r2, %%ctaid.x;")
		line("and.b32 %%r3, %%r1, 31;")
		line("setp.eq.u32 %%p1, %%r3, 0;")
		line("shr.u32 %%r4, %%r1, 5;")
		for c, cta := range p[l].CTAs {
			for t, list := range cta {
				line("setp.ne.u32 %%p2, %%r2, %d;", c)
				line("setp.ne.or.u32 %%p2, %%r4, %d, %%p2;", t)
				line("@%%p2 bra N%d_%d;", c, t)
				for k, s := range list {
					lines[n+1] = Place{l, c, t, k}
					switch s.Op {
					case Load:
						line("@%%p1 ld.global.u32 %%r5, [%%rd1+%d];", 4*s.Word)
					case Store:
						line("@%%p1 st.global.u32 [%%rd1+%d], %d;", 4*s.Word, n+100)
					case Fence:
						line("@%%p1 fence.acq_rel.gpu;")
					case Barrier:
						line("bar.sync 0, %d;", 32*len(cta))
					case Trigger:
						line("@%%p1 griddepcontrol.launch_dependents;")
					case Wait:
						line("@%%p1 griddepcontrol.wait;")
					}
				}
				line("ret;")
				line("N%d_%d:", c, t)
			}
		}
		line("ret;")
		line("}")
	}
	return b.String(), lines
}

// File returns a launch file of the program.
func (p Program) File(ptx string) string {
	var b strings.Builder
	b.WriteString("buffers:\n  m: {type: u32, shape: [2], fill: zeros}\nlaunches:\n")
	for i, l := range p {
		threads := 1
		for _, cta := range l.CTAs {
			threads = max(threads, len(cta))
		}
		var after []string
		for _, e := range l.After {
			after = append(after, fmt.Sprintf("{name: k%d, programmatic: %v}", e.Launch, e.Programmatic))
		}
		fmt.Fprintf(&b, "- {ptx: %s, kernel: k%d, grid: %d, block: %d, args: [m], after: [%s]}\n", ptx, i, len(l.CTAs), 32*threads, strings.Join(after, ", "))
	}
	return b.String()
}
