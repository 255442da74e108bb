package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster"
	"muster/internal/files"
	"muster/report"
)

// exploreFlags are the flags of an exploration.
type exploreFlags struct {
	schedules   int
	steps       int64
	preemptions int
	shard       string
	state       string
}

func (e *exploreFlags) register(f *pflag.FlagSet) {
	f.IntVar(&e.schedules, "schedules", muster.DefaultSchedules, "how many schedules to run at most where one does not decide, `N`")
	f.Int64Var(&e.steps, "steps", muster.DefaultSteps, "how many steps these may have together")
	f.IntVar(&e.preemptions, "preemptions", -1, "explore only schedules with `N` preemptions at most; default: any number")
	f.StringVar(&e.shard, "shard", "", "take only part `i/n` of the exploration, i from 0; auto: as a Slurm array or an indexed Kubernetes Job says")
	f.StringVar(&e.state, "state", "", "a `file` to keep the exploration in: resumed from where it is there, merged by 'muster merge'")
}

// handful is the number of schedules run before the exploration.
const handful = 3 + muster.DefaultRandom

// options sets the exploration options of a check.
func (e *exploreFlags) options(o *muster.CheckOptions) error {
	if e.schedules < 1 || e.steps < 1 {
		return errors.New("--schedules and --steps: at least one")
	}
	if e.preemptions < -1 {
		return fmt.Errorf("--preemptions %d: a number from 0 on", e.preemptions)
	}
	o.Schedules = muster.Handful(muster.DefaultRandom)[:min(e.schedules, handful)]
	o.Explore.Schedules, o.Explore.Steps = e.schedules-handful, e.steps
	if o.Explore.Schedules <= 0 {
		o.Explore.Schedules = -1
	}
	switch e.preemptions {
	case -1: // any number
	case 0:
		o.Explore.Preemptions = -1
	default:
		o.Explore.Preemptions = e.preemptions
	}
	var err error
	if o.Explore.Shard, o.Explore.Shards, err = parseShard(e.shard, os.Getenv); err != nil {
		return err
	}
	if e.state == "" {
		if o.Explore.Shards > 1 {
			return errors.New("--shard needs --state, the file that 'muster merge' takes")
		}
		return nil
	}
	o.Explore.State, err = readState(e.state)
	if err != nil {
		return err
	}
	o.Explore.Save = func(x *muster.Exploration) error { return writeState(e.state, x) }
	return nil
}

// alone names a flag that is of one exploration; empty if there is none.
func (e *exploreFlags) alone() string {
	switch {
	case e.shard != "":
		return "--shard"
	case e.state != "":
		return "--state"
	}
	return ""
}

// parseShard reads "2/8", or with "auto" the environment.
func parseShard(text string, env func(string) string) (i, n int, err error) {
	switch text {
	case "":
		return 0, 0, nil
	case "auto":
		return shardOf(env)
	}
	const most = 1 << 20
	a, b, ok := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || i < 0 || n < 1 || n > most || i >= n {
		return 0, 0, fmt.Errorf("--shard %s: want i/n with i from 0 to n-1, n up to %d, or auto", text, most)
	}
	return i, n, nil
}

// shardOf reads the environment of a Slurm array task, or of a pod of an indexed
// Kubernetes Job whose manifest sets JOB_COMPLETIONS.
func shardOf(env func(string) string) (i, n int, err error) {
	number := func(name string, other int) int {
		text := env(name)
		if text == "" {
			return other
		}
		v, e := strconv.Atoi(text)
		if e != nil || v < 0 {
			err = fmt.Errorf("--shard auto: %s is %q, and no number", name, text)
		}
		return v
	}
	switch {
	case env("SLURM_ARRAY_TASK_ID") != "":
		i, n = number("SLURM_ARRAY_TASK_ID", 0)-number("SLURM_ARRAY_TASK_MIN", 0), number("SLURM_ARRAY_TASK_COUNT", 0)
		step := number("SLURM_ARRAY_TASK_STEP", 1)
		if err == nil && (step < 1 || i%step != 0) {
			err = fmt.Errorf("--shard auto: SLURM_ARRAY_TASK_STEP is %d, which the task's number does not go with", step)
		}
		i /= max(step, 1)
	case env("JOB_COMPLETION_INDEX") != "":
		i, n = number("JOB_COMPLETION_INDEX", 0), number("JOB_COMPLETIONS", 0)
	default:
		return 0, 0, errors.New("--shard auto: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set")
	}
	if err == nil && (i < 0 || n < 1 || i >= n) {
		err = fmt.Errorf("--shard auto: the environment says part %d of %d (SLURM_ARRAY_TASK_COUNT, JOB_COMPLETIONS)", i, n)
	}
	return i, n, err
}

// named adds the file name to an error about a state.
func (e *exploreFlags) named(err error) error {
	var of *muster.StateError
	if errors.As(err, &of) && e.state != "" {
		return fmt.Errorf("%s:1:1: %w", e.state, err)
	}
	return err
}

// maxState bounds the state of an exploration, in bytes.
const maxState = 4 << 30

// readState reads a state; a missing file is an empty state.
func readState(name string) (*muster.Exploration, error) {
	data, err := files.Read(name, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return &muster.Exploration{}, nil
	}
	if err != nil {
		return nil, err
	}
	var x muster.Exploration
	if err := json.Unmarshal(data, &x); err != nil {
		return nil, fmt.Errorf("%s:1:1: not the state of an exploration", name)
	}
	return &x, nil
}

// writeState replaces a state atomically: a kill at any moment leaves the old one or the
// new one.
func writeState(name string, x *muster.Exploration) error {
	data, err := json.Marshal(x)
	if err != nil {
		return err
	}
	return files.WriteBytes(name, append(data, '\n'))
}

func mergeCommand(c *console) *cobra.Command {
	var in input
	var format formatFlag
	var o muster.CheckOptions
	var e exploreFlags
	var states []string
	failOn := "error"
	cmd := &cobra.Command{
		Use:   "merge LAUNCH|FILE.ptx --from STATE,…",
		Short: "Join the states of an exploration's shards",
		Long: `Merge joins the states that 'muster check --shard i/n --state FILE' has left, one
of each shard, and reports what one check of the whole would have: the same
bytes. The launch, --schedules, --steps and --preemptions are those of the shards.
` + launchHelp,
		Example: `  muster check k.yaml --shard 0/2 --state a.json
  muster check k.yaml --shard 1/2 --state b.json
  muster merge k.yaml --from a.json,b.json`,
		Args: atMost(1, aLaunch),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := c.begin(&in)
			if err != nil {
				return err
			}
			defer w.close()
			l, words, err := in.load(w, cmd, args)
			if err != nil {
				return err
			}
			o.Arguments, o.FailOnWarning, o.SoFar = words, failOn == "warning", w.tell
			if err := e.options(&o); err != nil {
				return err
			}
			if len(states) == 0 {
				return errors.New("nothing to merge: --from names the states, as --from a.json,b.json")
			}
			var list []*muster.Exploration
			for _, name := range states {
				if _, err := os.Stat(name); err != nil {
					return fmt.Errorf("%s: %w", name, files.Cause(err))
				}
				x, err := readState(name)
				if err != nil {
					return err
				}
				list = append(list, x)
			}
			if o.Explore.State, err = muster.Merge(list); err != nil {
				return err
			}
			r, err := l.Check(w, o)
			if r == nil {
				return err
			}
			w.answered()
			if err := c.write(r, format, report.TextOptions{}); err != nil {
				return err
			}
			return w.exit(status(r.Verdict))
		},
	}
	f := cmd.Flags()
	in.register(f)
	format.registerReport(f)
	e.register(f)
	f.StringSliceVar(&states, "from", nil, "the `files` to join")
	jobsFlag(f, &o.Jobs, "runs at a time; default: one a processor")
	f.BoolVar(&o.Values, "values", false, "as for the shards")
	f.StringVar(&failOn, "fail-on", failOn, "the least `severity` that makes the verdict findings: error or warning")
	return cmd
}
