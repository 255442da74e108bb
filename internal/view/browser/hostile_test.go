package browser

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// This file hands the page data that means harm, or that nothing sane would write: nothing
// may come out of the place where it is shown, and nothing may hang.

// markup is what a name may try: each would set pwned if it were taken for more than text.
var markup = []string{
	`<script>window.pwned = 1</script>`,
	`</script><script>window.pwned = 1</script>`,
	`<img src=x onerror="window.pwned = 1">`,
	`"><svg onload="window.pwned = 1">`,
	`<!--<script>`,
	`javascript:window.pwned=1`,
	"${window.pwned = 1}",
	`{{script}}{{about}}{{blob}}`,
	"line\nbreak\ttab\x00nul\u2028separator",
	"\u202egnp.kcab\u202c",
	"__proto__", "constructor", "",
	"\xff\xfe not UTF-8",
	strings.Repeat("é", 2000),
}

// named makes the small page with a hostile name wherever a name can stand.
func named(t *testing.T, name string) *made {
	r := report(name)
	f := r["findings"].([]any)[0].(map[string]any)
	for _, key := range []string{"kind", "headline", "missing", "fix", "replay", "schedule", "section"} {
		f[key] = name
	}
	f["notes"], f["ledger"] = []string{name}, []string{name}
	f["waiting"] = []any{map[string]any{"site": map[string]any{"role": name, "warp": 0}, "for": name}}
	for _, s := range f["sites"].([]any) {
		s.(map[string]any)["role"] = name
		s.(map[string]any)["ptx"] = map[string]any{"file": name, "line": 2, "text": name}
	}
	r["launch"].(map[string]any)["file"], r["launch"].(map[string]any)["kernel"] = name, name
	r["summary"] = name
	m := &made{Report: r}
	m.text("ptx", name, name+"\n"+name, [3]any{1, name, 1})
	m.text("source", name, name)
	run := smallRun(name, 12)
	for _, track := range run.tracks {
		track["name"], track["text"], track["unit"] = name, name, name
	}
	run.slice(2, 3, 4, name, name, extra{file: name, line: 2, args: [][2]string{{name, name}, {"ended_by", name}}})
	run.Finding, run.Cut = name, name
	run.Sites = []map[string]any{{"step": 4, "track": 2, "role": name, "site": 0}}
	run.Words = []map[string]any{{"step": 4, "first": 4, "text": name, "site": 0}}
	m.add(t, run)
	return m
}

func TestHostileNames(t *testing.T) {
	for i, name := range markup {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			p := open(t, named(t, name).write(t), 1400, 900)
			p.step(t, "4")
			for _, tab := range []string{"event", "barriers", "registers", "memory", "table"} {
				p.click(t, "#tab-"+tab)
				p.until(t, `document.getElementById("panel").getAttribute("aria-labelledby") === "tab-`+tab+`" && document.getElementById("panel").childElementCount > 0`)
			}
			p.press(t, "t")
			p.until(t, `document.querySelector("dialog[open]") !== null`)
			if got := p.text(t, `[window.pwned, document.querySelectorAll("img, svg, iframe, object, script:not(:last-of-type)").length]`); got != ",0" {
				t.Errorf("the name came out of its place: %s", got)
			}
			if len(p.asked) != 1 {
				t.Errorf("the page asks for %s", p.asked)
			}
		})
	}
}

// TestHostileSizes opens pages whose parts are longer, fewer or more than any launch's.
func TestHostileSizes(t *testing.T) {
	long := strings.Repeat("a", 10<<20)
	for name, make := range map[string]func() *made{
		"a line of 10 MB": func() *made {
			m := small(t)
			m.Texts = nil
			m.text("ptx", "k.ptx", "// k\n"+long)
			return m
		},
		"a name of 1 MB": func() *made { return named(t, long[:1<<20]) },
		"a million lines": func() *made {
			m := small(t)
			m.Texts = nil
			m.text("ptx", "k.ptx", strings.Repeat("ret;\n", 1_000_000))
			return m
		},
		"no steps": func() *made {
			m := &made{Report: report()}
			m.add(t, newRun("earliest", 0))
			return m
		},
		"no marks": func() *made {
			m := &made{Report: report()}
			m.add(t, newRun("earliest", 1000))
			return m
		},
		"20,000 tracks": func() *made {
			m := &made{Report: report()}
			r := newRun("earliest", 100)
			for c := range 500 {
				cta := r.track(0, "cta", fmt.Sprint("CTA ", c), c+1)
				for w := range 39 {
					r.slice(r.track(cta, "warp", fmt.Sprint("warp ", w), w), int64(w), int64(w)+1, "ret", "step", extra{})
				}
			}
			m.add(t, r)
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, make().write(t), 1400, 900)
			p.press(t, "f")
			for _, tab := range []string{"event", "barriers", "registers", "memory", "table"} {
				p.click(t, "#tab-"+tab)
				p.until(t, `document.getElementById("panel").getAttribute("aria-labelledby") === "tab-`+tab+`" && document.getElementById("panel").childElementCount > 0`)
			}
			p.click(t, "#last")
			p.click(t, "#back")
			p.click(t, "#place-next")
			if n := eval[int](t, p, `document.querySelectorAll("*").length`); n > 20_000 {
				t.Errorf("the document has %d elements", n)
			}
		})
	}
}

// TestDamaged opens pages that were cut short, or changed on their way, at each of their
// parts: none is shown as if it were whole, and each says so in a line.
func TestDamaged(t *testing.T) {
	whole, err := os.ReadFile(small(t).write(t))
	if err != nil {
		t.Fatal(err)
	}
	text := string(whole)
	at := func(mark string) int {
		i := strings.Index(text, mark)
		if i < 0 {
			t.Fatalf("the page has no %s", mark)
		}
		return i + len(mark)
	}
	style, about, blob, script := at("<style>"), at(`id="about" data-sum="`), at(`id="blob">`), at("\n<script>")
	data, body := at(`id="about" data-sum="`)+strings.Index(text[about:], ">")+1, at("<body>")
	flip := func(i int) string { return text[:i] + string(text[i]^1) + text[i+1:] }
	broken := map[string]string{
		"cut in the head": text[:style-40], "cut in the style": text[:style+200], "cut in the body": text[:body+300], "cut before the words": text[:at("<footer")],
		"cut in about": text[:data+50], "cut before the blob": text[:blob], "cut in the blob": text[:blob+200], "cut before the script": text[:script-len("<script>")],
		"cut in the script": text[:script+5000], "cut before the end of the script": text[:strings.LastIndex(text, "</script>")],
		"about is no JSON": strings.Replace(text, `">{"`, `">"`, 1), "a letter of the summary": strings.Replace(text, "what was checked", "what was chucked", 1), "a bit of the sum": flip(about),
		"a bit of the style": flip(style + 300), "a bit of the script": flip(script + 3000), "a bit of about": flip(data + 12),
		"a bit of the blob": flip(blob + 100), "a bit of the blob's head": flip(blob + 1), "a bit of the blob's end": flip(strings.Index(text[blob:], "<") + blob - 5),
		"the blob is cut":  text[:blob+40] + text[blob+strings.Index(text[blob:], "<"):],
		"the blob is none": text[:blob] + "!!!!" + text[blob+strings.Index(text[blob:], "<"):], "the blob is empty": text[:blob] + text[blob+strings.Index(text[blob:], "<"):],
		"zeros in the script": text[:script+4096] + strings.Repeat("\x00", 4096) + text[script+8192:], "zeros in the blob": text[:blob+64] + strings.Repeat("\x00", 64) + text[blob+128:],
	}
	folder := t.TempDir()
	p := start(t, "file://"+small(t).write(t), 1400, 900)
	for name, page := range broken {
		if page == text {
			t.Errorf("%s: the page is whole", name)
		}
		file := folder + "/" + strings.ReplaceAll(name, " ", "-") + ".html"
		if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		p.do(t, chromedp.Navigate("file://"+file))
		// A page without its script is as it will be: it says so from the start.
		p.until(t, `document.readyState === "complete" && (document.documentElement.dataset.ready !== undefined || !document.title.startsWith("k:"))`)
		said := `document.title + " | " + (document.getElementById("words") ?? document.body)?.textContent`
		if strings.Contains(page, "</html>") && !strings.HasSuffix(name, "script") {
			p.until(t, `document.documentElement.dataset.ready !== undefined`)
		}
		ready := p.text(t, `document.documentElement.dataset.ready`)
		got := p.text(t, said)
		switch {
		case ready == "true":
			t.Errorf("%s: the page is shown", name)
		case !strings.Contains(got, "not whole") && !strings.Contains(got, "This page cannot be shown: "):
			t.Errorf("%s: the page says %q", name, got)
		}
		t.Logf("%s: %s", name, got[strings.Index(got, "|")+1:])
	}
}
