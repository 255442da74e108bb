package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A Sequence is what a check of a file says whose launches do not all overlap: the reports of
// its stages, which come one after the other, and the verdict of the whole. Within one Version,
// fields are added, as for Report.
type Sequence struct {
	Version  int     `json:"version"`
	File     string  `json:"file"`
	Launches int     `json:"launches"` // of the file
	Verdict  Verdict `json:"verdict"`
	Summary  string  `json:"summary"` // the verdict with the stages that decide it, one line
	Stages   []Stage `json:"stages"`  // in order, those that were looked at
	// Unfinished says why no stage behind the last was looked at; empty if all were.
	Unfinished string `json:"unfinished,omitempty"`
}

// A Stage is the launches that may overlap, most often one.
type Stage struct {
	// First and Last are the numbers of its launches in the file, from 1 on, and Name their
	// names.
	First   int     `json:"first"`
	Last    int     `json:"last"`
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	Report  any     `json:"report"` // a *Report; of muster run, its result
}

// title names a stage by the numbers and names of its launches.
func (s *Stage) title() string {
	if s.First == s.Last {
		return fmt.Sprintf("launch %d, %s", s.First, s.Name)
	}
	return fmt.Sprintf("launches %d to %d, %s", s.First, s.Last, s.Name)
}

// Conclude draws the verdict of the whole and writes the summary: findings outweigh what is
// incomplete, and launches that were not looked at make it incomplete. clean says, with
// their number, what is said of the launches if nothing is wrong.
func (s *Sequence) Conclude(clean string) {
	found, open := s.titles(Findings), s.titles(Incomplete)
	if s.Unfinished != "" {
		open = append(open, "those behind, which were not looked at")
	}
	of := fmt.Sprintf(" (of %d launches)", s.Launches)
	switch {
	case len(found) > 0:
		s.Verdict, s.Summary = Findings, "findings: "+strings.Join(found, "; ")+of
		if len(open) > 0 {
			s.Summary += ", incomplete besides: " + strings.Join(open, "; ")
		}
	case len(open) > 0:
		s.Verdict, s.Summary = Incomplete, "incomplete: "+strings.Join(open, "; ")+of
	default:
		s.Verdict, s.Summary = Clean, fmt.Sprintf("clean: "+clean, s.Launches)
	}
}

// titles lists the stages with a verdict, the first of them.
func (s *Sequence) titles(v Verdict) []string {
	const most = 4
	var list []string
	for i := range s.Stages {
		if s.Stages[i].Verdict == v {
			list = append(list, s.Stages[i].title())
		}
	}
	if n := len(list) - most; n > 1 {
		list = append(list[:most], fmt.Sprintf("%d more", n))
	}
	return list
}

// WriteText writes the verdict of the whole, in one line.
func (s *Sequence) WriteText(w io.Writer, o TextOptions) error {
	p := &printer{color: o.Color, width: o.width()}
	_, err := io.WriteString(w, p.paint(verdictColor(s.Verdict), s.Summary)+"\n")
	return err
}

// reports are the reports of its stages.
func (s *Sequence) reports() (list []*Report) {
	for i := range s.Stages {
		if r, ok := s.Stages[i].Report.(*Report); ok {
			list = append(list, r)
		}
	}
	return list
}

// WriteJSON writes the reports as one JSON document.
func (s *Sequence) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(s.filled())
}

// filled returns the sequence as it is written.
func (s *Sequence) filled() *Sequence {
	c := *s
	c.Version, c.Stages = Version, []Stage{}
	for _, of := range s.Stages {
		if r, ok := of.Report.(*Report); ok {
			of.Report = r.Filled()
		}
		c.Stages = append(c.Stages, of)
	}
	return &c
}
