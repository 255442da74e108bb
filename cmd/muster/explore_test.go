package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"muster"
)

// Each warp takes a ticket and stores it, and all add to one word, so that they are not proven one
// by one: n warps have n! orders, and as many ends.
const ticketKernel = `.version 8.0
.target sm_90a
.address_size 64
.visible .entry tickets(.param .u64 out)
{
	.reg .pred %p<3>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	and.b32 %r2, %r1, 31;
	setp.ne.u32 %p1, %r2, 0;
	@%p1 bra DONE;
	atom.global.add.u32 %r3, [%rd1], 1;
	mov.u32 %r4, %ctaid.x;
	mul.wide.u32 %rd2, %r4, 4;
	add.s64 %rd2, %rd2, %rd1;
	st.global.u32 [%rd2+4], %r3;
	red.relaxed.gpu.global.add.u32 [%rd1+252], 1;
DONE:
	ret;
}
`

// ticketLaunch is a launch of so many warps that take so many tickets each, by its
// words on a command line.
func ticketLaunch(t testing.TB, warps, each int) []string {
	t.Helper()
	take := "\tatom.global.add.u32 %r3, [%rd1], 1;\n"
	text := strings.Replace(ticketKernel, take, strings.Repeat(take, each), 1)
	name := filepath.Join(t.TempDir(), "tickets.ptx")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return []string{name, "--grid", fmt.Sprint(warps), "--block", "32", "--buffer", "out=u32[64]:zeros", "--arg", "out"}
}

// plantedLaunch is the wrong twin of a planted bug, with another grid.
func plantedLaunch(t testing.TB, name, grid string) []string {
	t.Helper()
	ar, err := txtar.ParseFile("../../testdata/planted/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name+".ptx")
	var words []string
	for _, f := range ar.Files {
		switch f.Name {
		case "launch":
			words = strings.Fields(string(f.Data))
		case "wrong.ptx":
			if err := os.WriteFile(file, f.Data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	return append([]string{file}, append(words, "--grid", grid)...)
}

// cmdline returns the words of the command line of a check or a merge.
func cmdline(name string, launch []string, more ...string) []string {
	return slices.Concat([]string{name}, launch, more)
}

// explored are launches that are explored, each to another end.
func explored(t testing.TB) map[string][]string {
	return map[string][]string{
		"clean":    append(ticketLaunch(t, 6, 1), "--schedules", "2000"),
		"findings": append(plantedLaunch(t, "phase-kept", "4"), "--schedules", "320"),
		// So few steps that executions are too many as well.
		"budget": append(ticketLaunch(t, 7, 1), "--schedules", "500", "--steps", "40000"),
		"uneven": append(ticketLaunch(t, 7, 1), "--schedules", "700", "--steps", "30000"),
		"bound":  append(ticketLaunch(t, 3, 4), "--schedules", "4000", "--preemptions", "1"),
	}
}

// TestSpread: however an exploration is spread over jobs and shards, the report is
// the same, byte for byte.
func TestSpread(t *testing.T) {
	for name, launch := range explored(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && name != "clean" || *long != (name == "findings" || name == "bound" || name == "budget") {
				t.Skip("explores for long")
			}
			want := map[string]string{}
			for format, several := range map[string][]string{"json": {"1", "2", "4"}, "text": {"1", "4"}} {
				for _, jobs := range several {
					_, out, stderr := run(t, cmdline("check", launch, "--format", format, "--jobs", jobs)...)
					if jobs == "1" {
						want[format] = out
					} else if out != want[format] {
						t.Errorf("--jobs %s: another report\n%s\n%s", jobs, out, stderr)
					}
				}
			}
			if verdict := map[string]string{"clean": "\nclean: ", "findings": "findings (", "budget": "the budget of schedules ran out", "uneven": "the budget of schedules ran out",
				"bound": "that is all with at most 1 preemption"}[name]; !strings.Contains("\n"+want["text"], verdict) {
				t.Fatalf("not as meant:\n%s", want["text"])
			}
			const shards = 8
			var files []string
			worked, sampled := 0, 0
			dir := t.TempDir()
			for i := range shards {
				files = append(files, filepath.Join(dir, fmt.Sprintf("%d.json", i)))
				status, _, stderr := run(t, cmdline("check", launch, "--shard", fmt.Sprintf("%d/%d", i, shards), "--state", files[i])...)
				if status == exitBadInput {
					t.Fatal(stderr)
				}
				if units := mine(t, files[i], i, shards); units > 0 {
					worked++
				}
				if len(readParts(t, files[i]).Samples) > 0 {
					sampled++
				}
			}
			if worked < 2 {
				t.Errorf("%d shards had something to do", worked)
			}
			// A shard that finished its parts leaves sampling to the merge.
			if name == "clean" && sampled > 0 || name == "uneven" && sampled == 0 {
				t.Errorf("%d shards of %d took samples", sampled, shards)
			}
			slices.Reverse(files)
			for format := range want {
				_, out, stderr := run(t, cmdline("merge", launch, "--format", format, "--from", strings.Join(files, ","))...)
				if out != want[format] {
					t.Errorf("merged: another report\n%s\n%s\nwant\n%s", out, stderr, want[format])
				}
			}
		})
	}
}

// mine counts the units in a state that a shard has done.
func mine(t testing.TB, file string, shard, shards int) int {
	n := 0
	for i, u := range readParts(t, file).Units {
		if u.Done {
			n++
			if i%shards != shard {
				t.Errorf("shard %d did unit %d", shard, i)
			}
		}
	}
	return n
}

// parts are what a test looks at in a state.
type parts struct {
	Solo           part
	Units, Samples []part
}

type part struct {
	Done     bool
	Coverage struct{ Steps int64 }
}

func readParts(t testing.TB, file string) parts {
	t.Helper()
	var p parts
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return p // killed before the first save
	}
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// steps counts the steps of the runs that a state keeps.
func (p parts) steps() int64 {
	n := p.Solo.Coverage.Steps
	for i := range p.Units {
		n += p.Units[i].Coverage.Steps
	}
	return n
}

// TestSpreadWithNothingToExplore: scripts that spread a check need not know
// whether there is anything to explore.
func TestSpreadWithNothingToExplore(t *testing.T) {
	for name, launch := range map[string][]string{
		"proven": {"../../examples/ring/ring.yaml"}, "wrong at once": {"../../examples/ring/broken_count.yaml"}, "few": append(ticketLaunch(t, 6, 1), "--schedules", "5"),
	} {
		_, want, _ := run(t, cmdline("check", launch)...)
		dir := t.TempDir()
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		run(t, cmdline("check", launch, "--shard", "0/2", "--state", a)...)
		run(t, cmdline("check", launch, "--shard", "1/2", "--state", b)...)
		if _, out, stderr := run(t, cmdline("merge", launch, "--from", a+","+b)...); out != want {
			t.Errorf("%s: merged: %s%s\nwant\n%s", name, out, stderr, want)
		}
	}
}

// followed is the command, run so that it tells how many steps it has made.
const followed = "muster-followed"

func mainFollowed() {
	c := &console{in: os.Stdin, out: os.Stdout, err: io.Discard}
	had := int64(-1)
	c.follow = func(p muster.Progress) {
		if p.MaxSchedules == 0 {
			return // another stage
		}
		if had < 0 {
			had = p.Steps // and what was made until then, which counts as not made
		}
		fmt.Fprintln(os.Stderr, p.Steps-had)
	}
	os.Exit(c.main(os.Args[1:]))
}

// An attempt is a process that explored, until it was done or was killed.
type attempt struct {
	killed bool
	steps  int64 // made, by its last report
	apart  int64 // the most between two times that it told
	out    string
}

// follow runs a command in a process of its own, and kills it when it has made so
// many steps; 0: never.
func follow(t *testing.T, kill int64, args []string) attempt {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd := exec.Cmd{Path: self, Args: append([]string{followed}, args...), Stdout: &out}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var a attempt
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		var n int64
		if _, err := fmt.Sscan(lines.Text(), &n); err != nil {
			t.Fatalf("%q", lines.Text())
		}
		a.apart, a.steps = max(a.apart, n-a.steps), n
		if kill > 0 && n >= kill {
			cmd.Process.Kill() // SIGKILL; what it has told before that is still read
		}
	}
	cmd.Wait()
	a.out = out.String()
	a.killed = cmd.ProcessState.ExitCode() < 0
	return a
}

// TestKilled kills an exploration at moments that a seed decides, resumes it until
// it ends, and compares its report with an uninterrupted one's. A kill loses the steps
// that the process made less those that the state gained.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("explores for long")
	}
	launch := append(ticketLaunch(t, 7, 1), "--schedules", "20000", "--steps", "20000000")
	for _, jobs := range []string{"1", "2"} {
		if *long != (jobs == "1") {
			continue
		}
		args := cmdline("check", launch, "--jobs", jobs, "--state")
		dir := t.TempDir()
		whole := filepath.Join(dir, "whole.json")
		want := follow(t, 0, append(args, whole))
		total := readParts(t, whole).steps()
		if !strings.HasPrefix(want.out, "clean: ") || want.steps < total/2 {
			t.Fatalf("%d steps of %d told: %s", want.steps, total, want.out)
		}
		r := rand.New(rand.NewPCG(1, uint64(len(args))))
		state := filepath.Join(dir, "state.json")
		kills := 0
		var made int64
		for again := true; again; {
			before := readParts(t, state).steps()
			a := follow(t, 1+r.Int64N(total/3), append(args, state))
			kept := readParts(t, state).steps() - before
			again = a.killed
			if !a.killed {
				if a.out != want.out {
					t.Errorf("resumed: another report\n%s\nwant\n%s", a.out, want.out)
				}
				made += kept
				continue
			}
			kills++
			made += max(a.steps+a.apart, kept)
			lost := a.steps + a.apart - kept
			t.Logf("--jobs %s: killed after %d steps at least: %d of %d to be made again, %.1f %% of all", jobs, a.steps, max(lost, 0), total, 100*float64(max(lost, 0))/float64(total))
			if lost > total/10 {
				t.Errorf("--jobs %s: a kill lost %d of %d steps", jobs, lost, total)
			}
			if kills > 100 {
				t.Fatal("it does not come to an end")
			}
		}
		if kills < 3 {
			t.Errorf("only %d kills", kills)
		}
		t.Logf("--jobs %s: %d kills; %d steps made of %d, %.1f %% more", jobs, kills, made, total, 100*float64(made-total)/float64(total))
	}
}

// TestKilledAnyhow: the same of launches with findings, and with samples.
func TestKilledAnyhow(t *testing.T) {
	for name, launch := range explored(t) {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "uneven" || *long != (name == "findings" || name == "bound") {
				t.Skip("explores for long")
			}
			args := cmdline("check", launch, "--jobs", "2", "--format", "json", "--state")
			dir := t.TempDir()
			want := follow(t, 0, append(args, filepath.Join(dir, "whole.json")))
			state := filepath.Join(dir, "state.json")
			kills := 0
			for again := true; again; kills++ {
				a := follow(t, max(1, want.steps/4)*int64(kills%3+1), append(args, state))
				if again = a.killed; !again && a.out != want.out {
					t.Errorf("resumed: another report\n%s\nwant\n%s", a.out, want.out)
				}
				if kills > 50 {
					t.Fatal("it does not come to an end")
				}
			}
			t.Logf("%d kills", kills-1)
		})
	}
}

// fails runs a command that must fail with one line, which says this.
func fails(t *testing.T, says string, args ...string) {
	t.Helper()
	status, out, stderr := run(t, args...)
	if status != exitBadInput || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, says) {
		t.Errorf("%v: exit %d, %q, %q; want 2 and one line with %q", args, status, out, stderr, says)
	}
}

// TestBadState: a file that is no state, or another launch's state, is refused with
// one line, and left as it is.
func TestBadState(t *testing.T) {
	launch := append(ticketLaunch(t, 6, 1), "--schedules", "400")
	dir := t.TempDir()
	good := filepath.Join(dir, "good.json")
	run(t, cmdline("check", launch, "--state", good)...)
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	altered := func(old, new string) string {
		if !strings.Contains(string(data), old) {
			t.Fatalf("the state has no %s", old)
		}
		return strings.Replace(string(data), old, new, 1)
	}
	const no = "not the state of an exploration"
	for _, c := range []struct{ name, text, says string }{
		{"empty", "", no},
		{"text", "schedule: r0.0.0\n", no},
		{"truncated", string(data[:len(data)/2]), no},
		{"twice", string(data) + string(data), no},
		{"list", "[]", no},
		{"another version", altered(`"version":1`, `"version":7`), no},
		{"another build", altered(`"build":"`, `"build":"0`), "and this is muster "},
		{"no build", altered(`"build":"`, `"built":"`), "muster of another version began it"},
		{"another key", altered(`"key":"`, `"key":"0`), "another launch, budget or shard"},
		{"another shard", altered(`"shards":0`, `"shards":2`), "another launch, budget or shard"},
		{"a choice", altered(`"taken":"`, `"taken":"x`), "is no choice"},
		{"a choice that is not there", altered(`"taken":"s0"`, `"taken":"s9"`), "is not possible there"},
		{"a run that is not there", altered(`"fresh":`, `"fresh":9`), "not where it can be"},
		{"samples", altered(`"samples":[`, `"samples":[{},`), "9 lots of samples of 8"},
		{"units", altered(`"units":[`, `"units":[{},`), "units of"},
	} {
		file := filepath.Join(dir, strings.ReplaceAll(c.name, " ", "-")+".json")
		if err := os.WriteFile(file, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		fails(t, c.says, cmdline("check", launch, "--state", file)...)
		if after, err := os.ReadFile(file); err != nil || string(after) != c.text {
			t.Errorf("%s: the state was written over", c.name)
		}
	}
	fails(t, "another launch, budget or shard", cmdline("check", launch, "--state", good, "--schedules", "500")...)
	fails(t, "another launch, budget or shard", cmdline("check", launch, "--state", good, "--steps", "500")...)
	fails(t, "another launch, budget or shard", cmdline("check", launch, "--state", good, "--grid", "5")...)
	fails(t, "another launch, budget or shard", cmdline("check", launch, "--state", good, "--shard", "0/2")...)
	fails(t, "is a directory", cmdline("check", launch, "--state", dir)...)
	fails(t, "no such file", cmdline("check", launch, "--state", filepath.Join(dir, "none", "x.json"))...)
}

func TestBadMerge(t *testing.T) {
	launch := append(ticketLaunch(t, 6, 1), "--schedules", "400")
	dir := t.TempDir()
	of := func(name string) string { return filepath.Join(dir, name) }
	for i, name := range []string{"0", "1"} {
		run(t, cmdline("check", launch, "--shard", fmt.Sprint(i)+"/2", "--state", of(name))...)
	}
	run(t, cmdline("check", launch, "--shard", "1/2", "--state", of("other"), "--grid", "5")...)
	run(t, cmdline("check", launch, "--shard", "1/3", "--state", of("third"))...)
	data, err := os.ReadFile(of("1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(of("build"), []byte(strings.Replace(string(data), `"build":"`, `"build":"0`, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	fails(t, "nothing to merge", cmdline("merge", launch)...)
	fails(t, "by another build of muster", cmdline("merge", launch, "--from", of("0")+","+of("build"))...)
	fails(t, "no such file", cmdline("merge", launch, "--from", of("0")+","+of("none"))...)
	fails(t, "1 shards are there of 2", cmdline("merge", launch, "--from", of("0"))...)
	fails(t, "there twice", cmdline("merge", launch, "--from", of("0")+","+of("0"))...)
	fails(t, "another launch, budget or division", cmdline("merge", launch, "--from", of("0")+","+of("other"))...)
	fails(t, "another launch, budget or division", cmdline("merge", launch, "--from", of("0")+","+of("third"))...)
	fails(t, "another launch, budget or shard", cmdline("merge", launch, "--from", of("0")+","+of("1"), "--schedules", "500")...)
}

// TestShardFlag reads the flag, and the environments of Slurm's arrays and of
// Kubernetes' indexed Jobs.
func TestShardFlag(t *testing.T) {
	for _, c := range []struct {
		text, env string
		i, n      int
		says      string // of an error
	}{
		{"", "", 0, 0, ""},
		{"0/1", "", 0, 1, ""},
		{"7/8", "", 7, 8, ""},
		{"8/8", "", 0, 0, "want i/n"},
		{"-1/8", "", 0, 0, "want i/n"},
		{"x", "", 0, 0, "want i/n"},
		{"1/2/3", "", 0, 0, "want i/n"},
		{"0/0", "", 0, 0, "want i/n"},
		{"0/99999999999", "", 0, 0, "want i/n"},
		{"auto", "", 0, 0, "neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX"},
		{"auto", "SLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=8", 0, 8, ""},
		{"auto", "SLURM_ARRAY_TASK_ID=8 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_STEP=1", 7, 8, ""},
		{"auto", "SLURM_ARRAY_TASK_ID=13 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_STEP=4", 3, 4, ""},
		{"auto", "SLURM_ARRAY_TASK_ID=12 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_STEP=4", 0, 0, "SLURM_ARRAY_TASK_STEP"},
		{"auto", "SLURM_ARRAY_TASK_ID=12 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_STEP=0", 0, 0, "SLURM_ARRAY_TASK_STEP"},
		{"auto", "SLURM_ARRAY_TASK_ID=8 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_COUNT=8", 0, 0, "part 8 of 8"},
		{"auto", "SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_COUNT=8", 0, 0, "part -1 of 8"},
		{"auto", "SLURM_ARRAY_TASK_ID=3", 0, 0, "SLURM_ARRAY_TASK_COUNT"},
		{"auto", "SLURM_ARRAY_TASK_ID=x SLURM_ARRAY_TASK_COUNT=8", 0, 0, `SLURM_ARRAY_TASK_ID is "x"`},
		{"auto", "JOB_COMPLETION_INDEX=0 JOB_COMPLETIONS=8", 0, 8, ""},
		{"auto", "JOB_COMPLETION_INDEX=7 JOB_COMPLETIONS=8", 7, 8, ""},
		{"auto", "JOB_COMPLETION_INDEX=7", 0, 0, "JOB_COMPLETIONS"},
		{"auto", "JOB_COMPLETION_INDEX=8 JOB_COMPLETIONS=8", 0, 0, "part 8 of 8"},
		{"auto", "JOB_COMPLETION_INDEX=-1 JOB_COMPLETIONS=8", 0, 0, `JOB_COMPLETION_INDEX is "-1"`},
	} {
		env := map[string]string{}
		for _, v := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		i, n, err := parseShard(c.text, func(name string) string { return env[name] })
		switch {
		case c.says != "":
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%q with %s: %d/%d, %v; want %q", c.text, c.env, i, n, err, c.says)
			}
		case err != nil || i != c.i || n != c.n:
			t.Errorf("%q with %s: %d/%d, %v; want %d/%d", c.text, c.env, i, n, err, c.i, c.n)
		}
	}
	launch := ticketLaunch(t, 2, 1)
	fails(t, "want i/n", cmdline("check", launch, "--shard", "8/8", "--state", "x")...)
	fails(t, "needs --state", cmdline("check", launch, "--shard", "0/8")...)
	t.Setenv("SLURM_ARRAY_TASK_ID", "")
	t.Setenv("JOB_COMPLETION_INDEX", "9")
	t.Setenv("JOB_COMPLETIONS", "8")
	fails(t, "part 9 of 8", cmdline("check", launch, "--shard", "auto", "--state", "x")...)
}
