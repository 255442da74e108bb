package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A mutant is a right kernel of the examples with one thing wrong.
type mutant struct {
	launch string // under examples/
	name   string
	entry  string // the kernel that is changed, where the file has several
	edits  [][2]string
	// due is the name of the finding.
	due string
}

const (
	tryToken  = "mbarrier.try_wait.shared.b64 p, [%r24], %rd23;"
	tryParity = "mbarrier.try_wait.parity.shared.b64 p, [%r21], %r19;"
	trySplit  = "mbarrier.try_wait.shared.b64 p, [%r18], %rd8;"
	pass      = "setp.eq.u32 p, 0, 0;"
)

// wholeLine deletes the lines that contain a text.
func wholeLine(s string) [2]string { return [2]string{`(?m)^.*` + regexp.QuoteMeta(s) + `.*$`, ""} }

func swap(old, new string) [2]string { return [2]string{regexp.QuoteMeta(old), new} }

var mutants = []mutant{
	{"libcuxx/two_tiles_token.yaml", "no wait", "two_tiles_token", [][2]string{swap(tryToken, pass)}, "read-in-flight"},
	{"libcuxx/two_tiles_token.yaml", "too many bytes", "two_tiles_token", [][2]string{swap("mov.u32 	%r19, 12288;", "mov.u32 	%r19, 12304;")}, "bytes-missing"},
	{"libcuxx/two_tiles_token.yaml", "second copy's bytes forgotten", "two_tiles_token", [][2]string{swap("mov.u32 	%r19, 12288;", "mov.u32 	%r19, 4096;")}, "bytes-early"},
	{"libcuxx/two_tiles_token.yaml", "count one too high", "two_tiles_token", [][2]string{swap("mov.u32 	%r9,", "add.u32 	%r10, %r10, 1; mov.u32 	%r9,")}, "arrivals-missing"},
	{"libcuxx/two_tiles_token.yaml", "count of one", "two_tiles_token", [][2]string{swap("mbarrier.init.shared.b64 [%r9], %r10;", "mbarrier.init.shared.b64 [%r9], 1;")}, "arrivals-excess"},
	{"libcuxx/two_tiles_token.yaml", "no CTA barrier after init", "two_tiles_token", [][2]string{wholeLine("bar.sync 	0;")}, "use-before-init"},
	{"libcuxx/two_tiles_token.yaml", "no init", "two_tiles_token", [][2]string{wholeLine("mbarrier.init.shared.b64 [%r9], %r10;")}, "use-before-init"},
	{"libcuxx/two_tiles_token.yaml", "count of zero", "two_tiles_token", [][2]string{swap("mbarrier.init.shared.b64 [%r9], %r10;", "mbarrier.init.shared.b64 [%r9], 0;")}, "range"},

	{"libcuxx/two_tiles_parity.yaml", "no wait", "two_tiles_parity", [][2]string{swap(tryParity, pass)}, "read-in-flight"},
	{"libcuxx/two_tiles_parity.yaml", "wait for the other parity", "two_tiles_parity", [][2]string{swap(tryParity, "mbarrier.try_wait.parity.shared.b64 p, [%r21], 1;")}, "read-in-flight"},
	{"libcuxx/two_tiles_parity.yaml", "too many bytes", "two_tiles_parity", [][2]string{swap("mov.u32 	%r18, 12288;", "mov.u32 	%r18, 16384;")}, "bytes-missing"},
	{"libcuxx/two_tiles_parity.yaml", "second copy's bytes forgotten", "two_tiles_parity", [][2]string{swap("mov.u32 	%r18, 12288;", "mov.u32 	%r18, 4096;")}, "bytes-early"},
	{"libcuxx/two_tiles_parity.yaml", "count of two", "two_tiles_parity", [][2]string{swap("mov.u32 	%r10, 1;", "mov.u32 	%r10, 2;")}, "arrivals-missing"},
	{"libcuxx/two_tiles_parity.yaml", "no CTA barrier after init", "two_tiles_parity", [][2]string{wholeLine("bar.sync 	0;")}, "init-not-ordered"},
	{"libcuxx/two_tiles_parity.yaml", "a copy before the init", "two_tiles_parity", [][2]string{
		swap("mbarrier.init.shared.b64 [%r9], %r10;", "{ .reg .b32 q, z; .reg .b64 y; mov.u32 q, _ZZ16two_tiles_parityE5smem1; mov.u32 z, 4096; cvta.to.global.u64 y, %rd4; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [q], [y], z, [%r9]; } mbarrier.init.shared.b64 [%r9], %r10;"),
		wholeLine("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11]"),
	}, "use-before-init"},

	{"libcuxx/split_arrive_wait.yaml", "count one too high", "split_arrive_wait", [][2]string{swap("mul.lo.s32 	%r14, %r15, %r16;", "mad.lo.s32 	%r14, %r15, %r16, 1;")}, "arrivals-missing"},
	{"libcuxx/split_arrive_wait.yaml", "count one too low", "split_arrive_wait", [][2]string{swap("mul.lo.s32 	%r14, %r15, %r16;", "mad.lo.s32 	%r14, %r15, %r16, -1;")}, "arrivals-excess"},
	{"libcuxx/split_arrive_wait.yaml", "no CTA barrier after init", "split_arrive_wait", [][2]string{wholeLine("barrier.sync 	0;")}, "use-before-init"},
	{"libcuxx/split_arrive_wait.yaml", "no wait", "split_arrive_wait", [][2]string{swap(trySplit, pass)}, "unobserved-phase"},
	{"libcuxx/split_arrive_wait.yaml", "the token is not the arrival's", "split_arrive_wait", [][2]string{swap(trySplit, "mbarrier.try_wait.shared.b64 p, [%r18], 0;")}, "stale-token"},
	{"libcuxx/split_arrive_wait.yaml", "five warps never come", "split_arrive_wait", [][2]string{swap("setp.lt.s32 	%p2, %r8, 1;", "setp.gt.u32 	%p2, %r3, 95;")}, "arrivals-missing"},
	{"libcuxx/split_arrive_wait.yaml", "a warp leaves a round early", "split_arrive_wait", [][2]string{swap("setp.lt.s32 	%p4, %r25, %r8;", "{ .reg .pred q; .reg .b32 m; setp.gt.u32 q, %r3, 223; selp.u32 m, 1, 0, q; sub.u32 m, %r8, m; setp.lt.s32 	%p4, %r25, m; }")}, "never-completes"},
	{"libcuxx/split_arrive_wait.yaml", "no init", "split_arrive_wait", [][2]string{wholeLine("mbarrier.init.shared.b64 [%r13], %r14;")}, "use-before-init"},

	{"ring/ring.yaml", "consumers do not wait", "", [][2]string{swap("mbarrier.try_wait.parity.shared::cta.b64  P_OUT, [%r5], %r3;", "setp.eq.u32 P_OUT, 0, 0;")}, "read-in-flight"},
	{"ring/ring.yaml", "the producer does not wait", "", [][2]string{swap("mbarrier.try_wait.parity.shared::cta.b64  P_OUT, [%r10], %r8;", "setp.eq.u32 P_OUT, 0, 0;")}, "race-shared"},
	{"ring/ring.yaml", "too few bytes", "", [][2]string{swap("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd8, [%r63], %r62;", "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd8, [%r63], 512;")}, "bytes-early"},
	{"ring/ring.yaml", "too many bytes", "", [][2]string{swap("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd8, [%r63], %r62;", "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %rd8, [%r63], 2048;")}, "bytes-missing"},
	{"ring/ring.yaml", "lanes not synchronized before the release", "", [][2]string{wholeLine("bar.warp.sync 	-1;")}, "race-lanes"},
	{"ring/ring.yaml", "no CTA barrier after the inits", "", [][2]string{wholeLine("bar.sync 	0;")}, "init-not-ordered"},
	{"ring/ring.yaml", "the release is relaxed", "", [][2]string{{`mbarrier\.arrive\.shared\.b64 +%rd4,  \[%r44\];`, "mbarrier.arrive.relaxed.cta.shared::cta.b64 %rd4, [%r44];"}}, "relaxed-sync"},
	{"ring/ring.yaml", "no release", "", [][2]string{{`mbarrier\.arrive\.shared\.b64 +%rd4,  \[%r44\];`, ""}}, "never-completes"},
	{"ring/ring.yaml", "one consumer warp too many counted", "", [][2]string{{`mov.u32 	%r28, 4;`, "mov.u32 	%r28, 5;"}}, "arrivals-missing"},

	{"bulk_store/bulk_store.yaml", "no proxy fence", "", [][2]string{{`fence\.proxy\.async\.shared::cta;`, ""}}, "proxy-raw"},
	{"bulk_store/bulk_store.yaml", "the fence is for global memory", "", [][2]string{{`fence\.proxy\.async\.shared::cta;`, "fence.proxy.async.global;"}}, "proxy-raw"},
	{"bulk_store/bulk_store.yaml", "no wait before reuse", "", [][2]string{{`cp\.async\.bulk\.wait_group\.read 1;`, ""}}, "overwrite-in-flight"},
	{"bulk_store/bulk_store.yaml", "waits leave two groups", "", [][2]string{{`cp\.async\.bulk\.wait_group\.read 1;`, "cp.async.bulk.wait_group.read 2;"}}, "overwrite-in-flight"},
	{"bulk_store/bulk_store.yaml", "no wait at the end", "", [][2]string{{`cp\.async\.bulk\.wait_group\.read 0;`, ""}}, "exit-in-flight"},
	{"bulk_store/bulk_store.yaml", "nothing is committed", "", [][2]string{{`cp\.async\.bulk\.commit_group;`, ""}}, "overwrite-in-flight"},
	{"bulk_store/bulk_store.yaml", "no CTA barriers", "", [][2]string{{`bar\.sync 	0;`, ""}}, "race-shared"},
	{"bulk_store/bulk_store.yaml", "a size that is no multiple of 16", "", [][2]string{{`mov.u32 	%r37, 512;`, "mov.u32 	%r37, 504;"}}, "misaligned"},
}

// TestMutants holds every mutant to its name.
func TestMutants(t *testing.T) {
	for i, m := range mutants {
		if testing.Short() && i%16 != 8 {
			continue
		}
		t.Run(strings.TrimSuffix(m.launch, ".yaml")+"/"+m.name, func(t *testing.T) {
			t.Parallel()
			// A phase that no thread waits for cannot affect data: a warning. Which thread
			// completes it then depends on the schedule, and there are too many schedules.
			severity, want := "error", 1
			switch m.due {
			case "unobserved-phase":
				severity, want = "warning", exitIncomplete
			case "exit-in-flight":
				severity, want = "warning", exitClean
			}
			code, out := m.check(t)
			if code != want || !strings.Contains(out, severity+"["+m.due+"]") {
				t.Errorf("exit %d, no %s[%s]\n%s", code, severity, m.due, headlines(out))
			}
		})
	}
}

// check checks a copy of the example with the edits made.
func (m *mutant) check(t *testing.T) (int, string) {
	from := filepath.Join("../../examples", m.launch)
	src, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(from), "*"))
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`(?m)^ptx: (.*)$`).FindStringSubmatch(string(src))[1]
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(f) == name {
			b = []byte(m.apply(t, string(b)))
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(f)), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return command("check", "--schedules", "20", "--jobs", "1", filepath.Join(dir, filepath.Base(m.launch)))
}

func (m *mutant) apply(t *testing.T, ptx string) string {
	lo, hi := 0, len(ptx)
	if m.entry != "" {
		lo = strings.Index(ptx, ".entry "+m.entry+"(")
		if n := strings.Index(ptx[lo+1:], ".entry "); n >= 0 {
			hi = lo + 1 + n
		}
	}
	body := ptx[lo:hi]
	for _, e := range m.edits {
		re := regexp.MustCompile(e[0])
		if !re.MatchString(body) {
			t.Fatalf("nothing matches %s", e[0])
		}
		body = re.ReplaceAllLiteralString(body, e[1])
	}
	return ptx[:lo] + body + ptx[hi:]
}

// headlines are the first lines of findings, and the verdict.
func headlines(out string) string {
	var keep []string
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i, l := range lines {
		if strings.Contains(l, "]") && strings.Contains(l, "[") && !strings.HasPrefix(l, " ") || i == len(lines)-1 {
			keep = append(keep, l)
		}
	}
	return strings.Join(keep, "\n")
}
