package explore

import (
	"slices"

	"muster/internal/machine"
)

// Drawing runs a machine that has not begun with the tickets of one CTA drawn before all others,
// or after them, and all else before a draw. It takes at most so many steps, and ends where nothing
// is left but to give up a wait.
func Drawing(m *machine.Machine, tickets []int32, cta int32, last bool, length int) {
	late := func(c machine.Choice) int {
		switch {
		case c.Kind == machine.GiveUp:
			return 5
		case process(c).Kind != machine.Run || !slices.Contains(tickets, m.At(c.CTA, c.Warp, c.Lane)):
			return reluctance(c)
		case (c.CTA == cta) == last:
			return 4
		}
		return 3
	}
	for range length {
		list := m.Enabled(nil)
		if len(list) == 0 {
			return
		}
		c := slices.MinFunc(list, func(a, b machine.Choice) int { return late(a) - late(b) })
		if c.Kind == machine.GiveUp {
			return
		}
		m.Step(c)
	}
}
