package explore_test

import (
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
)

// TestLongRuns: a run that is too long ends no search, and leaves it incomplete.
func TestLongRuns(t *testing.T) {
	const body = `
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra DONE;
	mov.u32 %r2, %ctaid.x;
	atom.relaxed.gpu.global.add.u32 %r3, [%rd1], 1;
	setp.ne.u32 %p1, %r3, 3;
	@%p1 bra DONE;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 bra DONE;
	mov.u32 %r4, 0;
L:
	atom.relaxed.gpu.global.add.u32 %r5, [%rd1+64], 1;
	add.u32 %r4, %r4, 1;
	setp.lt.u32 %p1, %r4, 300;
	@%p1 bra L;
DONE:
`
	start := build(t, body, 4, 32, 64)
	cov := explore.NewSearch(&explore.Space{
		Fork:  func(o machine.Observer) *machine.Machine { return start.Fork(o, nil) },
		Watch: func() explore.Watcher { return blind{} },
	}, explore.Limits{Length: 100}).Run(nil)
	if cov.Complete || cov.Long == 0 || !explore.TooLong(cov.Why) || cov.Schedules <= 8 {
		t.Errorf("%+v, want more than 8 runs, some of them set aside", cov)
	}
}
