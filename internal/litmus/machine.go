package litmus

import (
	"encoding/binary"
	"fmt"

	"muster/internal/coherence"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/order"
	"muster/ptx"
)

// Limits bound what the machine runs for one test.
type Limits struct {
	Schedules int
	Steps     int64
	Length    int // steps of one run
}

// DefaultLimits are enough for a test of a few threads with a few accesses each.
var DefaultLimits = Limits{Schedules: 20_000, Steps: 2_000_000, Length: 400}

// The addresses of the kernel's buffers.
const (
	memoryBase = 1 << 32
	outBase    = memoryBase + 1<<16
)

// Machine runs a test on the machine, in every schedule. It knows no axioms.
func (t *Test) Machine(loops int, l Limits, stop func() bool) (*Outcomes, error) {
	k, err := t.labelled(loops)
	if err != nil {
		return nil, err
	}
	m, err := k.machine(t)
	if err != nil {
		return nil, err
	}
	out := &Outcomes{}
	c, loose := t.executions(k, m, l, stop, func() { out.Count = 0 }, func(m *machine.Machine, words *coherence.Racing, schedule string) {
		if s := m.Stopped(); s != nil && s.Kind == machine.Interrupted {
			return
		}
		out.Count++
		t.ended(m, words, out, func(v []uint32) {
			if t.Filter != nil && !t.Filter.Holds(v) {
				return
			}
			if o, fresh := out.add(v); fresh {
				o.Schedule = schedule
			}
		})
	})
	if out.Why == "" {
		out.Why = c.Why
	}
	out.Complete, out.Loose = c.Complete && out.Why == "", loose
	out.sort()
	return out, nil
}

// ended calls f with the outcomes of a run, if it has some: all threads ended. There are several
// where words tells that coherence order has several writes that none follows.
func (t *Test) ended(m *machine.Machine, words *coherence.Racing, out *Outcomes, f func([]uint32)) {
	switch s := m.Stopped(); {
	case s == nil:
	case s.Kind == machine.Deadlock:
		out.Hangs = true
		return
	case s.Kind == machine.FaultBounds || s.Kind == machine.FaultAlign:
		out.Why = "an access is out of bounds"
		return
	default:
		out.Why = "a run did not end: " + s.Msg
		return
	}
	var b [4]byte
	for k := range t.Threads {
		m.ReadGlobal(outBase+4*uint64(t.registers()+k), b[:])
		if b[0] != 0 {
			out.Loops = true
			return
		}
	}
	if v := t.read(m); words == nil {
		f(v)
	} else {
		t.lasts(m, words, v, out, f)
	}
}

// executions calls end at the end of each execution of a launch, with the schedule that
// repeats it, and tells whether these were all; again, where it begins anew. It is the only place that knows what an
// execution of the machine is: a strong access may take any version of its word that causality
// order leaves open, as in a check. An execution with a data race ends there; of a test that has
// some, or uses what a check does not have, weak accesses take versions, too (racing.go).
func (t *Test) executions(k *Kernel, m *machine.Machine, l Limits, stop func() bool, again func(), end func(*machine.Machine, *coherence.Racing, string)) (c explore.Coverage, loose bool) {
	x := &explorer{t: t, k: k, end: end}
	if !t.mixes() {
		start := m.Fork(nil, nil)
		start.KeepVersions()
		if c = x.explore(start, l, stop); !x.races || !c.Complete {
			return c, x.loose
		}
	}
	again()
	if t.vectors() {
		x.how = interleavings
		if c = x.explore(m, l, stop); c.Complete {
			c.Complete, c.Why = false, raced
		}
		return c, x.loose
	}
	x.how = racing
	start := m.Fork(nil, nil)
	start.KeepAllVersions(t.same())
	return x.explore(start, l, stop), true
}

// raced is the Why of a test whose outcomes may not be all.
const raced = "an execution has a data race, and an access is of several words: behind it the machine has interleavings alone"

// A mode is what an explorer explores.
type mode uint8

const (
	checked       mode = iota // executions, up to their first data race
	racing                    // executions, with versions of weak accesses
	interleavings             // alone
)

// An explorer explores a test.
type explorer struct {
	t     *Test
	k     *Kernel
	end   func(m *machine.Machine, words *coherence.Racing, schedule string)
	how   mode
	races bool
	loose bool // there may be load buffering
}

func (x *explorer) explore(start *machine.Machine, l Limits, stop func() bool) explore.Coverage {
	space := &explore.Space{
		Fork:  func(o machine.Observer) *machine.Machine { return start.Fork(o, nil) },
		Watch: func() explore.Watcher { return x.watch(start) },
		Stop:  stop,
		Joint: x.how == racing,
	}
	if x.how != interleavings {
		space.Allows = func(w explore.Watcher, m *machine.Machine, c machine.Choice) bool {
			return w.(*watcher).words.Allows(m, c)
		}
	}
	return explore.NewSearch(space, explore.Limits{Schedules: l.Schedules, Steps: l.Steps, Length: l.Length}).Run(stop)
}

// A watcher follows causality order, unless it watches an interleaving, and looks at the end of
// a run.
type watcher struct {
	*explorer
	order *order.Tracker
	words interface {
		Observe(*machine.Machine, *machine.Event)
		Allows(*machine.Machine, machine.Choice) bool
	}
}

func (x *explorer) watch(start *machine.Machine) *watcher {
	w := &watcher{explorer: x}
	if x.how == interleavings {
		return w
	}
	w.order = order.New(order.Config{Shape: start.Shape(), Executions: true, AllVersions: x.how == racing, GPU: x.t.gpus()})
	if x.how == racing {
		w.words = coherence.NewRacing(w.order, x.k.proxy(start.Program()))
	} else {
		w.words = coherence.NewRun(w.order, start.Program())
	}
	return w
}

func (w *watcher) Observe(m *machine.Machine, ev *machine.Event) {
	if w.order != nil {
		w.words.Observe(m, ev)
		w.order.Observe(m, ev)
	}
}

func (w *watcher) End(m *machine.Machine, path []machine.Choice) {
	schedule := explore.Schedule{Policy: explore.Latest, Prefix: path}.String()
	switch words := w.words.(type) {
	case *coherence.Run:
		if w.order.Found() > 0 {
			w.races = true
			return
		}
		w.loose = w.loose || len(words.Loose(nil, nil)) > 0
		w.end(m, nil, schedule)
	case *coherence.Racing:
		w.end(m, words, versionsOfAll+schedule)
	default:
		w.end(m, nil, schedule)
	}
}

// machine makes the machine of a kernel, about to begin.
func (k *Kernel) machine(t *Test) (*machine.Machine, error) {
	mod, err := ptx.Parse(t.File+".ptx", []byte(k.PTX))
	if err != nil {
		return nil, fmt.Errorf("BUG: %w", err)
	}
	prog, err := machine.Decode(mod, kernelName)
	if err != nil {
		return nil, fmt.Errorf("BUG: %w", err)
	}
	var data []byte
	for _, v := range t.Init {
		data = binary.LittleEndian.AppendUint32(data, v)
	}
	params := binary.LittleEndian.AppendUint64(nil, memoryBase)
	params = binary.LittleEndian.AppendUint64(params, outBase)
	return machine.New(machine.Config{
		Program: prog, Grid: [3]uint32{uint32(k.Grid), 1, 1}, Block: [3]uint32{uint32(k.Block), 1, 1}, Cluster: [3]uint32{uint32(k.Cluster), 1, 1},
		Params: params, MaxInstrs: 1 << 20, Buffers: []machine.Buffer{
			{Name: "m", Base: memoryBase, Size: t.size(), Data: data, Init: true},
			{Name: "out", Base: outBase, Size: uint64(4 * max(k.Out, 1)), Init: true},
		},
	})
}

// read reads the values of the observed terms at the end of a run.
func (t *Test) read(m *machine.Machine) []uint32 {
	v := make([]uint32, len(t.Observed))
	var b [4]byte
	out := uint64(outBase)
	for i := range t.Observed {
		at := memoryBase + 4*uint64(t.Observed[i].Word)
		if t.Observed[i].Thread >= 0 {
			at, out = out, out+4
		}
		m.ReadGlobal(at, b[:])
		v[i] = binary.LittleEndian.Uint32(b[:])
	}
	return v
}
