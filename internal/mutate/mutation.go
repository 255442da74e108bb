package mutate

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"muster/ptx"
)

// A Mutation is one change at one place.
type Mutation struct {
	ID      string  // variant@line:col, unique in a kernel; with the file if it is not the first
	Kind    string  // one of Kinds
	Variant string  // "count-plus"
	Pos     ptx.Pos // of the instruction
	File    string  // that it is in
	Source  string  // file:line by .loc, of the outermost call for inlined code; "" without
	Before  string  // the instruction
	What    string  // what happens to it: "deleted", "count + 1"

	inst *ptx.Inst
	edit edit
}

// An edit replaces the statements [lo, hi) of a block.
type edit struct {
	block  *ptx.Block
	lo, hi int
	with   []ptx.Stmt
}

// A change is what an operator proposes for a site.
type change struct {
	variant, what string
	lo, hi        int
	with          []ptx.Stmt
}

// A site is an instruction in its place, as an operator sees it.
type site struct {
	in    *ptx.Inst
	block *ptx.Block
	at    int
	fn    *function
}

// A function is what operators need to know about the code around a site.
type function struct {
	body *ptx.Block
	uses map[ptx.Name]int // how often a name occurs in an operand or a guard
}

// here returns a change of the instruction itself.
func (s *site) here(variant, what string, with ...ptx.Stmt) change {
	return change{variant, what, s.at, s.at + 1, with}
}

// List enumerates the mutations of a kernel of m and of the functions that it
// calls, in the order of the text. An empty name is the only entry.
func List(m *ptx.Module, kernel string) []*Mutation {
	var list []*Mutation
	files := map[int]string{}
	for _, it := range m.Items {
		if f, ok := it.(*ptx.File); ok {
			files[f.Index] = path.Base(f.Name)
		}
	}
	for _, f := range reached(m, kernel) {
		w := walker{fn: &function{body: f.Body, uses: map[ptx.Name]int{}}, files: files, outer: map[[3]int][3]int{}}
		eachInst(f.Body.Stmts, func(in *ptx.Inst) {
			eachName(in, func(n ptx.Name) { w.fn.uses[n]++ })
		})
		w.file = m.UnitAt(f.Pos).Name
		if f.Pos.Unit > 0 {
			w.in = path.Base(w.file) + ":"
		}
		w.block(f.Body)
		list = append(list, w.list...)
	}
	return list
}

// reached returns the functions with a body that the kernel can reach. An
// indirect call may reach any.
func reached(m *ptx.Module, kernel string) []*ptx.Func {
	var all, todo []*ptx.Func
	seen := map[*ptx.Func]bool{}
	for _, it := range m.Items {
		f, ok := it.(*ptx.Func)
		if !ok || f.Body == nil {
			continue
		}
		all = append(all, f)
		if f.Entry && (kernel == "" || f.Name == kernel) {
			todo, seen[f] = append(todo, f), true
		}
	}
	for len(todo) > 0 {
		f := todo[0]
		todo = todo[1:]
		eachInst(f.Body.Stmts, func(in *ptx.Inst) {
			if in.Op != "call" {
				return
			}
			for _, g := range all {
				if !g.Entry && !seen[g] && (calls(in, g.Name) || in.Form != nil && in.Form.Name == "call.indirect") {
					todo, seen[g] = append(todo, g), true
				}
			}
		})
	}
	return slices.DeleteFunc(all, func(f *ptx.Func) bool { return !seen[f] })
}

func calls(in *ptx.Inst, name string) bool {
	return slices.ContainsFunc(in.Operands, func(x ptx.Operand) bool { return x == ptx.Name(name) })
}

// A walker goes through a function in the order of the text.
type walker struct {
	fn    *function
	files map[int]string
	place [3]int            // file, line and column of the last .loc, not inlined
	outer map[[3]int][3]int // the outermost place at which an inlined place was inlined
	list  []*Mutation
	file  string // the text of the function, and in IDs "file:" if it is not the first
	in    string
}

func (w *walker) block(b *ptx.Block) {
	for i, s := range b.Stmts {
		switch x := s.(type) {
		case *ptx.Loc:
			w.loc(x)
		case *ptx.Block:
			w.block(x)
		case *ptx.Inst:
			if x.Form != nil {
				w.inst(&site{in: x, block: b, at: i, fn: w.fn})
			}
		}
	}
}

// loc records the place in the code that is not inlined: one .loc gives one level
// of inlining.
func (w *walker) loc(l *ptx.Loc) {
	at := [3]int{l.File, l.Line, l.Col}
	w.place = at
	if l.Inlined {
		w.place = [3]int{l.AtFile, l.AtLine, l.AtCol}
		if o, ok := w.outer[w.place]; ok {
			w.place = o
		}
		w.outer[at] = w.place
	}
}

func (w *walker) inst(s *site) {
	for _, op := range operators {
		for _, c := range op.changes(s) {
			m := &Mutation{
				ID: fmt.Sprintf("%s@%s%d:%d", c.variant, w.in, s.in.Pos.Line, s.in.Pos.Col), File: w.file,
				Kind: op.kind, Variant: c.variant, Pos: s.in.Pos, Before: s.in.String(), What: c.what,
				inst: s.in, edit: edit{s.block, c.lo, c.hi, c.with},
			}
			if w.place[1] > 0 {
				m.Source = fmt.Sprintf("%s:%d", w.files[w.place[0]], w.place[1])
			}
			w.list = append(w.list, m)
		}
	}
}

// Apply returns m with mutations made. It shares unchanged parts with m, except the PTX
// version, which is the one that the mutant needs. It fails if two of them overlap.
func Apply(m *ptx.Module, mutations ...*Mutation) (*ptx.Module, bool) {
	a := applier{edits: map[*ptx.Block][]edit{}}
	for _, x := range mutations {
		a.edits[x.edit.block] = append(a.edits[x.edit.block], x.edit)
	}
	out := *m
	out.Items = slices.Clone(m.Items)
	for i, it := range out.Items {
		if f, ok := it.(*ptx.Func); ok && f.Body != nil {
			if b := a.block(f.Body); b != f.Body {
				g := *f
				g.Body, out.Items[i] = b, &g
			}
		}
	}
	ptx.RaiseVersion(&out) // a mutant's modifiers may be later ones
	return &out, a.made == len(mutations)
}

type applier struct {
	edits map[*ptx.Block][]edit
	made  int
}

func (a *applier) block(b *ptx.Block) *ptx.Block {
	var out []ptx.Stmt
	edits := slices.Clone(a.edits[b])
	slices.SortFunc(edits, func(x, y edit) int { return x.lo - y.lo })
	changed := len(edits) > 0
	put := func(list []ptx.Stmt) {
		for _, s := range list {
			if inner, ok := s.(*ptx.Block); ok {
				c := a.block(inner)
				changed = changed || c != inner
				s = c
			}
			out = append(out, s)
		}
	}
	at := 0
	for _, e := range edits {
		if e.lo < at {
			continue // overlaps the one before it
		}
		put(b.Stmts[at:e.lo])
		put(e.with)
		at = e.hi
		a.made++
	}
	put(b.Stmts[at:])
	if !changed {
		return b
	}
	c := *b
	c.Stmts = out
	return &c
}

// eachInst calls f for every instruction of a statement list, nested ones too.
func eachInst(list []ptx.Stmt, f func(*ptx.Inst)) {
	for _, s := range list {
		switch x := s.(type) {
		case *ptx.Block:
			eachInst(x.Stmts, f)
		case *ptx.Inst:
			f(x)
		}
	}
}

// eachName calls f for every name in an instruction's guard and operands.
func eachName(in *ptx.Inst, f func(ptx.Name)) {
	if in.Guard != nil {
		f(ptx.Name(in.Guard.Reg))
	}
	for _, x := range in.Operands {
		names(x, f)
	}
}

func names(x ptx.Operand, f func(ptx.Name)) {
	all := func(list []ptx.Operand) {
		for _, e := range list {
			names(e, f)
		}
	}
	switch x := x.(type) {
	case ptx.Name:
		base, _, _ := strings.Cut(string(x), ".") // %v.y is %v
		f(ptx.Name(base))
	case *ptx.Vector:
		all(x.Elems)
	case *ptx.List:
		all(x.Elems)
	case *ptx.Mem:
		if x.Base != nil {
			names(x.Base, f)
		}
		all(x.Rest)
	case *ptx.Pair:
		names(x.A, f)
		names(x.B, f)
	case *ptx.Not:
		names(x.X, f)
	case *ptx.Select:
		names(x.X, f)
	case *ptx.Unary:
		names(x.X, f)
	case *ptx.Binary:
		names(x.X, f)
		names(x.Y, f)
	}
}
