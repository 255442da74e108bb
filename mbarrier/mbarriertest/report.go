package mbarriertest

import (
	"encoding/json"
	"io"
)

// Format is the form of a [Report] in JSON. Fields may be added to it.
const Format = "muster-mbarrier/1"

// A Report says what the goroutines of a bubble did at its barriers, and, if they are stuck, who waits for
// whom. A barrier, a goroutine, a group and a place are numbered by their index in the report, from 0; steps
// are numbered from 1. Names are cut to some hundred bytes.
//
// What waits and what is owed meet at a barrier: each goroutine with Waits is held up by the Debts of that
// barrier, and each debt says which goroutine still owes an arrival there, and from what that is known.
type Report struct {
	Format     string      `json:"format"`  // [Format]
	Test       string      `json:"test"`    // its name
	Failure    string      `json:"failure"` // one line; empty if the test has ended well
	Words      []string    `json:"words"`   // the report in sentences, what matters first
	Barriers   []Barrier   `json:"barriers"`
	Goroutines []Goroutine `json:"goroutines"`
	Groups     []Group     `json:"groups"`
	Debts      []Debt      `json:"debts"`
	Circles    []Circle    `json:"circles"`
	Notes      []Note      `json:"notes"`
	Places     []Place     `json:"places"`
	Steps      int         `json:"steps"`   // of the test
	History    []Step      `json:"history"` // the last of them, in their order
	Left       Left        `json:"left"`

	hints []string // of the words, what no list of barriers says: circles and notes
}

// A Place is a line of source code.
type Place struct {
	Function string `json:"function"`
	File     string `json:"file"` // from the folder of the test, if it lies in it
	Line     int    `json:"line"`
	Text     string `json:"text,omitempty"` // the line, if the file is there
}

// A Barrier is a barrier that the test made, as it stands.
type Barrier struct {
	Name     string `json:"name"`
	Made     int    `json:"made"` // place, -1 if it is not known
	Phase    int64  `json:"phase"`
	Pending  int    `json:"pending"`
	Expected int    `json:"expected"`
	Tx       int    `json:"tx"`      // bytes expected (+) or landed before they were (-)
	Waiting  int    `json:"waiting"` // goroutines that wait for the phase
	Ring     int    `json:"ring"`    // number of its pipeline, -1 if it has none
	Role     string `json:"role,omitempty"`
}

// A Goroutine is one that used a barrier, or one of the bubble that is left.
type Goroutine struct {
	Name    string `json:"name"`              // by [Name], by its function or by the line of its literal
	Place   int    `json:"place"`             // where its function begins, -1 if it is not known
	Started int    `json:"started"`           // place of its go statement, -1 if it is not known
	State   string `json:"state"`             // waits, blocked, runs or ended
	Blocked string `json:"blocked,omitempty"` // in the runtime's words
	At      int    `json:"at"`                // place where it is, -1 if it has ended
	Waits   *Wait  `json:"waits,omitempty"`
	Group   int    `json:"group"`
	Last    []int  `json:"last"` // its last steps
	Steps   int    `json:"steps"`
}

// A Wait is a wait that has not ended.
type Wait struct {
	Barrier int   `json:"barrier"`
	Phase   int64 `json:"phase"`
	Since   int   `json:"since"` // step
	Place   int   `json:"place"`
}

// A Group is goroutines that began at one place and are in one state for one reason.
type Group struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	First int    `json:"first"` // goroutine
}

// A Debt is what a barrier with waiters still needs, and from whom.
type Debt struct {
	Barrier   int    `json:"barrier"`
	Phase     int64  `json:"phase"`
	Goroutine int    `json:"goroutine"` // -1 if nobody is known
	What      string `json:"what"`      // arrival or bytes
	Known     Known  `json:"known"`
	Why       string `json:"why"`            // in words
	Step      int    `json:"step,omitempty"` // that shows it
}

// Known says from what a debt is known.
type Known string

const (
	FromHistory Known = "history" // it arrived in earlier phases, and not in this one
	FromRole    Known = "role"    // it is a producer or a consumer of the pipeline
	FromSibling Known = "sibling" // goroutines of the same go statement arrived
	FromRest    Known = "rest"    // a guess: nobody else is left who could
	FromNothing Known = "nothing" // nobody is known
)

// A Circle is goroutines that each wait for the next, and the last for the first.
type Circle struct {
	Goroutines []int `json:"goroutines"`
	Barriers   []int `json:"barriers"` // the one at which each of them waits
	Sure       bool  `json:"sure"`     // no debt in it is a guess
}

// A Note is a hint at a mistake: ended, count, lapped, leak or refused.
type Note struct {
	Kind      string `json:"kind"`
	Text      string `json:"text"`
	Barrier   int    `json:"barrier"`   // -1 if there is none
	Goroutine int    `json:"goroutine"` // -1 if there is none
	Step      int    `json:"step,omitempty"`
}

// A Step is one operation.
type Step struct {
	Step      int    `json:"step"`
	Kind      string `json:"kind"`      // made, arrives, bytes, drops, leaves, waits, passes, resumes, gives up, tests, panics, breaks
	Op        string `json:"op"`        // the method that was called
	Goroutine int    `json:"goroutine"` // -1 if it was not kept
	Barrier   int    `json:"barrier"`
	Place     int    `json:"place"`
	Phase     int64  `json:"phase"` // in which it counted, or that it waits for; -1 is the phase before the first
	Arrivals  int    `json:"arrivals,omitempty"`
	Drops     int    `json:"drops,omitempty"`
	Bytes     int    `json:"bytes,omitempty"` // expected (+) or landed (-)
	Completes bool   `json:"completes,omitempty"`
	True      bool   `json:"true,omitempty"`  // tests: the answer
	Times     int    `json:"times,omitempty"` // tests: so often, if more than once
	Began     int    `json:"began,omitempty"` // resumes, gives up: the step of its wait
	Text      string `json:"text,omitempty"`  // panics
	After     State  `json:"after"`
}

// A State is a barrier after a step.
type State struct {
	Phase    int64 `json:"phase"`
	Pending  int   `json:"pending"`
	Expected int   `json:"expected"`
	Tx       int   `json:"tx"`
}

// Left is what happened and is not in the report.
type Left struct {
	Steps      int `json:"steps"`      // the oldest ones
	Barriers   int `json:"barriers"`   // and all that was done with them
	Goroutines int `json:"goroutines"` // of a page, those that it does not show
	Strangers  int `json:"strangers"`  // steps of goroutines that were too many to keep
	Debts      int `json:"debts"`
}

// WriteJSON writes the report as one JSON document.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}
