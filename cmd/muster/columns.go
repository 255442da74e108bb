package main

import (
	"bytes"
	"os"
	"unicode/utf16"
	"unicode/utf8"

	"muster/report"
)

// texts are files that places are in, to count columns in.
type texts struct {
	files map[string][][]byte
	bytes int64
}

// maxTexts bounds the bytes that are read for it.
const maxTexts = 256 << 20

// columns returns the columns of a place in UTF-16 code units, and of what is behind the
// instruction there; 0 for what is not known. A place counts bytes, as compilers do.
func (t *texts) columns(p report.Place) (start, end int) {
	line := t.line(p.File, p.Line)
	if p.Col < 1 || p.Col > len(line)+1 {
		return p.Col, 0
	}
	start = 1 + units(line[:p.Col-1])
	if p.Text == "" { // no instruction of PTX
		return start, 0
	}
	rest := line[p.Col-1:]
	if i := bytes.IndexByte(rest, ';'); i >= 0 {
		rest = rest[:i+1]
	} else if i := bytes.Index(rest, []byte("//")); i >= 0 {
		rest = rest[:i]
	}
	return start, start + units(bytes.TrimRight(rest, " \t\r"))
}

// units is the length of a text in UTF-16 code units.
func units(b []byte) (n int) {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		n += utf16.RuneLen(r)
		b = b[size:]
	}
	return n
}

// line returns a line of a file; nil if it cannot be read.
func (t *texts) line(file string, n int) []byte {
	lines, ok := t.files[file]
	if !ok {
		if t.files == nil {
			t.files = map[string][][]byte{}
		}
		lines = t.read(file)
		t.files[file] = lines
	}
	if n < 1 || n > len(lines) {
		return nil
	}
	return lines[n-1]
}

func (t *texts) read(file string) [][]byte {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || t.bytes+info.Size() > maxTexts {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	t.bytes += info.Size()
	return bytes.Split(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), []byte("\n"))
}
