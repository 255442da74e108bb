package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"muster/internal/diag"
)

// A Files is what a check of several launch files says: that of each, and the verdict of the
// whole. Within one Version, fields are added, as for Report.
type Files struct {
	Version int          `json:"version"`
	Verdict Verdict      `json:"verdict"`
	Summary string       `json:"summary"` // the verdict with the files that decide it, one line
	Files   []FileReport `json:"files"`   // as they were named
}

// A FileReport is what is said of one launch file: a report, a sequence or an error.
type FileReport struct {
	File     string    `json:"file"`
	Verdict  Verdict   `json:"verdict"`
	Report   *Report   `json:"report,omitempty"`
	Sequence *Sequence `json:"sequence,omitempty"`
	Error    *Failure  `json:"error,omitempty"`
}

// Conclude draws the verdict of the whole and writes the summary: a file that could not be
// checked outweighs findings, and these what is incomplete.
func (f *Files) Conclude() {
	of := map[Verdict][]string{}
	for i := range f.Files {
		v := f.Files[i].Verdict
		of[v] = append(of[v], diag.Printable(f.Files[i].File))
	}
	f.Verdict = Clean
	var parts []string
	for _, v := range []Verdict{Error, Findings, Incomplete} {
		if of[v] == nil {
			continue
		}
		if parts == nil {
			f.Verdict = v
		}
		const most = 4
		if n := len(of[v]) - most; n > 1 {
			of[v] = append(of[v][:most], fmt.Sprintf("%d more", n))
		}
		parts = append(parts, fmt.Sprintf("%s: %s", v, strings.Join(of[v], ", ")))
	}
	f.Summary = fmt.Sprintf("%s (of %d files)", strings.Join(parts, "; "), len(f.Files))
	if parts == nil {
		f.Summary = fmt.Sprintf("clean: all %d files", len(f.Files))
	}
}

// WriteText writes the verdict of the whole, in one line.
func (f *Files) WriteText(w io.Writer, o TextOptions) error {
	p := &printer{color: o.Color}
	_, err := io.WriteString(w, p.paint(verdictColor(f.Verdict), f.Summary)+"\n")
	return err
}

// WriteJSON writes what is said of the files as one JSON document.
func (f *Files) WriteJSON(w io.Writer) error {
	c := *f
	c.Version, c.Files = Version, []FileReport{}
	for _, of := range f.Files {
		if of.Report != nil {
			of.Report = of.Report.Filled()
		}
		if of.Sequence != nil {
			of.Sequence = of.Sequence.filled()
		}
		c.Files = append(c.Files, of)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(&c)
}

// Export is what is said of the files, for other programs.
func (f *Files) Export() *Export {
	e := &Export{Summary: f.Summary, Verdict: f.Verdict}
	for i := range f.Files {
		of := &f.Files[i]
		if of.Error != nil {
			e.Failed = append(e.Failed, *of.Error)
		}
		if of.Report != nil {
			e.Reports = append(e.Reports, of.Report)
		}
		if of.Sequence != nil {
			e.Reports = append(e.Reports, of.Sequence.reports()...)
		}
	}
	return e
}
