package blackwell_test

import (
	"context"
	"strings"
	"testing"

	"muster"
	"muster/internal/yaml"
	"muster/launch"
	"muster/ptx"
)

// A twin is a kernel of this folder with one mistake.
type twin struct {
	name   string
	launch string
	// after is a text, old the first text behind it, which new replaces.
	after, old, new string
	due             string // the kind that it must be found as
}

const (
	tryWait    = "mbarrier.try_wait.parity.shared::cta.b64 %passed, [%to], %parity;"
	passes     = "setp.eq.u32 %passed, 0, 0;"
	before     = "\ttcgen05.fence::before_thread_sync;\n"
	after      = "\ttcgen05.fence::after_thread_sync;\n"
	commit     = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%to];"
	commitPair = "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%to], %both;"
)

var twins = []twin{
	{"a stage is given back by a plain arrive", "gemm_1cta", "multiply_step:", commit, "mbarrier.arrive.shared::cta.b64 _, [%to];", "overwrite-in-flight"},
	{"a stage is multiplied before it is full", "gemm_1cta", "stage_is_full:", tryWait, passes, "read-in-flight"},
	{"a stage is filled before it is empty", "gemm_1cta", "stage_is_empty:", tryWait, passes, "overwrite-in-flight"},
	{"a tile is multiplied before the last one is stored", "gemm_1cta", "tile_is_empty:", tryWait, passes, "race-tensor"},
	{"a tile is stored before it is complete", "gemm_1cta", "tile_is_full:", tryWait, passes, "race-tensor"},
	{"a tile is loaded without fence::after_thread_sync", "gemm_1cta", "tile_is_full:", after, "", "tensor-fence"},
	{"a tile is given back without fence::before_thread_sync", "gemm_1cta", "columns:", before, "", "tensor-fence"},
	{"the mma of a tile without fence::after_thread_sync", "gemm_1cta", "tile_is_empty:", after, "", "tensor-fence"},
	{"columns are stored, and their load is not waited for", "gemm_1cta", "columns:", "tcgen05.wait::ld.sync.aligned;", "", "tensor-wait"},
	{"the first mma of a tile adds", "gemm_1cta", "multiply_tile:", "setp.ne.u32 %add, %at, 0;", "setp.eq.u32 %add, %at, 0;", "uninitialized-tensor"},
	{"both tiles in one accumulator", "gemm_1cta", "multiply_tile:", "shl.b32 %d, %slot, 8;", "mov.u32 %d, 0;", "race-tensor"},
	{"a step's commit before its last mma", "gemm_1cta", "stage_is_full:", "\ttcgen05.mma", "\tmov.u32 %to, empty;\n\tadd.u32 %to, %to, %bar;\n\t" + commit + "\n\ttcgen05.mma", "arrivals-excess"},
	{"the bytes of A alone are expected", "gemm_1cta", "stage_is_empty:", "49152", "16384", "bytes-early"},
	{"the ring waits for the other parity", "gemm_1cta", "load_step:", "add.u32 %parity, %parity, 1;", "", "never-completes"},
	{"tile_empty counts one warp", "gemm_1cta", "", "[tile_empty], 128", "[tile_empty], 32", "arrivals-excess"},
	{"tile_empty counts a thread too many", "gemm_1cta", "", "[tile_empty], 128", "[tile_empty], 129", "arrivals-missing"},
	{"warps take the lanes of others", "gemm_1cta", "tile_is_full:", "shl.b32 %word, %warp, 21;", "xor.b32 %word, %warp, 1;\n\tshl.b32 %word, %word, 21;", "tensor-lanes"},
	{"columns are freed while tiles are stored", "gemm_1cta", "done:", "bar.sync 0;", "", "tensor-unallocated"},
	{"columns are never freed", "gemm_1cta", "done:", "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %base, 512;", "", "tensor-alloc"},
	{"half of the columns", "gemm_1cta", "", "[base], 512", "[base], 256", "tensor-unallocated"},

	{"a commit that signals the leader alone", "gemm_2cta", "multiply_step:", commitPair, "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%to];", "never-completes"},
	{"a tile's commit that signals the leader alone", "gemm_2cta", "tile_multiplied:", commitPair, "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%to];", "never-completes"},
	{"the peer's copies signal the peer", "gemm_2cta", "load_step:", "and.b32 %bar, %bar, 0xfeffffff;", "", "bytes-missing"},
	{"the bytes of one CTA are expected", "gemm_2cta", "stage_is_empty:", "65536", "32768", "bytes-early"},
	{"both CTAs expect the bytes", "gemm_2cta", "stage_is_empty:", "@%leads mbarrier.arrive.expect_tx", "mbarrier.arrive.expect_tx", "arrivals-excess"},
	{"tile_empty counts the leader's threads", "gemm_2cta", "", "[tile_empty], 256", "[tile_empty], 128", "arrivals-excess"},
	{"the peer gives tiles back to itself", "gemm_2cta", "columns:", "mapa.shared::cluster.u32 %to, %to, 0;", "mapa.shared::cluster.u32 %to, %to, %rank;", "never-completes"},
	{"an alloc before the peer is known to run", "gemm_2cta", "made:", "barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;", "bar.sync 0;", "remote-before-start"},
	{"a CTA ends before its peer is done", "gemm_2cta", "done:", "barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;", "bar.sync 0;", "exit-before-remote"},
	{"a copy for the pair without cta_group::2", "gemm_2cta", "load_step:", "complete_tx::bytes.cta_group::2 [", "complete_tx::bytes [", "range"},

	{"A is stored, and its store is not waited for", "gemm_tensor_a", "store_a:", "tcgen05.wait::st.sync.aligned;", "", "race-tensor"},
	{"A is multiplied without fence::after_thread_sync", "gemm_tensor_a", "store_a:", after, "", "tensor-fence"},
	{"A is stored before the mma have read the last", "gemm_tensor_a", "multiplied:", "mbarrier.try_wait.parity.shared::cta.b64 %passed, [%done], %parity;", passes, "race-tensor"},
	{"A lies in columns of D", "gemm_tensor_a", "store_a:", "add.u32 %ta, %base, 128;", "add.u32 %ta, %base, 64;", "race-tensor"},
	{"a stage and its factors are filled before they are empty", "gemm_mxfp8", "is_empty:", "mbarrier.try_wait.parity.shared::cta.b64 %passed, [%bar], %phase;", passes, "overwrite-in-flight"},
	{"factors are copied without fence::after_thread_sync", "gemm_mxfp8", "is_empty:", after[:len(after)-1], "", "tensor-fence"},
	{"one slot of factors for both stages", "gemm_mxfp8", "is_full:", "mad.lo.u32 %sa, %slot, 8, %base;", "mov.u32 %sa, %base;", "tensor-order"},
	{"factors in columns of D", "gemm_mxfp8", "is_full:", "add.u32 %sa, %sa, 128;", "add.u32 %sa, %sa, 120;", "race-tensor"},
	{"the bytes of factors are not expected", "gemm_mxfp8", "", "[%bar], 33792;", "[%bar], 32768;", "bytes-early"},
	{"factors in other lanes than every 32", "gemm_mxfp8", "is_full:", "32x128b.warpx4 [%sa]", "128x128b [%sa]", "bad-descriptor"},
	{"factors of B over those of A", "gemm_mxfp8", "is_full:", "add.u32 %sb, %sa, 4;", "mov.u32 %sb, %sa;", "race-tensor"},
	{"factors of A for half of the rows", "gemm_nvfp4", "is_full:", "32x128b.warpx4 [%word]", "4x256b [%word]", "uninitialized-tensor"},
	{"an id that four factors do not have", "gemm_nvfp4", "", "0x08200480", "0x28200480", "bad-descriptor"},
	{"blocks of 32 with factors of ue4m3", "gemm_nvfp4", "", "scale_vec::4X", "scale_vec::2X", "bad-descriptor"},
	{"factors behind the columns that were allocated", "gemm_nvfp4", "", "[base], 256", "[base], 128", "tensor-unallocated"},
	{"the last mma of a step is not committed", "gemm_nvfp4", "scale:", "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%bar];", "mbarrier.arrive.shared::cta.b64 _, [%bar];", "overwrite-in-flight"},
	{"the first CTA expects its own bytes alone", "gemm_mxfp8_2cta", "", "[%bar], 51200;", "[%bar], 25600;", "bytes-early"},
	{"a stage is given back to the first CTA alone", "gemm_mxfp8_2cta", "multiply:", "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%bar], %both;", "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%bar];", "never-completes"},
	{"the second CTA fills a stage before it is empty", "gemm_mxfp8_2cta", "is_empty:", "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %passed, [%bar], %phase;", "@%peer bra free;\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %passed, [%bar], %phase;", "overwrite-in-flight"},
	{"factors copied in the first CTA alone", "gemm_mxfp8_2cta", "is_full:", "tcgen05.cp.cta_group::2.32x128b.warpx4 [%sa]", "tcgen05.cp.cta_group::1.32x128b.warpx4 [%sa]", "tensor-alloc"},
	{"M of one CTA for a pair", "gemm_mxfp8_2cta", "", "0x10a00000", "0x00a00000", "bad-descriptor"},
	{"the metadata of the next step over that of this one", "gemm_sparse", "is_full:", "add.u32 %sa, %sa, %word;", "", "tensor-order"},
	{"metadata that is copied over itself", "gemm_sparse", "is_empty:", after[:len(after)-1], "", "tensor-fence"},
	{"metadata in columns of D", "gemm_sparse", "is_full:", "add.u32 %sa, %base, 128;", "add.u32 %sa, %base, 120;", "race-tensor"},
	{"metadata out of the operands", "gemm_sparse", "is_full:", "add.u32 %load, %load, 49152;", "add.u32 %load, %load, 32768;", "bad-descriptor"},
	{"a dense A for the sparse product", "gemm_sparse", "", "0x08200014", "0x08200010", "bad-descriptor"},
	{"integers that are negated", "gemm_i8", "", "0x082000a0", "0x082020a0", "bad-descriptor"},
	{"a stage of integers is filled before it is empty", "gemm_i8", "is_empty:", "mbarrier.try_wait.parity.shared::cta.b64 %passed, [%bar], %phase;", passes, "overwrite-in-flight"},
	{"an answer is read before it is there", "gemm_cancel", "is_answered:", "mbarrier.try_wait.parity.shared::cta.b64 %passed, [%answered], %turn;", passes, "read-in-flight"},
	{"the next tile is asked for while others read the answer", "gemm_cancel", "is_answered:", "bar.sync 0;", "", "race-lanes"},
	{"the bytes of an answer are not expected", "gemm_cancel", "tile:", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%answered], 16;", "mbarrier.arrive.shared::cta.b64 _, [%answered];", "bytes-early"},
}

// TestTwins: every mistake is found under its name.
func TestTwins(t *testing.T) {
	for i, w := range twins {
		if testing.Short() && i%6 != 0 {
			continue
		}
		t.Run(w.launch+"/"+w.name, func(t *testing.T) {
			t.Parallel()
			r := w.check(t)
			kinds := map[string]bool{}
			for _, f := range r.Findings {
				kinds[f.Kind] = true
			}
			if !kinds[w.due] {
				t.Errorf("no %s: %s %v", w.due, r.Summary, kinds)
			}
		})
	}
}

// small makes a launch of four tiles for one CTA, or one pair, and three steps of K each.
func small(f *launch.File) {
	pair := f.Launches[0].Cluster[0] == 2
	m, n, k := int64(512), int64(256), int64(192)
	f.Launches[0].Grid[0] = 1
	if pair {
		m, f.Launches[0].Grid[0] = 1024, 2
	}
	for i, shape := range [][]int64{{m, k}, {n, k}, {m, n}} {
		f.Buffers[i].Shape = shape
	}
	for i, v := range []int64{m, n, k} {
		f.Launches[0].Args[3+i].Bits = uint64(v)
	}
	f.Expect = nil
}

func (w *twin) check(t *testing.T) *muster.Report {
	t.Helper()
	f, err := yaml.ReadFile(w.launch + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Launches[0].Args) == 6 && len(f.Buffers) == 3 {
		small(f)
	}
	f.Expect = nil
	_, src, err := muster.ReadModule(f)
	if err != nil {
		t.Fatal(err)
	}
	text := string(src)
	from := max(0, strings.Index(text, w.after))
	if strings.Count(text[from:], w.old) == 0 || !strings.Contains(text, w.after) {
		t.Fatalf("nothing reads %q behind %q", w.old, w.after)
	}
	text = text[:from] + strings.Replace(text[from:], w.old, w.new, 1)
	mod, err := ptx.Parse(f.Launches[0].PTX, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadModule(f, mod, []byte(text), muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check(context.Background(), muster.CheckOptions{Schedules: muster.Handful(0)[:2], Jobs: 1, Mode: muster.OnlySchedules})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestProven: every launch is proven for all schedules and all contents of its buffers, those
// of launch control and of a sparse A for all schedules, with nothing to say against it, and a run gives the
// product.
func TestProven(t *testing.T) {
	for _, name := range []string{"gemm_1cta", "gemm_2cta", "gemm_1cta_grid", "gemm_2cta_grid", "gemm_tensor_a", "gemm_cancel", "gemm_mxfp8", "gemm_nvfp4", "gemm_i8", "gemm_sparse", "gemm_mxfp8_2cta"} {
		explored := name == "gemm_cancel" // what it does depends on which CTAs are given up
		given := name == "gemm_sparse"    // the buffer may hold metadata that the ISA does not define
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := yaml.ReadFile(name + ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			l, err := muster.LoadFile(f, muster.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := l.Check(context.Background(), muster.CheckOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != "clean" || !explored && (!r.Proof.All || r.Proof.AnyContents == given) || len(r.Findings) > 0 {
				t.Errorf("%s %+v", r.Summary, r.Findings)
			}
			run, err := l.Run(context.Background(), muster.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(run.Comparisons) != 1 || run.Comparisons[0].Count != 0 || run.Comparisons[0].MaxAbs != 0 {
				t.Errorf("%+v", run.Comparisons)
			}
		})
	}
}
