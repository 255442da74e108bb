package history

import (
	"runtime"
	"strconv"
	"strings"
)

// A Head is what the first line of a goroutine's stack says: 'goroutine 18 [running, synctest bubble 5]:'.
// That line is the one place where the runtime names a goroutine's number and its bubble. Its form is not
// promised: what is not there stays empty.
type Head struct {
	ID, State, Bubble, Labels string
}

// Self returns the calling goroutine's.
func Self() Head {
	var buf [256]byte
	line, _, _ := strings.Cut(string(buf[:runtime.Stack(buf[:], false)]), "\n")
	return ParseHead(line)
}

// ParseHead reads the line.
func ParseHead(line string) (h Head) {
	rest, ok := strings.CutPrefix(line, "goroutine ")
	if !ok {
		return h
	}
	h.ID, rest, _ = strings.Cut(rest, " ")
	if i := strings.IndexByte(rest, '['); i >= 0 {
		rest = rest[i+1:]
	}
	if i := strings.LastIndexByte(rest, ']'); i >= 0 {
		rest = rest[:i]
	}
	rest, h.Labels, _ = strings.Cut(rest, " labels:{")
	h.Labels = strings.TrimSuffix(h.Labels, "}")
	for i, part := range strings.Split(rest, ", ") {
		if i == 0 {
			h.State = part
		} else if b, ok := strings.CutPrefix(part, "synctest bubble "); ok {
			h.Bubble = b
		}
	}
	return h
}

// Born describes the calling goroutine, whose head is given: where it began, and who started it.
func Born(self Head) Goroutine {
	g := Goroutine{ID: self.ID, Label: label(self.Labels)}
	buf := make([]byte, 32<<10) // a stack is at most 100 frames
	g.Started = Creator(string(buf[:runtime.Stack(buf, false)]))
	var pcs [512]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for {
		f, more := frames.Next()
		if f.Function != "" && !Library(f.Function) {
			g.Root, g.File, g.Line, g.Begins = f.Function, f.File, f.Line, f.Func != nil
			if g.Begins {
				_, g.Line = f.Func.FileLine(f.Entry)
			}
		}
		if !more {
			return g
		}
	}
}

// label takes a name out of profiler labels, as tracebacklabels=1 shows them: '"name": "producer", ...'.
func label(labels string) string {
	for _, key := range []string{"name", "goroutine"} {
		if _, rest, ok := strings.Cut(labels, `"`+key+`": "`); ok {
			value, _, _ := strings.Cut(rest, `"`)
			return Cut(value, maxName)
		}
	}
	return ""
}

// Creator returns the place of the go statement that a stack names, if it is not that of sync.WaitGroup.Go or
// of package testing, which do not say by whom.
func Creator(stack string) (p Place) {
	i := strings.LastIndex(stack, "\ncreated by ")
	if i < 0 {
		return p
	}
	by, place, _ := strings.Cut(stack[i+len("\ncreated by "):], "\n")
	by, _, _ = strings.Cut(by, " in goroutine ")
	if Library(by) {
		return p
	}
	p = At(place)
	p.Function = by
	return p
}

// At reads the second line of a frame: its file and line.
func At(line string) (p Place) {
	line, _, _ = strings.Cut(strings.TrimSpace(line), "\n")
	if i := strings.LastIndex(line, " +0x"); i >= 0 {
		line = line[:i]
	}
	i := strings.LastIndexByte(line, ':')
	if i < 0 {
		return p
	}
	p.File = line[:i]
	p.Line, _ = strconv.Atoi(line[i+1:])
	return p
}

// Library reports whether a function is the runtime's, one of the packages through which goroutines are
// started and wait, or this module's barrier.
func Library(function string) bool {
	if strings.HasPrefix(function, "muster/mbarrier.") || strings.HasPrefix(function, "muster/mbarrier/internal/") || strings.HasPrefix(function, "muster/mbarrier/mbarriertest.") {
		return true
	}
	if strings.Contains(function, ".gowrap") { // what a go statement with arguments makes
		return true
	}
	pkg, _, _ := strings.Cut(function[strings.LastIndexByte(function, '/')+1:], ".")
	switch pkg {
	case "runtime", "sync", "testing", "synctest", "atomic", "errgroup":
		return true
	}
	return false
}
