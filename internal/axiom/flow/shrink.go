package flow

// Clone copies a program.
func (p *Program) Clone() *Program {
	q := *p
	q.Warps = append([]Warp(nil), p.Warps...)
	for i := range q.Warps {
		w := &q.Warps[i]
		w.Steps = append([]Step(nil), w.Steps...)
		for k := range w.Steps {
			s := &w.Steps[k]
			s.Roles = append([]Role(nil), s.Roles...)
			for r := range s.Roles {
				s.Roles[r].Code = copied(s.Roles[r].Code)
			}
		}
	}
	return &q
}

func copied(code []Instr) []Instr {
	out := append([]Instr(nil), code...)
	for i := range out {
		in := &out[i]
		in.Src = append([]Value(nil), in.Src...)
		in.Dst = append([]int(nil), in.Dst...)
		in.Body, in.Else = copied(in.Body), copied(in.Else)
	}
	return out
}

// Instructions counts a program's instructions, without barriers.
func (p *Program) Instructions() int {
	n := 0
	p.walk(func(*Instr) { n++ })
	return n
}

// Shrink makes a program smaller while keep holds.
func (p *Program) Shrink(keep func(*Program) bool) *Program {
	for again := true; again; {
		again = false
		for _, q := range p.smaller() {
			if keep(q) {
				p, again = q, true
				break
			}
		}
	}
	return p
}

// smaller lists the programs one reduction step away, the smallest first.
func (p *Program) smaller() []*Program {
	var all []*Program
	with := func(f func(q *Program)) {
		q := p.Clone()
		f(q)
		if q.Alike {
			q.Share()
		}
		all = append(all, q)
	}
	if p.Alike && p.CTAs > 2 {
		with(func(q *Program) { q.CTAs-- })
	}
	for i := range p.Warps {
		with(func(q *Program) { q.Warps = append(q.Warps[:i:i], q.Warps[i+1:]...) })
	}
	p.fewerBarriers(with)
	for i := range p.Warps {
		for k := range p.Warps[i].Steps {
			s := &p.Warps[i].Steps[k]
			for r := range s.Roles {
				with(func(q *Program) {
					t := &q.Warps[i].Steps[k]
					t.Roles = append(t.Roles[:r:r], t.Roles[r+1:]...)
				})
				if s.Roles[r].Lanes > 1 {
					with(func(q *Program) { q.Warps[i].Steps[k].Roles[r].Lanes-- })
				}
				for n := range count(s.Roles[r].Code) {
					for way := range ways {
						m := n
						if in := find(s.Roles[r].Code, &m); !simplifies(in, way) {
							continue
						}
						with(func(q *Program) {
							role := &q.Warps[i].Steps[k].Roles[r]
							m := n
							role.Code = edit(role.Code, &m, way)
						})
					}
				}
			}
		}
	}
	if p.Cluster > 1 {
		with(func(q *Program) { q.Cluster = 0 })
	}
	last := 0
	for _, w := range p.Warps {
		last = max(last, w.CTA+1)
	}
	if n := max(p.Cluster, 1); last > 0 && last < p.CTAs && last%n == 0 {
		with(func(q *Program) { q.CTAs = last })
	}
	return all
}

// fewerBarriers removes a barrier from every warp of a CTA.
func (p *Program) fewerBarriers(with func(func(*Program))) {
	for cta := range p.CTAs {
		for n := range 4 {
			found := false
			edit := func(q *Program) {
				for i := range q.Warps {
					if q.Warps[i].CTA != cta {
						continue
					}
					seen := 0
					var steps []Step
					for _, s := range q.Warps[i].Steps {
						if s.Kind == Barrier {
							if seen++; seen == n+1 {
								found = true
								continue
							}
						}
						steps = append(steps, s)
					}
					q.Warps[i].Steps = steps
				}
			}
			if edit(p.Clone()); found {
				with(edit)
			}
		}
	}
}

func count(code []Instr) int {
	n := len(code)
	for i := range code {
		n += count(code[i].Body) + count(code[i].Else)
	}
	return n
}

// The ways to simplify an instruction: remove it, replace it by its body, make a poll
// test once, make a poll infinite.
const ways = 4

func simplifies(in *Instr, way int) bool {
	switch way {
	case 1:
		return in.Kind == If || in.Kind == Loop
	case 2:
		return in.Kind == Poll
	case 3:
		return in.Kind == Poll && in.Tries > 0
	}
	return true
}

// find returns the n-th instruction.
func find(code []Instr, n *int) *Instr {
	for i := range code {
		if *n == 0 {
			return &code[i]
		}
		*n--
		for _, list := range [][]Instr{code[i].Body, code[i].Else} {
			if in := find(list, n); in != nil {
				return in
			}
		}
	}
	return nil
}

// edit simplifies the n-th instruction.
func edit(code []Instr, n *int, way int) []Instr {
	var out []Instr
	for _, in := range code {
		if *n == 0 {
			*n--
			switch way {
			case 0:
				continue
			case 1:
				out = append(append(out, in.Body...), in.Else...)
				continue
			case 2:
				in.Kind, in.Tries = in.By, 0
			case 3:
				in.Tries = 0
			}
			out = append(out, in)
			continue
		}
		*n--
		in.Body = edit(in.Body, n, way)
		in.Else = edit(in.Else, n, way)
		out = append(out, in)
	}
	return out
}
