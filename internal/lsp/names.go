package lsp

import (
	"fmt"
	"strconv"
	"strings"

	"muster/ptx"
)

// describeName tells what is known of the name at a spot; empty for what is no name.
func (p *spot) describeName() string {
	n, _ := p.name()
	if n == nil {
		return p.describeSpecial()
	}
	switch {
	case n.fn != nil:
		kind := "function"
		if n.fn.Entry {
			kind = "kernel"
		}
		text := fmt.Sprintf("%s `%s` of %d parameters", kind, n.fn.Name, len(n.fn.Params))
		if n.fn.Body == nil {
			text += ", declared here and defined elsewhere"
		}
		return text
	case n.label:
		return fmt.Sprintf("label `%s`, line %d", p.word, p.x.text.position(n.at).Line+1)
	}
	text := fence("ptx", declared(n.v, p.word))
	if n.v.Space == "reg" {
		return text + p.describeRegister()
	}
	if size, ok := sizeOf(n.v); ok {
		text += fmt.Sprintf("\n\n%d bytes", size)
	}
	return text + p.x.describeUsers(n)
}

// declared is a declaration in PTX.
func declared(v *ptx.Var, word string) string {
	var b strings.Builder
	if v.Linkage != "" {
		fmt.Fprintf(&b, ".%s ", v.Linkage)
	}
	fmt.Fprintf(&b, ".%s ", v.Space)
	if v.Align > 0 {
		fmt.Fprintf(&b, ".align %d ", v.Align)
	}
	if v.Vec > 0 {
		fmt.Fprintf(&b, ".v%d ", v.Vec)
	}
	fmt.Fprintf(&b, ".%s %s", v.Type, word)
	for _, d := range v.Dims {
		if d < 0 {
			b.WriteString("[]")
		} else {
			fmt.Fprintf(&b, "[%d]", d)
		}
	}
	return b.String()
}

// sizeOf is a variable's size in bytes, if it is declared.
func sizeOf(v *ptx.Var) (int64, bool) {
	n, ok := ptx.TypeSize(v.Type)
	size := int64(n)
	if v.Vec > 0 {
		size *= int64(v.Vec)
	}
	for _, d := range v.Dims {
		if d < 0 {
			return 0, false
		}
		size *= d
	}
	return size, ok && size > 0
}

// describeRegister says where a register is written, and what it points to as far as the text
// tells.
func (p *spot) describeRegister() string {
	if p.inst < 0 {
		return ""
	}
	in := &p.x.insts[p.inst]
	f := p.x.flowOf(in.fn)
	r, ok := in.register(ptx.Name(p.word))
	if !ok {
		return ""
	}
	text := ""
	for n, i := range f.writers[r] {
		if n == mostOthers {
			text += fmt.Sprintf("- and %d more\n", len(f.writers[r])-n)
			break
		}
		w := p.x.insts[i].in
		text += fmt.Sprintf("- [line %d](%s#L%d) `%s`\n", w.Pos.Line, p.x.text.uri, w.Pos.Line, w.Opcode())
	}
	if text != "" {
		text = "\n\nwritten at\n" + strings.TrimRight(text, "\n")
	}
	if at := f.follow(p.inst, ptx.Name(p.word)); isVariable(at.base) {
		text += "\n\npoints to " + at.String()
		n := at.base.(*name)
		if size, ok := sizeOf(n.v); ok {
			text += fmt.Sprintf(", of %d bytes", size)
		}
		text += p.x.describeUsers(n)
	}
	return text
}

// String names a place in a variable.
func (p place) String() string {
	n, ok := p.base.(*name)
	if !ok {
		return "an address that the text does not tell"
	}
	text := "`" + n.v.Name
	switch {
	case !p.exact:
		text += " + …"
	case p.off != 0:
		text += fmt.Sprintf("%+d", p.off)
	}
	return text + "`"
}

// describeUsers says which instructions use a variable as an mbarrier.
func (x *index) describeUsers(n *name) string {
	counts := map[string][]string{}
	var order []string
	for _, fn := range x.funcs {
		ends := x.flowOf(fn).ends()
		for i := fn.first; i < fn.last; i++ {
			in := x.insts[i].in
			at, ok := ends[i]
			switch {
			case ok && at.where.base == any(n):
			case in.Form != nil && in.Form.Barrier == "init" && x.flowOf(fn).follow(i, barrierOf(in)).base == any(n):
			default:
				continue
			}
			op := in.Opcode()
			if counts[op] == nil {
				order = append(order, op)
			}
			counts[op] = append(counts[op], strconv.Itoa(int(in.Pos.Line)))
		}
	}
	if len(order) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\nused as an mbarrier by\n")
	for _, op := range order {
		lines := counts[op]
		word, more := "line", ""
		if len(lines) > 1 {
			word = "lines"
		}
		if len(lines) > mostOthers {
			lines, more = lines[:mostOthers], " …"
		}
		fmt.Fprintf(&b, "- `%s`, %s %s%s\n", op, word, strings.Join(lines, ", "), more)
	}
	return strings.TrimRight(b.String(), "\n")
}

// describeSpecial tells of a special register.
func (p *spot) describeSpecial() string {
	key := p.word
	if end := p.at + len(p.word); p.word != "" && strings.HasPrefix(p.x.text.src[end:], ".") {
		if part, _ := wordAt(p.x.text.src, end+1); len(part) == 1 {
			key += "." + part
		}
	}
	s, ok := ptx.LookupSpecial(key)
	if !ok {
		return ""
	}
	text := fmt.Sprintf("special register `%s`: .%s, from PTX %d.%d and sm_%d%s on", key, s.Type, s.Version.Major, s.Version.Minor, s.SM.Number, s.SM.Suffix)
	if s.Varies {
		text += "; no run determines it: it shows time, or the placement of a CTA"
	}
	return text
}
