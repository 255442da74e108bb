package muster

import (
	"context"
	"slices"

	"muster/internal/machine"
	"muster/internal/profile"
	"muster/ptx"
	"muster/report"
)

// ProfileOptions say what a profile is of.
type ProfileOptions struct {
	// Steps is the most that are looked at; 0 for MostTraced.
	Steps int
}

// Profile runs the launch under a schedule and adds up what its steps went into: by warp, by
// instruction, by what is waited for and by CTA, with copies, matrix products and the slots of
// rings. Matrix products are computed only where their values may decide something.
func (l *Launch) Profile(ctx context.Context, s Schedule, o ProfileOptions) (*report.Profile, error) {
	to := profile.New()
	var tally *machine.Tally
	got, at, err := l.follow(ctx, s, TraceOptions{Steps: o.Steps}, to, func(m *machine.Machine) { tally = m.Tally() })
	if err != nil {
		return nil, err
	}
	return to.Profile(got.Schedule, int64(got.Steps), got.Cut, at.executed(tally)), nil
}

// executed lists the kernel's instructions, with how often each was executed.
func (l *Launch) executed(t *machine.Tally) (list []profile.Instruction) {
	p := l.resolver.Program
	for w := range t.Warps() {
		for pc, n := range t.Counts(w) {
			in := p.Inst(int32(pc))
			if pc >= len(list) {
				list = append(list, profile.Instruction{Name: "step", Executed: make([]int64, t.Warps())})
				if in != nil {
					e := in.Effect()
					list[pc] = profile.Instruction{Name: machine.Name(in), File: l.resolver.File(int32(pc)), Line: int(p.Pos(int32(pc)).Line),
						Executed: list[pc].Executed, Matrix: e.Has(ptx.Multiplies), Warpgroup: e.Has(ptx.Warpgroup)}
				}
				if src := p.Source(int32(pc)); len(src) > 0 {
					at := src[len(src)-1]
					list[pc].Source = &report.Place{File: at.File, Line: at.Line}
				}
			}
			list[pc].Executed[w] = n
		}
	}
	return slices.Clip(list)
}
