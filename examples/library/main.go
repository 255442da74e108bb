// Audit checks launches with Muster as a library: it runs each, checks all schedules,
// replays what was found under the schedule that shows it, makes that schedule small, and
// tells the run. It is a module of its own and uses public packages alone.
//
//	go run . LAUNCH.json...
//
// The exit status is that of the worst verdict: 0 clean, 1 findings, 3 incomplete; 2 for
// bad input.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"muster"
	"muster/mbarrier"
	"muster/report"
)

func main() {
	status := 0
	for _, a := range audits(context.Background(), os.Args[1:]) {
		os.Stdout.Write(a.text.Bytes())
		switch {
		case a.err != nil:
			fmt.Fprintln(os.Stderr, "audit:", a.err)
			status = 2
		case status != 2 && status != 1 && a.verdict != muster.Clean:
			status = a.verdict.ExitCode()
		case status == 3 && a.verdict == muster.Findings:
			status = 1
		}
	}
	os.Exit(status)
}

// An audit is what became of one launch.
type audit struct {
	text    bytes.Buffer
	verdict muster.Verdict
	err     error
}

// audits looks at all files at a time. The last arrival completes the barrier's phase;
// a waiter then sees what all have written.
func audits(ctx context.Context, files []string) []audit {
	list := make([]audit, len(files))
	all := mbarrier.New(1 + len(files))
	for i, file := range files {
		go func() {
			defer all.Arrive()
			a := &list[i]
			a.verdict, a.err = one(ctx, &a.text, file)
		}()
	}
	all.ArriveAndWait()
	return list
}

// one audits a launch.
func one(ctx context.Context, w io.Writer, file string) (muster.Verdict, error) {
	l, err := muster.Load(file)
	if err != nil {
		return "", err
	}
	ran, err := l.Run(ctx, muster.RunOptions{})
	if err != nil {
		return "", err
	}
	fmt.Fprintf(w, "%s: one run, %s: %s\n", file, ran.Schedule, ran.Verdict())
	for _, c := range ran.Comparisons {
		fmt.Fprintf(w, "  %s: %s\n", c.Buffer, c.Comparison)
	}
	r, err := l.Check(muster.WithTime(ctx, time.Minute), muster.CheckOptions{})
	if err != nil {
		return "", err
	}
	for i := range r.Findings {
		if r.Findings[i].Severity != report.SevError {
			continue
		}
		if err := show(ctx, w, l, &r.Findings[i]); err != nil {
			return "", err
		}
		break // the rest is often the same mistake
	}
	fmt.Fprintf(w, "  %s\n", r.Summary)
	return r.Verdict, nil
}

// show shows a finding again, in the smallest schedule that does.
func show(ctx context.Context, w io.Writer, l *muster.Launch, f *muster.Finding) error {
	fmt.Fprintf(w, "  %s: %s\n", f.ID, f.Headline)
	for _, s := range f.Sites {
		if s.PTX != nil {
			fmt.Fprintf(w, "    %s at %s: %s\n", s.Role, s.PTX, s.PTX.Text)
		}
	}
	at, err := muster.ParseSchedule(f.Schedule)
	if err != nil {
		return err
	}
	again, err := l.Replay(ctx, at)
	if err != nil {
		return err
	}
	shown := false
	for i := range again.Findings {
		shown = shown || again.Findings[i].Is(f.ID)
	}
	small, err := l.Shrink(ctx, at, f.ID, muster.ShrinkOptions{Runs: 200})
	if err != nil {
		return err
	}
	story, err := l.Tell(ctx, small.Schedule, muster.TellOptions{Finding: f.ID})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "    shown again: %t; of %d steps, %d told\n", shown, story.Total, len(story.Steps))
	return nil
}
