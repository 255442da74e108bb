package mutate

import (
	"strings"
	"testing"

	"muster/ptx"
)

// parseTensor parses a kernel for sm_100a.
func parseTensor(t *testing.T, body string) *ptx.Module {
	t.Helper()
	m, err := ptx.Parse("k.ptx", []byte(".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n\t.reg .pred %p<4>;\n\t.reg .b16 %h<4>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\n"+body+"\n\tret;\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestTensorOperators: what operators make of tcgen05, and of copies for pairs.
func TestTensorOperators(t *testing.T) {
	const mma, commit = "tcgen05.mma.cta_group::2.kind::f16 ", "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster."
	for _, c := range []struct{ in, variant, out string }{
		{"tcgen05.fence::before_thread_sync;", "fence-delete", ""},
		{"tcgen05.wait::ld.sync.aligned;", "wait-delete", ""},
		{"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 64;", "alloc-half", "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;"},
		{"tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r1], %r2;", "alloc-half", "shr.u32 %mutant, %r2, 1; tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r1], %mutant;"},
		{"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;", "dealloc-half", "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;"},
		{"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 64;", "dealloc-delete", ""},
		{"tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;", "relinquish-delete", ""},
		{"tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;", "group-one", "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"},
		{commit + "b64 [%r1];", "commit-delete", ""},
		{commit + "b64 [%r1];", "commit-arrive", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];"},
		{commit + "b64 [%r1+8];", "commit-other", commit + "b64 [%r1+16];"},
		{commit + "b64 [%r1];", "commit-alone", ""},
		{commit + "multicast::cluster.b64 [%r1], %h1;", "commit-alone", commit + "b64 [%r1];"},
		{commit + "multicast::cluster.b64 [%r1], 3;", "mask-less", commit + "multicast::cluster.b64 [%r1], 2;"},
		{commit + "multicast::cluster.b64 [%r1], %h1;", "mask-less", "sub.u16 %mutant, %h1, 1; and.b16 %mutant, %mutant, %h1; " + commit + "multicast::cluster.b64 [%r1], %mutant;"},
		{mma + "[%r1], %rd1, %rd2, %r2, %p1;", "adds-always", "setp.eq.u32 %mutant, 0, 0; " + mma + "[%r1], %rd1, %rd2, %r2, %mutant;"},
		{mma + "[%r1], %rd1, %rd2, %r2, {%r3, %r3, %r3, %r3, %r3, %r3, %r3, %r3}, %p1;", "adds-always",
			"setp.eq.u32 %mutant, 0, 0; " + mma + "[%r1], %rd1, %rd2, %r2, {%r3, %r3, %r3, %r3, %r3, %r3, %r3, %r3}, %mutant;"},
		{mma + "[%r1], %rd1, %rd2, %r2, %p1, 4;", "adds-always", "setp.eq.u32 %mutant, 0, 0; " + mma + "[%r1], %rd1, %rd2, %r2, %mutant, 4;"},
		{mma + "[%r1], [%r2], %rd2, %r2, %p1;", "columns-on", mma + "[%r1+32], [%r2], %rd2, %r2, %p1;"},
		{mma + "[%r1], %rd1, %rd2, %r2, %p1;", "group-one", "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;"},
		{"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];", "lanes-on", "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2+2097152];"},
		{"tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r1};", "columns-on", "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2+32], {%r1};"},
		{"cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%r1], [%rd1, {%r3}], [%r2];", "group-none",
			"cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r3}], [%r2];"},
	} {
		after := ""
		m := find(List(parseTensor(t, "\t"+c.in), "k"), c.variant)
		if m != nil {
			after = m.After()
		}
		if after != c.out || m == nil && !(c.variant == "commit-alone" && c.out == "") {
			t.Errorf("%s: %s gives\n%s, want\n%s", c.in, c.variant, after, c.out)
		}
	}
}

// TestTensorEarly: a commit moves past what it tracks, a dealloc past a barrier, a fence past
// accesses.
func TestTensorEarly(t *testing.T) {
	const mma = "\ttcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;\n"
	const commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];"
	const dealloc = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;"
	const load = "\ttcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];\n\ttcgen05.wait::ld.sync.aligned;\n"
	for _, c := range []struct{ name, body, variant, first string }{
		{"a commit", mma + mma + "\t" + commit, "early-access", commit + " tcgen05.mma"},
		{"a commit behind another one", "\t" + commit + "\n\t" + commit, "early-access", ""},
		{"a dealloc", load + "\tbar.sync 0;\n\t" + dealloc, "early-wait", dealloc + " bar.sync 0;"},
		{"a fence", load + "\ttcgen05.fence::before_thread_sync;", "early-access", "tcgen05.fence::before_thread_sync; tcgen05.ld"},
	} {
		after := ""
		if m := find(List(parseTensor(t, c.body), "k"), c.variant); m != nil {
			after = m.After()
		}
		if !strings.HasPrefix(after, c.first) || c.first == "" && after != "" {
			t.Errorf("%s: %q, want %q", c.name, after, c.first)
		}
	}
}
