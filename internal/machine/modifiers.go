package machine

import (
	"errors"
	"slices"
	"strings"

	"muster/ptx"
)

// This file checks every instruction against its row of the instruction table and its
// decoder. An instruction without a row is not modelled: only a later version of the ISA
// defines what a word unknown to the table means. Decoders read modifiers through the
// methods below, which mark them. A modifier that the decoder has not read, and that is
// not ignored on purpose, makes the instruction not modelled: a forgotten modifier is
// never skipped.

// An ignoredMod says which modifiers change nothing that the machine reports, and
// why.
type ignoredMod struct {
	ops  string // the opcodes that it holds for
	mods string
	why  string
}

// ignoredMods is the whole list. A name that ends in * stands for all modifiers
// that begin so.
var ignoredMods = []ignoredMod{
	{"ld ldu st", "ca cg cs lu cv wb wt", "cache operators are hints (ISA 9.7.9.1)"},
	{"ld st", "L1::*", "eviction priorities are hints (ISA 9.7.9.2)"},
	{"ld st cp", "L2::evict_* L2::64B L2::128B L2::256B", "eviction priorities and prefetch sizes are hints (ISA 9.7.9.2, 9.7.9.8)"},
	{"ld st atom red cp", "L2::cache_hint", "a cache policy is a hint (ISA 9.7.9.2)"},
	{"createpolicy prefetch prefetchu applypriority pmevent", "*", "what a cache or a profiler is told changes no value"},
	{"ld st cp", "weak", "an access is weak unless it says otherwise (ISA 9.7.9.8)"},
	{"bar barrier", "cta", "the barrier is the CTA's in any case (ISA 9.7.13.1)"},
	{"bar barrier shfl vote activemask setmaxnreg nanosleep", "b32 u32 pred", "there is no other type, or it follows from the operation"},
	{"tcgen05", "sync aligned b32 b64", "every form that can have them has; aligned.go reads them"},
	{"mbarrier cp", "b64", "the type of an mbarrier"},
	{"mbarrier", "layout::v0", "an mbarrier has this layout unless it says otherwise (ISA 9.4, 9.7.15.16.12)"},
	{"mbarrier", "phase_type::primary", "a test asks for this phase unless it says otherwise (ISA 9.4, 9.7.15.16.19)"},
	{"mbarrier", "phase_type::conditional", "it completes with the primary phase unless an operation reports, and none that is modelled does (ISA 9.4, 9.7.15.16.10)"},
	{"setmaxnreg wgmma ldmatrix stmatrix movmatrix tensormap", "sync aligned", "every form has both; aligned.go reads them"},
	{"cp", "tile", "the mode of a tensor copy unless it says otherwise (ISA 9.7.9.25.5.2)"},
	{"tensormap", "tile", "maps are replaced in this mode alone (ISA 9.7.9.26)"},
	{"atom red cp", "noftz", "half precision additions have no other form (ISA 9.7.13.5)"},
}

// unmodelledMods are modifiers that change what an instruction does and how many operands it
// has, for architectures or releases of PTX that the machine does not execute: no decoder
// sees them. A name that ends in * stands for all modifiers that begin so.
var unmodelledMods = []struct{ mods, why string }{
	{"multicast::cluster::32b", "masks of clusters of more than 16 CTAs, of sm_107"},
	{"override::*", "properties that replace those of a tensor map, of sm_107"},
	{"mbarrier::report::*", "reports of what a copy found, of sm_107"},
	{"decompress::lut::b", "a matrix of indices into a table, of sm_107"},
	{"spcompress", "sparse compression, of sm_107"},
	{"pzo", "positive zeros alone, of sm_107"},
	{"proxy::readonly", "the read-only proxy"},
}

// beyondModel returns why a modifier of an instruction is not modelled, "" if it may be.
func beyondModel(in *ptx.Inst) string {
	for _, mod := range in.Mods {
		for _, u := range unmodelledMods {
			if prefix, open := strings.CutSuffix(u.mods, "*"); mod == u.mods || open && strings.HasPrefix(mod, prefix) {
				return "modifier ." + mod + ": " + u.why
			}
		}
	}
	return ""
}

// ignored reports whether ignoredMods has a modifier of an opcode.
func ignored(op, mod string) bool {
	return slices.ContainsFunc(ignoredMods, func(g ignoredMod) bool {
		return slices.Contains(strings.Fields(g.ops), op) && slices.ContainsFunc(strings.Fields(g.mods), func(m string) bool {
			prefix, open := strings.CutSuffix(m, "*")
			return m == mod || open && strings.HasPrefix(mod, prefix)
		})
	})
}

// has reports whether the instruction carries a modifier, and marks it as read.
func (d *decoder) has(mod string) bool {
	d.read(mod)
	return has(d.cur, mod)
}

// read marks a modifier as one that the decoder knows.
func (d *decoder) read(mod string) {
	for i, m := range d.cur.Mods {
		if m == mod && i < 64 {
			d.marks |= 1 << i
		}
	}
}

// reads reports whether modifier i is mod, and marks it as read.
func (d *decoder) reads(in *ptx.Inst, i int, mod string) bool {
	if i >= len(in.Mods) || in.Mods[i] != mod {
		return false
	}
	d.read(mod)
	return true
}

// readAll marks all modifiers.
func (d *decoder) readAll() { d.marks = ^uint64(0) }

// lastType is lastType of the instruction, and marks the type as read.
func (d *decoder) lastType() typ {
	if t := lastType(d.cur); t != tNone {
		d.marks |= 1 << min(len(d.cur.Mods)-1, 63)
	}
	return lastType(d.cur)
}

// unread gives the modifiers that the decoder has not read and that are not
// ignored.
func (d *decoder) unread() (list []string) {
	for i, m := range d.cur.Mods {
		if (i >= 64 || d.marks>>i&1 == 0) && !ignored(d.cur.Op, m) {
			list = append(list, m)
		}
	}
	return list
}

// A notModelled error is errNotModelled with a reason.
type notModelled string

func (e notModelled) Error() string        { return string(e) }
func (e notModelled) Is(target error) bool { return target == errNotModelled }

// A malformed error is of modifiers that the ISA forbids together, and not of a row that the
// table lacks: the text is refused.
type malformed struct{ error }

// decodeForm decodes an instruction by the decoder that its opcode is listed under, and
// checks it against its row. It returns errNotModelled for what no row or no decoder
// knows.
func (d *decoder) decodeForm(in *ptx.Inst) error {
	d.marks = 0
	if why := beyondModel(in); in.Form != nil && why != "" {
		return notModelled(why)
	}
	err := errNotModelled
	if fn := decoders[in.Op]; fn != nil {
		err = fn(d, in)
	}
	known := !errors.Is(err, errNotModelled)
	switch {
	case errors.As(err, new(malformed)):
		return err.(malformed).error
	case in.Form == nil && known && err != nil && ptx.KnowsModifiers(in) && !ptx.Newest.Before(d.unit().Version):
		return err // malformed: some row has its modifiers, and none its operands
	case in.Form == nil:
		return notModelled(ptx.Misfit(in))
	case err != nil && lastType(in) == tNone && in.Mod("type") != "":
		return notModelled("its type is not its last modifier") // in an order that ptxas takes
	case err != nil:
		return err
	}
	if list := d.unread(); len(list) > 0 {
		return notModelled("modifier ." + strings.Join(list, ", ."))
	}
	return nil
}
