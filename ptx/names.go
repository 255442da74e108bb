package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// scopes resolves variable names during a walk of a module.
type scopes struct{ stack []*nameScope }

type nameScope struct {
	vars   map[string]*Var
	ranges []*Var // %r<100>
}

func (s *scopes) enter() { s.stack = append(s.stack, &nameScope{vars: map[string]*Var{}}) }
func (s *scopes) leave() { s.stack = s.stack[:len(s.stack)-1] }

func (s *scopes) add(v *Var) {
	top := s.stack[len(s.stack)-1]
	if v.Count > 0 {
		top.ranges = append(top.ranges, v)
	} else {
		top.vars[v.Name] = v
	}
}

// find returns the variable for a name, or nil; elem says that the name denotes an
// element of a vector, as %v.x.
func (s *scopes) find(name string) (v *Var, elem bool) {
	if v = s.whole(name); v != nil {
		return v, false
	}
	if i := len(name) - 2; i > 0 && name[i] == '.' && strings.IndexByte("xyzwrgba", name[i+1]) >= 0 {
		if v = s.whole(name[:i]); v != nil && v.Vec > 0 {
			return v, true
		}
	}
	return nil, false
}

func (s *scopes) whole(name string) *Var {
	for _, sc := range slices.Backward(s.stack) {
		if v := sc.find(name); v != nil {
			return v
		}
	}
	return nil
}

func (s *nameScope) find(name string) *Var {
	if v := s.vars[name]; v != nil {
		return v
	}
	for _, v := range s.ranges {
		if v.holds(name) {
			return v
		}
	}
	return nil
}

// holds reports whether a name belongs to a range: %r7 to %r<8>.
func (v *Var) holds(name string) bool {
	digits, ok := strings.CutPrefix(name, v.Name)
	if !ok || digits == "" || len(digits) > 9 || digits[0] == '0' && len(digits) > 1 || strings.Trim(digits, "0123456789") != "" {
		return false
	}
	n := 0
	for _, c := range []byte(digits) {
		n = n*10 + int(c-'0')
	}
	return n < v.Count
}

// CheckNames reports names that are defined twice in one scope (ISA 4.4, 5.4), calls
// whose arguments do not match the parameters of the function or the prototype (ISA 7.1),
// initial values in spaces without them, and stores to a function's own input.
func CheckNames(m *Module) []*Error {
	c := &nameCheck{mod: m, funcs: map[string]*Func{}, alias: map[string]bool{}}
	c.module(m)
	return c.list
}

type nameCheck struct {
	scopes
	mod    *Module
	list   []*Error
	funcs  map[string]*Func
	alias  map[string]bool
	protos []map[string]*Prototype // by label, one map per scope
	input  map[*Var]bool           // the current function's read-only parameters
}

func (c *nameCheck) refuse(pos Pos, format string, args ...any) {
	c.list = append(c.list, c.mod.errorAt(pos, format, args...))
}

// twice reports a name that is defined again.
func (c *nameCheck) twice(pos Pos, name string) {
	c.refuse(pos, "%s is defined twice in this scope", name)
}

func (c *nameCheck) module(m *Module) {
	c.enter()
	defined := map[string]bool{}
	define := func(pos Pos, name string, link Linkage) {
		if link == "weak" || link == "common" || link == "extern" {
			return // linking selects one of several
		}
		if defined[name] {
			c.twice(pos, name)
		}
		defined[name] = true
	}
	for _, it := range m.Items {
		switch it := it.(type) {
		case *Alias:
			c.alias[it.Name] = true
		case *Var:
			define(it.Pos, it.Name, it.Linkage)
			c.initial(it)
			c.add(it)
		case *Func:
			if it.Body != nil {
				define(it.Pos, it.Name, it.Linkage)
			}
			if old := c.funcs[it.Name]; old == nil || old.Body == nil {
				c.funcs[it.Name] = it
			}
		}
	}
	for _, it := range m.Items {
		if f, ok := it.(*Func); ok && f.Body != nil {
			c.function(f)
		}
	}
}

// initial reports initial values in spaces that do not allow them (ISA 5.4.4).
func (c *nameCheck) initial(v *Var) {
	if v.Init != nil && v.Space != "global" && v.Space != "const" && v.Space != "tex" {
		c.refuse(v.Pos, "%s, a variable in .%s, cannot have an initial value", v.Name, v.Space)
	}
}

// function checks the parameters and the body as one scope.
func (c *nameCheck) function(f *Func) {
	c.enter()
	c.input = map[*Var]bool{}
	for _, v := range slices.Concat(f.Ret, f.Params) {
		c.define(v)
	}
	for _, v := range f.Params {
		c.input[v] = v.Space == "param"
	}
	c.stmts(f.Body)
	c.leave()
}

func (c *nameCheck) define(v *Var) {
	top := c.stack[len(c.stack)-1]
	switch {
	case v.Name == "_":
		return
	case v.Linkage == "extern":
	case v.Count == 0 && top.find(v.Name) != nil:
		c.twice(v.Pos, v.Name)
	case v.Count > 0 && slices.ContainsFunc(top.ranges, func(w *Var) bool { return w.Name == v.Name }):
		c.twice(v.Pos, fmt.Sprintf("%s<%d>", v.Name, v.Count))
	case v.Count > 0:
		for name, old := range top.vars {
			if old.Space != "label" && v.holds(name) {
				c.twice(v.Pos, name)
				break
			}
		}
	}
	c.initial(v)
	c.add(v)
}

func (c *nameCheck) stmts(b *Block) {
	protos := map[string]*Prototype{}
	c.protos = append(c.protos, protos)
	label := func(pos Pos, name string) {
		if c.stack[len(c.stack)-1].find(name) != nil {
			c.twice(pos, name)
		}
		c.add(&Var{Pos: pos, Space: "label", Name: name})
	}
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *Label:
			label(s.Pos, s.Name)
		case *Targets:
			label(s.Pos, s.Label)
		case *Prototype:
			label(s.Pos, s.Label)
			protos[s.Label] = s
		case *Var:
			c.define(s)
		case *Block:
			c.enter()
			c.stmts(s)
			c.leave()
		case *Inst:
			c.inst(s)
		}
	}
	c.protos = c.protos[:len(c.protos)-1]
}

func (c *nameCheck) inst(in *Inst) {
	switch {
	case in.Form == nil:
	case in.Op == "call":
		c.call(in)
	case in.Op == "st" && in.Mod("space") == "param" && len(in.Operands) > 0:
		m, ok := in.Operands[0].(*Mem)
		if !ok {
			return
		}
		if n, ok := m.Base.(Name); ok {
			if v := c.whole(string(n)); v != nil && c.input[v] {
				c.refuse(in.Pos, "%s is a parameter that the function reads: it cannot be written", n)
			}
		}
	}
}

// call compares a call's arguments with the called function's parameters, or with its
// prototype. Their number is left to the runner of the call.
func (c *nameCheck) call(in *Inst) {
	var rets, args []Operand
	var ret, params []*Var
	known, callee := false, Name("")
	for _, b := range bindForm(in) {
		switch x := b.X.(type) {
		case *List:
			if b.Arg.Name == "ret" {
				rets = x.Elems
			} else {
				args = x.Elems
			}
		case Name:
			if b.Arg.Name == "func" {
				callee = x
			}
			switch {
			case b.Arg.Name == "func" && c.funcs[string(x)] != nil && !c.alias[string(x)] && c.whole(string(x)) == nil:
				f := c.funcs[string(x)]
				ret, params, known = f.Ret, f.Params, true
			case b.Arg.Name == "proto":
				for _, m := range slices.Backward(c.protos) {
					if p := m[string(x)]; p != nil {
						ret, params, known = p.Ret, p.Params, true
						break
					}
				}
			}
		}
	}
	if known {
		c.pass(in, callee, ret, rets, "result")
		c.pass(in, callee, params, args, "argument")
	}
}

// pass compares arguments with parameters, if their numbers agree.
func (c *nameCheck) pass(in *Inst, callee Name, params []*Var, given []Operand, what string) {
	if len(params) != len(given) {
		return
	}
	for i, p := range params {
		n, ok := given[i].(Name)
		if !ok {
			continue
		}
		v, elem := c.find(string(n))
		if v == nil || v.Space != "reg" && v.Space != "param" || slices.Contains(p.Dims, -1) || elem {
			continue
		}
		have, want := v.bytes(), p.bytes()
		switch {
		case have != want:
			c.refuse(in.Pos, "%s %s of the call of %s has %d bytes, and the parameter %d", what, n, callee, have, want)
		case v.Space == "param" && p.Space == "param" && v.alignment() != p.alignment():
			c.refuse(in.Pos, "%s %s of the call of %s is aligned to %d bytes, and the parameter to %d", what, n, callee, v.alignment(), p.alignment())
		}
	}
}

// bytes is the size of a variable.
func (v *Var) bytes() int64 {
	n := types[v.Type] * int64(max(v.Vec, 1))
	for _, d := range v.Dims {
		n *= d
	}
	return n
}

// alignment returns a variable's alignment: as declared, or by its type.
func (v *Var) alignment() int64 {
	if v.Align > 0 {
		return int64(v.Align)
	}
	return types[v.Type] * int64(max(v.Vec, 1))
}
