package ptx

import (
	"slices"
)

// Validate reports the instructions that match no row of the table, each with the nearest
// row. The errors have no source line.
func Validate(m *Module) []*Error {
	v := &validator{mod: m}
	for _, it := range m.Items {
		if f, ok := it.(*Func); ok && f.Body != nil {
			v.block(f.Body)
		}
	}
	return v.list
}

type validator struct {
	mod  *Module
	list []*Error
}

func (v *validator) block(b *Block) {
	for _, s := range b.Stmts {
		switch x := s.(type) {
		case *Block:
			v.block(x)
		case *Inst:
			if x.Form == nil {
				v.list = append(v.list, v.mod.errorAt(x.Pos, "%s", Explain(x)))
			}
		}
	}
}

// Explain says why an instruction matches no row: its name, a modifier, the combination
// of modifiers, or the operands. It returns "" for one that matches.
func Explain(in *Inst) string {
	text := in.Opcode()
	rows := formsByOp[in.Op]
	cands := candidates(in.Op, in.Mods)
	switch why := Misfit(in); {
	case why == "":
		return ""
	case len(rows) == 0:
		return "unknown instruction " + text
	case len(cands) > 0:
		return "operands of " + text + " do not fit: the form is " + cands[0].form.synopsis
	default:
		return text + ": " + why + "; the nearest form is " + nearest(rows, in.Mods).synopsis
	}
}

// Misfit says briefly why an instruction matches no row.
func Misfit(in *Inst) string {
	rows := formsByOp[in.Op]
	cands := candidates(in.Op, in.Mods)
	switch {
	case len(rows) == 0:
		return "unknown instruction"
	case match(in, cands) != nil:
		return ""
	case len(cands) > 0:
		return "operands do not fit"
	}
	for _, mod := range in.Mods {
		if !slices.ContainsFunc(rows, func(f *Form) bool { return f.knows(mod) }) {
			return "unknown modifier ." + mod
		}
	}
	return "these modifiers do not go together"
}

func (f *Form) knows(mod string) bool {
	return slices.ContainsFunc(f.Slots, func(s Slot) bool { return s.takes(mod) })
}

// nearest finds the row with the most matching modifiers and the fewest missing.
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

// KnowsModifiers reports whether some row has an instruction's modifiers, with any
// operands.
func KnowsModifiers(in *Inst) bool { return len(candidates(in.Op, in.Mods)) > 0 }

// Newest is the version of PTX that introduced the table's newest row or cell.
var Newest = func() (v Version) {
	for _, f := range forms {
		v = later(v, f.Version)
		for i := range f.Since {
			v = later(v, f.Since[i].Version)
		}
	}
	return v
}()
