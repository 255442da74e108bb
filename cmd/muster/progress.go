package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/term"

	"muster"
	"muster/internal/progress"
)

// A clock is what the display of progress goes by.
type clock struct {
	now func() time.Time
	// tick returns a channel that delivers the time now and then, and a function that ends
	// that.
	tick func(every time.Duration) (<-chan time.Time, func())
}

var realClock = clock{time.Now, func(every time.Duration) (<-chan time.Time, func()) {
	t := time.NewTicker(every)
	return t.C, t.Stop
}}

const (
	// rewritten is how often the line of a terminal is looked at, patience how long a command
	// lasts before it has one.
	rewritten = 200 * time.Millisecond
	patience  = 500 * time.Millisecond
)

// A display shows the progress of a command on standard error: on a terminal in one line that
// is rewritten, and is gone before anything else is written; else in a line now and then. The
// methods of a nil display show nothing.
type display struct {
	to    io.Writer
	clock clock
	width func() int // columns of the terminal; nil: it is none
	limit time.Duration
	begun time.Time
	ended chan struct{}

	mu    sync.Mutex
	of    muster.Progress
	at    time.Time // when of was told
	shown string    // what the terminal's line has
	open  bool      // a line of the output is not complete
	gone  bool
}

// show begins to show the progress of a command that has so much time.
func (c *console) show(limit time.Duration) *display {
	d := &display{to: c.err, clock: c.clock, limit: limit, ended: make(chan struct{})}
	if d.clock.now == nil {
		d.clock = realClock
	}
	every := apart
	if d.width = c.columns; d.width != nil {
		every = rewritten
	}
	d.begun = d.clock.now()
	d.of, d.at = muster.Progress{Stage: "reading"}, d.begun
	tick, stop := d.clock.tick(every)
	go func() {
		defer stop()
		for {
			select {
			case now := <-tick:
				d.tick(now)
			case <-d.ended:
				return
			}
		}
	}()
	return d
}

// tell takes what the work tells.
func (d *display) tell(p muster.Progress) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.of, d.at = p, d.clock.now()
}

// tick shows what was told last.
func (d *display) tick(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch text := d.text(now); {
	case d.gone:
	case d.width == nil:
		fmt.Fprintln(d.to, "muster: "+text)
	case d.open || now.Sub(d.begun) < patience:
	default:
		if text = fit(text, d.width()-1); text != d.shown {
			fmt.Fprint(d.to, "\r\x1b[K"+text)
			d.shown = text
		}
	}
}

// text is the line: how much of the time is used, the stage, and its budgets.
func (d *display) text(now time.Time) string {
	used, limit := now.Sub(d.begun), d.limit
	if d.of.MaxTime > 0 {
		used, limit = d.of.Time+now.Sub(d.at), d.of.MaxTime
	}
	return printableLine(fmt.Sprintf("%s of %s: %s", progress.Short(used.Truncate(time.Second)), progress.Short(limit), d.of))
}

// printableLine replaces what would move a terminal's cursor.
func printableLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, text)
}

// budgets are numbers of budgets: so much of so much.
var budgets = regexp.MustCompile(`([0-9]\S*) of (?:at most )?([0-9])`)

// fit shortens a line to so many columns: first how budgets are written, then it is cut, and not
// within a number: half of one is another.
func fit(text string, columns int) string {
	const dots = "..."
	r := []rune(text)
	if len(r) > columns {
		r = []rune(budgets.ReplaceAllString(text, "$1/$2"))
	}
	if len(r) <= columns {
		return string(r)
	}
	room := max(columns-len(dots), 0)
	cut := string(r[:room])
	if strings.ContainsRune(digits, r[room]) {
		cut = strings.TrimRight(cut, digits)
	}
	return cut + dots[:min(max(columns, 0), len(dots))]
}

// digits are what numbers are written with.
const digits = "0123456789,"

// clear takes the line off the terminal. Its caller holds d.mu.
func (d *display) clear() {
	if d.shown != "" {
		fmt.Fprint(d.to, "\r\x1b[K")
		d.shown = ""
	}
}

// end ends the display.
func (d *display) end() {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.clear(); !d.gone {
		d.gone = true
		close(d.ended)
	}
}

// write writes output to w, with no line of progress in its way.
func (d *display) write(w io.Writer, data []byte) (int, error) {
	if d == nil {
		return w.Write(data)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.clear()
	if len(data) > 0 {
		d.open = data[len(data)-1] != '\n'
	}
	return w.Write(data)
}

// A beside writes to standard error, with no line of progress in its way.
type beside struct{ c *console }

func (b beside) Write(data []byte) (int, error) { return b.c.display.write(b.c.err, data) }

// columnsOf returns what tells how many columns a terminal has; nil if w is none, or one that
// cannot rewrite a line.
func columnsOf(w io.Writer) func() int {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func() int {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
		return 80
	}
}
