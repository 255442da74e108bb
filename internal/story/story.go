// Package story tells a run so that a person can follow it: numbered steps,
// who did what to which barrier and bytes, and each barrier's ledger after a
// step that touched it.
//
// A run is a list of choices (explore.Record); a step is one of them: one
// visible operation of a split, one milestone of an asynchronous operation, or
// the start of a cluster. Most steps of a run have nothing to do with what is
// to be explained. A Scout goes along once and notes which steps touch the
// barriers and bytes of a finding, and which synchronize the warps involved; a
// second run, of the same choices, is told, with the other steps folded into
// stretches. That both runs made the same events is checked, and is the check
// that a replay is a replay.
//
// For a race, what is told lies between the two accesses: the first, all that
// the two warps did to be ordered, the second. For what hangs or faults it is
// all that happened to the barriers in question, and the end. Where that is
// still too much, the middle is folded.
//
// A story knows no rules: what is wrong, the finding says.
package story

import (
	"encoding/json"
	"io"

	"muster/internal/report"
	"muster/internal/rules"
)

// Version is the version of the JSON form. Within one, fields are added, never
// renamed, removed or given another meaning.
const Version = 1

// A Story is a run, told.
type Story struct {
	Version  int    `json:"version"`
	Schedule string `json:"schedule"`
	Finding  string `json:"finding,omitempty"` // its ID
	// Total and Switches are of the whole run; Until is where telling stopped,
	// if that was before the end.
	Total    int    `json:"total_steps"`
	Switches int    `json:"switches"`
	Until    int    `json:"until,omitempty"`
	Steps    []Step `json:"steps"`
	// End says how the run ended; empty if telling stopped before.
	End   string `json:"end,omitempty"`
	State *State `json:"state,omitempty"`
}

// A Step is a step of the run, or a stretch of steps that are not told.
type Step struct {
	First int `json:"first"`
	Last  int `json:"last"`
	// Choice is the schedule's choice; empty of a stretch.
	Choice string `json:"choice,omitempty"`
	// Who takes the step; of a stretch, with how many steps each.
	Who string `json:"who"`
	// Where is the source line, or that of the PTX where no source is known.
	Where string        `json:"where,omitempty"`
	PTX   *report.Place `json:"ptx,omitempty"`
	Does  []string      `json:"does,omitempty"`
	// Role is what the finding calls this step: "writes", "arrives".
	Role string `json:"role,omitempty"`
	// Ledger is the state afterwards of each barrier that the step touched.
	Ledger []string `json:"ledger,omitempty"`
	// Turns of a stretch: how often another agent took over in it, and once.
	Turns int `json:"turns,omitempty"`

	site int // of the finding; -1 for none
}

// Roles names the steps that are places of the finding.
func (s *Story) Roles(f *rules.Finding) {
	for i := range s.Steps {
		if p := &s.Steps[i]; p.Choice != "" && p.site >= 0 && p.site < len(f.Sites) {
			p.Role = f.Sites[p.site].Role
		}
	}
}

// A State is how things stand where telling stopped.
type State struct {
	Splits   []string `json:"splits"`
	Barriers []string `json:"barriers,omitempty"`
	Ops      []string `json:"operations,omitempty"`
	Memory   []string `json:"memory,omitempty"`
}

// WriteJSON writes the story as JSON.
func (s *Story) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(s)
}
