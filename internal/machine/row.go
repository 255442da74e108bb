package machine

import (
	"slices"
	"strings"

	"muster/internal/flow"
	"muster/internal/tma"
	"muster/ptx"
)

// Rows of clusters: those whose places in the grid differ along one axis. They are a
// family whose registers have strides (stride.go), where n counts clusters from the one
// that runs. There are no periods: the whole run is the mode before, and %ctaid and
// %clusterid grow with n. A loaded value has no known stride.
//
// Where the follower has no failure, the clusters up to Most take the same steps as the
// one that ran, with the same lanes and the same operands of what is visible, except for
// data and for addresses in global memory, which grow as Moves says. That the addresses
// stay in their buffers is left to the caller.

// A row is what a follower knows of the row that it measures, by instruction.
type row struct {
	special []stride // of the special register that it reads
	refused []bool   // an operand is a special register that grows and is not followed
	checks  []bool   // it reports invalid operands
}

// FollowRow attaches to m, which is to run one cluster alone, a follower that derives
// strides along an axis of the grid, for the next clusters, of which there are most.
func FollowRow(m *Machine, axis int, most int64) *Follower {
	f := &Follower{lanes: make([]laneTrack, m.csize*m.warps*32), warps: m.warps, cluster: true, back: map[int32]*[]int32{}, live: map[int32][]flow.Reg{}}
	m.Follow(f)
	s := f.newStrides(m, most, 0)
	n := len(m.prog.code)
	s.row = &row{make([]stride, n), make([]bool, n), make([]bool, n)}
	var read []flow.Reg // special registers that grow, read for the next instruction of the text
	for i := range m.prog.code {
		pc, in, u := int32(i), &m.prog.code[i], s.uses[i]
		name, special := in.x.(specialName)
		if special {
			s.row.special[i] = s.specialStride(pc, m, string(name), in.t, axis)
		}
		s.row.checks[i] = u != nil && checks(in, u)
		switch {
		case u == nil && s.row.special[i] != still:
			class := flow.Word
			if in.t.wide() {
				class = flow.Wide
			}
			read = append(read, flow.RegOf(in.fn, class, int32(in.d)))
		case u == nil: // made for an operand
			s.row.refused[i] = len(read) > 0 && !special && !sameExec(in.exec, execPredNot) && !sameExec(in.exec, execPredConst)
		case len(read) > 0 && in.class == plain:
			more := *u
			more.Reads = slices.Concat(u.Reads, read)
			s.uses[i], read = &more, nil
		case len(read) > 0:
			s.row.refused[i], read = true, nil
		}
	}
	return f
}

// checks reports whether an instruction on registers may report an invalid operand. Its exec
// does not say: it may have been replaced.
func checks(in *instr, u *flow.Use) bool {
	switch in.x.(type) {
	case space, *bulkPrefetch:
		return true
	case *access:
		return !u.Does(ptx.Reads | ptx.Writes)
	}
	return u.Does(ptx.GivesPolicy)
}

// specialStride is by how much a special register, read as a type, grows from cluster to
// cluster.
func (s *strides) specialStride(pc int32, m *Machine, name string, t typ, axis int) stride {
	base, part, _ := strings.Cut(name, ".")
	by := int64(0)
	switch {
	case flow.Varies(ptx.Name(name)):
		return s.unknown(pc, name)
	case part != "xyzw"[axis:axis+1]:
	case base == "%ctaid":
		by = int64(m.grids[0].Cluster[axis])
	case base == "%clusterid":
		by = 1
	}
	if by != 0 && t.size() < 4 {
		return s.unknown(pc, "a part of "+name)
	}
	return stride{n: by}
}

// risky refuses an instruction on registers that may show more than its result: where an
// operand changes, another cluster might show that, and this one not.
func (s *strides) risky(ws *warpStrides, x *ctx, in *instr, u *flow.Use, mask uint32) {
	pc := x.s.pc
	switch {
	case s.row.refused[pc]:
		s.fail(pc, "an operand of the "+Name(u.In)+" is a special register")
	case s.row.checks[pc] && mask&(ws.moving(u.Addr)|ws.moving(u.Reads)) != 0:
		s.fail(pc, "an operand of the "+Name(u.In)+" grows")
	case in.gives == mayDivideByZero && in.b >= 0 && mask&ws.rowOf(in.b, lastType(u.In)).moves != 0:
		s.fail(pc, "a divisor grows")
	}
}

func (ws *warpStrides) rowOf(r reg, t typ) *strideRow {
	if t.wide() {
		return &ws.r64[r]
	}
	return &ws.r32[r]
}

// visible refuses visible instructions that may show operands which strides.point takes
// for data, or that do what is no event at an address that grows.
func (s *strides) visible(ws *warpStrides, x *ctx, in *instr, u *flow.Use, mask uint32) {
	pc := x.s.pc
	switch {
	case s.row.refused[pc]:
		s.fail(pc, "an operand of the "+Name(u.In)+" is a special register")
	case u.Does(ptx.Calls):
		s.fail(pc, "a function that is called")
	}
	if i, ok := in.x.(*tensorInfo); ok && i.fetch { // it shows no event, but may fault
		s.fail(pc, "a prefetch through a tensor map")
	}
	var decide []flow.Reg
	switch {
	case u.Does(ptx.Warpgroup): // whether it reads the accumulators
		decide = slices.DeleteFunc(slices.Clone(u.Reads), func(r flow.Reg) bool { return r.Class() != flow.Predicate })
	case u.Does(ptx.Exchanges) && len(u.Args) > 1: // whose operand a lane takes
		decide = slices.DeleteFunc(slices.Clone(u.Args[1:]), func(r flow.Reg) bool { return r == flow.NoReg })
	}
	if mask&ws.moving(decide) != 0 {
		s.fail(pc, "an operand of the "+Name(u.In)+" grows")
	}
	if mask&ws.moving(u.Addr) != 0 && !shows(in) {
		s.fail(pc, "an address of the "+Name(u.In)+" grows")
	}
}

// shows reports whether all that a visible instruction does in global memory is events.
func shows(in *instr) bool {
	switch in.x.(type) {
	case *access, *cpInfo, *bulkInfo, *bulkStore, *tensorInfo:
		return true
	}
	return false
}

// Moves returns by how much the addresses in global memory of a lane's last visible
// instruction grow from one cluster of the row to the next; ev is an event of it, made by
// the machine that is followed.
func (f *Follower) Moves(m *Machine, ev *Event, lane int) (by int64, known bool) {
	warp := m.ctas[ev.CTA].rank*f.warps + ev.Warp
	p := &f.strides.last[int(warp)*32+lane]
	if p.pc != ev.PC {
		return 0, false
	}
	first := true
	for i := range p.n {
		switch v := p.by[i]; {
		case p.from[i]:
		case v.why != 0 || !first && v.n != by:
			return 0, false
		default:
			by, first = v.n, false
		}
	}
	if ev.Kind != EvIssue || ev.Op.tensor == nil {
		return by, true
	}
	if by != 0 {
		return 0, false
	}
	return f.strides.boxMoves(f.strides.warps[warp], m.prog.code[ev.PC].x.(*tensorInfo), ev.Op.tensor, lane, ev.PC)
}

// boxMoves returns by how many bytes a box grows. It must lie within the tensor in each
// dimension in which it moves.
func (s *strides) boxMoves(ws *warpStrides, ti *tensorInfo, tc *tensorCopy, lane int, pc int32) (by int64, known bool) {
	t := &tc.tmap
	for d, r := range ti.coords {
		if r < 0 {
			continue
		}
		v := ws.r32[r].at(lane)
		if v == still {
			continue
		}
		unit := int64(t.Type.Size())
		if d > 0 {
			unit = int64(t.Strides[d-1])
		}
		at := line{int64(tc.coords[d]), 0, v.n}
		if v.why != 0 || ti.four || t.Mode != tma.Tiled || unit == 0 || t.Interleave != tma.InterleaveNone || v.n*unit%16 != 0 ||
			!s.fits(at, 0, 0, int64(t.Dims[d])-int64(t.Box[d]), pc) {
			return 0, false
		}
		by += v.n * unit
	}
	return by, true
}

// Region returns where a region of global memory lies, by its number (RegionOf), and
// whether either all of its bytes are initialized or none.
func (m *Machine) Region(i int) (base, size uint64, uniform bool) {
	r := &m.global.regions[i]
	if r.initialized(0, r.size) {
		return r.base, r.size, true
	}
	uniform = !r.born
	for _, p := range r.pages {
		uniform = uniform && (p == nil || !p.full && p.init == [pageBytes / 32]uint32{})
	}
	return r.base, r.size, uniform
}

// stays reports whether the comparison of a difference with 0 comes out for the next
// clusters as it does for the one that runs.
func (s *strides) stays(d line, name string, pc int32) bool {
	lo, hi := int64(-far), int64(far)
	switch name {
	case "lt", "ge", "lo", "hs":
		if d.v < 0 {
			hi = -1
		} else {
			lo = 0
		}
	case "le", "gt", "ls", "hi":
		if d.v <= 0 {
			hi = 0
		} else {
			lo = 1
		}
	case "eq", "ne":
		switch {
		case d.v < 0:
			hi = -1
		case d.v > 0:
			lo = 1
		default:
			lo, hi = 0, 0
		}
	default:
		return false
	}
	return s.fits(d, 0, lo, hi, pc)
}

// less returns a number below 0 if a difference is at most 0 for the next clusters, and
// one above 0 if it is at least 0.
func (s *strides) less(d line, pc int32) (sign int, known bool) {
	if d.v > 0 || d.v == 0 && d.n > 0 {
		return 1, s.fits(d, 0, 0, far, pc)
	}
	return -1, s.fits(d, 0, -far, 0, pc)
}

// LongestAxis returns the axis along which the grid has the most clusters, and how many. A
// mix of two sizes has no rows.
func (m *Machine) LongestAxis() (axis, clusters int) {
	if m.grids[0].mix != nil {
		return 0, 1
	}
	for i, g := range m.cfg.Grid {
		if n := int(g / m.grids[0].Cluster[i]); n > clusters {
			axis, clusters = i, n
		}
	}
	return axis, clusters
}

// AxisStep is how far apart, in the order of their start, clusters are that are
// neighbours along an axis.
func (m *Machine) AxisStep(axis int) int {
	step := 1
	for i := range axis {
		step *= int(m.cfg.Grid[i] / m.grids[0].Cluster[i])
	}
	return step
}
