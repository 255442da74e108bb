package rules

import (
	"embed"
	"path"
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
	text, err := exampleFiles.ReadFile(path.Join("testdata", name+".txtar"))
	if err != nil {
		return "", ""
	}
	_, files := splitArchive(string(text))
	return files["wrong.ptx"], files["right.ptx"]
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
