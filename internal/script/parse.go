package script

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// An Error is an error in reading or running a script, with its place.
type Error struct {
	File      string
	Line, Col int // from 1
	Msg       string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) }

// MaxSize bounds a script, in bytes.
const MaxSize = 1 << 20

// A Script is a parsed script.
type Script struct {
	// Moves asks a run for its moves: each has all that is there, which takes memory by the
	// square of a long script.
	Moves  bool
	name   string
	groups []group
	tail   []string // comments and blank lines at the end
	inits  map[string]bool
	ended  bool // the last command is `end`
}

// A group is the commands that share one output.
type group struct {
	lead    []string // comments and blank lines before
	lines   []string // commands and comments, as written
	cmds    []command
	checked bool // has a line of dashes
	want    []string
	line    int // of the first line of want
}

// A command is one parsed line.
type command struct {
	line        int
	token       word // empty if the token is dropped
	actor       word // empty if no actor is named
	verb        word
	args        []word
	bar, target string // the barrier; the copy, token or actor that is named
	n           uint32 // count, bytes or parity
	phase       uint64
	how         selector
	noinc       bool
}

// A selector is a wait's way to select a phase.
type selector uint8

const (
	byParity selector = iota
	byToken
	byPhase
)

type word struct {
	text string
	col  int
}

const dashes = "----"

// Parse reads a script; name is its file, for errors.
func Parse(name string, src []byte) (*Script, error) {
	p := &parser{s: &Script{name: name, inits: map[string]bool{}}}
	if len(src) > MaxSize {
		return nil, &Error{name, 1, 1, fmt.Sprintf("a script has at most %d bytes, this one has %d", MaxSize, len(src))}
	}
	if i := bytes.IndexFunc(src, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == '\uFFFD' }); i >= 0 {
		line := 1 + bytes.Count(src[:i], []byte("\n"))
		return nil, &Error{name, line, i - bytes.LastIndexByte(src[:i], '\n'), "not text"}
	}
	lines := strings.Split(strings.ReplaceAll(string(src), "\r\n", "\n"), "\n")
	for i, line := range lines {
		if err := p.line(i+1, strings.TrimRight(line, " \t\r")); err != nil {
			return nil, err
		}
	}
	return p.finish()
}

type parser struct {
	s      *Script
	cur    group
	output bool // inside the expected output
}

func (p *parser) line(n int, text string) error {
	switch {
	case p.output && text == "":
		p.flush()
	case p.output:
		p.cur.want = append(p.cur.want, text)
	case text == dashes:
		if len(p.cur.cmds) == 0 {
			return &Error{p.s.name, n, 1, "output without a command before it"}
		}
		p.output, p.cur.checked, p.cur.line = true, true, n+1
	case text == "":
		p.split()
		p.cur.lead = append(p.cur.lead, text)
	case strings.HasPrefix(strings.TrimLeft(text, " \t"), "#"):
		if len(p.cur.cmds) == 0 {
			p.cur.lead = append(p.cur.lead, text)
		} else {
			p.cur.lines = append(p.cur.lines, text)
		}
	default:
		c, err := p.command(n, text)
		if err != nil {
			return err
		}
		p.cur.lines, p.cur.cmds = append(p.cur.lines, text), append(p.cur.cmds, c)
		p.s.ended = c.verb.text == "end"
	}
	return nil
}

// flush ends a group.
func (p *parser) flush() {
	p.s.groups = append(p.s.groups, p.cur)
	p.cur, p.output = group{}, false
}

// split ends commands without expected output: each becomes a group of its own.
func (p *parser) split() {
	lead, next := p.cur.lead, 0
	if len(p.cur.cmds) == 0 {
		return
	}
	for _, line := range p.cur.lines {
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") {
			lead = append(lead, line)
			continue
		}
		p.s.groups = append(p.s.groups, group{lead: lead, lines: []string{line}, cmds: p.cur.cmds[next : next+1]})
		lead, next = nil, next+1
	}
	p.cur = group{lead: lead}
}

func (p *parser) finish() (*Script, error) {
	if p.output {
		p.flush()
	}
	p.split()
	p.s.tail = p.cur.lead
	for _, g := range p.s.groups {
		for i := range g.cmds {
			if err := p.known(&g.cmds[i]); err != nil {
				return nil, err
			}
		}
	}
	return p.s, nil
}

// known rejects a barrier that no line initializes: probably a typo.
func (p *parser) known(c *command) error {
	if c.bar == "" || p.s.inits[c.bar] {
		return nil
	}
	col := c.verb.col
	for _, a := range c.args {
		if a.text == c.bar {
			col = a.col
		}
	}
	return &Error{p.s.name, c.line, col, fmt.Sprintf("no line here initializes a barrier %q", c.bar)}
}

// Checked reports whether the script states expected output.
func (s *Script) Checked() bool {
	return slices.ContainsFunc(s.groups, func(g group) bool { return g.checked })
}

// Empty reports whether the script has no operation.
func (s *Script) Empty() bool { return len(s.groups) == 0 }

func (p *parser) command(line int, text string) (command, error) {
	c := command{line: line}
	words := split(text)
	if len(words) >= 2 && words[1].text == "=" {
		c.token, words = words[0], words[2:]
	}
	if len(words) > 0 && strings.HasSuffix(words[0].text, ":") {
		c.actor = word{strings.TrimSuffix(words[0].text, ":"), words[0].col}
		words = words[1:]
	}
	if len(words) == 0 {
		return c, &Error{p.s.name, line, len(text) + 1, "a command is missing"}
	}
	for _, w := range []word{c.token, c.actor} {
		if w.col != 0 && !isName(w.text) {
			return c, &Error{p.s.name, line, w.col, fmt.Sprintf("%q is no name", w.text)}
		}
	}
	c.verb, c.args = words[0], words[1:]
	form, ok := forms[c.verb.text]
	if !ok {
		return c, &Error{p.s.name, line, c.verb.col, fmt.Sprintf("no command %q", c.verb.text)}
	}
	a := &args{p: p, c: &c, rest: c.args, end: len(text) + 1}
	form.parse(a)
	if a.err == nil && len(a.rest) > 0 {
		a.fail(a.rest[0].col, fmt.Sprintf("%q is one word too many: %s", a.rest[0].text, form.usage))
	}
	if a.err == nil && c.token.text != "" && !form.token {
		a.fail(c.token.col, c.verb.text+" returns no token")
	}
	if c.verb.text == "init" && a.err == nil {
		p.s.inits[c.bar] = true
	}
	if a.err != nil && a.err.Msg == "" {
		a.err.Msg = "usage: " + form.usage
	}
	if a.err != nil {
		return c, a.err
	}
	return c, nil
}

func split(text string) []word {
	var words []word
	for i := 0; i < len(text); {
		n := strings.IndexAny(text[i:], " \t")
		if n < 0 {
			n = len(text) - i
		}
		if n > 0 {
			words = append(words, word{text[i : i+n], i + 1})
		}
		i += n + 1
	}
	return words
}

func isName(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || strings.ContainsRune("_-@[]", r))) {
			return false
		}
	}
	return s != ""
}

// args reads the words of one command; the first failure stays.
type args struct {
	p    *parser
	c    *command
	rest []word
	end  int
	err  *Error
}

// fail keeps the first error; an empty message becomes the command's usage.
func (a *args) fail(col int, msg string) {
	if a.err == nil {
		a.err = &Error{a.p.s.name, a.c.line, col, msg}
	}
}

func (a *args) next() word {
	if len(a.rest) == 0 {
		a.fail(a.end, "")
		return word{}
	}
	w := a.rest[0]
	a.rest = a.rest[1:]
	return w
}

func (a *args) name() string {
	w := a.next()
	if a.err == nil && !isName(w.text) {
		a.fail(w.col, fmt.Sprintf("%q is no name", w.text))
	}
	return w.text
}

// literal reads fixed words.
func (a *args) literal(want ...string) {
	for _, text := range want {
		if w := a.next(); w.text != text {
			a.fail(w.col, "")
		}
	}
}

func (a *args) number() uint32 {
	w := a.next()
	if a.err != nil {
		return 0
	}
	v, ok := number(w.text)
	if !ok || v > math.MaxUint32 {
		a.fail(w.col, fmt.Sprintf("%q is no number of 32 bits", w.text))
	}
	return uint32(v)
}

// number reads 12, 0x1f, 2^20, 2^20-1 and 2^20+1.
func number(s string) (uint64, bool) {
	power, ok := strings.CutPrefix(s, "2^")
	if !ok {
		v, err := strconv.ParseUint(s, 0, 64)
		return v, err == nil
	}
	exponent, add := power, int64(0)
	if i := strings.IndexAny(power, "+-"); i >= 0 {
		v, err := strconv.ParseInt(power[i:], 10, 32)
		if err != nil {
			return 0, false
		}
		exponent, add = power[:i], v
	}
	e, err := strconv.ParseUint(exponent, 10, 8)
	v := int64(1)<<min(e, 62) + add
	return uint64(v), err == nil && e <= 62 && v >= 0
}
