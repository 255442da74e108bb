package lsp

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"
)

// naive converts an offset to a position by counting from the beginning.
func naive(src string, off int, inUTF8 bool) Position {
	var p Position
	for i, r := range src[:off] {
		switch {
		case r == '\n' || r == '\r' && !strings.HasPrefix(src[i+1:], "\n"):
			p = Position{Line: p.Line + 1}
		case r == '\r':
		case inUTF8:
			p.Character += uint32(len(string(r)))
		default:
			p.Character += uint32(len(utf16.Encode([]rune{r})))
		}
	}
	return p
}

// TestEdits holds positions and changes to counting from the beginning, in texts with every
// kind of line end and of character.
func TestEdits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "%r1", "é", "😀", "€", "\n", "\r\n", "\r", "\t", " "}
	some := func(n int) string {
		var b strings.Builder
		for range r.IntN(n) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	// boundary is an offset at which a position can lie: of a character, not within a line end.
	boundary := func(src string) int {
		for {
			off := r.IntN(len(src) + 1)
			if (off == len(src) || src[off]&0xC0 != 0x80) && (off == 0 || off == len(src) || src[off-1] != '\r' || src[off] != '\n') {
				return off
			}
		}
	}
	for range 2000 {
		inUTF8 := r.IntN(2) == 0
		text := newText("file:///x", some(40), nil, inUTF8)
		for range 5 {
			from, to := boundary(text.src), boundary(text.src)
			from, to = min(from, to), max(from, to)
			a, b := naive(text.src, from, inUTF8), naive(text.src, to, inUTF8)
			if got := text.position(from); got != a {
				t.Fatalf("%q at %d: %v, want %v (utf-8: %v)", text.src, from, got, a, inUTF8)
			}
			put := some(6)
			want := text.src[:from] + put + text.src[to:]
			text = text.apply([]change{{&Range{a, b}, put}}, 1)
			if text.src != want {
				t.Fatalf("%q, want %q (utf-8: %v)", text.src, want, inUTF8)
			}
		}
	}
}

// TestOutside: positions outside of the text, and ranges the wrong way round, fall on its ends.
func TestOutside(t *testing.T) {
	text := newText("file:///x", "ab\ncd", nil, false)
	for p, want := range map[Position]int{{0, 9}: 2, {1, 9}: 5, {7, 0}: 5, {1 << 31, 1 << 31}: 5} {
		if got := text.offset(p); got != want {
			t.Errorf("%v: %d, want %d", p, got, want)
		}
	}
	got := text.apply([]change{{&Range{Position{1, 1}, Position{0, 1}}, "x"}}, 1).src
	if got != "ab\ncxd" {
		t.Errorf("%q", got)
	}
}

// TestURI: a file's name comes back from its URI, whatever stands in it.
func TestURI(t *testing.T) {
	for _, path := range []string{"/a/b.ptx", "/a b/ü#?%.ptx", "/c:/x.ptx"} {
		if got := pathOf(uriOf(path)); got != path {
			t.Errorf("%q: %q by %q", path, got, uriOf(path))
		}
	}
	for _, uri := range []string{"untitled:1", "", "http://x/y", "file:", "%zz"} {
		if got := pathOf(uri); got != "" {
			t.Errorf("%q: %q", uri, got)
		}
	}
}
