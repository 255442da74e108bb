package answer

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"muster"
	"muster/internal/diag"
	"muster/report"
)

// WriteRun writes how a run ended: what the kernel printed, why it stopped early, and its
// buffers against what is expected of them.
func WriteRun(w io.Writer, r *muster.RunResult, o report.TextOptions) error {
	var b strings.Builder
	if len(r.Output) > 0 {
		b.Write(r.Output)
		if r.Output[len(r.Output)-1] != '\n' {
			b.WriteByte('\n')
		}
	}
	if r.Report != nil {
		r.Report.WriteText(&b, o)
	}
	for _, x := range r.Comparisons {
		fmt.Fprintf(&b, "%s: %s (%s)\n", x.Buffer, x.Comparison, diag.Printable(filepath.Base(x.File)))
	}
	if r.Report == nil {
		l := &r.Launch
		fmt.Fprintf(&b, "%s ran to its end in schedule %s: %s, %s; %d warp instructions, %d of lanes\n",
			l.Kernel, r.Schedule, diag.Plural(l.CTAs, "CTA"), diag.Plural(l.Threads, "thread"), r.Warps, r.Lanes)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// A Run is the JSON form of a run; versioned with the report's.
type Run struct {
	Version     int             `json:"version"`
	Verdict     muster.Verdict  `json:"verdict"`
	Schedule    string          `json:"schedule"`
	Launch      report.Launch   `json:"launch"`
	Warps       int64           `json:"warp_instructions"`
	Lanes       int64           `json:"lane_instructions"`
	Output      string          `json:"output"`
	Comparisons []Comparison    `json:"comparisons"`
	Report      *muster.Report  `json:"report"`            // null if the run came to its end
	Profile     *report.Profile `json:"profile,omitempty"` // of --profile
}

// A Comparison is the JSON form of a buffer against what is expected of it.
type Comparison struct {
	Buffer   string  `json:"buffer"`
	File     string  `json:"file"`
	OK       bool    `json:"ok"`
	Elements int64   `json:"elements"`
	Differ   int64   `json:"differ"`
	Index    []int64 `json:"first_index"` // null if all agree
	Got      string  `json:"got,omitempty"`
	Want     string  `json:"want,omitempty"`
	MaxAbs   string  `json:"max_abs"` // a string, because it may be infinite
	MaxRel   string  `json:"max_rel"`
	MaxULP   uint64  `json:"max_ulp"`
}

// FormOf returns the JSON form of a run.
func FormOf(r *muster.RunResult) Run {
	j := Run{
		Version: 1, Verdict: r.Verdict(), Schedule: r.Schedule, Launch: r.Launch, Warps: r.Warps, Lanes: r.Lanes,
		Output: string(r.Output), Comparisons: []Comparison{}, Report: r.Report,
	}
	for _, x := range r.Comparisons {
		j.Comparisons = append(j.Comparisons, Comparison{
			Buffer: x.Buffer, File: x.File, OK: x.OK(), Elements: x.Elements, Differ: x.Count, Index: x.Index,
			Got: x.Got, Want: x.Want, MaxAbs: fmt.Sprint(x.MaxAbs), MaxRel: fmt.Sprint(x.MaxRel), MaxULP: x.MaxULP,
		})
	}
	return j
}
