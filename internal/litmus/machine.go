package litmus

import (
	"encoding/binary"
	"fmt"

	"muster/internal/explore"
	"muster/internal/machine"
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
	k, err := t.Kernel(loops)
	if err != nil {
		return nil, err
	}
	m, err := k.machine(t)
	if err != nil {
		return nil, err
	}
	out := &Outcomes{}
	c := executions(m, l, stop, func(m *machine.Machine, schedule string) {
		if s := m.Stopped(); s != nil && s.Kind == machine.Interrupted {
			return
		}
		out.Count++
		v, ended := t.ended(m, out)
		if !ended || t.Filter != nil && !t.Filter.Holds(v) {
			return
		}
		if o, fresh := out.add(v); fresh {
			o.Schedule = schedule
		}
	})
	if out.Why == "" {
		out.Why = c.Why
	}
	out.Complete = c.Complete && out.Why == ""
	out.sort()
	return out, nil
}

// ended reads the outcome of a run, if it is one: all threads ended.
func (t *Test) ended(m *machine.Machine, out *Outcomes) ([]uint32, bool) {
	switch s := m.Stopped(); {
	case s == nil:
	case s.Kind == machine.Deadlock:
		out.Hangs = true
		return nil, false
	case s.Kind == machine.FaultBounds || s.Kind == machine.FaultAlign:
		out.Why = "an access is out of bounds"
		return nil, false
	default:
		out.Why = "a run did not end: " + s.Msg
		return nil, false
	}
	var b [4]byte
	for k := range t.Threads {
		m.ReadGlobal(outBase+4*uint64(t.registers()+k), b[:])
		if b[0] != 0 {
			out.Loops = true
			return nil, false
		}
	}
	return t.read(m), true
}

// executions calls end at the end of each execution of a launch, with the schedule that
// repeats it, and tells whether these were all. It is the only place that knows what an
// execution of the machine is: today, an interleaving.
func executions(m *machine.Machine, l Limits, stop func() bool, end func(m *machine.Machine, schedule string)) explore.Coverage {
	space := &explore.Space{
		Fork:  func(o machine.Observer) *machine.Machine { return m.Fork(o, nil) },
		Watch: func() explore.Watcher { return ending(end) },
		Stop:  stop,
	}
	return explore.NewSearch(space, explore.Limits{Schedules: l.Schedules, Steps: l.Steps, Length: l.Length}).Run(stop)
}

// ending is a watcher that looks at the end of a run alone.
type ending func(m *machine.Machine, schedule string)

func (ending) Observe(*machine.Machine, *machine.Event) {}

func (f ending) End(m *machine.Machine, path []machine.Choice) {
	f(m, explore.Schedule{Policy: explore.Latest, Prefix: path}.String())
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
			{Name: "m", Base: memoryBase, Size: uint64(4 * max(t.Words, 1)), Data: data, Init: true},
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
