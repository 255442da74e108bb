package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// This file hands muster view what means harm, or what nobody sane would write: there is a page
// that is whole, or one clear line and no page; and what a name holds stays a name.

// hostileNames are names that would do something if they were taken for more.
var hostileNames = map[string]string{
	"markup": `<img src=x onerror=alert(1)>`, "end of a script": `</script><script>alert(1)</script>`, "comment": `<!--<script>`, "attribute": `"><svg onload=alert(1)>`,
	"entity": `&lt;b&gt;&amp;`, "template": `{{script}}{{about}}{{blob}}{{sum}}`, "replacement": "$&$1$`", "format": `%s%d%n%!`, "newline": "a\nb\r\nc", "controls": "a\x1b[31m\x07\tb",
	"NUL": "a\x00b", "bidi": "\u202egnp.kcab\u2066\u202c", "separators": "a\u2028b\u2029c", "no UTF-8": "a\xff\xfeb\xc3", "BOM": "\ufeffa", "long": strings.Repeat("a", 100_000), "wide": strings.Repeat("é💩", 3000),
	"up": "../../../../../../etc/passwd", "up to a source": "../../x.cu", "prototype": "__proto__", "constructor": "constructor", "blank": " ", "flag": "-rf", "file": "@x", "Windows": `C:\x\y`, "quote": `'; x`,
}

// hostilePTX is a kernel with %s for the name of its source file, %s for its own and %s
// behind its text.
const hostilePTX = ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"%s\"\n.visible .entry %s(.param .u64 p)\n{\n\t.reg .b32 %%r<4>;\n\t.reg .b64 %%rd<3>;\n\t.loc 1 3 0\n\tld.param.u64 %%rd1, [p];\n\tmov.u32 %%r2, %%tid.x;\n\tst.global.u32 [%%rd1], %%r2; // %s\n\tret;\n}\n"

// TestViewHostileNames: a name with markup, controls or nonsense at every place that has one.
func TestViewHostileNames(t *testing.T) {
	if testing.Short() {
		t.Skip("runs that are long under the race detector, without goroutines of their own")
	}
	t.Parallel()
	pages := 0
	for what, name := range hostileNames {
		for _, place := range []string{"source", "kernel", "comment", "file", "buffer", "key", "launch", "schedule", "beside", "finding"} {
			dir := t.TempDir()
			page := filepath.Join(dir, "page.html")
			source, kernel, comment, ptx, buffer, key, args := "x.cu", "k", "", "k.ptx", "p", "", []string{"view", filepath.Join(dir, "k.yaml"), "--html", page}
			switch place {
			case "source":
				source = strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name)
			case "kernel":
				kernel = name
			case "comment":
				comment = name
			case "file":
				ptx = strings.NewReplacer("/", "_", "\x00", "_").Replace(name[:min(len(name), 100)]) + ".ptx"
				args = []string{"view", filepath.Join(dir, ptx), "--grid", "1", "--block", "64", "--buffer", "p=u32[64]", "--arg", "p", "--html", page}
			case "buffer":
				buffer = name
			case "key":
				key = name
			default:
				args = append(args, "--"+place, name)
			}
			if err := os.WriteFile(filepath.Join(dir, ptx), fmt.Appendf(nil, hostilePTX, source, kernel, comment), 0o600); err != nil {
				t.Fatal(err)
			}
			file := map[string]any{"ptx": ptx, "grid": 1, "block": 64, "args": []string{buffer}, "buffers": map[string]any{buffer: map[string]any{"type": "u32", "shape": []int{64}, "fill": "zeros"}}}
			if place == "key" {
				file[key] = 1
			}
			text, err := json.Marshal(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "k.yaml"), text, 0o600); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			status := doMain(args, strings.NewReader(""), &out, &errs)
			if name := what + " as " + place; viewedOrTold(t, name, page, status, errs.String()) {
				pages++
			}
		}
	}
	if pages < 2*len(hostileNames) {
		t.Errorf("%d pages", pages)
	}
}

// viewedOrTold holds what muster view did to: a whole page and status 0, or status 2, a line
// and no page. It reports whether there is a page.
func viewedOrTold(t *testing.T, what, page string, status int, errs string) bool {
	t.Helper()
	if !utf8.ValidString(errs) {
		t.Errorf("%s: no UTF-8 on the terminal: %q", what, errs[:min(len(errs), 400)])
	}
	for _, r := range errs {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)) {
			t.Errorf("%s: %q on the terminal: %q", what, r, errs[:min(len(errs), 400)])
			break
		}
	}
	if !strings.HasPrefix(errs, "muster: ") || strings.Contains(errs, "panic") || strings.Contains(errs, "BUG") {
		t.Errorf("%s: it says %q", what, errs[:min(len(errs), 400)])
	}
	data, err := os.ReadFile(page)
	switch {
	case status == exitBadInput && os.IsNotExist(err):
		return false
	case status != exitClean || err != nil:
		t.Errorf("%s: status %d, %v: %s", what, status, err, errs)
		return false
	}
	wholePage(t, what, data)
	return true
}

var (
	aboutOf = regexp.MustCompile(`(?s)id="about" data-sum="\d+">(.*?)</script>`)
	blobOf  = regexp.MustCompile(`(?s)id="blob">(.*?)</script>`)
)

// wholePage sees that a page has the elements of a page and no other, and data that can be
// read.
func wholePage(t *testing.T, what string, data []byte) {
	t.Helper()
	for tag, n := range map[string]int{"<script": 3, "</script": 3, "<style": 1, "<img": 0, "<svg": 0, "<!--": 0, "</html>": 1} {
		if got := bytes.Count(data, []byte(tag)); got != n {
			t.Errorf("%s: the page has %d times %s, not %d", what, got, tag, n)
		}
	}
	if !utf8.Valid(data) || bytes.ContainsRune(data, 0) {
		t.Errorf("%s: the page is no UTF-8", what)
	}
	about, blob := aboutOf.FindSubmatch(data), blobOf.FindSubmatch(data)
	if about == nil || blob == nil {
		t.Errorf("%s: the page has no data", what)
		return
	}
	var of struct {
		Runs []struct{ Tracks, Strings [2]int }
	}
	if err := json.Unmarshal(about[1], &of); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	z, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(blob[1])))
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	for _, r := range of.Runs {
		for _, at := range [][2]int{r.Tracks, r.Strings} {
			if !json.Valid(plain[at[0] : at[0]+at[1]]) {
				t.Errorf("%s: a list of the page cannot be read", what)
			}
		}
	}
}

// TestViewHostileSizes: text that is longer than any, launches that are smaller or larger, and
// runs that limits end.
func TestViewHostileSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("runs that are long under the race detector, without goroutines of their own")
	}
	t.Parallel()
	const empty = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"
	const loop = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n\t.shared .u32 s;\n\t.reg .b32 %r<3>;\n\t.reg .pred %p;\n\tmov.u32 %r1, 0;\nl:\n\tst.shared.u32 [s], %r1;\n\tadd.u32 %r1, %r1, 1;\n\tsetp.lt.u32 %p, %r1, 1000000000;\n\t@%p bra l;\n\tret;\n}\n"
	for what, c := range map[string]struct {
		ptx    string
		flags  string
		status int
		says   string
	}{
		"a comment of 10 MB":         {empty + "//" + strings.Repeat("x", 10<<20), "--grid 1 --block 1", exitClean, "^muster: clean.*\nmuster: 2 steps "},
		"a line of 10 MB":            {strings.Replace(empty, "\tret", strings.Repeat("/**/ ", 2<<20)+"ret", 1), "--grid 1 --block 1", exitClean, "muster: 2 steps "},
		"a thread that ends":         {empty, "--grid 1x1x1 --block 1x1x1", exitClean, "muster: 2 steps "},
		"60,000 CTAs":                {empty, "--grid 60000 --block 1", exitClean, "muster: 120,000 steps "},
		"a limit on instructions":    {loop, "--grid 1 --block 32 --limit-instrs 900", exitClean, "\nmuster: the run is not shown to its end: at k.ptx:\\d+: the limit of 900 warp instructions ran out here \\(--limit-instrs\\)\n"},
		"a limit on time":            {loop, "--grid 1 --block 32 --limit-time 1ms", exitIncomplete, "^muster: no page: the time limit of 1ms ran out \\(--limit-time\\)\n$"},
		"a limit on memory":          {loop, "--grid 1 --block 32 --limit-memory 1M", exitIncomplete, "^muster: no page: the memory limit of .* ran out \\(--limit-memory\\)\n$"},
		"a launch that cannot be":    {empty, "--grid 0 --block 1", exitBadInput, "^muster: "},
		"a schedule of another":      {empty, "--grid 1 --block 1 --schedule prefix:r0.0.0,r5.3.1", exitBadInput, "^muster: "},
		"a schedule of no launch":    {empty, "--grid 1 --block 1 --beside \x00\x01", exitBadInput, "^muster: schedule "},
		"a finding that is not":      {empty, "--grid 1 --block 1 --finding race-shared@k.ptx:1,2", exitBadInput, "^muster: --finding race-shared@k.ptx:1,2: the check has no such finding"},
		"a finding of no kind":       {empty, "--grid 1 --block 1 --finding \x1b[31m", exitBadInput, "^muster: "},
		"a page into nowhere":        {empty, "--grid 1 --block 1 --html none/page.html", exitBadInput, "^muster: cannot write none/page.html: no such file or directory\n$"},
		"a page into a folder":       {empty, "--grid 1 --block 1 --html .", exitBadInput, "^muster: cannot write .: is a directory\n$"},
		"a schedule in a folder":     {empty, "--grid 1 --block 1 --schedule @.", exitBadInput, "^muster: .: not a regular file\n$"},
		"an instruction without row": {strings.Replace(empty, "\tret", "\tfrobnicate.b32 a;\n\tret", 1), "--grid 1 --block 1", exitClean, "^muster: incomplete.*\nmuster: 2 steps .*\nmuster: the run is not shown to its end: at k.ptx:6: frobnicate.b32 \\(unknown instruction\\) is not modelled\n$"},
	} {
		dir := t.TempDir()
		name, page := filepath.Join(dir, "k.ptx"), filepath.Join(dir, "page.html")
		if err := os.WriteFile(name, []byte(c.ptx), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"view", name}
		if !strings.Contains(c.flags, "--html") {
			args = append(args, "--html", page)
		}
		var out, errs bytes.Buffer
		status := doMain(append(args, strings.Fields(c.flags)...), strings.NewReader(""), &out, &errs)
		if status != c.status || !regexp.MustCompile(c.says).MatchString(errs.String()) {
			t.Errorf("%s: status %d, it says %q", what, status, errs.String()[:min(errs.Len(), 600)])
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != map[bool]int{true: 2, false: 1}[status == exitClean] {
			t.Errorf("%s: it leaves %v, %v", what, left, err)
		}
		if data, err := os.ReadFile(page); err == nil {
			wholePage(t, what, data)
		}
	}
}
