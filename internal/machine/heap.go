package machine

import (
	"fmt"
	"hash/maphash"
	"slices"
)

// The heap of malloc and free. Where a block lies depends on the thread and on its own calls
// alone, so that the order of the threads decides nothing, and no place is given twice, so
// that what touches a block after free touches nothing. A free is shown as writes of the
// whole block: an access of another thread that nothing orders against it is a race.

const (
	// heapBytes is what a card's heap has unless the host asks for more
	// (cudaLimitMallocHeapSize).
	heapBytes = 8 << 20
	// heapAt is where the heap's addresses begin: each thread has heapThread of them, with
	// heapGap and more after each block.
	heapAt     = 1 << 62
	heapThread = 1 << 30
	heapGap    = 64 << 10
	heapAlign  = 16
	// freeWidth is the most bytes that one event of a free shows, a power of two.
	freeWidth = 128
)

// The functions of the system. A call of free is visible, as it decides what other threads'
// accesses find; one of malloc is not: they cannot know of the block yet.
const (
	heapMalloc = "malloc"
	heapFree   = "free"
)

// A laneHeap is what a lane has had of the heap.
type laneHeap struct {
	given uint64 // of its addresses
	held  uint64 // bytes of its blocks that it has not freed itself
	most  uint64 // the most that held has been
}

// hold counts a block of the lane. Frees by other threads do not count, as they may come later.
// So no schedule in which each thread does what it has done has more than heapMost bytes in
// blocks at a time.
func (g *addressMap) hold(h *laneHeap, size uint64) {
	h.held += size
	if h.held > h.most {
		g.heapMost += h.held - h.most
		h.most = h.held
	}
}

// callMalloc gives each lane a block, or null where the heap has no room for it.
func callMalloc(x *ctx, ci *callInfo) {
	if len(ci.args) != 1 || len(ci.rets) != 1 {
		return
	}
	m, w := x.m, x.w
	full, could := uint32(0), uint32(0)
	for l := range lanesOf(x.s.mask) {
		size, at := x.argument(ci, 0, l), uint64(0)
		switch {
		case size == 0:
			m.unmodelledHeap(x, l, "malloc of no bytes")
			return
		case size > heapBytes:
		case size > heapBytes-m.global.heapUsed:
			full |= 1 << l
		default:
			if w.heap == nil {
				w.heap = make([]laneHeap, 32)
			}
			h := &w.heap[l]
			if h.given+size+heapGap > heapThread {
				m.unmodelledHeap(x, l, "malloc by a thread that has had more blocks than it has addresses")
				return
			}
			at = x.heapBase(l) + h.given
			h.given += alignUp(size, heapAlign) + heapGap
			m.global.allot(newRegion("heap", at, size))
			m.global.hold(h, size)
			if m.global.heapMost > heapBytes {
				could |= 1 << l
			}
		}
		x.result(ci, l, at)
	}
	if full|could != 0 {
		m.emit(Event{Kind: EvHeapFull, CTA: w.cta, Warp: w.index, Mask: full | could, PC: x.s.pc})
	}
}

// heapBase returns where a lane's addresses of the heap begin.
func (x *ctx) heapBase(lane int) uint64 {
	thread := uint64(x.w.cta)*uint64(x.m.block) + uint64(x.w.index)*32 + uint64(lane)
	return heapAt + thread*heapThread
}

func (m *Machine) unmodelledHeap(x *ctx, lane int, what string) {
	m.halt(Stop{Kind: Unmodelled, CTA: x.w.cta, Warp: x.w.index, Lane: int8(lane), Mask: x.s.mask, PC: x.s.pc, Mem: Local, Msg: what})
}

// result gives a lane a call's only result.
func (x *ctx) result(ci *callInfo, lane int, v uint64) {
	var b [8]byte
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
	if r := ci.rets[0]; r.inReg {
		x.w.setLane(r.reg, r.typ, x.s, lane, b[:])
	} else {
		x.w.local.put(uint64(lane)*x.w.lsize+uint64(x.s.lbase+r.off), b[:min(r.size, 8)], x.m.owner)
	}
}

// frees reports whether a function is free.
func (f *function) frees() bool { return f.decl.Body == nil && f.name == heapFree }

// Frees reports whether the instruction at pc is a call of free, whose writes have no size of
// their own.
func (p *Program) Frees(pc int32) bool {
	if pc < 0 || int(pc) >= len(p.code) {
		return false
	}
	ci, ok := p.code[pc].x.(*callInfo)
	return ok && ci.fn >= 0 && p.funcs[ci.fn].frees()
}

// decodeFree decodes a call of free.
func (d *decoder) decodeFree(ci *callInfo) {
	d.emit(instr{class: visible, visit: visitFree, x: ci})
	d.promised(nil)
}

// visitFree ends the lanes' blocks.
func visitFree(x *ctx, in *instr, mask uint32) verdict {
	m, ci := x.m, in.x.(*callInfo)
	if in.uni != nil {
		x.keepsPromise(in, mask)
	}
	for l := range lanesOf(mask) {
		at := x.argument(ci, 0, l)
		if at == 0 {
			continue
		}
		r := m.global.find(at)
		if r == nil || at < heapAt || r.base != at {
			return m.halt(Stop{Kind: FaultOther, CTA: x.w.cta, Warp: x.w.index, Lane: int8(l), Mask: mask, PC: x.s.pc, Mem: Local,
				Msg: fmt.Sprintf("free of %#x, which malloc did not return, or which is free already", at)})
		}
		if m.cfg.Observer != nil {
			x.showFree(r, l)
		}
		if own := x.heapBase(l); at >= own && at-own < heapThread {
			x.w.heap[l].held -= r.size
		}
		m.global.free(at)
	}
	return performed
}

// showFree shows the freeing of a block as weak writes of all its bytes. What they write is not
// known, so that no store is taken for an equal one.
func (x *ctx) showFree(r *region, lane int) {
	m := x.m
	ev := &m.ev
	ev.at(EvAccess, x, 1<<lane)
	ev.Access, ev.Sem, ev.Scope, ev.Proxy, ev.Row = Write, Weak, NoScope, Generic, false
	ev.SemDefaulted, ev.ScopeDefaulted = false, false
	ev.Mem, ev.Addr, ev.Init = Global, &m.addr, 1<<lane
	ev.Val, ev.storing, ev.by, ev.Part, ev.Whole = nil, nil, x, 0, 0
	for off := uint64(0); off < r.size; off += uint64(ev.Size) {
		ev.Size = freeWidth
		for off+uint64(ev.Size) > r.size {
			ev.Size /= 2
		}
		m.addr[lane] = r.base + off
		m.cfg.Observer.Observe(m, ev)
	}
}

// Heap returns the range of addresses in which the blocks of malloc lie; false if the program
// does not use the heap.
func (p *Program) Heap() (Symbol, bool) {
	return Symbol{Name: "heap", Addr: heapAt, Size: heapAt}, p.allocates
}

// Allocates reports whether the program calls malloc or free.
func (p *Program) Allocates() bool { return p.allocates }

// allot adds a block to the heap.
func (g *addressMap) allot(r region) {
	i, _ := slices.BinarySearchFunc(g.heap, r.base, compareBase)
	g.heap = slices.Insert(g.heap, i, r)
	g.heapUsed += r.size
}

func (g *addressMap) free(at uint64) {
	if i, ok := slices.BinarySearchFunc(g.heap, at, compareBase); ok {
		g.heapUsed -= g.heap[i].size
		g.heap = slices.Delete(g.heap, i, i+1)
	}
}

func compareBase(r region, at uint64) int {
	switch {
	case r.base < at:
		return -1
	case r.base > at:
		return 1
	}
	return 0
}

// block returns the block of the heap that holds address a, or nil.
func (g *addressMap) block(a uint64) *region {
	i, ok := slices.BinarySearchFunc(g.heap, a, compareBase)
	if !ok {
		i--
	}
	if i < 0 || a-g.heap[i].base >= g.heap[i].size {
		return nil
	}
	return &g.heap[i]
}

// hashHeap hashes the blocks and what has changed in them since o, if o is not nil.
func (g *addressMap) hashHeap(h *maphash.Hash, o *addressMap) {
	for i := range g.heap {
		r := &g.heap[i]
		maphash.WriteComparable(h, [2]uint64{r.base, r.size})
		var old *region
		if o != nil {
			if k, ok := slices.BinarySearchFunc(o.heap, r.base, compareBase); ok {
				old = &o.heap[k]
			}
		}
		r.hashSince(h, old)
	}
}
