package main

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"muster"
)

// handed is a clock that a test moves.
func handed(at *time.Time, ticks <-chan time.Time, every *time.Duration) clock {
	return clock{func() time.Time { return *at }, func(d time.Duration) (<-chan time.Time, func()) {
		if every != nil {
			*every = d
		}
		return ticks, func() {}
	}}
}

// TestProgressLines: where nobody sees a line being rewritten there is one every 30 seconds,
// with what is used of the time since the stage told.
func TestProgressLines(t *testing.T) {
	at, every := time.Unix(1000, 0), time.Duration(0)
	var out bytes.Buffer
	c := &console{err: &out, clock: handed(&at, nil, &every)}
	d := c.show(10 * time.Minute)
	if every != 30*time.Second {
		t.Errorf("a line every %v", every)
	}
	at = at.Add(30 * time.Second)
	d.tick(at)
	d.tell(muster.Progress{Stage: "exploring", Schedules: 7, MaxSchedules: 1000, Time: 29 * time.Second, MaxTime: 5 * time.Minute})
	at = at.Add(30 * time.Second)
	d.tick(at)
	d.write(&out, []byte("report\n"))
	d.end()
	d.tick(at) // of a ticker that has not stopped yet
	want := "muster: 30s of 10m: reading\nmuster: 59s of 5m: exploring: 7 of at most 1,000 schedules\nreport\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestProgressLine: on a terminal there is one line, as wide as that at most, which is
// rewritten if it says something else, comes only to commands that last, and is gone before
// anything else is written; not amid a line of output.
func TestProgressLine(t *testing.T) {
	at := time.Unix(1000, 0)
	var out bytes.Buffer
	c := &console{err: &out, clock: handed(&at, nil, nil), columns: func() int { return 40 }}
	d := c.show(10 * time.Minute)
	d.tick(at)
	at = at.Add(time.Second)
	d.tell(muster.Progress{Stage: "proof\x1b[2J by one run\n", Part: "cluster", Of: 1000})
	d.tick(at)
	d.tick(at)
	d.write(&out, []byte("half"))
	d.tick(at)
	d.write(&out, []byte(" a line\n"))
	d.tick(at)
	d.end()
	line := "\r\x1b[K1s/10m: proof?[2J by one run?: clust..."
	if want := line + "\r\x1b[Khalf a line\n" + line + "\r\x1b[K"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	for columns, want := range map[int]string{-1: "", 0: "", 2: "..", 5: "mu...", 9: "muster: x", 20: "muster: x"} {
		if got := fit("muster: x", columns); got != want {
			t.Errorf("%d columns: %q", columns, got)
		}
	}
	for columns, want := range map[int]string{12: "0 of 1,024 x", 11: "0/1,024 x", 9: "0/1,024 x", 8: "0/..."} {
		if got := fit("0 of 1,024 x", columns); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
}

// A shared buffer is a terminal to which standard output and standard error go.
type shared struct {
	mu sync.Mutex
	bytes.Buffer
}

func (s *shared) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Buffer.Write(data)
}

// rendered is what a terminal shows at the end: a line is erased where that is asked for.
func rendered(text string) string {
	var b strings.Builder
	for _, line := range strings.SplitAfter(text, "\n") {
		if i := strings.LastIndex(line, "\r\x1b[K"); i >= 0 {
			line = line[i+len("\r\x1b[K"):]
		}
		b.WriteString(line)
	}
	return b.String()
}

// TestProgressLeavesNothing: with a clock that runs as fast as it can, and a terminal that
// shows both, all that is left is what a command writes without progress.
func TestProgressLeavesNothing(t *testing.T) {
	for name, args := range map[string][]string{
		"explored": cmdline("check", ticketLaunch(t, 5, 1), "--schedules", "100"),
		"findings": {"check", "../../examples/ring/broken_count.yaml"},
		"story":    {"replay", "../../examples/ring/broken_count.yaml", "--schedule", "latest"},
		"mutants":  {"mutate", "../../examples/ring/ring.yaml", "--only", "wait"},
		"run":      {"run", "../../examples/ring/ring.yaml"},
		"bad":      {"check", "nowhere.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			var plain, both shared
			want := (&console{in: strings.NewReader(""), out: &plain, err: &plain}).main(append(args, "--quiet"))
			ticks, over := make(chan time.Time), make(chan struct{})
			c := &console{in: strings.NewReader(""), out: &both, err: &both, columns: func() int { return 70 }}
			c.clock = clock{time.Now, func(time.Duration) (<-chan time.Time, func()) { return ticks, func() { close(over) } }}
			go func() {
				for n := time.Duration(0); ; n += time.Second {
					select {
					case ticks <- time.Now().Add(time.Hour + n):
					case <-over:
						return
					}
				}
			}()
			status := c.main(args)
			if status != want || rendered(both.String()) != plain.String() {
				t.Errorf("exit %d, %q\nwant %d, %q", status, rendered(both.String()), want, plain.String())
			}
		})
	}
}

// TestProgressStages: what a command does is told stage by stage, for every command that may
// take long; --quiet asks for nothing.
func TestProgressStages(t *testing.T) {
	ring, wrong, parity := "../../examples/ring/ring.yaml", "../../examples/ring/broken_count.yaml", "../../examples/ring/broken_parity.yaml"
	dir := t.TempDir()
	for name, c := range map[string]struct {
		args []string
		want []string // in this order
	}{
		"proof":    {[]string{"check", ring}, []string{"proof by one run"}},
		"cost":     {[]string{"check", ring, "--cost"}, []string{"proof by one run", "the proof again", "leaving out fences and barriers one by one"}},
		"any":      {[]string{"check", ring, "--any", "3"}, []string{"proof by one run", "any ", "larger values", "smaller values"}},
		"findings": {[]string{"check", wrong}, []string{"proof by one run", "running schedules: schedule 1 of 7"}},
		"explored": {cmdline("check", ticketLaunch(t, 6, 1), "--schedules", "300"), []string{"running schedules", "exploring"}},
		"run":      {[]string{"run", ring}, []string{"running"}},
		"replay":   {[]string{"replay", wrong, "--schedule", "latest", "--steps"}, []string{"running schedules: schedule 1 of 1", "telling the run"}},
		"shrink":   {[]string{"check", wrong, "--schedule-dir", dir}, []string{"making the schedule short: run 1 of at most 1,000"}},
		"mutate":   {[]string{"mutate", ring, "--only", "wait"}, []string{"the kernel as it is: running schedules", "checking mutants: mutant 1 of "}},
		"reduce":   {[]string{"reduce", parity, "--finding", "never-completes", "--dir", dir}, []string{"looking for the finding", "looking for a smaller launch: run 1 of at most 400", "making the schedule short"}},
	} {
		t.Run(name, func(t *testing.T) {
			var told []string
			follow := func(p muster.Progress) {
				if p.MaxTime <= 0 || p.Time < 0 || p.Time > p.MaxTime {
					t.Errorf("%v: %v of %v", p, p.Time, p.MaxTime)
				}
				told = append(told, p.String())
			}
			(&console{in: strings.NewReader(""), out: io.Discard, err: io.Discard, follow: follow}).main(c.args)
			rest := strings.Join(told, "\n")
			for _, want := range c.want {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Errorf("%q is not told in\n%s", want, strings.Join(told, "\n"))
				}
				rest = after
			}
		})
	}
}
