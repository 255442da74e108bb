package ptx

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Print writes the module as PTX text, in one canonical layout made from the tree alone.
// Parsing the text returns the same tree, except for positions. The error is w's, or
// names an invalid node.
func (m *Module) Print(w io.Writer) error {
	p := &printer{}
	p.module(m)
	if p.err != nil {
		return p.err
	}
	_, err := w.Write(p.buf)
	return err
}

// String returns the text that Print writes; for a malformed tree, the error.
func (m *Module) String() string {
	var b strings.Builder
	if err := m.Print(&b); err != nil {
		return err.Error()
	}
	return b.String()
}

// String gives the instruction as text, with guard and semicolon.
func (in *Inst) String() string {
	p := &printer{}
	p.inst(in)
	return string(p.buf)
}

// FormatOperand gives an operand as text.
func FormatOperand(x Operand) string {
	p := &printer{}
	p.operand(x)
	return string(p.buf)
}

type printer struct {
	buf    []byte
	indent int
	err    error
}

func (p *printer) put(words ...string) {
	for _, w := range words {
		p.buf = append(p.buf, w...)
	}
}

func (p *printer) int(n int64) { p.buf = strconv.AppendInt(p.buf, n, 10) }

func (p *printer) line() {
	p.put("\n")
	for range p.indent {
		p.put("\t")
	}
}

func (p *printer) bad(where string, x any) {
	if p.err == nil {
		p.err = fmt.Errorf("ptx: cannot print %T %s", x, where)
	}
}

// commas puts n things with commas between.
func (p *printer) commas(n int, put func(i int)) {
	for i := range n {
		if i > 0 {
			p.put(", ")
		}
		put(i)
	}
}

func (p *printer) module(m *Module) {
	p.put(".version ")
	p.int(int64(m.Version.Major))
	p.put(".")
	p.int(int64(m.Version.Minor))
	p.put("\n.target ", strings.Join(m.Target, ", "), "\n")
	if m.Address != 0 {
		p.put(".address_size ")
		p.int(int64(m.Address))
		p.put("\n")
	}
	for _, it := range m.Items {
		p.item(it)
	}
}

func (p *printer) item(it Item) {
	switch x := it.(type) {
	case *Func:
		p.put("\n")
		p.function(x)
	case *Var:
		p.vardecl(x)
		p.put(";")
	case *File:
		p.file(x)
	case *Section:
		p.section(x)
	case *Pragma:
		p.pragma(x)
	case *Alias:
		p.put(".alias ", x.Name, ", ", x.Target, ";")
	case *Directive:
		p.directive(x)
		p.put(";")
	default:
		p.bad("at module scope", it)
	}
	p.put("\n")
}

func (p *printer) file(f *File) {
	p.put(".file ")
	p.int(int64(f.Index))
	p.put(" ", quote(f.Name))
	if f.HasTimeSize {
		p.put(", ")
		p.int(f.Time)
		p.put(", ")
		p.int(f.Size)
	}
}

func (p *printer) section(s *Section) {
	p.put(".section ", s.Name, " {\n")
	for _, it := range s.Items {
		if it.Label != "" {
			p.put(it.Label, ":\n")
			continue
		}
		p.put("\t.", it.Type, " ")
		p.commas(len(it.Data), func(i int) { p.operand(it.Data[i]) })
		p.put("\n")
	}
	p.put("}")
}

func (p *printer) pragma(g *Pragma) {
	p.put(".pragma ")
	p.commas(len(g.Text), func(i int) { p.put(quote(g.Text[i])) })
	p.put(";")
}

func (p *printer) directive(d *Directive) {
	p.put(".", d.Name)
	if len(d.Args) > 0 {
		p.put(" ")
		p.commas(len(d.Args), func(i int) { p.operand(d.Args[i]) })
	}
}

func (p *printer) linkage(l Linkage) {
	if l != "" {
		p.put(".", string(l), " ")
	}
}

// isAttribute reports whether a directive is written within .attribute( ).
func isAttribute(d Directive) bool { return d.Name == "managed" || d.Name == "unified" }

func (p *printer) attributes(list []Directive) {
	sep := ".attribute("
	for _, d := range list {
		if !isAttribute(d) {
			continue
		}
		p.put(sep, ".", d.Name)
		if len(d.Args) > 0 {
			p.put("(")
			p.commas(len(d.Args), func(i int) { p.operand(d.Args[i]) })
			p.put(")")
		}
		sep = ", "
	}
	if sep == ", " {
		p.put(") ")
	}
}

func (p *printer) function(f *Func) {
	p.linkage(f.Linkage)
	if f.Entry {
		p.put(".entry ")
	} else {
		p.put(".func ")
	}
	p.attributes(f.Attrs)
	if len(f.Ret) > 0 {
		p.params(f.Ret)
		p.put(" ")
	}
	p.put(f.Name)
	if len(f.Params) > 0 {
		p.put("(\n\t")
		for i, v := range f.Params {
			if i > 0 {
				p.put(",\n\t")
			}
			p.vardecl(v)
		}
		p.put("\n)")
	}
	p.funcAttrs(f.Attrs, "\n")
	if f.Body == nil {
		p.put(";")
		return
	}
	p.put("\n")
	p.block(f.Body)
}

func (p *printer) funcAttrs(list []Directive, sep string) {
	for _, d := range list {
		if isAttribute(d) {
			continue
		}
		p.put(sep)
		p.directive(&d)
		if d.Name == "pragma" {
			p.put(";")
		}
	}
}

func (p *printer) params(list []*Var) {
	p.put("(")
	p.commas(len(list), func(i int) { p.vardecl(list[i]) })
	p.put(")")
}

func (p *printer) vardecl(v *Var) {
	p.linkage(v.Linkage)
	p.put(".", v.Space, " ")
	p.attributes(v.Attrs)
	if v.Align != 0 {
		p.align(v.Align)
	}
	if v.Vec != 0 {
		p.put(".v")
		p.int(int64(v.Vec))
		p.put(" ")
	}
	p.put(".", v.Type, " ")
	if v.Ptr != nil {
		p.put(".ptr ")
		if v.Ptr.Space != "" {
			p.put(".", v.Ptr.Space, " ")
		}
		if v.Ptr.Align != 0 {
			p.align(v.Ptr.Align)
		}
	}
	p.put(v.Name)
	if v.Count != 0 {
		p.put("<")
		p.int(int64(v.Count))
		p.put(">")
	}
	for _, n := range v.Dims {
		p.put("[")
		if n >= 0 {
			p.int(n)
		}
		p.put("]")
	}
	if v.Init != nil {
		p.put(" = ")
		p.init(v.Init)
	}
}

func (p *printer) align(n int) {
	p.put(".align ")
	p.int(int64(n))
	p.put(" ")
}

func (p *printer) init(x *Init) {
	if x.Expr != nil {
		p.operand(x.Expr)
		return
	}
	p.put("{")
	p.commas(len(x.List), func(i int) { p.init(x.List[i]) })
	p.put("}")
}

func (p *printer) block(b *Block) {
	p.put("{")
	p.indent++
	for _, s := range b.Stmts {
		p.stmt(s)
	}
	p.indent--
	p.line()
	p.put("}")
}

func (p *printer) stmt(s Stmt) {
	if l, ok := s.(*Label); ok {
		p.put("\n", l.Name, ":")
		return
	}
	p.line()
	switch x := s.(type) {
	case *Inst:
		p.inst(x)
	case *Var:
		p.vardecl(x)
		p.put(";")
	case *Block:
		p.block(x)
	case *Loc:
		p.loc(x)
	case *Pragma:
		p.pragma(x)
	case *Prototype:
		p.prototype(x)
	case *Targets:
		p.targets(x)
	case *Directive:
		p.directive(x)
		p.put(";")
	default:
		p.bad("as a statement", s)
	}
}

func (p *printer) place(file, line, col int) {
	p.int(int64(file))
	p.put(" ")
	p.int(int64(line))
	p.put(" ")
	p.int(int64(col))
}

func (p *printer) loc(l *Loc) {
	p.put(".loc ")
	p.place(l.File, l.Line, l.Col)
	if !l.Inlined {
		return
	}
	p.put(", function_name ", l.Func)
	if l.FuncOffset != 0 {
		p.put("+")
		p.int(l.FuncOffset)
	}
	p.put(", inlined_at ")
	p.place(l.AtFile, l.AtLine, l.AtCol)
}

func (p *printer) prototype(x *Prototype) {
	p.put(x.Label, ": .callprototype ")
	if len(x.Ret) > 0 {
		p.params(x.Ret)
		p.put(" ")
	}
	p.put("_")
	if len(x.Params) > 0 {
		p.put(" ")
		p.params(x.Params)
	}
	p.funcAttrs(x.Attrs, " ")
	p.put(";")
}

func (p *printer) targets(t *Targets) {
	p.put(t.Label, ": .branchtargets ")
	if t.Call {
		p.buf = append(p.buf[:len(p.buf)-len("branchtargets ")], "calltargets "...)
	}
	p.put(strings.Join(t.Names, ", "), ";")
}

func (p *printer) inst(in *Inst) {
	if in.Guard != nil {
		p.put("@")
		if in.Guard.Not {
			p.put("!")
		}
		p.put(in.Guard.Reg, " ")
	}
	p.put(in.Op)
	for _, m := range in.Mods {
		p.put(".", m)
	}
	if len(in.Operands) > 0 {
		p.put(" ")
		p.list(in.Operands)
	}
	p.put(";")
}

func (p *printer) list(xs []Operand) {
	p.commas(len(xs), func(i int) { p.operand(xs[i]) })
}

func (p *printer) operand(x Operand) {
	switch x := x.(type) {
	case Name:
		p.put(string(x))
	case Int:
		p.put(formatInt(x))
	case Float:
		p.put(formatFloat(x))
	case String:
		p.put(quote(string(x)))
	case Sink:
		p.put("_")
	case *Vector:
		p.put("{")
		p.list(x.Elems)
		p.put("}")
	case *Mem:
		p.mem(x)
	case *Pair:
		p.operand(x.A)
		p.put("|")
		p.operand(x.B)
	case *Not:
		p.put("!")
		p.operand(x.X)
	case *Select:
		p.operand(x.X)
		p.put(".", x.Sel)
	case *Unary:
		p.unary(x)
	case *Binary:
		p.binary(x)
	case *List:
		p.put("(")
		p.list(x.Elems)
		p.put(")")
	default:
		p.bad("as an operand", x)
	}
}

func (p *printer) mem(m *Mem) {
	if m.Index {
		p.element(m)
		return
	}
	p.put("[")
	if m.Base != nil {
		p.operand(m.Base)
	}
	if m.Off != 0 {
		p.put("+", formatInt(Int{Bits: uint64(m.Off)}))
	}
	for _, r := range m.Rest {
		p.put(", ")
		p.operand(r)
	}
	p.put("]")
}

func (p *printer) element(m *Mem) {
	p.operand(m.Base)
	p.put("[")
	for _, r := range m.Rest {
		p.operand(r)
		p.put("+")
	}
	p.put(formatInt(Int{Bits: uint64(m.Off)}), "]")
}

func (p *printer) unary(x *Unary) {
	p.put(x.Op)
	b, isBinary := x.X.(*Binary)
	switch {
	case x.Op == "generic" || strings.HasPrefix(x.Op, "0x"), isBinary && b.Op != "":
		p.put("(")
		p.operand(x.X)
		p.put(")")
	default:
		p.operand(x.X)
	}
}

func (p *printer) binary(x *Binary) {
	prec := precedence(x.Op)
	p.term(x.X, prec)
	if x.Op == "=" || x.Op == "%" { // "a%b" would read as two names
		p.put(" ", x.Op, " ")
	} else {
		p.put(x.Op)
	}
	p.term(x.Y, prec+1)
}

// term prints a side of a binary expression, in parentheses if its operator binds weaker
// than prec. A negative number needs them after an operator that would absorb its sign.
func (p *printer) term(x Operand, prec int) {
	b, ok := x.(*Binary)
	if !ok || precedence(b.Op) >= prec {
		p.operand(x)
		return
	}
	p.put("(")
	p.operand(x)
	p.put(")")
}

// formatInt prints an integer so that it parses with its sign: an unsigned one that would
// parse as signed gets its suffix.
func formatInt(x Int) string {
	v := int64(x.Bits)
	switch {
	case x.Unsigned && v >= 0:
		return strconv.FormatUint(x.Bits, 10) + "U"
	case x.Unsigned:
		return strconv.FormatUint(x.Bits, 10)
	case v == math.MinInt64: // 2^63 alone would be unsigned
		return "(-9223372036854775807-1)"
	}
	return strconv.FormatInt(v, 10)
}

// formatFloat prints the bits, which is exact for every value.
func formatFloat(x Float) string {
	if x.Size == 32 {
		return fmt.Sprintf("0f%08X", x.Bits)
	}
	return fmt.Sprintf("0d%016X", x.Bits)
}
