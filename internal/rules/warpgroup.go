package rules

import (
	"fmt"
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// The wgmma instructions are .aligned for a warpgroup: all its threads execute
// the same ones (ISA 9.7.15.5.2, 9.7.15.7), in the same order, and a product with
// the same descriptors. Its warps need not keep in step, so each warp's instructions are
// compared with those of the warp that is furthest ahead. No warp goes on from a
// wgmma before the fourth has issued it, and a wait for it ends after that.

// A groupWatch is what the warps of a warpgroup executed.
type groupWatch struct {
	steps []groupStep // those that some warp has not reached, the first being number from
	from  int
	done  [4]int // how many each warp has executed
	told  bool   // a difference is reported: later ones follow from it
	// begun are the times at which wgmmas were last issued by a warp, the first being
	// number forgotten+1.
	begun     []int64
	forgotten uint32
	issued    [machine.WarpgroupSize]uint32 // the last wgmma of each warp
}

type groupStep struct {
	site Site
	a, b uint64 // descriptors, of a product
}

// maxAhead bounds how many instructions of a warp are kept for the others.
const maxAhead = 1 << 12

// multiplies records a warp's part of a wgmma.
func (g *groupWatch) multiplies(seq uint32, now int64) {
	if seq <= g.forgotten {
		return
	}
	for uint32(len(g.begun)) < seq-g.forgotten {
		g.begun = append(g.begun, now)
	}
	g.begun[seq-g.forgotten-1] = now
	if n := len(g.begun); n > 2*maxAhead {
		g.begun = append(g.begun[:0], g.begun[n-maxAhead:]...)
		g.forgotten += uint32(n - maxAhead)
	}
}

// issuedTogether lets the warps that stand in a wgmma learn all events up to now: they go
// on after the last of its issues.
func (j *Judge) issuedTogether(g *groupWatch, ev *machine.Event) {
	first := ev.Warp - ev.Warp%machine.WarpgroupSize
	g.issued[ev.Warp-first] = ev.Op.Seq
	for k := range g.issued {
		if w := first + int32(k); g.issued[k] == ev.Op.Seq && int(w) < j.Warps {
			j.learn(j.warp(ev.CTA, w), ^uint32(0), j.watch.now)
		}
	}
}

// multiplied lets a warp that waited for a wgmma learn all events up to its last issue.
func (j *Judge) multiplied(g *groupWatch, ev *machine.Event) {
	seq := ev.Done[bits.TrailingZeros32(ev.Mask)]
	if seq > g.forgotten && seq-g.forgotten <= uint32(len(g.begun)) {
		j.learn(j.warp(ev.CTA, ev.Warp), ev.Mask, g.begun[seq-g.forgotten-1])
	} else if seq > 0 {
		j.learn(j.warp(ev.CTA, ev.Warp), ev.Mask, j.watch.now)
	}
}

// aligned records one of these instructions.
func (j *Judge) aligned(m *machine.Machine, ev *machine.Event) {
	c := j.cta(ev.CTA)
	if c.groups == nil {
		c.groups = make([]groupWatch, (len(c.warps)+machine.WarpgroupSize-1)/machine.WarpgroupSize)
	}
	g := &c.groups[ev.Warp/machine.WarpgroupSize]
	j.watch.ring(servedAt{addr: groupRings + uint64(ev.Warp/machine.WarpgroupSize)}).serve(ev.PC)
	switch ev.Kind {
	case machine.EvIssue:
		g.multiplies(ev.Op.Seq, j.watch.now)
		j.issuedTogether(g, ev)
	case machine.EvGroupWait:
		j.multiplied(g, ev)
	}
	if g.told {
		return
	}
	s := groupStep{site: eventSite("executes", ev)}
	if ev.Kind == machine.EvIssue {
		s.a, s.b = ev.Op.Descriptors()
	}
	if ev.Mask != ^uint32(0) {
		g.told = true
		rest, far := j.rest(m, ev)
		j.part(&parted{-1, ev.PC, j.partOfWarp(s.site), divergentBarrier, far}, rest)
		return
	}
	i := g.done[ev.Warp%4] - g.from
	g.done[ev.Warp%4]++
	switch {
	case i < len(g.steps):
		j.compare(g, &g.steps[i], &s)
	case i < maxAhead:
		g.steps = append(g.steps, s)
	}
	if least := min(g.done[0], g.done[1], g.done[2], g.done[3]) - g.from; least > 0 {
		n := min(least, len(g.steps))
		g.steps = append(g.steps[:0], g.steps[n:]...)
		g.from += n
	}
}

// compare reports a difference between two warps' instructions of one number.
func (j *Judge) compare(g *groupWatch, s, o *groupStep) {
	switch {
	case s.site.PC != o.site.PC && j.placeOf(s.site.PC) != j.placeOf(o.site.PC):
		g.told = true
		j.note(divergentBarrier, min(s.site.PC, o.site.PC), max(s.site.PC, o.site.PC), func() Finding {
			return Finding{
				Notes:    j.parting(s.site.PC, o.site.PC),
				Headline: fmt.Sprintf("warp %d of CTA %d executes %s where warp %d of its warpgroup executes %s", s.site.Warp, s.site.CTA, j.at(s.site.PC), o.site.Warp, j.at(o.site.PC)),
				Sites:    sorted([]Site{s.site, o.site}),
				Missing:  sameInGroup,
				Fix:      oneBranch,
			}
		})
	case s.a != o.a || s.b != o.b:
		g.told = true
		j.note(badDescriptor, -1, o.site.PC, func() Finding {
			return Finding{
				Headline: fmt.Sprintf("%s: warps %d and %d of CTA %d, of one warpgroup, disagree about a descriptor", j.at(o.site.PC), min(s.site.Warp, o.site.Warp), max(s.site.Warp, o.site.Warp), o.site.CTA),
				Sites:    []Site{o.site},
				Missing:  "the contents of a matrix descriptor must be the same in all warps of the warpgroup",
				Fix:      "make the descriptor of what is the same for the warpgroup: A's begins at row 0 of all 64, each warp takes its own 16",
			}
		})
	}
}

// parting names the branch by which a warp comes to one of two instructions first and another
// to the other, if one branch of the text decides it.
func (j *Judge) parting(a, b int32) []string {
	from := j.Program.Begin(&j.Program.Entry) - 1
	list := append(j.Program.Deciders(from, a, b), j.Program.Deciders(from, b, a)...)
	slices.Sort(list)
	if list = slices.Compact(list); len(list) != 1 {
		return nil
	}
	return []string{fmt.Sprintf("%s parts them: one side of it comes to %s first, the other to %s", j.at(list[0]), j.at(a), j.at(b))}
}

const (
	sameInGroup = "all threads of the warpgroup must execute the same wgmma instructions"
	oneBranch   = "put the instruction where all four warps of the warpgroup come to it, under a condition that is the same for them; launch whole warpgroups, of 128 threads"
)

func (j *Judge) partOfWarp(s Site) Finding {
	return Finding{
		Headline: fmt.Sprintf("%s is executed by %d lanes of warp %d of CTA %d", j.at(s.PC), bits.OnesCount32(s.Lanes), s.Warp, s.CTA),
		Sites:    []Site{s},
		Missing:  sameInGroup,
		Fix:      oneBranch,
	}
}

// groupSteps reports warps that executed fewer instructions than the others of their
// group.
func (j *Judge) groupSteps(cta int32) {
	c := j.watch.ctas[cta]
	for i := range c.groups {
		g := &c.groups[i]
		if g.told || len(g.steps) == 0 {
			continue
		}
		s, w := g.steps[0].site, 0
		for k := range g.done {
			if g.done[k] < g.done[w] {
				w = k
			}
		}
		warp := 4*i + w
		j.note(divergentBarrier, -1, s.PC, func() Finding {
			f := Finding{
				Headline: fmt.Sprintf("%s is executed by warp %d of CTA %d and not by warp %d of the same warpgroup", j.at(s.PC), s.Warp, cta, warp),
				Sites:    []Site{s},
				Missing:  sameInGroup,
				Fix:      oneBranch,
			}
			if warp >= len(c.warps) {
				f.Headline = fmt.Sprintf("%s is executed by CTA %d, whose last warpgroup lacks warp %d", j.at(s.PC), cta, warp)
			}
			return f
		})
	}
}
