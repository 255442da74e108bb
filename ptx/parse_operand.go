package ptx

// name takes a name, with an optional component after it: %tid.x.
func (p *parser) name(s string, end int32) Name {
	if p.tok.kind == tDot && p.tok.off == end {
		if isComponent(p.text(p.tok)[1:]) {
			s = p.sc.src[end-int32(len(s)) : p.tok.end]
			p.next()
		}
	}
	return Name(s)
}

// isComponent distinguishes the components of vectors, which are part of a name, from the
// selectors of video instructions, which are not.
func isComponent(s string) bool {
	if len(s) != 1 {
		return false
	}
	switch s[0] {
	case 'x', 'y', 'z', 'w', 'r', 'g', 'b', 'a':
		return true
	}
	return false
}

// isSelector reports whether s is a byte or halfword selector: b0, h1, b3210.
func isSelector(s string) bool {
	if len(s) < 2 || len(s) > 5 || s[0] != 'b' && s[0] != 'h' {
		return false
	}
	for _, c := range s[1:] {
		if c < '0' || c > '7' {
			return false
		}
	}
	return true
}

// box returns the shared operand value of a name.
func (p *parser) box(n Name) Operand {
	x, ok := p.names[string(n)]
	if !ok {
		x = n
		p.names[string(n)] = x
	}
	return x
}

// nameOperand takes a name, the sink, a vector component or a selection.
func (p *parser) nameOperand() Operand {
	t := p.tok
	s := p.text(t)
	p.next()
	switch s {
	case "_":
		return Sink{}
	case "WARP_SZ":
		return Int{Bits: 32}
	}
	x := p.box(p.name(s, t.end))
	if p.tok.kind == tDot && p.tok.off == p.end && !p.dotNames {
		sel := p.text(p.tok)[1:]
		if !isSelector(sel) {
			p.errorf("unknown component .%s of %s", sel, s)
		}
		p.next()
		return &Select{x, sel}
	}
	return x
}

// operand takes one operand of an instruction or directive.
func (p *parser) operand() Operand {
	switch p.tok.kind {
	case tIdent:
		return p.afterName(p.nameOperand())
	case '[':
		return p.unified(p.mem())
	case '{':
		return p.pair(p.vector())
	case tString:
		return String(p.str("a string"))
	case '!':
		return p.not()
	case '(':
		if p.asmCall {
			return p.list()
		}
	}
	return p.expr()
}

// afterName parses what may follow a name: a pair, an array element, or a sum.
func (p *parser) afterName(x Operand) Operand {
	switch p.tok.kind {
	case ',', ';':
		return x
	case '|':
		return p.pair(x)
	case '[':
		return p.element(x)
	case '(':
		if x == Operand(Name("generic")) {
			x = p.applied("generic")
		}
	}
	return p.binary(x, 0)
}

// pair takes an optional predicate after a destination.
func (p *parser) pair(x Operand) Operand {
	if !p.got('|') {
		return x
	}
	if p.tok.kind != tIdent {
		p.errorf("expected a register after %q, found %s", '|', p.found())
		return x
	}
	return &Pair{x, p.nameOperand()}
}

// not takes !p; with a constant it is the operator.
func (p *parser) not() Operand {
	s := p.sc
	s.fail = func(Pos, int, string, ...any) {}
	if s.next().kind != tIdent {
		return p.expr()
	}
	p.next()
	x := p.nameOperand()
	if _, ok := x.(Int); ok {
		v, _ := unaryInt('!', x.(Int))
		return p.binary(v, 0)
	}
	return &Not{x}
}

func (p *parser) vector() Operand {
	v := &Vector{}
	if !p.enter() {
		return v
	}
	defer p.leave()
	p.next()
	for ok := p.tok.kind != '}'; ok; ok = p.got(',') {
		v.Elems = append(v.Elems, p.operand())
	}
	p.want('}', "to close a vector")
	return v
}

func (p *parser) list() Operand {
	l := &List{}
	if !p.enter() {
		return l
	}
	defer p.leave()
	p.next()
	for ok := p.tok.kind != ')'; ok; ok = p.got(',') {
		l.Elems = append(l.Elems, p.operand())
	}
	p.want(')', "to close a list")
	return l
}

// mem takes [base], [base+off] or [base, …].
func (p *parser) mem() Operand {
	m := &Mem{}
	if !p.enter() {
		return m
	}
	defer p.leave()
	p.next()
	t := p.tok
	m.Base, m.Off = p.address(t, p.expr())
	for p.got(',') {
		m.Rest = append(m.Rest, p.operand())
	}
	p.want(']', "to close an address")
	return m
}

// unified takes the qualifier allowed after a load's address.
func (p *parser) unified(m Operand) Operand {
	if p.gotDot("unified") {
		return &Select{m, "unified"}
	}
	return m
}

// address splits a sum of one name and constants.
func (p *parser) address(t token, x Operand) (base Operand, off int64) {
	switch x := x.(type) {
	case Name, Int, *Select:
		return x, 0
	case *Binary:
		if y, ok := x.Y.(Int); ok && (x.Op == "+" || x.Op == "-") {
			base, off = p.address(t, x.X)
			if x.Op == "-" {
				return base, off - int64(y.Bits)
			}
			return base, off + int64(y.Bits)
		}
		if y, ok := x.X.(Int); ok && x.Op == "+" {
			base, off = p.address(t, x.Y)
			return base, off + int64(y.Bits)
		}
	}
	if p.err == nil {
		p.errorAt(t, "an address is one register, variable or constant, plus constants")
	}
	return nil, 0
}

// element takes the array form name[index]: a constant index is stored in Off, a register
// in Rest.
func (p *parser) element(x Operand) Operand {
	p.next()
	t := p.tok
	base, off := p.address(t, p.expr())
	p.want(']', "to close an index")
	m := &Mem{Base: x, Off: off, Index: true}
	switch i := base.(type) {
	case Int:
		m.Off += int64(i.Bits)
	case Name:
		m.Rest = []Operand{i}
	default:
		if p.err == nil {
			p.errorAt(t, "an index is a register plus a constant")
		}
	}
	return m
}
