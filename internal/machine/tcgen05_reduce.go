package machine

import (
	"slices"

	"muster/internal/tensor"
	"muster/ptx"
)

// reductionOf returns what a tcgen05.ld.red makes of what it loads, nil for another access.
func (d *decoder) reductionOf(in *ptx.Inst) *tensor.Reduction {
	has := func(m string) bool { return slices.Contains(in.Mods, m) }
	if !has("red") || in.Mods[0] != "ld" {
		return nil
	}
	r := &tensor.Reduction{Type: "f32", Max: has("max"), Abs: has("abs"), NaN: has("NaN")}
	for _, t := range []string{"u32", "s32"} {
		if has(t) {
			r.Type = t
		}
	}
	if has("16x32bx2") {
		d.assume(tensor.ReductionAssumes)
	}
	return r
}
