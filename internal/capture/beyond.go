package capture

import (
	"fmt"
	"strings"

	"muster/ptx"
)

// A beyond is what a kernel uses that is no part of a captured launch.
type beyond struct {
	textures, heap  bool
	indirect, taken bool // calls through pointers; functions whose address is taken
	functions       map[string]*ptx.Func
	seen            map[*ptx.Func]bool
}

// notes say what of a kernel's launch could not be had.
func (m *module) notes(kernel string, heap uint64) (notes []string) {
	b := &beyond{functions: map[string]*ptx.Func{}, seen: map[*ptx.Func]bool{}}
	for _, it := range m.mod.Items {
		switch it := it.(type) {
		case *ptx.Func:
			if !it.Entry && (it.Body != nil || b.functions[it.Name] == nil) {
				b.functions[it.Name] = it
			}
		}
	}
	for _, it := range m.mod.Items {
		if v, ok := it.(*ptx.Var); ok && v.Init != nil {
			b.init(v.Init)
		}
	}
	b.function(m.kernel(kernel))
	if b.textures {
		notes = append(notes, "it reads or writes textures or surfaces, which are not captured")
	}
	if b.heap {
		notes = append(notes, fmt.Sprintf("it uses the device's heap (of %s), whose contents are not captured", bytesOf(int64(heap))))
	}
	if b.indirect && !b.taken {
		notes = append(notes, "it calls functions through pointers from memory or parameters, which are addresses of the card")
	}
	return notes
}

// init looks for addresses of functions in initial values.
func (b *beyond) init(i *ptx.Init) {
	b.operand(i.Expr)
	for _, e := range i.List {
		b.init(e)
	}
}

func (b *beyond) operand(op ptx.Operand) {
	switch op := op.(type) {
	case ptx.Name:
		b.taken = b.taken || b.functions[string(op)] != nil
	case *ptx.Unary:
		b.operand(op.X)
	case *ptx.Binary:
		b.operand(op.X)
		b.operand(op.Y)
	}
}

func (b *beyond) function(f *ptx.Func) {
	if f == nil || b.seen[f] {
		return
	}
	b.seen[f] = true
	if f.Body == nil {
		b.heap = b.heap || f.Name == "malloc" || f.Name == "free"
		return
	}
	b.block(f.Body)
}

func (b *beyond) block(list *ptx.Block) {
	for _, s := range list.Stmts {
		switch s := s.(type) {
		case *ptx.Block:
			b.block(s)
		case *ptx.Inst:
			b.inst(s)
		}
	}
}

func (b *beyond) inst(in *ptx.Inst) {
	switch in.Op {
	case "tex", "tld4", "txq", "suld", "sust", "sured", "suq":
		b.textures = true
	case "call":
		for _, op := range in.Operands {
			name, ok := op.(ptx.Name)
			if !ok {
				continue // what it returns
			}
			if strings.HasPrefix(string(name), "%") {
				b.indirect = true
			}
			b.function(b.functions[string(name)])
			return
		}
	default:
		for _, op := range in.Operands {
			b.operand(op)
		}
	}
}
