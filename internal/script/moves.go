package script

import (
	"cmp"
	"slices"
	"strings"
)

// A Move is one command of a run, and what is there after it.
type Move struct {
	Text     string // the command as it is written
	Says     []string
	Barriers []BarrierState // by their names
	Waits    []string       // who waits
	Copies   []string       // which are under way
}

// A BarrierState is an mbarrier after a command.
type BarrierState struct {
	Name             string
	Live             bool
	Phase            uint64
	Pending, Arrives uint32 // of how many
	Tx               int32
}

// move records a command that was run, with the lines that it printed.
func (r *runner) move(text string, says []string) Move {
	m := Move{Text: text, Says: slices.Clone(says)}
	for _, b := range r.bars {
		w := b.state.Word
		m.Barriers = append(m.Barriers, BarrierState{b.name, b.live, b.state.Phase, w.Pending(), w.Expected(), w.Tx()})
	}
	slices.SortFunc(m.Barriers, func(a, b BarrierState) int { return cmp.Compare(a.Name, b.Name) })
	for _, w := range r.waits {
		m.Waits = append(m.Waits, w.actor)
	}
	for _, f := range r.flights {
		m.Copies = append(m.Copies, f.name)
	}
	return m
}

// commands are the lines of a group that are commands, in order.
func (g *group) commands() (list []string) {
	for _, l := range g.lines {
		if l = strings.TrimSpace(l); l != "" && l[0] != '#' {
			list = append(list, l)
		}
	}
	return list
}
