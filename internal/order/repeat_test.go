package order

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"muster/internal/machine"
)

// TestRepeats feeds random runs, with operations over many rows, to a Tracker that
// looks at each segment by itself, and to one that uses repeats. Both must find and
// remember the same. A clone taken on the way stays as it was.
func TestRepeats(t *testing.T) {
	few := 0
	seeds := uint64(120)
	if testing.Short() {
		seeds = 30
	}
	for seed := range seeds {
		g := &runs{Rand: rand.New(rand.NewPCG(seed, 0)), seq: map[string]uint32{}}
		cfg := Config{Shape: machine.Shape{CTAs: 2, Warps: 3, Cluster: 2}, MustOnly: seed%2 == 0}
		one, other := New(cfg), New(cfg)
		one.alike.off = true
		var kept *Tracker
		was := ""
		for i := range 120 {
			for _, ev := range g.draw(int32(i)) {
				for _, tr := range []*Tracker{one, other} {
					e := ev
					tr.Feed(nil, &e)
				}
				if rs := &other.alike; ev.Kind == machine.EvIssue && rs.on && rs.n > 0 && rs.n <= 2 {
					few++ // of 9 rows or more
				}
			}
			if i%24 != 23 {
				continue
			}
			if a, b := remembers(one), remembers(other); a != b {
				t.Fatalf("seed %d, event %d: each by itself\n%s\nat once\n%s", seed, i, a, b)
			}
			if g.IntN(2) == 0 {
				kept, one, other = other, one.Clone(), other.Clone()
				was = remembers(kept)
			}
		}
		if kept != nil && remembers(kept) != was {
			t.Fatalf("seed %d: running a clone changed the original", seed)
		}
	}
	if few < 4*int(seeds) {
		t.Errorf("%d operations found most of their segments alike", few)
	}
}

// TestRepeatsByLanes has segments in one state, but by different lanes: of the words
// that a warp wrote, its first lane's copy may read that lane's alone.
func TestRepeatsByLanes(t *testing.T) {
	tr := New(Config{Shape: machine.Shape{CTAs: 1, Warps: 1}})
	mem := machine.SharedOf(0)
	access := func(pc int32, a machine.Access, mask uint32) {
		ev := machine.Event{Kind: machine.EvAccess, Mask: mask, PC: pc, Access: a, Mem: mem, Size: 4, Addr: new([32]uint64)}
		for l := range ev.Addr {
			ev.Addr[l] = 4 * uint64(l)
		}
		tr.Feed(nil, &ev)
	}
	access(1, machine.Write, ^uint32(0))
	access(2, machine.Read, 1<<1)
	tr.Feed(nil, &machine.Event{Kind: machine.EvFence, Mask: ^uint32(0), Fence: machine.FenceProxyAsync, Space: machine.AllSpaces})
	op := &machine.Op{ID: 1, Kind: machine.OpBulkCopy, Proxy: machine.Async, Group: machine.GroupBulk, Seq: 1, PC: 3, Reads: []machine.Span{{Mem: mem, Len: 9 * rowBytes}}}
	tr.Feed(nil, &machine.Event{Kind: machine.EvIssue, Op: op, PC: 3})
	n := 0
	for _, c := range tr.Conflicts() {
		n += c.Count
	}
	if want := 2; n != want || tr.Conflicts()[0].Span.Addr != 4 {
		t.Errorf("%d conflicts, want %d, lane 1's word and those behind it:\n%+v", n, want, tr.Conflicts())
	}
}

// TestRepeatsOfMemories has one copy write to two memories; a proxy fence covers one of
// them.
func TestRepeatsOfMemories(t *testing.T) {
	tr := New(Config{Shape: machine.Shape{CTAs: 2, Warps: 1, Cluster: 2}})
	own, peer := machine.SharedOf(1), machine.SharedOf(0)
	rows := func(mem machine.MemID) machine.Span { return machine.Span{Mem: mem, Len: 9 * rowBytes} }
	issue := func(cta int32, op machine.Op) {
		op.Kind, op.Proxy, op.Group, op.Seq, op.CTA, op.ID = machine.OpBulkCopy, machine.Async, machine.GroupBulk, 1, cta, int64(cta)
		tr.Feed(nil, &machine.Event{Kind: machine.EvIssue, CTA: cta, Mask: 1, Op: &op})
	}
	issue(0, machine.Op{Writes: []machine.Span{rows(own), rows(peer)}})
	tr.Feed(nil, &machine.Event{Kind: machine.EvGroupWait, Mask: 1, Group: machine.GroupBulk, Done: &[32]uint32{1}})
	for _, k := range []machine.Kind{machine.EvClusterArrive, machine.EvClusterWait} {
		for c := range int32(2) {
			tr.Feed(nil, &machine.Event{Kind: k, CTA: c, Mask: ^uint32(0), Sem: machine.Release + machine.Sem(k-machine.EvClusterArrive), Scope: machine.ScopeCluster})
		}
	}
	tr.Feed(nil, &machine.Event{Kind: machine.EvFence, CTA: 1, Mask: ^uint32(0), Fence: machine.FenceProxyAsync, Space: machine.SpaceSharedCTA})
	issue(1, machine.Op{Reads: []machine.Span{rows(own), rows(peer)}})
	if c := tr.Conflicts(); len(c) != 1 || c[0].Count != 9 || c[0].Span.Mem != peer {
		t.Errorf("want a conflict in each row of the peer's memory: %+v", c)
	}
}

// remembers prints what a Tracker found and its shadow.
func remembers(t *Tracker) string {
	var b strings.Builder
	for _, c := range t.Conflicts() {
		fmt.Fprintf(&b, "%+v\n", c)
	}
	shadows := []*shadow{&t.global}
	for _, c := range t.ctas {
		if c != nil {
			shadows = append(shadows, &c.shared)
		}
	}
	for i, s := range shadows {
		for _, n := range slices.Sorted(maps.Keys(s.pages)) {
			for r := range s.pages[n].rows {
				row := &s.pages[n].rows[r]
				for _, x := range append([]seg{row.one}, row.segs...) {
					if x.write.who == 0 && x.read.who == 0 && x.more == nil {
						continue
					}
					fmt.Fprintf(&b, "%d %d %d: %d %d %v %v", i, n, r, x.off, x.n, x.write, x.read)
					if x.more != nil {
						fmt.Fprint(&b, x.more.list, x.more.writes)
					}
					b.WriteByte('\n')
				}
			}
		}
	}
	return b.String()
}

// runs draws random events.
type runs struct {
	*rand.Rand
	seq map[string]uint32
	id  int64
	gen [2]uint64
	cl  uint64
}

func (g *runs) draw(pc int32) []machine.Event {
	cta, warp := int32(g.IntN(2)), int32(g.IntN(3))
	lane := int8(0)
	if g.IntN(4) == 0 {
		lane = int8(g.IntN(3))
	}
	at := machine.Event{CTA: cta, Warp: warp, Lane: lane, Mask: ^uint32(0), PC: pc, Scope: machine.ScopeCTA}
	switch n := g.IntN(12); {
	case n < 2:
		at.Kind, at.Mem, at.Size, at.Addr = machine.EvAccess, g.memory(cta), 4, new([32]uint64)
		at.Access = []machine.Access{machine.Read, machine.Write, machine.Read | machine.Write | machine.Update}[g.IntN(3)]
		if at.Access&machine.Update != 0 || g.IntN(3) == 0 {
			at.Sem = machine.Relaxed
		}
		from, step := uint64(g.IntN(16)*64), uint64(4)
		if g.IntN(3) == 0 {
			step = 128
		}
		for l := range at.Addr {
			at.Addr[l] = from + uint64(l)*step
		}
		if g.IntN(3) == 0 {
			at.Mask = g.Uint32()
		}
		return []machine.Event{at}
	case n < 7:
		return []machine.Event{g.op(at)}
	case n < 9:
		at.Kind, at.Group, at.Read, at.Done = machine.EvGroupWait, machine.GroupBulk, g.IntN(4) == 0, new([32]uint32)
		if g.IntN(2) == 0 {
			at.Group, at.Read = machine.GroupWgmma, false
		}
		for l := range at.Done {
			at.Done[l] = g.seq[name(at.Group, cta, warp, int8(l))]
		}
		return []machine.Event{at}
	case n < 10:
		at.Kind, at.Fence, at.Space = machine.EvFence, machine.FenceProxyAsync, machine.AllSpaces
		return []machine.Event{at}
	case n < 11:
		return g.all(at, cta, 1, machine.EvBarArrive, machine.EvBarPass, &g.gen[cta])
	}
	return g.all(at, 0, 2, machine.EvClusterArrive, machine.EvClusterWait, &g.cl)
}

// all makes every warp of some CTAs arrive at a barrier and pass it.
func (g *runs) all(at machine.Event, cta, ctas int32, arrive, pass machine.Kind, gen *uint64) []machine.Event {
	var list []machine.Event
	for _, k := range []machine.Kind{arrive, pass} {
		for c := cta; c < cta+ctas; c++ {
			for w := range int32(3) {
				at.Kind, at.CTA, at.Warp, at.Gen = k, c, w, *gen
				at.Sem, at.Scope = machine.Release, machine.ScopeCluster
				if k == pass {
					at.Sem = machine.Acquire
				}
				list = append(list, at)
			}
		}
	}
	*gen++
	return list
}

func (g *runs) memory(cta int32) machine.MemID {
	return []machine.MemID{machine.SharedOf(cta), machine.SharedOf(0), machine.Global}[g.IntN(3)]
}

func name(k machine.Group, cta, warp int32, lane int8) string {
	return fmt.Sprint(k, cta, warp, lane)
}

// op draws an operation: a wgmma that reads tiles, or a copy.
func (g *runs) op(ev machine.Event) machine.Event {
	g.id++
	op := &machine.Op{ID: g.id, CTA: ev.CTA, Warp: ev.Warp, Lane: ev.Lane, PC: ev.PC, Proxy: machine.Async}
	switch g.IntN(5) {
	case 0, 1:
		op.Kind, op.Group, op.Lane = machine.OpWgmma, machine.GroupWgmma, 0
		op.Reads = slices.Concat(g.tile(machine.SharedOf(ev.CTA)), g.tile(machine.SharedOf(ev.CTA)))
	case 2:
		op.Kind, op.Group = machine.OpBulkCopy, machine.GroupBulk
		op.Reads, op.Writes = g.tile(machine.SharedOf(ev.CTA)), g.tile(machine.Global)
	case 3:
		op.Kind, op.Group, op.Element = machine.OpBulkReduce, machine.GroupBulk, 4
		op.Reads, op.Writes = g.tile(machine.SharedOf(ev.CTA)), g.tile(machine.Global)
	case 4:
		op.Kind, op.Group = machine.OpBulkCopy, machine.GroupBulk
		mem := g.memory(ev.CTA)
		op.Writes = g.tile(mem)
		if g.IntN(2) == 0 {
			op.Reads = slices.Concat(g.tile(mem), g.tile([]machine.MemID{mem, g.memory(ev.CTA)}[g.IntN(2)]))
		}
		if g.IntN(2) == 0 {
			op.Group = machine.NoGroup
		}
	}
	if op.Group != machine.NoGroup {
		k := name(op.Group, ev.CTA, ev.Warp, op.Lane)
		g.seq[k]++
		op.Seq = g.seq[k]
	}
	ev.Kind, ev.Op, ev.Lane = machine.EvIssue, op, op.Lane
	return ev
}

// tile draws rows of a tile, the parts of each where the swizzle puts them.
func (g *runs) tile(mem machine.MemID) []machine.Span {
	first, rows := g.IntN(8), 1+g.IntN(16)
	size := []int{16, 32, 32, 64, 128}[g.IntN(5)]
	part, swizzle := g.IntN(128/size), g.IntN(2)
	var list []machine.Span
	for r := first; r < first+rows; r++ {
		at := (part ^ r*swizzle) % (128 / size) * size
		list = append(list, machine.Span{Mem: mem, Addr: uint64(r*128 + at), Len: uint64(size)})
	}
	if g.IntN(5) == 0 {
		return []machine.Span{{Mem: mem, Addr: uint64(first * 128), Len: uint64(rows * 128)}}
	}
	return list
}
