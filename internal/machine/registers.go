package machine

import (
	"fmt"

	"muster/internal/flow"
)

// Registers under the names of the text, for what shows a state: nothing here is on the path
// of a step.

// A Register is a register of a function: a declared one, or an element of a vector. Where
// blocks of the function declare several of a name, the line of its declaration is a part of
// its name: "p@93".
type Register struct {
	Name, Type string // Type without its dot
	Func       int32
	line       int // of its declaration
	bank       uint8
	row        int32 // in its function's frame
	rows       int32 // 2 of one of 128 bits
}

// Wide reports whether a register has 128 bits.
func (r *Register) Wide() bool { return r.rows == 2 }

// Functions returns how many functions the program has.
func (p *Program) Functions() int { return len(p.funcs) }

// FunctionName is the name of a function, and whether it is a kernel.
func (p *Program) FunctionName(fn int32) (name string, kernel bool) {
	f := &p.funcs[fn]
	return f.name, f.decl != nil && f.decl.Entry
}

// Registers lists the registers of a function, in the order of their declarations.
func (p *Program) Registers(fn int32) (list []Register) {
	f := &p.funcs[fn]
	names := map[string]int{}
	for _, decls := range [][]declaredRegister{f.formals, f.declared} {
		for i := range decls {
			d := &decls[i]
			for k := range d.n {
				names[d.name(k)]++
				list = append(list, Register{Name: d.name(k), line: int(d.v.Pos.Line), Type: d.v.Type, Func: fn, bank: d.bank, row: d.first + k*d.rows, rows: d.rows})
			}
		}
	}
	for i := range list {
		if r := &list[i]; names[r.Name] > 1 {
			r.Name = fmt.Sprintf("%s@%d", r.Name, r.line)
		}
	}
	return list
}

// A Frame is a function that lanes of a warp execute, or that is to go on when a call of
// theirs returns.
type Frame struct {
	Func                  int32
	Mask                  uint32
	base32, base64, basep int32
	local                 uint32 // where it begins in local memory
}

// Frames appends the frames of a warp's lanes, those of each lane from the outermost on.
func (m *Machine) Frames(cta, warp int32, buf []Frame) []Frame {
	t := m.ctas[cta]
	if t == nil || int(warp) >= len(t.warps) {
		return buf
	}
	for _, s := range t.warps[warp].splits {
		for _, f := range s.frames {
			buf = append(buf, Frame{Func: m.prog.code[f.pc].fn, Mask: s.mask, base32: f.base32, base64: f.base64, basep: f.basep, local: f.lbase})
		}
		buf = append(buf, Frame{Func: m.prog.code[s.pc].fn, Mask: s.mask, base32: s.base32, base64: s.base64, basep: s.basep, local: s.lbase})
	}
	return buf
}

// ReadRegister copies what the lanes of a frame have in a register, and its upper half if it
// has 128 bits.
func (m *Machine) ReadRegister(cta, warp int32, f *Frame, r *Register, lo, hi *[32]uint64) {
	w := m.ctas[cta].warps[warp]
	switch flow.Class(r.bank) {
	case flow.Predicate:
		for l := range lo {
			lo[l] = uint64(w.p[f.basep+r.row] >> l & 1)
		}
	case flow.Wide:
		*lo = w.r64[f.base64+r.row]
		if r.rows == 2 {
			*hi = w.r64[f.base64+r.row+1]
		}
	default:
		for l, v := range &w.r32[f.base32+r.row] {
			lo[l] = uint64(v)
		}
	}
}

// Warps returns how many warps a CTA has that runs, or whose memory is still there; 0 for others.
func (m *Machine) Warps(cta int32) int {
	if t := m.ctas[cta]; t != nil {
		return len(t.warps)
	}
	return 0
}

// Running appends the CTAs that run.
func (m *Machine) Running(buf []int32) []int32 { return append(buf, m.running...) }

// Read copies bytes of a memory from addr on into b, and says by the bits of init which are
// initialized. It reports whether the range lies in one buffer, or one CTA's memory.
func (m *Machine) Read(mem MemID, addr uint64, b []byte, init []bool) bool {
	r, off := m.memory(mem, addr)
	if r == nil || !r.within(off, uint64(len(b))) {
		return false
	}
	r.read(off, b)
	for i := range init {
		init[i] = r.initialized(off+uint64(i), 1)
	}
	return true
}
