package corpus

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"muster/report"
)

var (
	sizes     = flag.Bool("corpus.sizes", false, "print up to how many CTAs each pattern is decided")
	sizeLimit = flag.Duration("corpus.sizes.limit", time.Minute, "time for one check of that")
	most      = flag.Int("corpus.sizes.most", 132, "CTAs at most")
)

// patterns are what TestSizes checks, each by a kernel of the corpus.
var patterns = []struct{ name, kernel string }{
	{"spin lock by `cas`", "lock_cas_spin"},
	{"spin lock by `exch`", "lock_exch_ptx"},
	{"lock by test and test-and-set", "lock_ttas"},
	{"ticket lock", "lock_ticket"},
	{"semaphore as CUTLASS's", "sem_cutlass_turns"},
	{"split-K with that semaphore", "sem_cutlass_splitk"},
	{"stream-K fixup", "sem_streamk_fixup"},
	{"Triton's lock", "lock_triton"},
	{"grid barrier by a counter", "grid_counter"},
	{"barrier of cooperative groups", "grid_cooperative"},
	{"sense-reversing barrier", "grid_sense"},
	{"last block, acquire and release", "last_acq_rel"},
	{"last block, `__threadfence`", "last_reduction"},
	{"chained scan", "look_chain"},
	{"decoupled look-back", "look_decoupled"},
	{"ring of one producer", "ring_spsc"},
	{"ring of several producers", "ring_mpsc"},
	{"float sums by atomics", "fsum_splitk"},
	{"election by `cas`", "elect_call_once"},
	{"Dekker's flags", "dekker_flags"},
	{"dynamic scheduler", "ticket_scheduler"},
	{"slots by tickets", "ticket_slots"},
}

var shape = regexp.MustCompile(`"shape": \[(\d+)\], "fill"`)

// at is a kernel with buffers for so many CTAs.
func (k Kernel) at(ctas int) (Kernel, Size) {
	s := Size{ctas, k.Size.Block}
	k.buffers = slices.Clone(k.buffers)
	for i, b := range k.buffers {
		k.buffers[i] = shape.ReplaceAllStringFunc(b, func(text string) string {
			n, _ := strconv.Atoi(shape.FindStringSubmatch(text)[1])
			return fmt.Sprintf(`"shape": [%d], "fill"`, n*max(1, (ctas+k.Size.Grid-1)/k.Size.Grid))
		})
	}
	return k, s
}

// TestSizes prints for each pattern up to how many CTAs it is decided in the time, how long that
// took and how many executions were explored, with -corpus.sizes; without, that they are
// decided at two CTAs.
func TestSizes(t *testing.T) {
	list := kernels(t)
	*limit = *sizeLimit
	for _, p := range patterns {
		i := slices.IndexFunc(list, func(k Kernel) bool { return k.Name == p.kernel })
		if i < 0 {
			continue
		}
		row := fmt.Sprintf("| %s | `%s` |", p.name, p.kernel)
		for _, n := range []int{2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 48, 64, 96, 132} {
			if n > 2 && !*sizes || n > *most {
				break
			}
			k, s := list[i].at(n)
			r, took := check(load(t, &k, s))
			runs := 0
			if r.Explored != nil {
				runs = r.Explored.Schedules
			}
			if r.Verdict == report.Findings {
				t.Errorf("%s of %d CTAs: %s", p.kernel, n, r.Summary)
			}
			if r.Verdict != report.Clean {
				t.Logf("%s | at %d: %s, %.1f s, %d | ", row, n, r.Verdict, took.Seconds(), runs)
				row = ""
				break
			}
			row = fmt.Sprintf("| %s | `%s` | %d | %.2f s | %d |", p.name, p.kernel, n, took.Seconds(), runs)
			if *sizes {
				t.Logf("  %s %d: %s %.2fs %d", p.kernel, n, r.Verdict, took.Seconds(), runs)
			}
		}
		if row != "" {
			t.Log(row)
		}
	}
}
