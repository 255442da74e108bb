package ptx

import (
	"math"
	"strconv"
)

func (p *parser) block() *Block {
	b := &Block{Pos: p.tok.pos}
	if !p.enter() {
		return b
	}
	defer p.leave()
	p.next()
	for p.tok.kind != '}' && p.tok.kind != tEOF {
		b.Stmts = p.stmt(b.Stmts)
	}
	b.End = p.tok.pos
	if !p.got('}') {
		p.errorf("end of file in the block opened at line %d", b.Pos.Line)
	}
	return b
}

// stmt takes one statement and appends its nodes.
func (p *parser) stmt(list []Stmt) []Stmt {
	switch p.tok.kind {
	case tIdent:
		if p.atLabel() {
			return append(list, p.label())
		}
		return append(list, p.inst(nil))
	case '@':
		return append(list, p.inst(p.guard()))
	case '{':
		return append(list, p.block())
	case ';':
		p.next()
		return list
	case tDot:
		return p.directive(list)
	}
	p.errorf("expected a statement, found %s", p.found())
	return list
}

// directive takes a statement that begins with a dot word.
func (p *parser) directive(list []Stmt) []Stmt {
	t := p.tok
	link := p.linkage()
	switch {
	case p.isSpace():
		for _, v := range p.vars(link) {
			list = append(list, v)
		}
	case link != "":
		p.errorf("expected a variable after .%s, found %s", link, p.found())
	case p.gotDot("loc"):
		list = append(list, p.loc(t.pos))
	case p.gotDot("pragma"):
		list = append(list, p.pragma(t.pos))
	case p.isDot("branchtargets"), p.isDot("calltargets"), p.isDot("callprototype"):
		p.errorf("%s needs a label before it", p.text(t))
	case isReservedDirective(p.text(t)[1:]):
		p.errorf("%s is not allowed within a function (is a %q missing?)", p.text(t), '}')
	default:
		if d := p.unknown(t); d != nil {
			list = append(list, d)
		}
	}
	return list
}

// atLabel reports whether a colon follows the current identifier, which makes it a label.
// White space may precede the colon.
func (p *parser) atLabel() bool {
	s := p.sc // a copy: the parser does not move
	s.fail = func(Pos, int, string, ...any) {}
	if s.off < len(s.src) && s.src[s.off] == '.' {
		return false
	}
	s.space()
	return s.off < len(s.src) && s.src[s.off] == ':'
}

func (p *parser) label() Stmt {
	l := &Label{Pos: p.tok.pos} // before ident takes the token
	l.Name = p.ident("a label")
	p.want(':', "after a label")
	switch {
	case p.isDot("branchtargets"), p.isDot("calltargets"):
		return p.targets(l)
	case p.gotDot("callprototype"):
		return p.prototype(l)
	}
	return l
}

func (p *parser) targets(l *Label) *Targets {
	t := &Targets{Pos: l.Pos, Label: l.Name, Call: p.isDot("calltargets")}
	p.next()
	for {
		name := p.ident("a name")
		if p.got('<') {
			t.Names = p.expand(t.Names, name)
		} else {
			t.Names = append(t.Names, name)
		}
		if !p.got(',') {
			break
		}
	}
	p.want(';', "after a list of targets")
	return t
}

// expand takes the rest of name<N>, an abbreviation of name0, …, nameN-1.
func (p *parser) expand(list []string, name string) []string {
	n := int(p.plainInt("a number of names", maxRange))
	p.want('>', "after a number of names")
	if p.expanded += n; p.expanded > maxNames {
		p.errorf("target lists of more than %d names", maxNames)
		return list
	}
	for i := range n {
		list = append(list, name+strconv.Itoa(i))
	}
	return list
}

func (p *parser) prototype(l *Label) *Prototype {
	x := &Prototype{Pos: l.Pos, Label: l.Name}
	if p.tok.kind == '(' {
		x.Ret = p.params()
	}
	p.ident(`"_"`)
	if p.tok.kind == '(' {
		x.Params = p.params()
	}
	for p.tok.kind == tDot {
		x.Attrs = append(x.Attrs, p.funcAttr())
	}
	p.want(';', "after a prototype")
	return x
}

// loc takes the operands of .loc, which has no terminator.
func (p *parser) loc(pos Pos) *Loc {
	l := &Loc{Pos: pos}
	l.File, l.Line, l.Col = p.place()
	if !p.got(',') {
		return l
	}
	l.Inlined = true
	if p.ident("function_name") != "function_name" {
		p.errorf("expected function_name after a comma of .loc")
	}
	l.Func = p.ident("a label")
	if p.got('+') {
		l.FuncOffset = p.plainInt("an offset", math.MaxInt64)
	}
	p.want(',', "before inlined_at")
	if p.ident("inlined_at") != "inlined_at" {
		p.errorf("expected inlined_at in .loc")
	}
	l.AtFile, l.AtLine, l.AtCol = p.place()
	return l
}

func (p *parser) place() (file, line, col int) {
	file = int(p.plainInt("a file index", math.MaxInt32))
	line = int(p.plainInt("a line", math.MaxInt32))
	col = int(p.plainInt("a column", math.MaxInt32))
	return
}

func (p *parser) guard() *Guard {
	p.next()
	g := &Guard{Not: p.got('!')}
	t := p.tok
	g.Reg = string(p.name(p.ident("a predicate"), t.end))
	return g
}

// inst takes an instruction up to its semicolon.
func (p *parser) inst(g *Guard) *Inst {
	t := p.tok
	if t.kind != tIdent || !isLetter(p.sc.src[t.off]) {
		p.errorf("expected an instruction, found %s", p.found())
		return &Inst{}
	}
	oc := p.opcode()
	in := &Inst{Pos: t.pos, Guard: g, Op: oc.op}
	if len(oc.mods) > 0 {
		in.Mods = append(make([]string, 0, len(oc.mods)), oc.mods...)
	}
	p.asmCall = oc.op == "call"
	for ok := p.tok.kind != ';' && p.tok.kind != tEOF; ok; ok = p.got(',') {
		in.Operands = append(in.Operands, p.operand())
	}
	p.asmCall = false
	if !p.got(';') {
		p.errorf("expected %q or %q after an operand of %s, found %s", ',', ';', clip(p.text(t)), p.found())
	}
	in.Form = match(in, oc.cands)
	return in
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// opcode takes an instruction's name and modifiers. Each text is split and looked up in
// the table once per module, since kernels repeat instructions.
func (p *parser) opcode() *opcode {
	start := p.tok.off
	p.sc.word()
	for p.sc.at(1)&cIdent != 0 && p.sc.src[p.sc.off] == '.' {
		p.sc.off++
		p.sc.word()
	}
	text := p.sc.src[start:p.sc.off]
	p.tok.end = int32(p.sc.off)
	p.next()
	for p.tok.kind == tDot { // modifiers separated by white space
		text += p.text(p.tok)
		p.next()
	}
	oc := p.ops[text]
	if oc == nil {
		oc = takeApart(text)
		p.ops[text] = oc
	}
	return oc
}
