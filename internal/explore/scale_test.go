package explore_test

import (
	"flag"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"muster/internal/explore"
	"muster/internal/machine"
)

// A scaled is a program of a family, at the size that its name says.
type scaled struct {
	name  string
	body  string
	warps uint32
	kinds int64 // of schedules
}

// perWarp is code for the first lane of each warp: its number is in %r2, %rd2 is
// the address of a line of its own.
const perWarp = `
	.shared .align 8 .b64 full[16];
	.shared .align 8 .b64 empty[16];
	.shared .align 16 .b32 tile[16];
	shr.u32 %r2, %r1, 5;
	mul.wide.u32 %rd2, %r2, 1024;
	add.s64 %rd2, %rd2, %rd1;
	and.b32 %r3, %r1, 31;
	setp.ne.u32 %p1, %r3, 0;
	@%p1 bra DONE;
`

// private: each of w warps takes k independent steps, and then c steps that depend on
// all warps' and each record the order so far.
func private(w, k, c int) scaled {
	var b strings.Builder
	b.WriteString(perWarp)
	for i := range k {
		fmt.Fprintf(&b, "\tst.global.u32 [%%rd2+%d], %%r2;\n", 512+i%64*4)
	}
	for i := range c {
		fmt.Fprintf(&b, "\tatom.global.add.u32 %%r4, [%%rd1], 1;\n\tst.global.u32 [%%rd2+%d], %%r4;\n", 128+4*i)
	}
	b.WriteString("DONE:\n")
	return scaled{fmt.Sprintf("private/warps=%d,private=%d,shared=%d", w, k, c), b.String(), uint32(w), multinomial(w, c).Int64()}
}

// multinomial returns the number of interleavings of w sequences of n steps.
func multinomial(w, n int) *big.Int {
	out := new(big.Int).MulRange(1, int64(w*n))
	for range w {
		out.Quo(out, new(big.Int).MulRange(1, int64(max(n, 1))))
	}
	return out
}

// ring: a warp fills s slots of a ring in turn, t times, and another one empties
// them.
func ring(s, t int) scaled {
	var b strings.Builder
	b.WriteString(perWarp)
	b.WriteString("\tsetp.ne.u32 %p2, %r2, 0;\n\t@%p2 bra SET;\n")
	for i := range s {
		fmt.Fprintf(&b, "\tmbarrier.init.shared.b64 [full+%d], 1;\n\tmbarrier.init.shared.b64 [empty+%d], 1;\n", 8*i, 8*i)
	}
	b.WriteString("SET:\n\tbar.sync 0, 64;\n\t@%p2 bra CONSUMER;\n")
	wait := func(name, bar string, i, parity int) {
		fmt.Fprintf(&b, "%s%d:\n\tmbarrier.try_wait.parity.shared.b64 %%p3, [%s+%d], %d;\n\t@!%%p3 bra %s%d;\n", name, i, bar, 8*(i%s), parity, name, i)
	}
	for i := range t {
		wait("P", "empty", i, (i/s&1)^1)
		fmt.Fprintf(&b, "\tst.shared.u32 [tile+%d], %d;\n\tmbarrier.arrive.shared.b64 %%rd3, [full+%d];\n", 4*(i%s), i, 8*(i%s))
	}
	b.WriteString("\tbra DONE;\nCONSUMER:\n")
	for i := range t {
		wait("C", "full", i, i/s&1)
		fmt.Fprintf(&b, "\tld.shared.u32 %%r4, [tile+%d];\n\tmbarrier.arrive.shared.b64 %%rd3, [empty+%d];\n\tst.global.u32 [%%rd2+%d], %%r4;\n", 4*(i%s), 8*(i%s), 4*(i%64))
	}
	b.WriteString("DONE:\n")
	// All lanes must reach bar.sync, so the exit of other lanes moves behind it.
	text := strings.Replace(b.String(), "\tsetp.ne.u32 %p1, %r3, 0;\n\t@%p1 bra DONE;\n", "", 1)
	text = strings.Replace(text, "setp.ne.u32 %p2, %r2, 0;\n\t@%p2 bra SET;", "setp.ne.u32 %p2, %r2, 0;\n\tsetp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra SET;", 1)
	text = strings.Replace(text, "\tbar.sync 0, 64;\n", "\tbar.sync 0, 64;\n\tsetp.ne.u32 %p1, %r3, 0;\n\t@%p1 bra DONE;\n", 1)
	return scaled{fmt.Sprintf("ring/stages=%d,tiles=%d", s, t), text, 2, 1}
}

// stores: two warps pass n barriers, and once in between store different values to
// one word.
func stores(n int) scaled {
	var b strings.Builder
	b.WriteString(perWarp)
	for i := range n {
		fmt.Fprintf(&b, "\tst.global.u32 [%%rd2+%d], %%r2;\n\tbar.sync 0, 64;\n", 128+4*(i%64))
		if i == n/2 {
			b.WriteString("\tst.global.u32 [%rd1], %r2;\n")
		}
	}
	// All lanes reach bar.sync, and store where their warp does.
	text := strings.Replace(b.String(), "\t@%p1 bra DONE;\n", "", 1)
	return scaled{fmt.Sprintf("stores/barriers=%d", n), text, 2, 2}
}

func (s *scaled) start(t testing.TB) *machine.Machine {
	return build(t, s.body, 1, 32*s.warps, 4096)
}

// explored explores the program.
func (s *scaled) explored(t testing.TB) explore.Coverage {
	start := s.start(t)
	search := explore.NewSearch(&explore.Space{
		Fork:  func(o machine.Observer) *machine.Machine { return start.Fork(o, nil) },
		Watch: func() explore.Watcher { return blind{} },
	}, explore.Limits{})
	return search.Run(nil)
}

// blind watches runs and sees nothing.
type blind struct{}

func (blind) Observe(*machine.Machine, *machine.Event) {}
func (blind) End(*machine.Machine, []machine.Choice)   {}

// maxStates bounds counting; the table of docs/exploration.md is with 60,000.
var maxStates = flag.Int("states", 3000, "how many states TestScale goes through to count interleavings")

// interleavings counts the paths from the beginning to an end, over the states in
// between; nil if these are too many.
func (s *scaled) interleavings(t testing.TB) *big.Int {
	known := map[uint64]*big.Int{}
	var count func(m *machine.Machine) *big.Int
	count = func(m *machine.Machine) *big.Int {
		h := m.Hash()
		if n, ok := known[h]; ok {
			return n
		}
		if len(known) > *maxStates {
			return nil
		}
		ways := m.Ways(nil)
		n := new(big.Int)
		if len(ways) == 0 {
			n.SetInt64(1)
		}
		for i, c := range ways {
			next := m
			if i < len(ways)-1 {
				next = m.Clone()
			}
			next.Step(c)
			more := count(next)
			if more == nil {
				return nil
			}
			n.Add(n, more)
		}
		known[h] = n
		return n
	}
	return count(s.start(t).Fork(nil, nil))
}

// every runs every interleaving, up to a number, as exploration would without
// reduction. It returns how many ran, and their steps.
func (s *scaled) every(t testing.TB, most int) (runs int, steps int64) {
	var walk func(m *machine.Machine)
	walk = func(m *machine.Machine) {
		ways := m.Ways(nil)
		if len(ways) == 0 {
			runs++
		}
		for i, c := range ways {
			if runs >= most {
				return
			}
			next := m
			if i < len(ways)-1 {
				next = m.Clone()
			}
			next.Step(c)
			steps++
			walk(next)
		}
	}
	walk(s.start(t).Fork(nil, nil))
	return runs, steps
}

// scale lists the programs of TestScale and BenchmarkScale.
func scale() []scaled {
	var list []scaled
	for _, k := range []int{0, 4, 16, 64} {
		list = append(list, private(2, k, 1))
	}
	for _, k := range []int{0, 4, 8} {
		list = append(list, private(3, k, 1))
	}
	for _, c := range []int{2, 3, 4, 5} {
		list = append(list, private(2, 4, c))
	}
	for w := 4; w <= 6; w++ {
		list = append(list, private(w, 0, 1))
	}
	for _, s := range []int{1, 2, 4} {
		for _, t := range []int{4, 16, 64} {
			list = append(list, ring(s, t))
		}
	}
	for _, n := range []int{1, 4, 16, 64, 256} {
		list = append(list, stores(n))
	}
	return list
}

// TestScale: exploration covers the unordered steps only, however long the program
// is.
func TestScale(t *testing.T) {
	if testing.Short() {
		t.Skip("explores for long")
	}
	for _, s := range scale() {
		begin := time.Now()
		c := s.explored(t)
		took := time.Since(begin)
		if !c.Complete || int64(c.Schedules) != s.kinds {
			t.Errorf("%s: %+v, want %d kinds", s.name, c, s.kinds)
		}
		if whole := int64(c.Longest) * int64(c.Schedules+c.Left); c.Steps > whole {
			t.Errorf("%s: %d steps in runs of %d at most together", s.name, c.Steps, whole)
		}
		n := s.interleavings(t)
		many := "≥ " + new(big.Float).SetInt(multinomial(int(s.warps), (c.Longest-1)/int(s.warps))).Text('g', 3)
		if s.kinds == 1 || strings.HasPrefix(s.name, "stores") {
			many = "not counted" // it waits, so that this is no bound
		}
		if n != nil {
			many = new(big.Float).SetInt(n).Text('g', 3)
			if n.Cmp(big.NewInt(s.kinds)) < 0 {
				t.Errorf("%s: %v interleavings are fewer than kinds", s.name, n)
			}
		}
		if n != nil && n.IsInt64() && n.Int64() <= 5000 {
			if runs, _ := s.every(t, 1<<20); int64(runs) != n.Int64() {
				t.Errorf("%s: %d runs of every interleaving, and %v counted", s.name, runs, n)
			}
		}
		t.Logf("%-36s longest %4d: %10s interleavings, %4d kinds, %3d runs left, %v", s.name, c.Longest, many, c.Schedules, c.Left, took.Round(10*time.Microsecond))
	}
}

// BenchmarkScale explores each program, and also measures the time of running all its
// interleavings, in the same process: of the first maxRuns where there are more. The
// ratio is of those, and so a lower bound where maxRuns is reached.
func BenchmarkScale(b *testing.B) {
	const maxRuns = 20_000
	for _, s := range scale() {
		b.Run(s.name, func(b *testing.B) {
			var c explore.Coverage
			for b.Loop() {
				c = s.explored(b)
			}
			each := b.Elapsed() / time.Duration(b.N)
			begin := time.Now()
			runs, _ := s.every(b, maxRuns)
			without := time.Since(begin)
			b.ReportMetric(float64(c.Schedules), "kinds")
			b.ReportMetric(float64(c.Left), "left")
			b.ReportMetric(float64(runs), "unreduced-runs")
			b.ReportMetric(without.Seconds()*1e3, "unreduced-ms")
			b.ReportMetric(without.Seconds()/each.Seconds(), "ratio")
		})
	}
}
