package mutate

import (
	"slices"
	"strings"

	"muster/ptx"
)

// Tensor memory and tcgen05 (ISA 9.7.18): what is wrong with an allocation, with an address in
// tensor memory, with a commit, or with which CTAs take part. Fences, waits and what comes too
// early are with those of other instructions.

// tensorChanges mutates allocations and accesses.
func tensorChanges(s *site) []change {
	switch f := s.in.Form; f.Name {
	case "tcgen05.relinquish_alloc_permit":
		return s.delete("relinquish-delete")
	case "tcgen05.alloc":
		return s.halfColumns("alloc-half")
	case "tcgen05.dealloc":
		return append(s.delete("dealloc-delete"), s.halfColumns("dealloc-half")...)
	default:
		if f.Class != "tcgen05" || f.Async == "none" || isCommit(f) || f.Name == "tcgen05.wait" {
			return nil
		}
	}
	return append(s.elsewhere(), s.alwaysAdds()...)
}

func (s *site) halfColumns(variant string) []change {
	i := s.operand("cols")
	if i < 0 {
		return nil
	}
	list := s.half(variant, i)
	for i := range list {
		list[i].what = strings.Replace(list[i].what, "bytes", "columns", 1)
	}
	return list
}

// elsewhere moves what is accessed in tensor memory: an accumulator by 32 columns, a warp's
// part by its 32 lanes.
func (s *site) elsewhere() (list []change) {
	for i, x := range s.in.Operands {
		m, ok := x.(*ptx.Mem)
		if !ok {
			continue
		}
		list = append(list, s.moveAddress("columns-on", "32 columns on", i, m, 32)...)
		if strings.HasPrefix(s.in.Form.Name, "tcgen05.ld") || strings.HasPrefix(s.in.Form.Name, "tcgen05.st") {
			list = append(list, s.moveAddress("lanes-on", "32 lanes on", i, m, 32<<16)...)
		}
		break // A in tensor memory is moved with D, or not at all
	}
	return list
}

func (s *site) moveAddress(variant, what string, i int, m *ptx.Mem, by int64) []change {
	to := *m
	to.Off += by
	return s.set(variant, what, i, &to)
}

// alwaysAdds makes a multiplication add to D where the first of a product must not.
func (s *site) alwaysAdds() []change {
	args := s.in.Form.Operands
	i := slices.IndexFunc(args, func(a ptx.Arg) bool { return a.Name == "enable" })
	if i < 0 {
		return nil
	}
	isVector := func(x ptx.Operand) bool { _, ok := x.(*ptx.Vector); return ok }
	if args[i-1].Name == "disable" && !slices.ContainsFunc(s.in.Operands, isVector) {
		i-- // no lanes are disabled
	}
	return s.compute("adds-always", "always adds to D", i, "pred", inst("setp.eq.u32", temp, ptx.Int{}, ptx.Int{}))
}

// isCommit reports whether a form makes an mbarrier track operations of tcgen05.
func isCommit(f *ptx.Form) bool { return f.Class == "tcgen05" && f.Barrier == "arrive" }

// tensorCommits mutates tcgen05.commit.
func tensorCommits(s *site) []change {
	list := s.delete("commit-delete")
	list = append(list, s.replace("commit-arrive", "an arrive that waits for nothing", arrives(s.in))...)
	if m, ok := s.in.Operands[0].(*ptx.Mem); ok {
		list = append(list, s.moveAddress("commit-other", "on the next barrier", 0, m, 8)...)
	}
	if !s.multicasts() {
		return list
	}
	c := s.copy()
	c.Mods = slices.DeleteFunc(c.Mods, isMulticast)
	c.Operands = c.Operands[:1]
	return append(list, s.replace("commit-alone", "to one CTA alone", c)...)
}

// arrives is a plain arrive on the mbarrier of a commit.
func arrives(in *ptx.Inst) *ptx.Inst {
	c := *in
	c.Op, c.Mods = "mbarrier", []string{"arrive", "release", "cluster", "shared::cluster", "b64"}
	c.Operands = []ptx.Operand{ptx.Sink{}, in.Operands[0]}
	return &c
}

func isMulticast(mod string) bool { return strings.HasPrefix(mod, "multicast::cluster") }

// multicasts reports whether the instruction goes to CTAs that a mask names.
func (s *site) multicasts() bool { return slices.ContainsFunc(s.in.Mods, isMulticast) }

// groupChanges make what a pair of CTAs does one CTA's.
func groupChanges(s *site) []change {
	i := slices.Index(s.in.Mods, "cta_group::2")
	switch {
	case i < 0:
		return nil
	case s.in.Form.Class == "tcgen05":
		return s.swapMod("group-one", "cta_group::2", "cta_group::1")
	}
	c := s.copy()
	c.Mods = slices.Delete(c.Mods, i, i+1)
	return s.replace("group-none", "without .cta_group::2", c)
}
