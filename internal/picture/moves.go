package picture

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"muster/internal/diag"
	"muster/internal/script"
)

// The layout of a script's picture: commands at the left, and beside them what there is after each.
const (
	leastMove = 560
	moveWidth = 940
	moveHigh  = 30
	phaseWide = 76
	owedWide  = 70
	txWide    = 72
	thinWide  = 70
	mostBars  = 2
	mostThin  = 4
	mostMoves = 40
	mostOwed  = 6 // arrivals that are drawn one by one
)

// A movesPicture is a picture of a script's run that is being drawn.
type movesPicture struct {
	drawing
	moves     []script.Move
	top, left int
}

// Moves draws a run of a script of mbarrier operations: the phases of each mbarrier, the arrivals
// and bytes that it is owed, who waits and which copies are under way, from top to bottom.
func Moves(w io.Writer, name string, moves []script.Move) error {
	if n := len(moves); n > 1 && moves[n-1].Text == "end" {
		moves = moves[:n-1] // it changes nothing
	}
	p := &movesPicture{moves: moves[:min(len(moves), mostMoves)], top: 74}
	longest := len(name) * 8
	for i := range p.moves {
		longest = max(longest, len(p.moves[i].Text)*73/10)
	}
	p.left = min(longest, 330) + 44
	x := p.left
	var columns []func()
	for _, b := range p.bars() {
		at, wide := x, phaseWide+owedWide
		if p.expects(b) {
			wide += txWide
		}
		columns = append(columns, func() { p.barrier(b, at) })
		x += wide + 8
	}
	thin := 0
	for _, list := range []func(*script.Move) []string{func(m *script.Move) []string { return m.Waits }, func(m *script.Move) []string { return m.Copies }} {
		for _, who := range p.named(list) {
			if thin++; thin <= mostThin && x+thinWide <= moveWidth {
				at := x
				columns = append(columns, func() { p.thin(who, list, at) })
				x += thinWide
			}
		}
	}
	if slices.ContainsFunc(p.moves, func(m script.Move) bool { return answer(&m) != "" }) && x+thinWide <= moveWidth {
		at := x
		columns = append(columns, func() { p.answers(at) })
		x += thinWide
	}
	p.drawing.width = max(leastMove, x+8)
	p.title = "phases of " + name
	p.text("h l", 16, 26, clip(name, p.left-32))
	for i := range p.moves {
		y := p.y(i)
		p.path("rule", fmt.Sprintf("M16 %d.5H%d", y+moveHigh/2, p.drawing.width-16))
		p.text("c", 16, y+4, clip(p.moves[i].Text, (p.left-30)*63/73))
	}
	for _, draw := range columns {
		draw()
	}
	var b strings.Builder
	for i := range p.moves {
		fmt.Fprintf(&b, "%s: %s. ", p.moves[i].Text, strings.Join(p.moves[i].Says, "; "))
	}
	p.desc = b.String()
	p.drawing.height = p.y(len(p.moves))
	if n := len(moves) - len(p.moves); n > 0 {
		p.text("q", 16, p.drawing.height, fmt.Sprintf("… and %s more", diag.Plural(n, "command")))
		p.drawing.height += 20
	}
	_, err := p.WriteTo(w)
	return err
}

// y is the middle of the row of a command.
func (p *movesPicture) y(i int) int { return p.top + moveHigh*i + moveHigh/2 }

// bars lists the mbarriers that have columns.
func (p *movesPicture) bars() (names []string) {
	for i := range p.moves {
		for _, b := range p.moves[i].Barriers {
			if !slices.Contains(names, b.Name) && len(names) < mostBars {
				names = append(names, b.Name)
			}
		}
	}
	return names
}

// named lists who is in a list after some command.
func (p *movesPicture) named(of func(*script.Move) []string) (names []string) {
	for i := range p.moves {
		for _, who := range of(&p.moves[i]) {
			if !slices.Contains(names, who) {
				names = append(names, who)
			}
		}
	}
	return names
}

func (p *movesPicture) state(i int, name string) (script.BarrierState, bool) {
	for _, b := range p.moves[i].Barriers {
		if b.Name == name && b.Live {
			return b, true
		}
	}
	return script.BarrierState{}, false
}

// barrier draws an mbarrier: a band for each phase, and beside it what the phase is owed.
func (p *movesPicture) barrier(name string, x int) {
	p.text("h", x, 26, clip(name, phaseWide+owedWide))
	p.text("q", x, 52, "phase")
	p.text("q m", x+phaseWide+owedWide/2-6, 44, "arrivals")
	p.text("q m", x+phaseWide+owedWide/2-6, 58, "owed")
	tx := p.expects(name)
	if tx {
		p.text("q m", x+phaseWide+owedWide+txWide/2-6, 52, "tx-count")
	}
	for i := 0; i < len(p.moves); i++ {
		b, ok := p.state(i, name)
		if !ok {
			continue
		}
		first := i
		p.owes(b, x, i, tx)
		for i+1 < len(p.moves) {
			o, ok := p.state(i+1, name)
			if !ok || o.Phase != b.Phase {
				break
			}
			i++
			p.owes(o, x, i, tx)
		}
		p.band(b, x, first, i)
	}
}

// band draws a phase from the command that begins it to the one before that which ends it.
func (p *movesPicture) band(b script.BarrierState, x, first, last int) {
	class, parity := "even", b.Phase&1
	if parity == 1 {
		class = "odd"
	}
	y, high := p.y(first)-moveHigh/2+2, (last-first+1)*moveHigh-3
	p.add(`<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="3"/>`, class, x, y, phaseWide-14, high)
	p.text("h on m", x+(phaseWide-14)/2, p.y(first)+4, fmt.Sprintf("phase %d", b.Phase))
	if last > first {
		p.text("on m", x+(phaseWide-14)/2, p.y(first)+20, fmt.Sprintf("parity %d", parity))
	}
}

// owes draws what a phase is owed: a circle for each arrival, filled while it is owed, and bytes.
func (p *movesPicture) owes(b script.BarrierState, x, i int, tx bool) {
	y := p.y(i)
	x += phaseWide - 6
	if b.Arrives <= mostOwed {
		from := x + owedWide/2 - int(b.Arrives-1)*6
		for k := range b.Arrives {
			class := "axis under"
			if k < b.Pending {
				class = "axis dot"
			}
			p.add(`<circle class="%s" cx="%d" cy="%d" r="4.5"/>`, class, from+int(k)*12, y)
		}
	} else {
		p.text("m", x+owedWide/2, y+4, fmt.Sprintf("%d of %d", b.Pending, b.Arrives))
	}
	if !tx {
		return
	}
	class := "m q"
	if b.Tx != 0 {
		class = "m h"
	}
	p.text(class, x+owedWide+txWide/2, y+4, diag.Group(int64(b.Tx)))
}

// thin draws who waits, or a copy that is under way, as a bar over the commands during which it is.
func (p *movesPicture) thin(who string, of func(*script.Move) []string, x int) {
	waits := p.waits(who)
	word, class := "copy", "fill"
	if waits {
		word, class = "waits", "wait"
	}
	p.text("m", x+thinWide/2, 26, clip(who, thinWide-6))
	p.text("q m", x+thinWide/2, 52, word)
	for i := 0; i < len(p.moves); i++ {
		if !slices.Contains(of(&p.moves[i]), who) {
			continue
		}
		first := i
		for i+1 < len(p.moves) && slices.Contains(of(&p.moves[i+1]), who) {
			i++
		}
		from, to := p.y(first), p.y(i)+moveHigh/2
		if i+1 < len(p.moves) {
			to = p.y(i + 1)
		}
		p.add(`<rect class="%s" x="%d" y="%d" width="16" height="%d" rx="3"/>`, class, x+thinWide/2-8, from, to-from)
	}
}

// expects reports whether an mbarrier ever has a tx-count.
func (p *movesPicture) expects(name string) bool {
	for i := range p.moves {
		if b, ok := p.state(i, name); ok && b.Tx != 0 {
			return true
		}
	}
	return false
}

// answer is what a test comes out as; empty for other commands.
func answer(m *script.Move) string {
	for _, l := range m.Says {
		for _, word := range []string{"true", "false"} {
			if strings.HasPrefix(l, word+":") {
				return word
			}
		}
	}
	return ""
}

func (p *movesPicture) answers(x int) {
	p.text("q m", x+thinWide/2, 52, "answer")
	for i := range p.moves {
		if a := answer(&p.moves[i]); a != "" {
			p.text("h m", x+thinWide/2, p.y(i)+4, a)
		}
	}
}

func (p *movesPicture) waits(who string) bool {
	return slices.ContainsFunc(p.moves, func(m script.Move) bool { return slices.Contains(m.Waits, who) })
}
