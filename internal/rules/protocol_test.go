package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/ptx"
)

// protocolKinds are the kinds that come from the machine's events and its
// stop, and whose examples show them in every schedule.
var protocolKinds = []string{
	"never-completes", "bytes-missing", "bytes-early", "arrivals-missing", "arrivals-excess",
	"named-barrier-mismatch", "divergent-barrier", "cluster-barrier-mismatch", "register-budget",
	"unobserved-phase", "use-before-init", "use-after-inval", "reinit-without-inval", "stale-token",
	"range", "nocomplete-completes", "out-of-bounds", "misaligned", "uninitialized-shared", "trap", "launch-config",
}

// TestSchedulesAgree holds the protocol findings of every example to one set,
// whichever of eleven schedules runs.
func TestSchedulesAgree(t *testing.T) {
	for _, e := range examples(t, "testdata/*.txtar") {
		if !slices.Contains(protocolKinds, e.kind) || e.some {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			var first []string
			for i, s := range explore.Handful(8) {
				fs, _, _ := judge(t, prepare(t, "wrong.ptx", e.files["wrong.ptx"], e.launch("wrong")), s)
				var keys []string
				for k := range fs {
					if fs[k].Kind == e.kind {
						keys = append(keys, slotless(fs[k].Key()))
					}
				}
				slices.Sort(keys)
				keys = slices.Compact(keys)
				if i == 0 {
					first = keys
				} else if diff := gocmp.Diff(first, keys); diff != "" {
					t.Errorf("%s differs from earliest:\n%s", s, diff)
				}
			}
		})
	}
}

// slotless takes the place of the init out of a finding's key: which slot of
// a ring goes wrong is the schedule's choice.
func slotless(key string) string {
	parts := strings.Split(key, "|")
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return strings.HasPrefix(p, "initializes:") }), "|")
}

// A ring is a warp-specialized kernel: a producer lane and consumer warps over
// slots with full and empty barriers.
type ring struct {
	slots, consumers, tiles int
	emptyCount, fullCount   int
	expect                  int // bytes of a tile
	consumed                int // tiles that consumers take
}

func (r ring) text() string {
	var inits strings.Builder
	for i := range r.slots {
		fmt.Fprintf(&inits, "\tmbarrier.init.shared.b64 [%%r2+%d], %d;\n\tmbarrier.init.shared.b64 [%%r4+%d], %d;\n", 8*i, r.fullCount, 8*i, r.emptyCount)
	}
	return fmt.Sprintf(`.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 in, .param .u64 out)
{
	.shared .align 128 .b8 buf[%[1]d];
	.shared .align 8 .b64 full[%[2]d];
	.shared .align 8 .b64 empty[%[2]d];
	.reg .pred %%p<8>;
	.reg .b32 %%r<16>;
	.reg .b64 %%rd<8>;
	mov.u32 %%r1, %%tid.x;
	mov.u32 %%r2, full;
	mov.u32 %%r3, buf;
	mov.u32 %%r4, empty;
	setp.ne.u32 %%p1, %%r1, 0;
	@%%p1 bra READY;
%[3]sREADY:
	bar.sync 0;
	mov.u32 %%r5, 0;
	mov.u32 %%r6, 0;
	mov.u32 %%r7, 0;
	mov.u32 %%r8, 0;
	setp.ge.u32 %%p2, %%r1, 32;
	@%%p2 bra CONSUMER;
	@%%p1 bra DONE;
	ld.param.u64 %%rd3, [in];
	mov.u32 %%r7, 1;
PRODUCE:
	shl.b32 %%r9, %%r6, 3;
	add.s32 %%r10, %%r4, %%r9;
	add.s32 %%r11, %%r2, %%r9;
	shl.b32 %%r9, %%r6, 7;
	add.s32 %%r12, %%r3, %%r9;
FREE:
	mbarrier.try_wait.parity.shared::cta.b64 %%p3, [%%r10], %%r7;
	@!%%p3 bra FREE;
	mbarrier.arrive.expect_tx.shared.b64 _, [%%r11], %[4]d;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%%r12], [%%rd3], 128, [%%r11];
	add.u32 %%r6, %%r6, 1;
	setp.eq.u32 %%p4, %%r6, %[2]d;
	@%%p4 mov.u32 %%r6, 0;
	@%%p4 xor.b32 %%r7, %%r7, 1;
	add.u32 %%r8, %%r8, 1;
	setp.lt.u32 %%p5, %%r8, %[5]d;
	@%%p5 bra PRODUCE;
	bra DONE;
CONSUMER:
	and.b32 %%r13, %%r1, 31;
	setp.eq.u32 %%p6, %%r13, 0;
	shl.b32 %%r13, %%r13, 2;
CONSUME:
	shl.b32 %%r9, %%r6, 3;
	add.s32 %%r10, %%r4, %%r9;
	add.s32 %%r11, %%r2, %%r9;
	shl.b32 %%r9, %%r6, 7;
	add.s32 %%r12, %%r3, %%r9;
	add.s32 %%r12, %%r12, %%r13;
FULL:
	mbarrier.try_wait.parity.shared::cta.b64 %%p3, [%%r11], %%r7;
	@!%%p3 bra FULL;
	ld.shared.u32 %%r14, [%%r12];
	add.u32 %%r5, %%r5, %%r14;
	bar.warp.sync 0xffffffff;
	@%%p6 mbarrier.arrive.shared.b64 _, [%%r10];
	add.u32 %%r6, %%r6, 1;
	setp.eq.u32 %%p4, %%r6, %[2]d;
	@%%p4 mov.u32 %%r6, 0;
	@%%p4 xor.b32 %%r7, %%r7, 1;
	add.u32 %%r8, %%r8, 1;
	setp.lt.u32 %%p5, %%r8, %[6]d;
	@%%p5 bra CONSUME;
DONE:
	ld.param.u64 %%rd1, [out];
	mul.wide.u32 %%rd2, %%r1, 4;
	add.s64 %%rd1, %%rd1, %%rd2;
	st.global.u32 [%%rd1], %%r5;
	ret;
}
`, 128*r.slots, r.slots, inits.String(), r.expect, r.tiles, r.consumed)
}

func (r ring) flags() string {
	n := 32 * (r.consumers + 1)
	return fmt.Sprintf("--grid 1 --block %d --buffer in=u32[64]:iota --buffer out=u32[%d] --arg in --arg out", n, n)
}

// TestRings draws rings, plants a defect in some, and wants its name: whole
// rings clean, a defect that cannot show in so few tiles clean too.
func TestRings(t *testing.T) {
	schedules := explore.Handful(8)
	rapid.Check(t, func(rt *rapid.T) {
		r := ring{slots: rapid.IntRange(1, 4).Draw(rt, "slots"), consumers: rapid.IntRange(1, 4).Draw(rt, "consumers"),
			tiles: rapid.IntRange(1, 9).Draw(rt, "tiles"), fullCount: 1, expect: 128}
		r.emptyCount, r.consumed = r.consumers, r.tiles
		want := ""
		switch rapid.SampledFrom([]string{"none", "more bytes", "fewer bytes", "empty count", "full count", "fewer tiles", "more tiles"}).Draw(rt, "defect") {
		case "more bytes":
			r.expect += 16
			want = "bytes-missing"
		case "fewer bytes":
			r.expect -= 16
			want = "bytes-early"
		case "empty count":
			r.emptyCount++
			if r.tiles > r.slots {
				want = "arrivals-missing"
			}
		case "full count":
			r.fullCount++
			want = "arrivals-missing"
		case "fewer tiles":
			r.consumed--
			if r.consumed == 0 {
				r.consumed = 1
			}
			if r.tiles-r.consumed > r.slots {
				want = "never-completes"
			}
		case "more tiles":
			r.consumed++
			want = "never-completes"
		}
		s := rapid.SampledFrom(schedules).Draw(rt, "schedule")
		fs, gaps, _ := judge(t, prepare(t, "ring.ptx", r.text(), r.flags()), s)
		if len(gaps) > 0 {
			rt.Fatalf("%+v under %s: %+v", r, s, gaps)
		}
		found := map[string]bool{}
		for i := range fs {
			if slices.Contains(protocolKinds, fs[i].Kind) {
				found[fs[i].Kind] = true
			}
		}
		if want == "" && len(found) > 0 || want != "" && (!found[want] || len(found) > 1) {
			rt.Fatalf("%+v under %s: found %v, want %q", r, s, found, want)
		}
	})
}

func TestLaunchConfig(t *testing.T) {
	const body = "\n{\n\t.reg .b32 %r<2>;\n\tmov.u32 %r1, %tid.x;\n\tret;\n}\n"
	for _, c := range []struct {
		name, target, attrs string
		cfg                 machine.Config
		want                []string // severity and place
	}{
		{"plain", "sm_90a", "", machine.Config{Block: [3]uint32{128, 1, 1}}, nil},
		{"all of shared memory", "sm_90", "", machine.Config{Block: [3]uint32{128, 1, 1}, Shared: 232448}, nil},
		{"too much shared memory", "sm_90", "", machine.Config{Block: [3]uint32{128, 1, 1}, Shared: 232449}, []string{"error shared memory"}},
		{"shared memory of sm_86", "sm_86", "", machine.Config{Block: [3]uint32{128, 1, 1}, Shared: 100 << 10}, []string{"error shared memory"}},
		{"cluster of 8", "sm_90", "", machine.Config{Block: [3]uint32{32, 1, 1}, Cluster: [3]uint32{8, 1, 1}}, nil},
		{"cluster of 16", "sm_90", "", machine.Config{Block: [3]uint32{32, 1, 1}, Cluster: [3]uint32{4, 4, 1}}, []string{"warning cluster"}},
		{"cluster of 32", "sm_90", "", machine.Config{Block: [3]uint32{32, 1, 1}, Cluster: [3]uint32{32, 1, 1}}, []string{"error cluster"}},
		{"cluster before sm_90", "sm_80", "", machine.Config{Block: [3]uint32{32, 1, 1}, Cluster: [3]uint32{2, 1, 1}}, []string{"error cluster"}},
		{"another block", "sm_90", " .reqntid 128, 1, 1", machine.Config{Block: [3]uint32{64, 1, 1}}, []string{"error block"}},
		{"block too large", "sm_90", " .maxntid 128, 1, 1", machine.Config{Block: [3]uint32{129, 1, 1}}, []string{"error block"}},
		{"smaller than maxntid", "sm_90", " .maxntid 128, 1, 1", machine.Config{Block: [3]uint32{64, 1, 1}}, nil},
		{"another cluster", "sm_90", " .reqnctapercluster 2, 1, 1", machine.Config{Block: [3]uint32{64, 1, 1}, Cluster: [3]uint32{4, 1, 1}}, []string{"error cluster"}},
		{"a cluster too large", "sm_90", " .maxclusterrank 2", machine.Config{Block: [3]uint32{64, 1, 1}, Cluster: [3]uint32{4, 1, 1}}, []string{"error cluster"}},
		{"a cluster not too large", "sm_90", " .maxclusterrank 2", machine.Config{Block: [3]uint32{64, 1, 1}, Cluster: [3]uint32{2, 1, 1}}, nil},
		{"a cluster wanted", "sm_90", " .explicitcluster", machine.Config{Block: [3]uint32{64, 1, 1}}, []string{"error cluster"}},
		{"a cluster given", "sm_90", " .explicitcluster", machine.Config{Block: [3]uint32{64, 1, 1}, Cluster: [3]uint32{2, 1, 1}}, nil},
		{"registers", "sm_90", " .maxnreg 168", machine.Config{Block: [3]uint32{384, 1, 1}}, nil},
		{"too many registers", "sm_90", " .maxnreg 176", machine.Config{Block: [3]uint32{384, 1, 1}}, []string{"error registers"}},
		{"registers of the launch", "sm_90", "", machine.Config{Block: [3]uint32{1024, 1, 1}, Registers: 72}, []string{"error registers"}},
		{"unknown target", "compute_90", "", machine.Config{Block: [3]uint32{64, 1, 1}, Shared: 1 << 20}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			mod, err := ptx.Parse("k.ptx", []byte(".version 8.6\n.target "+c.target+"\n.address_size 64\n.visible .entry k()"+c.attrs+body))
			if err != nil {
				t.Fatal(err)
			}
			prog, err := machine.Decode(mod, "")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range LaunchConfig(prog, &c.cfg.Launches()[0]) {
				got = append(got, f.Severity.String()+" "+f.Sites[0].Role)
			}
			if diff := gocmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
