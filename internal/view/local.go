package view

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"muster/internal/machine"
)

// This file encodes local memory: what each thread has in the .local variables of the
// functions that it is in. No event tells of it, since no other thread sees it, so that a
// warp's are compared after each step of its own, as its registers are.

// Kinds of entries.
const (
	entryLocal       = 6
	entryForgotLocal = 7
)

// mostLocal is how many bytes of a function's variables are shown, of the smallest first, and
// mostLocals how many a window has of all its threads: warps that come later are not shown.
const (
	mostLocal  = 4 << 10
	mostLocals = 8 << 20
)

// A local is a variable as entries name it.
type local struct {
	machine.LocalVar
	text  string // its name
	name  uint64
	shown uint64 // so many bytes of it
}

// A localAt is a variable of a function, by the numbers of both.
type localAt struct{ fn, k int32 }

// A localState is what entries have said of a variable in a warp's lanes.
type localState struct {
	has   uint32 // lanes that are in its function
	lanes [32]localBytes
}

type localBytes struct {
	b    []byte
	init []uint32 // a bit a byte
}

func newLocalBytes(n uint64) localBytes {
	return localBytes{make([]byte, n), make([]uint32, (n+31)/32)}
}

func (l *localBytes) written(i int) bool { return l.init[i/32]>>(i%32)&1 != 0 }

// localVars lists the variables that are shown, by function.
func localVars(p *machine.Program) (all [][]local) {
	for fn := range int32(p.Functions()) {
		room := uint64(mostLocal)
		var list []local
		name, kernel := p.FunctionName(fn)
		vars := p.LocalVars(fn)
		slices.SortStableFunc(vars, func(a, b machine.LocalVar) int { return cmp.Compare(a.Size, b.Size) })
		for _, v := range vars {
			n := min(v.Size, room)
			if n == 0 {
				break
			}
			room -= n
			shown := v.Name
			if !kernel {
				shown = name + ": " + v.Name
			}
			list = append(list, local{LocalVar: v, text: clipped(shown), shown: n})
		}
		all = append(all, list)
	}
	return all
}

// room reports whether the window has room for a warp's local memory.
func (d *details) room() bool {
	n := uint64(0)
	for _, list := range d.variables {
		for i := range list {
			n += 32 * list[i].shown
		}
	}
	if d.w.locals+n > mostLocals {
		return false
	}
	d.w.locals += n
	return true
}

// locals appends in what the variables of a frame differ from what is known of them, in some
// lanes.
func (d *details) locals(b []byte, m *machine.Machine, at warpAt, f *machine.Frame, mask uint32, s *warpState) []byte {
	if !s.local {
		return b
	}
	for k := range d.variables[f.Func] {
		b = d.localVar(b, m, at, f, int32(k), mask, s)
	}
	return b
}

func (d *details) localVar(b []byte, m *machine.Machine, at warpAt, f *machine.Frame, k int32, mask uint32, s *warpState) []byte {
	v := &d.variables[f.Func][k]
	key := localAt{f.Func, k}
	have := s.locals[key]
	if have == nil {
		have = &localState{}
		if s.locals == nil {
			s.locals = map[localAt]*localState{}
		}
		s.locals[key] = have
	}
	have.has |= mask
	now := newLocalBytes(v.shown)
	var changed [32][]uint32
	differ := uint32(0)
	for left := mask; left != 0; left &= left - 1 {
		l := bits.TrailingZeros32(left)
		m.ReadLocal(at.cta, at.warp, f, &v.LocalVar, l, now.b, now.init)
		was := &have.lanes[l]
		if was.b == nil {
			*was = newLocalBytes(v.shown)
		}
		if bytes.Equal(was.b, now.b) && slices.Equal(was.init, now.init) {
			continue
		}
		if changed[l] = was.differ(&now); changed[l] != nil {
			differ |= 1 << l
		}
		*was, now = now, *was
	}
	return d.differing(b, at, v, have, &changed, differ)
}

// differ returns by a bit a byte what of it is not as in another; nil if all is. Bytes that
// are not initialized are alike.
func (l *localBytes) differ(now *localBytes) (at []uint32) {
	for i := range now.b {
		if was, is := l.written(i), now.written(i); was != is || is && l.b[i] != now.b[i] {
			if at == nil {
				at = make([]uint32, len(now.init))
			}
			at[i/32] |= 1 << (i % 32)
		}
	}
	return at
}

// differing appends the bytes of a variable that changed in some lanes: those in which the
// same ones did have their entries together.
func (d *details) differing(b []byte, at warpAt, v *local, now *localState, changed *[32][]uint32, lanes uint32) []byte {
	for lanes != 0 {
		first := bits.TrailingZeros32(lanes)
		of, alike := changed[first], uint32(0)
		for left := lanes; left != 0; left &= left - 1 {
			l := bits.TrailingZeros32(left)
			if slices.Equal(changed[l], of) && slices.Equal(now.lanes[l].init, now.lanes[first].init) {
				alike |= 1 << l
			}
		}
		lanes &^= alike
		in := func(i int) bool { return of[i/32]>>(i%32)&1 != 0 }
		for i := 0; i < int(v.shown); {
			if !in(i) {
				i++
				continue
			}
			j, written := i+1, now.lanes[first].written(i)
			for j < int(v.shown) && in(j) && now.lanes[first].written(j) == written {
				j++
			}
			b = d.local(b, at, alike, v, i, j, written, now)
			i = j
		}
	}
	return b
}

// local appends an entry of a variable's bytes; not written: these lanes do not have them,
// not yet or not any more.
func (d *details) local(b []byte, at warpAt, mask uint32, v *local, from, to int, written bool, now *localState) []byte {
	d.w.count++
	kind := byte(entryForgotLocal)
	if written {
		kind = entryLocal
	}
	b = append(b, kind)
	for _, n := range []uint64{uint64(at.cta), uint64(at.warp), uint64(mask), v.name, uint64(from), uint64(to - from)} {
		b = binary.AppendUvarint(b, n)
	}
	for left := mask; left != 0 && written; left &= left - 1 {
		b = append(b, now.lanes[bits.TrailingZeros32(left)].b[from:to]...)
	}
	return b
}

// leftLocals appends which lanes have variables no more, since their function has returned; in
// says which lanes are in a function, or called from it.
func (d *details) leftLocals(b []byte, at warpAt, here uint32, s *warpState, in func(fn int32) uint32) []byte {
	for fn := range d.variables {
		for k := range d.variables[fn] {
			have := s.locals[localAt{int32(fn), int32(k)}]
			if have == nil {
				continue
			}
			gone := have.has & here &^ in(int32(fn))
			have.has &^= gone
			for left := gone; left != 0; left &= left - 1 {
				have.lanes[bits.TrailingZeros32(left)] = localBytes{}
			}
			if v := &d.variables[fn][k]; gone != 0 {
				b = d.local(b, at, gone, v, 0, int(v.shown), false, have)
			}
		}
	}
	return b
}
