package rules

import (
	"fmt"
	"slices"

	"muster/internal/machine"
)

// A regStep is one setmaxnreg of a warp.
type regStep struct {
	site  Site
	count uint32
}

// maxSteps bounds how many setmaxnreg of a warp are kept.
const maxSteps = 32

// registers records a setmaxnreg.
func (j *Judge) registers(ev *machine.Event) {
	x := j.warp(ev.CTA, ev.Warp)
	s := eventSite("asks", ev)
	if len(x.steps) < maxSteps {
		x.steps = append(x.steps, regStep{site: s, count: ev.Count})
	}
	in := j.Program.Inst(ev.PC)
	if in == nil || ev.Gen == 0 || len(in.Mods) == 0 {
		return
	}
	if up := in.Mods[0] == "inc"; up && ev.Gen > uint64(ev.Count) || !up && ev.Gen < uint64(ev.Count) {
		j.note(registerBudget, -1, ev.PC, func() Finding {
			return Finding{
				Headline: fmt.Sprintf("%s with %d registers a thread, which the warp has %d of", j.at(ev.PC), ev.Count, ev.Gen),
				Sites:    []Site{s},
				Missing:  "setmaxnreg.dec must not ask for more than the warp has, setmaxnreg.inc not for less",
				Fix:      "use .inc to raise and .dec to lower, and state the registers at entry (.maxnreg, or the launch's registers)",
			}
		})
	}
}

// registerSteps compares what the warps of each warpgroup of a CTA executed, of those
// warpgroups that are in no setmaxnreg now.
func (j *Judge) registerSteps(cta int32, in func(warpgroup int) bool) {
	c := j.watch.ctas[cta]
	if c == nil {
		return // none of its warps has done anything that is watched
	}
	for g := 0; g < len(c.warps); g += 4 {
		if in(g / 4) {
			continue
		}
		group := c.warps[g:min(g+4, len(c.warps))]
		longest := 0
		for w := range group {
			if len(group[w].steps) > len(group[longest].steps) {
				longest = w
			}
		}
		if steps := group[longest].steps; len(group) < 4 && len(steps) > 0 {
			j.note(registerBudget, 0, steps[0].site.PC, func() Finding { return j.partOfGroup(cta, int32(g+len(group)), steps[0]) })
			continue
		}
		for w := range group {
			if s, ok := j.unshared(group[longest].steps, group[w].steps); ok {
				contested, form := j.roles(group[longest].steps, group[w].steps), int32(0)
				if contested != "" {
					form = 1 // noted beside what is not
				}
				j.note(registerBudget, form, s.site.PC, func() Finding {
					f := j.unequalSteps(cta, int32(g), int32(g+w), s)
					if contested != "" {
						f.Severity = Warning
						f.Notes = append(f.Notes, contested)
					}
					return f
				})
			}
		}
	}
}

// partOfGroup reports a setmaxnreg by a warpgroup of fewer than four warps.
func (j *Judge) partOfGroup(cta, warp int32, s regStep) Finding {
	return Finding{
		Headline: fmt.Sprintf("%s is executed by CTA %d, whose last warpgroup lacks warp %d", j.at(s.site.PC), cta, warp),
		Sites:    []Site{s.site},
		Missing:  "a warpgroup is four warps, all of which must execute the same setmaxnreg",
		Fix:      "launch whole warpgroups, of 128 threads, or leave the instruction out",
	}
}

// unshared returns the first setmaxnreg of one warp that another does not
// share. Copies of the instruction from one place in the source count as the same.
func (j *Judge) unshared(a, b []regStep) (regStep, bool) {
	for i := range a {
		if i >= len(b) || a[i].count != b[i].count || a[i].site.PC != b[i].site.PC && j.placeOf(a[i].site.PC) != j.placeOf(b[i].site.PC) {
			return a[i], true
		}
	}
	return regStep{}, false
}

// roles says why it is contested that two warps of a warpgroup do not share their steps: each
// has a role of its own, in which it asks for as many registers as the other, or for another
// number as often as the other. "" if one of them leaves an instruction out.
func (j *Judge) roles(a, b []regStep) string {
	if slices.EqualFunc(a, b, func(x, y regStep) bool { return x.count == y.count }) {
		return "contested: the other warp asks for as many registers at another line; in CUTLASS's kernels for sm_100 each warp of a warpgroup does so in its own role, and we know of no failure on a card"
	}
	if len(a) == len(b) {
		return "contested: the other warp asks for another number; the text speaks of the registers of \"the executing warp\", and yet asks the warpgroup for one instruction; the attention kernels of CUTLASS and FlashAttention for sm_100 let an idle warp keep fewer, in CUTLASS's for decoding one warp raises its share where its neighbours lower theirs, and we know of no failure on a card"
	}
	return ""
}

func (j *Judge) unequalSteps(cta, group, warp int32, s regStep) Finding {
	return Finding{
		Headline: fmt.Sprintf("%s is executed by warp %d of CTA %d and not by warp %d of the same warpgroup", j.at(s.site.PC), s.site.Warp, cta, warp),
		Sites:    []Site{s.site},
		Missing:  fmt.Sprintf("warps %d to %d form a warpgroup; each must execute the same setmaxnreg", group, group+3),
		Fix:      "put setmaxnreg where all four warps of the warpgroup come to it, under a condition that is the same for them",
	}
}

// keptRegisters names the warps that have not executed a setmaxnreg of their warpgroup, in a
// CTA in which an increase is never granted.
func (d *stuck) keptRegisters(cta int32) {
	d.j.registerSteps(cta, func(warpgroup int) bool {
		return slices.ContainsFunc(d.all, func(v machine.WaitingSplit) bool {
			return v.CTA == cta && int(v.Warp)/4 == warpgroup && v.Kind == machine.WaitRegisters
		})
	})
}

// noRegisters is the finding for an increase that is never granted.
func (d *stuck) noRegisters(v *machine.WaitingSplit) Finding {
	return Finding{
		Headline: fmt.Sprintf("%s: warp %d of CTA %d needs %d registers more, and the CTA's pool has %d", d.j.at(v.PC), v.Warp, v.CTA, v.Need, v.Free),
		Sites:    []Site{{Role: "asks", PC: v.PC, CTA: v.CTA, Warp: v.Warp, Lanes: v.Mask}},
		Missing:  "no warp gives back the registers that this increase waits for",
		Fix:      "let the other warpgroups lower their count by setmaxnreg.dec first, by as much as this one asks for; nothing that they wait for may come after the increase",
	}
}
