package main

import (
	"bytes"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updatePictures = flag.Bool("update.pictures", false, "write the pictures of the documents that TestPictures draws")

const picturesFolder = "docs/pictures"

// TestPictures draws the pictures of the documents again, by the commands that
// docs/pictures/README.md gives for them.
func TestPictures(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile(filepath.Join(picturesFolder, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var drawn []string
	for _, m := range regexp.MustCompile(`(?m)^muster (.+) --picture docs/pictures/(\S+\.svg)$`).FindAllStringSubmatch(string(text), -1) {
		drawn = append(drawn, m[2])
		file := filepath.Join(t.TempDir(), m[2])
		var out, errs bytes.Buffer
		if code := doMain(append(strings.Fields(m[1]), "--picture", file), nil, &out, &errs); code > exitFindings {
			t.Errorf("%s: exit status %d\n%s", m[2], code, errs.String())
			continue
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		checkPicture(t, m[2], got)
		name := filepath.Join(picturesFolder, m[2])
		if *updatePictures {
			if err := os.WriteFile(name, got, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what its command draws (-update.pictures): %v", name, err)
		}
	}
	links := linked(t)
	for _, name := range links {
		if !slices.Contains(drawn, name) {
			t.Errorf("a document shows %s, which no command of %s/README.md draws", name, picturesFolder)
		}
	}
	files, err := filepath.Glob(filepath.Join(picturesFolder, "*.svg"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, f := range files {
		if !slices.Contains(links, filepath.Base(f)) {
			t.Errorf("no document shows %s", f)
		}
	}
}

// linked lists the pictures that documents show, each with a text for who does not see it.
func linked(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(files, "README.md") {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`!\[([^\]]*)\]\((?:docs/)?pictures/([^)]+)\)`).FindAllStringSubmatch(string(text), -1) {
			if len(m[1]) < 20 {
				t.Errorf("%s shows %s, and does not say what it shows: %q", f, m[2], m[1])
			}
			names = append(names, m[2])
		}
	}
	return names
}

// checkPicture checks what every picture is: well formed, small, with a title and a description,
// and without anything that runs or is fetched.
func checkPicture(t *testing.T, name string, data []byte) {
	t.Helper()
	const most = 30 << 10
	if len(data) > most {
		t.Errorf("%s has %d bytes", name, len(data))
	}
	texts, open := map[string]string{}, []string{}
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			open = append(open, tok.Name.Local)
			if !slices.Contains(pictureElements, tok.Name.Local) {
				t.Errorf("%s has an element %s", name, tok.Name.Local)
			}
			for _, a := range tok.Attr {
				if n := a.Name.Local; strings.HasPrefix(n, "on") || n == "href" || n == "src" || strings.Contains(a.Value, "://") && n != "xmlns" {
					t.Errorf("%s: %s=%q", name, n, a.Value)
				}
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				texts[open[len(open)-1]] += string(tok)
			}
		}
	}
	if len(texts["title"]) < 5 || len(texts["desc"]) < 20 {
		t.Errorf("%s: title %q, description %q", name, texts["title"], texts["desc"])
	}
	if s := texts["style"]; !strings.Contains(s, "prefers-color-scheme:dark") || strings.Contains(s, "@import") || strings.Contains(s, "url(h") {
		t.Errorf("%s: style %s", name, s)
	}
}

var pictureElements = []string{"svg", "title", "desc", "style", "defs", "pattern", "g", "rect", "path", "circle", "text"}

// TestHostilePicture: names of a kernel and of files that are markup, scripts or no UTF-8 stay
// text.
func TestHostilePicture(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, `a"><script>alert(1)<`+"\xff\x01.txt")
	if err := os.WriteFile(name, []byte("init b 1\n<b&: arrive b\n"), 0o666); err != nil {
		t.Skip(err)
	}
	var out, errs bytes.Buffer
	file := filepath.Join(dir, "x.svg")
	doMain([]string{"barrier", name, "--picture", file}, nil, &out, &errs)
	if data, err := os.ReadFile(file); err == nil {
		checkPicture(t, "x.svg", data)
		return
	}
	// The actor is refused: names alone are hostile then.
	if err := os.WriteFile(name, []byte("init b 1\na: arrive b\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	doMain([]string{"barrier", name, "--picture", file}, nil, &out, &errs)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err, errs.String())
	}
	checkPicture(t, "x.svg", data)
}
