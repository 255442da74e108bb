package page

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestColours: a colour has the value that the page of muster view gives it, in the light and in the dark.
func TestColours(t *testing.T) {
	view := ""
	sheets, err := filepath.Glob("../../../internal/view/page/*.css")
	if err != nil || len(sheets) == 0 {
		t.Fatal("the page of muster view has no style sheet", err)
	}
	for _, name := range sheets {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		view += string(b)
	}
	own, err := files.ReadFile("page.css")
	if err != nil {
		t.Fatal(err)
	}
	theirs := colours(view)
	for name, values := range colours(string(own)) {
		if len(values) != 3 || strings.Join(values, " ") != strings.Join(theirs[name], " ") {
			t.Errorf("--%s is %q, and of muster view %q", name, values, theirs[name])
		}
	}
}

// colours lists the values of each property: light, dark by choice, dark by the system.
func colours(css string) map[string][]string {
	all := map[string][]string{}
	for _, m := range regexp.MustCompile(`--([a-z0-9-]+): (#[0-9a-f]{6});`).FindAllStringSubmatch(css, -1) {
		all[m[1]] = append(all[m[1]], m[2])
	}
	return all
}

// TestWrite: the data ends no element, and each part of the script is in the page.
func TestWrite(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, []byte(`{"test":"</script><!--{{script}}{{style}}"}`)); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if !strings.Contains(page, `{"test":"\u003c/script>\u003c!--{{script}}{{style}}"}`) {
		t.Error("the data is not there as it was given")
	}
	if n := strings.Count(page, "</script>"); n != 2 {
		t.Errorf("%d scripts end", n)
	}
	names, err := filepath.Glob("*.js")
	if err != nil {
		t.Fatal(err)
	}
	if len(names) != len(scripts) {
		t.Errorf("%d files of script, and %d in the page", len(names), len(scripts))
	}
	for _, name := range scripts {
		text, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page, string(text)) {
			t.Errorf("%s is not in the page", name)
		}
		for _, sink := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("} {
			if strings.Contains(string(text), sink) {
				t.Errorf("%s has %s: data becomes text and nothing else", name, sink)
			}
		}
	}
}
