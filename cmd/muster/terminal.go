package main

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"muster/report"
)

// terminalOf returns the terminal that a writer is; nil if it is none.
func terminalOf(w io.Writer) *os.File {
	if f, ok := itself(w).(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return f
	}
	return nil
}

// color reports whether output goes to a terminal that wants colours (no-color.org).
func (c *console) color() bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && terminalOf(c.out) != nil
}

// columns returns how wide a terminal is; 0 if the writer is none, or does not know.
func columns(w io.Writer) int {
	f := terminalOf(w)
	if f == nil {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}

// look is how text is written to the output.
func (c *console) look(o report.TextOptions) report.TextOptions {
	o.Color, o.Width = c.color(), columns(c.out)
	return o
}

// localize writes to terminals whose locale is not UTF-8 in ASCII. What goes to a file or a
// pipe is data, and stays UTF-8.
func (c *console) localize(env func(string) string) {
	if isUTF8(env) {
		return
	}
	if terminalOf(c.out) != nil {
		c.out = &ascii{c.out}
	}
	if terminalOf(c.err) != nil {
		c.err = &ascii{c.err}
	}
}

// isUTF8 reports whether the locale's characters are UTF-8 (POSIX, "Locale": the first of these
// variables that is set decides). Where none is, nothing is known, and terminals are UTF-8.
func isUTF8(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

// An ascii writer replaces this project's own characters that are not ASCII. Others are of the
// user's files, in whatever encoding these have, and stay.
type ascii struct{ w io.Writer }

// plain has a wider text for what is cut; a caret below it then stands two columns off.
var plain = strings.NewReplacer("…", "...", "→", "->", "×", "x", "–", "-", "’", "'", "·", ".")

func (a *ascii) Write(data []byte) (int, error) {
	if _, err := io.WriteString(a.w, plain.Replace(string(data))); err != nil {
		return 0, err
	}
	return len(data), nil
}
