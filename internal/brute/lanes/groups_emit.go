package lanes

import (
	"fmt"
	"strings"
)

// Launch returns the program's launch: buffer in has what copies bring, buffer out two
// words of each thread.
func (g *Group) Launch() Launch {
	var in []string
	for c := range 8 {
		in = append(in, fmt.Sprint(copied(c, 0)), fmt.Sprint(copied(c, 1)), "0", "0")
	}
	return Launch{
		Grid: "1", Block: fmt.Sprint(32 * g.Warps), Cluster: "1", Args: []string{"in", "out"},
		Buffers: []string{`in={"type": "u32", "values": [` + strings.Join(in, ", ") + `]}`, fmt.Sprintf("out=u32[%d]:zeros", 2*GroupThreads)},
	}
}

// counter is the offset of the counter in shared memory.
const counter = 3072

// copied is the i-th word of what copy c brings.
func copied(c, i int) uint8 { return uint8(200 + 2*c + i) }

// A groupEmitter writes a Group as a kernel. %r5 is the lane, %r6 the warp, %r7 the
// thread's bit, %r8 the warp's bits.
type groupEmitter struct {
	strings.Builder
	g      *Group
	labels int
	copies int
}

func (e *groupEmitter) line(format string, args ...any) { fmt.Fprintf(e, "\t"+format+"\n", args...) }

// PTX writes the program as a kernel.
func (g *Group) PTX() string {
	e := &groupEmitter{g: g}
	e.WriteString(`.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 in, .param .u64 out)
{
	.shared .align 1024 .b8 ring[8192]; // two stages: 2048 bytes of A, 256 of B, and others; 4096 apart
	.shared .align 8 .b64 bars[4];
	.reg .pred %p<8>;
	.reg .b32 %r<16>;
	.reg .f32 %f<6>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, ring;
	mov.u32 %r3, bars;
	mov.u32 %r4, 0;
	setp.ge.u32 %p1, %r1, 128;
	@%p1 bra READY;
	shl.b32 %r9, %r1, 6;
	add.u32 %r9, %r9, %r2;
	st.shared.v4.u32 [%r9], {%r4, %r4, %r4, %r4};
	st.shared.v4.u32 [%r9+16], {%r4, %r4, %r4, %r4};
	st.shared.v4.u32 [%r9+32], {%r4, %r4, %r4, %r4};
	st.shared.v4.u32 [%r9+48], {%r4, %r4, %r4, %r4};
	setp.ne.u32 %p1, %r1, 0;
`)
	for b, n := range g.Counts {
		e.line("@!%%p1 mbarrier.init.shared::cta.b64 [%%r3+%d], %d;", 8*b, n)
	}
	e.WriteString(`	fence.proxy.async;
READY:
	bar.sync 0;
	and.b32 %r5, %r1, 31;
	shr.u32 %r6, %r1, 5;
	shl.b32 %r9, %r6, 1;
	mov.u32 %r8, 3;
	shl.b32 %r8, %r8, %r9;
	add.u32 %r9, %r9, %r5;
	mov.u32 %r7, 1;
	shl.b32 %r7, %r7, %r9;
`)
	e.line("setp.ge.u32 %%p2, %%r5, %d;", g.Lanes)
	e.WriteString(`	@%p2 mov.u32 %r7, 0;
	mov.u32 %r10, 0;
	mov.f32 %f1, 0f00000000;
	mov.f32 %f2, 0f00000000;
	mov.f32 %f3, 0f00000000;
	mov.f32 %f4, 0f00000000;
`)
	if len(g.Fifth) > 0 {
		e.line("setp.eq.u32 %%p3, %%r6, 4;")
		e.line("@%%p3 bra FIFTH;")
	}
	for _, o := range g.Ops {
		e.op(o, false)
	}
	if len(g.Fifth) > 0 {
		e.line("bra END;")
		e.WriteString("FIFTH:\n")
		for _, o := range g.Fifth {
			e.op(o, true)
		}
	}
	e.WriteString(`END:
	setp.eq.u32 %p4, %r7, 0;
	@%p4 bra DONE;
	mul.f32 %f1, %f1, 0f57800000; // the words are subnormal: 2^-24, and their products 2^-48
	cvt.rzi.u32.f32 %r11, %f1;
	setp.ne.u32 %p5, %r5, 0;
	@%p5 mov.u32 %r11, 0;
	shl.b32 %r9, %r6, 1;
	add.u32 %r9, %r9, %r5;
	mul.wide.u32 %rd3, %r9, 8;
	add.u64 %rd3, %rd2, %rd3;
	st.global.u32 [%rd3], %r10;
	st.global.u32 [%rd3+4], %r11;
DONE:
	ret;
}
`)
	return e.String()
}

// guard sets %p4 for the threads of an operation, by their bits in a register.
func (e *groupEmitter) guard(o GroupOp, bits string) {
	e.line("and.b32 %%r9, %s, %d;", bits, o.Who)
	e.line("setp.ne.u32 %%p4, %%r9, 0;")
}

func (e *groupEmitter) label() string {
	e.labels++
	return fmt.Sprint("L", e.labels)
}

func (e *groupEmitter) op(o GroupOp, fifth bool) {
	if o.joins() {
		e.join(o, fifth)
		return
	}
	e.guard(o, "%r7")
	if o.When > 0 {
		e.line("setp.eq.and.u32 %%p4, %%r10, %d, %%p4;", o.When-1)
	}
	only, end := "@%%p4 ", ""
	if e.g.Branch || o.Kind == GroupWait || o.Kind == GroupPoll {
		only, end = "", e.label()
		e.line("@!%%p4 bra %s;", end)
	}
	bar := fmt.Sprintf("[%%r3+%d]", 8*o.Bar)
	switch o.Kind {
	case GroupStore:
		at := e.address(o)
		e.line("shl.b32 %%r12, %%r6, 1;")
		e.line("add.u32 %%r12, %%r12, %%r5;")
		e.line("add.u32 %%r12, %%r12, %d;", o.N)
		e.line(only+"st.shared.u32 %s, %%r12;", at)
	case GroupLoad:
		e.line(only+"ld.shared.u32 %%r10, %s;", e.address(o))
	case ProxyFence:
		e.line(only + "fence.proxy.async;")
	case GroupAdd:
		e.line(only+"red.release.cta.shared.add.u32 [%%r2+%d], 1;", counter)
	case GroupTicket:
		e.line(only+"atom.acq_rel.cta.shared.add.u32 %%r10, [%%r2+%d], 1;", counter)
	case GroupPoll:
		l := e.label()
		e.WriteString(l + ":\n")
		e.line("ld.acquire.cta.shared.u32 %%r15, [%%r2+%d];", counter)
		e.line("setp.lt.u32 %%p6, %%r15, %d;", o.N)
		e.line("@%%p6 bra %s;", l)
	case GroupArrive:
		e.line(only+"mbarrier.arrive.shared::cta.b64 _, %s;", bar)
	case GroupArriveTx:
		e.line(only+"mbarrier.arrive.expect_tx.shared::cta.b64 _, %s, %d;", bar, 16*int(o.N))
	case GroupWait:
		l := e.label()
		e.WriteString(l + ":\n")
		e.line("mbarrier.try_wait.parity.shared::cta.b64 %%p6, %s, %d;", bar, o.N)
		e.line("@!%%p6 bra %s;", l)
	case GroupBulk:
		e.line(only+"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes %s, [%%rd1+%d], 16, %s;", e.address(o), 16*e.copies, bar)
		e.copies++
	}
	if end != "" {
		e.WriteString(end + ":\n")
	}
}

// address computes the address of an operation's word.
func (e *groupEmitter) address(o GroupOp) string {
	at := 4096*int(o.Stage) + [...]int{0, 512, 1024, 1536, 2048, 2304, 0}[o.Part]
	e.line("mov.u32 %%r13, %%r2;")
	if o.Part == PartOwn {
		e.line("mad.lo.u32 %%r13, %%r6, 512, %%r13;")
	}
	switch o.Index {
	case IndexLane:
		e.line("mad.lo.u32 %%r13, %%r5, 4, %%r13;")
	case IndexWarp:
		e.line("and.b32 %%r14, %%r6, 3;")
		e.line("mad.lo.u32 %%r13, %%r14, 4, %%r13;")
	default:
		at += 4 * int(o.Index)
	}
	return fmt.Sprintf("[%%r13+%d]", at)
}

// join writes what all lanes of a warp execute.
func (e *groupEmitter) join(o GroupOp, fifth bool) {
	end := ""
	if o.Who != e.g.all(fifth) {
		end = e.label()
		e.guard(o, "%r8")
		e.line("@!%%p4 bra %s;", end)
	}
	switch o.Kind {
	case GroupSync:
		e.line("bar.sync %d, %d;", o.Bar+1, 32*int(o.N))
	case GroupWarpSync:
		e.line("bar.warp.sync -1;")
	case Fence:
		e.line("wgmma.fence.sync.aligned;")
	case Multiply:
		e.descriptor("%rd5", 4096*int(o.Stage))
		e.descriptor("%rd6", 4096*int(o.StageB)+2048)
		e.line("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%%f1, %%f2, %%f3, %%f4}, %%rd5, %%rd6, 1, 1, 1, 0, 0;")
	case Commit:
		e.line("wgmma.commit_group.sync.aligned;")
	case WaitGroup:
		e.line("wgmma.wait_group.sync.aligned %d;", o.N)
	}
	if end != "" {
		e.WriteString(end + ":\n")
	}
}

// descriptor computes that of a matrix without a swizzle: core matrices of 128 bytes, 256
// from one group of eight rows to the next.
func (e *groupEmitter) descriptor(reg string, at int) {
	e.line("add.u32 %%r9, %%r2, %d;", at)
	e.line("shr.u32 %%r9, %%r9, 4;")
	e.line("cvt.u64.u32 %s, %%r9;", reg)
	e.line("or.b64 %s, %s, 0x1000080000;", reg, reg)
}
