package launch

import (
	"fmt"
	"strings"
)

// Pos is a place in a launch file. Line and column count from 1, columns in bytes. Line 0
// means a place without a text: File then names the flag.
type Pos struct {
	File      string
	Line, Col int
}

// String returns file:line:col, or File alone where there is no line.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// An Error is a mistake in a launch file, in a flag or in a file that it names. It is bad
// input, never a finding.
type Error struct {
	Pos
	Msg string
	Err error // the cause, if it was another error
}

func (e *Error) Error() string {
	if e.File == "" && e.Line == 0 {
		return e.Msg
	}
	return e.Pos.String() + ": " + e.Msg
}

// Unwrap returns the cause, for errors.Is on file errors.
func (e *Error) Unwrap() error { return e.Err }

func errorf(p Pos, format string, args ...any) *Error {
	err := &Error{Pos: p, Msg: fmt.Sprintf(format, args...)}
	for _, a := range args {
		if cause, ok := a.(error); ok {
			err.Err = cause
		}
	}
	return err
}

// suggest returns ` (did you mean "x"?)` for the known word nearest to got, or "" if none
// is near.
func suggest(got string, known []string) string {
	const tooLong = 64
	if len(got) > tooLong {
		return ""
	}
	best, bestDist := "", 1+max(1, len(got)/3)
	for _, k := range known {
		if d := editDistance(strings.ToLower(got), k); d < bestDist {
			best, bestDist = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// editDistance counts insertions, deletions, substitutions and transpositions of
// neighbours.
func editDistance(a, b string) int {
	var before, prev, cur []int
	prev = make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur = make([]int, len(b)+1)
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev = prev, cur
	}
	return prev[len(b)]
}

// quote quotes a word of the input, shortened to keep an error on one line.
func quote(s string) string {
	const longest = 40
	if len(s) > longest {
		return fmt.Sprintf("%q…", s[:longest])
	}
	return fmt.Sprintf("%q", s)
}
