package prove_test

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"muster/internal/executions"
	"muster/internal/explore"
	"muster/internal/machine"
	"muster/internal/prove"
	"muster/internal/trial"
	"muster/ptx"
)

var (
	locked     = flag.Uint64("prove.locks", 24, "how many programs with locks to draw")
	lockedFrom = flag.Uint64("prove.locks.from", 1, "the first one's number")
	lockedRuns = flag.Int("prove.locks.runs", 60, "executions of one program that are explored")
	lockedOnly = flag.Bool("prove.locks.proven", false, "explore those alone that are proven")
	lockedShow = flag.Bool("prove.locks.show", false, "print what each program is, and the right ones that are not proven")
)

// A lockDrawing draws kernels whose CTAs hold locks, right ones and wrong ones.
type lockDrawing struct {
	*rand.Rand
	b      strings.Builder
	block  int
	label  int
	sloppy bool // some of what a lock needs is left out
	values int  // registers that hold what was read
	// tickets has the ticket locks: the turn is the lock's word, and numbers are drawn from the next.
	tickets map[int]bool
}

// Words of the buffer: two locks, what they guard, and what threads leave.
const (
	lockA, lockB = 0, 16
	lockData     = 32
	lockOut      = 256
	lockPrivate  = 1280
	lockBuffer   = 2048
)

func (d *lockDrawing) add(format string, args ...any) { fmt.Fprintf(&d.b, "\t"+format+"\n", args...) }

func pick[T any](d *lockDrawing, list ...T) T { return list[d.IntN(len(list))] }

// rarely is true for sloppy programs, now and then.
func (d *lockDrawing) rarely() bool { return d.sloppy && d.IntN(7) == 0 }

func (d *lockDrawing) fence() {
	switch {
	case d.rarely():
	case d.rarely():
		d.add("fence.acq_rel.cta;")
	default:
		d.add("%s", pick(d, "membar.gl;", "fence.acq_rel.gpu;"))
	}
}

func (d *lockDrawing) scope() string {
	if d.rarely() {
		return "cta"
	}
	return pick(d, "gpu", "gpu", "gpu", "sys")
}

// lockedProgram draws a kernel.
func lockedProgram(seed uint64) (text string, ctas, block int) {
	d := &lockDrawing{Rand: rand.New(rand.NewPCG(seed, 11))}
	d.sloppy = d.IntN(2) == 0
	if d.IntN(2) == 0 {
		d.tickets = map[int]bool{lockA: d.IntN(4) > 0, lockB: d.IntN(2) == 0}
	}
	ctas, d.block = 2+d.IntN(5)/4, 32*(1+d.IntN(3)/2)
	d.b.WriteString(`.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 m)
{
	.reg .pred %p<16>;
	.reg .b32 %r<32>;
	.reg .b64 %rd<8>;
	.shared .align 4 .b8 am[8];
	ld.param.u64 %rd1, [m];
	mov.u32 %r1, %tid.x;
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ntid.x;
	mad.lo.u32 %r5, %r3, %r4, %r1;
	mul.wide.u32 %rd2, %r5, 4;
	add.u64 %rd2, %rd1, %rd2;
	mul.wide.u32 %rd3, %r1, 4;
	add.u64 %rd3, %rd1, %rd3;
	setp.ne.u32 %p1, %r1, 0;
	setp.eq.u32 %p2, %r3, 0;
	mov.u32 %r2, 0;
	mov.u32 %r9, 0;
	mov.u32 %r10, 0;
	mov.u32 %r11, 0;
`)
	whole, turns := d.IntN(3) == 0, d.IntN(4) == 0
	if d.rarely() {
		d.op(false)
	}
	for round := range 1 + d.IntN(5)/4 {
		if turns {
			d.turnSection(ctas, round)
		} else {
			d.section(whole)
		}
	}
	if turns && d.rarely() {
		d.add("@%%p1 bra Z;")
		d.add("st.relaxed.gpu.global.u32 [%%rd1+%d], %d;", lockA, d.IntN(2))
		d.b.WriteString("Z:\n")
	}
	if d.rarely() {
		d.op(false)
	}
	d.add("ret;")
	d.b.WriteString("}\n")
	return d.b.String(), ctas, d.block
}

// section is the code of one section: of thread 0, or of all threads of a CTA behind it.
func (d *lockDrawing) section(whole bool) {
	d.label++
	out := d.label
	if whole {
		d.add("@%%p1 bra W%d;", out)
		relaxed := d.acquire(lockA, fmt.Sprintf("W%d", out))
		if relaxed && d.IntN(2) == 0 {
			d.fence()
		}
		d.b.WriteString(fmt.Sprintf("W%d:\n", out))
		d.add("bar.sync 0;")
		if relaxed || d.IntN(3) == 0 {
			d.fence()
		}
		for range 1 + d.IntN(2) {
			d.op(true)
		}
		if d.IntN(3) == 0 {
			d.fence()
		}
		if !d.rarely() {
			d.add("bar.sync 0;")
		}
		d.add("@%%p1 bra V%d;", out)
		d.release(lockA)
		d.b.WriteString(fmt.Sprintf("V%d:\n", out))
		return
	}
	d.add("@%%p1 bra W%d;", out)
	first, second := lockA, lockB
	if d.rarely() {
		d.add("@%%p2 bra X%d;", out)
		d.one(lockB, out)
		d.add("bra W%d;", out)
		d.b.WriteString(fmt.Sprintf("X%d:\n", out))
	}
	if d.IntN(6) == 0 {
		if d.rarely() { // CTA 0 takes the one first, the others the other
			d.add("@%%p2 bra Y%d;", out)
			d.nested(second, first, out)
			d.add("bra W%d;", out)
			d.b.WriteString(fmt.Sprintf("Y%d:\n", out))
		}
		d.nested(first, second, out)
	} else {
		d.one(first, out)
	}
	d.b.WriteString(fmt.Sprintf("W%d:\n", out))
}

// nested is a section of one lock inside of that of another.
func (d *lockDrawing) nested(first, second, out int) {
	if d.acquire(first, fmt.Sprintf("W%d", out)) {
		d.fence()
	}
	d.one(second, out)
	if d.IntN(2) == 0 {
		d.op(false)
	}
	d.release(first)
}

// one is a section of one thread.
func (d *lockDrawing) one(lock, out int) {
	if d.acquire(lock, fmt.Sprintf("W%d", out)) {
		d.fence()
	}
	for range 1 + d.IntN(3) {
		d.op(false)
	}
	d.release(lock)
	switch {
	case d.rarely():
		d.op(false)
	case d.rarely(): // who had to wait, or came late, faults
		d.add("setp.gt.u32 %%p6, %s, %d;", pick(d, "%r9", "%r10", "%r11"), d.IntN(3))
		d.add("@%%p6 st.global.u32 [%%rd1+%d], 1;", lockBuffer)
	}
}

// acquire takes a lock, and reports whether that needs a fence.
func (d *lockDrawing) acquire(lock int, over string) (relaxed bool) {
	if d.tickets[lock] {
		return d.ticket(lock, over)
	}
	d.label++
	l := d.label
	sem := pick(d, "acquire", "acq_rel", "relaxed", "relaxed")
	if d.rarely() {
		sem = "relaxed"
	} else {
		relaxed = sem == "relaxed"
	}
	take := fmt.Sprintf("atom.%s.%s.global.cas.b32 %%r6, [%%rd1+%d], 0, 1;", sem, d.scope(), lock)
	until := "setp.ne.u32 %p3, %r6, 0;"
	if d.IntN(2) == 0 {
		take = fmt.Sprintf("atom.%s.%s.global.exch.b32 %%r6, [%%rd1+%d], 1;", sem, d.scope(), lock)
	} else if d.IntN(3) == 0 {
		until = "setp.eq.u32 %p3, %r6, 1;"
	}
	if d.rarely() { // once
		d.add("%s", take)
		d.add("%s", until)
		d.add("@%%p3 bra %s;", over)
		return relaxed
	}
	d.b.WriteString(fmt.Sprintf("L%d:\n", l))
	switch d.IntN(5) {
	case 0:
		d.add("ld.%s.global.u32 %%r6, [%%rd1+%d];", pick(d, "volatile", "relaxed.gpu"), lock)
		d.add("setp.ne.u32 %%p3, %%r6, 0;")
		d.add("@%%p3 bra L%d;", l)
		if d.rarely() { // how often the lock was seen free
			d.add("ld.global.u32 %%r11, [%%rd2+%d];", lockPrivate)
			d.add("add.u32 %%r11, %%r11, 1;")
			d.add("st.global.u32 [%%rd2+%d], %%r11;", lockPrivate)
		}
	case 1:
		d.add("nanosleep.u32 20;")
	case 2:
		if d.sloppy {
			d.add("mov.u32 %%r9, 1;") // which is stored, or decides
		} else {
			d.add("add.u32 %%r2, %%r2, 1;") // which nobody reads
			d.add("and.b32 %%r2, %%r2, 3;")
		}
	}
	if d.rarely() {
		d.add("ld.global.u32 %%r8, [%%rd1+%d];", lockData)
	}
	d.add("%s", take)
	d.add("%s", until)
	d.add("@%%p3 bra L%d;", l)
	return relaxed
}

func (d *lockDrawing) release(lock int) {
	v := 0
	if d.rarely() {
		v = 2
	}
	sem := pick(d, "release", "relaxed", "volatile")
	if sem != "release" {
		if d.fence(); d.rarely() {
			d.op(false)
		}
	} else if d.rarely() {
		sem = "relaxed"
	}
	switch {
	case d.tickets[lock]:
		d.handOn(lock, sem)
	case d.rarely():
		d.add("st.global.u32 [%%rd1+%d], %d;", lock, v)
	case sem == "volatile":
		d.add("st.volatile.global.u32 [%%rd1+%d], %d;", lock, v)
	case d.IntN(3) == 0:
		d.add("atom.%s.%s.global.exch.b32 %%r7, [%%rd1+%d], %d;", sem, d.scope(), lock, v)
	case d.IntN(5) == 0 && v == 0:
		d.add("red.%s.%s.global.add.u32 [%%rd1+%d], -1;", sem, d.scope(), lock)
	default:
		d.add("st.%s.%s.global.u32 [%%rd1+%d], %d;", sem, d.scope(), lock, v)
	}
}

// op does something in a section. Of several threads each has words of its own.
func (d *lockDrawing) op(whole bool) {
	at := fmt.Sprintf("[%%rd1+%d]", lockData+4*d.IntN(3))
	if whole && !d.rarely() {
		at = fmt.Sprintf("[%%rd3+%d]", lockData)
	}
	r := 10 + d.values%8
	d.values++
	load := fmt.Sprintf("ld.%sglobal.u32 %%r%d, %s;", pick(d, "", "", "", "volatile."), r, at)
	switch k := d.IntN(8); {
	case k < 4:
		d.add("%s", load)
		d.add("add.u32 %%r%d, %%r%d, %d;", r, r, 1+d.IntN(2))
		d.add("st.%sglobal.u32 %s, %%r%d;", pick(d, "", "", "", "volatile."), at, r)
	case k == 4:
		d.add("st.global.u32 %s, %d;", at, 1+d.IntN(3))
	case k == 5:
		d.add("%s", load)
		d.add("add.u32 %%r%d, %%r%d, %%r9;", r, r)
		d.add("st.global.u32 [%%rd2+%d], %%r%d;", lockOut, r)
	case k == 6 && d.IntN(2) == 0:
		d.add("%s", load)
		d.add("setp.%s.u32 %%p4, %%r%d, %d;", pick(d, "eq", "ne", "gt"), r, d.IntN(2))
		d.add("@%%p4 st.global.u32 %s, 5;", at)
	case k == 6:
		d.add("red.relaxed.gpu.global.add.u32 [%%rd1+%d], 1;", lockData+16)
	default:
		d.add("%s", load)
		d.add("st.shared.u32 [am], %%r%d;", r)
		d.add("ld.shared.u32 %%r%d, [am];", r)
		d.add("st.global.u32 [%%rd2+%d], %%r%d;", lockOut, r)
	}
}

// lockedLaunch is the launch of a kernel over a buffer of zeros.
func lockedLaunch(t testing.TB, text string, ctas, block int) *trial.Subject {
	t.Helper()
	mod, err := ptx.Parse("p.ptx", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	prog, err := machine.Decode(mod, "k")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	const base = 0x7f0000000000
	m, err := machine.New(machine.Config{
		Program: prog, Grid: [3]uint32{uint32(ctas), 1, 1}, Block: [3]uint32{uint32(block), 1, 1}, Cluster: [3]uint32{1, 1, 1},
		Params: binary.LittleEndian.AppendUint64(nil, base), Buffers: []machine.Buffer{{Name: "m", Base: base, Size: lockBuffer, Data: make([]byte, lockBuffer), Init: true}},
		MaxInstrs: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	return trial.NewSubject(m, trial.Limits{Instrs: 1 << 20, Memory: 1 << 33, Local: 1 << 16, Time: time.Hour})
}

// TestLocks holds the proof by mutual exclusion to the exploration of all executions, which the
// axioms hold (package executions): what is proven has no error there.
func TestLocks(t *testing.T) {
	n, proven, turns, right, wrong, open := 0, 0, 0, 0, 0, 0
	for seed := *lockedFrom; seed < *lockedFrom+*locked; seed++ {
		text, ctas, block := lockedProgram(seed)
		l := lockedLaunch(t, text, ctas, block)
		n++
		p, _, ok := prove.ByLocks(l, l.Budget(context.Background()))
		if ok {
			if proven++; !p.Tickets {
				turns++
				oneMemory(t, seed, l)
			}
		} else if *lockedOnly {
			continue
		}
		r := executions.Explore(l.Budget(context.Background()), l, executions.Options{Schedules: *lockedRuns})
		bad := ""
		for _, f := range r.Findings {
			if f.Severity > 0 && f.Kind != "same-value" {
				bad = f.Kind + " " + f.Schedule.String()
			}
		}
		if *lockedShow {
			t.Logf("%d: proven %v, explored %d, complete %v, %s", seed, ok, r.Coverage.Schedules, r.Coverage.Complete, bad)
		}
		switch {
		case ok && bad != "":
			t.Errorf("%d: proven, and %s\n%s", seed, bad, text)
		case bad != "":
			wrong++
		case !r.Coverage.Complete:
			open++
		default:
			right++
			if !ok && *lockedShow {
				t.Logf("%d: right, and not proven\n%s", seed, text)
			}
		}
	}
	t.Logf("%d programs: %d proven, %d of them by turns; explored: %d right, %d wrong, %d open", n, proven, turns, right, wrong, open)
	if n >= 50 && (proven < n/8 || turns < n/200 || !*lockedOnly && wrong < n/8) {
		t.Errorf("too little was compared")
	}
}

// oneMemory holds a proof that says so to some schedules: all leave the same memory.
func oneMemory(t *testing.T, seed uint64, l *trial.Subject) {
	left := map[uint64]bool{}
	for _, s := range explore.Handful(6) {
		m := l.Machine(nil, nil)
		if err := trial.Begin(m, s); err != nil {
			t.Fatal(err)
		}
		explore.Run(m, s, func() bool { return false })
		if m.Done() {
			left[m.GlobalHash()] = true
		}
	}
	if len(left) > 1 {
		t.Errorf("%d: proven to leave one memory, and leaves %d", seed, len(left))
	}
}
