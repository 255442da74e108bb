package muster_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"muster"
	"muster/internal/yaml"
	"muster/ptx"
)

var costEach = flag.Int("cost.each", 1, "TestCostRemoved: how many notes of a kernel are taken out by themselves; more than one: of the long kernels, too")

// costLong are kernels with many notes and long runs, one for each note.
var costLong = []string{"pallas_matmul/pallas_matmul", "pallas_attention/pallas_attention", "pallas_matmul_bf16/pallas_matmul_bf16",
	"triton_matmul_cpasync/triton_matmul_cpasync", "triton_attention/triton_attention", "gluon_matmul_roles/gluon_matmul_roles"}

// costs checks a launch with everything that it asks for and returns the notes.
func costs(t *testing.T, l *muster.Launch) (*muster.Report, []muster.Finding) {
	t.Helper()
	r, err := l.Check(context.Background(), muster.CheckOptions{Cost: true})
	if err != nil {
		t.Fatal(err)
	}
	var notes []muster.Finding
	for _, f := range r.Findings {
		if strings.HasPrefix(f.Kind, "redundant-") {
			notes = append(notes, f)
		}
	}
	return r, notes
}

// TestCost runs the examples of those kinds: the wrong one is found at the line that
// is marked, and there alone; the right one, which is the wrong one without that
// line, has nothing redundant. Both are clean.
func TestCost(t *testing.T) {
	files, err := filepath.Glob("internal/rules/testdata/redundant-*.txtar")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		_, twins := parts(string(text))
		base := strings.TrimSuffix(filepath.Base(name), ".txtar")
		kind, _, _ := strings.Cut(base, ".")
		t.Run(base, func(t *testing.T) {
			lines := strings.Split(twins["wrong.ptx"], "\n")
			want := slices.IndexFunc(lines, func(s string) bool { return strings.HasSuffix(s, "// want: "+kind) })
			if strings.TrimSpace(strings.Join(slices.Delete(lines, want, want+1), "\n")) != strings.TrimSpace(twins["right.ptx"]) {
				t.Error("the twins differ in more than the line that is marked")
			}
			r, notes := costs(t, twin(t, twins, "wrong"))
			if len(notes) != 1 || notes[0].Kind != kind || notes[0].Sites[0].PTX.Line != want+1 || r.Verdict != "clean" || !r.Proof.All {
				t.Errorf("%s: %+v", r.Summary, notes)
			}
			if r, notes := costs(t, twin(t, twins, "right")); len(notes) != 0 || r.Verdict != "clean" || !r.Proof.All {
				t.Errorf("right: %s: %+v", r.Summary, notes)
			}
			if r, err := twin(t, twins, "wrong").Check(context.Background(), muster.CheckOptions{}); err != nil || len(r.Findings) > 0 {
				t.Errorf("said without being asked: %v %+v", err, r.Findings)
			}
		})
	}
}

// TestCostNeeded: what a broken twin lacks is not redundant in the right kernel.
func TestCostNeeded(t *testing.T) {
	for _, name := range []string{"examples/ring/ring.yaml", "examples/bulk_store/bulk_store.yaml", "examples/named_barrier/named_barrier.yaml"} {
		r, notes := costs(t, readLaunch(t, name))
		if !r.Proof.All || len(notes) > 0 {
			t.Errorf("%s: %s: %+v", name, r.Summary, notes)
		}
	}
}

// TestCostPassed: wgmma.fence and waits for groups are judged by a machine that passes over them.
func TestCostPassed(t *testing.T) {
	for _, c := range []struct{ name, kernel, want string }{
		{"docs/fences/wgmma_fence.yaml", "each", "redundant-fence:101"},
		{"docs/fences/wgmma_fence.yaml", "first", ""},
		{"docs/fences/store_reuse.yaml", "read", "redundant-wait:73"}, // the end of the grid completes what is written to global memory
		{"examples/gemm_rs/gemm_rs.yaml", "", "redundant-wait:855"},
	} {
		f, err := yaml.ReadFile(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if c.kernel != "" {
			f.Launches[0].Kernel = c.kernel
		}
		l, err := muster.LoadFile(f, muster.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		r, notes := costs(t, l)
		var got []string
		for i := range notes {
			got = append(got, fmt.Sprintf("%s:%d", notes[i].Kind, notes[i].Sites[0].PTX.Line))
		}
		if got := strings.Join(got, " "); got != c.want || !r.Proof.All {
			t.Errorf("%s %s: %q, want %q: %s", c.name, c.kernel, got, c.want, r.Summary)
		}
	}
}

// TestCostRemoved removes redundant instructions from the kernel, and proves the rest:
// some of them separately, and all that may go together at once. So it checks the
// conclusion from one run with events hidden against the program without the instruction.
func TestCostRemoved(t *testing.T) {
	if testing.Short() {
		t.Skip("checks every right example")
	}
	files, err := filepath.Glob("examples/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var total atomic.Int64
	t.Cleanup(func() { t.Logf("%d notes", total.Load()) })
	for _, name := range files {
		if strings.HasPrefix(filepath.Base(name), "broken_") {
			continue
		}
		t.Run(strings.TrimSuffix(strings.TrimPrefix(name, "examples/"), ".yaml"), func(t *testing.T) {
			t.Parallel()
			if *costEach == 1 && slices.Contains(costLong, strings.TrimSuffix(strings.TrimPrefix(name, "examples/"), ".yaml")) {
				t.Skip("long")
			}
			l := readLaunch(t, name)
			if !muster.ProveAlone(l).All {
				t.Skip("not proven")
			}
			r, notes := costs(t, l)
			t.Log(r.Summary)
			all := []muster.Finding{}
			for i, f := range notes {
				t.Logf("%s: %s %v", f.Kind, f.Headline, f.Notes)
				if i < *costEach || len(f.Notes) > 0 {
					proven(t, name, f)
				}
				if len(f.Notes) == 0 {
					all = append(all, f)
				}
			}
			if len(all) > 1 {
				proven(t, name, all...)
			}
			total.Add(int64(len(notes)))
		})
	}
}

// costly is an instruction that may be noted, with its guard.
var costly = regexp.MustCompile(`(@!?%\w+\s+)?\b(bar|barrier|(tcgen05\.|wgmma\.)?fence|membar|cp\.async\.(bulk\.)?wait_(group|all)|wgmma\.wait_group|tcgen05\.wait)\b[^;]*;`)

// proven checks that a launch is proven without the instructions of findings.
func proven(t *testing.T, name string, fs ...muster.Finding) {
	t.Helper()
	f, err := yaml.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(f.Launches[0].PTX)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for _, f := range fs {
		for _, s := range f.Sites {
			at := &lines[s.PTX.Line-1]
			if instr := costly.FindString(*at); instr == "" {
				t.Fatalf("%s: no fence, no barrier and no wait", s.PTX)
			} else {
				*at = strings.Replace(*at, instr, "", 1)
			}
		}
	}
	src := []byte(strings.Join(lines, "\n"))
	mod, err := ptx.Parse(f.Launches[0].PTX, src)
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadModule(f, mod, src, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if p := muster.ProveAlone(l); !p.All {
		t.Errorf("without %s: %+v", where(fs), p.Reasons)
	}
}

func where(fs []muster.Finding) string {
	var all []string
	for _, f := range fs {
		for _, s := range f.Sites {
			all = append(all, fmt.Sprint(s.PTX))
		}
	}
	return strings.Join(all, ", ")
}

// handOver is a kernel in which two warps hand values to each other, with this
// between the stores and the loads.
func handOver(t *testing.T, between string) *muster.Launch {
	return twin(t, map[string]string{"launch": "--grid 1 --block 64 --buffer out=u32[64]:zeros --arg out", "some.ptx": `.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 out)
{
	.shared .align 128 .b8 slots[256];
	.shared .align 8 .b64 full;
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd2, [out];
	mov.u32 %r1, %tid.x;
	shl.b32 %r2, %r1, 2;
	mov.u32 %r3, slots;
	add.u32 %r4, %r3, %r2;
	setp.lt.u32 %p1, %r1, 32;
	st.shared.u32 [%r4], %r1;
` + between + `
	xor.b32 %r5, %r2, 128;
	add.u32 %r5, %r3, %r5;
	ld.shared.u32 %r6, [%r5];
	cvt.u64.u32 %rd3, %r2;
	add.u64 %rd3, %rd2, %rd3;
	st.global.u32 [%rd3], %r6;
	ret;
}
`}, "some")
}

// TestCostWhat: what is named, what is not, and what the notes say.
func TestCostWhat(t *testing.T) {
	const sync = "bar.sync 0;\n"
	for _, c := range []struct {
		name, between string
		notes         int
		needed        int    // of the notes, once others are gone
		notice        string // of the report
	}{
		{"one of two barriers", sync + sync, 2, 1, "either of the 2 that are named can go, and not both"},
		{"two of three barriers", sync + sync + sync, 3, 1, "2 of the 3 that are named can go together; each of the others, which a note tells, can go alone, and not together with those"},
		{"the only barrier", sync, 0, 0, ""},
		{"a fence that the host may rely on", sync + "membar.sys;", 0, 0, ""},
		{"a fence after an init", "setp.eq.u32 %p1, %r1, 0;\n@%p1 mbarrier.init.shared.b64 [full], 1;\nfence.proxy.async;\n" + sync, 0, 0, ""},
		{"a fence of the GPU", sync + "membar.gl;", 1, 0, ""},
		{"a reduction gives a value", sync + "bar.red.popc.u32 %r7, 0, %p1;", 1, 0, ""},
		{"instructions that meet go together", sync + "@%p1 bra ONE;\nbarrier.sync 1;\nbra TWO;\nONE:\nbarrier.sync 1;\nTWO:", 2, 1, "and not both"},
		{"lanes that come apart to one barrier", sync + "and.b32 %r5, %r1, 1;\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra ONE;\nbarrier.sync 1;\nbra TWO;\nONE:\nbarrier.sync 1;\nTWO:", 1, 0, ""},
		{"lanes that come apart to their warp's", sync + "and.b32 %r5, %r1, 1;\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra ONE;\nbar.warp.sync -1;\nbra TWO;\nONE:\nbar.warp.sync -1;\nTWO:", 0, 0, ""},
		{"more than are tried", sync + strings.Repeat("membar.gl;\n", 70), 63, 0, "7 fences, barriers and waits, from line 82 on, were not tried: at most 64 are"},
		{"all together", sync + "membar.gl;\nbar.warp.sync -1;", 2, 0, "all 2 that are named can go together"},
		{"a wait for no group", sync + "cp.async.wait_all;", 1, 0, ""},
		{"not proven", "", 0, 0, "not proven for all schedules"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, notes := costs(t, handOver(t, c.between))
			needed := 0
			for _, f := range notes {
				needed += len(f.Notes)
				t.Logf("%s %v %s", f.Headline, f.Notes, f.ID)
			}
			if len(notes) != c.notes || needed != c.needed || !strings.Contains(strings.Join(r.Notices, "\n"), c.notice) || c.notice == "" && len(r.Notices) > 0 {
				t.Errorf("%d notes, %d of them needed, want %d, %d: %s %q", len(notes), needed, c.notes, c.needed, r.Summary, r.Notices)
			}
		})
	}
}
