package ptx

import "strings"

// A kind is the kind of a token. For a token of one punctuation character it is that
// character.
type kind uint8

const (
	tEOF    kind = 0
	tIdent  kind = iota + 0x80 // foo, %r1, $L, _
	tDot                       // .word, .shared::cta, .2d
	tInt                       // 42, 0x2a, 052, 0b101010, 42U
	tFloat                     // 1.5, 1e9, 0f3F800000, 0d3FF0000000000000
	tString                    // "text", with its quotes
	tShl
	tShr
	tLE
	tGE
	tEQ
	tNE
	tAndAnd
	tOrOr
)

// A token is a slice of the source with its position.
type token struct {
	kind     kind
	off, end int32
	pos      Pos
}

// A scanner splits text into tokens, one on demand. It does not depend on the parser's
// state, except for two ambiguities that the parser resolves by rescanning: "%3" is a
// name or a remainder, ".05" a modifier or a number.
type scanner struct {
	src       string
	off       int
	line      int32
	lineStart int
	// fail reports an error at an offset; scanning goes on with tEOF.
	fail func(pos Pos, off int, format string, args ...any)
}

const (
	cIdent = 1 << iota // allowed in an identifier
	cStart             // may begin one
	cDigit
	cHex
)

var class = func() (t [256]uint8) {
	for c := 'a'; c <= 'z'; c++ {
		t[c] = cIdent | cStart
		t[c-'a'+'A'] = cIdent | cStart
	}
	for _, c := range "_$%" {
		t[c] = cIdent | cStart
	}
	t['%'] = cStart // begins a name, but "a%b" is a remainder
	for c := '0'; c <= '9'; c++ {
		t[c] = cIdent | cDigit | cHex
	}
	for _, c := range "abcdefABCDEF" {
		t[c] |= cHex
	}
	return t
}()

func (s *scanner) here(off int) Pos {
	return Pos{Line: s.line, Col: int32(off-s.lineStart) + 1}
}

// space skips white space and comments.
func (s *scanner) space() {
	for s.off < len(s.src) {
		switch s.src[s.off] {
		case '\n':
			s.off++
			s.line++
			s.lineStart = s.off
		case ' ', '\t', '\r', '\v', '\f':
			s.off++
		case '/':
			if !s.comment() {
				return
			}
		default:
			return
		}
	}
}

// comment skips one comment, and reports whether there was one.
func (s *scanner) comment() bool {
	rest := s.src[s.off:]
	switch {
	case strings.HasPrefix(rest, "//"):
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			s.off += n
		} else {
			s.off = len(s.src)
		}
		return true
	case strings.HasPrefix(rest, "/*"):
		n := strings.Index(rest[2:], "*/")
		if n < 0 {
			s.fail(s.here(s.off), s.off, "comment is not closed")
			s.off = len(s.src)
			return true
		}
		body := rest[:n+4]
		if k := strings.LastIndexByte(body, '\n'); k >= 0 {
			s.line += int32(strings.Count(body, "\n"))
			s.lineStart = s.off + k + 1
		}
		s.off += len(body)
		return true
	}
	return false
}

// next scans one token.
func (s *scanner) next() token {
	s.space()
	t := token{off: int32(s.off), pos: s.here(s.off)}
	if s.off >= len(s.src) {
		t.end = t.off
		return t
	}
	c := s.src[s.off]
	switch {
	case class[c]&cStart != 0 && (c != '%' || s.at(1)&cIdent != 0):
		s.off++
		s.skip(cIdent)
		t.kind = tIdent
	case c == '.' && s.at(1)&cIdent != 0:
		s.off++
		s.word()
		t.kind = tDot
	case class[c]&cDigit != 0:
		t.kind = s.number()
	case c == '"':
		t.kind = s.quoted()
	default:
		t.kind = s.punct()
	}
	t.end = int32(s.off)
	return t
}

func (s *scanner) at(n int) uint8 {
	if s.off+n < len(s.src) {
		return class[s.src[s.off+n]]
	}
	return 0
}

func (s *scanner) skip(mask uint8) {
	for s.off < len(s.src) && class[s.src[s.off]]&mask != 0 {
		s.off++
	}
}

// word skips the rest of a dot word: letters, digits and "::", and ":" between the numbers of
// a ratio, as in "sp::2:4".
func (s *scanner) word() {
	for part := s.off; ; {
		s.skip(cIdent)
		number := part < s.off && strings.Trim(s.src[part:s.off], "0123456789") == ""
		switch {
		case s.at(2)&cIdent != 0 && s.src[s.off] == ':' && s.src[s.off+1] == ':':
			s.off += 2
			part = s.off
		case number && s.at(1)&cDigit != 0 && s.src[s.off] == ':' && s.src[part-1] == ':':
			s.off++
		default:
			return
		}
	}
}

// number scans an integer or a float. Malformed digits are reported when the value is
// parsed.
func (s *scanner) number() kind {
	start := s.off
	s.skip(cIdent)
	text := s.src[start:s.off]
	if len(text) > 1 && text[0] == '0' {
		switch text[1] {
		case 'x', 'X', 'b', 'B':
			return tInt
		case 'f', 'F', 'd', 'D':
			return tFloat
		}
	}
	kind := tInt
	if s.off < len(s.src) && s.src[s.off] == '.' && strings.Trim(text, "0123456789") == "" {
		kind = tFloat
		s.off++
		s.skip(cIdent)
	}
	if strings.ContainsAny(s.src[start:s.off], "eE") {
		kind = tFloat
		s.exponentSign()
	}
	return kind
}

// exponentSign continues with "+5" of "1e+5".
func (s *scanner) exponentSign() {
	if c := s.src[s.off-1]; c != 'e' && c != 'E' {
		return
	}
	if s.at(1)&cDigit != 0 && (s.src[s.off] == '+' || s.src[s.off] == '-') {
		s.off++
		s.skip(cIdent)
	}
}

func (s *scanner) quoted() kind {
	for i := s.off + 1; i < len(s.src); i++ {
		switch s.src[i] {
		case '\\':
			i++
		case '"':
			s.off = i + 1
			return tString
		case '\n':
			i = len(s.src)
		}
	}
	s.fail(s.here(s.off), s.off, "string is not closed")
	s.off = len(s.src)
	return tEOF
}

var twoChar = map[string]kind{
	"<<": tShl, ">>": tShr, "<=": tLE, ">=": tGE, "==": tEQ, "!=": tNE, "&&": tAndAnd, "||": tOrOr,
}

func (s *scanner) punct() kind {
	c := s.src[s.off]
	if s.off+1 < len(s.src) && strings.IndexByte("<>=!&|", c) >= 0 {
		if k, ok := twoChar[s.src[s.off:s.off+2]]; ok {
			s.off += 2
			return k
		}
	}
	if strings.IndexByte("{}()[],;:@!+-~*/%<>=&^|?", c) < 0 {
		s.badChar(c)
		return tEOF
	}
	s.off++
	return kind(c)
}

func (s *scanner) badChar(c byte) {
	pos := s.here(s.off)
	switch {
	case c == '#':
		s.fail(pos, s.off, "preprocessor lines are not part of PTX text: run the preprocessor first")
	case c >= ' ' && c < 0x7f:
		s.fail(pos, s.off, "unexpected character %q", c)
	default:
		s.fail(pos, s.off, "unexpected byte 0x%02x", c)
	}
	s.off = len(s.src)
}
