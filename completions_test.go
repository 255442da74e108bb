package muster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/internal/yaml"
)

// TestCompletions holds what completes what, by instructions without their operands, of
// kernels that wait in each way.
func TestCompletions(t *testing.T) {
	for _, c := range []struct {
		file string
		want []string
	}{
		{"examples/ring/ring.yaml", []string{
			"bar.sync <- bar.sync",
			"mbarrier.try_wait.parity.shared::cta.b64 <- cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
			"mbarrier.try_wait.parity.shared::cta.b64 <- mbarrier.arrive.expect_tx.release.cta.shared::cta.b64",
			"mbarrier.try_wait.parity.shared::cta.b64 <- mbarrier.arrive.shared.b64",
			"mbarrier.try_wait.parity.shared::cta.b64 <- mbarrier.init.shared.b64",
		}},
		{"examples/bulk_store/bulk_store.yaml", []string{
			"bar.sync <- bar.sync",
			"cp.async.bulk.wait_group.read <- cp.async.bulk.commit_group",
			"cp.async.bulk.wait_group.read <- cp.async.bulk.global.shared::cta.bulk_group",
		}},
		{"examples/named_barrier/named_barrier.yaml", []string{"bar.sync <- bar.arrive", "bar.sync <- bar.sync"}},
		{"examples/gemm_rs/gemm_rs.yaml", []string{
			"bar.sync <- bar.sync",
			"mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 <- cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
			"mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 <- mbarrier.arrive.expect_tx.release.cta.shared::cta.b64",
			"mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 <- mbarrier.arrive.release.cta.shared::cta.b64",
			"mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 <- mbarrier.init.shared::cta.b64",
			"wgmma.wait_group.sync.aligned <- wgmma.commit_group.sync.aligned",
			"wgmma.wait_group.sync.aligned <- wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16",
		}},
		{"examples/blackwell/gemm_1cta.yaml", []string{
			"bar.sync <- bar.sync",
			"mbarrier.try_wait.parity.shared::cta.b64 <- cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes",
			"mbarrier.try_wait.parity.shared::cta.b64 <- mbarrier.arrive.expect_tx.shared::cta.b64",
			"mbarrier.try_wait.parity.shared::cta.b64 <- mbarrier.arrive.shared::cta.b64",
			"mbarrier.try_wait.parity.shared::cta.b64 <- mbarrier.init.shared::cta.b64",
			"mbarrier.try_wait.parity.shared::cta.b64 <- tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64",
			"mbarrier.try_wait.parity.shared::cta.b64 <- tcgen05.mma.cta_group::1.kind::f16",
			"tcgen05.wait::ld.sync.aligned <- tcgen05.ld.sync.aligned.32x32b.x32.b32",
		}},
		{"examples/ldgsts/ldgsts.yaml", []string{
			"bar.sync <- bar.sync",
			"mbarrier.try_wait.parity.shared.b64 <- cp.async.cg.shared.global",
			"mbarrier.try_wait.parity.shared.b64 <- cp.async.mbarrier.arrive.noinc.shared.b64",
		}},
		// It hangs: what has come to the phase that is waited for counts, although it is not complete.
		{"examples/ring/broken_count.yaml", []string{
			"bar.sync <- bar.sync",
			"mbarrier.try_wait.parity.shared::cta.b64 <- cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes",
			"mbarrier.try_wait.parity.shared::cta.b64 <- mbarrier.arrive.expect_tx.release.cta.shared::cta.b64",
			"mbarrier.try_wait.parity.shared::cta.b64 <- mbarrier.arrive.shared.b64",
			"mbarrier.try_wait.parity.shared::cta.b64 <- mbarrier.init.shared.b64",
		}},
	} {
		got := completions(t, c.file)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.file, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func completions(t *testing.T, name string) []string {
	f, err := yaml.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadFile(f, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := l.Completions(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	opcode := func(text string) string {
		if text[0] == '@' {
			_, text, _ = strings.Cut(text, " ")
		}
		return strings.TrimSuffix(strings.Fields(text)[0], ";")
	}
	for _, p := range pairs {
		list = append(list, fmt.Sprintf("%s <- %s", opcode(p.Wait.Text), opcode(p.By.Text)))
	}
	slices.Sort(list)
	return slices.Compact(list)
}
