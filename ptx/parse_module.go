package ptx

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

func (p *parser) module() *Module {
	m := &Module{Name: p.file}
	if p.tok.kind == tEOF {
		p.errorf("no PTX text: a module begins with .version")
	}
	if !p.isDot("version") {
		p.errorf("a module begins with .version, found %s", p.found())
	}
	for p.tok.kind != tEOF {
		p.item(m)
	}
	if p.err == nil && m.Target == nil {
		p.errorf("the module has no .target")
	}
	return m
}

// item takes one module-scope declaration.
func (p *parser) item(m *Module) {
	switch t := p.tok; {
	case t.kind == ';': // stray, as after a function body
		p.next()
	case t.kind == '@':
		p.errorf("@@DWARF lines ended with PTX 2.0: use .section")
	case t.kind != tDot:
		p.errorf("expected a directive, found %s", p.found())
	case p.gotDot("version"):
		p.version(m, t)
	case p.gotDot("target"):
		p.target(m)
	case p.gotDot("address_size"):
		m.Address = int(p.plainInt("address size", 64))
		if m.Address != 32 && m.Address != 64 {
			p.errorAt(t, "address size is 32 or 64")
		}
	case p.gotDot("file"):
		m.Items = append(m.Items, p.fileItem(t.pos))
	case p.gotDot("section"):
		m.Items = append(m.Items, p.section(t.pos))
	case p.gotDot("pragma"):
		m.Items = append(m.Items, p.pragma(t.pos))
	case p.gotDot("alias"):
		m.Items = append(m.Items, p.alias(t.pos))
	default:
		p.declaration(m)
	}
}

func (p *parser) version(m *Module, at token) {
	if m.Version != (Version{}) {
		p.errorAt(at, "a second .version")
	}
	major, minor, ok := strings.Cut(p.text(p.tok), ".")
	x, err1 := strconv.ParseUint(major, 10, 10)
	y, err2 := strconv.ParseUint(minor, 10, 10)
	if p.tok.kind != tFloat || !ok || err1 != nil || err2 != nil || x == 0 {
		p.errorf("expected a version such as 9.0, found %s", p.found())
		return
	}
	m.Version = Version{int(x), int(y)}
	p.next()
}

func (p *parser) target(m *Module) {
	for {
		m.Target = append(m.Target, p.ident("a target"))
		if !p.got(',') {
			return
		}
	}
}

func (p *parser) fileItem(pos Pos) *File {
	f := &File{Pos: pos, Index: int(p.plainInt("a file index", math.MaxInt32)), Name: p.str("a file name")}
	if p.got(',') {
		f.HasTimeSize = true
		f.Time = p.plainInt("a time", math.MaxInt64)
		p.want(',', "before the file size")
		f.Size = p.plainInt("a file size", math.MaxInt64)
	}
	return f
}

func (p *parser) section(pos Pos) *Section {
	s := &Section{Pos: pos}
	switch p.tok.kind {
	case tDot, tIdent:
		s.Name = p.text(p.tok)
		p.next()
	default:
		p.errorf("expected a section name, found %s", p.found())
	}
	p.want('{', "to open the section")
	p.dotNames = true
	for p.tok.kind == tDot || p.tok.kind == tIdent {
		s.Items = append(s.Items, p.sectionItem())
	}
	p.dotNames = false
	p.want('}', "to close the section")
	return s
}

func (p *parser) sectionItem() SectionItem {
	if p.tok.kind == tIdent {
		label := p.ident("a label")
		p.want(':', "after a label")
		return SectionItem{Label: label}
	}
	it := SectionItem{Type: p.text(p.tok)[1:]}
	switch it.Type {
	case "b8", "b16", "b32", "b64":
	default:
		p.errorf("section data is .b8, .b16, .b32 or .b64, found %s", p.found())
	}
	p.next()
	for {
		it.Data = append(it.Data, p.expr())
		if !p.got(',') {
			return it
		}
	}
}

func (p *parser) pragma(pos Pos) *Pragma {
	g := &Pragma{Pos: pos}
	for {
		g.Text = append(g.Text, p.str("a pragma"))
		if !p.got(',') {
			break
		}
	}
	p.want(';', "after a pragma")
	return g
}

func (p *parser) alias(pos Pos) *Alias {
	a := &Alias{Pos: pos, Name: p.ident("a function name")}
	p.want(',', "between the names of an alias")
	a.Target = p.ident("a function name")
	p.want(';', "after an alias")
	return a
}

var (
	linkages = []string{"extern", "visible", "weak", "common"}
	spaces   = []string{"reg", "shared", "global", "const", "local", "param", "tex", "sreg"}
)

func (p *parser) linkage() Linkage {
	if p.tok.kind != tDot {
		return ""
	}
	i := slices.Index(linkages, p.text(p.tok)[1:])
	if i < 0 {
		return ""
	}
	p.next()
	return Linkage(linkages[i])
}

func (p *parser) isSpace() bool {
	return p.tok.kind == tDot && slices.Contains(spaces, p.text(p.tok)[1:])
}

// declaration takes a function, variables, or a directive without a node kind.
func (p *parser) declaration(m *Module) {
	start := p.tok
	link := p.linkage()
	switch {
	case p.isSpace():
		for _, v := range p.vars(link) {
			m.Items = append(m.Items, v)
		}
	case p.isDot("entry"), p.isDot("func"):
		m.Items = append(m.Items, p.function(link))
	case link != "":
		p.errorf("expected a function or a variable after .%s, found %s", link, p.found())
	default:
		if d := p.unknown(start); d != nil {
			m.Items = append(m.Items, d)
		}
	}
}

// unknown keeps a directive without a node kind, if its end is certain: names, numbers
// and strings up to a semicolon.
func (p *parser) unknown(start token) *Directive {
	d := &Directive{Pos: start.pos, Name: p.text(start)[1:]}
	p.next()
	p.dotNames = true
	for ok := p.tok.kind != ';'; ok; ok = p.got(',') {
		switch p.tok.kind {
		case tDot, tIdent, tInt, tFloat, tString:
			d.Args = append(d.Args, p.operand())
		default:
			p.errorAt(start, "unknown directive .%s", d.Name)
		}
	}
	p.dotNames = false
	if p.tok.kind != ';' {
		p.errorAt(start, "unknown directive .%s: cannot tell where it ends", d.Name)
		return nil
	}
	p.next()
	return d
}

func (p *parser) function(link Linkage) *Func {
	f := &Func{Linkage: link, Entry: p.isDot("entry")}
	p.next()
	if p.isDot("attribute") {
		f.Attrs = p.attribute(nil)
	}
	if !f.Entry && p.tok.kind == '(' {
		f.Ret = p.params()
	}
	f.Pos = p.tok.pos
	f.Name = p.ident("a function name")
	if p.tok.kind == '(' {
		f.Params = p.params()
	}
	for p.tok.kind == tDot {
		f.Attrs = append(f.Attrs, p.funcAttr())
	}
	switch {
	case p.tok.kind == '{':
		f.Body = p.block()
	case !p.got(';'):
		p.errorf("expected %q or %q after the declaration of %s, found %s", '{', ';', f.Name, p.found())
	}
	return f
}

// argCount gives the minimum and maximum number of operands of a function's directive.
var argCount = map[string][2]int{
	"maxntid": {1, 3}, "reqntid": {1, 3}, "minnctapersm": {1, 1}, "maxnctapersm": {1, 1}, "maxnreg": {1, 1},
	"reqnctapercluster": {1, 3}, "explicitcluster": {0, 0}, "maxclusterrank": {1, 1}, "blocksareclusters": {0, 0},
	"noreturn": {0, 0}, "abi_preserve": {1, 1}, "abi_preserve_control": {1, 1},
}

// funcAttr takes one directive between a function's parameters and its body. An unknown
// one ends where the next directive or the body begins.
func (p *parser) funcAttr() Directive {
	t := p.tok
	d := Directive{Pos: t.pos, Name: p.text(t)[1:]}
	p.next()
	if d.Name == "pragma" {
		for _, s := range p.pragma(t.pos).Text {
			d.Args = append(d.Args, String(s))
		}
		return d
	}
	n, known := argCount[d.Name]
	if isReservedDirective(d.Name) {
		p.errorAt(t, "unexpected .%s between a function's parameters and its body", d.Name)
	}
	for ok := startsArg(p.tok.kind); ok; ok = p.got(',') {
		d.Args = append(d.Args, p.operand())
	}
	if known && (len(d.Args) < n[0] || len(d.Args) > n[1]) {
		p.errorAt(t, ".%s takes %d to %d operands, found %d", d.Name, n[0], n[1], len(d.Args))
	}
	return d
}

func isReservedDirective(name string) bool {
	switch name {
	case "version", "target", "address_size", "entry", "func", "file", "section", "alias", "attribute", "loc":
		return true
	}
	return slices.Contains(linkages, name) || slices.Contains(spaces, name)
}

func startsArg(k kind) bool {
	switch k {
	case tIdent, tInt, tFloat, tString, '-', '+', '~', '!', '(':
		return true
	}
	return false
}

// params takes a parenthesized list of formal parameters.
func (p *parser) params() []*Var {
	p.want('(', "to open the parameters")
	list := []*Var{}
	for ok := p.tok.kind != ')'; ok; ok = p.got(',') {
		list = append(list, p.param())
	}
	p.want(')', "to close the parameters")
	if len(list) == 0 {
		return nil
	}
	return list
}

func (p *parser) param() *Var {
	v := &Var{}
	if !p.isDot("param") && !p.isDot("reg") {
		p.errorf("expected a parameter, found %s", p.found())
		return v
	}
	v.Space = p.text(p.tok)[1:]
	p.next()
	p.varType(v)
	v.Pos = p.tok.pos
	if p.tok.kind == ',' || p.tok.kind == ')' {
		v.Name = "_" // a prototype may leave the name out
		return v
	}
	v.Name = p.ident("a parameter name")
	p.dims(v)
	return v
}
