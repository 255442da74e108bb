package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// A job is what TestShardsPage asks of a manifest.
type job struct {
	Kind string
	Spec struct {
		CompletionMode string `yaml:"completionMode"`
		Completions    int
		Template       struct {
			Spec struct {
				Containers []container
				Volumes    []struct{ Name string }
			}
		}
	}
}

type container struct {
	Env          []struct{ Name, Value string }
	Command      []string
	Args         []string
	VolumeMounts []struct {
		Name      string
		MountPath string `yaml:"mountPath"`
	} `yaml:"volumeMounts"`
}

// env returns the manifest's value of a variable.
func (c *container) env(name string) string {
	for _, e := range c.Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}

// TestShardsPage runs what docs/shards.md shows, as Slurm and Kubernetes would, on a
// small launch: eight shards and a merge, which reports what one check does.
func TestShardsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/shards.md")
	if err != nil {
		t.Fatal(err)
	}
	const budget = "--schedules 3000 --steps 200000000" // a smaller one
	page = regexp.MustCompile(`--schedules \d+ --steps \d+`).ReplaceAll(page, []byte(budget))
	blocks := map[string]string{}
	for _, m := range regexp.MustCompile("(?ms)^```(\\S+) (\\S+)\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		blocks[m[1]+" "+m[2]] = m[3]
	}
	dir := t.TempDir()
	launch := "ptx: kernel.ptx\ngrid: 6\nblock: 32\nbuffers:\n  out: {type: u32, shape: [64], fill: zeros}\nargs: [out]\n"
	for name, text := range map[string]string{
		"kernel.ptx": ticketKernel, "kernel.yaml": launch, "shards.sh": blocks["sh shards.sh"], "merge.sh": blocks["sh merge.sh"],
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(env []string, args ...string) string {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		out, err := cmd.Output()
		if err != nil {
			var e *exec.ExitError
			errors.As(err, &e)
			t.Fatalf("%v: %v: %s%s", args, err, out, e.Stderr)
		}
		return string(out)
	}
	whole := append([]string{"muster", "check", "kernel.yaml"}, strings.Fields(budget)...)
	want := run(nil, whole...)
	if !strings.Contains(want, "720 kinds explored") {
		t.Fatal(want)
	}

	array := regexp.MustCompile(`(?m)^#SBATCH --array=0-(\d+)$`).FindStringSubmatch(blocks["sh shards.sh"])
	if array == nil || array[1] != "7" {
		t.Fatal("not eight tasks: ", array)
	}
	for i := range 8 {
		run([]string{fmt.Sprintf("SLURM_ARRAY_TASK_ID=%d", i), "SLURM_ARRAY_TASK_MIN=0", "SLURM_ARRAY_TASK_MAX=7", "SLURM_ARRAY_TASK_STEP=1", "SLURM_ARRAY_TASK_COUNT=8", "SLURM_CPUS_PER_TASK=1"}, "bash", "shards.sh")
	}
	if got := run(nil, "bash", "merge.sh"); got != want {
		t.Errorf("Slurm:\n%s\nwant\n%s", got, want)
	}

	shards, merge := manifest(t, blocks["yaml shards"]), manifest(t, blocks["yaml merge"])
	of := &shards.Spec.Template.Spec.Containers[0]
	if n := shards.Spec.Completions; n != 8 || shards.Spec.CompletionMode != "Indexed" || of.env("JOB_COMPLETIONS") != fmt.Sprint(n) {
		t.Errorf("%d completions, %s, and JOB_COMPLETIONS=%s", n, shards.Spec.CompletionMode, of.env("JOB_COMPLETIONS"))
	}
	states := filepath.Join(dir, "volume")
	if err := os.Mkdir(states, 0o777); err != nil {
		t.Fatal(err)
	}
	// The launch is named as it is above, so that reports are the same.
	here := []string{"LAUNCH=.", "STATES=" + states, "JOB_COMPLETIONS=" + of.env("JOB_COMPLETIONS")}
	for i := range shards.Spec.Completions {
		run(append(here, fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i)), append(of.Command, of.Args...)...)
	}
	of = &merge.Spec.Template.Spec.Containers[0]
	if got := run(here, append(of.Command, of.Args...)...); got != want {
		t.Errorf("Kubernetes:\n%s\nwant\n%s", got, want)
	}
}

// manifest reads the Job of a manifest, and checks that it mounts what it names.
func manifest(t *testing.T, text string) *job {
	t.Helper()
	var found *job
	d := yaml.NewDecoder(strings.NewReader(text))
	for {
		var j job
		if err := d.Decode(&j); err != nil {
			break
		}
		if j.Kind == "Job" {
			found = &j
		}
	}
	if found == nil || len(found.Spec.Template.Spec.Containers) != 1 {
		t.Fatalf("no Job of one container in\n%s", text)
	}
	spec := &found.Spec.Template.Spec
	c := &spec.Containers[0]
	for _, m := range c.VolumeMounts {
		known := false
		for _, v := range spec.Volumes {
			known = known || v.Name == m.Name
		}
		if name := strings.ToUpper(m.Name); !known || c.env(name) != m.MountPath {
			t.Errorf("%s is mounted at %s, and $%s is %q", m.Name, m.MountPath, name, c.env(name))
		}
	}
	if len(c.VolumeMounts) != 2 {
		t.Errorf("%d mounts", len(c.VolumeMounts))
	}
	return found
}
