package kernel

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"muster/ptx"
)

// inlineHead precedes inline PTX for parsing.
const inlineHead = ".version 9.2\n.target sm_90a\n.address_size 64\n.entry f() {\n"

// An inlined is inline PTX during its addition to a kernel.
type inlined struct {
	k    *Kernel
	n    int            // number of earlier mistakes
	ptrs map[string]Ptr // operands in brackets, by their text
}

// inline parses PTX text with its operands substituted, checks it against the instruction
// table, resolves its names, and adds it.
func (k *Kernel) inline(text string, args Args) {
	t := &inlined{k: k, n: len(k.errs), ptrs: map[string]Ptr{}}
	text, ok := t.operands(text, args)
	if !ok {
		t.assume(args)
		return
	}
	m, err := ptx.Parse("PTX", []byte(inlineHead+text+"\n}\n"))
	var e *ptx.Error
	switch {
	case errors.As(err, &e) && t.line(e.Pos) > strings.Count(text, "\n")+1:
		k.fail("PTX: the text ends inside of an instruction or a block")
	case e != nil:
		t.fail(e.Pos, "%s", e.Msg)
	case err != nil:
		k.fail("PTX: %v", err)
	case len(m.Items) != 1:
		k.fail("PTX: a } closes what the text did not open")
	default:
		body := m.Items[0].(*ptx.Func).Body
		t.block(body, &names{}, true)
		if len(k.errs) == t.n {
			t.add(body)
			return
		}
	}
	t.assume(args)
}

// assume marks the operands of mistaken text as set.
func (t *inlined) assume(args Args) {
	for _, v := range args {
		t.k.assume([]any{v})
	}
}

// fail reports a mistake at a position in the text.
func (t *inlined) fail(at ptx.Pos, format string, args ...any) {
	t.k.fail("PTX, line %d: %s", t.line(at), fmt.Sprintf(format, args...))
}

// line returns the line of the caller's text, from 1: substituted operands contain no
// line breaks.
func (t *inlined) line(at ptx.Pos) int {
	return max(1, int(at.Line)-strings.Count(inlineHead, "\n"))
}

// operands substitutes operands in the text, all at once, so that none is substituted
// inside another.
func (t *inlined) operands(text string, args Args) (string, bool) {
	k := t.k
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !identifier(name) {
			k.fail("PTX: operand %q: a name has letters, digits, _ and $, and does not begin with a digit", name)
			return "", false
		}
		if !strings.Contains(text, "{"+name+"}") {
			k.fail("PTX: operand %s is not in the text as {%s}", name, name)
			return "", false
		}
		x, ok := k.operandOf(args[name])
		if !ok {
			return "", false
		}
		s := ptx.FormatOperand(x)
		switch p := args[name].(type) {
		case Ptr:
			t.ptrs[s] = p
		case mem:
			t.ptrs[s] = p.at
		}
		pairs = append(pairs, "{"+name+"}", s)
	}
	return strings.NewReplacer(pairs...).Replace(text), true
}

// names are the names that a block of the text declares.
type names struct {
	outer *names
	regs  map[string]Type
	other map[string]bool // labels and parameters
}

// find returns the type of a register of the text, or reports a label or a parameter.
func (n *names) find(name string) (typ Type, reg, other bool) {
	for ; n != nil; n = n.outer {
		if t, ok := n.regs[name]; ok {
			return t, true, false
		}
		if n.other[name] {
			return "", false, true
		}
	}
	return "", false, false
}

// kernelReg matches this package's names of registers.
var kernelReg = regexp.MustCompile(`^%(r|rd|rs|rq|f|fd|p)[0-9]*$`)

// maxInline bounds the registers of one declaration.
const maxInline = 1 << 12

// declared lists the names of a declaration: %a0, %a1 and %a2 for %a<3>.
func declared(v *ptx.Var) []string {
	if v.Count == 0 {
		return []string{v.Name}
	}
	var list []string
	for i := range v.Count {
		list = append(list, fmt.Sprintf("%s%d", v.Name, i))
	}
	return list
}

// declare adds a declaration to a block.
func (t *inlined) declare(v *ptx.Var, n *names) {
	switch {
	case v.Space != "reg" && v.Space != "param":
		t.fail(v.Pos, "%s: inline PTX declares registers; Shared, ConstArray and GlobalArray make variables", v.Name)
		return
	case v.Vec > 0:
		t.fail(v.Pos, "%s: inline PTX has no vector registers", v.Name)
		return
	case v.Count > maxInline:
		t.fail(v.Pos, "%s<%d>: inline PTX declares %d registers at a time at most", v.Name, v.Count, maxInline)
		return
	}
	ok := true
	for _, name := range declared(v) {
		ok = ok && t.claim(name, v.Pos, n) // one mistake is reported once
		if v.Space == "reg" {
			n.regs[name] = Type(v.Type)
		} else {
			n.other[name] = true
		}
	}
}

// claim claims a name for a block. It must not hide a name of the kernel, since operands
// are substituted by name.
func (t *inlined) claim(name string, at ptx.Pos, n *names) bool {
	_, special := special(name)
	switch since, taken := t.k.names[name]; {
	case special || reserved(name) || kernelReg.MatchString(name):
		t.fail(at, "%s: the kernel has such a name itself, or PTX does", name)
	case taken:
		t.fail(at, "%s: the name is taken since %s", name, since)
	case n.regs[name] != "" || n.other[name]:
		t.fail(at, "%s is declared twice", name)
	default:
		if _, ok := t.k.inner[name]; !ok {
			t.k.inner[name] = t.k.here()
		}
		return true
	}
	return false
}

// block checks the statements of a block; top is the text itself. Labels are visible in
// the whole block, declarations from their position on.
func (t *inlined) block(b *ptx.Block, outer *names, top bool) {
	n := &names{outer: outer, regs: map[string]Type{}, other: map[string]bool{}}
	for _, s := range b.Stmts {
		switch l, ok := s.(*ptx.Label); {
		case !ok:
		case top:
			t.fail(l.Pos, "label %s: put the text in braces, so that the label is its own", l.Name)
			n.other[l.Name] = true
		case t.claim(l.Name, l.Pos, n):
			n.other[l.Name] = true
		}
	}
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *ptx.Label, *ptx.Pragma:
		case *ptx.Var:
			if top {
				t.fail(s.Pos, "%s: put the text in braces, so that what it declares is its own", s.Name)
				n.other[s.Name] = true
				continue
			}
			t.declare(s, n)
		case *ptx.Block:
			if t.k.guard != nil {
				t.fail(s.Pos, "a block inside of Guard: only plain instructions take a predicate; use If")
				continue
			}
			t.block(s, n, false)
		case *ptx.Inst:
			t.inst(s, n)
		default:
			t.k.fail("PTX: the text has a directive; it is instructions, and blocks with registers and labels")
		}
	}
}

// inst checks one instruction.
func (t *inlined) inst(in *ptx.Inst, n *names) {
	k := t.k
	if k.guard != nil && (in.Guard != nil || in.Op == "bra" || in.Op == "brx" || in.Op == "call") {
		t.fail(in.Pos, "%s inside of Guard: only plain instructions without a predicate of their own take one; use If", name(in))
		return
	}
	if in.Form == nil {
		t.fail(in.Pos, "%s", ptx.Explain(in))
		return
	}
	if in.Guard != nil {
		if typ, ok := t.known(ptx.Name(in.Guard.Reg), n); !ok || typ != predType {
			t.fail(in.Pos, "%s is no predicate", in.Guard.Reg)
			return
		}
	}
	ptrs := map[*ptx.Mem]Ptr{}
	for _, x := range in.Operands {
		if !t.resolved(in, x, n, ptrs) {
			return
		}
	}
	errs := len(k.errs)
	k.typed(in, ptrs, func(name string) (Type, bool) {
		if typ, reg, _ := n.find(name); reg {
			return typ, true
		}
		r, ok := k.register(name)
		return r.typ, ok
	})
	k.newEnough(in)
	for _, e := range k.errs[errs:] {
		e.Msg = fmt.Sprintf("PTX, line %d: %s", t.line(in.Pos), e.Msg)
	}
}

// resolved reports undefined names in an operand.
func (t *inlined) resolved(in *ptx.Inst, x ptx.Operand, n *names, ptrs map[*ptx.Mem]Ptr) bool {
	all := func(list []ptx.Operand) bool {
		for _, e := range list {
			if !t.resolved(in, e, n, ptrs) {
				return false
			}
		}
		return true
	}
	switch x := x.(type) {
	case ptx.Name:
		if _, ok := t.known(x, n); !ok {
			t.fail(in.Pos, "%s: there is no %s here", name(in), x)
			return false
		}
	case *ptx.Mem:
		if p, ok := t.ptrs[ptx.FormatOperand(x)]; ok {
			ptrs[x] = p
		}
		return (x.Base == nil || t.resolved(in, x.Base, n, ptrs)) && all(x.Rest)
	case *ptx.Vector:
		return all(x.Elems)
	case *ptx.List:
		return all(x.Elems)
	case *ptx.Pair:
		return all([]ptx.Operand{x.A, x.B})
	case *ptx.Not:
		return t.resolved(in, x.X, n, ptrs)
	case *ptx.Select:
		return t.resolved(in, x.X, n, ptrs)
	case *ptx.Unary:
		return t.resolved(in, x.X, n, ptrs)
	case *ptx.Binary:
		return all([]ptx.Operand{x.X, x.Y})
	}
	return true
}

// known returns the type of a defined name: a register, a label, a parameter or variable,
// a function, a special register.
func (t *inlined) known(x ptx.Name, n *names) (Type, bool) {
	k, s := t.k, string(x)
	if typ, reg, other := n.find(s); reg || other {
		return typ, true
	}
	if r, ok := k.register(s); ok {
		return r.typ, true
	}
	if typ, ok := special(s); ok {
		return typ, true
	}
	if _, ok := k.names[s]; ok && s != k.name {
		return "", true
	}
	for _, l := range k.at.labels {
		if l.name == s && l.used {
			return "", true
		}
	}
	return "", false
}

// add adds the checked text.
func (t *inlined) add(b *ptx.Block) {
	k := t.k
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *ptx.Inst:
			k.emit(s)
		case *ptx.Block:
			k.emitBlock(s)
		case *ptx.Pragma:
			if k.grow(1) {
				k.at.stmts = append(k.at.stmts, s)
			}
		}
	}
}
