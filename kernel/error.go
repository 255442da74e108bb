package kernel

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// A Place is a line of the Go program that built a kernel.
type Place struct {
	File string
	Line int
}

// String gives file:line.
func (p Place) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// An Error is a mistake in a kernel, at the line of the Go program that made
// it.
type Error struct {
	Place Place
	Msg   string
}

// Error gives one line, "file:line: msg".
func (e *Error) Error() string { return e.Place.String() + ": " + e.Msg }

// Errors are all mistakes of a kernel, in the order of their calls.
type Errors []*Error

// Error returns the mistakes, one per line, each repeated mistake once; at most the first
// ten lines.
func (l Errors) Error() string {
	var lines []string
	told := map[Error]bool{}
	for _, e := range l {
		if !told[*e] {
			told[*e] = true
			lines = append(lines, e.Error())
		}
	}
	if more := len(lines) - 10; more > 0 {
		lines = append(lines[:10], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the mistakes one by one, for errors.As.
func (l Errors) Unwrap() []error {
	out := make([]error, len(l))
	for i, e := range l {
		out[i] = e
	}
	return out
}

// fail records a mistake at the line of the user's program.
func (k *Kernel) fail(format string, args ...any) {
	k.failAt(k.here(), format, args...)
}

func (k *Kernel) failAt(at Place, format string, args ...any) {
	if k.refuses() {
		return
	}
	msg := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", `\n`) // one line only
	k.errs = append(k.errs, &Error{at, msg})
	if len(k.errs) == maxMistakes {
		k.fill("the kernel has %d mistakes; no more are kept", maxMistakes)
	}
}

// ours is the folder of this package's files. The file identifies the owner of a frame,
// since an inlined function's closure is named after the function that it was inlined
// into.
var ours = func() string {
	_, file, _, _ := runtime.Caller(0)
	return path.Dir(filepath.ToSlash(file))
}()

// here returns the line of the user's program: the innermost frame outside of this
// package.
func (k *Kernel) here() Place {
	var pcs [32]uintptr
	skip := 2
	for {
		n := runtime.Callers(skip, pcs[:])
		if n == 0 {
			return Place{File: "?"}
		}
		for _, pc := range pcs[:n] {
			if p, ok := k.places[pc]; ok {
				if p.Line > 0 {
					return p
				}
				continue
			}
			p := userPlace(pc)
			k.places[pc] = p
			if p.Line > 0 {
				return p
			}
		}
		skip += n
	}
}

// caller is here without a kernel.
func caller() Place {
	pcs := make([]uintptr, 32)
	for _, pc := range pcs[:runtime.Callers(2, pcs)] {
		if p := userPlace(pc); p.Line > 0 {
			return p
		}
	}
	return Place{File: "?"}
}

// userPlace returns the place of a frame, or none for a frame of this package.
func userPlace(pc uintptr) Place {
	frames := runtime.CallersFrames([]uintptr{pc})
	for {
		f, more := frames.Next()
		if f.Line > 0 && !isOurs(f.File) {
			return Place{shorten(f.File), f.Line}
		}
		if !more {
			return Place{}
		}
	}
}

func isOurs(file string) bool {
	dir := path.Dir(filepath.ToSlash(file))
	return (dir == ours || dir == ours+"/inst") && !strings.HasSuffix(file, "_test.go")
}

// shorten makes a path relative to the working directory if the file is below it.
func shorten(file string) string {
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, file); err == nil && !strings.HasPrefix(rel, "..") {
			return filepath.ToSlash(rel)
		}
	}
	return file
}

// Errorf records a mistake at the line of the user's program, for packages built on this
// one.
func (k *Kernel) Errorf(format string, args ...any) { k.fail(format, args...) }
