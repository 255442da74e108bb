package story

import (
	"muster/internal/diag"
	"muster/internal/machine"
	"muster/internal/resolve"
)

// A Namer names what a run is about as stories do, for what else shows a run.
type Namer struct{ t *Teller }

// NewNamer returns a namer.
func NewNamer(names *resolve.Resolver) *Namer { return &Namer{NewTeller(names, nil)} }

// CTA names a CTA, by its launch too where there are several.
func (n *Namer) CTA(i int32) string { return n.t.cta(i) }

// Agent names a warp, with its CTA if there are several.
func (n *Namer) Agent(cta, warp int32) string { return n.t.warp(cta, warp) }

// Mbar names an mbarrier, with its CTA if that is not cta.
func (n *Namer) Mbar(b machine.BarRef, cta int32) string { return n.t.mbarName(b.Mem, b.Addr, cta) }

// WaitsFor says what a split waits for; empty if for nothing that has a name.
func (n *Namer) WaitsFor(v *machine.WaitingSplit) string { return n.t.waitsFor(v) }

// Op names what an operation is.
func (n *Namer) Op(op *machine.Op) string { return opWord(op) }

// Spans names ranges with their number of bytes, those of other CTAs than cta with theirs;
// empty for none.
func (n *Namer) Spans(list []machine.Span, cta int32) string {
	if len(list) == 0 {
		return ""
	}
	return n.t.spans(list, cta)
}

// Memory names a buffer or a variable, without its CTA, or else the memory. Its name is whole
// where the short one is another's too.
func (n *Namer) Memory(mem machine.MemID, g *resolve.Region) string {
	switch {
	case g != nil:
		short := diag.ShortName(g.Name)
		for i := range n.t.names.Regions {
			if o := &n.t.names.Regions[i]; o.Shared == g.Shared && o.Name != g.Name && diag.ShortName(o.Name) == short {
				return g.Name
			}
		}
		return short
	case mem.Kind() == machine.SharedMemory:
		return "shared memory"
	case mem.Kind() == machine.TensorMemory:
		return "tensor memory"
	}
	return "global memory"
}

// Lanes names lanes.
func (n *Namer) Lanes(mask uint32) string { return diag.Lanes(mask) }

// A SiteStep is a step that is a place of the finding, and which.
type SiteStep struct{ Step, Site int }

// Sites returns the steps of a run of n that are places of the finding, in order.
func (s *Scout) Sites(n int) (list []SiteStep) {
	for _, t := range s.Told(n) {
		if t.site >= 0 {
			list = append(list, SiteStep{t.step, t.site})
		}
	}
	return list
}
