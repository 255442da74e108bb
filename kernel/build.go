package kernel

import (
	"bytes"
	"slices"
	"strconv"

	"muster/ptx"
)

// staticShared bounds a module's static shared memory; beyond it the launch must request
// it (CUDA programming guide, compute capabilities).
const (
	staticShared = 48 << 10
	maxShared    = 227 << 10
)

// dynamic is the name of dynamic shared memory.
const dynamic = "dynamic_shared"

// Build finishes the kernel and returns its module. The error, if any, is Errors: every
// mistake with its line. The module's instructions have positions in its printed text,
// and .loc directives for the lines of the Go program, which findings then name.
func (k *Kernel) Build() (*ptx.Module, error) {
	if !k.ended {
		k.finish()
	}
	if len(k.errs) > 0 {
		return nil, k.Err()
	}
	if k.built != nil {
		return k.built, nil
	}
	m := k.module()
	var text bytes.Buffer
	if err := m.Print(&text); err != nil {
		return nil, err
	}
	m, err := ptx.Parse(k.name+".ptx", text.Bytes())
	if err != nil {
		return nil, err
	}
	k.built = m
	return m, nil
}

// Text returns the kernel as PTX, as Build's module prints.
func (k *Kernel) Text() (string, error) {
	m, err := k.Build()
	if err != nil {
		return "", err
	}
	return m.String(), nil
}

// SharedBytes is the dynamic shared memory that a launch must request: 0 if static
// variables suffice. It is final once the kernel is built.
func (k *Kernel) SharedBytes() int {
	total, _ := k.layout()
	if total <= staticShared {
		return 0
	}
	return int(total)
}

// EachShared calls f with every variable in shared memory, in allocation order: its name,
// its size in bytes, and, if shared memory is dynamic, its offset there in bytes.
func (k *Kernel) EachShared(f func(name string, offset, bytes int)) {
	total, _ := k.layout()
	for _, v := range k.vars {
		if total > staticShared {
			f(v.name, int(v.off), int(v.size))
		} else {
			f(v.name, 0, int(v.size))
		}
	}
}

// layout gives every shared variable its offset in dynamic shared memory.
func (k *Kernel) layout() (total int64, align int) {
	for _, v := range k.vars {
		align = max(align, v.align)
		total = (total + int64(v.align) - 1) &^ (int64(v.align) - 1)
		v.off = total
		total += v.size
	}
	return total, align
}

// finish ends the bodies and makes the checks that need the whole kernel.
func (k *Kernel) finish() {
	if n := len(k.at.loops); n > 0 {
		k.failAt(k.at.loops[n-1].at, "the loop is not closed: Build is called inside of its body")
	}
	switch n := len(k.at.ifs); {
	case n > 0:
		k.failAt(k.at.ifs[n-1].Place, "%s", k.at.ifs[n-1].Msg)
		return
	case k.at != k.entry:
		k.fail("Build is called inside of a function's body")
		return
	case k.guard != nil:
		k.fail("Build is called inside of Guard")
		return
	case k.group != nil:
		k.fail("Build is called inside of a group, %s", k.Group())
		return
	}
	for _, end := range k.ends() {
		end()
	}
	k.close(k.entry)
	k.ended = true
	if total, _ := k.layout(); total > maxShared {
		last := k.vars[len(k.vars)-1]
		k.failAt(last.at, "shared memory comes to %d bytes with %s; a CTA has %d at most", total, last.name, maxShared)
	}
}

// close ends a body.
func (k *Kernel) close(b *body) {
	if len(b.stmts) == 0 || !ends(b.stmts[len(b.stmts)-1]) {
		b.stmts = append(b.stmts, &ptx.Inst{Op: "ret"})
	}
	for _, l := range b.labels {
		if l.used && l.placed == (Place{}) {
			k.failAt(l.at, "the label is branched to and never placed")
		}
	}
	if len(k.errs) == 0 {
		k.unset(b)
	}
}

func ends(s ptx.Stmt) bool {
	in, ok := s.(*ptx.Inst)
	return ok && in.Guard == nil && (in.Op == "ret" || in.Op == "exit")
}

// module assembles the module.
func (k *Kernel) module() *ptx.Module {
	m := &ptx.Module{Name: k.name + ".ptx", Version: k.least, Target: []string{k.target}, Address: 64}
	if k.version != (ptx.Version{}) {
		m.Version = k.version
	}
	for i, f := range k.files {
		m.Items = append(m.Items, &ptx.File{Index: i + 1, Name: f})
	}
	total, align := k.layout()
	places := map[string]*variable{}
	if total > staticShared {
		m.Items = append(m.Items, &ptx.Var{Linkage: "extern", Space: "shared", Align: align, Type: "b8", Name: dynamic, Dims: []int64{-1}})
		for _, v := range k.vars {
			places[v.name] = v
		}
	} else {
		for _, v := range k.vars {
			m.Items = append(m.Items, &ptx.Var{Space: "shared", Align: v.align, Type: "b8", Name: v.name, Dims: []int64{v.size}})
		}
	}
	m.Items = append(m.Items, k.items...)
	f := &ptx.Func{Linkage: "visible", Entry: true, Name: k.name, Params: k.params}
	if k.block[0] > 0 {
		f.Attrs = append(f.Attrs, dims("reqntid", k.block))
	}
	if k.cluster[0] > 0 {
		f.Attrs = append(f.Attrs, ptx.Directive{Name: "explicitcluster"}, dims("reqnctapercluster", k.cluster))
	}
	f.Attrs = append(f.Attrs, k.attrs...)
	f.Body = k.entry.block()
	if len(places) > 0 {
		relocate(f.Body, places)
		for _, it := range k.items {
			if g, ok := it.(*ptx.Func); ok && g.Body != nil {
				relocate(g.Body, places)
			}
		}
	}
	m.Items = append(m.Items, f)
	return m
}

func dims(name string, d [3]int) ptx.Directive {
	return ptx.Directive{Name: name, Args: []ptx.Operand{integer(int64(d[0])), integer(int64(d[1])), integer(int64(d[2]))}}
}

// block returns a body as a function's block, with its registers declared.
func (b *body) block() *ptx.Block {
	var stmts []ptx.Stmt
	for _, r := range b.regs {
		t, _ := r.typ.declared()
		stmts = append(stmts, &ptx.Var{Space: "reg", Type: t, Name: r.name})
	}
	stmts = append(stmts, b.prologue...)
	return &ptx.Block{Stmts: append(stmts, b.stmts...)}
}

// relocate replaces names of variables by their offsets in dynamic shared memory.
func relocate(b *ptx.Block, places map[string]*variable) {
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *ptx.Block:
			relocate(s, places)
		case *ptx.Inst:
			for i, x := range s.Operands {
				s.Operands[i] = moved(x, places)
			}
		}
	}
}

func moved(x ptx.Operand, places map[string]*variable) ptx.Operand {
	switch x := x.(type) {
	case *ptx.Mem:
		if n, ok := x.Base.(ptx.Name); ok && places[string(n)] != nil {
			x.Base = ptx.Name(dynamic)
			x.Off += places[string(n)].off
		}
	case ptx.Name:
		if v := places[string(x)]; v != nil {
			if v.off == 0 {
				return ptx.Name(dynamic)
			}
			return &ptx.Binary{Op: "+", X: ptx.Name(dynamic), Y: integer(v.off)}
		}
	case *ptx.Unary:
		x.X = moved(x.X, places)
	case *ptx.Binary:
		x.X, x.Y = moved(x.X, places), moved(x.Y, places)
	}
	return x
}

// Param adds a parameter of a scalar type and returns its value.
func (k *Kernel) Param(name string, t Type) Reg {
	v := &ptx.Var{Space: "param", Type: string(t), Name: k.claim(name, "parameter")}
	if t.half() {
		v.Type = "b" + strconv.Itoa(8*t.Size())
	}
	if t.Size() == 0 || t == B128 || t == TF32 || t == E4M3 || t == E5M2 {
		k.fail("Param(%q): %q is no type of a parameter", name, string(t))
		return k.lost(B32)
	}
	k.params = append(k.params, v)
	k.state[paramType{v}] = t
	return k.loadParam(v, t)
}

// loadParam reads a parameter at the kernel's beginning, so that its register is set at
// every use.
func (k *Kernel) loadParam(v *ptx.Var, t Type) Reg {
	if k.at != k.entry {
		k.fail("parameter %q is added inside of a function's body", v.Name)
	}
	d := k.reg(t)
	k.prologue(func() {
		k.Inst("ld.param."+v.Type, d, ptx.Operand(&ptx.Mem{Base: ptx.Name(v.Name)}))
	})
	return d
}

// prologue adds the instructions that make emits to the beginning of the kernel.
func (k *Kernel) prologue(make func()) {
	b, g := k.at, k.guard
	rest, line := b.stmts, b.line
	b.stmts, b.line, k.guard = b.prologue, Place{}, nil
	make()
	b.prologue, b.stmts, b.line, k.guard = b.stmts, rest, line, g
}

// Pointer parameters.

// GlobalPtr adds a parameter that is a pointer into global memory, to elements of that
// type. align is the alignment in bytes that the launch guarantees: 0 for the elements'
// size.
func (k *Kernel) GlobalPtr(name string, elem Type, align ...int) Ptr {
	v := &ptx.Var{Space: "param", Type: "u64", Name: k.claim(name, "parameter")}
	a := max(1, elem.Size())
	if len(align) > 0 {
		a = align[0]
	}
	if a < 1 || a&(a-1) != 0 {
		k.fail("GlobalPtr(%q): an alignment of %d; it is a power of two", name, a)
		a = 1
	}
	v.Ptr = &ptx.Ptr{Space: "global", Align: a}
	k.params = append(k.params, v)
	k.state[paramType{v}] = elem
	d := k.loadParam(v, U64)
	g := k.reg(U64)
	k.prologue(func() { k.Inst("cvta.to.global.u64", g, d) })
	return Ptr{k: k, space: Global, elem: elem, reg: g}
}

// ends lists the functions that run when the kernel is built, in the order in which they
// were registered.
func (k *Kernel) ends() []func() {
	list, _ := k.state[atEnd{}].([]func())
	return slices.Clone(list)
}

type atEnd struct{}

// onBuild registers f to run when the kernel is built, before it is checked.
func (k *Kernel) onBuild(f func()) { k.state[atEnd{}] = append(k.ends(), f) }
