package launch

import (
	"fmt"

	"muster/internal/diag"
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
func suggest(got string, known []string) string { return diag.Meant(diag.Nearest(got, known)) }

// quote quotes a word of the input, shortened to keep an error on one line.
func quote(s string) string {
	const longest = 40
	if len(s) > longest {
		return fmt.Sprintf("%q…", s[:longest])
	}
	return fmt.Sprintf("%q", s)
}
