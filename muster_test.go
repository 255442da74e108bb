package muster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/launch"
)

const storeKernel = `.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
	.shared .align 16 .b8 buf[512];
	.reg .pred %p1;
	.reg .b32 %r<4>;
	.reg .b64 %rd<2>;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, buf;
	mad.lo.s32 %r3, %r1, 4, %r2;
	st.shared.u32 [%r3], %r1;
	bar.sync 0;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra DONE;
	ld.param.u64 %rd1, [out];
	cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 512;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
DONE:
	ret;
}
`

const foreverKernel = `.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, 0;
LOOP:
	add.u32 %r1, %r1, 1; // so that no state comes again
	st.volatile.global.u32 [%rd1], %r1;
	bra LOOP;
}
`

// file makes a launch of a kernel's text.
func file(t *testing.T, kernel string) *launch.File {
	t.Helper()
	name := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(name, []byte(kernel), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := launch.FromFlags(launch.Flags{PTX: name, Grid: "1", Block: "128", Buffers: []string{"out=u32[128]"}, Args: []string{"out"}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func load(t *testing.T, kernel string, lim Limits) *Launch {
	t.Helper()
	l, err := LoadFile(file(t, kernel), lim)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRunWritesBuffers(t *testing.T) {
	r, err := load(t, storeKernel, Limits{}).Run(context.Background(), RunOptions{})
	if err != nil || !r.OK() || r.Report != nil || r.Warps == 0 {
		t.Fatal(r, err)
	}
	data, err := r.Buffer("out")
	if err != nil || len(data) != 512 || data[4] != 1 || data[508] != 127 {
		t.Error(data, err)
	}
	var b bytes.Buffer
	if err := r.WriteArray(&b, "out"); err != nil {
		t.Fatal(err)
	}
	a, err := launch.ReadNpy(&b, 1<<20)
	if err != nil || !bytes.Equal(a.Data, data) {
		t.Error(a, err)
	}
	if _, err := r.Buffer("in"); err == nil {
		t.Error("a buffer that is not there was read")
	}
}

// TestLaunchIsImmutable: runs leave nothing behind in a Launch, not even at
// the same time.
func TestLaunchIsImmutable(t *testing.T) {
	l := load(t, storeKernel, Limits{})
	want, err := l.Check(context.Background(), CheckOptions{})
	if err != nil || len(want.Findings) != 1 {
		t.Fatal(want, err)
	}
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			if _, err := l.Run(context.Background(), RunOptions{}); err != nil {
				t.Fatal(err)
			}
			got, err := l.Check(context.Background(), CheckOptions{Jobs: 3})
			if err != nil {
				t.Fatal(err)
			}
			var a, b bytes.Buffer
			want.WriteJSON(&a)
			got.WriteJSON(&b)
			if a.String() != b.String() {
				t.Error("another report")
			}
		})
	}
}

// TestFirstSchedule: a finding is credited to the first schedule of the
// handful that shows it, whichever ends first.
func TestFirstSchedule(t *testing.T) {
	l := load(t, storeKernel, Limits{})
	latest, err := ParseSchedule("latest")
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check(context.Background(), CheckOptions{Schedules: append([]Schedule{latest}, Handful(2)...), Jobs: 4, Mode: OnlySchedules})
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Schedule != "latest" || r.Findings[0].Seen != 6 {
		t.Errorf("%+v, %v", r, err)
	}
	again, err := l.Replay(context.Background(), latest)
	if err != nil || len(again.Findings) != 1 || again.Findings[0].ID != r.Findings[0].ID {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestCancel(t *testing.T) {
	l := load(t, foreverKernel, Limits{})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	const want = "interrupted (context deadline exceeded)"
	r, err := l.Check(ctx, CheckOptions{})
	if !errors.Is(err, context.DeadlineExceeded) || r == nil || r.Verdict != "incomplete" || len(r.Gaps) != 1 || r.Gaps[0].What != want {
		t.Errorf("%+v, %v", r, err)
	}
	run, err := l.Run(ctx, RunOptions{})
	if !errors.Is(err, context.DeadlineExceeded) || run == nil || run.Verdict() != "incomplete" || run.Report.Gaps[0].What != want {
		t.Errorf("%+v, %v", run, err)
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		lim  Limits
		want string
	}{
		{Limits{Instrs: 1000}, "the limit of 1000 warp instructions ran out here (Limits.Instrs)"},
		{Limits{Time: 10 * time.Millisecond}, "the time limit of 10ms ran out (Limits.Time)"},
		{Limits{Memory: 4096}, "the memory limit of 4096 bytes ran out (Limits.Memory)"},
	} {
		r, err := load(t, foreverKernel, c.lim).Check(context.Background(), CheckOptions{Schedules: Handful(0), Jobs: 1, Mode: OnlySchedules})
		if err != nil || len(r.Gaps) == 0 || r.Gaps[len(r.Gaps)-1].What != c.want {
			t.Errorf("%+v: %+v, %v", c.lim, r, err)
		}
		run, err := load(t, foreverKernel, c.lim).Run(context.Background(), RunOptions{})
		if err != nil || run.Verdict() != "incomplete" || len(run.Report.Gaps) != 1 || run.Report.Gaps[0].What != c.want {
			t.Errorf("%+v: %+v, %v", c.lim, run, err)
		}
	}
}

func TestBadSchedule(t *testing.T) {
	l := load(t, storeKernel, Limits{})
	for _, text := range []string{"r0.0.0/latest", "s0,m7/latest", "s0,r9.0.0/latest", "s0,g0.0.0/latest", "s3/latest"} {
		s, err := ParseSchedule(text)
		if err != nil {
			t.Fatal(text, err)
		}
		if _, err := l.Replay(context.Background(), s); err == nil || !strings.Contains(err.Error(), "is not possible there") {
			t.Errorf("%s: %v", text, err)
		}
		if _, err := l.Run(context.Background(), RunOptions{Schedule: s}); err == nil {
			t.Errorf("%s: ran", text)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	write("k.ptx", storeKernel)
	for text, want := range map[string]string{
		`{"ptx": "k.ptx", "grid": 1, "block": 128}`:                            "missing argument: 1 .u64 out",
		`{"ptx": "gone.ptx", "grid": 1, "block": 128}`:                         "cannot read",
		`{"ptx": "k.ptx", "kernel": "kk", "grid": 1, "block": 128}`:            `no kernel is called "kk"`,
		`{"ptx": "k.ptx", "grid": 1, "block": 128, "args": [null], "grit": 1}`: `unknown key "grit"`,
		`{"ptx": "k.ptx", "grid": 2000000000, "block": 128, "args": [null]}`:   "this machine takes at most",
		`{"ptx": "k.ptx", "grid": 1, "block": 128, "args": [null]`:             "l.json:1:",
		`{"ptx": ".", "grid": 1, "block": 128, "args": [null]}`:                "this is a folder",
		`{"ptx": "l.json", "grid": 1, "block": 128, "args": [null]}`:           "l.json: this is a launch file, not PTX",
	} {
		_, err := Load(write("l.json", text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
	}
	if _, err := Load(filepath.Join(dir, "gone.json")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestBadInput: a launch or options that a program built wrongly are refused by an error.
func TestBadInput(t *testing.T) {
	for name, change := range map[string]func(f *launch.File){
		"no launches":      func(f *launch.File) { f.Launches = nil },
		"two launches":     func(f *launch.File) { f.Launches = append(f.Launches, f.Launches[0]) },
		"no block":         func(f *launch.File) { f.Launches[0].Block = [3]uint32{} },
		"a zero argument":  func(f *launch.File) { f.Launches[0].Args = append(f.Launches[0].Args, launch.Arg{}) },
		"a kind too many":  func(f *launch.File) { f.Launches[0].Args = []launch.Arg{{Kind: 99}} },
		"no scalar's type": func(f *launch.File) { f.Launches[0].Args = []launch.Arg{{Kind: launch.ArgScalar}} },
		"no such type":     func(f *launch.File) { f.Buffers[0].Type = 200 },
		"no such fill":     func(f *launch.File) { f.Buffers[0].Fill.Kind = 99 },
	} {
		f := file(t, storeKernel)
		change(f)
		if _, err := LoadFile(f, Limits{}); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
	if _, err := LoadModule(file(t, storeKernel), nil, nil, Limits{}); err == nil {
		t.Error("a module that is nil was loaded")
	}
	if _, err := LoadCall(nil, Limits{}); err == nil {
		t.Error("a call that is nil was loaded")
	}
	if _, err := Merge([]*Exploration{nil}); err == nil {
		t.Error("a state that is nil was merged")
	}
	l := load(t, storeKernel, Limits{})
	for _, o := range []CheckOptions{
		{Mode: 7}, {Explore: ExploreOptions{Shard: -1, Shards: 8}}, {Explore: ExploreOptions{Shard: 8, Shards: 8}}, {Explore: ExploreOptions{Shards: -1}}, {Explore: ExploreOptions{Shard: 1}},
	} {
		if r, err := l.Check(context.Background(), o); err == nil || r != nil {
			t.Errorf("%+v: checked", o)
		}
	}
	r, err := l.Check(context.Background(), CheckOptions{Mode: OnlySchedules, Schedules: []Schedule{}})
	if err != nil || len(r.Schedules) != len(Handful(DefaultRandom)) {
		t.Errorf("an empty list of schedules: %v, %v", r, err)
	}
}

// TestExplorationInJSON: a state goes to JSON and back, by value and before it begins.
func TestExplorationInJSON(t *testing.T) {
	var e, back Exploration
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &back); err != nil {
		t.Error(err)
	}
	l := load(t, storeKernel, Limits{})
	if _, err := l.Check(context.Background(), CheckOptions{Explore: ExploreOptions{State: &e}}); err != nil {
		t.Fatal(err)
	}
	if data, err = json.Marshal(struct{ State Exploration }{e}); err != nil || !strings.Contains(string(data), `"version":1`) {
		t.Errorf("%s, %v", data, err)
	}
}
