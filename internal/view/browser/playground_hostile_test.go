package browser

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// This file hands the playground links, files and texts that mean harm, or that nothing sane
// would write: each is refused by one line, or shown as text.

// link makes a fragment of some data, as the page itself would.
func link(t testing.TB, data any) string {
	t.Helper()
	b, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return packed(t, b)
}

func packed(t testing.TB, b []byte) string {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return "#s=" + base64.RawURLEncoding.EncodeToString(out.Bytes())
}

// state is what a link holds.
func state(files ...[2]string) map[string]any {
	list := [][]string{}
	for _, f := range files {
		list = append(list, f[:])
	}
	return map[string]any{"v": 1, "files": list, "entry": "", "flags": "", "open": "", "item": ""}
}

// TestPlaygroundLinks opens links that no page made: each is refused by one line, and the page
// goes on.
func TestPlaygroundLinks(t *testing.T) {
	bomb := packed(t, bytes.Repeat([]byte(" "), 200<<20))
	many := state()
	for i := range 50 {
		many["files"] = append(many["files"].([][]string), []string{fmt.Sprint("f", i, ".ptx"), ""})
	}
	p := visit(t, "#s=AAAA", 1400, 900)
	p.says(t, "This link cannot be opened: it is damaged.")
	for _, c := range []struct{ name, fragment, says string }{
		{"not base64url", "#s=<img src=x onerror=alert(1)>", "it has letters that no link of this page has"},
		{"no known form", "#x=1", "it has letters that no link of this page has"},
		{"length of no base64", "#s=AAAAA", "it is damaged"},
		{"no deflate", "#s=_____w", "it is damaged"},
		{"cut", link(t, state([2]string{"k.ptx", strings.Repeat("add.u32 %r1, %r1, 1;\n", 40)}))[:60], "it is damaged"},
		{"unpacks to 200 MB", bomb, "it unpacks to more than this page takes"},
		{"2.1 million letters", "#s=" + strings.Repeat("A", 2_100_000), "it is too long"},
		{"no JSON", packed(t, []byte("{")), "it is damaged"},
		{"not UTF-8", packed(t, []byte("\"\xff\"")), "it is damaged"},
		{"null", packed(t, []byte("null")), "it is not of this page"},
		{"deep", packed(t, []byte(strings.Repeat("[", 5_000_000))), "it is damaged"},
		{"another version", link(t, map[string]any{"v": 2, "files": []any{}}), "it is not of this page"},
		{"no files", link(t, state()), "it has 0 files"},
		{"50 files", link(t, many), "it has 50 files"},
		{"a file that is none", packed(t, []byte(`{"v":1,"files":[5]}`)), "a file of it is none"},
		{"a name with ..", link(t, state([2]string{"../../etc/passwd", ""})), "cannot lead out of its folder"},
		{"a name from the root", link(t, state([2]string{"/etc/passwd", ""})), "cannot lead out of its folder"},
		{"a name like a flag", link(t, state([2]string{"--help", ""})), "cannot begin with -"},
		{"a name with a line", link(t, state([2]string{"a\nb.ptx", ""})), "has a character that none may have"},
		{"one name twice", link(t, state([2]string{"k.ptx", "a"}, [2]string{"k.ptx", "b"})), "two files have one name"},
		{"a library item that is none", "#item=__proto__", "the library has nothing of that name"},
		{"a broken escape", "#item=%E0%A4%A", "This link cannot be opened"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := p.text(t, current)
			p.text(t, `(() => { document.getElementById("words").textContent = ""; location.hash = `+quote(c.fragment)+`; })()`)
			p.says(t, c.says)
			if got := p.text(t, `document.getElementById("words").textContent`); !strings.HasPrefix(got, "This link cannot be opened: ") || strings.Contains(got, "\n") {
				t.Errorf("the page says %q", got)
			}
			if got := p.text(t, current); got != before {
				t.Errorf("the link opens %s", got)
			}
		})
	}
}

// TestPlaygroundMarkup puts markup wherever a name or a text can stand, and has it checked,
// reported, stepped and explained.
func TestPlaygroundMarkup(t *testing.T) {
	p := visit(t, "", 1400, 900)
	for i, name := range markup {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			kernel := "// " + strings.ReplaceAll(name, "\n", " ") + "\n" + endless + name
			s := state([2]string{"k.ptx", kernel}, [2]string{"k.yaml", "ptx: " + quote(name) + "\ngrid: 1\nblock: 32\n"}, [2]string{"s.txt", "init " + name + " 1\n"})
			s["flags"], s["item"], s["open"] = name, name, name
			p.text(t, `location.hash = `+quote(link(t, s)))
			p.says(t, "Opened from a link")
			for _, entry := range []string{"k.yaml", "k.ptx", "s.txt"} {
				p.choose(t, "#entry", entry)
				p.click(t, "#check")
				p.idle(t)
				p.click(t, "#tab-report")
			}
			if got := p.text(t, `[window.pwned, document.querySelectorAll("img, svg, iframe, object, main script").length]`); got != ",0" {
				t.Errorf("the text came out of its place: %s", got)
			}
		})
	}
	// A file's name, and the kernel's, as the command gives them back.
	s := state([2]string{"<img src=x onerror=window.pwned=1>.ptx", strings.Replace(endless, "2000000000", "3", 1)})
	s["flags"] = "--grid 1 --block 32 --buffer out=u32[1] --arg out"
	p.text(t, `location.hash = `+quote(link(t, s)))
	p.is(t, current, "<img src=x onerror=window.pwned=1>.ptx")
	p.click(t, "#check")
	p.panel(t, "all schedules")
	p.click(t, "#step")
	p.until(t, `document.getElementById("frame") !== null`)
	if got := p.text(t, `[window.pwned, document.querySelectorAll("img").length, document.getElementById("frame").getAttribute("sandbox")]`); got != ",0,allow-scripts" {
		t.Errorf("a file's name came out of its place: %s", got)
	}
}

// TestPlaygroundFiles hands over files of all kinds.
func TestPlaygroundFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	p := visit(t, "", 1400, 900)
	p.click(t, "#empty")
	p.upload(t, file("latin1.ptx", []byte(".version 8.6 // \xe4\xf6\n")))
	p.is(t, current, "latin1.ptx")
	p.is(t, `document.getElementById("text").readOnly && document.querySelector(".note-line").textContent`, "No text (UTF-8): 19 bytes, which are run as they are.")
	p.upload(t, file("empty.ptx", nil), file("empty.yaml", nil), file("nul.yaml", []byte("a\x00b")))
	p.is(t, `document.querySelectorAll("#files button").length`, "4")
	for _, entry := range []string{"empty.ptx", "empty.yaml"} {
		p.choose(t, "#entry", entry)
		p.click(t, "#check")
		p.panel(t, "bad input")
	}
	p.upload(t, file("passwd.yaml", []byte("ptx: ../../../../etc/passwd\ngrid: 1\nblock: 32\nbuffers: {a: {type: u8, shape: [4], fill: {file: /etc/shadow}}}\n")))
	p.is(t, current, "passwd.yaml")
	p.choose(t, "#entry", "passwd.yaml")
	p.click(t, "#check")
	p.panel(t, "bad input")
	p.upload(t, file("-rf.ptx", nil))
	p.says(t, "-rf.ptx is not taken: a file's name cannot begin with -")

	// A line of ten megabytes is shown cut, and run whole.
	p.upload(t, file("long.ptx", []byte("// "+strings.Repeat("a", 10<<20)+"\n"+endless)))
	p.is(t, current, "long.ptx")
	p.until(t, `document.querySelector(".note-line").textContent.startsWith("A line is too long to edit here")`)
	p.choose(t, "#entry", "long.ptx")
	p.click(t, "#check")
	p.panel(t, "a launch without a file needs --grid")
	p.upload(t, file("lines.txt", bytes.Repeat([]byte("\n"), 2_000_000)))
	p.is(t, current, "lines.txt")
	p.choose(t, "#entry", "lines.txt")
	p.click(t, "#check")
	p.idle(t)
	if n := eval[int](t, p, `document.querySelectorAll("*").length`); n > 20_000 {
		t.Errorf("the document has %d elements", n)
	}
	if err := os.Truncate(file("huge.bin", nil), 40<<20); err != nil {
		t.Fatal(err)
	}
	p.upload(t, filepath.Join(dir, "huge.bin"))
	p.says(t, "huge.bin is not taken: it has 41,943,040 bytes; 33,554,432 are taken")
	for _, flags := range []string{"--grid '1", "--no-such-flag", "--help", "--html /etc/passwd", "--format sarif", "--limit-memory 1"} {
		p.text(t, `(() => { document.getElementById("flags").value = `+quote(flags)+`; })()`)
		p.choose(t, "#entry", "empty.ptx")
		p.click(t, "#check")
		p.until(t, `document.documentElement.dataset.busy === "false" && document.getElementById("words").textContent !== ""`)
	}
}

// TestPlaygroundLarge edits five megabytes of PTX: what is written lands where the caret is,
// wherever the reader goes.
func TestPlaygroundLarge(t *testing.T) {
	p := visit(t, "", 1400, 900)
	p.click(t, "#empty")
	pasteLarge(t, p)
	lines := `document.querySelector(".gutter span")?.textContent`
	p.text(t, `document.getElementById("text").focus()`)
	p.press(t, kb.End, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.until(t, `[...document.querySelectorAll(".gutter span")].at(-1)?.textContent === "130003"`)
	p.press(t, "// the end")
	p.text(t, `document.getElementById("editor").scrollTop = 65000 * 18`)
	p.until(t, lines+` > 64000`)
	p.until(t, `(() => { const a = document.getElementById("text"); return a.getBoundingClientRect().top < 0 && a.value.includes("%r64995,"); })()`)
	at := eval[[]float64](t, p, `(() => { const r = document.getElementById("editor").getBoundingClientRect(); return [r.x + 120, r.y + 200]; })()`)
	p.do(t, chromedp.MouseClickXY(at[0], at[1]))
	p.press(t, "// the middle\r")
	p.text(t, `document.getElementById("editor").scrollTop = 0`)
	p.until(t, lines+` === "1"`)
	if n := eval[int](t, p, `document.getElementById("text").value.length`); n > 200_000 {
		t.Errorf("the textarea holds %d letters", n)
	}
	p.click(t, "#format") // reads all of the text, and refuses it at its last line
	p.idle(t)
	p.click(t, "#share")
	p.until(t, `document.getElementById("link") !== null`)
	whole := eval[string](t, p, `(async () => {
		const s = atob(document.getElementById("link").value.split("#s=")[1].replace(/-/g, "+").replace(/_/g, "/"));
		const b = new Blob([Uint8Array.from(s, (c) => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
		return JSON.parse(await new Response(b).text()).files[0][1];
	})()`)
	text := strings.Split(whole, "\n")
	if len(text) != 130_004 || text[len(text)-1] != "// the end" || strings.Count(whole, "// the middle") != 1 {
		t.Errorf("%d lines, the last %q, %d in the middle", len(text), text[len(text)-1], strings.Count(whole, "// the middle"))
	}
}

// pasteLarge pastes 130,000 lines of PTX.
func pasteLarge(t testing.TB, p *tab) {
	t.Helper()
	p.text(t, `(() => {
		const d = new DataTransfer();
		d.setData("text/plain", ".version 8.6\n.target sm_90a\n" + Array.from({ length: 130000 }, (_, i) => "\tmad.lo.s32 %r" + i + ", %r1, 4, %r2; // x").join("\n") + "\n");
		document.getElementById("text").dispatchEvent(new ClipboardEvent("paste", { clipboardData: d, cancelable: true, bubbles: true }));
	})()`)
}

// BenchmarkPlaygroundTyping says how long a letter takes until it shows, in 5 MB of PTX.
func BenchmarkPlaygroundTyping(b *testing.B) {
	p := visit(b, "", 1400, 900)
	p.click(b, "#empty")
	pasteLarge(b, p)
	ms := eval[float64](b, p, `(async () => {
		const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
		const began = performance.now();
		for (let i = 0; i < 100; i++) {
			document.execCommand("insertText", false, i % 10 ? "x" : "\n");
			await frame();
		}
		return (performance.now() - began) / 100;
	})()`)
	b.ReportMetric(ms, "ms/letter")
	b.ReportMetric(0, "ns/op")
}
