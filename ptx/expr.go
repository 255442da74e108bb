package ptx

import (
	"fmt"
	"math"
)

// Constant expressions (ISA 4.5.4 to 4.5.6): 64-bit integers, signed or unsigned, and
// doubles, folded while parsing. Expressions with a name stay trees, since its address is
// not known here.

// An operator is a binary operator with its precedence: 1 binds weakest.
type operator struct {
	text string
	prec int
}

var operators = map[kind]operator{
	tOrOr: {"||", 1}, tAndAnd: {"&&", 2}, '|': {"|", 3}, '^': {"^", 4}, '&': {"&", 5},
	tEQ: {"==", 6}, tNE: {"!=", 6}, '<': {"<", 7}, '>': {">", 7}, tLE: {"<=", 7}, tGE: {">=", 7},
	tShl: {"<<", 8}, tShr: {">>", 8}, '+': {"+", 9}, '-': {"-", 9}, '*': {"*", 10}, '/': {"/", 10}, '%': {"%", 10},
}

// precedence returns the precedence of a tree's operator.
func precedence(text string) int {
	for _, o := range operators {
		if o.text == text {
			return o.prec
		}
	}
	return 0
}

// expr parses an expression, including the conditional operator.
func (p *parser) expr() Operand {
	if !p.enter() {
		return Int{}
	}
	defer p.leave()
	return p.binary(p.unary(), 0)
}

// binary parses operators after x that bind tighter than prec.
func (p *parser) binary(x Operand, prec int) Operand {
	for n := 0; ; n++ {
		if _, ok := x.(Int); ok {
			p.splitRemainder()
		}
		op, ok := operators[p.tok.kind]
		if !ok || op.prec <= prec {
			break
		}
		if _, tree := x.(*Binary); tree && n > maxDepth {
			p.errorf("an expression of more than %d terms over a name", maxDepth)
		}
		if !p.enter() {
			break
		}
		t := p.tok
		p.next()
		x = p.fold(t, op.text, x, p.binary(p.unary(), op.prec))
		p.leave()
	}
	if prec == 0 && p.tok.kind == '?' {
		return p.conditional(x)
	}
	return x
}

// splitRemainder splits "%4" after an operand: there it is a remainder, not a name.
func (p *parser) splitRemainder() {
	if p.tok.kind == tIdent && p.sc.src[p.tok.off] == '%' {
		p.tok.kind = '%'
		p.tok.end = p.tok.off + 1
		p.sc.off = int(p.tok.end)
	}
}

func (p *parser) conditional(c Operand) Operand {
	t := p.tok
	p.next()
	x := p.expr()
	p.want(':', "in a conditional")
	y := p.expr()
	cond, ok := c.(Int)
	if !ok {
		p.errorAt(t, "the condition is no constant integer")
		return x
	}
	a, aok := x.(Int)
	b, bok := y.(Int)
	_, afl := x.(Float)
	_, bfl := y.(Float)
	if aok && bfl || afl && bok {
		p.errorAt(t, "a conditional over an integer and a float")
	}
	if aok && bok {
		a.Unsigned = a.Unsigned || b.Unsigned
		b.Unsigned = a.Unsigned
		x, y = a, b
	}
	if cond.Bits != 0 {
		return x
	}
	return y
}

// unary parses prefix operators and casts with their operand.
func (p *parser) unary() Operand {
	t := p.tok
	switch t.kind {
	case '+', '-', '~', '!':
		if !p.enter() {
			return Int{}
		}
		defer p.leave()
		p.next()
		return p.foldUnary(t, byte(t.kind), p.unary())
	case '(':
		return p.parenthesized()
	case tIdent:
		x := p.nameOperand()
		if x == Operand(Name("generic")) && p.tok.kind == '(' {
			return p.applied("generic")
		}
		return x
	case tInt:
		return p.intOperand()
	case tFloat:
		return p.floatOperand()
	case tDot:
		return p.dotOperand()
	}
	p.errorf("expected an operand, found %s", p.found())
	return Int{}
}

func (p *parser) intOperand() Operand {
	text := p.text(p.tok)
	v, err := parseInt(text)
	if err != nil {
		p.errorf("%v", err)
		return Int{}
	}
	p.next()
	if p.tok.kind == '(' { // the mask operator, 0xFF00(sym)
		return p.applied(text)
	}
	return v
}

func (p *parser) floatOperand() Operand {
	v, err := parseFloat(p.text(p.tok))
	if err != nil {
		p.errorf("%v", err)
		return Int{}
	}
	p.next()
	return v
}

// dotOperand parses ".5", or a dot word where those are names.
func (p *parser) dotOperand() Operand {
	t := p.tok
	if class[p.sc.src[t.off+1]]&cDigit != 0 {
		p.sc.off = int(t.off) + 1
		p.sc.skip(cIdent)
		p.sc.exponentSign()
		p.tok.end = int32(p.sc.off)
		return p.floatOperand()
	}
	if !p.dotNames {
		p.errorf("expected an operand, found %s", p.found())
		return Int{}
	}
	p.next()
	return p.box(Name(p.text(t)))
}

// applied parses "(x)" after generic or a mask. A mask over a constant is folded: it
// selects bits of the constant.
func (p *parser) applied(op string) Operand {
	t := p.tok
	p.next()
	x := p.expr()
	p.want(')', "to close "+clip(op))
	if op == "generic" {
		return &Unary{op, x}
	}
	mask, _ := parseInt(op)
	shift, ok := maskShift(mask.Bits)
	if !ok {
		p.errorAt(t, "mask %s is not one byte", op)
		return Int{}
	}
	if v, ok := x.(Int); ok {
		return Int{Bits: v.Bits >> shift & 0xff}
	}
	return &Unary{fmt.Sprintf("0x%X", mask.Bits), x}
}

func maskShift(mask uint64) (shift int, ok bool) {
	for shift := 0; shift < 64; shift += 8 {
		if mask == 0xff<<shift {
			return shift, true
		}
	}
	return 0, false
}

func (p *parser) parenthesized() Operand {
	if !p.enter() {
		return Int{}
	}
	defer p.leave()
	p.next()
	t := p.tok
	if p.gotDot("s64") || p.gotDot("u64") {
		p.want(')', "after a cast")
		return p.cast(t, p.unary())
	}
	x := p.expr()
	p.want(')', "to close an expression")
	return x
}

func (p *parser) cast(t token, x Operand) Operand {
	switch v := x.(type) {
	case Int:
		v.Unsigned = p.text(t) == ".u64"
		return v
	case Float:
		p.errorAt(t, "a float has no casts")
		return x
	}
	return &Unary{"(" + p.text(t) + ")", x}
}

func (p *parser) foldUnary(t token, op byte, x Operand) Operand {
	switch v := x.(type) {
	case Int:
		r, _ := unaryInt(op, v)
		return r
	case Float:
		if op != '-' && op != '+' {
			p.errorAt(t, "operator %q needs an integer", op)
		}
		if op == '-' {
			v.Bits ^= 1 << (v.Size - 1)
		}
		return v
	}
	if op == '+' {
		return x
	}
	if op == '!' { // !p is an operand kind of its own; an address has no truth value
		p.errorAt(t, "operator %q needs an integer", op)
	}
	return &Unary{string(op), x}
}

func unaryInt(op byte, v Int) (Int, bool) {
	switch op {
	case '-':
		return Int{-v.Bits, v.Unsigned}, true
	case '~':
		return Int{^v.Bits, true}, true
	case '!':
		return truth(v.Bits == 0), true
	}
	return v, true
}

func truth(b bool) Int {
	if b {
		return Int{Bits: 1}
	}
	return Int{}
}

// fold applies a binary operator to constants; with a name it builds a tree.
func (p *parser) fold(t token, op string, x, y Operand) Operand {
	a, aok := x.(Int)
	b, bok := y.(Int)
	if aok && bok {
		if (op == "/" || op == "%") && b.Bits == 0 {
			p.errorAt(t, "division by zero")
			return a
		}
		return foldInt(op, a, b)
	}
	f, fok := x.(Float)
	g, gok := y.(Float)
	switch {
	case fok && gok && f.Size == 64 && g.Size == 64:
		if r, ok := foldFloat(op, math.Float64frombits(f.Bits), math.Float64frombits(g.Bits)); ok {
			return r
		}
		p.errorAt(t, "operator %q needs integers", op)
	case fok && gok:
		p.errorAt(t, "single-precision constants (0f…) take no part in expressions")
	case fok || gok:
		p.errorAt(t, "operator %q over a float and another operand", op)
	case op != "+" && op != "-":
		// For addresses the ISA allows only displacements (4.5).
		p.errorAt(t, "operator %q over an address", op)
	}
	return &Binary{op, x, y}
}

func foldFloat(op string, a, b float64) (Operand, bool) {
	var r float64
	switch op {
	case "+":
		r = a + b
	case "-":
		r = a - b
	case "*":
		r = a * b
	case "/":
		r = a / b
	case "<":
		return truth(a < b), true
	case ">":
		return truth(a > b), true
	case "<=":
		return truth(a <= b), true
	case ">=":
		return truth(a >= b), true
	case "==":
		return truth(a == b), true
	case "!=":
		return truth(a != b), true
	default:
		return nil, false
	}
	return Float{math.Float64bits(r), 64}, true
}

// foldInt applies an operator with the types of ISA table 5.
func foldInt(op string, a, b Int) Int {
	uns := a.Unsigned || b.Unsigned
	x, y := a.Bits, b.Bits
	switch op {
	case "+":
		return Int{x + y, uns}
	case "-":
		return Int{x - y, uns}
	case "*":
		return Int{x * y, uns}
	case "/":
		if uns {
			return Int{x / y, true}
		}
		return Int{uint64(int64(x) / int64(y)), false}
	case "%":
		return Int{x % y, false}
	case "<<":
		return Int{x << y, a.Unsigned}
	case ">>":
		if a.Unsigned {
			return Int{x >> y, true}
		}
		return Int{uint64(int64(x) >> y), false}
	case "&":
		return Int{x & y, uns}
	case "|":
		return Int{x | y, uns}
	case "^":
		return Int{x ^ y, uns}
	case "&&":
		return truth(x != 0 && y != 0)
	case "||":
		return truth(x != 0 || y != 0)
	case "==":
		return truth(x == y)
	case "!=":
		return truth(x != y)
	}
	return truth(ordered(op, a, b, uns))
}

func ordered(op string, a, b Int, uns bool) bool {
	less := func(x, y uint64) bool {
		if uns {
			return x < y
		}
		return int64(x) < int64(y)
	}
	switch op {
	case "<":
		return less(a.Bits, b.Bits)
	case ">":
		return less(b.Bits, a.Bits)
	case "<=":
		return !less(b.Bits, a.Bits)
	case ">=":
		return !less(a.Bits, b.Bits)
	}
	panic("BUG: operator " + op)
}
