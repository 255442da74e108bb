package ptx

import (
	"slices"
	"strings"
)

// Validate reports the instructions that match no row of the table, each
// with the row that comes nearest. A tree holds no source text, so the
// errors have no source line.
func Validate(m *Module) []*Error {
	v := &validator{file: m.Name}
	for _, it := range m.Items {
		if f, ok := it.(*Func); ok && f.Body != nil {
			v.block(f.Body)
		}
	}
	return v.list
}

type validator struct {
	file string
	list []*Error
}

func (v *validator) block(b *Block) {
	for _, s := range b.Stmts {
		switch x := s.(type) {
		case *Block:
			v.block(x)
		case *Inst:
			if x.Form == nil {
				v.list = append(v.list, &Error{File: v.file, Pos: x.Pos, Msg: Explain(x)})
			}
		}
	}
}

// Explain says why an instruction matches no row: its name, a modifier, the
// modifiers together, or the operands. It gives "" for one that matches.
func Explain(in *Inst) string {
	text := strings.Join(append([]string{in.Op}, in.Mods...), ".")
	rows := formsByOp[in.Op]
	if len(rows) == 0 {
		return "unknown instruction " + text
	}
	cands := candidates(in.Op, in.Mods)
	if match(in, cands) != nil {
		return ""
	}
	if len(cands) > 0 {
		return "operands of " + text + " do not fit: the form is " + cands[0].form.synopsis
	}
	near := nearest(rows, in.Mods)
	for _, mod := range in.Mods {
		if !slices.ContainsFunc(rows, func(f *Form) bool { return f.knows(mod) }) {
			return text + ": unknown modifier ." + mod + "; the nearest form is " + near.synopsis
		}
	}
	return text + ": these modifiers do not go together; the nearest form is " + near.synopsis
}

func (f *Form) knows(mod string) bool {
	return slices.ContainsFunc(f.Slots, func(s Slot) bool { return s.takes(mod) })
}

// nearest finds the row that takes the most modifiers and lacks the fewest.
func nearest(rows []*Form, mods []string) *Form {
	best, score := rows[0], -1<<30
	for _, f := range rows {
		n := 0
		for _, m := range mods {
			if f.knows(m) {
				n += 4
			}
		}
		for _, s := range f.Slots {
			if !s.Optional && !slices.ContainsFunc(mods, s.takes) {
				n--
			}
		}
		if n > score {
			best, score = f, n
		}
	}
	return best
}
