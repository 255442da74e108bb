package machine

import (
	"math/bits"
	"strings"
)

// Special registers (ISA, special registers). Values that the ISA leaves to the
// chip or the driver are fixed, so that runs are deterministic: CTA i runs on
// multiprocessor i mod 132, performance counters and driver registers are zero,
// and clocks are the machine's virtual time.

const (
	multiprocessors = 132 // of an H200
	warpSlots       = 64  // warps a multiprocessor holds
	smemUnit        = 128 // allocation unit of shared memory (ISA, %total_smem_size)
	smemReserved    = 1024
	smemLent        = 288 // of it, usable by the program
	clockRead       = 16  // virtual time that reading a clock takes
)

// A specialName is the special register that an instruction reads (instr.x).
type specialName string

// A specialReg reads a special register: once for the warp, or once per lane.
type specialReg struct {
	typ  typ
	warp func(x *ctx) uint64
	lane func(x *ctx, lane uint32) uint64
}

func warpSpecial(t typ, f func(x *ctx) uint64) *specialReg { return &specialReg{typ: t, warp: f} }

func fixedSpecial(t typ, v uint64) *specialReg {
	return warpSpecial(t, func(*ctx) uint64 { return v })
}

var specials = map[string]*specialReg{
	"%laneid":  {typ: u32, lane: func(_ *ctx, l uint32) uint64 { return uint64(l) }},
	"%warpid":  warpSpecial(u32, func(x *ctx) uint64 { return uint64(x.w.index) }),
	"%nwarpid": fixedSpecial(u32, warpSlots),
	"%smid":    warpSpecial(u32, func(x *ctx) uint64 { return uint64(x.c.index % multiprocessors) }),
	"%nsmid":   fixedSpecial(u32, multiprocessors),
	"%gridid":  warpSpecial(u64, func(x *ctx) uint64 { return uint64(x.c.g.index) + 1 }),

	"%cluster_ctarank":  warpSpecial(u32, func(x *ctx) uint64 { return uint64(x.c.rank) }),
	"%cluster_nctarank": warpSpecial(u32, func(x *ctx) uint64 { return uint64(x.c.g.size(x.c.index)) }),
	"%is_explicit_cluster": warpSpecial(pred, func(x *ctx) uint64 {
		p := x.c.g.entry
		return uint64(bit(p.Explicit || p.ReqCluster[0] != 0 || x.c.g.size(x.c.index) > 1))
	}),

	"%lanemask_eq": {typ: u32, lane: func(_ *ctx, l uint32) uint64 { return 1 << l }},
	"%lanemask_lt": {typ: u32, lane: func(_ *ctx, l uint32) uint64 { return 1<<l - 1 }},
	"%lanemask_le": {typ: u32, lane: func(_ *ctx, l uint32) uint64 { return 2<<l - 1 }},
	"%lanemask_gt": {typ: u32, lane: func(_ *ctx, l uint32) uint64 { return uint64(^uint32(2<<l - 1)) }},
	"%lanemask_ge": {typ: u32, lane: func(_ *ctx, l uint32) uint64 { return uint64(^uint32(1<<l - 1)) }},

	"%clock":          warpSpecial(u32, readClock),
	"%clock_hi":       warpSpecial(u32, func(x *ctx) uint64 { return readClock(x) >> 32 }),
	"%clock64":        warpSpecial(u64, readClock),
	"%globaltimer":    warpSpecial(u64, readClock),
	"%globaltimer_lo": warpSpecial(u32, readClock),
	"%globaltimer_hi": warpSpecial(u32, func(x *ctx) uint64 { return readClock(x) >> 32 }),

	"%dynamic_smem_size": warpSpecial(u32, func(x *ctx) uint64 { return x.c.g.Shared }),
	"%total_smem_size":   warpSpecial(u32, totalShared),
	"%aggr_smem_size":    warpSpecial(u32, func(x *ctx) uint64 { return totalShared(x) + smemReserved }),

	// The first KiB of the window belongs to the system. Cooperative groups
	// keep the barriers of their larger tiles there, in the part that the
	// registers name; the values are an H200's.
	"%reserved_smem_offset_begin": fixedSpecial(u32, 0),
	"%reserved_smem_offset_end":   fixedSpecial(u32, smemLent),
	"%reserved_smem_offset_cap":   fixedSpecial(u32, smemReserved),
	"%reserved_smem_offset_0":     fixedSpecial(u32, 0),
	"%reserved_smem_offset_1":     fixedSpecial(u32, 0),

	"%current_graph_exec": fixedSpecial(u64, 0),

	"%envreg1": warpSpecial(u32, workspaceHalf(32)),
	"%envreg2": warpSpecial(u32, workspaceHalf(0)),
}

// specialVectors are the registers with components .x, .y and .z; .w is zero.
var specialVectors = map[string]func(x *ctx, i int) uint32{
	"%ntid":           func(x *ctx, i int) uint32 { return x.c.g.Block[i] },
	"%ctaid":          func(x *ctx, i int) uint32 { return x.c.id[i] },
	"%nctaid":         func(x *ctx, i int) uint32 { return x.c.g.Grid[i] },
	"%clusterid":      func(x *ctx, i int) uint32 { return x.c.id[i] / x.c.g.dims(x.c.index)[i] },
	"%nclusterid":     func(x *ctx, i int) uint32 { return x.c.g.Grid[i] / x.c.g.dims(x.c.index)[i] },
	"%cluster_ctaid":  func(x *ctx, i int) uint32 { return x.c.id[i] % x.c.g.dims(x.c.index)[i] },
	"%cluster_nctaid": func(x *ctx, i int) uint32 { return x.c.g.dims(x.c.index)[i] },
}

// readClock reads virtual time. Each read advances it, so that a loop that waits
// for the clock ends.
func readClock(x *ctx) uint64 {
	x.m.clock += clockRead
	x.unsteady()
	return uint64(x.m.clock)
}

func totalShared(x *ctx) uint64 {
	g := x.c.g
	n := g.entry.Static
	if g.Shared > 0 {
		n = g.entry.DynamicAt - SharedBase + g.Shared
	}
	return alignUp(n, smemUnit)
}

// threadIndex is component i of a lane's %tid.
func threadIndex(x *ctx, lane uint32, i int) uint64 {
	b, n := &x.c.g.Block, uint32(x.w.index)*32+lane
	switch i {
	case 0:
		return uint64(n % b[0])
	case 1:
		return uint64(n / b[0] % b[1])
	}
	return uint64(n / b[0] / b[1])
}

// findSpecial is lookupSpecial, and records that the program asks where the
// reserved shared memory is: only then may it access it.
func (d *decoder) findSpecial(name string) *specialReg {
	if strings.HasPrefix(name, "%reserved_smem_offset_") {
		d.entry.reserved = true
	}
	return lookupSpecial(name)
}

// lookupSpecial finds a special register, or returns nil.
func lookupSpecial(name string) *specialReg {
	if s := specials[name]; s != nil {
		return s
	}
	if base, comp, ok := strings.Cut(name, "."); ok {
		i := strings.Index("xyzw", comp)
		f := specialVectors[base]
		switch {
		case len(comp) != 1 || i < 0 || f == nil && base != "%tid":
			return nil
		case i == 3:
			return fixedSpecial(u32, 0)
		case f == nil:
			return &specialReg{typ: u32, lane: func(x *ctx, l uint32) uint64 { return threadIndex(x, l, i) }}
		}
		return warpSpecial(u32, func(x *ctx) uint64 { return uint64(f(x, i)) })
	}
	if numbered(name, "%envreg", "", 32) || numbered(name, "%pm", "", 8) {
		return fixedSpecial(u32, 0)
	}
	if numbered(name, "%pm", "_64", 8) {
		return fixedSpecial(u64, 0)
	}
	return nil
}

// specialVector reports whether a special register is a vector of four.
func specialVector(name string) bool { return name == "%tid" || specialVectors[name] != nil }

// numbered reports whether name is prefix, a number below n, and suffix.
func numbered(name, prefix, suffix string, n int) bool {
	s, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return false
	}
	s, ok = strings.CutSuffix(s, suffix)
	if !ok || s == "" || len(s) > 2 || len(s) == 2 && s[0] == '0' {
		return false
	}
	v := 0
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
		v = v*10 + int(c-'0')
	}
	return v < n
}

// special reads a special register into a register of its own. It returns
// false if there is none of that name.
func (d *decoder) special(name string) (reg, typ, bool) {
	s := d.findSpecial(name)
	if s == nil {
		return 0, tNone, false
	}
	r := d.temp(s.typ)
	d.bare(instr{exec: s.exec(s.typ), d: r, t: s.typ, x: specialName(name)})
	return r, s.typ, true
}

// exec returns what reads the register as type t, whose width may be another
// (ISA, %gridid: legacy reads take the lower bits).
func (s *specialReg) exec(t typ) execFn {
	switch {
	case t == pred:
		return func(x *ctx, in *instr, mask uint32) { x.setPred(in.d, -uint32(s.warp(x)), mask) }
	case t.wide():
		return readSpecial[uint64](s, ^uint64(0))
	case t.size() == 2:
		return readSpecial[uint32](s, 0xffff)
	}
	return readSpecial[uint32](s, allLanes)
}

func readSpecial[T word](s *specialReg, cut T) execFn {
	return func(x *ctx, in *instr, mask uint32) {
		d := dstRow[T](x, in.d)
		var v T
		if s.warp != nil {
			v = T(s.warp(x)) & cut
		}
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			if s.lane != nil {
				v = T(s.lane(x, uint32(i))) & cut
			}
			d[i] = v
		}
	}
}
