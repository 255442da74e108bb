package kernel

import (
	"fmt"
	"slices"

	"muster/ptx"
)

// A Func is a function of the kernel's module (ISA 5.4, 7). It has parameters and results
// of scalar types, passed by value; addresses are passed in registers of 64 bits, or 32
// for shared memory, and Pointer converts them back.
type Func struct {
	k       *Kernel
	name    string
	results []Type
	params  []Type
}

// Func defines a function: write gets its arguments and returns its results, one for each
// type. It may use shared variables and module variables, but no register or label of the
// kernel.
func (k *Kernel) Func(name string, results, params []Type, write func(args Vec) Vec) *Func {
	f := &Func{k: k, name: k.claim(name, "function"), results: results, params: params}
	if k.at != k.entry {
		k.fail("Func(%q) is called inside of a function's body", name)
		return f
	}
	if k.guard != nil {
		k.fail("Func(%q) is called inside of Guard", name)
		return f
	}
	if !k.grow(1) {
		return f
	}
	if k.missing("Func", write == nil) {
		return f
	}
	for _, list := range []*[]Type{&f.results, &f.params} {
		*list = slices.Clone(*list)
		for i, t := range *list {
			if t.Size() == 0 || t.Size() == 16 {
				k.fail("Func(%q): %q is no type of a parameter or a result", name, string(t))
				(*list)[i] = B32
			}
		}
	}
	params, results = f.params, f.results
	g := &ptx.Func{Name: f.name}
	b := &body{where: map[*ptx.Inst]Place{}}
	outer, group := k.at, k.group
	k.at, k.group = b, nil
	defer func() { k.at, k.group = outer, group }() // write may panic
	var args Vec
	for i, t := range params {
		v := &ptx.Var{Space: "param", Type: abiType(t), Name: k.fresh(fmt.Sprintf("%s_arg%d", f.name, i))}
		g.Params = append(g.Params, v)
		r := k.reg(t)
		k.Inst("ld.param."+v.Type, r, ptx.Operand(&ptx.Mem{Base: ptx.Name(v.Name)}))
		args = append(args, r)
	}
	out := write(args)
	if len(out) != len(results) {
		k.fail("Func(%q) returns %d results and says %d", name, len(out), len(results))
	}
	for i, t := range results {
		v := &ptx.Var{Space: "param", Type: abiType(t), Name: k.fresh(fmt.Sprintf("%s_result%d", f.name, i))}
		g.Ret = append(g.Ret, v)
		if i < len(out) {
			if out[i].k == nil {
				k.fail("Func(%q): result %d is the zero Reg, which is no register", name, i)
				continue
			}
			if !out[i].t.fits(t, false) {
				k.fail("%s", mismatch(fmt.Sprintf("Func(%q): result %d", name, i), out[i].t, t))
				continue
			}
			k.Inst("st.param."+v.Type, ptx.Operand(&ptx.Mem{Base: ptx.Name(v.Name)}), out[i])
		}
	}
	k.close(b)
	g.Body = b.block()
	k.items = append(k.items, g)
	return f
}

// Call calls the function with arguments of its parameters' types and returns its
// results.
func (f *Func) Call(args ...Num) Vec {
	if f == nil || f.k == nil {
		panic("kernel: the zero Func is no function: it comes from Kernel.Func, which returns when the function is written, so that it cannot call itself")
	}
	k := f.k
	k.serial++
	n := k.serial
	var out Vec
	for _, t := range f.results {
		out = append(out, k.lost(t))
	}
	if len(args) != len(f.params) {
		k.fail("%s takes %d arguments, and the call has %d", f.name, len(f.params), len(args))
		return out
	}
	if k.guard != nil {
		k.fail("a call of %s inside of Guard: use If", f.name)
		return out
	}
	in := &ptx.Inst{Op: "call"}
	list := func(what string, types []Type) *ptx.List {
		l := &ptx.List{}
		for i, t := range types {
			name := k.fresh(fmt.Sprintf("call%d_%s%d", n, what, i))
			k.at.stmts = append(k.at.stmts, &ptx.Var{Space: "param", Type: abiType(t), Name: name})
			l.Elems = append(l.Elems, ptx.Name(name))
		}
		return l
	}
	ins, outs := list("arg", f.params), list("result", f.results)
	for i, t := range f.params {
		v := k.half(args[i], t)
		if r, ok := v.(Reg); ok && r.k != nil && !r.t.fits(t, false) {
			k.fail("%s", mismatch(fmt.Sprintf("%s: argument %d", f.name, i), r.t, t))
			return out
		}
		k.Inst("st.param."+abiType(t), ptx.Operand(&ptx.Mem{Base: ins.Elems[i]}), v)
	}
	if len(f.results) > 0 {
		in.Operands = append(in.Operands, outs)
	}
	in.Operands = append(in.Operands, ptx.Name(f.name))
	if len(f.params) > 0 {
		in.Operands = append(in.Operands, ins)
	}
	in.Form = ptx.Match(in)
	k.emit(in)
	for i, t := range f.results {
		k.Inst("ld.param."+abiType(t), out[i], ptx.Operand(&ptx.Mem{Base: outs.Elems[i]}))
	}
	return out
}

// abiType returns the declared type of a function's parameter.
func abiType(t Type) string {
	t = t.reg()
	if t == F32 || t == F64 {
		return string(t)
	}
	return fmt.Sprintf("b%d", 8*t.Size())
}

// ConstArray adds a one-dimensional array in constant memory with the given values.
func (k *Kernel) ConstArray(name string, elem Type, values ...Num) Ptr {
	return k.moduleVar(name, Const, elem, len(values), values)
}

// GlobalArray adds an array of the module in global memory, of n elements, initialized
// with the given values and then zeros. It lives as long as the module is loaded:
// launches see the values that earlier ones left.
func (k *Kernel) GlobalArray(name string, elem Type, n int, values ...Num) Ptr {
	return k.moduleVar(name, Global, elem, n, values)
}

func (k *Kernel) moduleVar(name string, space Space, elem Type, n int, values []Num) Ptr {
	v := &variable{name: k.claim(name, "variable"), space: space, elem: elem, dims: []int{n}, at: k.here(), size: int64(n) * int64(elem.Size())}
	p := Ptr{k: k, space: space, elem: elem, sym: v, dims: v.dims}
	if elem.Size() == 0 || elem.Size() == 16 || n < 1 || n < len(values) || n > 1<<36 {
		k.fail("%q: an array of %d elements of type %q with %d values", name, n, string(elem), len(values))
		v.dims = nil
		return p
	}
	t := p.memType()
	d := &ptx.Var{Space: string(space), Align: max(16, elem.Size()), Type: t, Name: v.name, Dims: []int64{int64(n)}}
	if len(values) > 0 {
		d.Init = &ptx.Init{List: []*ptx.Init{}}
	}
	for _, x := range values {
		x = k.constant(x, elem)
		o, ok := k.operandOf(x)
		if !ok {
			return p
		}
		if _, isName := o.(ptx.Name); isName {
			k.fail("%q: an initial value is %s; it must be a number", name, describe(x))
			return p
		}
		o, why := immediate(o, Type(t))
		if why != "" {
			k.fail("%q: %s", name, why)
			return p
		}
		d.Init.List = append(d.Init.List, &ptx.Init{Expr: o})
	}
	k.items = append(k.items, d)
	return p
}
