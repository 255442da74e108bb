package flow

import "slices"

// Origin returns the one instruction that computes what the instruction at pc takes as a value:
// its only register that is neither an address nor its guard. It returns -1 if there are more
// such registers, or more instructions whose results may reach it.
func (p *Program) Origin(pc int32) int32 {
	for i := range p.Funcs {
		at := slices.IndexFunc(p.Funcs[i].Uses, func(u Use) bool { return u.PC == pc })
		if at < 0 {
			continue
		}
		u := &p.Funcs[i].Uses[at]
		var value []Reg
		for _, r := range u.Reads {
			if r != u.Guard && !slices.Contains(u.Addr, r) && !slices.Contains(value, r) {
				value = append(value, r)
			}
		}
		if len(value) != 1 {
			return -1
		}
		g := newGraph(&p.Funcs[i])
		if from := g.writers(int32(at), value[0]); len(from) == 1 && from[0] >= 0 {
			return g.Nodes[from[0]].PC
		}
		return -1
	}
	return -1
}
