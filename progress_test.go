package muster_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"muster"
	"muster/launch"
)

// textOf is what a check reports, as text and as data.
func textOf(tb testing.TB, ctx context.Context, l *muster.Launch, o muster.CheckOptions) string {
	tb.Helper()
	r, err := l.Check(ctx, o)
	if err != nil {
		tb.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteText(&b, muster.TextOptions{}); err != nil {
		tb.Fatal(err)
	}
	if err := r.WriteJSON(&b); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

// TestProgressChangesNothing: a report is the same bytes, whether its progress is told or not,
// for each way in which a launch is decided; and what is told begins with its stages in order.
func TestProgressChangesNothing(t *testing.T) {
	for _, c := range []struct {
		ctas, twist int
		cost        bool
		want        []string
	}{
		{1, 0, true, []string{"proof by one run", "the proof again, for what it could do without", "leaving out fences and barriers one by one"}},
		{2, 0, false, []string{"proof by the lists of clusters that one may get"}},
		{2, 1, false, []string{"running schedules: schedule 1 of 7"}},
		{2, 5, false, []string{"running schedules: schedule 1 of 7", "exploring"}},
	} {
		o := muster.CheckOptions{Cost: c.cost, Jobs: 2}
		want := textOf(t, context.Background(), grantLaunch(t, c.ctas, &grantTwists[c.twist]), o)
		var told []string
		ctx := muster.WithProgress(context.Background(), func(p muster.Progress) { told = append(told, p.String()) })
		if got := textOf(t, muster.WithProgressOf(ctx, "launch 1 of 1"), grantLaunch(t, c.ctas, &grantTwists[c.twist]), o); len(got) != len(want) || withoutPaths(got) != withoutPaths(want) {
			t.Errorf("%d CTAs, twist %d: another report\n%s\nwant\n%s", c.ctas, c.twist, got, want)
		}
		rest := strings.Join(told, "\n")
		for _, w := range c.want {
			_, after, ok := strings.Cut(rest, "launch 1 of 1: "+w)
			if !ok {
				t.Errorf("%d CTAs, twist %d: %q is not told in\n%s", c.ctas, c.twist, w, strings.Join(told, "\n"))
			}
			rest = after
		}
	}
}

// withoutPaths leaves out the lines that name the test's own folder.
func withoutPaths(text string) string {
	var list []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.Contains(line, "/00") {
			list = append(list, line)
		}
	}
	return strings.Join(list, "\n")
}

// BenchmarkProgress is the time of a check that tells its progress over that of one which does
// not, as x/none.
func BenchmarkProgress(b *testing.B) {
	l := loadYAML(b, "examples/ring/ring.yaml", func(ptx string) string { return ptx }, func(*launch.File) {})
	told := muster.WithProgress(context.Background(), func(muster.Progress) {})
	var none, with time.Duration
	for b.Loop() {
		for _, of := range []struct {
			ctx context.Context
			d   *time.Duration
		}{{context.Background(), &none}, {told, &with}} {
			begin := time.Now()
			textOf(b, of.ctx, l, muster.CheckOptions{Jobs: 1})
			*of.d += time.Since(begin)
		}
	}
	b.ReportMetric(float64(with)/float64(none), "x/none")
}
