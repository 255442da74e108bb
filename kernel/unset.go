package kernel

import (
	"muster/ptx"
)

// unset reports registers that are read where they need not be set: on some
// path from the function's beginning to the read no instruction sets them. A
// predicated instruction counts as setting what it writes.
//
// It is the usual forward analysis of definite assignment, over the blocks
// between labels and branches.
func (k *Kernel) unset(b *body) {
	stmts := append(append([]ptx.Stmt{}, b.prologue...), b.stmts...)
	label := map[string]int{}
	for i, s := range stmts {
		if l, ok := s.(*ptx.Label); ok {
			label[l.Name] = i
		}
	}
	words := (len(b.regs) + 63) / 64
	all := make([]uint64, words)
	for i := range all {
		all[i] = ^uint64(0)
	}
	start := make([]uint64, words)
	for i, r := range b.regs {
		if r.given {
			start[i/64] |= 1 << (i % 64)
		}
	}
	// in is what is set where a label stands.
	in := map[int][]uint64{}
	work := []int{0}
	queued := map[int]bool{0: true}
	in[0] = start
	meet := func(at int, set []uint64) {
		old, ok := in[at]
		if !ok {
			old = append([]uint64{}, all...)
		}
		changed := !ok
		now := make([]uint64, words)
		for i := range now {
			now[i] = old[i] & set[i]
			changed = changed || now[i] != old[i]
		}
		if changed {
			in[at] = now
			if !queued[at] {
				queued[at] = true
				work = append(work, at)
			}
		}
	}
	run := func(at int, report bool) {
		set := append([]uint64{}, in[at]...)
		for i := at; i < len(stmts); i++ {
			switch s := stmts[i].(type) {
			case *ptx.Label:
				if i > at {
					if !report {
						meet(i, set)
					}
					return
				}
			case *ptx.Inst:
				k.flow(b, s, set, report)
				if s.Op == "bra" {
					if to, ok := label[string(s.Operands[0].(ptx.Name))]; ok && !report {
						meet(to, set)
					}
				}
				if s.Guard == nil && (s.Op == "bra" || s.Op == "ret" || s.Op == "exit" || s.Op == "trap") {
					return
				}
			}
		}
	}
	for len(work) > 0 {
		at := work[0]
		work = work[1:]
		queued[at] = false
		run(at, false)
	}
	for i := range stmts {
		if _, ok := in[i]; ok {
			run(i, true)
		}
	}
}

// flow takes one instruction: it reads, then writes.
func (k *Kernel) flow(b *body, in *ptx.Inst, set []uint64, report bool) {
	at := func(x ptx.Operand) int {
		n, ok := x.(ptx.Name)
		if !ok {
			return -1
		}
		was := k.at
		k.at = b
		_, ok = k.register(string(n))
		k.at = was
		if !ok {
			return -1
		}
		id := 0
		for _, c := range string(n) {
			if c >= '0' && c <= '9' {
				id = id*10 + int(c-'0')
			} else {
				id = 0
			}
		}
		return id - 1
	}
	told := false // of a vector once
	read := func(x ptx.Operand, elem bool) {
		if i := at(x); i >= 0 && set[i/64]&(1<<(i%64)) == 0 {
			if report {
				r := b.regs[i]
				if !r.given {
					if !elem || !told {
						k.failAt(b.where[in], "a register of type %s made at %s is read here, and on some way here nothing has set it%s", r.typ, r.at, r.hint)
					}
					told = told || elem
					b.regs[i].given = true
				}
			}
			set[i/64] |= 1 << (i % 64)
		}
	}
	if in.Guard != nil {
		read(ptx.Name(in.Guard.Reg), false)
	}
	var writes []int
	for _, bd := range ptx.Bind(in) {
		if m, ok := bd.X.(*ptx.Mem); ok {
			read(m.Base, false)
			continue
		}
		switch bd.Arg.Role {
		case ptx.Write:
			if i := at(bd.X); i >= 0 {
				writes = append(writes, i)
			}
		case ptx.ReadWrite:
			if bd.Arg.Class != "mem" {
				read(bd.X, bd.Elem)
				continue
			}
		default:
			read(bd.X, bd.Elem)
		}
	}
	if in.Form == nil || in.Op == "call" { // calls bind lists: results are set
		for _, x := range in.Operands {
			if l, ok := x.(*ptx.List); ok {
				for _, e := range l.Elems {
					if i := at(e); i >= 0 {
						writes = append(writes, i)
					}
				}
			}
		}
	}
	for _, i := range writes {
		set[i/64] |= 1 << (i % 64)
	}
}
