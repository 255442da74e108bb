package rules

import (
	"embed"
	"path"
	"regexp"
	"strings"
)

// The examples of each kind are its test's data: testdata/KIND.txtar, and
// testdata/KIND.2.txtar and so on where the defect has several shapes. Each
// holds wrong.ptx, right.ptx and the launch that runs them.
//
//go:embed testdata/*.txtar
var exampleFiles embed.FS

// Example returns a kernel that has the defect of that name, and the same kernel
// corrected; empty strings if there is none.
func Example(name string) (wrong, right string) {
	e, _ := ExampleOf(name)
	return e.Files["wrong.ptx"], e.Files["right.ptx"]
}

// An Archive is an example of a kind: what it shows, and its files.
type Archive struct {
	Text  string
	Files map[string]string
}

// setting is a line of an example that tests read, by its name: prose has colons too.
var setting = regexp.MustCompile(`(?m)^(allow|allow right|found by|schedules): .*\n`)

// ExampleOf returns the first example of the kind of that name, and whether there is one.
func ExampleOf(name string) (Archive, bool) {
	text, err := exampleFiles.ReadFile(path.Join("testdata", name+".txtar"))
	if err != nil {
		return Archive{}, false
	}
	comment, files := splitArchive(string(text))
	return Archive{strings.Join(strings.Fields(setting.ReplaceAllString(comment, "")), " "), files}, true
}

// splitArchive parses a txtar archive: the comment before the first file, and the
// files by name.
func splitArchive(text string) (comment string, files map[string]string) {
	files = make(map[string]string)
	name := ""
	for line := range strings.Lines(text) {
		if n, ok := archiveMarker(line); ok {
			name = n
			files[name] = ""
			continue
		}
		if name == "" {
			comment += line
		} else {
			files[name] += line
		}
	}
	return comment, files
}

func archiveMarker(line string) (name string, ok bool) {
	line = strings.TrimRight(line, "\r\n")
	name, ok = strings.CutPrefix(line, "-- ")
	if ok {
		name, ok = strings.CutSuffix(name, " --")
	}
	name = strings.TrimSpace(name)
	return name, ok && name != ""
}
