package muster

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"muster/internal/shards"
)

// ExploreOptions bound an exploration.
type ExploreOptions struct {
	// Schedules is how many to run, by default DefaultSchedules; less than 0 for
	// none. Up to a fifth of them are samples, where exploration does not end.
	Schedules int
	// Steps bounds the steps of all runs together, by default DefaultSteps.
	Steps int64
	// Preemptions, if not 0, bounds the preemptions in an explored run; less than 0
	// allows none. A preemption is a switch away from lanes that could go on and are not
	// at a wait.
	Preemptions int
	// Shard of Shards restricts this check to its share of the units; Shards 0 takes all
	// of them. Shards count from 0.
	Shard, Shards int
	// State, if set, is resumed from unless it is empty, and kept up to date.
	State *Exploration
	// Save is called from time to time, when State has changed.
	Save func(*Exploration) error
}

// The default budget of an exploration: 1000 schedules, 1,000,000 steps.
const (
	DefaultSchedules = shards.DefaultSchedules
	DefaultSteps     = shards.DefaultSteps
)

// An Exploration is the state of an exploration so far. It converts to JSON and back. It
// belongs to one launch and one budget, and only the build of muster that began it can
// resume it. The zero value has not begun.
type Exploration struct{ state shards.Exploration }

// MarshalJSON encodes the state of an exploration.
func (e Exploration) MarshalJSON() ([]byte, error) { return json.Marshal(&e.state) }

// notBegun is the zero Exploration in JSON.
var notBegun, _ = json.Marshal(&shards.Exploration{})

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Exploration) UnmarshalJSON(data []byte) error {
	var s shards.Exploration
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if s.Version != 1 && !bytes.Equal(data, notBegun) {
		return errors.New("not the state of an exploration")
	}
	e.state = s
	return nil
}

// A StateError says why an exploration cannot resume from a state.
type StateError struct{ Text string }

func (e *StateError) Error() string { return "the state does not fit: " + e.Text }

// Merge joins the states of shards into the state that one exploration of all units would
// have, except for samples that shards left: a check with the merged state runs those.
// The shards must all be present, and be of one build of muster, one launch and one
// budget.
func Merge(list []*Exploration) (*Exploration, error) {
	var states []*shards.Exploration
	for _, e := range list {
		if e == nil {
			return nil, errors.New("one of the states is missing")
		}
		states = append(states, &e.state)
	}
	all, err := shards.Merge(states)
	if err != nil {
		return nil, err
	}
	return &Exploration{*all}, nil
}

// options converts o to the options of package shards.
func (o *ExploreOptions) options(l *Launch) *shards.Options {
	out := &shards.Options{Launch: l.digest, Schedules: o.Schedules, Steps: o.Steps, Preemptions: o.Preemptions, Shard: o.Shard, Shards: o.Shards}
	if o.State != nil {
		out.State = &o.State.state
		if o.Save != nil {
			out.Save = func(*shards.Exploration) error { return o.Save(o.State) }
		}
	}
	return out
}

// stateError converts a shards.StateError to this package's type.
func stateError(err error) error {
	var of *shards.StateError
	if errors.As(err, &of) {
		return &StateError{of.Text}
	}
	return err
}

// digest hashes the kernel and the launch.
func (l *Launch) digest() string {
	h := sha256.New()
	c := &l.config
	fmt.Fprintln(h, c.Program.Module.String(), c.Program.Kernel.Name, c.Grid, c.Block, c.Cluster, c.Preferred, c.Shared, c.Registers, c.Params, c.MaxInstrs, c.MaxLocal, c.Cooperative)
	if len(c.More) > 0 {
		fmt.Fprintln(h, c.More, l.entries)
		for _, src := range l.sources {
			fmt.Fprintln(h, src.module.String())
		}
	}
	l.digestMemory(h)
	for _, name := range slices.Sorted(maps.Keys(c.Variables)) {
		fmt.Fprintf(h, "%s %x\n", name, c.Variables[name])
	}
	for _, s := range c.Program.Symbols() {
		fmt.Fprintln(h, s.Name, s.Addr)
	}
	for i := range c.Buffers {
		b := &c.Buffers[i]
		fmt.Fprintln(h, b.Name, b.Base, b.Size, b.Init, len(b.Data))
		h.Write(b.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// digestMemory hashes the memory that the launches before left.
func (l *Launch) digestMemory(h io.Writer) {
	if l.memory == nil {
		return
	}
	for i := range l.subject.Start.Regions() {
		base, size, _ := l.subject.Start.Initialized(i)
		data := make([]byte, size)
		l.subject.Start.ReadGlobal(base, data)
		fmt.Fprintln(h, base, size)
		h.Write(data)
	}
}
