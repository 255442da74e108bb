package ptx

import (
	"slices"
	"strings"
)

// This file copies the nodes of modules into the whole: under new names, with positions and
// numbers of files that are those of the whole.

// A copier copies the nodes of one module.
type copier struct {
	*linker
	scopes
	mod    int
	rename map[string]string
	labels map[string]string    // of .debug_str
	second map[string][]*symbol // aliases, by the function that they stand for
	uses   []string             // of the item that is copied, under their new names
	err    error
}

func (l *linker) copyAll() error {
	for mod, m := range l.mods {
		for _, it := range m.Items {
			if f, ok := it.(*File); ok {
				l.number[[2]int{mod, f.Index}] = l.fileNumber(linkFile{f.Name, f.Time, f.Size}, l.at(mod, f.Pos), f)
			}
		}
	}
	for mod, m := range l.mods {
		c := &copier{linker: l, mod: mod, rename: l.rename[mod], labels: map[string]string{}, second: map[string][]*symbol{}}
		for _, s := range l.order[mod] {
			if s.alias != nil {
				c.second[s.alias.Target] = append(c.second[s.alias.Target], s)
			}
		}
		for _, it := range m.Items {
			if s, ok := it.(*Section); ok && s.Name == ".debug_str" {
				c.debugStrings(s)
			}
		}
		for _, it := range m.Items {
			if c.item(it); c.err != nil {
				return c.err
			}
		}
	}
	return nil
}

// fileNumber returns a file's number in the whole, and enters its directive.
func (l *linker) fileNumber(f linkFile, pos Pos, from *File) int {
	n, known := l.files[f]
	if !known {
		n = len(l.files) + 1
		l.files[f] = n
		g := *from
		g.Index, g.Pos = n, pos
		l.rest = append(l.rest, &g)
	}
	return n
}

// file is the number in the whole of a number that .loc has.
func (c *copier) file(index int) int {
	key := [2]int{c.mod, index}
	n, ok := c.number[key]
	if !ok { // no .file has it, and none of the whole may
		n = len(c.files) + 1
		c.files[linkFile{"", int64(c.mod), -1 - int64(index)}] = n
		c.number[key] = n
	}
	return n
}

func (c *copier) debugStrings(s *Section) {
	if c.debug == nil {
		c.debug = &Section{Pos: c.at(c.mod, s.Pos), Name: s.Name}
	}
	for _, it := range s.Items {
		old := it.Label
		if to, known := c.labels[old]; known {
			it.Label = to // twice in one module
		} else if old != "" {
			for n := int(c.base[c.mod]) + 1; c.linker.labels[it.Label]; n++ {
				it.Label = Written(old) + unitMark + formatInt(Int{Bits: uint64(n)})
			}
			c.linker.labels[it.Label], c.labels[old] = true, it.Label
		}
		c.debug.Items = append(c.debug.Items, it)
	}
}

func (c *copier) pos(p Pos) Pos { return c.at(c.mod, p) }

// own is the name of one of the module's own symbols in the whole.
func (c *copier) own(name string) string {
	if to, ok := c.rename[name]; ok {
		return to
	}
	return name
}

// stands reports whether an item of a symbol is what stands for it in the whole.
func (c *copier) stands(s *symbol, it Item) bool {
	if s.def != nil && s.def != it {
		return false
	}
	if !c.global(s) {
		return s.def != nil
	}
	g := c.groups[s.name]
	if g.chosen != nil {
		return g.chosen == s
	}
	return g.kept == s && s.decls[0] == it
}

func (c *copier) item(it Item) {
	c.uses = nil
	switch x := it.(type) {
	case *Func:
		s := c.symbols[c.mod][x.Name]
		if x.Body == nil {
			c.forth[c.own(x.Name)] = true
		}
		if !c.stands(s, it) {
			return
		}
		f := c.function(x)
		switch {
		case x.Body == nil: // of the system, used nowhere, or an alias: declared writes it
			c.heads = append(c.heads, f)
		default:
			head := *f
			head.Body = nil
			c.heads = append(c.heads, &head)
			c.funcs = append(c.funcs, linkedFunc{f, c.aliases(x.Name)})
		}
	case *Var:
		s := c.symbols[c.mod][x.Name]
		if !c.stands(s, it) || s.def == nil && !x.dynamic() {
			return
		}
		v := c.variable(x)
		if v.Name = c.own(x.Name); x.Init != nil {
			v.Init = c.init(x.Init)
		}
		if g := c.groups[x.Name]; g != nil && x.dynamic() {
			for _, s := range g.members {
				v.Align = int(max(v.alignment(), s.first().(*Var).alignment()))
			}
		}
		w := &linkedVar{v: v, uses: c.uses}
		c.vars, c.byName[v.Name] = append(c.vars, w), w
		for _, n := range c.uses {
			c.forth[n] = true // if it is a function
		}
	case *Pragma:
		g := *x
		g.Pos = c.pos(x.Pos)
		c.rest = append(c.rest, &g)
	case *Directive:
		d := *x
		d.Pos = c.pos(x.Pos)
		c.rest = append(c.rest, &d)
	}
}

func (c *copier) alias(a *Alias) *Alias {
	return &Alias{Pos: c.pos(a.Pos), Name: c.own(a.Name), Target: c.own(a.Target)}
}

// aliases returns the aliases of a function of the module that count.
func (c *copier) aliases(target string) (list []Item) {
	for _, s := range c.second[target] {
		if c.stands(s, s.def) {
			list = append(list, c.alias(s.alias))
		}
	}
	return list
}

// declared returns the declarations of functions that come before everything else.
func (l *linker) declared() (list []Item) {
	for _, f := range l.heads {
		g := l.groups[f.Name]
		if used := g == nil || g.chosen != nil || g.used != nil; used && l.forth[f.Name] {
			list = append(list, f)
		}
	}
	return list
}

func (c *copier) function(x *Func) *Func {
	f := *x
	f.Pos, f.Name = c.pos(x.Pos), c.own(x.Name)
	c.enter()
	f.Ret, f.Params = c.formals(x.Ret), c.formals(x.Params)
	f.Attrs = c.directives(x.Attrs)
	if x.Body != nil {
		f.Body = c.block(x.Body)
	}
	c.leave()
	return &f
}

// formals copies parameters, and enters their names.
func (c *copier) formals(list []*Var) (out []*Var) {
	for _, v := range list {
		w := c.variable(v)
		c.add(w)
		out = append(out, w)
	}
	return out
}

func (c *copier) directives(list []Directive) []Directive {
	list = slices.Clone(list)
	for i := range list {
		list[i].Pos = c.pos(list[i].Pos)
	}
	return list
}

// variable copies a declaration but for its name and initial values.
func (c *copier) variable(v *Var) *Var {
	w := *v
	w.Pos, w.Attrs = c.pos(v.Pos), c.directives(v.Attrs)
	return &w
}

func (c *copier) init(in *Init) *Init {
	out := &Init{}
	if in.Expr != nil {
		out.Expr = c.operand(in.Expr, Pos{})
	}
	if in.List != nil {
		out.List = make([]*Init, len(in.List))
		for i, e := range in.List {
			out.List[i] = c.init(e)
		}
	}
	return out
}

// block copies a block as a scope. Labels count in all of it, variables from where they
// are declared on.
func (c *copier) block(b *Block) *Block {
	c.enter()
	defer c.leave()
	for _, s := range b.Stmts {
		name := ""
		switch s := s.(type) {
		case *Label:
			name = s.Name
		case *Targets:
			name = s.Label
		case *Prototype:
			name = s.Label
		default:
			continue
		}
		c.add(&Var{Space: "label", Name: name})
	}
	out := &Block{Pos: c.pos(b.Pos), End: c.pos(b.End)}
	if b.Stmts != nil {
		out.Stmts = make([]Stmt, 0, len(b.Stmts))
	}
	for _, s := range b.Stmts {
		out.Stmts = append(out.Stmts, c.stmt(s))
	}
	return out
}

func (c *copier) stmt(s Stmt) Stmt {
	switch s := s.(type) {
	case *Inst:
		in := *s
		in.Pos = c.pos(s.Pos)
		if s.Guard != nil {
			g := *s.Guard
			g.Reg = c.name(g.Reg)
			in.Guard = &g
		}
		in.Operands = c.operands(s.Operands, s.Pos)
		return &in
	case *Label:
		return &Label{c.pos(s.Pos), s.Name}
	case *Var:
		v := c.variable(s)
		if s.Init != nil {
			v.Init = c.init(s.Init)
		}
		c.add(v)
		return v
	case *Block:
		return c.block(s)
	case *Loc:
		l := *s
		l.Pos, l.File = c.pos(s.Pos), c.file(s.File)
		if s.Inlined {
			l.AtFile = c.file(s.AtFile)
			if to, ok := c.labels[s.Func]; ok {
				l.Func = to
			}
		}
		return &l
	case *Pragma:
		g := *s
		g.Pos = c.pos(s.Pos)
		return &g
	case *Prototype:
		p := *s
		p.Pos, p.Attrs = c.pos(s.Pos), c.directives(s.Attrs)
		c.enter()
		p.Ret, p.Params = c.formals(s.Ret), c.formals(s.Params)
		c.leave()
		return &p
	case *Targets:
		t := *s
		t.Pos, t.Names = c.pos(s.Pos), slices.Clone(s.Names)
		for i := range t.Names {
			t.Names[i] = c.name(t.Names[i])
		}
		return &t
	case *Directive:
		d := *s
		d.Pos = c.pos(s.Pos)
		return &d
	}
	return s
}

// name gives a name of the text the one that it has in the whole, and notes its use.
func (c *copier) name(name string) string {
	s := c.symbols[c.mod][name]
	if s == nil {
		if i := strings.IndexByte(name, '.'); i > 0 && c.symbols[c.mod][name[:i]] != nil {
			return c.name(name[:i]) + name[i:]
		}
		return name
	}
	if c.whole(name) != nil {
		return name // of the function
	}
	if c.global(s) {
		if g := c.groups[name]; g.used == nil && s.def == nil {
			g.used = s
		}
	} else if s.def == nil && isFunc(s.decls[0]) && c.err == nil {
		c.err = c.errorAt(s, s.decls[0], "%s is declared without .extern, and its module does not define it", name)
	}
	name = c.own(name)
	c.uses = append(c.uses, name)
	return name
}

func (c *copier) operands(list []Operand, at Pos) []Operand {
	var out []Operand
	for i, x := range list {
		y := c.operand(x, at)
		if out == nil && y != x {
			out = slices.Clone(list)
		}
		if out != nil {
			out[i] = y
		}
	}
	if out == nil {
		return list
	}
	return out
}

// operand copies an operand where a name in it changes; at is the place for errors.
func (c *copier) operand(x Operand, at Pos) Operand {
	switch x := x.(type) {
	case Name:
		if to := c.name(string(x)); to != string(x) {
			return Name(to)
		}
	case *Vector:
		if list := c.operands(x.Elems, at); changed(list, x.Elems) {
			return &Vector{list}
		}
	case *List:
		if list := c.operands(x.Elems, at); changed(list, x.Elems) {
			return &List{list}
		}
	case *Mem:
		m := *x
		if x.Base != nil {
			m.Base = c.operand(x.Base, at)
		}
		if m.Rest = c.operands(x.Rest, at); x.Index {
			c.indexed(x, at)
		}
		if m.Base != x.Base || changed(m.Rest, x.Rest) {
			return &m
		}
	case *Pair:
		if a, b := c.operand(x.A, at), c.operand(x.B, at); a != x.A || b != x.B {
			return &Pair{a, b}
		}
	case *Not:
		if y := c.operand(x.X, at); y != x.X {
			return &Not{y}
		}
	case *Select:
		if y := c.operand(x.X, at); y != x.X {
			return &Select{y, x.Sel}
		}
	case *Unary:
		if y := c.operand(x.X, at); y != x.X {
			return &Unary{x.Op, y}
		}
	case *Binary:
		if x.Op == "=" {
			break // a property of an opaque variable
		}
		if a, b := c.operand(x.X, at), c.operand(x.Y, at); a != x.X || b != x.Y {
			return &Binary{x.Op, a, b}
		}
	}
	return x
}

func changed(a, b []Operand) bool { return len(a) > 0 && &a[0] != &b[0] }

// indexed refuses an element name[i] of a .common variable of which another definition, with
// elements of another size, was chosen.
func (c *copier) indexed(m *Mem, at Pos) {
	n, ok := m.Base.(Name)
	if !ok || c.whole(string(n)) != nil {
		return
	}
	s, g := c.symbols[c.mod][string(n)], c.groups[string(n)]
	if s == nil || g == nil || g.chosen == nil || !c.global(s) || c.err != nil {
		return
	}
	v, ok := s.first().(*Var)
	w, ok2 := g.chosen.def.(*Var)
	if ok && ok2 && elemSize(v) != elemSize(w) {
		c.err = c.out.errorAt(c.pos(at), "%s counts elements of %s, and those of %s, which was chosen, have %s", FormatOperand(m), plainBytes(elemSize(v)), c.where(g.chosen, w), plainBytes(elemSize(w)))
	}
}
