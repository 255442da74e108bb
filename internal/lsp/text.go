package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"muster/ptx"
)

// A text is one state of a document, of an editor or of a file. It is immutable.
type text struct {
	uri     string // as the client writes it
	path    string // empty for what is no file
	version *int   // nil for a file
	src     string
	ptx     bool // it is PTX

	utf8  bool    // positions count bytes, not UTF-16 units
	lines []int32 // where each begins, after \n, \r\n or \r
	// breaks is where each line begins for package ptx, which counts \n alone.
	breaks []int32

	module func() *module // PTX, parsed when it is first asked for
}

func newText(uri string, src string, version *int, inUTF8 bool) *text {
	t := &text{uri: uri, path: pathOf(uri), version: version, src: src, utf8: inUTF8}
	t.ptx = filepath.Ext(t.path) == ".ptx"
	t.lines, t.breaks = lineStarts(src)
	t.module = sync.OnceValue(func() *module { return parse(t) })
	return t
}

// lineStarts finds where lines begin, for the protocol and for package ptx.
func lineStarts(src string) (lines, breaks []int32) {
	breaks = append(breaks, 0)
	for at := 0; ; {
		n := strings.IndexByte(src[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
		breaks = append(breaks, int32(at))
	}
	if !lonely(src) {
		return breaks, breaks
	}
	lines = append(lines, 0)
	for i := range len(src) {
		if src[i] == '\n' || src[i] == '\r' && (i+1 == len(src) || src[i+1] != '\n') {
			lines = append(lines, int32(i+1))
		}
	}
	return lines, breaks
}

// lonely reports whether a text has a carriage return that ends a line by itself.
func lonely(src string) bool {
	for at := 0; ; {
		n := strings.IndexByte(src[at:], '\r')
		if n < 0 {
			return false
		}
		if at += n + 1; at == len(src) || src[at] != '\n' {
			return true
		}
	}
}

// line returns line n without its end, and where it begins.
func (t *text) line(n int) (string, int) {
	if n >= len(t.lines) {
		return "", len(t.src)
	}
	from, to := int(t.lines[n]), len(t.src)
	if n+1 < len(t.lines) {
		to = int(t.lines[n+1])
	}
	return strings.TrimRight(t.src[from:to], "\r\n"), from
}

// offset converts a position to bytes. One behind the end of its line, or of the text, is
// that end.
func (t *text) offset(p Position) int {
	line, at := t.line(int(p.Line))
	left := int(p.Character)
	if t.utf8 {
		left = min(left, len(line))
		for left > 0 && left < len(line) && !utf8.RuneStart(line[left]) {
			left--
		}
		return at + left
	}
	for i, r := range line {
		if left -= units(r); left < 0 {
			return at + i
		}
	}
	return at + len(line)
}

// position converts bytes to a position.
func (t *text) position(off int) Position {
	off = min(max(off, 0), len(t.src))
	n := sort.Search(len(t.lines), func(i int) bool { return int(t.lines[i]) > off }) - 1
	line, at := t.line(n)
	line = line[:min(off-at, len(line))]
	if t.utf8 {
		return Position{uint32(n), uint32(len(line))}
	}
	chars := 0
	for _, r := range line {
		chars += units(r)
	}
	return Position{uint32(n), uint32(chars)}
}

// units is how many UTF-16 units a character takes.
func units(r rune) int {
	if n := utf16.RuneLen(r); n > 0 {
		return n
	}
	return 1
}

// span is the range of bytes from until to.
func (t *text) span(from, to int) Range { return Range{t.position(from), t.position(to)} }

// at is where a position of package ptx lies.
func (t *text) at(p ptx.Pos) int { return t.lineCol(int(p.Line), int(p.Col)) }

// lineCol is where a line and a column in bytes, both from 1, lie; column 0 is the first.
func (t *text) lineCol(line, col int) int {
	if line < 1 {
		return 0
	}
	if line > len(t.breaks) {
		return len(t.src)
	}
	end := len(t.src)
	if line < len(t.breaks) {
		end = int(t.breaks[line]) - 1
	}
	return min(int(t.breaks[line-1])+max(col-1, 0), end)
}

// rest is the range from a line and column to the end of what stands there: without blanks
// around it and without a comment behind it.
func (t *text) rest(line, col int) Range {
	from := t.lineCol(line, col)
	n := sort.Search(len(t.lines), func(i int) bool { return int(t.lines[i]) > from }) - 1
	whole, at := t.line(n)
	end := whole[from-at:]
	if col == 0 {
		from += len(end) - len(strings.TrimLeft(end, " \t"))
		end = strings.TrimLeft(end, " \t")
	}
	if i := strings.Index(end, "//"); i > 0 {
		end = end[:i]
	}
	return t.span(from, from+len(strings.TrimRight(end, " \t")))
}

// apply returns the text after a change.
func (t *text) apply(changes []change, version int) *text {
	next := t
	for _, c := range changes {
		src := c.Text
		if c.Range != nil {
			from, to := next.offset(c.Range.Start), next.offset(c.Range.End)
			src = next.src[:from] + c.Text + next.src[max(from, to):]
		}
		next = newText(t.uri, src, &version, t.utf8)
		next.ptx = t.ptx
	}
	return next
}

// pathOf is the file that a URI names; empty if it names none.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return ""
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// uriOf names a file.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
