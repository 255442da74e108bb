package picture

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"muster/internal/diag"
	"muster/report"
)

// The layout of a finding's picture.
const (
	laneLeft  = 74
	mostLanes = 5
	stepHigh  = 28
	gapHigh   = 22
	lineWide  = 46 // of the numbers of lines
	mostSteps = 14
	findWidth = 860
)

// A findingPicture is a picture of a finding that is being drawn.
type findingPicture struct {
	drawing
	f     *report.Finding
	lanes []string
	laneW int
	file  string // of all places; empty if they are of several
	y     int
	sites [][2]int // where the places are drawn
}

// Finding draws a finding among the steps of its story: a line for each warp and operation, time
// from top to bottom, both places and the edge that is missing between them.
func Finding(w io.Writer, f *report.Finding, told *report.Story) error {
	p := &findingPicture{f: f}
	p.drawing.width = findWidth
	p.title = fmt.Sprintf("%s: %s", f.Kind, f.Headline)
	p.head()
	rows := choose(told.Steps)
	for _, s := range rows {
		if s.Choice != "" && !slices.Contains(p.lanes, lane(s)) && len(p.lanes) < mostLanes {
			p.lanes = append(p.lanes, lane(s))
		}
	}
	if p.laneW = 96; len(p.lanes) > 3 {
		p.laneW = 78
	}
	p.file = fileOf(rows)
	top := p.columns()
	var b strings.Builder
	at := p.y
	// Lifelines lie below everything else, so that the steps are laid out first.
	body := &findingPicture{drawing: drawing{width: findWidth}, lanes: p.lanes, laneW: p.laneW, file: p.file, y: at}
	for i := range rows {
		body.step(rows[i], &b)
	}
	for i := range p.lanes {
		p.path("life", fmt.Sprintf("M%d %dV%d", p.lane(i), top, body.y))
	}
	p.y, p.sites = body.y, body.sites
	p.edge()
	p.b.WriteString(body.b.String())
	p.foot()
	p.desc = b.String() + "Missing: " + f.Missing
	p.drawing.height = p.y + 4
	_, err := p.WriteTo(w)
	return err
}

func (p *findingPicture) head() {
	p.y = 26
	p.text("h l bad", 16, p.y, fmt.Sprintf("%s[%s]", p.f.Severity, p.f.Kind))
	for _, l := range lines(p.f.Headline, findWidth-32, 3) {
		p.y += 18
		p.text("", 16, p.y, l)
	}
	p.y += 16
}

// lines breaks a text to a width in pixels.
func lines(text string, width, most int) []string {
	room := width * 10 / 66
	list := diag.Wrap(diag.Printable(text), room, room)
	if len(list) > most {
		list = list[:most]
		list[most-1] = clip(list[most-1]+" …", width)
	}
	return list
}

func (p *findingPicture) lane(i int) int { return laneLeft + i*p.laneW + p.laneW/2 }

// columns names the lanes.
func (p *findingPicture) columns() int {
	p.y += 12
	p.text("q e", laneLeft-16, p.y, "step")
	several := false
	for _, name := range p.lanes {
		_, cta, _ := strings.Cut(name, " (")
		_, first, _ := strings.Cut(p.lanes[0], " (")
		several = several || cta != first
	}
	for i, name := range p.lanes {
		name, cta, _ := strings.Cut(name, " (")
		p.text("h m", p.lane(i), p.y, clip(name, p.laneW))
		if several && cta != "" {
			p.text("q m", p.lane(i), p.y+15, "("+cta)
		}
	}
	if p.file != "" {
		p.text("q", p.right(), p.y, clip("lines are of "+filepath.Base(p.file), findWidth-p.right()))
	}
	if p.y += 8; several {
		p.y += 14
	}
	return p.y
}

// fileOf returns the file of all places of some steps; empty if there are several.
func fileOf(steps []*report.Step) (file string) {
	for _, s := range steps {
		i := strings.LastIndexByte(s.Where, ':')
		switch {
		case i < 0:
		case file == "":
			file = s.Where[:i]
		case file != s.Where[:i]:
			return ""
		}
	}
	return file
}

// lane is who takes a step, without its lanes.
func lane(s *report.Step) string {
	who, _, _ := strings.Cut(s.Who, ", lane")
	if _, rest, ok := strings.Cut(who, "), "); ok && strings.HasPrefix(who, "CTA (") {
		cta := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(who, rest), "CTA "), ", ")
		who = rest + " " + cta
	}
	return who
}

// choose returns the steps to draw: the places of the finding, what is told between them, and a
// little before. Where they are too many, those that come last before a place stay.
func choose(steps []report.Step) (list []*report.Step) {
	first, last := -1, -1
	for i := range steps {
		if steps[i].Choice != "" && steps[i].Role != "" {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		first, last = max(0, len(steps)-mostSteps), len(steps)-1
	}
	for i := max(0, first-2); i <= min(last+1, len(steps)-1); i++ {
		list = append(list, &steps[i])
	}
	for len(list) > mostSteps {
		i := slices.IndexFunc(list[1:], func(s *report.Step) bool { return s.Role == "" && s.Choice != "" })
		if i < 0 {
			break
		}
		// It becomes a part of what is left out.
		gap := *list[i+1]
		gap.Choice = ""
		list[i+1] = &gap
		list = joined(list)
		if !slices.ContainsFunc(list, func(s *report.Step) bool { return s.Role == "" && s.Choice != "" }) {
			break
		}
	}
	return joined(list)
}

// joined joins stretches that follow each other.
func joined(list []*report.Step) (out []*report.Step) {
	for _, s := range list {
		if n := len(out) - 1; n >= 0 && s.Choice == "" && out[n].Choice == "" {
			gap := *out[n]
			gap.Last = s.Last
			out[n] = &gap
			continue
		}
		out = append(out, s)
	}
	return out
}

// step draws one step, and says it.
func (p *findingPicture) step(s *report.Step, words *strings.Builder) {
	if s.Choice == "" {
		p.y += gapHigh
		n := s.Last - s.First + 1
		p.text("q e", laneLeft-16, p.y, "⋮")
		p.text("q", p.right(), p.y, diag.Plural(n, "step"))
		return
	}
	p.y += stepHigh
	i := slices.Index(p.lanes, lane(s))
	x, y := p.lane(max(0, i)), p.y-4
	does, where, wideWhere := strings.Join(s.Does, "; "), filepath.Base(s.Where), 130
	if p.file != "" {
		does, where, wideWhere = strings.ReplaceAll(does, " "+p.file+":", " :"), strings.TrimPrefix(s.Where, p.file), lineWide
	}
	room := findWidth - p.right() - 20
	p.text("q e", laneLeft-16, p.y, fmt.Sprint(s.First))
	fmt.Fprintf(words, "Step %d, %s: %s. ", s.First, s.Who, does)
	class := "q"
	if s.Role != "" {
		p.sites = append(p.sites, [2]int{x, y})
		p.add(`<rect class="box" x="%d" y="%d" width="%d" height="%d" rx="4"/>`, p.right()-8, p.y-17, room+16, 24)
		class = "bad"
	}
	p.text(class+" c", p.right(), p.y, clip(where, wideWhere-10))
	p.text("", p.right()+wideWhere, p.y, clip(does, room-wideWhere))
	switch {
	case i < 0:
		p.text("q", laneLeft, p.y, clip(s.Who, p.laneW))
	case s.Role != "":
		p.add(`<circle class="early" cx="%d" cy="%d" r="9"/>`, x, y)
		p.text("h on m", x, y+4, fmt.Sprint(len(p.sites)))
	default:
		p.add(`<circle class="dot" cx="%d" cy="%d" r="4"/>`, x, y)
	}
}

// right is where the texts begin.
func (p *findingPicture) right() int { return laneLeft + max(1, len(p.lanes))*p.laneW + 16 }

// edge draws the edge that is missing between the first two places.
func (p *findingPicture) edge() {
	if len(p.sites) < 2 || p.f.Missing == "" {
		return
	}
	a, b := p.sites[0], p.sites[1]
	if a[0] == b[0] {
		bow := min(46, 16+(b[1]-a[1])/4)
		p.path("edge", fmt.Sprintf("M%d %dC%d %d %d %d %d %d", a[0], a[1], a[0]-bow, a[1]+10, b[0]-bow, b[1]-10, b[0], b[1]))
		return
	}
	p.path("edge", fmt.Sprintf("M%d %dL%d %d", a[0], a[1], b[0], b[1]))
}

// foot says what is missing, and what mends it.
func (p *findingPicture) foot() {
	p.y += 14
	for _, t := range []struct{ class, name, text string }{{"h bad", "missing", p.f.Missing}, {"h", "fix", p.f.Fix}} {
		if t.text == "" {
			continue
		}
		p.y += 6
		for i, l := range lines(t.text, findWidth-laneLeft-24, 4) {
			p.y += 18
			if i == 0 {
				p.text(t.class+" e", laneLeft-10, p.y, t.name)
			}
			p.text("", laneLeft, p.y, l)
		}
	}
	p.y += 12
}
