package mbarriertest

import (
	"runtime"
	"strings"

	"muster/mbarrier/internal/history"
)

// most bytes of stacks that are read: some 60,000 goroutines.
const mostStacks = 64 << 20

// A stack is a goroutine that is left, as the runtime shows it.
type stack struct {
	history.Head
	at      history.Place // the innermost function that is the program's
	root    string        // the outermost one
	started history.Place
}

// stacks reads those of a bubble. The form of the text is not promised: what cannot be read is left out.
func stacks(bubble string) []stack {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) || len(buf) >= mostStacks {
			return parseStacks(string(buf[:n]), bubble)
		}
		buf = make([]byte, 4*len(buf))
	}
}

func parseStacks(text, bubble string) (all []stack) {
	for one := range strings.SplitSeq(text, "\n\n") {
		head, frames, _ := strings.Cut(one, "\n")
		s := stack{Head: history.ParseHead(head)}
		if s.ID == "" || s.Bubble != bubble {
			continue
		}
		lines := strings.Split(frames, "\n")
		for i := 0; i+1 < len(lines); i += 2 {
			if strings.HasPrefix(lines[i], "created by ") || strings.HasPrefix(lines[i], "...") {
				break
			}
			name := lines[i]
			if p := strings.LastIndexByte(name, '('); p > 0 {
				name = name[:p]
			}
			if history.Library(name) {
				continue
			}
			if s.root = name; s.at.Function == "" {
				s.at = history.At(lines[i+1])
				s.at.Function = name
			}
		}
		s.started = history.Creator("\n" + one)
		all = append(all, s)
	}
	return all
}

// short is a function's name without the path of its package.
func short(function string) string { return function[strings.LastIndexByte(function, '/')+1:] }
