package launch

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// jsonScanner reads JSON (RFC 8259) into Nodes. encoding/json keeps neither positions nor
// the order of keys, and accepts duplicates; it is used only to decode string literals.
type jsonScanner struct {
	file  string
	data  []byte
	off   int
	line  int
	start int // offset of the line's first byte
	nodes int
}

// parseJSONNode reads the one JSON value of data.
func parseJSONNode(file string, data []byte) (*Node, error) {
	// A byte order mark may be ignored (RFC 8259, 8.1).
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	s := &jsonScanner{file: file, data: data, line: 1}
	if len(data) > MaxFileSize {
		return nil, errorf(s.pos(), "%d bytes; a launch file has at most %d", len(data), MaxFileSize)
	}
	s.space()
	if s.off == len(data) {
		return nil, errorf(s.pos(), "the launch file is empty")
	}
	n, err := s.value(0)
	if err != nil {
		return nil, err
	}
	s.space()
	if s.off < len(data) {
		return nil, s.unexpected("the end of the file")
	}
	return n, nil
}

func (s *jsonScanner) pos() Pos {
	return Pos{File: s.file, Line: s.line, Col: s.off - s.start + 1}
}

func (s *jsonScanner) peek() byte {
	if s.off < len(s.data) {
		return s.data[s.off]
	}
	return 0
}

func (s *jsonScanner) space() {
	for s.off < len(s.data) {
		switch s.data[s.off] {
		case '\n':
			s.line++
			s.start = s.off + 1
		case ' ', '\t', '\r':
		default:
			return
		}
		s.off++
	}
}

func (s *jsonScanner) unexpected(want string) error {
	if s.off >= len(s.data) {
		return errorf(s.pos(), "unexpected end of file; want %s", want)
	}
	r, _ := utf8.DecodeRune(s.data[s.off:])
	return errorf(s.pos(), "unexpected %q; want %s", r, want)
}

func (s *jsonScanner) value(depth int) (*Node, error) {
	if depth > MaxDepth {
		return nil, errorf(s.pos(), "nested more than %d deep", MaxDepth)
	}
	if s.nodes++; s.nodes > MaxNodes {
		return nil, errorf(s.pos(), "more than %d values; put large arrays into a .npy file", MaxNodes)
	}
	switch c := s.peek(); {
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.array(depth)
	case c == '"':
		n := &Node{Kind: StringNode, Pos: s.pos()}
		var err error
		n.Text, err = s.str()
		return n, err
	case c == '-' || '0' <= c && c <= '9':
		return s.number()
	}
	return s.word()
}

func (s *jsonScanner) word() (*Node, error) {
	for _, w := range []struct {
		text string
		kind NodeKind
	}{{"null", NullNode}, {"true", BoolNode}, {"false", BoolNode}} {
		if strings.HasPrefix(string(s.data[s.off:min(len(s.data), s.off+len(w.text))]), w.text) {
			n := &Node{Kind: w.kind, Pos: s.pos(), Text: w.text}
			s.off += len(w.text)
			return n, nil
		}
	}
	return nil, s.unexpected("a value")
}

func (s *jsonScanner) object(depth int) (*Node, error) {
	n := &Node{Kind: MapNode, Pos: s.pos()}
	s.off++
	for s.space(); s.peek() != '}'; s.space() {
		if len(n.Entries) > 0 {
			if err := s.expect(',', "',' or '}'"); err != nil {
				return nil, err
			}
			s.space()
		}
		e, err := s.entry(depth)
		if err != nil {
			return nil, err
		}
		n.Entries = append(n.Entries, e)
	}
	s.off++
	return n, nil
}

func (s *jsonScanner) entry(depth int) (Entry, error) {
	e := Entry{Pos: s.pos()}
	if s.peek() != '"' {
		return e, s.unexpected("a key in double quotes")
	}
	var err error
	if e.Key, err = s.str(); err != nil {
		return e, err
	}
	s.space()
	if err = s.expect(':', "':'"); err != nil {
		return e, err
	}
	s.space()
	e.Value, err = s.value(depth + 1)
	return e, err
}

func (s *jsonScanner) array(depth int) (*Node, error) {
	n := &Node{Kind: SeqNode, Pos: s.pos()}
	s.off++
	for s.space(); s.peek() != ']'; s.space() {
		if len(n.Items) > 0 {
			if err := s.expect(',', "',' or ']'"); err != nil {
				return nil, err
			}
			s.space()
		}
		item, err := s.value(depth + 1)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, item)
	}
	s.off++
	return n, nil
}

func (s *jsonScanner) expect(c byte, want string) error {
	if s.peek() != c {
		return s.unexpected(want)
	}
	s.off++
	return nil
}

// str reads a string literal. JSON forbids a raw line break inside, so a literal never
// changes the line.
func (s *jsonScanner) str() (string, error) {
	pos := s.pos()
	begin := s.off
	for s.off++; ; s.off++ {
		c := s.peek()
		switch {
		case s.off >= len(s.data), c == '\n':
			return "", errorf(pos, "the string does not end on its line")
		case s.off-begin > MaxString:
			return "", errorf(pos, "a string of more than %d bytes", MaxString)
		case c == '\\' && s.off+1 < len(s.data) && s.data[s.off+1] != '\n':
			s.off++
			continue
		}
		if c == '"' {
			break
		}
	}
	s.off++
	lit := s.data[begin:s.off]
	if !utf8.Valid(lit) {
		return "", errorf(pos, "the string is not UTF-8")
	}
	var text string
	if json.Unmarshal(lit, &text) != nil {
		return "", errorf(pos, "a string with a control character, or an escape that JSON lacks: it has \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u and four hexadecimal digits")
	}
	return text, nil
}

func (s *jsonScanner) number() (*Node, error) {
	n := &Node{Kind: IntNode, Pos: s.pos()}
	begin := s.off
	for s.off < len(s.data) && strings.IndexByte("+-.eE0123456789", s.data[s.off]) >= 0 {
		s.off++
	}
	n.Text = string(s.data[begin:s.off])
	if len(n.Text) > MaxString || !json.Valid([]byte(n.Text)) {
		return nil, errorf(n.Pos, "bad number %s", quote(n.Text))
	}
	if strings.ContainsAny(n.Text, ".eE") {
		n.Kind = FloatNode
	}
	return n, nil
}
