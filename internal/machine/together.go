package machine

import (
	"fmt"
	"math/bits"

	"muster/ptx"
)

// Which lanes are active together. activemask returns the lanes that execute it at that moment
// (ISA 9.7.13.11), and nothing says which these are: lanes that come to it by one branch need
// not come together (3.2). The machine lets a split execute it as one, and the choice Subset has
// some of the split's lanes do so without the others, which stay behind: each then gets the mask
// of its own group. All of these are sets that contain the lane itself, of lanes that stand at
// the instruction at that moment.

// An activeLanes marks activemask, as instr.x.
type activeLanes struct{}

func decodeActivemask(d *decoder, in *ptx.Inst) error {
	if len(in.Operands) != 1 {
		return d.errorf("activemask takes a destination")
	}
	r, err := d.dst(in.Operands[0], b32)
	if err != nil {
		return err
	}
	d.emit(instr{class: visible, visit: visitActivemask, d: r, x: activeLanes{}})
	return nil
}

// visitActivemask gives the lanes their mask. Nobody else notices that.
func visitActivemask(x *ctx, in *instr, mask uint32) verdict {
	x.unsteady()
	x.quiet, x.idle = true, true
	x.fill32(in.d, mask, mask)
	return performed
}

// showsLanes reports whether an instruction is activemask.
func (in *instr) showsLanes() bool {
	_, is := in.x.(activeLanes)
	return is
}

// ShowsLanes reports whether an instruction is activemask.
func (p *Program) ShowsLanes(pc int32) bool { return p.code[pc].showsLanes() }

// AtActivemask returns the lanes that stand with a choice's lane before an activemask, which
// any of them may execute without the others; 0 if there are none.
func (m *Machine) AtActivemask(c Choice) (lanes uint32, pc int32) {
	h, ok := m.Holder(c)
	if !ok {
		return 0, -1
	}
	s := m.ctas[h.CTA].warps[h.Warp].find(h.Lane)
	if s == nil || s.state != atPoint || !m.prog.code[s.pc].showsLanes() {
		return 0, -1
	}
	return s.mask, s.pc
}

// Together returns the choice of some lanes of a choice's split to execute an activemask without
// the others.
func Together(c Choice, lanes uint32) Choice {
	return Choice{Kind: Subset, CTA: c.CTA, Warp: c.Warp, Lane: int8(lowest(lanes)), Op: int64(lanes)}
}

// offersSubset reports whether the lanes of a Subset can execute the activemask before which it stands.
func (m *Machine) offersSubset(c Choice) bool {
	lanes, _ := m.AtActivemask(c)
	some := uint32(c.Op)
	return c.Op == int64(some) && some != 0 && some&^lanes == 0 && int(c.Lane) == bits.TrailingZeros32(some)
}

// group divides some lanes from their split, which stands before an activemask.
func (w *warp) group(s *split, some uint32) *split {
	if s.mask == some {
		return s
	}
	n := w.divide(s, some)
	n.state = atPoint
	w.apart = true
	return n
}

// LanesSingly has each lane execute activemask by itself, the lowest first.
func (m *Machine) LanesSingly() { m.cfg.singly = true }

func parseSubset(text string) (c Choice, err error) {
	var some uint32
	c.Kind = Subset
	_, err = fmt.Sscanf(text, "%d.%d.%d:%x", &c.CTA, &c.Warp, &c.Lane, &some)
	c.Op = int64(some)
	return c, err
}
