package campaign

import (
	"fmt"
	"slices"
	"strings"

	"muster/ptx"
)

// leftOut gives the reason why a row has no case.
func leftOut(f *ptx.Form) string {
	switch f.Class {
	case "matrix", "tcgen05":
		return "matrix instruction: not part of the scalar ISA (MatrixCases has those of a warp)"
	case "texture":
		return "texture or surface instruction: not part of the scalar ISA"
	case "tensormap":
		return "tensor map instruction: not part of the scalar ISA"
	case "async":
		return "asynchronous: its result depends on when it completes"
	case "mbarrier":
		return "mbarrier: has golden data of its own, in package mbarrier"
	}
	switch {
	case strings.HasPrefix(f.Op, "multimem"):
		return "needs a multicast object over several cards"
	case f.Op == "trap", f.Op == "brkpt":
		return "ends the launch"
	case assembler.Before(f.Version):
		return "PTX that is newer than the assembler of the golden data"
	case f.Gone != nil && f.Gone.Version.Before(ptx.Version{Major: 4}):
		return "PTX that is older than the assembler of the golden data takes"
	}
	return ""
}

// assembler is the version of PTX before which rows are newer than the golden data's.
var assembler = ptx.Version{Major: 9, Minor: 2}

// tooNew reports whether an instruction has a modifier that is newer than its row, and than
// the assembler of the golden data.
func tooNew(f *ptx.Form, text string) bool {
	opcode, _, _ := strings.Cut(text, " ")
	words := strings.Split(opcode, ".")
	has := func(c ptx.Cond) bool {
		s, ok := f.Slot(c.Slot)
		values := c.Is
		if values == nil {
			values = s.Values
		}
		return ok && slices.ContainsFunc(values, func(v string) bool { return slices.Contains(words, v) })
	}
	return slices.ContainsFunc(f.Since, func(s ptx.Since) bool {
		return assembler.Before(s.Version) && !slices.ContainsFunc(s.If, func(c ptx.Cond) bool { return !has(c) })
	})
}

// undetermined is what has no case though its row has some.
var undetermined = []string{
	"mov of %clock, %clock64, %clock_hi, %globaltimer, %pm0 to %pm7: time",
	"mov of %smid, %nsmid, %warpid, %nwarpid, %gridid, %envreg, %reserved_smem_offset_*: where the card puts a block, or the driver's own",
	"shfl.sync from a lane outside the mask: unspecified",
	"bits of a cache policy: the card's own (the loads through them are compared)",
	"activemask in divergent code: depends on how the warp converges",
	"atom and red of several threads at one address: only operations whose outcome no order changes",
	"contents after discard, before a store",
	"mapa.u32 and getctarank.u32 of generic addresses: 64-bit code has none of 32 bits (the card faults)",
	"getctarank of an address that is not shared",
}

// makers has what makes a row's cases: by its name, else by its class.
var makers = map[string]func(*ptx.Form) []Case{
	"add.cc": carries, "addc": carries, "sub.cc": carries, "subc": carries, "mad.cc": carries, "madc": carries,
	"fma.oob": oob, "mov": moves, "mov.pack": packs, "mov.unpack": packs, "mov.pack.b128": packs, "mov.unpack.b128": packs,
	"isspacep": windows, "cvta": windows, "cvta.to": windows, "mapa": windows, "getctarank": windows,
	"shfl": shuffles, "shfl.sync": shuffles, "activemask": activemasks, "bar.warp.sync": warpSync,
	"barrier.cluster.arrive": clusters, "barrier.cluster.wait": clusters,
	"discard": discards, "setmaxnreg": registers,
}

// keepOf is how many threads' results are kept in full, by class: as many as
// the golden data has room for.
var keepOf = map[string]int{"scalar": 128, "video": 64, "memory": 32, "atomic": 32, "warp": 64, "barrier": 64, "control": 64, "stack": 64, "fence": 32}

// Cases gives every case, in the order of the table. Names are unique, and stay
// as long as the case does.
func Cases() []Case {
	var list []Case
	seen := map[string]bool{}
	add := func(cs []Case) {
		for _, c := range cs {
			key := c.Form + " | " + c.Text
			if seen[key] || tooNew(ptx.LookupForm(c.Form), c.Text) {
				continue
			}
			seen[key] = true
			c.Name = nameOf(key)
			if c.keep == 0 {
				c.keep = keepOf[ptx.LookupForm(c.Form).Class]
			}
			list = append(list, c)
		}
	}
	for _, f := range ptx.Forms() {
		if leftOut(f) == "" {
			add(makerOf(f)(f))
		}
	}
	add(contended())
	return list
}

// newer asks the assembler about a row that the table has for later architectures
// only.
func newer(f *ptx.Form) []Case {
	p := newProgram(f.Name)
	p.regs = append(p.regs, ".reg .pred %p<20>;", ".reg .b16 %rs<20>;", ".reg .b32 %r<20>, %f<20>;", ".reg .b64 %rd<20>, %fd<20>;", ".reg .b128 %rq<20>;")
	p.emit("%s", f.Example())
	return []Case{p.finish(strings.TrimSuffix(f.Example(), ";"))}
}

func makerOf(f *ptx.Form) func(*ptx.Form) []Case {
	if f.SM.Number > 90 {
		return newer
	}
	if m := makers[f.Name]; m != nil {
		return m
	}
	_, isApprox := approximations[f.Name]
	switch {
	case isApprox || f.Name == "div.approx":
		return approximate
	case f.Class == "atomic":
		return atomics
	case f.Class == "fence":
		return fences
	case f.Class == "barrier":
		return barriers
	case f.Class == "warp":
		return collectives
	case f.Op == "ld" || f.Op == "ldu":
		return loads
	case f.Op == "st":
		return stores
	case f.Class == "video" && strings.ContainsAny(f.Op, "24"):
		return simdVideos
	case f.Class == "video":
		return videos
	case f.Op == "cvt":
		return conversions
	case f.Class == "scalar" && strings.HasPrefix(f.Section, "9.7.3."), f.Class == "scalar" && strings.HasPrefix(f.Section, "9.7.4."):
		return arithmetic
	case f.Class == "scalar":
		return generic
	}
	return scripted
}

func nameOf(key string) string {
	s := newSource(key)
	var b strings.Builder
	for _, r := range key[:strings.Index(key, " | ")] {
		if r == '.' {
			r = '_'
		}
		b.WriteRune(r)
	}
	return fmt.Sprintf("%s_%08x", b.String(), s.next()>>32)
}
