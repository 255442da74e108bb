package machine

import (
	"encoding/binary"
	"math/bits"

	"muster/ptx"
)

// Responses to clusterlaunchcontrol.try_cancel, and the instructions that query them (ISA
// 9.7.13.17, 9.7.13.18). The 16 bytes are opaque: programs may only hand them to query_cancel,
// so this layout is the machine's own:
//
//	bytes 0..3    x of the first CTA of the cluster that is cancelled
//	bytes 4..7    y
//	bytes 8..11   z
//	bytes 12..15  1 if a cluster is cancelled, 0 if not; then the others are 0

// cancelled is the response that grants a cluster, by the id of its first CTA.
func cancelled(ctaid [3]uint32) (r [16]byte) {
	for i, v := range ctaid {
		binary.LittleEndian.PutUint32(r[4*i:], v)
	}
	r[12] = 1
	return r
}

// notCancelled is the response of a request that fails.
func notCancelled() [16]byte { return [16]byte{} }

// parseCancel reads a response as the two words of a 128-bit register.
func parseCancel(lo, hi uint64) (ctaid [3]uint32, ok bool) {
	return [3]uint32{uint32(lo), uint32(lo >> 32), uint32(hi)}, hi>>32 == 1
}

// launchDecoders has what asks for clusters to be cancelled and what was answered.
var launchDecoders = map[string]decodeFn{"clusterlaunchcontrol": decodeLaunchControl}

// A cancelQuery is a decoded query of first CTA ids: a row for each of its destinations, and
// which coordinate each gets.
type cancelQuery struct {
	rows  []reg
	coord []int
}

func decodeLaunchControl(d *decoder, in *ptx.Inst) error {
	if d.has("try_cancel") {
		return d.tryCancel(in)
	}
	if !d.has("query_cancel") || len(in.Operands) != 2 {
		return errNotModelled
	}
	d.read("b128")
	a, at, err := d.register(in.Operands[1])
	if err == nil && at != b128 {
		err = d.errorf("query_cancel takes a register of 128 bits")
	}
	if err != nil {
		return err
	}
	if d.has("is_canceled") {
		d.read("pred")
		i := instr{exec: execIsCanceled, a: a, t: pred}
		if i.d, err = d.dst(in.Operands[0], pred); err != nil {
			return err
		}
		d.emit(i)
		return nil
	}
	d.read("b32")
	q := &cancelQuery{}
	list := d.elems(in.Operands[0])
	switch {
	case d.has("get_first_ctaid") && d.has("v4") && len(list) == 4:
		q.coord = []int{0, 1, 2, unspecifiedCoord}
	case d.has("get_first_ctaid::x"):
		q.coord = []int{0}
	case d.has("get_first_ctaid::y"):
		q.coord = []int{1}
	case d.has("get_first_ctaid::z"):
		q.coord = []int{2}
	}
	if len(list) != len(q.coord) {
		return errNotModelled
	}
	for _, op := range list {
		r, err := d.dst(op, b32)
		if err != nil {
			return err
		}
		q.rows = append(q.rows, r)
	}
	d.emit(instr{exec: execFirstCTA, a: a, t: b32, x: q})
	return nil
}

// unspecifiedCoord is the fourth element of a vector of coordinates, which the ISA leaves
// unspecified.
const unspecifiedCoord = 3

func execIsCanceled(x *ctx, in *instr, mask uint32) {
	lo, hi := x.a64(in.a), x.a64(in.a+1)
	yes := uint32(0)
	for l := range lanesOf(mask) {
		if _, ok := parseCancel(lo[l], hi[l]); ok {
			yes |= 1 << l
		}
	}
	x.p[in.d] = x.p[in.d]&^mask | yes
	if failed := mask &^ yes; failed != 0 {
		x.c.refused = true
		if x.m.cfg.Observer != nil {
			x.m.emit(Event{Kind: EvRefused, CTA: x.w.cta, Warp: x.w.index, Mask: failed, PC: x.s.pc})
		}
	}
}

// execFirstCTA reads coordinates. Of a request that failed they are undefined, which the
// observer is told; the lanes then get what the response holds.
func execFirstCTA(x *ctx, in *instr, mask uint32) {
	q := in.x.(*cancelQuery)
	lo, hi := *x.a64(in.a), *x.a64(in.a + 1)
	failed := uint32(0)
	for k := mask; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k) & 31
		id, ok := parseCancel(lo[l], hi[l])
		if !ok {
			failed |= 1 << l
		}
		for i, c := range q.coord {
			v := uint32(0)
			if c < unspecifiedCoord {
				v = id[c]
			}
			x.w32(q.rows[i])[l] = v
		}
	}
	x.badOperand(FaultCancel, failed, "an answer that nothing is cancelled, of which there is no CTA (ISA 9.7.15.19)")
}

// unspecifiedElement returns the register that gets the fourth element of a vector of
// coordinates; ok is false if the instruction gives none.
func (in *instr) unspecifiedElement() (r reg, ok bool) {
	if q, is := in.x.(*cancelQuery); is && len(q.rows) == 4 {
		return q.rows[unspecifiedCoord], true
	}
	return 0, false
}
