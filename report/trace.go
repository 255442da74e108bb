package report

// A run as tracks of slices, for programs that show time from left to right.

// A Tracer takes a run, track by track and mark by mark. The time of a mark counts steps of
// the schedule: step n lasts from n-1 to n. It is no time of a card.
type Tracer interface {
	// Track says that there is a track, before its first mark.
	Track(TraceTrack)
	// Mark takes a mark. Those of one track nest; they come in no order of time, but those
	// of one time in the order in which they nest.
	Mark(TraceMark)
	// Err is what keeps the rest from being taken; the run ends with it.
	Err() error
}

// A TraceTrack is a row of a trace. Tracks of one parent and one name are parts of one row.
type TraceTrack struct {
	ID, Parent uint64 // from 1 on; 0 for none
	Name       string
	Text       string // what it shows, in a sentence
	Counter    bool   // it has values, and no slices
	Unit       string // of them
	Rank       int    // among the tracks of its parent
	Kind       TrackKind
}

// A TrackKind says what a track shows.
type TrackKind string

const (
	TrackSchedule  TrackKind = "schedule"
	TrackCTA       TrackKind = "cta"
	TrackWarp      TrackKind = "warp"
	TrackWait      TrackKind = "wait"
	TrackOperation TrackKind = "op"
	TrackMbarrier  TrackKind = "mbar"
	TrackCounter   TrackKind = "counter"
	TrackBuffer    TrackKind = "buffer"  // who accesses a buffer or a variable
	TrackBarrier   TrackKind = "barrier" // a named barrier
	TrackColumns   TrackKind = "columns" // of tensor memory
	TrackSlot      TrackKind = "slot"    // of a ring: what copies that signal one mbarrier fill
)

// A TraceKind says what a mark is.
type TraceKind uint8

const (
	TraceBegin   TraceKind = iota // of a slice
	TraceEnd                      // of the innermost slice of its track
	TraceInstant                  // a slice without a length
	TraceValue                    // of a counter
)

// A TraceMark is one mark of a track.
type TraceMark struct {
	Kind     TraceKind
	Track    uint64
	Time     int64
	Name     string
	Category string
	Value    int64
	// From and To are arrows that leave, and that end at, this slice; an arrow has one
	// number at both ends.
	From, To []uint64
	File     string // where the kernel's text says so
	Line     int
	// PTX and PTXLine are the place in the PTX, where File and Line are one in its source.
	PTX     string
	PTXLine int
	Args    []TraceArg
}

// A TraceArg is a fact about a slice: a text, or a number if there is none.
type TraceArg struct {
	Name, Text string
	Number     int64
}
