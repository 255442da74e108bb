package brute

import (
	"fmt"
	"strings"
)

// A Launch is the launch of a program's kernel, in the notation of launch.Flags.
type Launch struct {
	Grid, Block, Cluster string
	Buffers, Args        []string
}

// Launch returns the program's launch. Buffer data has the global slots of 16 bytes,
// buffer out the value that each operation loaded.
func (p *Program) Launch() Launch {
	l := Launch{Grid: "1", Block: fmt.Sprint(32 * len(p.Threads)), Cluster: "1", Args: []string{"data", "out"}}
	switch p.Place {
	case Lanes:
		l.Block = "32"
	case Grid:
		l.Grid, l.Block = "2", fmt.Sprint(32*((len(p.Threads)+1)/2))
	case Cluster:
		l.Grid, l.Cluster, l.Block = "2", "2", fmt.Sprint(32*((len(p.Threads)+1)/2))
	}
	var data []string
	for s := FirstGlob; s < Slots; s++ {
		for k := range 4 {
			v := int(initial(s))
			if k > 0 {
				v = 1000*s + k
			}
			data = append(data, fmt.Sprint(v))
		}
	}
	l.Buffers = []string{`data={"type": "u32", "values": [` + strings.Join(data, ", ") + `]}`, fmt.Sprintf("out=u32[%d]:zeros", MaxOps)}
	return l
}

func scopeOf(slot uint8) string {
	if slot < FirstGlob {
		return "cta"
	}
	return "gpu"
}

type emitter struct {
	strings.Builder
	p      *Program
	labels int
	only   string // a guard that leaves the instruction to lane 0
	skip   string // the label of a WaitPeek that is to come
	lines  []int  // the operation that each line belongs to, -1 for none
	at     int    // the offset up to which lines has entries
}

// belong assigns the lines written since the last call to an operation.
func (e *emitter) belong(op int) {
	for range strings.Count(e.String()[e.at:], "\n") {
		e.lines = append(e.lines, op)
	}
	e.at = e.Len()
}

// width returns how many lanes arrive for a thread.
func (p *Program) width() int {
	if p.Place == Wide {
		return 32
	}
	return 1
}

// one reports whether lane 0 of a whole warp does an operation alone.
func (o Op) one() bool {
	switch o.Kind {
	case Arrive, ArriveToken, WaitToken, Drop, Wait, Peek, WaitPeek, Sync, BarArrive, ClusterArrive, ClusterWait, NoIncrement, ArriveExpect:
		return false
	}
	return true
}

func (e *emitter) line(format string, args ...any) {
	fmt.Fprintf(e, "\t"+format+"\n", args...)
}

// PTX writes the program as a kernel.
func (p *Program) PTX() string {
	text, _ := p.Kernel()
	return text
}

// Kernel is PTX, and returns the operation of each line: operations are counted
// thread by thread; -1 for none.
func (p *Program) Kernel() (text string, lines []int) {
	e := &emitter{p: p}
	target := "sm_90a"
	if p.has(Arrival) {
		target = "sm_100a"
	}
	fmt.Fprintf(e, `.version 8.6
.target %s
.address_size 64

.visible .entry kernel(.param .u64 data, .param .u64 out)
{
	.shared .align 128 .b8 slots[64];
	.shared .align 8 .b64 bars[4];
	.reg .pred %%p<8>;
	.reg .pred %%q<%d>;
	.reg .b32 %%r<12>;
	.reg .b32 %%v<%d>;
	.reg .b64 %%rd<3>;
	.reg .b64 %%t<4>;
	ld.param.u64 %%rd1, [data];
	ld.param.u64 %%rd2, [out];
	mov.u32 %%r1, %%tid.x;
	mov.u32 %%r2, slots;
	mov.u32 %%r3, bars;
	mov.u32 %%r4, %%ctaid.x;
	setp.ne.u32 %%p1, %%r1, 0;
	@%%p1 bra READY;
`, target, 2*p.Size()+1, p.Size()+1)
	for b, c := range p.Counts {
		e.line("mbarrier.init.shared::cta.b64 [%%r3+%d], %d;", 8*b, int(c)*p.width())
	}
	for s := range FirstGlob {
		e.line("st.shared.v4.u32 [%%r2+%d], {%d, %d, %d, %d};", 16*s, initial(s), 1000*s+1, 1000*s+2, 1000*s+3)
	}
	if p.Place == Cluster {
		e.line("fence.mbarrier_init.release.cluster;")
	}
	e.line("fence.proxy.async;")
	e.WriteString("READY:\n")
	switch p.Place {
	case Cluster:
		e.line("barrier.cluster.arrive.aligned;")
		e.line("barrier.cluster.wait.aligned;")
	default:
		e.line("bar.sync 0;")
	}
	e.line("fence.proxy.async;")
	if p.Place == Lanes {
		e.line("mov.u32 %%r5, %%r1;")
	} else {
		e.line("and.b32 %%r6, %%r1, 31;")
		e.line("setp.ne.u32 %%p2, %%r6, 0;")
		switch {
		case p.Place == Wide:
		case p.Spin == 0:
			e.line("@%%p2 exit;")
		default:
			e.line("@%%p2 bra END;") // and leave with lane 0, or before it
		}
		e.line("shr.u32 %%r5, %%r1, 5;")
		if p.Place == Cluster || p.Place == Grid {
			e.line("mad.lo.u32 %%r5, %%r5, 2, %%r4;")
		}
	}
	if p.Place == Lanes && p.Join > 0 {
		e.part("A", 0, int(p.Join))
		e.part("B", int(p.Join), MaxOps)
	} else {
		e.part("A", 0, MaxOps)
	}
	e.WriteString("END:\n\tret;\n}\n")
	e.belong(-1)
	return e.String(), e.lines
}

// part writes some operations of every thread, after which the threads meet.
func (e *emitter) part(name string, from, to int) {
	for t := range e.p.Threads {
		e.line("setp.eq.u32 %%p3, %%r5, %d;", t)
		e.line("@%%p3 bra %s%d;", name, t)
	}
	e.line("bra %sEND;", name)
	n := 0
	for t, ops := range e.p.Threads {
		fmt.Fprintf(e, "%s%d:\n", name, t)
		skipped := 0 // operations until the label of a WaitPeek
		for i, o := range ops {
			if i >= from && i < to {
				e.only = ""
				e.belong(-1)
				if e.p.Place == Wide {
					e.line("bar.warp.sync -1;")
					if o.one() {
						e.only = "@!%%p2 "
					}
				}
				e.belong(-1)
				e.op(t, n+i, o)
				switch {
				case o.Kind == WaitPeek:
					skipped = e.p.skips(t, i)
				case skipped > 0:
					skipped--
				}
				if skipped == 0 && e.skip != "" {
					e.WriteString(e.skip + ":\n")
					e.skip = ""
				}
				e.belong(n + i)
			}
		}
		if from < len(ops) && len(ops) <= to || from == 0 && len(ops) == 0 {
			if e.p.Place == Wide {
				e.only = "@!%%p2 "
			}
			e.results(n, ops)
		}
		n += len(ops)
		e.line("bra %sEND;", name)
	}
	fmt.Fprintf(e, "%sEND:\n", name)
}

// results stores what a thread loaded.
func (e *emitter) results(n int, ops []Op) {
	for i, o := range ops {
		if o.Kind == Load {
			e.line(e.only+"st.global.u32 [%%rd2+%d], %%v%d;", 4*(n+i), n+i)
		}
	}
}

func (e *emitter) label() string {
	e.labels++
	return fmt.Sprint("L", e.labels)
}

// at returns the address of a slot or a barrier.
func at(slot uint8) string {
	if slot < FirstGlob {
		return fmt.Sprintf("[%%r2+%d]", 16*slot)
	}
	return fmt.Sprintf("[%%rd1+%d]", 16*(slot-FirstGlob))
}

func space(slot uint8) string {
	if slot < FirstGlob {
		return "shared::cta"
	}
	return "global"
}

func (e *emitter) op(t, n int, o Op) {
	b := fmt.Sprintf("[%%r3+%d]", 8*o.Bar)
	switch o.Kind {
	case Arrive:
		if e.p.home(t) != e.p.barHome(o.Bar) {
			e.line("add.u32 %%r7, %%r3, %d;", 8*o.Bar)
			e.line("mapa.shared::cluster.u32 %%r7, %%r7, %d;", e.p.barHome(o.Bar))
			e.line("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%%r7];")
			return
		}
		e.line("mbarrier.arrive%s.shared::cta.b64 _, %s;", e.scope("release"), b)
	case ArriveToken:
		e.line("mbarrier.arrive%s.shared::cta.b64 %%t%d, %s;", e.scope("release"), o.Bar, b)
	case WaitToken:
		l := e.label()
		e.WriteString(l + ":\n")
		e.line("mbarrier.try_wait%s.shared::cta.b64 %%q%d, %s, %%t%d;", e.scope("acquire"), e.labels, b, o.Bar)
		e.line("@!%%q%d bra %s;", e.labels, l)
	case LoadStrong:
		e.line(e.only+"ld.relaxed.%s.%s.u32 %%r11, %s;", scopeOf(o.Slot), space(o.Slot), at(o.Slot))
	case StoreStrong:
		e.line(e.only+"st.relaxed.%s.%s.u32 %s, %d;", scopeOf(o.Slot), space(o.Slot), at(o.Slot), o.N)
	case Drop:
		e.line("mbarrier.arrive_drop%s.shared::cta.b64 _, %s;", e.scope("release"), b)
	case ArriveExpect:
		if e.p.Place == Wide {
			e.line("@%%p2 mbarrier.arrive.shared::cta.b64 _, %s;", b)
			e.line("@!%%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, %s, %d;", b, o.N)
			return
		}
		e.line("mbarrier.arrive.expect_tx%s.shared::cta.b64 _, %s, %d;", e.scope("release"), b, o.N)
	case Expect:
		e.line(e.only+"mbarrier.expect_tx.relaxed.cta.shared::cta.b64 %s, %d;", b, o.N)
	case Copy:
		e.line(e.only+"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes %s, %s, %d, %s;", at(o.Slot), at(o.Src), o.bytes(), b)
	case CopyAsync:
		e.line(e.only+"cp.async.cg.shared.global %s, %s, 16;", at(o.Slot), at(o.Src))
	case Increment:
		e.line(e.only+"cp.async.mbarrier.arrive.shared::cta.b64 %s;", b)
	case NoIncrement:
		e.line("cp.async.mbarrier.arrive.noinc.shared::cta.b64 %s;", b)
	case Wait:
		e.wait(b, o.N)
	case Peek:
		e.test("%p5", b, o.N)
	case WaitPeek:
		l := e.label()
		switch e.labels % 3 { // beside a predicate that is never true, and one that is always
		case 0:
			e.line("@%%p5 bra %s;", l)
		case 1:
			e.line("setp.gt.u32 %%p6, %%r1, 4096;")
			e.line("or.pred %%p6, %%p6, %%p5;")
			e.line("@%%p6 bra %s;", l)
		default:
			e.line("not.pred %%p6, %%p5;")
			e.line("setp.le.u32 %%p7, %%r1, 4096;")
			e.line("and.pred %%p6, %%p6, %%p7;")
			e.line("@!%%p6 bra %s;", l)
		}
		e.wait(b, o.N)
		e.skip = l
	case Sync:
		e.line("bar.sync %d, %d;", o.Bar+1, 32*o.N)
	case BarArrive:
		e.line("bar.arrive %d, %d;", o.Bar+1, 32*o.N)
	case ClusterArrive:
		e.line("barrier.cluster.arrive;")
	case ClusterWait:
		e.line("barrier.cluster.wait;")
	case Load:
		e.line(e.only+"ld.%s.u32 %%v%d, %s;", space(o.Slot), n, at(o.Slot))
		e.line(e.only+"mov.u32 %%r10, %%v%d;", n)
	case Store:
		if o.N == 0 {
			e.line(e.only+"st.%s.u32 %s, %%r10;", space(o.Slot), at(o.Slot))
		} else {
			e.line(e.only+"st.%s.u32 %s, %d;", space(o.Slot), at(o.Slot), o.N)
		}
	case Add:
		e.line(e.only+"red.relaxed.gpu.global.add.u32 %s, %d;", at(o.Slot), o.N)
	case Max:
		e.line(e.only+"red.relaxed.gpu.global.max.u32 %s, %d;", at(o.Slot), o.N)
	case StoreAll:
		e.line(e.only+"cp.async.bulk.global.shared::cta.bulk_group %s, %s, 16;", at(o.Slot), at(o.Src))
	case AddAll:
		e.line(e.only+"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 %s, %s, 16;", at(o.Slot), at(o.Src))
	case MaxAll:
		e.line(e.only+"cp.reduce.async.bulk.global.shared::cta.bulk_group.max.u32 %s, %s, 16;", at(o.Slot), at(o.Src))
	case Commit:
		e.line(e.only + "cp.async.bulk.commit_group;")
	case WaitGroup:
		e.line(e.only+"cp.async.bulk.wait_group %d;", o.N)
	case WaitRead:
		e.line(e.only+"cp.async.bulk.wait_group.read %d;", o.N)
	case Fence:
		e.line(e.only + "fence.proxy.async;")
	case Arrival:
		e.line("add.u32 %%r7, %%r3, %d;", 8*o.Bar)
		if e.p.home(t) != e.p.barHome(o.Bar) {
			e.line("mapa.shared::cluster.u32 %%r7, %%r7, %d;", e.p.barHome(o.Bar))
		}
		e.line(e.only + "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%%r7];")
	}
}

func (e *emitter) scope(sem string) string {
	if e.p.Place == Cluster {
		return "." + sem + ".cluster"
	}
	return ""
}

func (e *emitter) test(pred, b string, parity uint8) {
	name := "try_wait"
	if e.p.Spin == 1 {
		name = "test_wait"
	}
	e.line("mbarrier.%s.parity%s.shared::cta.b64 %s, %s, %d;", name, e.scope("acquire"), pred, b, parity)
}

// wait writes a loop, in one of three forms. Each has registers of its own, as in
// compiled code.
func (e *emitter) wait(b string, parity uint8) {
	l := e.label()
	p := fmt.Sprintf("%%q%d", e.labels)
	if e.p.Spin == 2 {
		e.line("mov.u32 %%r8, 0;")
		e.WriteString(l + ":\n")
		e.test(p, b, parity)
		done := e.label()
		e.line("@%s bra %s;", p, done)
		e.line("add.u32 %%r8, %%r8, 1;")
		e.line("setp.lt.u32 %%p6, %%r8, 1000000;")
		e.line("@%%p6 bra %s;", l)
		e.line("trap;")
		e.WriteString(done + ":\n")
		return
	}
	e.WriteString(l + ":\n")
	e.test(p, b, parity)
	e.line("@!%s bra %s;", p, l)
}
