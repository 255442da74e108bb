// Package undecided is the catalogue of what keeps a launch from being decided: the
// conditions of a proof, of docs/schedules.md, and the causes of an incomplete verdict.
//
// Each condition has a small kernel in testdata for which it fails, and what a check says
// of that, which a test holds to the check. 'muster explain' and docs/incomplete.md are made
// of the same texts.
package undecided

import (
	"cmp"
	"embed"
	"regexp"
	"strings"
)

//go:generate go run ./gen

// A Condition is one condition of a proof.
type Condition struct {
	Name  string // "C1", as reports have it
	Title string // what must hold, in one line
	Text  string // why, what a kernel that fails it looks like, and what to do
}

// A Cause is one reason for an incomplete verdict.
type Cause struct {
	Title string // what is not decided, in one line
	Says  string // what a report says of it, a regular expression
	Shown string // that, as an example
	Text  string // what it means, and what to do
}

// Lookup returns the condition of a name, in any case, or nil.
func Lookup(name string) *Condition {
	for i := range Conditions {
		if strings.EqualFold(Conditions[i].Name, name) {
			return &Conditions[i]
		}
	}
	return nil
}

// Why returns the cause that a report names by what it says in a line "incomplete:", or as
// the obstacle to an exploration; nil if there is none.
func Why(says string) *Cause {
	for i := range Causes {
		if regexp.MustCompile(Causes[i].Says).MatchString(says) {
			return &Causes[i]
		}
	}
	return nil
}

// The examples: NAME.txtar has fails.ptx and holds.ptx, the launch of both (or launch.holds),
// and what a check says of the first: first, without an exploration, and then, with one.
//
//go:embed testdata/*.txtar
var archives embed.FS

// An Example is a kernel for which a condition fails, and one like it for which it holds.
type Example struct {
	About        string // what is the matter
	Fails, Holds string // PTX
	// Launch and LaunchHolds are the flags that launch them.
	Launch, LaunchHolds string
	// First is what a check says without an exploration, Then what it says with one.
	First, Then string
}

// Example returns the condition's example.
func (c *Condition) Example() Example {
	text, err := archives.ReadFile("testdata/" + c.Name + ".txtar")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	about, files := split(string(text))
	return Example{
		About: strings.TrimSpace(about), Fails: files["fails.ptx"], Holds: files["holds.ptx"],
		Launch:      strings.TrimSpace(files["launch"]),
		LaunchHolds: strings.TrimSpace(cmp.Or(files["launch.holds"], files["launch"])),
		First:       files["first"], Then: files["then"],
	}
}

// split parses a txtar archive.
func split(text string) (comment string, files map[string]string) {
	files = map[string]string{}
	parts := regexp.MustCompile(`(?m)^-- (\S+) --\n`).FindAllStringSubmatchIndex(text, -1)
	for i, m := range parts {
		end := len(text)
		if i+1 < len(parts) {
			end = parts[i+1][0]
		}
		if i == 0 {
			comment = text[:m[0]]
		}
		files[text[m[2]:m[3]]] = text[m[1]:end]
	}
	return comment, files
}
