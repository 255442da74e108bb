package story

import (
	"fmt"
	"strings"

	"muster/internal/machine"
)

// This file tells of columns of tensor memory: who allocates which.

// allocation tells an alloc, a dealloc, or what a CTA of a pair waits for.
func (t *Teller) allocation(ev *machine.Event) {
	if ev.Kind == machine.EvTensorAsk {
		t.say(0, false, "comes to what both CTAs of its pair do")
		return
	}
	if ev.Kind == machine.EvTensorRelinquish {
		t.say(0, false, "relinquishes the permit of %s to allocate", t.cta(ev.CTA))
		return
	}
	word := map[machine.Kind]string{machine.EvTensorAlloc: "allocates", machine.EvTensorFree: "frees", machine.EvTensorLeft: "ends without freeing"}[ev.Kind]
	text := machine.TensorCells(ev.Span.Addr, ev.Span.Len) + " of tensor memory"
	if t.multiple {
		text += " of " + t.cta(ev.CTA)
	}
	t.say(0, false, "%s %s", word, text)
	t.columns = append(t.columns, ev.CTA)
}

// block returns how many ranges, from the first on, are the same lanes of columns that follow
// each other.
func block(list []machine.Span) int {
	n := 1
	for s := list[0]; s.Mem.Kind() == machine.TensorMemory && n < len(list); n++ {
		if list[n] != (machine.Span{Mem: s.Mem, Addr: s.Addr + uint64(n)*machine.TensorColumn, Len: s.Len}) {
			break
		}
	}
	return n
}

// lanes names lanes of n columns, whose first is a range.
func (t *Teller) lanes(s machine.Span, n int, cta int32) string {
	if s.Len == machine.TensorColumn {
		s.Len *= uint64(n)
		return t.bytes(s, cta)
	}
	first, lane := s.Addr/machine.TensorColumn, s.Addr%machine.TensorColumn/4
	text := fmt.Sprintf("columns %d to %d, lanes %d to %d", first, first+uint64(n)-1, lane, lane+s.Len/4-1)
	if t.multiple && s.Mem.CTA() != cta {
		text += " of " + t.cta(s.Mem.CTA())
	}
	return text
}

// allocated says which columns of a CTA are allocated.
func (t *Teller) allocated(m *machine.Machine, cta int32) string {
	var parts []string
	for _, h := range m.Allocated() {
		if h.CTA == cta {
			parts = append(parts, fmt.Sprintf("columns %d to %d by warp %d", h.First, h.First+h.Count-1, h.Warp))
		}
	}
	name := "tensor memory"
	if t.multiple {
		name += " of " + t.cta(cta)
	}
	if parts == nil {
		return name + ": all columns are free"
	}
	return name + ": " + strings.Join(parts, ", ")
}

// allColumns lists the columns of all CTAs that are allocated.
func (t *Teller) allColumns(m *machine.Machine) []string {
	list := []string{}
	for i, held := 0, m.Allocated(); i < len(held) && len(list) < maxLines; i++ {
		if i == 0 || held[i].CTA != held[i-1].CTA {
			list = append(list, t.allocated(m, held[i].CTA))
		}
	}
	return list
}
