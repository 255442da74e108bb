package mutate

import (
	"context"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster"
	"muster/internal/machine"
	"muster/launch"
	"muster/ptx"
)

func parse(t *testing.T, body string) *ptx.Module {
	t.Helper()
	m, err := ptx.Parse("k.ptx", []byte(".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n\t.reg .pred %p<4>;\n\t.reg .b16 %h<4>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\n"+body+"\n\tret;\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestOperators: what each operator makes of an instruction.
func TestOperators(t *testing.T) {
	for _, c := range []struct{ in, variant, out string }{
		{"fence.sc.cta;", "fence-delete", ""},
		{"fence.sc.cta;", "fence-weak", "fence.acq_rel.cta;"},
		{"fence.acq_rel.gpu;", "scope-narrow", "fence.acq_rel.cta;"},
		{"membar.sys;", "scope-narrow", "membar.gl;"},
		{"membar.gl;", "scope-narrow", "membar.cta;"},
		{"membar.gl;", "fence-weak", "fence.acq_rel.gpu;"},
		{"fence.proxy.async;", "fence-space", "fence.proxy.async.global;"},
		{"fence.proxy.async.shared::cta;", "fence-space", "fence.proxy.async.global;"},
		{"fence.proxy.async.global;", "fence-space", "fence.proxy.async.shared::cta;"},
		{"wgmma.fence.sync.aligned;", "fence-delete", ""},
		{"mbarrier.init.shared.b64 [%r1], %r2;", "count-plus", "add.u32 %mutant, %r2, 1; mbarrier.init.shared.b64 [%r1], %mutant;"},
		{"mbarrier.init.shared.b64 [%r1], 4;", "count-minus", "mbarrier.init.shared.b64 [%r1], 3;"},
		{"mbarrier.arrive.shared.b64 %rd1, [%r1];", "arrive-delete", ""},
		{"mbarrier.arrive.shared.b64 %rd1, [%r1]; mov.b64 %rd2, %rd1;", "arrive-delete", "mov.b64 %rd1, 0;"},
		{"@%p1 mbarrier.arrive.shared.b64 %rd1, [%r1], %r2;", "count-minus", "add.u32 %mutant, %r2, -1; @%p1 mbarrier.arrive.shared.b64 %rd1, [%r1], %mutant;"},
		{"mbarrier.arrive.shared.b64 _, [%r1];", "order-relaxed", "mbarrier.arrive.relaxed.cta.shared.b64 _, [%r1];"},
		{"mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];", "scope-narrow", "mbarrier.arrive.release.cta.shared::cluster.b64 _, [%r1];"},
		{"mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 1024;", "bytes-half", "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 512;"},
		{"mbarrier.arrive.expect_tx.shared.b64 _, [%r1], %r2;", "bytes-half", "shr.u32 %mutant, %r2, 1; mbarrier.arrive.expect_tx.shared.b64 _, [%r1], %mutant;"},
		{"mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 1024;", "bytes-plus", "mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 1040;"},
		{"mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 1024;", "bytes-none", "mbarrier.arrive.shared.b64 _, [%r1];"},
		{"mbarrier.expect_tx.relaxed.cta.shared.b64 [%r1], 1024;", "bytes-delete", ""},
		{"mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2;", "wait-pass", "setp.eq.u32 %p1, 0, 0;"},
		{"mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %r2;", "parity-flip", "xor.b32 %mutant, %r2, 1; mbarrier.try_wait.parity.shared.b64 %p1, [%r1], %mutant;"},
		{"mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 0;", "parity-flip", "mbarrier.test_wait.parity.shared.b64 %p1, [%r1], 1;"},
		{"mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1;", "order-relaxed", "mbarrier.test_wait.relaxed.cta.shared.b64 %p1, [%r1], %rd1;"},
		{"cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];", "count-inc", "cp.async.mbarrier.arrive.shared.b64 [%r1];"},
		{"cp.async.mbarrier.arrive.shared.b64 [%r1];", "count-noinc", "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];"},
		{"cp.async.wait_group 2;", "wait-more", "cp.async.wait_group 3;"},
		{"cp.async.bulk.wait_group 0;", "wait-read", "cp.async.bulk.wait_group.read 0;"},
		{"wgmma.wait_group.sync.aligned 0;", "wait-more", "wgmma.wait_group.sync.aligned 1;"},
		{"cp.async.bulk.commit_group;", "commit-delete", ""},
		{"st.release.gpu.global.u32 [%rd1], %r1;", "order-relaxed", "st.relaxed.gpu.global.u32 [%rd1], %r1;"},
		{"ld.volatile.global.u32 %r1, [%rd1];", "order-weak", "ld.global.u32 %r1, [%rd1];"},
		{"bar.sync 1, 128;", "barrier-count-minus", "bar.sync 1, 96;"},
		{"bar.sync 1, 128;", "barrier-id", "bar.sync 2, 128;"},
		{"bar.red.popc.u32 %r1, 0, !%p1;", "barrier-delete", "selp.u32 %r1, 0, 1, %p1;"},
		{"bar.red.and.pred %p2, 0, %p1;", "barrier-delete", "mov.pred %p2, %p1;"},
		{"barrier.cluster.arrive.aligned;", "order-relaxed", "barrier.cluster.arrive.relaxed.aligned;"},
		{"barrier.cluster.arrive; add.u32 %r1, %r1, 1; barrier.cluster.wait;", "barrier-delete-both", "add.u32 %r1, %r1, 1;"},
		{"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd1], 16, [%r2], 6;", "mask-less",
			"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd1], 16, [%r2], 4;"},
		{"cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd1, {%r3}], [%r2], %h1;", "mask-less",
			"sub.u16 %mutant, %h1, 1; and.b16 %mutant, %mutant, %h1; cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%rd1, {%r3}], [%r2], %mutant;"},
		{"setmaxnreg.dec.sync.aligned.u32 40;", "registers-delete", ""},
	} {
		m := find(List(parse(t, "\t"+c.in), "k"), c.variant)
		if m == nil {
			t.Errorf("%s has no %s", c.in, c.variant)
		} else if m.After() != c.out {
			t.Errorf("%s: %s gives\n%s, want\n%s", c.in, c.variant, m.After(), c.out)
		}
	}
}

func find(list []*Mutation, variant string) *Mutation {
	for _, m := range list {
		if m.Variant == variant {
			return m
		}
	}
	return nil
}

// TestEarly: a release moves past a loop that waits, past accesses up to the
// last wait, and under the condition of a branch around it; not out of a loop,
// nor past a load that gives its operands.
func TestEarly(t *testing.T) {
	const arrive = "\tadd.u32 %r4, %r4, 8;\n\tmbarrier.arrive.shared.b64 _, [%r4];"
	const wait = "W:\tmbarrier.try_wait.parity.shared.b64 %p1, [%r5], 0;\n\t@!%p1 bra W;\n"
	const loads = "\tld.shared.u32 %r1, [%r2];\n\tst.global.u32 [%rd1], %r1;\n"
	for _, c := range []struct{ name, body, variant, first string }{
		{"accesses", wait + loads + "\tmbarrier.arrive.shared.b64 _, [%r3];", "early-access", "mbarrier.arrive.shared.b64 _, [%r3]; ld.shared.u32 %r1, [%r2];"},
		{"a loop", wait + loads + "\tmbarrier.arrive.shared.b64 _, [%r3];", "early-wait", "mbarrier.arrive.shared.b64 _, [%r3]; mbarrier.try_wait"},
		{"a branch", "\tbar.sync 0;\n" + loads + "\t@%p2 bra D;\n\tmbarrier.arrive.shared.b64 _, [%r3];\nD:", "early-access", "@!%p2 mbarrier.arrive.shared.b64 _, [%r3]; ld.shared"},
		{"its address", loads + "\tadd.u32 %r6, %r5, 8;\n\tmbarrier.arrive.shared.b64 _, [%r6];", "early-access", "add.u32 %r6, %r5, 8; mbarrier.arrive.shared.b64 _, [%r6]; ld.shared"},
		{"an address that counts up", "\tst.shared.u32 [%r4], %r1;\n" + arrive, "early-access", ""},
		{"an address that is loaded", "\tld.shared.u32 %r6, [%r5];\n\tmbarrier.arrive.shared.b64 _, [%r6];", "early-access", ""},
		{"the head of a loop", loads + "L:\tmbarrier.arrive.shared.b64 _, [%r3];\n\t@%p1 bra L;", "early-access", ""},
		{"two branches out", loads + "\t@%p1 bra D;\n\t@%p2 bra D;\n\tmbarrier.arrive.shared.b64 _, [%r3];\nD:", "early-access", ""},
		{"a commit", "\tcp.async.ca.shared.global [%r1], [%rd1], 4;\n\tcp.async.commit_group;", "early-access", "cp.async.commit_group; cp.async.ca"},
		{"a fence", "\tst.shared.u32 [%r1], %r2;\n\tfence.proxy.async;", "early-access", "fence.proxy.async; st.shared"},
	} {
		after := ""
		if m := find(List(parse(t, c.body), "k"), c.variant); m != nil {
			after = m.After()
		}
		if !strings.HasPrefix(after, c.first) || c.first == "" && after != "" {
			t.Errorf("past %s: %q, want %q", c.name, after, c.first)
		}
	}
}

var validEvery = flag.Int("mutate.every", 4, "TestValid: one of so many mutants is read back")

// TestValid: mutants of every kernel of the corpus are PTX that reads back and
// decodes, differ from the kernel, and have names of their own.
func TestValid(t *testing.T) {
	files, err := filepath.Glob("../../ptx/testdata/corpus/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatal("no corpus", err)
	}
	total := 0
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		mod, err := ptx.Parse(f, src)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range machine.Kernels(mod) {
			if _, err := machine.Decode(mod, k); err != nil {
				continue
			}
			total += valid(t, mod, k)
		}
	}
	if total < 500 {
		t.Errorf("%d mutants", total)
	}
}

func valid(t *testing.T, mod *ptx.Module, kernel string) int {
	t.Helper()
	before := mod.String()
	names := map[string]bool{}
	list := List(mod, kernel)
	for i, m := range list {
		if names[m.ID] {
			t.Errorf("%s: %s twice", kernel, m.ID)
		}
		names[m.ID] = true
		if i%*validEvery != 0 {
			continue
		}
		changed, ok := Apply(mod, m)
		text := changed.String()
		if !ok || text == before {
			t.Errorf("%s: %s changes nothing", kernel, m.ID)
		}
		again, err := ptx.Parse("mutant.ptx", []byte(text))
		if err != nil {
			t.Errorf("%s: %s: %v", kernel, m.ID, err)
			continue
		}
		if _, err := machine.Decode(again, kernel); err != nil {
			t.Errorf("%s: %s: %v", kernel, m.ID, err)
		}
	}
	if mod.String() != before {
		t.Errorf("%s: the kernel itself has changed", kernel)
	}
	return len(list)
}

// TestApplyTwo: two changes of one module, beside each other and not over each
// other.
func TestApplyTwo(t *testing.T) {
	mod := parse(t, "\tbar.sync 0;\n\t{ fence.acq_rel.cta; }\n\tbar.sync 1;")
	list := List(mod, "k")
	out, ok := Apply(mod, find(list, "fence-delete"), list[len(list)-1])
	if text := out.String(); !ok || strings.Contains(text, "fence") || strings.Contains(text, "bar.sync 1") || !strings.Contains(text, "bar.sync 0") {
		t.Errorf("%v\n%s", ok, text)
	}
	if _, ok := Apply(mod, list[0], list[0]); ok {
		t.Error("one change was made twice")
	}
}

// TestFindsBy: the ring's mutants by name, and that the number of jobs changes
// nothing.
func TestFindsBy(t *testing.T) {
	f, err := launch.ReadFile("testdata/ring.json")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, jobs := range []int{1, 3} {
		table, err := Run(context.Background(), f, Options{Jobs: jobs, Only: []string{"wait", "order", "bytes", "barrier", "early"}})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := table.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		if err := table.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, b.String())
		for _, r := range table.Rows {
			want := map[string]string{"bytes-half": "bytes-early", "bytes-plus": "bytes-missing", "barrier-delete@149:2": "race-lanes", "barrier-delete@93:2": "init-not-ordered"}
			for _, name := range []string{r.Variant, r.ID} {
				if k := want[name]; k != "" && (r.Finding == nil || r.Finding.Kind != k) {
					t.Errorf("%s is not found as %s", r.ID, k)
				}
			}
		}
		if table.Count(Found) != len(table.Rows)-1 {
			t.Errorf("%s", table.Summary())
		}
	}
	if texts[0] != texts[1] {
		t.Error("other bytes with other jobs")
	}
	if _, err := Run(context.Background(), f, Options{Schedules: muster.Handful(0), Only: []string{"waits"}}); err == nil {
		t.Error("there is no kind called waits")
	}
}

// TestInterrupted: what was not run is unfinished, and none of it is called found,
// survived or changed.
func TestInterrupted(t *testing.T) {
	f, err := launch.ReadFile("testdata/ring.json")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	table, err := Run(ctx, f, Options{Jobs: 2})
	if !errors.Is(err, context.Canceled) || table == nil || len(table.Rows) == 0 || len(table.Original.Gaps) == 0 {
		t.Fatalf("%+v, %v", table, err)
	}
	for i := range table.Rows {
		if r := &table.Rows[i]; r.Outcome != Unfinished || r.Why != "interrupted (context canceled)" {
			t.Errorf("%s: %s", r.ID, r.result())
		}
	}
}
