package kernel

import (
	"strings"

	"muster/ptx"
)

// inline parses PTX text with operands in braces put in.
func (k *Kernel) inline(text string, args Args) {
	for name, v := range args {
		x, ok := k.operandOf(v)
		if !ok {
			k.assume([]any{v})
			return
		}
		for _, m := range []string{"{" + name + "}"} {
			if !strings.Contains(text, m) {
				k.fail("PTX: operand %s is not in the text as {%s}", name, name)
				return
			}
			text = strings.ReplaceAll(text, m, ptx.FormatOperand(x))
		}
	}
	src := ".version 9.2\n.target sm_90a\n.address_size 64\n.entry f() {\n" + text + "\n}\n"
	m, err := ptx.Parse("PTX", []byte(src))
	if err != nil {
		k.fail("PTX: %s", strings.TrimPrefix(err.Error(), "PTX:"))
		for _, v := range args {
			k.assume([]any{v})
		}
		return
	}
	for _, it := range m.Items {
		if f, ok := it.(*ptx.Func); ok {
			k.splice(f.Body)
		}
	}
	for _, v := range args {
		k.assume([]any{v})
	}
}

// splice adds the statements of a parsed block.
func (k *Kernel) splice(b *ptx.Block) {
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *ptx.Inst:
			if s.Form == nil {
				k.fail("PTX: %s", ptx.Explain(s))
				continue
			}
			k.newEnough(s)
			k.emit(s)
		default:
			k.at.stmts = append(k.at.stmts, s)
		}
	}
}
