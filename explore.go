package muster

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"muster/internal/shards"
)

// ExploreOptions bound an exploration.
type ExploreOptions struct {
	// Schedules is how many to run, by default DefaultSchedules; less than 0 for
	// none. Up to a fifth of them are samples, where exploration does not end.
	Schedules int
	// Steps is how many steps they may have together, by default DefaultSteps.
	Steps int64
	// Preemptions, if not 0, is how many a run that is explored may have at most;
	// less than 0 for none. A switch away from lanes that could go on is one, but
	// where they stand at a wait.
	Preemptions int
	// Shard of Shards has this check take only its share of the units; Shards 0
	// for all of them. Shards count from 0.
	Shard, Shards int
	// State, if set, is resumed from where it is not empty, and kept up to date.
	State *Exploration
	// Save is called now and then, when State has changed.
	Save func(*Exploration) error
	// Progress is called now and then with what has been done.
	Progress func(Progress)
}

// The budget of an exploration, where none is given.
const (
	DefaultSchedules = shards.DefaultSchedules
	DefaultSteps     = shards.DefaultSteps
)

// A Progress is how far an exploration has come.
type Progress struct {
	Schedules, Left int
	Units, Done     int // parts of what the first runs left over
	Findings        int
	Steps           int64 // that this process made, those that no state keeps included
}

// An Exploration is what an exploration has come to so far. It can be written down as
// JSON and read again. It speaks of one launch and one budget, and only the build of
// muster that began it goes on with it. Its zero value is one that has not begun.
type Exploration struct{ state shards.Exploration }

// MarshalJSON writes an exploration down.
func (e *Exploration) MarshalJSON() ([]byte, error) { return json.Marshal(&e.state) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Exploration) UnmarshalJSON(data []byte) error {
	var s shards.Exploration
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if s.Version != 1 {
		return errors.New("not the state of an exploration")
	}
	e.state = s
	return nil
}

// A StateError says why an exploration cannot go on from a state.
type StateError struct{ Text string }

func (e *StateError) Error() string { return "the state does not fit: " + e.Text }

// Merge joins what shards came to into what one exploration of all units would
// have come to, but for samples that shards left: to check with what it returns
// takes them. The shards must be of one muster, one launch and one budget, and all
// there.
func Merge(list []*Exploration) (*Exploration, error) {
	var states []*shards.Exploration
	for _, e := range list {
		states = append(states, &e.state)
	}
	all, err := shards.Merge(states)
	if err != nil {
		return nil, err
	}
	return &Exploration{*all}, nil
}

// options are those of an exploration of a launch.
func (o *ExploreOptions) options(l *Launch) *shards.Options {
	out := &shards.Options{Launch: l.digest, Schedules: o.Schedules, Steps: o.Steps, Preemptions: o.Preemptions, Shard: o.Shard, Shards: o.Shards}
	if o.State != nil {
		out.State = &o.State.state
		if o.Save != nil {
			out.Save = func(*shards.Exploration) error { return o.Save(o.State) }
		}
	}
	if o.Progress != nil {
		out.Progress = func(p shards.Progress) { o.Progress(Progress(p)) }
	}
	return out
}

// stateError makes errors about the state of an exploration this package's.
func stateError(err error) error {
	var of *shards.StateError
	if errors.As(err, &of) {
		return &StateError{of.Text}
	}
	return err
}

// digest names the kernel and the launch.
func (l *Launch) digest() string {
	h := sha256.New()
	c := &l.config
	fmt.Fprintln(h, c.Program.Module.String(), c.Program.Kernel.Name, c.Grid, c.Block, c.Cluster, c.Shared, c.Registers, c.Params, c.MaxInstrs, c.MaxLocal)
	for i := range c.Buffers {
		b := &c.Buffers[i]
		fmt.Fprintln(h, b.Name, b.Base, b.Size, b.Init, len(b.Data))
		h.Write(b.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}
