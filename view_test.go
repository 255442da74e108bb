package muster_test

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"
	"reflect"
	"strings"
	"testing"

	"muster"
	"muster/internal/diag"
	"muster/internal/machine"
	"muster/internal/timeline"
	"muster/report"
)

// viewedExamples are launches whose pages are held to the machine: with findings of several
// kinds, clusters, tensor memory, called functions, 128-bit and packed registers.
var viewedExamples = []string{"ring/ring", "ring/broken_bytes", "bulk_store/broken_no_fence", "cluster_exchange/cluster_exchange", "named_barrier/named_barrier",
	"ldgsts/ldgsts", "found/broken_mailbox", "gemm_rs/gemm_rs", "blackwell/gemm_1cta"}

// firstFinding checks a launch and says which run to view.
func firstFinding(t *testing.T, l *muster.Launch) (*muster.Report, muster.ViewRun) {
	t.Helper()
	r, err := l.Check(context.Background(), muster.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var run muster.ViewRun
	for _, f := range r.Findings {
		if f.Schedule != "" {
			if run.Schedule, err = muster.ParseSchedule(f.Schedule); err != nil {
				t.Fatal(err)
			}
			run.Finding = f.ID
			break
		}
	}
	return r, run
}

// TestViewIsTheMachine: registers, memory, mbarriers and places of a page are those of a
// machine that takes the run's steps, after each step.
func TestViewIsTheMachine(t *testing.T) {
	for _, name := range viewedExamples {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			t.Parallel()
			if testing.Short() && strings.Contains(name, "gemm") {
				t.Skip("much memory")
			}
			l := example(t, name)
			r, run := firstFinding(t, l)
			v, err := l.View(context.Background(), r, muster.ViewOptions{Runs: []muster.ViewRun{run}})
			if err != nil {
				t.Fatal(err)
			}
			d := decodeView(t, v)
			c := newComparison(t, l, run, d)
			for _, w := range d.Runs[0].Detail {
				c.window(w[0], w[1], d.blob[w[2]:w[2]+w[3]])
			}
			if c.registers == 0 || c.bytes == 0 || c.n == 0 || c.reads == 0 && name != "ring/broken_bytes" { // which deadlocks before it reads
				t.Errorf("%d registers, %d bytes, %d reads, %d steps: too little was compared", c.registers, c.bytes, c.reads, c.n)
			}
		})
	}
}

// TestViewLive: what is asked for of any step, in any order, is the machine's state.
func TestViewLive(t *testing.T) {
	t.Parallel()
	l := example(t, "ring/ring")
	r, run := firstFinding(t, l)
	v, err := l.View(context.Background(), r, muster.ViewOptions{Runs: []muster.ViewRun{run}, Live: true})
	if err != nil {
		t.Fatal(err)
	}
	d := decodeView(t, v)
	if len(d.Runs[0].Detail) > 0 || d.Runs[0].Live != "detail?run=0&step=" {
		t.Errorf("%d windows, live %q", len(d.Runs[0].Detail), d.Runs[0].Live)
	}
	steps := d.Runs[0].Steps
	for _, step := range []int{steps, 1, steps / 2, 257, 256} {
		data, err := v.Detail(context.Background(), 0, step)
		if err != nil {
			t.Fatal(err)
		}
		r := &bytesReader{t, data}
		from, to := int(r.u()), int(r.u())
		if step < from || step >= to {
			t.Errorf("step %d: a window from %d to %d", step, from, to)
		}
		c := newComparison(t, l, run, d)
		c.window(from, to, r.b)
	}
	for _, at := range [][2]int{{0, 0}, {0, steps + 1}, {1, 1}, {-1, 1}} {
		if _, err := v.Detail(context.Background(), at[0], at[1]); err != muster.ErrNoDetail {
			t.Errorf("run %d, step %d: %v", at[0], at[1], err)
		}
	}
}

// A comparison holds windows to a machine.
type comparison struct {
	t                       *testing.T
	of                      muster.Viewed
	d                       *viewed
	m                       *machine.Machine
	n                       int                  // steps taken
	registers, bytes, reads int                  // that were compared
	locals                  int                  // the same, bytes of local memory
	shown                   uint64               // of a variable of local memory; 0: all
	accesses                []readByte           // of the present step
	tracks                  map[[2]uint64]uint64 // of mbarriers, by CTA and address
}

func newComparison(t *testing.T, l *muster.Launch, run muster.ViewRun, d *viewed) *comparison {
	t.Helper()
	of, err := muster.ViewedRun(l, run)
	if err != nil {
		t.Fatal(err)
	}
	c := &comparison{t: t, of: of, d: d, tracks: map[[2]uint64]uint64{}}
	c.m = of.Start(c)
	ctas := map[uint64]uint64{}
	for _, k := range d.Runs[0].tracks {
		if k.Kind == report.TrackCTA {
			ctas[k.ID] = uint64(k.Rank - 1)
		}
	}
	for _, k := range d.Runs[0].tracks {
		if k.Kind == report.TrackMbarrier {
			c.tracks[[2]uint64{ctas[k.Parent], uint64(k.Rank - 1<<16)}] = k.ID
		}
	}
	return c
}

// A readByte is a byte that a lane reads, as it is then.
type readByte struct {
	at   shownByte
	v    uint64
	init bool
}

// Observe makes a comparison a machine.Observer: it keeps what lanes read.
func (c *comparison) Observe(m *machine.Machine, ev *machine.Event) {
	if ev.Kind != machine.EvAccess || ev.Access&machine.Read == 0 {
		return
	}
	for k := ev.Mask; k != 0; k &= k - 1 {
		for i := range uint64(ev.Size) {
			addr := ev.Addr[bits.TrailingZeros32(k)] + i
			v, init := m.Peek(ev.Mem, addr, 1)
			c.accesses = append(c.accesses, readByte{c.name(ev.Mem, addr), v, init})
		}
	}
}

func (c *comparison) window(from, to int, data []byte) {
	c.t.Helper()
	for c.n < from-1 {
		c.m.Step(c.of.Run[c.n])
		c.n++
	}
	r := &bytesReader{c.t, data}
	s := newShown()
	s.apply(r, c.d.Runs[0].table)
	c.compare(s)
	for n := from; n < to && !c.t.Failed(); n++ {
		c.accesses = c.accesses[:0]
		choice := c.of.Run[n-1]
		c.m.Step(choice)
		c.n++
		c.known(s)
		s.apply(r, c.d.Runs[0].table)
		if choice.Kind == machine.Run && c.m.Warps(choice.CTA) > 0 && !s.warps[[2]uint64{uint64(choice.CTA), uint64(choice.Warp)}] {
			c.t.Errorf("step %d: nothing of warp %d of CTA %d, which takes it", n, choice.Warp, choice.CTA)
		}
		if n == to-1 {
			c.compare(s)
			continue
		}
		c.changed(s, choice)
	}
	if len(r.b) > 0 && !c.t.Failed() {
		c.t.Errorf("%d bytes behind the window of steps %d to %d", len(r.b), from, to)
	}
}

// known: bytes that a step reads are in the state before it.
func (c *comparison) known(s *shownState) {
	for _, a := range c.accesses {
		got, ok := s.bytes[a.at.shownMemory][a.at.off]
		c.reads++
		if ok != a.init || a.init && uint64(got) != a.v {
			c.t.Errorf("before step %d: byte %v is %d (%v), shown as %d (%v)", c.n, a.at, a.v, a.init, got, ok)
			return
		}
	}
}

// name is what entries call a byte of memory.
func (c *comparison) name(mem machine.MemID, addr uint64) shownByte {
	at := shownByte{off: addr}
	if mem != machine.Global {
		at.cta = uint64(mem.CTA()) + 1
	}
	for i := range c.of.Names.Regions {
		g := &c.of.Names.Regions[i]
		if mem.Kind() != machine.TensorMemory && g.Shared == (mem.Kind() == machine.SharedMemory) && addr >= g.Base && addr-g.Base < g.Size {
			at.name, at.off = diag.ShortName(g.Name), addr-g.Base
			return at
		}
	}
	at.name = map[machine.MemoryKind]string{machine.SharedMemory: "shared memory", machine.TensorMemory: "tensor memory", machine.GlobalMemory: "global memory"}[mem.Kind()]
	return at
}

// changed holds to the machine's what a step is known to change: the rest is compared every
// now and then.
func (c *comparison) changed(s *shownState, by machine.Choice) {
	c.t.Helper()
	if w := [2]uint64{uint64(by.CTA), uint64(by.Warp)}; s.warps[w] {
		c.warp(s, w)
	}
	c.memory(s, s.wrote)
	c.words(s)
}

// compare holds a state to the machine's.
func (c *comparison) compare(s *shownState) {
	c.t.Helper()
	for w := range s.warps {
		c.warp(s, w)
	}
	var all []shownByte
	for mem, bytes := range s.bytes {
		for off := range bytes {
			all = append(all, shownByte{mem, off})
		}
	}
	c.memory(s, all)
	c.words(s)
}

// memory holds bytes to the machine's.
func (c *comparison) memory(s *shownState, which []shownByte) {
	c.t.Helper()
	for _, at := range which {
		v, shown := s.bytes[at.shownMemory][at.off]
		mem, base := machine.Global, uint64(0)
		if at.cta > 0 {
			if mem = machine.SharedOf(int32(at.cta - 1)); at.name == "tensor memory" {
				mem = machine.TensorOf(int32(at.cta - 1))
			}
			if c.m.Warps(int32(at.cta-1)) == 0 {
				continue // its memory is gone
			}
		}
		for i := range c.of.Names.Regions {
			if g := &c.of.Names.Regions[i]; diag.ShortName(g.Name) == at.name && g.Shared == (at.cta > 0) {
				base = g.Base
			}
		}
		c.bytes++
		if got, init := c.m.Peek(mem, base+at.off, 1); init != shown || init && got != uint64(v) {
			c.t.Errorf("after step %d: byte %v is %d (%v), shown as %d (%v)", c.n, at, got, init, v, shown)
			return
		}
	}
}

// words holds mbarriers to the machine's.
func (c *comparison) words(s *shownState) {
	c.t.Helper()
	for _, b := range c.m.Barriers() {
		want := [4]int64{b.Phase, int64(b.Word.Pending()), int64(b.Word.Expected()), int64(b.Word.Tx())}
		if got := s.words[c.tracks[[2]uint64{uint64(b.Bar.Mem.CTA()), b.Bar.Addr}]]; got != want {
			c.t.Errorf("after step %d: the mbarrier at %d of CTA %d is %v, shown as %v", c.n, b.Bar.Addr, b.Bar.Mem.CTA(), want, got)
		}
	}
}

// warp holds the registers and places of a warp to the machine's.
func (c *comparison) warp(s *shownState, w [2]uint64) {
	cta, warp := int32(w[0]), int32(w[1])
	at := s.at[regKey(w[0], w[1], "")]
	here := uint32(0)
	for _, f := range c.m.Splits(cta, warp, nil) {
		here |= f.Mask
		for l := range 32 {
			if f.Mask>>l&1 != 0 {
				line := uint64(c.of.Names.Program.Pos(f.PC).Line)
				if at[l][1] != line || line > 0 && c.d.Texts[at[l][0]].File != c.of.Names.File(f.PC) {
					c.t.Errorf("after step %d: lane %d of warp %d of CTA %d stands at line %d, shown at %v", c.n, l, warp, cta, line, at[l])
				}
			}
		}
	}
	for l := range 32 {
		if here>>l&1 == 0 && at[l][1] != 0 {
			c.t.Errorf("after step %d: lane %d of warp %d of CTA %d has exited, shown at %v", c.n, l, warp, cta, at[l])
		}
	}
	p := c.of.Names.Program
	frames := c.m.Frames(cta, warp, nil)
	for i := range frames {
		f := &frames[i]
		mask := f.Mask
		for j := i + 1; j < len(frames); j++ { // a function that calls itself
			if frames[j].Func == f.Func {
				mask &^= frames[j].Mask
			}
		}
		name, kernel := p.FunctionName(f.Func)
		for _, r := range p.Registers(f.Func) {
			var lo, hi [32]uint64
			c.m.ReadRegister(cta, warp, f, &r, &lo, &hi)
			shown := r.Name
			if !kernel {
				shown = name + ": " + shown
			}
			if r.Wide() {
				c.register(s, regKey(w[0], w[1], shown+".hi"), mask, &hi)
				shown += ".lo"
			}
			c.register(s, regKey(w[0], w[1], shown), mask, &lo)
		}
		for _, v := range p.LocalVars(f.Func) {
			shown := v.Name
			if !kernel {
				shown = name + ": " + shown
			}
			c.local(s, f, w, &v, shown, mask)
		}
	}
}

// local holds a variable of local memory to the machine's, in each lane.
func (c *comparison) local(s *shownState, f *machine.Frame, w [2]uint64, v *machine.LocalVar, shown string, mask uint32) {
	n := v.Size
	if c.shown > 0 {
		n = min(n, c.shown)
	}
	b, init := make([]byte, n), make([]uint32, (n+31)/32)
	for k := mask; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k)
		c.m.ReadLocal(int32(w[0]), int32(w[1]), f, v, l, b, init)
		got := s.locals[regKey(w[0], w[1], shown)+fmt.Sprint(" of lane ", l)]
		for i := range b {
			c.locals++
			x, ok := got[uint64(i)]
			if is := init[i/32]>>(i%32)&1 != 0; (is != ok || is && b[i] != x) && !c.t.Failed() {
				c.t.Errorf("after step %d: byte %d of %s of lane %d is %d (%v), shown as %d (%v)", c.n, i, shown, l, b[i], is, x, ok)
			}
		}
	}
}

func (c *comparison) register(s *shownState, key string, mask uint32, want *[32]uint64) {
	got := s.regs[key]
	if got == nil {
		got = &[32]uint64{}
	}
	c.registers++
	for k := mask; k != 0; k &= k - 1 {
		if l := bits.TrailingZeros32(k); got[l] != want[l] && !c.t.Failed() {
			c.t.Errorf("after step %d: %s of lane %d is %#x, shown as %#x", c.n, key, l, want[l], got[l])
		}
	}
}

// A collector keeps marks.
type collector struct {
	tracks []report.TraceTrack
	marks  []report.TraceMark
}

func (c *collector) Track(t report.TraceTrack) { c.tracks = append(c.tracks, t) }
func (c *collector) Err() error                { return nil }
func (c *collector) Mark(m report.TraceMark) {
	m.From, m.To = append([]uint64(nil), m.From...), append([]uint64(nil), m.To...)
	m.File, m.Line = "", 0
	if m.PTX == "" {
		m.PTXLine = 0
	}
	c.marks = append(c.marks, m)
}

// TestViewMarks: the stream of a page holds every mark of the run, and its tracks.
func TestViewMarks(t *testing.T) {
	for _, name := range viewedExamples {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			t.Parallel()
			l := example(t, name)
			r, run := firstFinding(t, l)
			v, err := l.View(context.Background(), r, muster.ViewOptions{Runs: []muster.ViewRun{run}})
			if err != nil {
				t.Fatal(err)
			}
			d := decodeView(t, v)
			of, err := muster.ViewedRun(l, run)
			if err != nil {
				t.Fatal(err)
			}
			var want collector
			rec := timeline.New(&want, of.Names, of.Sites)
			rec.All()
			rec.Slots(false)
			about := timeline.Run{Kernel: l.Name(), Schedule: d.Runs[0].Schedule, Finding: run.Finding}
			if err := rec.Go(of.Start(rec), of.Run, about); err != nil {
				t.Fatal(err)
			}
			got := d.marks(t, d.Runs[0])
			if !reflect.DeepEqual(d.Runs[0].tracks, want.tracks) {
				t.Error("the tracks differ")
			}
			if len(got) != len(want.marks) {
				t.Fatalf("%d marks, want %d", len(got), len(want.marks))
			}
			for i := range got {
				if !reflect.DeepEqual(fmt.Sprint(got[i]), fmt.Sprint(want.marks[i])) {
					t.Fatalf("mark %d: %+v, want %+v", i, got[i], want.marks[i])
				}
			}
			if len(d.Runs[0].Sites) != len(of.Sites) {
				t.Errorf("%d places of the finding, want %d", len(d.Runs[0].Sites), len(of.Sites))
			}
		})
	}
}

// TestViewTwice: two pages of one launch are the same bytes.
func TestViewTwice(t *testing.T) {
	t.Parallel()
	var pages [2]bytes.Buffer
	for i := range pages {
		l := example(t, "ring/broken_bytes")
		r, run := firstFinding(t, l)
		v, err := l.View(context.Background(), r, muster.ViewOptions{Runs: []muster.ViewRun{run}})
		if err != nil {
			t.Fatal(err)
		}
		if err := v.WriteHTML(&pages[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(pages[0].Bytes(), pages[1].Bytes()) {
		t.Error("they differ")
	}
}
