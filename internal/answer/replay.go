package answer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"muster"
	"muster/report"
)

// A Replay says what to show again.
type Replay struct {
	Schedule  muster.Schedule
	Finding   string // its ID; empty for all that the schedule shows
	Shrink    bool   // in the smallest schedule that shows it
	Tell      muster.TellOptions
	Arguments string // as in CheckOptions
}

// A Shown is what a schedule shows.
type Shown struct {
	Report *muster.Report // with the finding alone, where one is asked for
	Story  *muster.Story  // nil if none is wanted, or none can be told
	Untold *muster.Untold // why none can be told
	// All are the findings of the schedule, also where another one is asked for.
	All []muster.Finding

	asked *Replay
}

// Show runs the launch under the schedule. An error may come with what is known all the same.
func (p *Replay) Show(ctx context.Context, l *muster.Launch) (*Shown, error) {
	s, tell := p.Schedule, p.Tell
	if p.Shrink {
		got, err := l.Shrink(ctx, s, p.Finding, muster.ShrinkOptions{})
		switch {
		case err == nil:
			s = got.Schedule
		case !AsItIs(err):
			return nil, err
		} // else the check below reports whether it is there
	}
	rep, err := l.Check(ctx, muster.CheckOptions{Schedules: []muster.Schedule{s}, Jobs: 1, Arguments: p.Arguments, Mode: muster.OnlySchedules})
	if rep == nil {
		return nil, err
	}
	got := &Shown{Report: rep, All: rep.Findings, asked: p}
	if p.Finding == "" {
		if tell.All || tell.Until > 0 || len(tell.Print) > 0 {
			err = got.tell(ctx, l, s, tell)
			return got, err
		}
		return got, nil
	}
	rep.Findings = nil
	for _, f := range got.All {
		if f.Is(p.Finding) {
			rep.Findings = append(rep.Findings, f)
		}
	}
	if len(rep.Findings) == 0 {
		return got, nil
	}
	rep.Rename(p.Finding)
	if len(rep.Schedules) > 0 {
		tell.Finding = p.Finding
		return got, got.tell(ctx, l, s, tell)
	}
	return got, nil
}

func (g *Shown) tell(ctx context.Context, l *muster.Launch, s muster.Schedule, o muster.TellOptions) error {
	told, err := l.Tell(ctx, s, o)
	if errors.As(err, &g.Untold) && ctx.Err() == nil {
		return nil
	}
	g.Story = told
	return err
}

// Absent reports whether a finding was asked for, and the schedule does not show it.
func (g *Shown) Absent() bool { return g.asked.Finding != "" && len(g.Report.Findings) == 0 }

// schedule names the schedule that ran.
func (g *Shown) schedule() string {
	if len(g.Report.Schedules) > 0 {
		return "schedule " + g.Report.Schedules[0]
	}
	return "the launch, without a run,"
}

// WriteText writes the evidence of the finding and the story; without a finding the story,
// and the report unless the story stops early; and of an absent finding that it is not there.
func (g *Shown) WriteText(w io.Writer, o report.TextOptions) error {
	var b strings.Builder
	switch until := g.asked.Tell.Until > 0; {
	case g.Absent():
		fmt.Fprintf(&b, "%s does not show %s: the kernel, the launch or muster is another than when it was found\n", g.schedule(), g.asked.Finding)
		for _, gap := range g.Report.Gaps {
			fmt.Fprintf(&b, "the run is incomplete: %s\n", gap.What)
		}
	case g.asked.Finding == "":
		g.story(&b)
		if !until {
			o.All = true
			g.Report.WriteText(&b, o)
		}
	default:
		if !until {
			for i := range g.Report.Findings {
				g.Report.Findings[i].WriteEvidence(&b, report.TextOptions{Color: o.Color})
			}
			b.WriteByte('\n')
		}
		again := ""
		if g.story(&b) {
			again = ", twice the same"
		}
		fmt.Fprintf(&b, "reproduced in %s%s\n", briefSchedule(strings.TrimSuffix(g.schedule(), ",")), again)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// story writes the story, if there is one.
func (g *Shown) story(b *strings.Builder) bool {
	if g.Story == nil {
		return false
	}
	g.Story.WriteText(b)
	b.WriteByte('\n')
	return true
}

// briefSchedule replaces a long schedule by "this schedule".
func briefSchedule(text string) string {
	if len(text) > 60 {
		return "this schedule"
	}
	return text
}

// AsItIs reports whether an error of Shrink means to keep the schedule: a run alone does not
// show the finding, or the run is too long.
func AsItIs(err error) bool {
	var not *muster.NotShown
	var untold *muster.Untold
	return errors.As(err, &not) || errors.As(err, &untold)
}
