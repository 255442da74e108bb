package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"unicode"
	"unicode/utf8"

	"muster/internal/machine"
	"muster/launch"
	"muster/ptx"
)

// printError writes one line and, if the error has a place in a readable file, the source
// line with a caret.
func printError(w io.Writer, err error) {
	var compiled *compileError
	if errors.As(err, &compiled) {
		io.WriteString(w, compiled.lines())
	}
	var p *ptx.Error
	room := widest
	if n := columns(w); n > 0 {
		room = min(max(n-1, 20), widest)
	}
	if errors.As(err, &p) && printable(p.Src) {
		if len(p.Src) > room && room < widest {
			fmt.Fprintln(w, "muster: "+oneLine(p.Error()))
			point(w, p.Src, int(p.Pos.Col), room)
			return
		}
		fmt.Fprintln(w, "muster: "+oneLine(p.Error())+strings.TrimPrefix(p.Detail(), p.Error()))
		return
	}
	fmt.Fprintln(w, "muster: "+oneLine(options.Replace(plainly(err))))
	if file, line, col := place(err); line > 0 {
		quote(w, file, line, col, room)
	}
}

// plainly is the text of an error without the names of calls that package os puts before a
// path and its cause.
func plainly(err error) string {
	text := err.Error()
	var path *os.PathError
	if errors.As(err, &path) {
		text = strings.ReplaceAll(text, path.Error(), path.Path+": "+path.Err.Error())
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		text = strings.ReplaceAll(text, link.Error(), link.New+": "+link.Err.Error())
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		text = strings.ReplaceAll(text, call.Error(), call.Err.Error())
	}
	var program *exec.Error
	if errors.As(err, &program) {
		text = strings.ReplaceAll(text, program.Error(), program.Name+": "+program.Err.Error())
	}
	return text
}

// oneLine makes a message one line that a terminal can show, whatever names are in it: what
// turns the direction of text would show another than it is.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) && !unicode.IsSpace(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	return strings.Join(strings.Fields(s), " ")
}

func place(err error) (file string, line, col int) {
	var l *launch.Error
	var d *machine.DecodeError
	switch {
	case errors.As(err, &l):
		return l.File, l.Line, l.Col
	case errors.As(err, &d):
		return d.File, int(d.Pos.Line), int(d.Pos.Col)
	}
	return "", 0, 0
}

// widest bounds the bytes shown of a source line.
const widest = 120

// quote shows a line of a file, cut to room bytes, and a caret under its column.
func quote(w io.Writer, file string, line, col, room int) {
	f, err := os.Open(file)
	if err != nil {
		return
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for n := 1; s.Scan(); n++ {
		if n == line && printable(s.Text()) {
			point(w, s.Text(), col, room)
			return
		}
	}
}

func point(w io.Writer, text string, col, room int) {
	text, at := clip(text, max(col-1, 0), room)
	fmt.Fprintf(w, "%s\n%s^\n", text, blank(text[:at]))
}

// printable reports whether a line can be shown on a terminal, and in the log of a job: there,
// a line that begins with two colons, or has ##[, commands GitHub's runner.
func printable(s string) bool {
	return utf8.ValidString(s) && !strings.HasPrefix(strings.TrimSpace(s), "::") && !strings.Contains(s, "##[") && strings.IndexFunc(s, func(r rune) bool {
		return r != '\t' && r != '\r' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp))
	}) < 0
}

// clip cuts a line of more than room bytes around a column, at character boundaries.
func clip(s string, at, room int) (string, int) {
	at = min(at, len(s))
	if len(s) > room {
		lo := max(0, min(at-room/2, len(s)-room))
		for lo > 0 && !utf8.RuneStart(s[lo]) {
			lo--
		}
		hi := min(len(s), lo+room)
		for hi > at && hi < len(s) && !utf8.RuneStart(s[hi]) {
			hi--
		}
		s, at = s[lo:hi], at-lo
	}
	return s, min(at, len(s))
}

// blank returns s with every character but tabs replaced by a blank.
func blank(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, s)
}
