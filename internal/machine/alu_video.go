package machine

import (
	"strings"

	"muster/internal/num"
	"muster/ptx"
)

// Video instructions (ISA, scalar and SIMD video instructions).

var videoDecoders = map[string]decodeFn{
	"vadd":     video(num.VAdd),
	"vsub":     video(num.VSub),
	"vabsdiff": video(num.VAbsDiff),
	"vmin":     video(num.VMin),
	"vmax":     video(num.VMax),
	"vshl":     video(num.VShl),
	"vshr":     video(num.VShr),
	"vset":     video(num.VSet),
	"vmad":     decodeVmad,

	"vadd2": videoSIMD(num.VAdd, 2), "vadd4": videoSIMD(num.VAdd, 4),
	"vsub2": videoSIMD(num.VSub, 2), "vsub4": videoSIMD(num.VSub, 4),
	"vavrg2": videoSIMD(num.VAvrg, 2), "vavrg4": videoSIMD(num.VAvrg, 4),
	"vabsdiff2": videoSIMD(num.VAbsDiff, 2), "vabsdiff4": videoSIMD(num.VAbsDiff, 4),
	"vmin2": videoSIMD(num.VMin, 2), "vmin4": videoSIMD(num.VMin, 4),
	"vmax2": videoSIMD(num.VMax, 2), "vmax4": videoSIMD(num.VMax, 4),
	"vset2": videoSIMD(num.VSet, 2), "vset4": videoSIMD(num.VSet, 4),
}

var videoSels = map[string]num.VideoSel{
	"": num.VWord, "b0": num.VB0, "b1": num.VB1, "b2": num.VB2, "b3": num.VB3, "h0": num.VH0, "h1": num.VH1,
}

var videoSecs = map[string]num.VideoSec{
	"": num.VSecNone, "add": num.VSecAdd, "min": num.VSecMin, "max": num.VSecMax,
}

var videoCmps = []string{"eq", "ne", "lt", "le", "gt", "ge"}

// selected takes the selector off an operand.
func selected(op ptx.Operand) (ptx.Operand, string) {
	if s, ok := op.(*ptx.Select); ok {
		return s.X, s.Sel
	}
	return op, ""
}

// negated takes a minus off an operand.
func negated(op ptx.Operand) (ptx.Operand, bool) {
	if u, ok := op.(*ptx.Unary); ok && u.Op == "-" {
		return u.X, true
	}
	return op, false
}

// videoTypes checks an instruction's types, all words of 32 bits, and gives
// their signs; vset has no destination type.
func videoTypes(f *form, cmp bool) (signs [3]bool, ok bool) {
	types := f.types
	if cmp {
		types = append([]typ{u32}, types...)
	}
	if len(types) != 3 {
		return signs, false
	}
	for i, t := range types {
		if !wordType(t) {
			return signs, false
		}
		signs[i] = t == s32
	}
	return signs, true
}

// video makes the decoder of a scalar video instruction.
func video(op num.VideoOp) decodeFn {
	return func(d *decoder, in *ptx.Inst) error {
		f := d.formOf(in)
		v := &num.Video{Op: op, Sat: f.has(num.Sat)}
		if op == num.VSet {
			v.Cmp = cmpNames[f.take(videoCmps...)]
		}
		mode := ""
		if op == num.VShl || op == num.VShr {
			mode = f.take("clamp", "wrap")
			v.Wrap = mode == "wrap"
		}
		sec := f.take("add", "min", "max")
		v.Sec = videoSecs[sec]
		signs, ok := videoTypes(f, op == num.VSet)
		v.DSigned, v.ASigned, v.BSigned = signs[0], signs[1], signs[2]
		switch {
		case !ok, !f.plain(len(f.types), num.Sat):
			return errNotModelled
		case op == num.VSet && (v.Cmp == 0 || v.Sat):
			return errNotModelled
		case (op == num.VShl || op == num.VShr) && (mode == "" || v.BSigned):
			return errNotModelled
		}
		return d.video(in, v)
	}
}

func (d *decoder) video(in *ptx.Inst, v *num.Video) error {
	if len(in.Operands) < 3 {
		return d.count(in, 3)
	}
	to, dsel := selected(in.Operands[0])
	a, asel := selected(in.Operands[1])
	b, bsel := selected(in.Operands[2])
	n := 3
	if dsel != "" || v.Sec != num.VSecNone {
		n = 4
	}
	if err := d.count(in, n); err != nil {
		return err
	}
	if dsel != "" && v.Sec != num.VSecNone {
		return d.errorf("%s cannot both merge into its destination and have a second operation", Name(in))
	}
	var ok [3]bool
	v.DSel, ok[0] = videoSels[dsel]
	v.ASel, ok[1] = videoSels[asel]
	v.BSel, ok[2] = videoSels[bsel]
	if ok != [3]bool{true, true, true} {
		return d.errorf("%s takes the selectors b0 to b3, h0 and h1", Name(in))
	}
	ops := []ptx.Operand{to, a, b}
	if n == 4 {
		return d.words(lane3(v.Eval), append(ops, in.Operands[3]))
	}
	return d.words(lane2(func(a, b uint32) uint32 { return v.Eval(a, b, 0) }), ops)
}

// words emits an instruction on 32-bit operands, destination first.
func (d *decoder) words(exec execFn, ops []ptx.Operand) error {
	i := instr{exec: exec, t: b32}
	var rows []reg
	for _, op := range ops[1:] {
		r, err := d.src(op, b32)
		if err != nil {
			return err
		}
		rows = append(rows, r)
	}
	var err error
	if i.d, err = d.dst(ops[0], b32); err != nil {
		return err
	}
	i.setSources(rows)
	d.emit(i)
	return nil
}

func decodeVmad(d *decoder, in *ptx.Inst) error {
	f := d.formOf(in)
	v := &num.Vmad{Sat: f.has(num.Sat)}
	v.PlusOne = f.take("po") != ""
	v.Shift = map[string]uint{"": 0, "shr7": 7, "shr15": 15}[f.take("shr7", "shr15")]
	signs, ok := videoTypes(f, false)
	if !ok || !f.plain(3, num.Sat) {
		return errNotModelled
	}
	v.ASigned, v.BSigned = signs[1], signs[2]
	if err := d.count(in, 4); err != nil {
		return err
	}
	a, na := negated(in.Operands[1])
	b, nb := negated(in.Operands[2])
	c, nc := negated(in.Operands[3])
	v.NegAB, v.NegC = na != nb, nc
	if v.NegAB && v.NegC || v.PlusOne && (na || nb || nc) {
		return d.errorf("vmad negates its product or its addend, and neither with .po")
	}
	a, asel := selected(a)
	b, bsel := selected(b)
	v.ASel, ok = videoSels[asel]
	var ok2 bool
	if v.BSel, ok2 = videoSels[bsel]; !ok || !ok2 {
		return d.errorf("vmad takes the selectors b0 to b3, h0 and h1")
	}
	return d.words(lane3(v.Eval), []ptx.Operand{in.Operands[0], a, b, c})
}

// videoSIMD makes the decoder of a SIMD video instruction.
func videoSIMD(op num.VideoOp, lanes uint8) decodeFn {
	return func(d *decoder, in *ptx.Inst) error {
		f := d.formOf(in)
		v := &num.VideoSIMD{Op: op, Lanes: lanes, Sat: f.has(num.Sat)}
		if op == num.VSet {
			v.Cmp = cmpNames[f.take(videoCmps...)]
		}
		v.Add = f.take("add") != ""
		signs, ok := videoTypes(f, op == num.VSet)
		v.DSigned, v.ASigned, v.BSigned = signs[0], signs[1], signs[2]
		if !ok || !f.plain(len(f.types), num.Sat) || op == num.VSet && (v.Cmp == 0 || v.Sat) || v.Sat && v.Add {
			return errNotModelled
		}
		if err := d.count(in, 4); err != nil {
			return err
		}
		to, mask := selected(in.Operands[0])
		a, asel := selected(in.Operands[1])
		b, bsel := selected(in.Operands[2])
		if !setSelectors(v, mask, asel, bsel) {
			return d.errorf("malformed selector of %s", Name(in))
		}
		return d.words(lane3(v.Eval), []ptx.Operand{to, a, b, in.Operands[3]})
	}
}

// setSelectors parses the selectors of a SIMD instruction, "" for a default,
// and reports whether they are well formed.
func setSelectors(v *num.VideoSIMD, mask, asel, bsel string) bool {
	kind, full, upper := "h", "h10", "h32"
	if v.Lanes == 4 {
		kind, full, upper = "b", "b3210", "b7654"
	}
	if mask == "" {
		mask = full
	}
	if asel == "" {
		asel = full
	}
	if bsel == "" {
		bsel = upper
	}
	parts, ok := strings.CutPrefix(mask, kind)
	for _, c := range []byte(parts) {
		bit := uint8(1) << (c & 7)
		ok = ok && c >= '0' && c < '0'+v.Lanes && v.Mask&bit == 0
		v.Mask |= bit
	}
	var okA, okB bool
	v.ASel, okA = elementSelector(kind, asel, int(v.Lanes))
	v.BSel, okB = elementSelector(kind, bsel, int(v.Lanes))
	return ok && okA && okB && parts != ""
}

// elementSelector turns .h32 or .b7654 into a nibble an element.
func elementSelector(kind, sel string, lanes int) (uint16, bool) {
	s, ok := strings.CutPrefix(sel, kind)
	if !ok || len(s) != lanes {
		return 0, false
	}
	var v uint16
	for _, c := range []byte(s) {
		if c < '0' || int(c-'0') >= 2*lanes {
			return 0, false
		}
		v = v<<4 | uint16(c-'0')
	}
	return v, true
}
