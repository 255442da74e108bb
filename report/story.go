package report

import (
	"encoding/json"
	"io"
)

// StoryVersion is the version of a story's JSON form. Within one, fields are added,
// never renamed, removed or given another meaning.
const StoryVersion = 1

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
	Where string   `json:"where,omitempty"`
	PTX   *Place   `json:"ptx,omitempty"`
	Does  []string `json:"does,omitempty"`
	// Role is what the finding calls this step: "writes", "arrives".
	Role string `json:"role,omitempty"`
	// Ledger is the state afterwards of each barrier that the step touched.
	Ledger []string `json:"ledger,omitempty"`
	// Turns of a stretch: how often another agent took over in it, and once.
	Turns int `json:"turns,omitempty"`

	// Site is the place of the finding that this step is, from 0; -1 for none.
	Site int `json:"-"`
}

// Roles names the steps that are places of a finding, given what it calls each.
func (s *Story) Roles(roles []string) {
	for i := range s.Steps {
		if p := &s.Steps[i]; p.Choice != "" && p.Site >= 0 && p.Site < len(roles) {
			p.Role = roles[p.Site]
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
