package mutate

import (
	"slices"
	"strings"

	"muster/ptx"
)

// A release that comes too early is a mistake that is hard to see: no instruction
// is missing. earlyChanges moves a release up in its statement list, once past
// the last wait before it, and once past all accesses to memory after that wait.
// (The nearest access is often the store of a result that is not read here.)
//
// It may cross whole loops (a spinning wait is one), and one branch that leaves
// the region: the release is then guarded by the branch's condition, so that the
// same threads execute it. Its operands are computed again at the new place.

// farthest is the most statements that a release is moved up.
const farthest = 400

func earlyChanges(s *site) (list []change) {
	past := crossings(s.in)
	if len(past) == 0 {
		return nil
	}
	if d, ok := s.destination(); ok && s.fn.uses[d] > 1 {
		return nil // a token or a value that others read
	}
	for _, p := range past {
		if c, ok := s.earlier(p); ok && !slices.ContainsFunc(list, func(o change) bool { return o.lo == c.lo }) {
			list = append(list, c)
		}
	}
	return list
}

// earlier moves the release past the nearest instruction for which p.is holds; if
// p.all, past all of them after the last wait.
func (s *site) earlier(p crossing) (c change, ok bool) {
	var crossed *ptx.Inst
	for i := s.at - 1; i >= 0 && i >= s.at-farthest; i-- {
		st := s.block.Stmts[i : i+1]
		if leaves(st[0]) || p.all && ok && last(st, isWait) != nil {
			break
		}
		if in := last(st, p.is); in != nil {
			crossed = in
		} else if ok {
			continue
		}
		if crossed == nil {
			continue
		}
		if with, can := s.moved(i); can {
			c, ok = change{"early-" + p.name, "moved up past " + head(crossed), i, s.at + 1, with}, true
			if !p.all {
				break
			}
		}
	}
	return c, ok
}

// head is an instruction's text up to its operands.
func head(in *ptx.Inst) string { return strings.Join(append([]string{in.Op}, in.Mods...), ".") }

// A crossing is a kind of instruction that a release is moved past: one, or all.
type crossing struct {
	name string
	all  bool
	is   func(*ptx.Inst) bool
}

// crossings returns the crossings of an instruction; none if it is no release.
func crossings(in *ptx.Inst) []crossing {
	f := in.Form
	wait, access, copies := crossing{"wait", false, isWait}, crossing{"access", true, isAccess}, crossing{"access", true, isCopy}
	sem := in.Mod("sem")
	switch {
	case in.Op == "cp" && f.Class == "mbarrier", strings.HasSuffix(f.Name, "commit_group"), isCommit(f):
		return []crossing{copies}
	case isArrive(f), f.Barrier == "cluster-arrive", f.Barrier == "cta-arrive":
		return []crossing{wait, access}
	case (in.Op == "st" || in.Op == "red" || in.Op == "atom") && (sem == "release" || sem == "acq_rel"):
		return []crossing{wait, access}
	case f.Class == "fence", f.Name == "wgmma.fence", f.Name == "tcgen05.fence":
		return []crossing{access}
	case f.Name == "tcgen05.dealloc":
		return []crossing{wait}
	}
	return nil
}

func isWait(in *ptx.Inst) bool {
	f := in.Form
	return f != nil && (slices.Contains(groupWaits, f.Name) || slices.Contains([]string{"test", "try", "cta-sync", "cta-red", "cluster-wait", "warp-sync"}, f.Barrier))
}

func isAccess(in *ptx.Inst) bool {
	if in.Form == nil {
		return false
	}
	switch in.Op {
	case "ld", "st", "atom", "red":
		return !slices.ContainsFunc(in.Mods, func(m string) bool {
			return strings.HasPrefix(m, "param") || m == "local" || m == "const"
		})
	case "ldmatrix", "stmatrix":
		return true
	case "wmma":
		return in.Effect().Has(ptx.Reads | ptx.Writes)
	}
	return isCopy(in)
}

// isCopy reports whether an instruction starts an asynchronous operation.
func isCopy(in *ptx.Inst) bool {
	f := in.Form
	if f == nil || f.Async == "none" || f.Class == "mbarrier" || isCommit(f) {
		return false
	}
	return !slices.Contains(groupWaits, f.Name) && !strings.HasSuffix(f.Name, "commit_group")
}

func last(list []ptx.Stmt, is func(*ptx.Inst) bool) (found *ptx.Inst) {
	eachInst(list, func(in *ptx.Inst) {
		if is(in) {
			found = in
		}
	})
	return found
}

// leaves reports whether a statement holds something that a release is not
// moved across at all.
func leaves(s ptx.Stmt) bool {
	return last([]ptx.Stmt{s}, func(in *ptx.Inst) bool {
		return in.Form == nil || in.Op == "call" || in.Op == "ret" || in.Op == "exit" || in.Op == "brx" || in.Op == "trap"
	}) != nil
}

// moved returns the statements from lo on with the release first, if it can be
// placed there.
func (s *site) moved(lo int) ([]ptx.Stmt, bool) {
	region := s.block.Stmts[lo:s.at]
	guard, ok := s.exit(region)
	if !ok {
		return nil, false
	}
	c := s.copy()
	if guard != nil {
		if s.in.Guard != nil {
			return nil, false
		}
		c.Guard = &ptx.Guard{Reg: guard.Reg, Not: !guard.Not}
	}
	before, ok := slice(c, region)
	if !ok {
		return nil, false
	}
	return append(append(before, c), region...), true
}

// exit returns the guard of the only branch that leaves a region; nil if none
// does. It fails where more do, or something outside branches in.
func (s *site) exit(region []ptx.Stmt) (*ptx.Guard, bool) {
	own := map[ptx.Name]bool{}
	for _, st := range region {
		if l, ok := st.(*ptx.Label); ok {
			own[ptx.Name(l.Name)] = true
		}
	}
	var leaving []*ptx.Inst
	within := map[*ptx.Inst]bool{}
	eachInst(region, func(in *ptx.Inst) { within[in] = true })
	branches(region, own, func(in *ptx.Inst) { leaving = append(leaving, in) })
	ok := true
	eachInst(s.fn.body.Stmts, func(in *ptx.Inst) {
		if !within[in] && len(own) > 0 && slices.ContainsFunc(in.Operands, func(x ptx.Operand) bool { n, is := x.(ptx.Name); return is && own[n] }) {
			ok = false
		}
	})
	switch {
	case !ok || len(leaving) > 1:
		return nil, false
	case len(leaving) == 0:
		return nil, true
	}
	// The branch must be one of the region's own statements, not one of a
	// loop's in it.
	at := slices.IndexFunc(region, func(st ptx.Stmt) bool { return st == ptx.Stmt(leaving[0]) })
	if at < 0 || leaving[0].Guard == nil || slices.ContainsFunc(region, func(st ptx.Stmt) bool { _, is := st.(*ptx.Label); return is }) {
		return nil, false
	}
	return leaving[0].Guard, true
}

// branches calls f for the branches in a list that leave it. Labels of a
// nested block are that block's.
func branches(list []ptx.Stmt, own map[ptx.Name]bool, f func(*ptx.Inst)) {
	for _, st := range list {
		switch x := st.(type) {
		case *ptx.Block:
			inner := map[ptx.Name]bool{}
			for n := range own {
				inner[n] = true
			}
			for _, y := range x.Stmts {
				if l, ok := y.(*ptx.Label); ok {
					inner[ptx.Name(l.Name)] = true
				}
			}
			branches(x.Stmts, inner, f)
		case *ptx.Inst:
			if n, ok := target(x); ok && !own[n] {
				f(x)
			}
		}
	}
}

func target(in *ptx.Inst) (ptx.Name, bool) {
	if in.Op != "bra" || len(in.Operands) != 1 {
		return "", false
	}
	n, ok := in.Operands[0].(ptx.Name)
	return n, ok
}

// slice returns the backward slice of an instruction's operands in a region, if
// it can be computed ahead of the region: from registers only, and into registers
// that nothing in the region reads before.
func slice(in *ptx.Inst, region []ptx.Stmt) ([]ptx.Stmt, bool) {
	need := map[ptx.Name]bool{}
	eachName(in, func(n ptx.Name) { need[n] = true })
	var out []ptx.Stmt
	for i, st := range slices.Backward(region) {
		x, ok := st.(*ptx.Inst)
		if !ok {
			if b, ok := st.(*ptx.Block); ok && writesAny(b.Stmts, need) {
				return nil, false
			}
			continue
		}
		if !writesAny([]ptx.Stmt{x}, need) {
			continue
		}
		if x.Guard != nil || !pure(x) || mentioned(region[:i], x) {
			return nil, false
		}
		eachName(x, func(n ptx.Name) { need[n] = true })
		out = slices.Insert(out, 0, ptx.Stmt(x))
	}
	return out, true
}

// pure reports whether an instruction computes registers from registers and parameters
// only.
func pure(in *ptx.Inst) bool {
	return in.Form.Class == "scalar" || in.Op == "mapa" || in.Op == "cvta" || in.Op == "ld" && slices.Contains(in.Mods, "param")
}

// written calls f for each register that an instruction writes.
func written(in *ptx.Inst, f func(ptx.Name)) {
	if in.Form == nil || len(in.Form.Operands) == 0 || len(in.Operands) == 0 {
		return
	}
	if r := in.Form.Operands[0].Role; r == ptx.Write || r == ptx.ReadWrite {
		names(in.Operands[0], f)
	}
}

func writesAny(list []ptx.Stmt, need map[ptx.Name]bool) (any bool) {
	eachInst(list, func(in *ptx.Inst) {
		written(in, func(n ptx.Name) { any = any || need[n] })
	})
	return any
}

// mentioned reports whether a list reads or writes what an instruction writes.
func mentioned(list []ptx.Stmt, in *ptx.Inst) (any bool) {
	written(in, func(w ptx.Name) {
		eachInst(list, func(x *ptx.Inst) {
			eachName(x, func(n ptx.Name) { any = any || n == w })
		})
	})
	return any
}
