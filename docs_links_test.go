package muster_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	pageLinkRE = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headingRE  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	mutedRE    = regexp.MustCompile(`[^\p{L}\p{N}\- _]`)
)

// TestLinks: links between the documents lead to files and headings that are there, and the index
// names every document.
func TestLinks(t *testing.T) {
	files, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "README.md", "CONTRIBUTING.md")
	index, err := os.ReadFile("docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(file); filepath.Dir(file) == "docs" && name != "README.md" && !strings.Contains(string(index), "("+name) {
			t.Errorf("docs/README.md does not name %s", name)
		}
		for _, m := range pageLinkRE.FindAllStringSubmatch(string(text), -1) {
			to, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") {
				continue
			}
			name := file
			if to != "" {
				name = filepath.Join(filepath.Dir(file), filepath.FromSlash(to))
			}
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s: %s leads nowhere", file, m[1])
			} else if heading != "" && !headings(t, name)[heading] {
				t.Errorf("%s: %s has no heading %s", file, name, heading)
			}
		}
	}
}

// headings are the anchors of a document, as GitHub makes them.
func headings(t *testing.T, file string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, m := range headingRE.FindAllStringSubmatch(fenceRE.ReplaceAllString(string(text), ""), -1) {
		all[strings.ReplaceAll(mutedRE.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return all
}
