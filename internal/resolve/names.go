package resolve

import (
	"path"

	"muster/internal/machine"
	"muster/internal/rules"
	"muster/report"
)

// This file serves the narration of a run (stories), which resolves places itself.

// Names replaces the addresses in text by the names of variables and buffers.
func (r *Resolver) Names(text string) string { return r.names(text) }

// Span names a range of bytes.
func (r *Resolver) Span(s machine.Span) *report.Memory {
	return r.memory(&rules.Site{Mem: s.Mem, Addr: s.Addr, Len: s.Len})
}

// CTA returns a CTA's index in the grid.
func (r *Resolver) CTA(i int32) [3]uint32 { return r.cta(i) }

// Where returns an instruction's place, without folders: the source line, or the PTX
// line; empty if pc is no instruction. PTX is the place in the module, nil if there is
// none.
func (r *Resolver) Where(pc int32) (where string, ptx *report.Place) {
	ptx = r.ptxPlace(pc)
	if src := r.Program.Source(pc); len(src) > 0 {
		p := src[len(src)-1]
		return report.Place{File: path.Base(p.File), Line: p.Line}.String(), ptx
	}
	if ptx == nil {
		return "", nil
	}
	return report.Place{File: path.Base(ptx.File), Line: ptx.Line}.String(), ptx
}

// RegionAt returns the buffer or variable that holds an address; nil if none does.
func (r *Resolver) RegionAt(mem machine.MemID, addr uint64) *Region {
	switch mem.Kind() {
	case machine.GlobalMemory:
		return r.region("global", addr)
	case machine.SharedMemory:
		return r.region("shared", addr)
	}
	return nil
}

// SizeOf returns the size in bytes of the variable or buffer that contains m; 0 if none
// does.
func (r *Resolver) SizeOf(m *report.Memory) uint64 {
	for i := range r.Regions {
		if g := &r.Regions[i]; g.Name == m.Symbol && g.Shared == (m.Space == "shared") {
			return g.Size
		}
	}
	return 0
}

// LaunchOf names the launch of a CTA, of several; empty if there is one alone.
func (r *Resolver) LaunchOf(cta int32) string {
	if l := r.launch(cta); l != nil {
		return l.Name
	}
	return ""
}
