package picture

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"muster/internal/diag"
)

// About says what a picture is of.
type About struct {
	Kernel, Schedule string
	Finding          string // what its marks are places of; empty for none
	Steps            int
	Cut              string // why it ends before the run; empty if it does not
}

// The layout of a run's picture.
const (
	runWidth = 860
	plotLeft = 132
	plotWide = runWidth - plotLeft - 24
	rowHigh  = 16
	barHigh  = 12
	slotHigh = 64 // of the chart of slots
	byteHigh = 64
)

// A runPicture is a picture of a run that is being drawn.
type runPicture struct {
	drawing
	of     *cta
	about  About
	width  int64 // steps of a column
	n      int   // columns
	y      int
	panels []int // from and to of what the finding's lines cross
}

// Write draws the run.
func (r *Recorder) Write(w io.Writer, about About) error {
	p := &runPicture{of: r.shown(), about: about, width: widthFor(int64(about.Steps))}
	p.n = int((int64(about.Steps) + p.width - 1) / p.width)
	p.drawing.width = runWidth
	c := p.of
	if c.bytes != nil {
		c.bytes.set(0, int64(about.Steps))
	}
	byRank := func(a, b *row) int { return cmp.Compare(a.rank, b.rank) }
	slices.SortStableFunc(c.slots, byRank)
	slices.SortStableFunc(c.warps, byRank)
	p.head(r.count)
	p.warps()
	p.slots()
	p.bytes()
	p.steps()
	p.sites()
	p.words()
	p.drawing.height = p.y + 12
	_, err := p.WriteTo(w)
	return err
}

func (p *runPicture) head(ctas int) {
	what := diag.Printable(p.about.Kernel)
	if ctas > 1 {
		what += ", " + p.of.name
	}
	p.y = 26
	p.text("h l", 16, p.y, clip(what, 480))
	p.text("q e", runWidth-16, p.y, clip("schedule "+p.about.Schedule, 300))
	p.title = fmt.Sprintf("%s in schedule %s: %s", what, clip(p.about.Schedule, 400), diag.Plural(p.about.Steps, "step"))
	p.y += 12
}

// scaled opens a group in which a column is one wide.
func (p *runPicture) scaled(y int) {
	p.add(`<g transform="translate(%d %d) scale(%s 1)">`, plotLeft, y, decimal(float64(plotWide)/float64(max(1, p.n))))
}

func decimal(f float64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.4f", f), "0"), ".")
}

// legend writes what the shapes mean, at the right of a panel's title.
func (p *runPicture) legend(classes, names []string) {
	x := runWidth - 24
	for i := len(names) - 1; i >= 0; i-- {
		x -= wide(names[i])
		p.text("q", x, p.y, names[i])
		x -= 18
		p.rect(classes[i], x, p.y-10, 12, 11)
		x -= 14
	}
}

// bars draws a row: how long it was what in each column, stacked.
func (p *runPicture) bars(r *row, classes []string) {
	p.text("c e", plotLeft-8, p.y+barHigh-2, clipMiddle(strings.TrimPrefix(r.name, "slot of "), plotLeft-24))
	p.scaled(p.y)
	lower := make([]int, p.n)
	for k, class := range classes {
		if class == "early" { // on top of what the slot is
			clear(lower)
		}
		height := make([]int, p.n)
		s := r.is[k].over(p.width)
		for i := range height {
			height[i] = min(barHigh-lower[i], int((s.sums[i]*barHigh+p.width/2)/p.width))
			if height[i] == 0 && s.sums[i] > 0 && lower[i] < barHigh {
				height[i] = 1
			}
		}
		p.path(class, area(lower, height, barHigh))
		for i := range lower {
			lower[i] += height[i]
		}
	}
	p.add("</g>")
	p.y += rowHigh
}

func (p *runPicture) panel(title string, classes, names []string) {
	p.y += 22
	p.text("h", 16, p.y, title)
	p.legend(classes, names)
	p.y += 8
}

func (p *runPicture) warps() {
	if len(p.of.warps) == 0 {
		return
	}
	p.panel("Warps", []string{"step", "wait"}, []string{"takes a step", "waits"})
	from := p.y
	for _, w := range p.of.warps {
		p.bars(w, []string{"step", "wait"})
	}
	p.panels = append(p.panels, from, p.y)
}

func (p *runPicture) slots() {
	if len(p.of.slots) == 0 {
		return
	}
	classes, names := stateClasses[:], stateNames[:]
	if !slices.ContainsFunc(p.of.slots, func(r *row) bool { return r.total[early] > 0 }) {
		classes, names = classes[:early], names[:early]
	}
	p.panel("Slots", classes, names)
	from := p.y
	for _, s := range p.of.slots {
		p.bars(s, classes)
	}
	p.panels = append(p.panels, from, p.y)
	title := "How many slots"
	if n := len(p.of.slots); n == mostSlots {
		title = fmt.Sprintf("How many of these %d slots", n)
	}
	p.panel(title, nil, nil)
	p.y += 8
	p.stack()
}

// stack draws how many slots are what.
func (p *runPicture) stack() {
	n := len(p.of.slots)
	p.grid(slotHigh, int64(n), "")
	p.scaled(p.y)
	lower := make([]int, p.n)
	sums := make([]int64, p.n)
	for k := range early {
		height := make([]int, p.n)
		for i := range height {
			for _, s := range p.of.slots {
				sums[i] += s.is[k].over(p.width).sums[i]
			}
			top := int((sums[i]*slotHigh + p.width*int64(n)/2) / (p.width * int64(n)))
			height[i] = max(0, min(top, slotHigh)-lower[i])
		}
		p.path(stateClasses[k], area(lower, height, slotHigh))
		for i := range lower {
			lower[i] += height[i]
		}
	}
	p.add("</g>")
	p.panels = append(p.panels, p.y, p.y+slotHigh)
	p.y += slotHigh
}

// grid draws the axis of a chart up to a number.
func (p *runPicture) grid(high int, most int64, unit string) {
	for _, k := range []int64{0, 1, 2} {
		if most%2 != 0 && k == 1 {
			continue
		}
		y := p.y + high - int(int64(high)*k/2)
		p.path("rule", fmt.Sprintf("M%d %d.5h%d", plotLeft, y, plotWide))
		p.text("q e", plotLeft-8, y+4, diag.Group(most*k/2)+unit)
	}
}

func (p *runPicture) bytes() {
	c := p.of.bytes
	if c == nil || c.most == 0 {
		return
	}
	p.panel("Bytes in flight", nil, nil)
	p.y += 8
	p.grid(byteHigh, c.most, "")
	p.scaled(p.y)
	lower, height := make([]int, p.n), make([]int, p.n)
	s := c.over(p.width)
	for i := range height {
		height[i] = int((s.sums[i]*byteHigh + p.width*c.most/2) / (p.width * c.most))
	}
	p.path("flight", area(lower, height, byteHigh))
	p.add("</g>")
	p.panels = append(p.panels, p.y, p.y+byteHigh)
	p.y += byteHigh
}

// steps draws the axis of time.
func (p *runPicture) steps() {
	p.y += 6
	all := int64(p.n) * p.width
	if all == 0 {
		return
	}
	each := int64(1)
	for each*8 < all {
		if leading(each) == 2 {
			each = each / 2 * 5
		} else {
			each *= 2
		}
	}
	p.path("axis", fmt.Sprintf("M%d %d.5h%d", plotLeft, p.y, plotWide))
	for at := int64(0); at <= all; at += each {
		x := p.x(at)
		p.path("axis", fmt.Sprintf("M%d.5 %dv4", x, p.y))
		class := "q m"
		if x > runWidth-50 {
			class = "q e"
		}
		p.text(class, x, p.y+17, diag.Group(at))
	}
	p.text("q e", plotLeft-8, p.y+17, "step")
	p.y += 20
}

func leading(n int64) int64 {
	for n >= 10 {
		n /= 10
	}
	return n
}

func (p *runPicture) x(time int64) int {
	return plotLeft + int(time*int64(plotWide)/(int64(max(1, p.n))*p.width))
}

// sites draws the places of the finding: a line through all panels, with a number.
func (p *runPicture) sites() {
	if len(p.of.sites) == 0 {
		return
	}
	slices.SortStableFunc(p.of.sites, func(a, b site) int { return cmp.Compare(a.time, b.time) })
	for i, s := range p.of.sites {
		x := p.x(s.time)
		for k := 0; k < len(p.panels); k += 2 {
			p.path("edge", fmt.Sprintf("M%d.5 %dV%d", x, p.panels[k]-2, p.panels[k+1]+2))
		}
		p.add(`<circle class="early" cx="%d" cy="%d" r="7"/>`, x, p.panels[0]-8)
		p.text("h on m", x, p.panels[0]-4, fmt.Sprint(i+1))
	}
	p.y += 16
	for i, s := range p.of.sites {
		p.text("bad", plotLeft, p.y, clip(fmt.Sprintf("%d  %s, step %s", i+1, s.name, diag.Group(s.site)), plotWide))
		p.y += 17
	}
}

// words writes what no picture shows, and all of it in words.
func (p *runPicture) words() {
	p.y += 16
	note := "A step is what follows what, and no time of a card."
	if p.width > 1 {
		note += fmt.Sprintf(" A column is %d steps, and shows their average.", p.width)
	}
	if p.about.Cut != "" {
		note += " The picture ends before the run."
	}
	p.text("q", plotLeft, p.y, clip(note, plotWide))
	if p.of.more > 0 {
		more := fmt.Sprintf("%s more are not shown.", diag.Plural(p.of.more, "row"))
		p.y += 16
		p.text("q", plotLeft, p.y, more)
		note += " " + more
	}
	var b strings.Builder
	for _, w := range p.of.warps {
		fmt.Fprintf(&b, "%s takes %s and waits for %d. ", w.name, diag.Plural(int(w.total[read]), "step"), w.total[full])
	}
	for _, s := range p.of.slots {
		fmt.Fprintf(&b, "The %s is filling for %s, full for %d and being read for %d. ", s.name, diag.Plural(int(s.total[filling]), "step"), s.total[full], s.total[read])
		if n := s.total[early]; n > 0 {
			fmt.Fprintf(&b, "In %s it is read while a copy is in flight. ", diag.Plural(int(n), "step"))
		}
	}
	if c := p.of.bytes; c != nil {
		fmt.Fprintf(&b, "At most %s bytes are in flight, after step %s. ", diag.Group(c.most), diag.Group(c.after))
	}
	for i, s := range p.of.sites {
		fmt.Fprintf(&b, "Place %d of the finding: %s, in step %d. ", i+1, s.name, s.site)
	}
	p.desc = b.String() + note
}
