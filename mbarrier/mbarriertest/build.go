package mbarriertest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"muster/mbarrier/internal/history"
)

const (
	lastSteps   = 8       // of a goroutine
	mostLine    = 200     // bytes of a line of source
	mostSource  = 4 << 20 // bytes of a file of source
	mostSources = 200     // files
)

// A builder makes a report of a record.
type builder struct {
	*Report
	record  history.Record
	places  map[Place]int
	sources map[string][]string
	sites   []call    // by the record's sites
	arrived []arrived // by barrier
	folder  string
}

// A call is what a site says: the method that was called, and from where.
type call struct {
	op    string
	place int
}

// arrived is what the kept steps show of one barrier: by goroutine, the last step of each kind.
type arrived struct {
	last, landed map[int]Step // arrivals, bytes that landed
	left         map[int]bool // dropped
	order        []int        // goroutines as they first came
}

var kinds = [...]string{
	history.Made: "made", history.Changed: "bytes", history.Dropped: "drops", history.Leaving: "leaves", history.Waits: "waits",
	history.Passed: "passes", history.Resumed: "resumes", history.GaveUp: "gives up", history.Polled: "tests", history.Refused: "panics", history.Broke: "breaks",
}

// build makes the report. left are the goroutines of the bubble that have not ended.
func build(test, failure string, record history.Record, left []stack) *Report {
	b := &builder{Report: &Report{Format: Format, Test: history.Cut(test, 1000), Failure: failure, Steps: record.Steps}, record: record, places: map[Place]int{}, sources: map[string][]string{}}
	b.folder, _ = os.Getwd()
	b.Left = Left{Barriers: record.LostBarriers, Strangers: record.LostByGoroutines}
	b.Words, b.Circles, b.Notes, b.Debts, b.Groups = []string{}, []Circle{}, []Note{}, []Debt{}, []Group{}
	for _, s := range record.Sites {
		b.sites = append(b.sites, b.call(s))
	}
	b.barriers()
	b.goroutines(left)
	b.steps()
	b.debts()
	b.circles()
	b.group()
	b.notes()
	b.words()
	return b.Report
}

func (b *builder) barriers() {
	b.Barriers = []Barrier{}
	for i, o := range b.record.Barriers {
		role := ""
		if o.Ring >= 0 {
			role = [2]string{"full", "empty"}[bit(o.Empty)]
		}
		b.Barriers = append(b.Barriers, Barrier{
			Name: o.Name, Made: b.site(o.Made.Site).place, Ring: o.Ring, Role: role,
			Phase: o.State.Phase, Pending: o.State.Pending, Expected: o.State.Expected, Tx: o.State.Tx,
		})
		if o.Name == "barrier" { // it has none
			b.Barriers[i].Name = "barrier " + strconv.Itoa(i)
		}
	}
	b.arrived = make([]arrived, len(b.Barriers))
	for i := range b.arrived {
		b.arrived[i] = arrived{map[int]Step{}, map[int]Step{}, map[int]bool{}, nil}
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (b *builder) site(i int) call {
	if i < 0 {
		return call{place: -1}
	}
	return b.sites[i]
}

// call reads a site: the last function of the barrier's package, and the first of the program.
func (b *builder) call(s history.Site) call {
	n := 0
	for n < len(s) && s[n] != 0 {
		n++
	}
	c := call{place: -1}
	frames := runtime.CallersFrames(s[:n])
	for more := n > 0; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if method, ok := strings.CutPrefix(f.Function, "muster/mbarrier."); ok {
			c.op = strings.NewReplacer("(", "", ")", "", "*", "").Replace(method)
		} else if f.Function != "" && !history.Library(f.Function) {
			c.place = b.place(Place{Function: short(f.Function), File: f.File, Line: f.Line})
			break
		}
	}
	c.op = strings.TrimPrefix(c.op, "Barrier.")
	return c
}

// place numbers a place, with its line.
func (b *builder) place(p Place) int {
	file := p.File
	if r, err := filepath.Rel(b.folder, file); err == nil && filepath.IsLocal(r) {
		p.File = filepath.ToSlash(r)
	}
	p.File, p.Function = history.Cut(p.File, 1000), history.Cut(p.Function, 400)
	i, ok := b.places[p]
	if !ok {
		i = len(b.Places)
		b.places[p] = i
		p.Text = b.line(file, p.Line)
		b.Places = append(b.Places, p)
	}
	return i
}

// begins is the line in which a goroutine's function begins. The runtime does not say it of one that was
// inlined: then it is the last line before with the word func.
func (b *builder) begins(g history.Goroutine) int {
	if g.Begins {
		return g.Line
	}
	for n := g.Line; n > 0; n-- {
		if strings.Contains(b.line(g.File, n), "func") {
			return n
		}
	}
	return g.Line
}

func (b *builder) line(file string, n int) string {
	lines, ok := b.sources[file]
	if !ok && len(b.sources) < mostSources {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Size() <= mostSource {
			if text, err := os.ReadFile(file); err == nil {
				lines = strings.Split(string(text), "\n")
			}
		}
		b.sources[file] = lines
	}
	if n < 1 || n > len(lines) {
		return ""
	}
	return history.Cut(strings.TrimSpace(lines[n-1]), mostLine)
}

// goroutines lists those of the record, and those that are left without having used a barrier.
func (b *builder) goroutines(left []stack) {
	b.Goroutines = []Goroutine{}
	alive := map[string]stack{}
	for _, s := range left {
		alive[s.ID] = s
	}
	names := []string{}
	for _, o := range b.record.Goroutines {
		g := Goroutine{Place: -1, At: -1, Started: b.begun(o.Started), State: "ended", Steps: o.Steps, Last: []int{}}
		name := o.Label
		if o.Root != "" {
			g.Place = b.place(Place{Function: short(o.Root), File: o.File, Line: b.begins(o)})
			if name == "" {
				name = b.called(g.Place)
			}
		} else if name == "" && g.Started >= 0 {
			name = b.fileLine(g.Started)
		}
		b.stands(&g, alive, o.ID)
		if w := o.Wait; w.Step != 0 && (g.State != "ended" || len(left) == 0) {
			g.State, g.Waits = "waits", &Wait{w.Barrier, w.Phase, w.Step, b.site(w.Site).place}
			if b.Barriers[w.Barrier].Phase == w.Phase {
				b.Barriers[w.Barrier].Waiting++
			}
			if g.Waits.Place < 0 {
				g.Waits.Place = g.Started
			}
			if g.At < 0 {
				g.At = g.Waits.Place
			}
		}
		b.Goroutines, names = append(b.Goroutines, g), append(names, name)
	}
	for _, s := range left {
		if _, ok := alive[s.ID]; !ok || s.root == "" || len(b.Goroutines) >= history.MaxGoroutines {
			continue // known already, or one of package testing
		}
		g := Goroutine{Place: -1, At: -1, Started: b.begun(s.started), Last: []int{}}
		b.stands(&g, alive, s.ID)
		b.Goroutines, names = append(b.Goroutines, g), append(names, literal(s.root, "goroutine "+s.root))
	}
	b.number(names)
}

// stands says where a goroutine is, and takes it off the list.
func (b *builder) stands(g *Goroutine, alive map[string]stack, id string) {
	s, ok := alive[id]
	if !ok {
		return
	}
	delete(alive, id)
	g.At = b.begun(s.at)
	g.State, g.Blocked = "blocked", strings.TrimSuffix(s.State, " (durable)")
	if s.State == "running" || s.State == "runnable" {
		g.State = "runs"
	}
}

// called names a goroutine by its function, or by the place of its literal.
func (b *builder) called(place int) string {
	p := b.Places[place]
	return literal(p.Function, b.fileLine(place))
}

// fileLine is a place's 'file:line'.
func (b *builder) fileLine(place int) string {
	return fmt.Sprintf("%s:%d", filepath.Base(b.Places[place].File), b.Places[place].Line)
}

// begun numbers a place of the runtime's, which may be none.
func (b *builder) begun(p history.Place) int {
	if p.Function == "" {
		return -1
	}
	return b.place(Place{Function: short(p.Function), File: p.File, Line: p.Line})
}

func literal(function, otherwise string) string {
	_, name, _ := strings.Cut(short(function), ".")
	if name == "" || strings.Contains(name, ".func") {
		return otherwise
	}
	return strings.NewReplacer("(", "", ")", "", "*", "", "-fm", "", "[...]", "").Replace(name)
}

// number gives names that several have a number.
func (b *builder) number(names []string) {
	count, used := map[string]int{}, map[string]int{}
	for _, n := range names {
		count[n]++
	}
	for i, n := range names {
		if n == "" {
			n = "goroutine"
		}
		if b.Goroutines[i].Name = n; count[n] > 1 {
			used[n]++
			b.Goroutines[i].Name = n + " #" + strconv.Itoa(used[n])
		}
	}
}

func (b *builder) steps() {
	b.History = []Step{}
	for _, e := range b.record.Arrivals {
		b.arrived[e.Barrier].saw(b.step(e))
	}
	for _, e := range b.record.Events {
		s := b.step(e)
		b.History = append(b.History, s)
		if e.Goroutine >= 0 {
			g := &b.Goroutines[e.Goroutine]
			if g.Last = append(g.Last, s.Step); len(g.Last) > lastSteps {
				g.Last = g.Last[1:]
			}
			b.arrived[e.Barrier].saw(s)
		}
	}
	b.Left.Steps = b.record.Steps - len(b.History)
}

func (b *builder) step(e history.Event) Step {
	s := Step{
		Step: e.Step, Kind: kinds[e.Kind], Goroutine: e.Goroutine, Barrier: e.Barrier, Place: b.site(e.Site).place, Op: b.site(e.Site).op,
		Phase: e.Phase, Arrivals: e.Count, Drops: e.Drop, Bytes: e.Bytes, Began: e.Begin, Text: e.Text, After: State(e.After),
	}
	if s.Place < 0 && e.Goroutine >= 0 { // the method itself was started
		s.Place = b.Goroutines[e.Goroutine].Started
	}
	switch {
	case e.Kind == history.Polled:
		if s.True = e.Completed; e.Times > 1 {
			s.Times = e.Times
		}
	case e.Drop > 0:
		s.Kind = "drops"
	case e.Count > 0:
		s.Kind = "arrives"
	}
	s.Completes = e.Completed && e.Kind != history.Polled
	return s
}

func (a *arrived) saw(s Step) {
	g := s.Goroutine
	switch {
	case s.Drops > 0 || s.Kind == "leaves":
		a.left[g] = true
	case s.Arrivals > 0:
		if _, ok := a.last[g]; !ok {
			a.order = append(a.order, g)
		}
		a.last[g] = s
	}
	if s.Bytes < 0 {
		a.landed[g] = s
	}
}
