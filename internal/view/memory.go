package view

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/internal/resolve"
)

// This file encodes memory: the bytes that a window touches, as they are before it and after
// each step that writes them. Bytes that are not initialized are left out.

// Observe makes a details a machine.Observer.
func (d *details) Observe(_ *machine.Machine, ev *machine.Event) {
	w := d.w
	if w == nil {
		return
	}
	switch ev.Kind {
	case machine.EvAccess:
		var list [32]machine.Span
		n := 0
		for k := ev.Mask; k != 0; k &= k - 1 {
			list[n] = machine.Span{Mem: ev.Mem, Addr: ev.Addr[bits.TrailingZeros32(k)], Len: uint64(ev.Size)}
			n++
		}
		d.spans(list[:n])
		if ev.Access&machine.Write != 0 {
			w.written = append(w.written, list[:n]...)
		}
	case machine.EvIssue:
		d.spans(ev.Op.Reads)
		d.spans(ev.Op.Writes)
	case machine.EvWritten:
		w.op = ev.Op
		d.spans(ev.Op.Writes)
		w.written = append(w.written, ev.Op.Writes...)
	case machine.EvSource, machine.EvSignal:
		w.op = ev.Op
	case machine.EvTensorAlloc:
		d.spans([]machine.Span{ev.Span})
		w.written = append(w.written, ev.Span)
	case machine.EvMbar:
		at := wordAt{ev.Mbar.Bar.Mem, ev.Mbar.Bar.Addr}
		if !slices.Contains(w.mbars, at) {
			w.mbars = append(w.mbars, at)
		}
		if ev.Mbar.Op == machine.MbarInit || ev.Mbar.Op == machine.MbarInval {
			s := machine.Span{Mem: at.mem, Addr: at.addr, Len: 8}
			d.spans([]machine.Span{s})
			w.written = append(w.written, s)
		}
	}
}

// spans adds ranges to those that the window touches.
func (d *details) spans(list []machine.Span) {
	w := d.w
	for _, s := range list {
		if s.Len == 0 || s.Mem == machine.Local || w.bytes+s.Len > mostTouched {
			continue
		}
		have := w.touched[s.Mem]
		added := span{s.Addr, s.Addr + s.Len}
		i, _ := slices.BinarySearchFunc(have, added.lo, func(x span, lo uint64) int { return cmp.Compare(x.hi, lo) })
		j := i
		for ; j < len(have) && have[j].lo <= added.hi; j++ {
			added.lo, added.hi = min(added.lo, have[j].lo), max(added.hi, have[j].hi)
			w.bytes -= have[j].hi - have[j].lo
		}
		w.bytes += added.hi - added.lo
		w.touched[s.Mem] = slices.Replace(have, i, j, added)
	}
}

// writes appends the bytes that the step wrote, of those that the window shows.
func (d *details) writes(m *machine.Machine) {
	w := d.w
	slices.SortFunc(w.written, func(a, b machine.Span) int { return cmp.Or(cmp.Compare(a.Mem, b.Mem), cmp.Compare(a.Addr, b.Addr)) })
	for i := 0; i < len(w.written); {
		s := w.written[i]
		for i++; i < len(w.written) && w.written[i].Mem == s.Mem && w.written[i].Addr <= s.Addr+s.Len; i++ {
			s.Len = max(s.Len, w.written[i].Addr+w.written[i].Len-s.Addr)
		}
		for _, k := range w.touched[s.Mem] {
			if lo, hi := max(k.lo, s.Addr), min(k.hi, s.Addr+s.Len); lo < hi {
				w.buf = d.bytes(w.buf, m, s.Mem, lo, hi, true)
			}
		}
	}
}

// memory appends the bytes that the window touches, as they were before it.
func (d *details) memory(b []byte) []byte {
	w := d.w
	for _, mem := range slices.Sorted(maps.Keys(w.touched)) {
		for _, k := range w.touched[mem] {
			b = d.bytes(b, w.start, mem, k.lo, k.hi, false)
		}
	}
	return b
}

// bytes appends the bytes from lo to below hi of a memory, buffer by buffer; forgot: also
// which of them are not initialized.
func (d *details) bytes(b []byte, m *machine.Machine, mem machine.MemID, lo, hi uint64, forgot bool) []byte {
	for lo < hi {
		g := d.res.RegionAt(mem, lo)
		n := hi - lo
		if g != nil {
			n = min(n, g.Base+g.Size-lo)
		} else {
			n = d.until(mem, lo, n)
		}
		data, init := make([]byte, n), make([]bool, n)
		if m.Read(mem, lo, data, init) {
			b = d.runs(b, mem, g, lo, data, init, forgot)
		}
		lo += n
	}
	return b
}

// until is how many of n bytes lie before the next buffer.
func (d *details) until(mem machine.MemID, lo, n uint64) uint64 {
	for i := range d.res.Regions {
		g := &d.res.Regions[i]
		if g.Shared == (mem.Kind() == machine.SharedMemory) && mem.Kind() != machine.TensorMemory && g.Base > lo {
			n = min(n, g.Base-lo)
		}
	}
	return n
}

// runs appends an entry for each run of bytes that are initialized, or not.
func (d *details) runs(b []byte, mem machine.MemID, g *resolve.Region, addr uint64, data []byte, init []bool, forgot bool) []byte {
	if g != nil {
		addr -= g.Base
	}
	name, cta := d.text.of(d.names.Memory(mem, g)), uint64(0)
	if mem != machine.Global {
		cta = uint64(mem.CTA()) + 1
	}
	for i := 0; i < len(data); {
		j := i + 1
		for j < len(data) && init[j] == init[i] {
			j++
		}
		if init[i] || forgot {
			d.w.count++
			kind := byte(entryMemory)
			if !init[i] {
				kind = entryForgot
			}
			b = append(b, kind)
			for _, n := range []uint64{name, cta, addr + uint64(i), uint64(j - i)} {
				b = binary.AppendUvarint(b, n)
			}
			if init[i] {
				b = append(b, data[i:j]...)
			}
		}
		i = j
	}
	return b
}
