package muster_test

import (
	"context"
	"strings"
	"testing"

	"muster"
)

// TestSoFar: what a check tells before its report is there names the stage, why there is no
// proof, and what was found.
func TestSoFar(t *testing.T) {
	for _, c := range []struct {
		twist int
		ctas  int
		want  []string // in this order
	}{
		{0, 1, []string{"nothing was decided; a run that may decide every schedule next"}},
		{1, 2, []string{
			"nothing was decided; a run that may decide every schedule next",
			"no proof of every schedule: it is open whether nothing that the schedule decides reaches a branch, an address or memory ('explain C9' has more); 0 schedules ran; runs next",
			"schedules ran, and showed error[race-global] at ",
		}},
		// Two requests at a time are explored.
		{5, 2, []string{"('explain C9' has more) at k.ptx:24, k.ptx:23, k.ptx:24; 0 schedules ran; runs next", "7 schedules ran, and nothing was found; exploration next", "schedules explored besides"}},
	} {
		var told []string
		l := grantLaunch(t, c.ctas, &grantTwists[c.twist])
		r, err := l.Check(context.Background(), muster.CheckOptions{Jobs: 1, SoFar: func(text string) { told = append(told, text) }})
		if err != nil {
			t.Fatal(err)
		}
		rest := strings.Join(told, "\n")
		for _, want := range c.want {
			_, after, ok := strings.Cut(rest, want)
			if !ok {
				t.Errorf("%s, %d CTAs (%s): %q is not told in %q", grantTwists[c.twist].name, c.ctas, r.Summary, want, told)
			}
			rest = after
		}
	}
}
