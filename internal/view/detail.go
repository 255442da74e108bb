package view

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"

	"muster/internal/machine"
	"muster/internal/resolve"
	"muster/internal/story"
)

// This file encodes registers and memory: a window of steps is the state before the first of
// them, and then what each step changes. A window is made while a machine takes its steps.

// Kinds of entries.
const (
	entryRegister = 1
	entryMemory   = 2
	entryWord     = 3
	entryPlace    = 4
	entryForgot   = 5 // of local memory: local.go
)

// mostTouched is how many bytes of memory a window shows, and mostWarps for how many warps it
// shows those that take no step.
const (
	mostTouched = 1 << 20
	mostWarps   = 32
)

// A details encodes windows of a run. It observes the machine that takes the run's steps.
type details struct {
	text      *stringTable
	names     *story.Namer
	res       *resolve.Resolver
	registers [][]register // by function
	kernels   []bool       // which functions are kernels
	variables [][]local    // of local memory, by function
	track     func(mem machine.MemID, addr uint64) (uint64, bool)
	lines     map[int32][2]uint64
	texts     map[string]uint64 // the indices of PTX texts

	w *window // that is being made; nil for none
}

// A register is one as entries name it.
type register struct {
	machine.Register
	name, kind uint64
	upper      uint64 // the name of its upper half
}

// A window is one that is being made.
type window struct {
	from    int
	start   *machine.Machine // a copy, as it was before the window
	body    []byte
	warps   map[warpAt]*warpState
	order   []warpAt // of warps
	touched map[machine.MemID][]span
	bytes   uint64 // touched
	locals  uint64 // bytes of variables of local memory, of all lanes
	words   map[wordAt]word
	buf     []byte
	count   uint64 // entries of the present step
	// of the present step
	written []machine.Span
	mbars   []wordAt
	op      *machine.Op
}

type warpAt struct{ cta, warp int32 }

type wordAt struct {
	mem  machine.MemID
	addr uint64
}

type span struct{ lo, hi uint64 }

// A word is the state of an mbarrier.
type word struct {
	phase             int64
	pending, expected uint64
	tx                int64
}

// A warpState is what entries have said of a warp.
type warpState struct {
	values map[regAt]*lanes
	local  bool // its local memory is shown
	locals map[localAt]*localState
	places []place
}

type regAt struct {
	fn   int32
	k    int32
	half bool // the upper one
}

// lanes is a register's value in each lane that has it.
type lanes struct {
	has uint32
	v   [32]uint64
}

type place struct {
	mask uint32
	pc   int32
}

func newDetails(text *stringTable, res *resolve.Resolver, texts map[string]uint64) *details {
	d := &details{text: text, names: story.NewNamer(res), res: res, lines: map[int32][2]uint64{}, texts: texts}
	p := res.Program
	for fn := range int32(p.Functions()) {
		var list []register
		name, kernel := p.FunctionName(fn)
		for _, r := range p.Registers(fn) {
			shown := r.Name
			if !kernel {
				shown = name + ": " + r.Name
			}
			at := register{Register: r, name: text.of(shown), kind: text.of(r.Type)}
			if r.Wide() { // each half by itself
				at.name, at.upper = text.of(shown+".lo"), text.of(shown+".hi")
			}
			list = append(list, at)
		}
		d.registers = append(d.registers, list)
		d.kernels = append(d.kernels, kernel)
	}
	d.variables = localVars(p)
	for _, list := range d.variables {
		for k := range list {
			list[k].name = text.of(list[k].text)
		}
	}
	for i := range res.Regions {
		text.of(d.names.Memory(machine.Global, &res.Regions[i]))
	}
	for _, mem := range []machine.MemID{machine.Global, machine.SharedOf(0), machine.TensorOf(0)} {
		text.of(d.names.Memory(mem, nil))
	}
	text.of("")
	return d
}

// begin begins a window with a step that the machine is about to take.
func (d *details) begin(m *machine.Machine, from int) {
	d.w = &window{from: from, start: m.Clone(), warps: map[warpAt]*warpState{}, touched: map[machine.MemID][]span{}, words: map[wordAt]word{}}
	n := 0
	running := m.Running(nil)
	for _, i := range running {
		n += m.Warps(i)
	}
	for _, i := range running {
		for k := 0; k < m.Warps(i) && n <= mostWarps; k++ {
			d.warp(warpAt{i, int32(k)})
		}
	}
	for _, o := range m.InFlight() {
		d.spans(o.Reads)
		d.spans(o.Writes)
	}
	for _, b := range m.Barriers() {
		d.w.words[wordAt{b.Bar.Mem, b.Bar.Addr}] = wordOf(b)
	}
}

func wordOf(b machine.Barrier) word {
	return word{b.Phase, uint64(b.Word.Pending()), uint64(b.Word.Expected()), int64(b.Word.Tx())}
}

// step encodes what a step has changed.
func (d *details) step(m *machine.Machine, c machine.Choice) {
	w := d.w
	w.buf, w.count = w.buf[:0], 0
	switch c.Kind {
	case machine.Start:
		for _, i := range m.ClusterOf(c.CTA) {
			for k := range m.Warps(i) {
				d.changed(m, warpAt{i, int32(k)})
			}
		}
	case machine.Run, machine.GiveUp, machine.Alone, machine.Subset:
		d.changed(m, warpAt{c.CTA, c.Warp})
	default:
		if o := w.op; o != nil {
			d.changed(m, warpAt{o.CTA, o.Warp})
		}
	}
	d.writes(m)
	for _, at := range w.mbars {
		if b, ok := m.BarrierAt(at.mem, at.addr); ok && wordOf(b) != w.words[at] {
			w.words[at] = wordOf(b)
			w.buf = d.word(w.buf, at, wordOf(b))
		}
	}
	w.body = append(binary.AppendUvarint(w.body, w.count), w.buf...)
	w.written, w.mbars, w.op = w.written[:0], w.mbars[:0], nil
}

// finish returns the window's encoding.
func (d *details) finish() []byte {
	w := d.w
	w.buf, w.count = nil, 0
	var all []byte
	for _, at := range w.order {
		all = d.compare(all, w.start, at, &warpState{values: map[regAt]*lanes{}, local: w.warps[at].local})
	}
	all = d.memory(all)
	for _, b := range w.start.Barriers() {
		all = d.word(all, wordAt{b.Bar.Mem, b.Bar.Addr}, wordOf(b))
	}
	out := binary.AppendUvarint(nil, w.count)
	d.w = nil
	return append(append(out, all...), w.body...)
}

// size is about how long the window is by now.
func (d *details) size() int { return len(d.w.body) + int(d.w.bytes) }

// warp returns what is known of a warp; before the window's first step of it that is its
// state then.
func (d *details) warp(at warpAt) *warpState {
	w := d.w
	s := w.warps[at]
	if s == nil {
		s = &warpState{values: map[regAt]*lanes{}, local: d.room()}
		w.warps[at] = s
		w.order = append(w.order, at)
		n := w.count
		d.compare(nil, w.start, at, s)
		w.count = n
	}
	return s
}

func (d *details) changed(m *machine.Machine, at warpAt) {
	d.w.buf = d.compare(d.w.buf, m, at, d.warp(at))
}

// compare appends in what a warp differs from what is known of it, which it brings up to date.
func (d *details) compare(b []byte, m *machine.Machine, at warpAt, s *warpState) []byte {
	frames := m.Frames(at.cta, at.warp, nil)
	var here uint32 // lanes that are somewhere
	for i := range frames {
		here |= frames[i].Mask
	}
	type seen struct {
		fn   int32
		mask uint32
	}
	var all []seen
	for i := len(frames) - 1; i >= 0; i-- { // the innermost frame of a function counts
		f := &frames[i]
		k := slices.IndexFunc(all, func(x seen) bool { return x.fn == f.Func })
		if k < 0 {
			k = len(all)
			all = append(all, seen{fn: f.Func})
		}
		if of := f.Mask &^ all[k].mask; of != 0 {
			all[k].mask |= of
			b = d.frame(b, m, at, f, of, s)
			b = d.locals(b, m, at, f, of, s)
		}
	}
	if len(d.registers) > 1 {
		in := func(fn int32) uint32 {
			if k := slices.IndexFunc(all, func(x seen) bool { return x.fn == fn }); k >= 0 {
				return all[k].mask
			}
			return 0
		}
		b = d.returned(b, at, here, s, in)
		b = d.leftLocals(b, at, here, s, in)
	}
	return d.places(b, m, at, here, s)
}

// returned appends which lanes have registers no more, since a function has returned; in says
// which lanes are in a function, or called from it.
func (d *details) returned(b []byte, at warpAt, here uint32, s *warpState, in func(fn int32) uint32) []byte {
	keys := slices.SortedFunc(maps.Keys(s.values), func(a, b regAt) int {
		return cmp.Or(cmp.Compare(a.fn, b.fn), cmp.Compare(a.k, b.k), cmp.Compare(btoi(a.half), btoi(b.half)))
	})
	for _, key := range keys {
		have := s.values[key]
		if gone := have.has & here &^ in(key.fn); gone != 0 {
			have.has &^= gone
			b = d.register(b, at, key, gone, nil)
		}
	}
	return b
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// frame appends the registers of a frame in some lanes.
func (d *details) frame(b []byte, m *machine.Machine, at warpAt, f *machine.Frame, mask uint32, s *warpState) []byte {
	var lo, hi [32]uint64
	for k := range d.registers[f.Func] {
		r := &d.registers[f.Func][k]
		m.ReadRegister(at.cta, at.warp, f, &r.Register, &lo, &hi)
		b = d.value(b, at, regAt{f.Func, int32(k), false}, mask, &lo, s)
		if r.Wide() {
			b = d.value(b, at, regAt{f.Func, int32(k), true}, mask, &hi, s)
		}
	}
	return b
}

// value appends a register's value in some lanes, where it differs. What no entry names is 0.
func (d *details) value(b []byte, at warpAt, key regAt, mask uint32, now *[32]uint64, s *warpState) []byte {
	have := s.values[key]
	if have == nil {
		if *now == ([32]uint64{}) {
			return b
		}
		have = &lanes{}
		s.values[key] = have
	}
	differ := mask &^ have.has
	if d.kernels[key.fn] { // from the start on the lanes have it, as 0
		have.has |= differ
		differ = 0
	}
	for k := mask & have.has; k != 0; k &= k - 1 {
		if l := bits.TrailingZeros32(k); have.v[l] != now[l] {
			differ |= 1 << l
		}
	}
	if differ == 0 {
		return b
	}
	for k := differ; k != 0; k &= k - 1 {
		l := bits.TrailingZeros32(k)
		have.v[l] = now[l]
	}
	have.has |= differ
	return d.register(b, at, key, differ, now)
}

// register appends an entry of a register; without values, lanes that have it no more.
func (d *details) register(b []byte, at warpAt, key regAt, mask uint32, v *[32]uint64) []byte {
	r := &d.registers[key.fn][key.k]
	name, kind := r.name, r.kind
	if key.half {
		name = r.upper
	}
	if v == nil {
		kind = d.text.of("")
	}
	d.w.count++
	b = append(b, entryRegister)
	for _, n := range []uint64{uint64(at.cta), uint64(at.warp), name, kind, uint64(mask)} {
		b = binary.AppendUvarint(b, n)
	}
	for k := mask; k != 0 && v != nil; k &= k - 1 {
		b = binary.AppendUvarint(b, v[bits.TrailingZeros32(k)])
	}
	return b
}

// places appends where lanes stand that stood elsewhere.
func (d *details) places(b []byte, m *machine.Machine, at warpAt, here uint32, s *warpState) []byte {
	var now []place
	for _, f := range m.Splits(at.cta, at.warp, nil) {
		now = append(now, place{f.Mask, f.PC})
	}
	was := uint32(0)
	for _, p := range s.places {
		was |= p.mask
	}
	if gone := was &^ here; gone != 0 {
		b = d.place(b, at, gone, -1)
	}
	for _, p := range now {
		moved := p.mask
		for _, o := range s.places {
			if o.pc == p.pc {
				moved &^= o.mask
			}
		}
		if moved != 0 {
			b = d.place(b, at, moved, p.pc)
		}
	}
	s.places = now
	return b
}

func (d *details) place(b []byte, at warpAt, mask uint32, pc int32) []byte {
	d.w.count++
	b = append(b, entryPlace)
	line := d.line(pc)
	for _, n := range []uint64{uint64(at.cta), uint64(at.warp), uint64(mask), line[0], line[1]} {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

// line returns the text and the line of an instruction; 0 and 0 if it has none.
func (d *details) line(pc int32) [2]uint64 {
	if at, ok := d.lines[pc]; ok || pc < 0 {
		return at
	}
	at := [2]uint64{}
	if text, ok := d.texts[d.res.File(pc)]; ok {
		at = [2]uint64{text, uint64(d.res.Program.Pos(pc).Line)}
	}
	d.lines[pc] = at
	return at
}

func (d *details) word(b []byte, at wordAt, v word) []byte {
	track, ok := d.track(at.mem, at.addr)
	if !ok {
		return b
	}
	d.w.count++
	b = append(b, entryWord)
	for _, n := range []uint64{track, uint64(v.phase), v.pending, v.expected} {
		b = binary.AppendUvarint(b, n)
	}
	return binary.AppendVarint(b, v.tx)
}
