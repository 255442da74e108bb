package ptx

import (
	"fmt"
	"strings"
)

// Limits of Parse. Each is far above what compilers emit, and exceeding one gives a
// single error: hostile or broken text must not exhaust memory or the stack.
const (
	maxSource    = 64 << 20 // bytes of text
	maxDepth     = 256      // nested blocks, and nested expressions, lists and vectors
	maxRange     = 1 << 20  // registers of one %r<N>
	maxNames     = 1 << 20  // names from expanded ranges in a module's branch target lists
	maxVarBytes  = 1 << 40  // bytes of one array
	maxDimension = 1 << 40
)

// Parse reads a PTX module. The error, if any, is an *Error. An instruction unknown to
// the table parses with a nil Form; Validate reports it.
func Parse(name string, src []byte) (*Module, error) {
	p := &parser{file: name, names: map[string]Operand{}, ops: map[string]*opcode{}}
	if len(src) > maxSource {
		return nil, &Error{File: name, Msg: fmt.Sprintf("%d bytes of text: at most %d are read", len(src), maxSource)}
	}
	// Text from a C string embedded in a program keeps its NUL, and text from some editors
	// begins with a byte order mark.
	text := strings.TrimPrefix(strings.TrimRight(string(src), "\x00"), "\ufeff")
	p.sc = scanner{src: text, line: 1, fail: p.fail}
	p.next()
	m := p.module()
	m.Text = text
	if p.err != nil {
		return nil, p.err
	}
	return m, nil
}

// A parser holds one token of lookahead. After the first error every token is tEOF, so
// that all loops end; only the first error is kept.
type parser struct {
	file  string
	sc    scanner
	tok   token
	end   int32 // the end of the token before tok
	err   *Error
	depth int

	names    map[string]Operand // boxed names, so that each is allocated once
	ops      map[string]*opcode // parsed instruction text before the operands
	expanded int                // names from expanded ranges
	dotNames bool               // ".word" is a name here: section data and unknown directives
	asmCall  bool               // "(" begins a list here: operands of call
}

// An opcode is an instruction's text before its operands, split.
type opcode struct {
	op    string
	mods  []string
	cands []candidate
}

func (p *parser) fail(pos Pos, off int, format string, args ...any) {
	if p.err == nil {
		p.err = &Error{File: p.file, Pos: pos, Msg: fmt.Sprintf(format, args...), Src: lineAt(p.sc.src, off)}
	}
	p.sc.off = len(p.sc.src)
	p.tok.kind = tEOF
}

// errorf reports an error at the current token.
func (p *parser) errorf(format string, args ...any) {
	p.fail(p.tok.pos, int(p.tok.off), format, args...)
}

func (p *parser) errorAt(t token, format string, args ...any) {
	p.fail(t.pos, int(t.off), format, args...)
}

func (p *parser) next() {
	p.end = p.tok.end
	p.tok = p.sc.next()
	if p.err != nil {
		p.tok.kind = tEOF
	}
}

func (p *parser) text(t token) string { return p.sc.src[t.off:t.end] }

// found describes the current token for an error message.
func (p *parser) found() string {
	if p.tok.kind == tEOF {
		return "end of file"
	}
	return clip(p.text(p.tok))
}

func (p *parser) got(k kind) bool {
	if p.tok.kind != k {
		return false
	}
	p.next()
	return true
}

func (p *parser) want(k kind, where string) {
	if !p.got(k) {
		p.errorf("expected %q %s, found %s", rune(k), where, p.found())
	}
}

// ident takes an identifier.
func (p *parser) ident(what string) string {
	if p.tok.kind != tIdent {
		p.errorf("expected %s, found %s", what, p.found())
		return ""
	}
	s := p.text(p.tok)
	p.next()
	return s
}

// isDot tells whether the current token is the dot word ".name".
func (p *parser) isDot(name string) bool {
	return p.tok.kind == tDot && p.text(p.tok)[1:] == name
}

func (p *parser) gotDot(name string) bool {
	if !p.isDot(name) {
		return false
	}
	p.next()
	return true
}

// enter counts nesting; every enter has a matching leave.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > maxDepth {
		p.errorf("nested more than %d deep", maxDepth)
		return false
	}
	return p.err == nil
}

func (p *parser) leave() { p.depth-- }

// constInt takes a constant integer expression within [lo, hi].
func (p *parser) constInt(what string, lo, hi int64) int64 {
	t := p.tok
	x, ok := p.expr().(Int)
	if !ok {
		p.errorAt(t, "expected a constant integer: %s", what)
		return lo
	}
	if v := int64(x.Bits); v < lo || v > hi || x.Unsigned && v < 0 {
		p.errorAt(t, "%s %s is out of range %d..%d", what, formatInt(x), lo, hi)
		return lo
	}
	return int64(x.Bits)
}

// plainInt takes one integer literal: line tables list them without separators.
func (p *parser) plainInt(what string, hi int64) int64 {
	t := p.tok
	if t.kind != tInt {
		p.errorf("expected %s, found %s", what, p.found())
		return 0
	}
	x, err := parseInt(p.text(t))
	if err != nil {
		p.errorf("%v", err)
		return 0
	}
	if x.Bits > uint64(hi) {
		p.errorf("%s %d is out of range 0..%d", what, x.Bits, hi)
		return 0
	}
	p.next()
	return int64(x.Bits)
}

func (p *parser) str(what string) string {
	if p.tok.kind != tString {
		p.errorf("expected %s in quotes, found %s", what, p.found())
		return ""
	}
	s := unquote(p.text(p.tok))
	p.next()
	return s
}
