package skeleton

import (
	"fmt"
	"slices"
	"strings"

	"muster/launch"
	"muster/ptx"
)

// A value is what a register may hold that comes from the parameters: the address of a byte
// of one, or the contents of one or of a part of it.
type value struct {
	p       *param
	address bool // of the byte at; else the contents
	at      int64
}

// A follower follows parameters through the registers of a kernel, whatever the order of
// its instructions.
type follower struct {
	k    *kernel
	regs map[string][]value
	news bool
}

// follow finds out what the kernel does with its parameters.
func (k *kernel) follow() {
	f := &follower{k: k, regs: map[string][]value{}}
	for f.news = true; f.news; {
		f.news = false
		f.block(k.Body)
	}
	for _, p := range k.params {
		slices.SortFunc(p.parts, func(a, b *param) int { return int(a.at - b.at) })
		if p.v.Dims != nil && p.size == 128 && p.v.Align >= 64 && p.parts == nil && p.rank == 0 {
			p.rank = 2 // it has the form of a tensor map
		}
		if p.rank > 0 && (p.v.Dims == nil || p.size != 128) {
			p.rank = 0 // the map is a part of a struct
		}
	}
}

func (f *follower) block(b *ptx.Block) {
	if b == nil {
		return
	}
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *ptx.Block:
			f.block(s)
		case *ptx.Inst:
			f.inst(s)
		}
	}
}

func (f *follower) param(name string) *param {
	for _, p := range f.k.params {
		if p.v.Name == name {
			return p
		}
	}
	return nil
}

// of returns what an operand may hold.
func (f *follower) of(op ptx.Operand) []value {
	switch op := op.(type) {
	case ptx.Name:
		if p := f.param(string(op)); p != nil {
			return []value{{p, true, 0}}
		}
		return f.regs[string(op)]
	case *ptx.Mem:
		var list []value
		for _, v := range f.of(op.Base) {
			if v.address {
				v.at += op.Off
			}
			list = append(list, v)
		}
		return list
	}
	return nil
}

func (f *follower) put(op ptx.Operand, list []value) {
	name, ok := op.(ptx.Name)
	if !ok {
		return
	}
	for _, v := range list {
		// A loop may move an address on and on.
		if known := f.regs[string(name)]; !slices.Contains(known, v) && len(known) < 16 {
			f.regs[string(name)], f.news = append(known, v), true
		}
	}
}

func (f *follower) inst(in *ptx.Inst) {
	if len(in.Operands) == 0 {
		return
	}
	to, from := in.Operands[0], in.Operands[1:]
	if in.Op == "ld" && slices.ContainsFunc(in.Mods, func(m string) bool { return m == "param" || strings.HasPrefix(m, "param::") }) {
		if len(from) > 0 { // else the text is wrong, as the decoder says
			f.load(in, to, from[0])
		}
		return
	}
	for i, op := range in.Operands {
		if m, ok := op.(*ptx.Mem); ok {
			f.access(in, m, i == 0)
		}
	}
	switch e := in.Effect(); {
	case in.Op == "cvta" && len(from) == 1:
		if list := f.of(from[0]); !slices.ContainsFunc(list, func(v value) bool { return v.address }) {
			for _, v := range list {
				f.points(v.p)
			}
		}
		f.put(to, f.of(from[0]))
	case e.Has(ptx.Moves) && len(from) == 1:
		f.put(to, f.of(from[0]))
	case e.Has(ptx.Adds|ptx.Subtracts) && len(from) == 2:
		n, constant := from[1].(ptx.Int)
		for _, v := range f.of(from[0]) {
			if v.address && !constant {
				continue
			} else if v.address {
				v.at += int64(n.Bits)
			}
			f.put(to, []value{v})
		}
		if !constant {
			f.contents(to, from[1])
		}
	case in.Op == "mad" && len(from) == 3:
		f.contents(to, from[2])
	case e.Has(ptx.Selects) && len(from) == 3:
		f.put(to, f.of(from[0]))
		f.put(to, f.of(from[1]))
	}
}

// contents hands on what an operand holds, but no addresses of parameters.
func (f *follower) contents(to, from ptx.Operand) {
	for _, v := range f.of(from) {
		if !v.address {
			f.put(to, []value{v})
		}
	}
}

// load takes a load of a parameter.
func (f *follower) load(in *ptx.Inst, to, from ptx.Operand) {
	typ := typeOf(in.Mods[len(in.Mods)-1])
	elements := []ptx.Operand{to}
	if v, ok := to.(*ptx.Vector); ok {
		elements = v.Elems
	}
	for _, v := range f.of(from) {
		if !v.address {
			continue
		}
		for i, e := range elements {
			if p := f.part(v.p, v.at+int64(i*typ.Size()), typ); p != nil {
				f.put(e, []value{{p: p}})
			}
		}
	}
}

// part returns the part of a parameter at an offset: itself, if it has no parts. It is nil
// for one that overlaps with another part, or lies beyond the end.
func (f *follower) part(p *param, at int64, typ launch.Type) *param {
	size := int64(typ.Size())
	if p.v.Dims == nil {
		if at == 0 && p.v.Vec == 0 {
			return p
		}
		return nil
	}
	if at < 0 || at+size > p.size || at%size != 0 {
		return nil
	}
	for _, q := range p.parts {
		switch {
		case q.at == at && q.size == size:
			return q
		case q.at < at+size && at < q.at+q.size:
			return nil
		}
	}
	q := &param{v: &ptx.Var{Name: p.v.Name}, name: fmt.Sprintf("%s_%d", p.name, at), typ: typ, size: size, at: at}
	p.parts = append(p.parts, q)
	f.news = true
	return q
}

// points marks a parameter as a pointer.
func (f *follower) points(p *param) {
	if p.typ.Size() == 8 && !p.pointer {
		p.pointer, f.news = true, true
		p.typ = launch.U64
	}
}

// access takes an address of an instruction.
func (f *follower) access(in *ptx.Inst, m *ptx.Mem, first bool) {
	tensor := 0
	for _, mod := range in.Mods {
		if len(mod) == 2 && mod[1] == 'd' && '1' <= mod[0] && mod[0] <= '5' && slices.Contains(in.Mods, "tensor") {
			tensor = int(mod[0] - '0')
		}
	}
	for _, v := range f.of(m.Base) {
		switch {
		case v.address && tensor > 0:
			if v.p.rank == 0 {
				v.p.rank, f.news = tensor, true
			}
		case v.address:
		case tensor > 0:
			f.points(v.p) // to a tensor map in memory
		default:
			f.points(v.p)
			e := in.Effect()
			if t := in.Mods; v.p.element == 0 && len(t) > 0 && e.Has(ptx.Reads|ptx.Writes|ptx.Updates) {
				if typ := typeOf(t[len(t)-1]); v.p.element != typ {
					v.p.element, f.news = typ, true
				}
			}
			if first && e.Has(ptx.Writes|ptx.Updates|ptx.CopiesMemory) && !v.p.written {
				v.p.written, f.news = true, true
			}
		}
	}
}
