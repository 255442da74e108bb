package axiom_test

import (
	"encoding/binary"
	"fmt"
	"strings"

	"muster/internal/axiom"
	"muster/internal/tma"
)

// A listing is a litmus test as PTX. Each operation stands on a line of its
// own, so that a conflict's program counters name operations.
type listing struct {
	p     *axiom.Program
	b     strings.Builder
	line  int
	ops   map[int]axiom.Access // by line
	warps int                  // a CTA
}

// firstRead is the register of a thread's first operation; those before it hold
// addresses.
const firstRead = 12

func emit(p *axiom.Program) *listing {
	l := &listing{p: p, ops: map[int]axiom.Access{}}
	longest, wide := 0, 0
	for _, th := range p.Threads {
		l.warps = max(l.warps, th.Warp+1)
		longest = max(longest, len(th.Ops))
		for i := range th.Ops {
			if th.Ops[i].Size == 8 {
				wide = 1
			}
		}
	}
	l.put(".version 8.8\n.target sm_90a\n.address_size 64\n.global .align 128 .b8 gm[128];")
	if usesMap(p) {
		l.put(".global .align 128 .b64 tm[16] = {%s};", tensorMap)
	}
	l.put(".visible .entry litmus()\n{")
	l.put(".reg .pred %%p<33>;\n.reg .b32 %%r<%d>;\n.reg .b64 %%rd<%d>;\n.shared .align 128 .b8 sm[128];\n.shared .align 8 .b8 mb[64];", firstRead+longest, 2+longest*wide)
	l.put("mov.u32 %%r0, %%tid.x;\nmov.u32 %%r1, %%ctaid.x;\nmad.lo.u32 %%r0, %%r1, 1024, %%r0;\nmov.u64 %%rd0, gm;\nmov.u32 %%r1, sm;\nmov.u32 %%r2, mb;")
	for c := range p.ClusterSize {
		l.put("mapa.shared::cluster.u32 %%r%d, %%r1, %d;\nmapa.shared::cluster.u32 %%r%d, %%r2, %d;", 4+2*c, c, 5+2*c, c)
	}
	for t, th := range p.Threads {
		l.put("setp.eq.u32 %%p32, %%r0, %d;\n@%%p32 bra T%d;", th.CTA*1024+th.Warp*32+th.Lane, t)
	}
	l.put("exit;")
	for t := range p.Threads {
		l.thread(t)
	}
	l.put("}")
	return l
}

func usesMap(p *axiom.Program) bool {
	for _, th := range p.Threads {
		for _, o := range th.Ops {
			if o.Map || o.Kind == axiom.MapReplace || o.Kind == axiom.MapAcquire {
				return true
			}
		}
	}
	return false
}

// tensorMap is a map over gm as 128 bytes, in boxes of 16. Its first word is the
// address.
var tensorMap = func() string {
	m := tma.Map{Type: tma.U8, Rank: 1, Dims: [5]uint64{128}, Box: [5]uint32{16}, ElementStrides: [5]uint32{1}, Address: 1 << 20}
	b, err := m.Encode()
	if err != nil {
		panic(err)
	}
	words := []string{"gm"}
	for i := 8; i < len(b); i += 8 {
		words = append(words, fmt.Sprint(binary.LittleEndian.Uint64(b[i:])))
	}
	return strings.Join(words, ", ")
}()

func (l *listing) put(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.b.WriteString(text)
	l.b.WriteByte('\n')
	l.line += 1 + strings.Count(text, "\n")
}

func (l *listing) thread(t int) {
	l.put("T%d:", t)
	th := &l.p.Threads[t]
	l.prologue(t)
	for i := range th.Ops {
		o := &th.Ops[i]
		guard := ""
		if g := o.Guard; g != nil {
			guard = fmt.Sprintf("@%%p%d ", i)
			if th.Ops[g.Read].Guard != nil {
				l.put("setp.eq.and.u32 %%p%d, %%r%d, %d, %%p%d;", i, firstRead+g.Read, g.Value, g.Read)
			} else {
				l.put("setp.eq.u32 %%p%d, %%r%d, %d;", i, firstRead+g.Read, g.Value)
			}
		}
		if o.Kind == axiom.MbarWait {
			l.put("L%d_%d:", t, i)
		}
		l.ops[l.line+1] = axiom.Access{Thread: t, Op: i}
		l.put("%s%s;", guard, l.instr(t, i, o))
		switch {
		case o.Kind == axiom.MbarWait:
			l.put("@!%%p%d bra L%d_%d;", i, t, i)
		case o.Kind == axiom.BulkStore || o.Kind == axiom.BulkReduce:
			l.put("cp.async.bulk.commit_group;")
		case o.Kind == axiom.CpAsync:
			l.put("cp.async.commit_group;")
		case o.Size == 8 && (o.Kind == axiom.Load || o.Kind == axiom.Exch || o.Kind == axiom.Add):
			l.put("cvt.u32.u64 %%r%d, %%rd%d;", firstRead+i, 2+i)
		}
	}
	l.put("exit;")
}

// mbarriers returns, by CTA and number, how many arrivals and bytes the phase
// of each mbarrier waits for.
func mbarriers(p *axiom.Program) map[[2]int][2]int {
	m := map[[2]int][2]int{}
	for _, th := range p.Threads {
		for _, o := range th.Ops {
			k := [2]int{o.Home, o.Bar}
			v := m[k]
			switch o.Kind {
			case axiom.MbarArrive, axiom.CpAsyncArrive:
				v[0]++
			case axiom.BulkLoad:
				for i := range p.ClusterSize {
					if o.Mask>>i&1 != 0 {
						k[0] = th.CTA/p.ClusterSize*p.ClusterSize + i
						v = m[k]
						m[k] = [2]int{v[0], v[1] + 16}
					}
				}
				if o.Mask != 0 {
					continue
				}
				v[1] += 16
			case axiom.MbarWait:
			default:
				continue
			}
			m[k] = v
		}
	}
	return m
}

// prologue initializes the mbarriers, and lets all threads that can reach them
// know. An arrival of its own, with the bytes to expect, keeps the phase of a
// barrier that only copies signal from needing none.
func (l *listing) prologue(t int) {
	bars := mbarriers(l.p)
	if len(bars) == 0 {
		return
	}
	th := &l.p.Threads[t]
	warps := map[int]bool{}
	first := true
	for u, x := range l.p.Threads {
		if x.CTA == th.CTA {
			warps[x.Warp] = true
			first = first && u >= t
		}
	}
	for n := range 8 {
		v, ok := bars[[2]int{th.CTA, n}]
		if !first || !ok {
			continue
		}
		l.put("mbarrier.init.shared::cta.b64 [mb+%d], %d;", 8*n, v[0]+1)
		l.put("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [mb+%d], %d;", 8*n, v[1])
	}
	if l.p.ClusterSize > 1 {
		l.put("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;")
	} else {
		l.put("barrier.sync 15, %d;", 32*len(warps))
	}
}

var semNames = map[axiom.Sem]string{
	axiom.Relaxed: ".relaxed", axiom.Acquire: ".acquire", axiom.Release: ".release", axiom.AcqRel: ".acq_rel", axiom.SC: ".sc",
	axiom.Volatile: ".volatile",
}

var scopeNames = map[axiom.Scope]string{axiom.CTA: ".cta", axiom.Cluster: ".cluster", axiom.GPU: ".gpu", axiom.Sys: ".sys"}

func (l *listing) sem(o *axiom.Op) string {
	if o.Sem == axiom.Weak || o.Sem == axiom.Volatile {
		return semNames[o.Sem]
	}
	return semNames[o.Sem] + scopeNames[o.Scope]
}

// at writes a location with its state space.
func (l *listing) at(t int, x axiom.Loc) (space, addr string) {
	switch own := l.p.Threads[t].CTA; {
	case !x.Shared:
		return ".global", fmt.Sprintf("[%%rd0+%d]", 16*x.N)
	case x.CTA == own:
		return ".shared::cta", fmt.Sprintf("[%%r1+%d]", 16*x.N)
	}
	return ".shared::cluster", fmt.Sprintf("[%%r%d+%d]", 4+2*(x.CTA%l.p.ClusterSize), 16*x.N)
}

func (l *listing) mbar(t int, o *axiom.Op) (space, addr string) {
	if o.Home == l.p.Threads[t].CTA {
		return ".shared::cta", fmt.Sprintf("[%%r2+%d]", 8*o.Bar)
	}
	return ".shared::cluster", fmt.Sprintf("[%%r%d+%d]", 5+2*(o.Home%l.p.ClusterSize), 8*o.Bar)
}

// barrierThreads counts the threads that a named barrier waits for: whole
// warps.
func (l *listing) barrierThreads(t, bar int) int {
	warps := map[int]bool{}
	for _, th := range l.p.Threads {
		for _, o := range th.Ops {
			if th.CTA == l.p.Threads[t].CTA && (o.Kind == axiom.BarSync || o.Kind == axiom.BarArrive) && o.Bar == bar {
				warps[th.Warp] = true
			}
		}
	}
	return 32 * len(warps)
}

func (l *listing) warpMask(t int) uint32 {
	m := uint32(0)
	for _, th := range l.p.Threads {
		if th.CTA == l.p.Threads[t].CTA && th.Warp == l.p.Threads[t].Warp {
			m |= 1 << th.Lane
		}
	}
	return m
}

func (l *listing) instr(t, i int, o *axiom.Op) string {
	space, addr := l.at(t, o.Loc)
	_, src := l.at(t, o.Src)
	typ, reg := "32", fmt.Sprintf("%%r%d", firstRead+i)
	if o.Size == 8 {
		typ, reg = "64", fmt.Sprintf("%%rd%d", 2+i)
	}
	switch o.Kind {
	case axiom.Load:
		return fmt.Sprintf("ld%s%s.u%s %s, %s", l.sem(o), space, typ, reg, addr)
	case axiom.Store:
		return fmt.Sprintf("st%s%s.u%s %s, %d", l.sem(o), space, typ, addr, o.Value)
	case axiom.Exch:
		return fmt.Sprintf("atom%s%s.exch.b%s %s, %s, %d", l.sem(o), space, typ, reg, addr, o.Value)
	case axiom.Add:
		return fmt.Sprintf("atom%s%s.add.u%s %s, %s, %d", l.sem(o), space, typ, reg, addr, o.Value)
	case axiom.Red:
		return fmt.Sprintf("red%s%s.add.u%s %s, %d", l.sem(o), space, typ, addr, o.Value)
	case axiom.Fence:
		return "fence" + l.sem(o)
	case axiom.SharedFence:
		if o.Sem == axiom.Acquire {
			return "fence.acquire.sync_restrict::shared::cluster.cluster"
		}
		return "fence.release.sync_restrict::shared::cta.cluster"
	case axiom.ProxyFence:
		switch o.Sem {
		case axiom.Acquire:
			return "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster"
		case axiom.Release:
			return "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster"
		}
		return "fence.proxy.async" + map[axiom.Space]string{axiom.SpaceGlobal: ".global", axiom.SpaceSharedCTA: ".shared::cta", axiom.SpaceSharedCluster: ".shared::cluster"}[o.Space]
	case axiom.AliasFence:
		return "fence.proxy.alias"
	case axiom.MapReplace:
		return "tensormap.replace.tile.global_address.global.b1024.b64 [tm], %rd0"
	case axiom.MapRelease:
		return "fence.proxy.tensormap::generic.release" + scopeNames[o.Scope]
	case axiom.MapAcquire:
		return fmt.Sprintf("fence.proxy.tensormap::generic.acquire%s [tm], 128", scopeNames[o.Scope])
	}
	return l.barrier(t, i, o, addr, src)
}

func (l *listing) barrier(t, i int, o *axiom.Op, addr, src string) string {
	space, mbar := l.mbar(t, o)
	sem := ""
	if o.Scope != axiom.Defaulted {
		sem = l.sem(o)
	}
	switch o.Kind {
	case axiom.BarSync:
		return fmt.Sprintf("barrier.sync %d, %d", o.Bar, l.barrierThreads(t, o.Bar))
	case axiom.BarArrive:
		return fmt.Sprintf("barrier.arrive %d, %d", o.Bar, l.barrierThreads(t, o.Bar))
	case axiom.WarpSync:
		return fmt.Sprintf("bar.warp.sync %d", l.warpMask(t))
	case axiom.ClusterArrive:
		return "barrier.cluster.arrive" + semNames[o.Sem]
	case axiom.ClusterWait:
		return "barrier.cluster.wait.acquire"
	case axiom.MbarArrive:
		return fmt.Sprintf("mbarrier.arrive%s%s.b64 _, %s", sem, space, mbar)
	case axiom.MbarWait:
		return fmt.Sprintf("mbarrier.try_wait.parity%s%s.b64 %%p%d, %s, 0", sem, space, i, mbar)
	case axiom.BulkLoad:
		multi, mask := "", ""
		if o.Mask != 0 {
			multi, mask = ".multicast::cluster", fmt.Sprintf(", %d", o.Mask)
		}
		if o.Map {
			return fmt.Sprintf("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes%s %s, [tm, {%d}], %s%s", multi, addr, 16*o.Src.N, mbar, mask)
		}
		if o.Mask != 0 {
			return fmt.Sprintf("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes%s %s, %s, 16, %s%s", multi, addr, src, mbar, mask)
		}
		from := ".global"
		if o.Src.Shared {
			from = ".shared::cta"
		}
		return fmt.Sprintf("cp.async.bulk.shared::cluster%s.mbarrier::complete_tx::bytes %s, %s, 16, %s", from, addr, src, mbar)
	case axiom.BulkStore:
		return fmt.Sprintf("cp.async.bulk.global.shared::cta.bulk_group %s, %s, 16", addr, src)
	case axiom.BulkReduce:
		return fmt.Sprintf("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 %s, %s, 16", addr, src)
	case axiom.BulkWait:
		if o.Read {
			return fmt.Sprintf("cp.async.bulk.wait_group.read %d", o.N)
		}
		return fmt.Sprintf("cp.async.bulk.wait_group %d", o.N)
	case axiom.CpAsync:
		return fmt.Sprintf("cp.async.cg.shared.global %s, %s, 16", addr, src)
	case axiom.CpAsyncArrive:
		return fmt.Sprintf("cp.async.mbarrier.arrive.noinc.shared::cta.b64 %s", mbar)
	case axiom.CpAsyncWait:
		return fmt.Sprintf("cp.async.wait_group %d", o.N)
	}
	panic(fmt.Sprintf("BUG: no instruction for kind %d", o.Kind))
}
