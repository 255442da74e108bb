package tensor

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// The campaign of wgmma.mma_async. A case is a form, two descriptors, and a
// seed, from which the whole shared window, the accumulators, A's registers and
// the metadata follow, here and on the card alike.

// The shared window of a block of the campaign: all that a block may have.
const (
	smemBase = 1024 // what an H200 puts before dynamic shared memory
	smemSize = 227 << 10
	smemEnd  = smemBase + smemSize
)

// Bits of wgCase.mode.
const (
	addrLow  = 1 << iota // shared memory holds each half-word's number, low ten bits, in 1.0's fraction
	addrHigh             // the same, next ten bits
	unitA                // A's registers hold row r's 1.0 at k = r
	unitB                // eye holds a K-major 16 × 16 unit matrix without swizzle
)

type wgCase struct {
	form           WGMMAForm
	a, b           Descriptor
	table          uint64 // nibbles of metadata, by random nibble
	seed           uint32
	mask, or       uint32 // of the random words in shared memory and A
	accMask, accOr uint32
	mode           uint32
	scale          uint32
	eye            uint32
	what           string
}

func (c *wgCase) words() [16]uint32 {
	return [16]uint32{uint32(c.a), uint32(c.a >> 32), uint32(c.b), uint32(c.b >> 32), uint32(c.table), uint32(c.table >> 32),
		c.seed, c.mask, c.or, c.accMask, c.accOr, c.mode, c.scale, c.eye, 0, 0}
}

// Indices of the random words that do not lie in shared memory.
const (
	accWord  = 0x100000
	aWord    = 0x200000
	metaWord = 0x300000
)

// mix is random word i of a case.
func mix(seed, i uint32) uint32 {
	x := i*0x9e3779b1 + seed
	x = (x ^ x>>16) * 0x85ebca6b
	x = (x ^ x>>13) * 0xc2b2ae35
	return x ^ x>>16
}

// wgMix writes the same in PTX, in place of %x.
const wgMix = `	mad.lo.u32 %x, %i, 0x9e3779b1, %seed;
	shr.u32 %t, %x, 16; xor.b32 %x, %x, %t; mul.lo.u32 %x, %x, 0x85ebca6b;
	shr.u32 %t, %x, 13; xor.b32 %x, %x, %t; mul.lo.u32 %x, %x, 0xc2b2ae35;
	shr.u32 %t, %x, 16; xor.b32 %x, %x, %t;
`

// The forms of metadata. Any two different positions of four are valid, in
// either order; of two, the one or the other.
const (
	pairTable  = 0x1236789bdec44e49 // 1 2 3 4 6 7 8 9 b c d e have two different halves
	tf32Table  = 0xe4e44ee4ee44e4e4
	everyTable = 0xfedcba9876543210
)

func (f *WGMMAForm) text() string {
	s := "wgmma.mma_async"
	if f.Sparse {
		s += ".sp"
	}
	s += ".sync.aligned." + f.Shape
	if f.Satfinite {
		s += ".satfinite"
	}
	s += "." + f.D + "." + f.A + "." + f.B
	if f.A == "b1" {
		s += ".and.popc"
	}
	return s
}

// name is one for each form, and a PTX identifier.
func (f *WGMMAForm) name() string {
	s := strings.NewReplacer("wgmma.mma_async", "wg", ".sync.aligned", "", ".", "_").Replace(f.text())
	for i, on := range []bool{f.ARegs, f.NegA, f.NegB, f.TransA, f.TransB, f.Selector == 1} {
		if on {
			s += "_" + []string{"rs", "na", "nb", "ta", "tb", "t23"}[i]
		}
	}
	return s
}

// kernel is the PTX entry of a form: a block does the case that it has the
// number of.
func (f *WGMMAForm) kernel() string {
	w, err := NewWGMMA(*f)
	if err != nil {
		panic(err)
	}
	n := w.AccRegs()
	var s strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&s, format+"\n", args...) }
	p(".visible .entry %s(.param .u64 cases, .param .u64 out, .param .u64 base)\n{", f.name())
	p("	.reg .b32 %%x, %%i, %%t, %%u, %%v, %%seed, %%mask, %%or, %%am, %%ao, %%mode, %%eye, %%th, %%cta, %%sm, %%e, %%sc, %%k;")
	p("	.reg .b32 %%d<%d>;\n	.reg .b32 %%a<4>;\n	.reg .b64 %%c, %%o, %%da, %%db, %%tbl, %%w;\n	.reg .pred %%p, %%q, %%s;", n)
	p("	mov.u32 %%th, %%tid.x; mov.u32 %%cta, %%ctaid.x;")
	p("	ld.param.u64 %%c, [cases]; cvta.to.global.u64 %%c, %%c; mul.wide.u32 %%w, %%cta, 64; add.s64 %%c, %%c, %%w;")
	p("	ld.param.u64 %%o, [out]; cvta.to.global.u64 %%o, %%o; mul.wide.u32 %%w, %%cta, %d; add.s64 %%o, %%o, %%w; mul.wide.u32 %%w, %%th, 4; add.s64 %%o, %%o, %%w;", n*512)
	p("	ld.global.u64 %%da, [%%c]; ld.global.u64 %%db, [%%c+8]; ld.global.u64 %%tbl, [%%c+16];")
	p("	ld.global.u32 %%seed, [%%c+24]; ld.global.u32 %%mask, [%%c+28]; ld.global.u32 %%or, [%%c+32]; ld.global.u32 %%am, [%%c+36]; ld.global.u32 %%ao, [%%c+40];")
	p("	ld.global.u32 %%mode, [%%c+44]; ld.global.u32 %%sc, [%%c+48]; ld.global.u32 %%eye, [%%c+52];")
	p("	mov.u32 %%sm, sm; ld.param.u64 %%w, [base]; cvta.to.global.u64 %%w, %%w; st.global.u32 [%%w], %%sm;")
	// Shared memory.
	p("	mov.u32 %%u, %%th;\nfill:\n	mov.u32 %%i, %%u;\n%s	and.b32 %%x, %%x, %%mask; or.b32 %%x, %%x, %%or;", wgMix)
	p("	and.b32 %%t, %%mode, 3; setp.eq.u32 %%p, %%t, 0; @%%p bra random;")
	p("	shl.b32 %%x, %%u, 1; add.u32 %%x, %%x, %d; sub.u32 %%t, %%t, 1; mul.lo.u32 %%t, %%t, 10; add.u32 %%v, %%x, 1; shr.u32 %%x, %%x, %%t; shr.u32 %%v, %%v, %%t;", smemBase/2)
	p("	and.b32 %%x, %%x, 0x3ff; and.b32 %%v, %%v, 0x3ff; shl.b32 %%v, %%v, 16; or.b32 %%x, %%x, %%v; or.b32 %%x, %%x, 0x3c003c00;")
	p("random:\n	shl.b32 %%t, %%u, 2; add.u32 %%t, %%t, %%sm; st.shared.u32 [%%t], %%x;")
	p("	add.u32 %%u, %%u, 128; setp.lt.u32 %%p, %%u, %d; @%%p bra fill;\n	bar.sync 0;", smemSize/4)
	p("	and.b32 %%t, %%mode, 8; setp.eq.u32 %%p, %%t, 0; @%%p bra noeye;")
	p("	shl.b32 %%t, %%th, 2; add.u32 %%t, %%t, %%eye; mov.b32 %%x, 0; st.shared.u32 [%%t], %%x; bar.sync 0;")
	p("	setp.gt.u32 %%p, %%th, 15; @%%p bra noeye;")
	p("	and.b32 %%t, %%th, 7; shl.b32 %%x, %%t, 4; shl.b32 %%t, %%t, 1; add.u32 %%x, %%x, %%t; shr.u32 %%t, %%th, 3; mul.lo.u32 %%t, %%t, 384; add.u32 %%x, %%x, %%t; add.u32 %%x, %%x, %%eye;")
	p("	mov.b32 %%t, 0x3c00; st.shared.u16 [%%x], %%t;\nnoeye:")
	// Registers.
	random := func(reg string, word int, mask, or string) {
		p("	add.u32 %%i, %%th, %d;\n%s	and.b32 %%x, %%x, %s; or.b32 %s, %%x, %s;", word, wgMix, mask, reg, or)
	}
	for i := range n {
		random(fmt.Sprintf("%%d%d", i), accWord+128*i, "%am", "%ao")
	}
	if f.ARegs {
		for i := range 4 {
			random(fmt.Sprintf("%%a%d", i), aWord+128*i, "%mask", "%or")
		}
		p("	and.b32 %%t, %%mode, 4; setp.eq.u32 %%p, %%t, 0; @%%p bra nounit;")
		p("	and.b32 %%t, %%th, 31; shr.u32 %%u, %%t, 2; and.b32 %%t, %%t, 3; shl.b32 %%t, %%t, 1; add.u32 %%v, %%t, 1;")
		p("	mov.b32 %%a1, 0; mov.b32 %%a2, 0;")
		p("	setp.eq.u32 %%p, %%u, %%t; setp.eq.u32 %%q, %%u, %%v; selp.b32 %%a0, 0x3c00, 0, %%p; selp.b32 %%a0, 0x3c000000, %%a0, %%q; mov.b32 %%a3, %%a0;\nnounit:")
	}
	if f.Sparse {
		p("	add.u32 %%i, %%th, %d;\n%s	mov.b32 %%e, 0; mov.u32 %%u, 0;", metaWord, wgMix)
		p("nibble:\n	shr.u32 %%t, %%x, %%u; and.b32 %%t, %%t, 15; shl.b32 %%t, %%t, 2; shr.u64 %%w, %%tbl, %%t; cvt.u32.u64 %%v, %%w; and.b32 %%v, %%v, 15; shl.b32 %%v, %%v, %%u; or.b32 %%e, %%e, %%v;")
		p("	add.u32 %%u, %%u, 4; setp.lt.u32 %%p, %%u, 32; @%%p bra nibble;")
	}
	p("	setp.ne.u32 %%s, %%sc, 0;\n	fence.proxy.async;\n	bar.sync 0;\n	wgmma.fence.sync.aligned;")
	list := func(r string, n int) string {
		var l []string
		for i := range n {
			l = append(l, fmt.Sprintf("%%%s%d", r, i))
		}
		return "{" + strings.Join(l, ", ") + "}"
	}
	args := []string{list("d", n), "%da", "%db"}
	if f.ARegs {
		args[1] = list("a", 4)
	}
	if f.Sparse {
		args = append(args, "%e", fmt.Sprint(f.Selector))
	}
	args = append(args, "%s")
	bit := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	if f.D != "s32" {
		args = append(args, fmt.Sprint(1-2*bit(f.NegA)), fmt.Sprint(1-2*bit(f.NegB)))
	}
	if w.bits == 16 {
		if !f.ARegs {
			args = append(args, fmt.Sprint(bit(f.TransA)))
		}
		args = append(args, fmt.Sprint(bit(f.TransB)))
	}
	p("	%s %s;", f.text(), strings.Join(args, ", "))
	p("	wgmma.commit_group.sync.aligned;\n	wgmma.wait_group.sync.aligned 0;")
	for i := range n {
		p("	st.global.b32 [%%o+%d], %%d%d;", 512*i, i)
	}
	p("	ret;\n}")
	// D's registers are untyped above; wgmma wants f32 or b32.
	out := s.String()
	if f.D == "f32" {
		out = strings.Replace(out, fmt.Sprintf(".reg .b32 %%d<%d>", n), fmt.Sprintf(".reg .f32 %%d<%d>", n), 1)
	}
	return out
}

// A planner makes the list of cases.
type planner struct {
	*rand.Rand
	cases []*wgCase
}

func (p *planner) to(n int) uint32 { return uint32(p.Uint64() % uint64(n)) }

func (p *planner) oneOf(v ...uint32) uint32 { return v[p.to(len(v))] }

// fits says whether an operand lies in the block's memory, whatever the swizzle
// does within its pattern.
func fits(d Descriptor, o operand) bool {
	ok := true
	o.chunks(d, func(a uint32) { ok = ok && a >= smemBase && a|(pattern-1) < smemEnd })
	return ok
}

func makeDescriptor(start, lead, stride, base, swizzle uint32) Descriptor {
	return Descriptor(start>>4&0x3fff) | Descriptor(lead>>4&0x3fff)<<16 | Descriptor(stride>>4&0x3fff)<<32 | Descriptor(base&7)<<49 | Descriptor(swizzle)<<62
}

// descriptor draws one: now and then as libraries make them, mostly as none does.
func (p *planner) descriptor(o operand, plain bool) Descriptor {
	for {
		swizzle := p.to(4)
		w := [4]uint32{16, 128, 64, 32}[swizzle]
		var d Descriptor
		start := smemBase + p.to(200)*1024
		switch {
		case plain || p.to(4) == 0: // packed, from a pattern's start, or further along K
			lead, stride := uint32(16), 8*w
			switch {
			case o.mn && w == 16:
				lead, stride = uint32(o.rows+o.first)/8*128, 128
				if o.first+o.rows <= 16 {
					lead = 1024
				}
			case o.mn:
				lead, stride = 8*w, 8*w*4
			case w == 16:
				lead, stride = 128, 128*uint32(o.width/16)
			}
			if w > 32 && !o.mn && p.to(2) == 0 {
				start += 32 * p.to(int(w)/32)
			}
			d = makeDescriptor(start, lead, stride, 0, swizzle)
		default:
			start = smemBase + p.to(smemSize/16)*16
			if p.to(2) == 0 {
				start = start &^ 1023
			}
			lead := p.oneOf(0, 16, 48, 128, 144, 256, 1024, 1040, 2032, 3072, p.to(512)*16)
			stride := p.oneOf(16, 80, 128, 272, 512, 1024, 1008, 2048, 4112, p.to(1024)*16)
			base := uint32(0)
			if w > 16 && p.to(3) == 0 {
				base = p.to(8)
			}
			d = makeDescriptor(start, lead, stride, base, swizzle)
		}
		if fits(d, o) {
			return d
		}
	}
}

// finite gives mask and bits of random words that are elements near one.
func finite(t string) (mask, or uint32) {
	switch t {
	case "f16":
		return 0x8fff8fff, 0x30003000
	case "bf16":
		return 0x81ff81ff, 0x3e003e00
	case "tf32", "f32":
		return 0x81ffffff, 0x3e000000
	case "e4m3":
		return 0x9f9f9f9f, 0x20202020
	case "e5m2":
		return 0x8f8f8f8f, 0x30303030
	}
	return 0xffffffff, 0
}

// add adds n cases of a form.
func (p *planner) add(f WGMMAForm, n int, what string) {
	w, err := NewWGMMA(f)
	if err != nil {
		panic(err)
	}
	if w.N > 128 {
		n /= 2
	}
	for i := range n {
		c := &wgCase{form: f, seed: uint32(p.Uint64()), scale: 1, table: pairTable, what: what}
		c.mask, c.or = finite(f.A)
		if f.A != f.B && f.A[0] == 'e' {
			c.mask, c.or = finite("e4m3")
		}
		c.accMask, c.accOr = finite(f.D)
		if f.A == "tf32" {
			c.table = tf32Table
		}
		if f.Satfinite {
			c.accMask, c.accOr = 0x80001fff, 0x7fffe000
			if i%2 == 1 {
				c.accMask, c.accOr = 0x80001fff, 0
			}
		}
		if len(p.cases)%7 == 6 { // all bits: infinities and NaNs too
			c.mask, c.or, c.accMask, c.accOr = 0xffffffff, 0, 0xffffffff, 0
		}
		if len(p.cases)%5 == 4 {
			c.scale = 0
		}
		all := w.a[0]
		all.rows = 64
		c.a, c.b = p.descriptor(all, i == 0), p.descriptor(w.b, i == 0)
		p.cases = append(p.cases, c)
	}
}

// probe adds a pair of cases that show which half-words are read for B, or for
// A where inA. f is of f16 and an f32 D.
func (p *planner) probe(n int, trans, inA bool, d Descriptor, what string) {
	f := WGMMAForm{Shape: fmt.Sprintf("m64n%dk16", n), D: "f32", A: "f16", B: "f16", ARegs: true, TransB: trans}
	c := wgCase{form: f, b: d, mode: unitA, seed: 1, what: what}
	if inA {
		c.form = WGMMAForm{Shape: "m64n16k16", D: "f32", A: "f16", B: "f16", TransA: trans}
		c.mode, c.a, c.eye = unitB, d, smemEnd-512
		c.b = makeDescriptor(c.eye, 128, 256, 0, 0)
	}
	low, high := c, c
	low.mode |= addrLow
	high.mode |= addrHigh
	p.cases = append(p.cases, &low, &high)
}

// probeSparse is probe for the B of a sparse form: one case shows half of its rows,
// and another case the other half.
func (p *planner) probeSparse(n int, trans bool, d Descriptor) {
	f := WGMMAForm{Shape: fmt.Sprintf("m64n%dk32", n), D: "f32", A: "f16", B: "f16", Sparse: true, ARegs: true, TransB: trans}
	for _, table := range []uint64{0x4444444444444444, 0xeeeeeeeeeeeeeeee} {
		for _, mode := range []uint32{addrLow, addrHigh} {
			p.cases = append(p.cases, &wgCase{form: f, b: d, mode: unitA | mode, table: table, seed: 1, what: "sparse"})
		}
	}
}
