package ptx

import "slices"

// types are the types of variables (ISA 5.2, 5.3), with their sizes in bytes. Opaque
// types are 64-bit handles.
var types = map[string]int64{
	"b8": 1, "b16": 2, "b32": 4, "b64": 8, "b128": 16,
	"u8": 1, "u16": 2, "u32": 4, "u64": 8,
	"s8": 1, "s16": 2, "s32": 4, "s64": 8,
	"f16": 2, "f16x2": 4, "f32": 4, "f64": 8,
	"pred": 1, "texref": 8, "samplerref": 8, "surfref": 8,
}

// packedSizes are the sizes in bytes of types that variables cannot have.
var packedSizes = map[string]int{
	"bf16": 2, "bf16x2": 4, "tf32": 4, "f32x2": 8, "u16x2": 4, "s16x2": 4, "u8x4": 4, "s8x4": 4,
	"e4m3": 1, "e5m2": 1, "e4m3x2": 2, "e5m2x2": 2,
}

// TypeSize returns the size in bytes of a type's values, 0 for a predicate; false if
// no instruction computes with values of the type.
func TypeSize(name string) (bytes int, ok bool) {
	switch name {
	case "pred":
		return 0, true
	case "texref", "samplerref", "surfref":
		return 0, false
	}
	if n, ok := types[name]; ok {
		return int(n), true
	}
	bytes, ok = packedSizes[name]
	return bytes, ok
}

// vars takes a declaration of one or more variables up to its semicolon.
func (p *parser) vars(link Linkage) []*Var {
	common := Var{Linkage: link, Space: p.text(p.tok)[1:]}
	p.next()
	if p.tok.kind == '[' {
		p.errorf("banks of .const ended with PTX 2.2")
	}
	p.varType(&common)
	var list []*Var
	for {
		v := common
		v.Pos = p.tok.pos
		v.Name = p.ident("a variable name")
		p.countOrDims(&v)
		if p.got('=') {
			v.Init = p.init()
		}
		list = append(list, &v)
		if !p.got(',') {
			break
		}
	}
	p.want(';', "after a declaration")
	return list
}

// varType takes the words between the space and the name.
func (p *parser) varType(v *Var) {
	start := p.tok
	for p.tok.kind == tDot {
		t := p.tok
		word := p.text(t)[1:]
		if word == "attribute" {
			v.Attrs = p.attribute(v.Attrs)
			continue
		}
		p.next()
		switch {
		case word == "align":
			v.Align = p.align()
		case word == "v2" || word == "v4":
			v.Vec = int(word[1] - '0')
		case word == "ptr":
			v.Ptr = p.ptr()
		case types[word] != 0 && v.Type == "":
			v.Type = word
		case types[word] != 0:
			p.errorAt(t, "a second type, .%s", word)
		default:
			p.errorAt(t, "unknown type .%s", word)
		}
	}
	if v.Type == "" {
		p.errorAt(start, "expected a type, found %s", p.found())
	}
}

func (p *parser) align() int {
	t := p.tok
	n := p.constInt("alignment", 1, 1<<30)
	if n&(n-1) != 0 {
		p.errorAt(t, "alignment %d is no power of two", n)
	}
	return int(n)
}

// ptr takes the operands of .ptr (ISA 5.1.6.3).
func (p *parser) ptr() *Ptr {
	x := &Ptr{}
	if p.tok.kind == tDot {
		switch word := p.text(p.tok)[1:]; word {
		case "global", "shared", "local", "const", "texref", "samplerref", "surfref", "generic":
			x.Space = word
			p.next()
		}
	}
	if p.gotDot("align") {
		x.Align = p.align()
	}
	return x
}

// attribute takes .attribute(.managed, .unified(a, b)); each becomes a
// directive (ISA 5.4.8).
func (p *parser) attribute(list []Directive) []Directive {
	p.next()
	p.want('(', "after .attribute")
	for {
		d := Directive{Pos: p.tok.pos}
		switch {
		case p.gotDot("managed"):
			d.Name = "managed"
		case p.gotDot("unified"):
			d.Name = "unified"
			p.want('(', "after .unified")
			d.Args = append(d.Args, p.expr())
			p.want(',', "in .unified")
			d.Args = append(d.Args, p.expr())
			p.want(')', "after .unified")
		default:
			p.errorf("unknown attribute %s", p.found())
		}
		list = append(list, d)
		if !p.got(',') {
			break
		}
	}
	p.want(')', "after the attributes")
	return list
}

func (p *parser) countOrDims(v *Var) {
	if !p.got('<') {
		p.dims(v)
		return
	}
	// In an expression, the closing bracket would be an operator.
	v.Count = int(p.plainInt("a number of variables", maxRange))
	if v.Count == 0 {
		p.errorf("a range of no variables")
	}
	p.want('>', "after a number of variables")
}

func (p *parser) dims(v *Var) {
	start := p.tok
	bytes := types[v.Type] * int64(max(v.Vec, 1))
	for p.got('[') {
		if p.got(']') {
			v.Dims = append(v.Dims, -1)
			continue
		}
		n := p.constInt("array extent", 0, maxDimension)
		v.Dims = append(v.Dims, n)
		if n > 0 && bytes > maxVarBytes/n {
			p.errorAt(start, "array %s has more than %d bytes", v.Name, int64(maxVarBytes))
		}
		bytes *= max(n, 1)
		p.want(']', "after an array extent")
	}
	if len(v.Dims) > 1 && slices.Contains(v.Dims[1:], -1) {
		p.errorAt(start, "only the first extent of %s may be left out", v.Name)
	}
}

// init takes an initializer: an expression or a braced list. Opaque types
// have lists of "property = value".
func (p *parser) init() *Init {
	if p.tok.kind != '{' {
		return &Init{Expr: p.initExpr()}
	}
	if !p.enter() {
		return nil
	}
	defer p.leave()
	p.next()
	x := &Init{List: []*Init{}}
	for p.tok.kind != '}' && p.tok.kind != tEOF {
		x.List = append(x.List, p.init())
		if !p.got(',') {
			break
		}
	}
	p.want('}', "to close an initializer")
	return x
}

func (p *parser) initExpr() Operand {
	x := p.expr()
	if p.got('=') {
		return &Binary{"=", x, p.expr()}
	}
	return x
}
