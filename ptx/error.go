package ptx

import (
	"fmt"
	"strings"
)

// An Error is a defect of PTX text, at a position in it.
type Error struct {
	File string
	Pos  Pos
	Msg  string
	Src  string // the source line at Pos, without its newline; may be empty
}

// Error gives one line, "file:line:col: msg".
func (e *Error) Error() string {
	if e.Pos == (Pos{}) {
		return fmt.Sprintf("%s: %s", e.File, e.Msg)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Pos.Line, e.Pos.Col, e.Msg)
}

// detailWidth bounds the part of a long source line that Detail shows. Compilers put a
// wgmma with 128 registers on one line; only the place of the error matters.
const detailWidth = 120

// Detail returns the line of Error, the source line, and a caret under the column.
func (e *Error) Detail() string {
	if e.Src == "" {
		return e.Error()
	}
	line, col := e.Src, min(max(int(e.Pos.Col)-1, 0), len(e.Src))
	head, tail := "", ""
	if start := col - detailWidth/2; start > 0 && len(line) > detailWidth {
		line, col, head = line[start:], col-start, "…"
	}
	if len(line) > detailWidth {
		line, tail = line[:detailWidth], "…"
	}
	line = strings.ToValidUTF8(line, "?")
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, head+line[:min(col, len(line))])
	return e.Error() + "\n" + head + line + tail + "\n" + pad + "^"
}

// lineAt returns the source line that contains offset off.
func lineAt(src string, off int) string {
	start := strings.LastIndexByte(src[:off], '\n') + 1
	end := len(src)
	if n := strings.IndexByte(src[off:], '\n'); n >= 0 {
		end = off + n
	}
	return strings.TrimSuffix(src[start:end], "\r")
}
