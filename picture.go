package muster

import (
	"context"
	"io"

	"muster/internal/picture"
)

// Picture runs the launch under a schedule and draws the run as SVG: what warps do, what the slots
// of rings are, and bytes in flight, over the steps. If a finding is named, its places are marked.
// It is of one CTA: of the finding, or of the first that has such slots.
func (l *Launch) Picture(ctx context.Context, s Schedule, o TraceOptions, w io.Writer) (Traced, error) {
	to := picture.New()
	got, _, err := l.follow(ctx, s, o, to, nil)
	if err != nil {
		return got, err
	}
	about := picture.About{Kernel: l.Name(), Schedule: got.Schedule, Steps: got.Steps, Cut: got.Cut}
	if got.Marked {
		about.Finding = o.Finding
	}
	return got, to.Write(w, about)
}
