// Package report represents the result of a check, as data, as text and as JSON.
//
// A Report is finished: places are resolved to files and lines, addresses to names, and
// the verdict is drawn. Renderers only format it, so that text and JSON cannot disagree.
// Equal reports give equal bytes: nothing in a report depends on time, on the machine,
// or on the number of workers.
//
// # The verdict
//
// "findings" if at least one finding counts towards it (an error that is not accepted;
// with FailOnWarning also a warning), even if there are gaps; else "incomplete" if there
// is a gap; else "clean". A clean verdict covers the schedules that ran, and all others if
// Proof holds or Explored is complete.
//
// # JSON
//
// The JSON is the Report itself, or for a file of several launches that do not all overlap a
// Sequence, which has the Reports, under the names in the struct tags. Within one Version,
// fields are added, never renamed, removed or given another meaning. Lists are never
// null. Addresses are strings in hexadecimal, because many readers of JSON hold numbers
// as doubles.
package report

//go:generate go run ./gen

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"muster/internal/diag"
)

// Version is the version of the JSON form.
const Version = 1

// A Report is what one check found.
type Report struct {
	Version int    `json:"version"`
	Launch  Launch `json:"launch"`
	// Schedules are those of the check, in order, as ParseSchedule of package muster reads
	// them; a gap says if a limit cut some of them.
	Schedules []string `json:"schedules"`
	// Proof is the result of the attempt to decide every schedule by one run; nil if
	// there was none, or there are findings or gaps.
	Proof *Proof `json:"proof,omitempty"`
	// Explored is what an exploration of the schedules covered; nil if there was
	// none.
	Explored *Coverage `json:"explored,omitempty"`
	// Decided says how much an incomplete check decided; nil where that was not counted.
	Decided     *Decided  `json:"decided,omitempty"`
	Verdict     Verdict   `json:"verdict"`
	Summary     string    `json:"summary"` // the verdict with what it covers, one line
	Findings    []Finding `json:"findings"`
	Gaps        []Gap     `json:"gaps"`
	Assumptions []string  `json:"assumptions"`
	// Assuming lists the assumptions made on request, by name, as in the summary.
	Assuming []string `json:"assuming,omitempty"`
	// Notices are no findings: an accept entry that matched none, a question that has no
	// answer, sums whose last bits the schedule decides.
	Notices []string `json:"notices"`
	// Rounding: sums of floating-point numbers depend on the order of their additions, in their
	// last bits.
	Rounding bool `json:"rounding,omitempty"`

	compared bool // with a baseline
}

// A Launch describes the launch that was checked.
type Launch struct {
	File    string    `json:"file"` // the launch file; empty where flags made the launch
	PTX     string    `json:"ptx"`
	Kernel  string    `json:"kernel"`
	Grid    [3]uint32 `json:"grid"`
	Block   [3]uint32 `json:"block"`
	Cluster [3]uint32 `json:"cluster"`
	// Preferred is the launch's preferred size of clusters; nil if it has none.
	Preferred *[3]uint32 `json:"preferred_cluster,omitempty"`
	Shared    uint64     `json:"shared"`  // dynamic shared memory of a CTA, bytes
	CTAs      int        `json:"ctas"`    // of the grid
	Threads   int        `json:"threads"` // of the grid
	// Arguments name this launch on a command line of muster, already quoted
	// for a shell.
	Arguments string `json:"arguments"`
	// Note follows a replay line, as a shell comment.
	Note string `json:"-"`
}

// A Proof says whether one run decided for every schedule of the launch, by the
// conditions of docs/schedules.md.
type Proof struct {
	All bool `json:"all"`
	// AnyContents: the outcome does not depend on buffer contents either.
	AnyContents bool     `json:"any_contents"`
	Reasons     []Reason `json:"reasons"` // why not all
	// InOrder: the proof assumes that clusters start in order.
	InOrder bool `json:"-"`
	// Together: the proof assumes that lanes of a warp which come to an mbarrier together
	// arrive, or leave their wait, together.
	Together bool `json:"-"`
	// Residency: the proof assumes that all CTAs are resident together.
	Residency bool `json:"-"`
	// Orders: it took a run for each order of something.
	Orders bool `json:"-"`
	// Draws: who draws which number, or gets which cluster, depends on the schedule, and so
	// may what memory holds in the end.
	Draws bool `json:"-"`
	// Any is the result of the attempt to extend the proof to other values of an
	// argument; nil if none was asked for.
	Any *AnyCount `json:"any,omitempty"`
}

// A Reason is a condition of the proof that fails, and where.
type Reason struct {
	Condition string `json:"condition"` // "C1"
	Place     *Place `json:"place,omitempty"`
	Text      string `json:"text"`
}

// CutShort is the condition that the proof's run completes: no limit ran out, and
// everything in it is modelled.
const CutShort = "the run"

// A Verdict is the outcome in one word.
type Verdict string

// The verdicts. Error is for bad input, which gives no report.
const (
	Clean      Verdict = "clean"
	Findings   Verdict = "findings"
	Incomplete Verdict = "incomplete"
	Error      Verdict = "error"
)

// ExitCode returns the exit status for the verdict.
func (v Verdict) ExitCode() int {
	switch v {
	case Clean:
		return 0
	case Findings:
		return 1
	case Incomplete:
		return 3
	}
	return 2
}

// A Finding is one defect with its evidence.
type Finding struct {
	// ID identifies the finding within this launch, in every schedule:
	// kind@file.ptx:line,line.
	ID       string   `json:"id"`
	Kind     string   `json:"kind"`
	Severity Severity `json:"severity"`
	Headline string   `json:"headline"`
	Sites    []Site   `json:"sites"`
	Missing  string   `json:"missing,omitempty"`
	Fix      string   `json:"fix,omitempty"`
	// Stands says what of the kind that is missing the run has nearby, and why it does not
	// suffice.
	Stands  []string `json:"stands,omitempty"`
	Ledger  []string `json:"ledger,omitempty"`
	Waiting []Waiter `json:"waiting,omitempty"`
	Notes   []string `json:"notes,omitempty"`
	Section string   `json:"section"` // of the PTX ISA
	// Schedule is the first that shows the finding; the fields above describe that run.
	// Count is how often the same instructions conflicted in this way in it.
	Schedule string `json:"schedule"`
	Count    int    `json:"count"`
	// Seen is how many of the report's schedules show it.
	Seen int `json:"seen"`
	// Accepted is the reason that the launch file gives; an accepted finding does not
	// count towards the verdict.
	Accepted string `json:"accepted,omitempty"`
	// Follows is the ID of an error that may have led to this one.
	Follows string `json:"follows,omitempty"`
	Replay  string `json:"replay"` // a command line
	// Fingerprint stays the same from run to run, and where lines around the finding change.
	Fingerprint string `json:"fingerprint"`
	// Ties link the finding to others.
	Ties  Ties `json:"-"`
	known bool // a baseline has it
	// Habit: findings of this kind tell of what a kernel does everywhere, or nowhere.
	Habit bool `json:"-"`
}

// A Severity is "error", "warning" or "note".
type Severity string

// The severities.
const (
	SevError   Severity = "error"
	SevWarning Severity = "warning"
	SevNote    Severity = "note"
)

// A Site is one place in a finding.
type Site struct {
	Role string `json:"role"`
	// PTX is the instruction; nil if the site is not one.
	PTX *Place `json:"ptx,omitempty"`
	// Source lists the places from .loc: the innermost first, then those it was inlined
	// into.
	Source []Place `json:"source,omitempty"`
	// Launch names the launch, where there are several.
	Launch string `json:"launch,omitempty"`
	// CTA is nil for a site of the launch itself, not of a thread.
	CTA   *[3]uint32 `json:"cta,omitempty"`
	Warp  int32      `json:"warp"` // in its CTA; -1 for no warp
	Lanes string     `json:"lanes,omitempty"`
	// Operation is the asynchronous operation that made the access, if any.
	Operation string  `json:"operation,omitempty"`
	Memory    *Memory `json:"memory,omitempty"`
	// Stretch numbers the instructions that are executed together with no synchronization
	// among them, from 1; 0 if it is not known.
	Stretch int `json:"-"`
	// Around names what stands before and behind the instruction, for the fingerprint.
	Around string `json:"-"`
}

// A Place is a line of a text. Col counts bytes from 1; 0 if it is not known.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col,omitempty"`
	Text string `json:"text,omitempty"` // the line, trimmed; for PTX only
	Func string `json:"function,omitempty"`

	Caret int `json:"-"` // where Col is in Text, in bytes
}

func (p Place) String() string { return fmt.Sprintf("%s:%d", diag.Printable(p.File), p.Line) }

// Memory is a range of bytes.
type Memory struct {
	Space   string     `json:"space"`         // "shared" or "global"
	CTA     *[3]uint32 `json:"cta,omitempty"` // owner of the shared memory
	Name    string     `json:"name,omitempty"`
	Symbol  string     `json:"symbol,omitempty"` // Name as mangled for the linker
	Offset  uint64     `json:"offset"`           // of the range within Name
	Address string     `json:"address"`          // in the CTA's window, or global
	Bytes   uint64     `json:"bytes"`
	// Text is the range in readable form: slots+512..1023, in[0..127].
	Text string `json:"text"`
}

// A Waiter is an agent that waits in a deadlock.
type Waiter struct {
	Site Site   `json:"site"`
	For  string `json:"for"`
	Owed string `json:"owed,omitempty"`
}

// A Gap is a reason for an incomplete verdict.
type Gap struct {
	What  string `json:"what"`
	Place *Place `json:"place,omitempty"`
	// Limits are the options that ended it; none where something else did. Needs says which
	// values could decide, or that none would.
	Limits []Limit `json:"limits,omitempty"`
	Needs  string  `json:"needs,omitempty"`
}

// Options say which findings count towards the verdict.
type Options struct {
	FailOnWarning bool
}

// Conclude draws the verdict and writes the summary.
func (r *Report) Conclude(o Options) {
	r.follow()
	r.fingerprint()
	c := r.count(r.groups(false))
	bad := c.errors > 0 || o.FailOnWarning && c.warnings > 0
	switch {
	case bad:
		r.Verdict, r.Proof = Findings, nil
		r.Summary = c.findings() + r.scope() + c.rest(false)
		if len(r.Gaps) > 0 {
			r.Summary += "; incomplete besides: " + diag.Plural(len(r.Gaps), "gap")
		}
	case len(r.Gaps) > 0:
		r.Verdict, r.Proof = Incomplete, nil
		r.Summary = "incomplete" + r.scope() + ": " + diag.Plural(len(r.Gaps), "gap") + c.rest(true) + r.mayDecide()
	case r.partial():
		r.Verdict = Incomplete
		r.Summary = "incomplete" + r.scope() + c.rest(true) + r.mayDecide()
	default:
		r.Verdict = Clean
		r.Summary = "clean" + r.scope() + c.rest(true)
		if r.Rounding {
			r.Summary = "clean but for rounding" + r.scope() + c.rest(true)
		}
	}
	if r.Verdict != Incomplete {
		r.Decided = nil
	}
	if len(r.Assuming) > 0 {
		r.Summary += ", assuming " + strings.Join(r.Assuming, ", ")
	}
}

// scope says what the verdict covers: the schedules that ran, or all if a proof holds.
func (r *Report) scope() string {
	if r.Proof != nil && r.Proof.All && r.Verdict == Clean {
		s := fmt.Sprintf(": all schedules of this launch, %s, %s", diag.Plural(r.Launch.CTAs, "CTA"), diag.Plural(r.Launch.Threads, "thread"))
		if r.Proof.AnyContents {
			s += ", for every content of the buffers"
		}
		s += r.Proof.Any.text()
		return s
	}
	if len(r.Schedules) == 0 {
		return ", nothing was run"
	}
	if r.Explored != nil {
		return r.Explored.scope(r.Verdict != Findings, len(r.Schedules)) + fmt.Sprintf(", %s, %s", diag.Plural(r.Launch.CTAs, "CTA"), diag.Plural(r.Launch.Threads, "thread"))
	}
	return fmt.Sprintf(" in %s, %s, %s", diag.Plural(len(r.Schedules), "schedule"),
		diag.Plural(r.Launch.CTAs, "CTA"), diag.Plural(r.Launch.Threads, "thread"))
}

// counts are numbers of causes, and of the places where they show.
type counts struct{ errors, warnings, notes, accepted, places int }

func (r *Report) count(groups [][]*Finding) counts {
	var c counts
	for _, g := range groups {
		f := g[0]
		if f.Accepted == "" {
			c.places += len(g)
		}
		switch {
		case f.Accepted != "":
			c.accepted++
		case f.Severity == SevError:
			c.errors++
		case f.Severity == SevWarning:
			c.warnings++
		default:
			c.notes++
		}
	}
	return c
}

func (c counts) findings() string {
	var by []string
	for _, p := range []struct {
		n    int
		word string
	}{{c.errors, "error"}, {c.warnings, "warning"}, {c.notes, "note"}} {
		if p.n > 0 {
			by = append(by, diag.Plural(p.n, p.word))
		}
	}
	return fmt.Sprintf("%s (%s)%s", diag.Plural(c.errors+c.warnings+c.notes, "finding"), strings.Join(by, ", "), c.at())
}

// at says at how many places there are findings, if that is more than there are causes.
func (c counts) at() string {
	if c.places <= c.errors+c.warnings+c.notes {
		return ""
	}
	return " at " + diag.Plural(c.places, "place")
}

// rest counts the findings that did not decide the verdict.
func (c counts) rest(open bool) string {
	s := ""
	add := func(n int, text string) {
		if n > 0 {
			s += ", " + text
		}
	}
	if open {
		add(c.warnings, diag.Plural(c.warnings, "warning"))
		add(c.notes, diag.Plural(c.notes, "note"))
		s += c.at()
	}
	add(c.accepted, diag.Plural(c.accepted, "finding")+" accepted")
	return s
}

// SetReplays gives every finding its replay line. Findings with equal IDs, because
// several instructions share a line, get IDs with columns.
func (r *Report) SetReplays() {
	alike := map[string]int{}
	for i := range r.Findings {
		alike[r.Findings[i].ID]++
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if alike[f.ID] > 1 {
			f.ID = f.longID()
		}
		if strings.HasPrefix(f.Kind, "redundant-") { // no one run shows it
			f.Replay = "muster check " + r.Launch.Arguments + " --cost" + r.note()
			continue
		}
		f.Replay = "muster replay " + r.Launch.Arguments
		if f.Schedule != "" {
			f.Replay += " --schedule " + Quote(f.Schedule)
		}
		f.Replay += " --finding " + Quote(f.ID) + r.note()
	}
}

func (r *Report) note() string {
	if r.Launch.Note == "" {
		return ""
	}
	return " # " + r.Launch.Note
}

// ShortID names a finding by its kind and its PTX lines.
func (f *Finding) ShortID() string {
	file, lines := "", []string{}
	for _, s := range f.Sites {
		if s.PTX != nil {
			file, lines = diag.Printable(path.Base(s.PTX.File)), append(lines, fmt.Sprint(s.PTX.Line))
		}
	}
	if len(lines) == 0 {
		return f.Kind
	}
	return f.Kind + "@" + file + ":" + strings.Join(slices.Compact(lines), ",")
}

// longID is the ID with columns.
func (f *Finding) longID() string {
	id, sep := f.Kind, "@"
	for _, s := range f.Sites {
		if s.PTX != nil {
			id += fmt.Sprintf("%s%s:%d:%d", sep, diag.Printable(path.Base(s.PTX.File)), s.PTX.Line, s.PTX.Col)
			sep = ","
		}
	}
	return id
}

// Is reports whether id, from this report or another of the same launch, denotes this
// finding.
func (f *Finding) Is(id string) bool {
	return f.ID == id || f.longID() == id || f.ShortID() == id
}

// Quote quotes a word for a shell, on one line: what a terminal cannot show stands in $'…',
// which POSIX knows since 2024 and bash, zsh and ksh since long.
func Quote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:,@=+%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	if diag.Printable(s) == s {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	b := []byte("$'")
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\'' || r == '\\':
			b = append(b, '\\', byte(r))
		case r != utf8.RuneError && unicode.IsPrint(r):
			b = append(b, s[:n]...)
		default:
			for _, c := range []byte(s[:n]) { // three digits: what follows is none of them
				b = fmt.Appendf(b, `\%03o`, c)
			}
		}
		s = s[n:]
	}
	return string(b) + "'"
}

// Rename gives the findings, all denoted by id, that ID: the replay line then repeats
// the ID that the user gave.
func (r *Report) Rename(id string) {
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Replay = strings.TrimSuffix(f.Replay, Quote(f.ID)+r.note()) + Quote(id) + r.note()
		f.ID = id
	}
}
