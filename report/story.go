package report

import (
	"encoding/json"
	"io"
)

// StoryVersion is the version of a story's JSON form. Within one, fields are added,
// never renamed, removed or given another meaning.
const StoryVersion = 1

// A Story is a run, told step by step.
type Story struct {
	Version  int    `json:"version"`
	Schedule string `json:"schedule"`
	Finding  string `json:"finding,omitempty"` // its ID
	// Total and Switches count the whole run; Until is the step after which telling
	// stopped early.
	Total    int    `json:"total_steps"`
	Switches int    `json:"switches"`
	Until    int    `json:"until,omitempty"`
	Steps    []Step `json:"steps"`
	// End says how the run ended; empty if telling stopped early.
	End   string `json:"end,omitempty"`
	State *State `json:"state,omitempty"`
}

// A Step is one step of the run, or a stretch of steps that are summarized.
type Step struct {
	First int `json:"first"`
	Last  int `json:"last"`
	// Choice is the schedule's choice; empty for a stretch.
	Choice string `json:"choice,omitempty"`
	// Who is the agent; for a stretch, the agents with their numbers of steps.
	Who string `json:"who"`
	// Where is the source line, or the PTX line if no source is known.
	Where string   `json:"where,omitempty"`
	PTX   *Place   `json:"ptx,omitempty"`
	Does  []string `json:"does,omitempty"`
	// Role is the finding's word for this step: "writes", "arrives".
	Role string `json:"role,omitempty"`
	// Ledger is the resulting state of each barrier that the step touched.
	Ledger []string `json:"ledger,omitempty"`
	// Turns, for a stretch, is the number of times that an agent took over, the first
	// included.
	Turns int `json:"turns,omitempty"`

	// Site is the index of the finding's site that this step is; -1 for none.
	Site int `json:"-"`
}

// Roles labels the steps that are sites of a finding, given the role of each site.
func (s *Story) Roles(roles []string) {
	for i := range s.Steps {
		if p := &s.Steps[i]; p.Choice != "" && p.Site >= 0 && p.Site < len(roles) {
			p.Role = roles[p.Site]
		}
	}
}

// A State is the machine's state where telling stopped.
type State struct {
	Splits   []string `json:"splits"`
	Barriers []string `json:"barriers,omitempty"`
	Ops      []string `json:"operations,omitempty"`
	Columns  []string `json:"columns,omitempty"` // of tensor memory that are allocated
	Memory   []string `json:"memory,omitempty"`
}

// WriteJSON writes the story as JSON.
func (s *Story) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(s)
}
