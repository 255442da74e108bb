package litmus

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/axiom/flow"
)

// TestFiles answers the tests of the documents and of testdata. Each states the answer that
// its comment gives the reasons for: exists what is allowed, ~exists what is forbidden.
func TestFiles(t *testing.T) {
	n := 0
	for _, dir := range []string{"testdata", "../../docs/litmus"} {
		list, err := filepath.Glob(filepath.Join(dir, "*.litmus"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range list {
			n++
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			x, err := Read(file, src)
			if err != nil {
				t.Error(err)
				continue
			}
			if !strings.Contains(string(src), "(*") || x.Name != strings.TrimSuffix(filepath.Base(file), ".litmus") {
				t.Errorf("%s: it has no comment, or another name: %s", file, x.Name)
			}
			a, err := x.Answer(Options{Loops: 2, Limits: DefaultLimits})
			if err != nil {
				t.Error(err)
				continue
			}
			if !a.OK || a.Verdict == Unknown || a.Wrong || !a.Axioms.Complete {
				t.Errorf("%s", a.Text(true))
			}
			if m := a.Machine; m.Needs == "" && !m.Complete && !x.vectors() {
				t.Errorf("%s: the machine is incomplete: %s", file, m.Why)
			}
			replays(t, x, a)
		}
	}
	if n < 90 {
		t.Errorf("%d files", n)
	}
}

// TestEachClause leaves out the axioms one by one: some test of these folders then has an outcome
// that its file states to be forbidden.
func TestEachClause(t *testing.T) {
	var tests []*Test
	for _, dir := range []string{"testdata", "../../docs/litmus"} {
		list, err := filepath.Glob(filepath.Join(dir, "*.litmus"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range list {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			x, err := Read(file, src)
			if err != nil {
				t.Fatal(err)
			}
			tests = append(tests, x)
		}
	}
	for one := flow.WithoutCoherence; one <= flow.WithoutAcquireFence; one <<= 1 {
		c := one
		switch c {
		case flow.WithoutAtomicity:
			continue
		case flow.WithoutPerLocation: // each of the two forbids what the other does
			c |= flow.WithoutAtomicity
		}
		var needs []string
		for _, x := range tests {
			x.without = c
			o, err := x.Axioms(2, nil)
			if err != nil {
				t.Fatal(err)
			}
			if ok, _ := x.holds(o); !ok {
				needs = append(needs, x.Name)
			}
			if ok, _ := x.holds(o); !ok && x.Quant == Exists {
				t.Errorf("%s: without %b an outcome is lost", x.File, c)
			}
		}
		if len(needs) == 0 {
			t.Errorf("no test needs clause %b", c)
		}
		t.Logf("%014b: %v", c, needs)
	}
}

// TestFreeBranches makes branches no dependence: then a value may be its own cause by way of
// what they decide, and by way of data still not.
func TestFreeBranches(t *testing.T) {
	for file, want := range map[string]bool{"testdata/lb-control": true, "../../docs/litmus/lb-data": false, "../../docs/litmus/lock": false, "testdata/mp-poll-acquire": false} {
		src, err := os.ReadFile(file + ".litmus")
		if err != nil {
			t.Fatal(err)
		}
		for _, free := range []bool{false, true} {
			x, err := Read(file, src)
			if err != nil {
				t.Fatal(err)
			}
			x.free = free
			o, err := x.Axioms(2, nil)
			if err != nil {
				t.Fatal(err)
			}
			if ok, sure := x.holds(o); !sure || ok == (free && want) {
				t.Errorf("%s: branches free %v: %v, %v", file, free, ok, o.List)
			}
		}
	}
}

// replays runs the schedules of an answer again: each leaves the outcome that it stands by.
func replays(t *testing.T, x *Test, a *Answer) {
	t.Helper()
	for i := range a.Outcomes {
		r := &a.Outcomes[i]
		if r.Schedule == "" {
			continue
		}
		text, err := x.Replay(a.Loops, r.Schedule, nil)
		if want := ": " + a.values(r) + "\n"; err != nil || !strings.Contains(text, "in the end: ") || !strings.Contains(text, want) {
			t.Errorf("%s: %s: %s %v; want %s", x.File, r.Schedule, text, err, want)
		}
	}
}

// TestLoadBuffering holds an outcome that only a cycle of program order and reads-from has to
// its name, and one of a stale read not.
func TestLoadBuffering(t *testing.T) {
	for file, want := range map[string]bool{"lb": true, "sb": false, "iriw": false, "mp-relaxed": false} {
		src, err := os.ReadFile("../../docs/litmus/" + file + ".litmus")
		if err != nil {
			t.Fatal(err)
		}
		x, err := Read(file, src)
		if err != nil {
			t.Fatal(err)
		}
		a, err := x.Answer(Options{Loops: 2, Limits: DefaultLimits})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range a.Outcomes {
			if r.Holds && (r.Buffering != want || r.Machine == want || r.Graph == nil) {
				t.Errorf("%s: %+v", file, r)
			}
		}
		if by := map[bool]string{true: "axioms", false: "both"}[want]; a.By != by {
			t.Errorf("%s: by %s, want %s", file, a.By, by)
		}
	}
}

// TestReader checks what the reader understands, by the answer.
func TestReader(t *testing.T) {
	const head = "PTX t\n\"text {\"\n{ x=3; y=0; P0:r2=7; }\n P0@cta 0,gpu 0 ;\n"
	for _, c := range []struct {
		text string
		want bool
	}{
		{head + " ld.weak r0, x ;\nexists (P0:r0 == 3)", true},
		{head + " ld.weak r0, x ;\nexists (0:r0 = 3 /\\ P0:r2 == 7)", true},
		{head + " ld.weak r0, x ;\n~exists (P0:r0 == 3)", false},
		{head + " ld.weak r0, x ;\nforall (P0:r0 == 4 \\/ ~(x != 3))", true},
		{head + " ld r0, 5 ;\n sub r0, r0, r2 ;\n st.weak y, r0 ;\nexists (y == 4294967294)", true},
		{head + " ld r0, 5 ;\n sub r0, r0, r2 ;\n st.weak y, r0 ;\nexists (y == -2)", true},
		{head + " ble r2, 7, LC00 ;\n st.weak y, 1 ;\n LC00: ;\nforall (y == 0)", true},
		{head + " bgt r2, 7, LC00 ;\n st.weak y, 1 ;\n LC00: ;\nforall (y == 1)", true},
		{head + " ld r0, -1 ;\n blt r0, 0, LC00 ;\n st.weak y, 1 ;\n LC00: ;\nforall (y == 0)", true},
		{head + " red.relaxed.gpu.add x, 4 ;\nexists (x == 7)", true},
		{head + " atom.relaxed.gpu.sub r0, x, 1 ;\nexists (x == 2 /\\ P0:r0 == 3)", true},
		{head + " atom.relaxed.gpu.inc r0, x, 3 ;\nexists (x == 0)", true},
		{head + " LC00: ;\n ld.weak r0, x ;\n bne r0, 3, LC00 ;\nforall (P0:r0 = 3)", true},
		{head + " ld.weak r0, x ;\nlocations [y; [x];]\nfilter (P0:r0 = 4)\nexists true", false},
		{head + " ld.weak r0, x ; (* no (* other *) row *) // nor this\nexists (x = 3);", true},
		{head + " mov.u32 r0, y ;\n st.relaxed.gpu [r0], 5 ;\nforall (y = 5)", true},
		{head + " setp.eq.s32 p1, r2, 7 ;\n @p1 st.global.u32 [y], 1 ;\n @!p1 st.weak x, 1 ;\nforall (y = 1 /\\ x = 3)", true},
		{"PTX a\n{ uint32_t a[2] = {1, 2}; }\n P0 | P1 ;\n ld.relaxed.gpu.v2.u32 {r0, r1}, [a] | st.relaxed.gpu.u32 [a+4], 9 ;\nexists (P0:r0 = 1 /\\ P0:r1 = 9 /\\ a[1] = 9)", true},
		// herd's: registers for addresses, membar, a tree of scopes.
		{"GPU_PTX SB\n{ 0:.reg .b64 r1 = x; 0:.reg .b64 r3 = y; 1:.reg .b64 r1 = y; 1:.reg .b64 r3 = x; 0:.reg .s32 r0; x = 0; }\n P0 | P1 ;\n st.cg.s32 [r1], 1 | st.cg.s32 [r1], 1 ;\n membar.gl | membar.gl ;\n ld.cg.s32 r2, [r3] | ld.cg.s32 r2, [r3] ;\nScopeTree(grid(cta(warp P0)) (cta (warp P1)))\nx: global, y: global\n~exists (0:r2=0 /\\ 1:r2=0)", true},
		{"GPU_PTX MP\n{0:.reg .s32 r0; 0:.reg .b64 r1 = x; 0:.reg .b64 r3 = y;\n1:.reg .s32 r0; 1:.reg .pred p4; 1:.reg .b64 r1 = y; 1:.reg .b64 r3 = x;}\n T0 | T1 ;\n mov.s32 r0,1 | ld.volatile.s32 r0,[r1] ;\n st.cg.s32 [r1],r0 | setp.eq.s32 p4,r0,0 ;\n membar.gl | @p4 bra END ;\n st.volatile.s32 [r3],r0 | membar.gl ;\n | ld.ca.s32 r2,[r3] ;\n | END: ;\nScopeTree (grid(cta(warp T0)) (cta(warp T1)))\n~exists (1:r0=1 /\\ 1:r2=0)", true},
		{"GPU_PTX SB\n{ 0:r1 = x; 0:r3 = y; 1:r1 = y; 1:r3 = x; }\n P0 | P1 ;\n st.cg.s32 [r1], 1 | st.cg.s32 [r1], 1 ;\n membar.cta | membar.cta ;\n ld.cg.s32 r2, [r3] | ld.cg.s32 r2, [r3] ;\nscopeTree (device (grid (cta (warp P0 P1))))\n~exists (0:r2=0 /\\ 1:r2=0)", true},
	} {
		x, err := Read("t", []byte(c.text))
		if err != nil {
			t.Errorf("%v\n%s", err, c.text)
			continue
		}
		a, err := x.Answer(Options{Loops: 2, Limits: DefaultLimits})
		if err != nil || a.OK != c.want || a.Verdict == Unknown || a.Wrong {
			t.Errorf("%v, %+v\n%s", err, a, c.text)
		}
	}
}

// TestRefused checks that a mistake is one line that names its place, and what has no answer
// says what it needs.
func TestRefused(t *testing.T) {
	const head = "PTX t\n{ x=3; }\n P0@cta 0,gpu 0 ;\n"
	for _, c := range []struct {
		text, say string
		need      bool
	}{
		{"", "t:1:1: an empty file", false},
		{"C a\n{}\n", "t:1:1: \"C\"", false},
		{"PTX a\n", "t:2:1: no initial state", false},
		{"PTX a\n{ x=0;\n", "does not end with }", false},
		{"PTX a\n{ x=0 }\n", "no threads", false},
		{"PTX a\n{ x=0; x=1; }\n P0 ;\n", "t:2:8: x is declared twice", false},
		{"PTX a\n{ r1=0; }\n P0 ;\n", "a location is declared", false},
		{"PTX a\n{ P0:x=0; }\n P0 ;\n", "a register is declared", false},
		{"PTX a\n{ P4:r1=0; }\n P0 ;\nexists true", "names thread P4", false},
		{"PTX a\n{ y @ odd aliases x; }\n P0 ;\n", "an alias is of proxy", false},
		{"PTX a\n{ }\n P1@cta 0,gpu 0 ;\n", "thread 0 is written P0", false},
		{"PTX a\n{ }\n P0@warp 0 ;\n", "the place of a thread", false},
		{"PTX a\n{ }\n P0 | P1 ;\nscopeTree (grid (cta P0))\nexists true", "P1 does not stand in the tree", false},
		{"PTX a\n{ }\n P0 | P1 ;\nscopeTree (grid (cta P0 P0))\nexists true", "stands twice", false},
		{"PTX a\n{ }\n P0 ;\nscopeTree (grid (cta P0)", "stays open", false},
		{head + " ld.weak r0 ;\nexists (x == 0)", "takes a register and a location", false},
		{head + " frobnicate r0, x ;\nexists (x == 0)", "t:4:2: \"frobnicate r0, x\" is no instruction", false},
		{head + " ld.odd.gpu r0, x ;\nexists (x == 0)", ".odd", true},
		{head + " ld.relaxed r0, x ;\nexists (x == 0)", "has a scope", false},
		{head + " ld.weak.gpu r0, x ;\nexists (x == 0)", "has no scope", false},
		{head + " ld.release.gpu r0, x ;\nexists (x == 0)", "no such semantics", false},
		{head + " st.acquire.gpu x, 1 ;\nexists (x == 0)", "no such semantics", false},
		{head + " fence.relaxed.gpu ;\nexists (x == 0)", "a fence is", false},
		{head + " goto LC07 ;\nexists (x == 0)", "no label LC07", false},
		{head + " LC00: LC00: ;\nexists (x == 0)", "stands twice", false},
		{head + " ld.weak r0, x ;\nexists (z == 0)", "\"z\" is no location", false},
		{head + " ld.weak r0, x ;\nexists (x == 0", "parenthesis", false},
		{head + " ld.weak r0, x ;\nexists (x < 0)", "compares with", false},
		{head + " ld.weak r0, x ;\nexists (P3:r0 = 0)", "a register is named", false},
		{head + " ld.weak r0, x ;\nexists (x = 0) y", "after the condition", false},
		{head + " ld.weak r0, x ;\nexists (x = 0)\nforall (x = 0)", "a second condition", false},
		{head + " ld.weak r0, x ;", "no condition", false},
		{head + " ld.weak r0, x \nexists (x == 0)", "ends with ;", false},
		{head + " ld.weak r0, x | ld.weak r1, x ;\nexists (x == 0)", "a row of 2 columns", false},
		{head + " ld.weak r0, [r1] ;\n ld.weak r0, r1 ;\nexists (x == 0)", "written [r1]", false},
		{head + " ld.weak r0, [x+4] ;\nexists (x == 0)", "outside of x", false},
		{head + " bar.sync 0, 7 ;\nexists (x == 0)", "whole warps", false},
		{head + " ld.weak.u64 r0, x ;\nexists (x == 0)", "accesses of 8 bytes", true},
		{head + " cp.async.bulk.commit_group ;\nexists (x == 0)", "this instruction", true},
		{head + " shfl.sync.idx.b32 r0, r1, 0, 31, -1 ;\nexists (x == 0)", "this instruction", true},
		{head + "(* open\nexists (x == 0)", "t:4:1: a comment that does not end", false},
		{head + " ld.weak r0, x ;\x00\nexists (x == 0)", "a byte 0", false},
		{head + " ld.weak r0, x ;\nexists " + strings.Repeat("(", 1000), "parentheses within each other", false},
		{head + " ld.weak r0, x ;\nexists " + strings.Repeat("~", 1000) + "true", "parentheses within each other", false},
		{head + strings.Repeat(" ld.weak r0, x ;\n", 500) + "exists (x == 0)", "more than 400 instructions", true},
		{"PTX a\n{ x=0; }\n P0 | P1 ;\n st.shared.u32 [x], 1 | ld.u32 r0, [x] ;\nexists (x = 1)", "of shared memory each CTA has its own", true},
		{"PTX a\n{ x=0; }\n P0 | P1 ;\n st.u32 [x], 1 | ld.u32 r0, [x] ;\nx: shared\nexists (x = 1)", "t:5:1: needs global memory", true},
		{"PTX a\n{ x[49]; }\n P0 ;\nexists true", "more than 48 words", true},
	} {
		_, err := Read("t", []byte(c.text))
		var need *Need
		if err == nil || !strings.Contains(err.Error(), c.say) || errors.As(err, &need) != c.need || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "t:") {
			t.Errorf("%q: %v, want %s", c.text, err, c.say)
		}
	}
}

// TestBounds checks that a test beyond the limits is told, not answered.
func TestBounds(t *testing.T) {
	many := "PTX many\n{ x=0; }\n P0 | P1 | P2 | P3 | P4 | P5 ;\n" + strings.Repeat(" atom.relaxed.gpu.add r0, x, 1 | atom.relaxed.gpu.add r0, x, 1 | atom.relaxed.gpu.add r0, x, 1 | atom.relaxed.gpu.add r0, x, 1 | atom.relaxed.gpu.add r0, x, 1 | atom.relaxed.gpu.add r0, x, 1 ;\n", 6) + "exists (x = 1)"
	x, err := Read("many", []byte(many))
	if err != nil {
		t.Fatal(err)
	}
	a, err := x.Answer(Options{Limits: Limits{Schedules: 50, Steps: 1000, Length: 400}, Over: after(100)})
	if err != nil || a.Verdict != Unknown || len(a.Needs) == 0 || !strings.Contains(a.Text(false), "incomplete: the time is over") {
		t.Errorf("%+v, %v", a, err)
	}
}

// after is over when it was asked so often.
func after(n int) func() string {
	return func() string {
		if n--; n < 0 {
			return "the time is over"
		}
		return ""
	}
}

// BenchmarkAnswer answers the tests of testdata by both engines.
func BenchmarkAnswer(b *testing.B) {
	list, err := filepath.Glob("testdata/*.litmus")
	if err != nil || len(list) == 0 {
		b.Fatal(err)
	}
	var tests []*Test
	for _, file := range list {
		src, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		x, err := Read(file, src)
		if err != nil {
			b.Fatal(err)
		}
		tests = append(tests, x)
	}
	for b.Loop() {
		for _, x := range tests {
			if _, err := x.Answer(Options{Loops: DefaultLoops, Limits: DefaultLimits}); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// FuzzRead holds the reader to answers or errors of one line, and the engines to each other.
func FuzzRead(f *testing.F) {
	for _, dir := range []string{"testdata", "../../docs/litmus"} {
		list, _ := filepath.Glob(filepath.Join(dir, "*.litmus"))
		for _, file := range list {
			if src, err := os.ReadFile(file); err == nil {
				f.Add(src)
			}
		}
	}
	f.Add([]byte("GPU_PTX SB\n{ 0:.reg .b64 r1 = x; x[4] = {1, 2}; y @ generic aliases x; }\n P0 | P1 ;\n @!p1 st.cg.s32 [r1], 1 | bar.sync 0, 64 ;\nScopeTree(grid(cta(warp P0)) (cluster (cta (warp P1))))\nx: global, y: shared\nlocations [x; 0:r1;]\nfilter (x[1] = 2)\n~exists (0:r2=0 /\\ 1:r2=0)"))
	f.Fuzz(func(t *testing.T, src []byte) {
		x, err := Read("f", src)
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("%q", err)
			}
			return
		}
		a, err := x.Answer(Options{Loops: 1, Limits: Limits{Schedules: 20, Steps: 500, Length: 100}, Over: after(200)})
		var need *Need
		if err != nil && !errors.As(err, &need) {
			t.Fatal(err)
		}
		if a != nil && a.Wrong {
			t.Errorf("%s", a.Text(true))
		}
		if a != nil {
			a.Text(true)
		}
	})
}
