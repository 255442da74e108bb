package muster_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster"
	"muster/launch"
)

// Kernels that go well in the schedules that usually happen, and others that
// look like them and are right: what may be proven and what may not.

// A claim is a kernel and whether one run may decide for all its schedules.
type claim struct {
	name    string
	decls   string // of the module
	body    string // of the kernel; a few registers and shared words are declared
	grid    string
	block   string
	cluster string
	proven  bool
	// says is in a reason or a finding of what is not proven, or in the summary
	// of what is; empty: anything.
	says string
	// never is in none of it.
	never string
}

// ptx is the module. Barriers b0 to b3 are initialized with the counts of
// INIT(c0,c1,…) by thread 0, and bar.sync follows.
func (c *claim) ptx() string {
	body := c.body
	if i := strings.Index(body, "INIT("); i >= 0 {
		j := i + strings.Index(body[i:], ")")
		text := "setp.ne.u32 %p9, %tid.x, 0; @%p9 bra INITED;\n"
		for k, n := range strings.Split(body[i+5:j], ",") {
			text += "mbarrier.init.shared.b64 [b" + string(rune('0'+k)) + "], " + n + ";\n"
		}
		text += "fence.mbarrier_init.release.cluster;\nINITED: bar.sync 0;\n"
		body = body[:i] + text + body[j+1:]
	}
	return `.version 8.6
.target sm_90a
.address_size 64
` + c.decls + `
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{
	.reg .pred %p<16>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<8>; .reg .b16 %h<4>;
	.shared .align 128 .b8 buf[4096];
	.shared .align 8 .b64 b0; .shared .align 8 .b64 b1; .shared .align 8 .b64 b2; .shared .align 8 .b64 b3;
	.local .align 8 .b8 loc[64];
	ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x; shr.u32 %r3, %r2, 5; and.b32 %r4, %r2, 31; mov.u32 %r5, %ctaid.x;
` + body + `
	ret;
}
`
}

func (c *claim) check(t *testing.T) *muster.Report {
	t.Helper()
	name := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(name, []byte(c.ptx()), 0o666); err != nil {
		t.Fatal(err)
	}
	flags := launch.Flags{PTX: name, Grid: c.grid, Block: c.block, Cluster: c.cluster,
		Buffers: []string{"out=u32[4096]:zeros", "in=u32[4096]:iota"}, Args: []string{"out", "in", "s32:8"}}
	if flags.Grid == "" {
		flags.Grid = "1"
	}
	if flags.Block == "" {
		flags.Block = "64"
	}
	f, err := launch.FromFlags(flags)
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadFile(f, muster.Limits{Instrs: 1 << 18, Memory: 1 << 28})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check(context.Background(), muster.CheckOptions{Schedules: muster.Handful(1)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestClaims(t *testing.T) {
	for _, c := range claims {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			r := c.check(t)
			proven := r.Proof != nil && r.Proof.All && strings.HasPrefix(r.Summary, "clean: all schedules")
			if proven != c.proven {
				t.Errorf("proven: %v, want %v", proven, c.proven)
			}
			text := r.Summary
			for _, f := range r.Findings {
				text += "\nfinding " + f.Kind + ": " + f.Headline
			}
			for _, g := range r.Gaps {
				text += "\ngap " + g.What
			}
			if r.Proof != nil {
				for _, why := range r.Proof.Reasons {
					text += "\nunproven " + why.Condition + ": " + why.Text
				}
			}
			t.Log(text)
			if !strings.Contains(text, c.says) {
				t.Errorf("it does not say %q", c.says)
			}
			if c.never != "" && strings.Contains(text, c.never) {
				t.Errorf("it says %q", c.never)
			}
		})
	}
}
