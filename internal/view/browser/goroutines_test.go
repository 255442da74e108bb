package browser

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"muster/examples/stuck"
	"muster/mbarrier"
	"muster/mbarrier/mbarriertest"
)

// This file looks at the page of package mbarriertest: who waits for whom at the barriers of a test.

// barriers writes the page of a report and opens it.
func barriers(t *testing.T, r *mbarriertest.Report, width, height int64) *tab {
	t.Helper()
	var page bytes.Buffer
	if err := r.WritePage(&page); err != nil {
		t.Fatal(err)
	}
	if page.Len() > 8<<20 {
		t.Errorf("the page has %d bytes", page.Len())
	}
	file := filepath.Join(t.TempDir(), "mbarriers.html")
	if err := os.WriteFile(file, page.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, file, width, height)
}

func record(t *testing.T, run func()) *mbarriertest.Report {
	return mbarriertest.Record(t, func(*testing.T) { run() })
}

// TestBarriers opens the page of each mistake: it says what the report says, draws who waits, marks a circle,
// and has no text that is too faint.
func TestBarriers(t *testing.T) {
	for _, m := range stuck.All {
		t.Run(m.Name, func(t *testing.T) {
			r := record(t, m.Run)
			p := barriers(t, r, 1400, 900)
			if got := p.text(t, `[document.getElementById("headline").textContent, ...[...document.querySelectorAll("#said li")].map((e) => e.textContent)].join("\n")`); got != strings.Join(r.Words, "\n") {
				t.Errorf("the page says\n%s\nthe report\n%s", got, strings.Join(r.Words, "\n"))
			}
			round := eval[int](t, p, `document.querySelectorAll(".node.round").length`)
			want := 0
			for _, c := range r.Circles {
				want += 2 * len(c.Goroutines)
			}
			if round != want {
				t.Errorf("%d nodes are marked as a circle's, of %d", round, want)
			}
			if n := eval[int](t, p, `document.querySelectorAll(".wait-bar.stuck").length`); n == 0 {
				t.Error("no wait is marked as one that does not end")
			}
			for _, theme := range []string{"light", "dark"} {
				p.theme(t, theme)
				for _, tab := range []string{"step", "goroutines", "barriers", "history"} {
					p.click(t, "#tab-"+tab)
					for _, l := range eval[[]string](t, p, contrast) {
						t.Errorf("%s, %s: %s", theme, tab, l)
					}
				}
				for _, l := range eval[[]string](t, p, barriersDrawn) {
					t.Errorf("%s: %s", theme, l)
				}
				p.click(t, "#tab-goroutines")
				p.picture(t, "barriers-"+m.Name+"-"+theme)
			}
		})
	}
}

// barriersDrawn lists what is drawn too faintly: letters (4.5 to 1), and signs on the ground (3 to 1).
const barriersDrawn = `(() => {
	const style = getComputedStyle(document.documentElement), of = (n) => style.getPropertyValue("--" + n).trim();
	const lum = (h) => { const [r, g, b] = [1, 3, 5].map((i) => parseInt(h.slice(i, i + 2), 16) / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const ratio = (a, b) => { const [x, y] = [lum(of(a)), lum(of(b))]; return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
	const low = [], need = (a, b, least) => { if (!(ratio(a, b) >= least)) low.push(a + " on " + b + " has " + ratio(a, b).toFixed(2) + " to 1"); };
	for (const f of ["barrier", "async", "other", "fence", "memory", "finding", "phase-0", "phase-1"]) { need("on-fill", f, 4.5); need(f, "ground", 3); }
	for (const f of ["finding", "ink", "quiet"]) need(f, "finding-ground", 4.5);
	for (const f of ["ink", "quiet", "barrier"]) need(f, "raised", 4.5);
	for (const f of ["ink", "quiet", "finding", "barrier"]) need(f, "band", 4.5);
	need("ink", "wait", 4.5);
	need("edge", "ground", 3);
	need("arrow", "ground", 3);
	return low;
})()`

// TestBarriersControls clicks every control.
func TestBarriersControls(t *testing.T) {
	p := barriers(t, record(t, stuck.SkippedRelease), 1400, 900)
	last := p.text(t, `document.getElementById("step").value`)
	at := func(want string) {
		t.Helper()
		p.until(t, `document.getElementById("step").value === `+quote(want))
	}
	p.click(t, "#first")
	at("1")
	p.click(t, "#forth")
	at("2")
	p.click(t, "#back")
	at("1")
	p.click(t, "#same-next")
	p.until(t, `document.getElementById("step").value !== "1"`)
	p.click(t, "#same-prev")
	at("1")
	p.click(t, "#last")
	at(last)
	p.do(t, chromedp.SetValue(chromedp.CSS("#step"), "7"))
	p.text(t, `document.getElementById("step").dispatchEvent(new Event("change"))`)
	at("7")
	if got := p.text(t, `document.getElementById("words").textContent`); !strings.HasPrefix(got, "Step 7: ") {
		t.Errorf("the page says %q", got)
	}
	marks := `document.querySelectorAll(".mark").length`
	all := eval[int](t, p, marks)
	p.click(t, "#zoom-in")
	p.until(t, fmt.Sprintf("%s < %d", marks, all))
	p.click(t, "#zoom-out")
	p.click(t, "#zoom-in")
	p.click(t, "#fit")
	p.until(t, fmt.Sprintf("%s === %d", marks, all))
	rows := `document.querySelectorAll(".lane-name").length`
	had := eval[int](t, p, rows)
	p.click(t, "#only")
	p.until(t, fmt.Sprintf("%s < %d", rows, had))
	p.click(t, "#only")
	for _, tab := range []string{"goroutines", "barriers", "history", "step"} {
		p.click(t, "#tab-"+tab)
		p.until(t, `document.getElementById("panel").getAttribute("aria-labelledby") === "tab-`+tab+`" && document.getElementById("panel").childElementCount > 0`)
	}
	p.click(t, "#said .link") // a step that a sentence names
	p.until(t, `document.getElementById("step").value !== "7"`)
	// Each node of the graph, and each link of each table.
	for i := range eval[int](t, p, `document.querySelectorAll(".node").length`) {
		p.text(t, fmt.Sprintf(`document.querySelectorAll(".node")[%d].dispatchEvent(new MouseEvent("click"))`, i))
		p.until(t, fmt.Sprintf(`document.querySelectorAll(".node")[%d].classList.contains("picked") && document.querySelector("#panel tr.picked") !== null`, i))
	}
	for _, tab := range []string{"goroutines", "barriers", "history", "step"} {
		for i := 0; ; i++ {
			p.click(t, "#tab-"+tab)
			if i >= eval[int](t, p, `document.querySelectorAll("#panel .link").length`) {
				break
			}
			p.text(t, fmt.Sprintf(`document.querySelectorAll("#panel .link")[%d].click()`, i))
		}
	}
	p.do(t, chromedp.Click(chromedp.CSS(".track svg:nth-child(2)"))) // in the middle of the lanes
	for range 3 {
		p.click(t, "#theme")
	}
	if got := p.text(t, `document.documentElement.dataset.theme`); got != "undefined" {
		t.Errorf("after three clicks the theme is %q", got)
	}
	p.click(t, "#help")
	p.until(t, `document.querySelector("dialog[open]") !== null`)
	for _, l := range eval[[]string](t, p, contrast) {
		t.Errorf("help: %s", l)
	}
	p.picture(t, "barriers-help")
	p.click(t, "dialog button")
	p.until(t, `document.querySelector("dialog[open]") === null`)
}

// TestBarriersKeys drives the page by keys alone.
func TestBarriersKeys(t *testing.T) {
	p := barriers(t, record(t, stuck.SkippedRelease), 1400, 900)
	last := p.text(t, `document.getElementById("step").value`)
	for _, c := range []struct{ keys, step string }{{kb.Home, "1"}, {kb.ArrowRight, "2"}, {kb.ArrowLeft, "1"}, {"n", "2"}, {"p", "1"}, {kb.End, last}} {
		p.press(t, c.keys)
		p.until(t, `document.getElementById("step").value === `+quote(c.step))
	}
	for i, tab := range []string{"step", "goroutines", "barriers", "history"} {
		p.press(t, fmt.Sprint(i+1))
		p.until(t, `document.getElementById("panel").getAttribute("aria-labelledby") === "tab-`+tab+`"`)
	}
	p.press(t, "+")
	p.press(t, "-")
	p.press(t, "f")
	p.press(t, "w")
	p.until(t, `document.getElementById("only").checked`)
	p.press(t, "t")
	p.until(t, `document.documentElement.dataset.theme === "light"`)
	p.press(t, "?")
	p.until(t, `document.querySelector("dialog[open]") !== null`)
	p.press(t, "\x1b")
	p.until(t, `document.querySelector("dialog[open]") === null`)

	missed := eval[[]string](t, p, `(() => {
		const missed = [];
		for (const e of document.querySelectorAll("button, select, input, [tabindex='0']")) {
			if (e.closest("[hidden]") || e.disabled || e.tabIndex < 0) continue;
			if (!(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label")?.textContent.trim() || e.getAttribute("aria-labelledby"))) missed.push(e.outerHTML.slice(0, 200));
		}
		return missed;
	})()`)
	for _, m := range missed {
		t.Errorf("a control has no name: %s", m)
	}
	p.text(t, `document.activeElement.blur()`)
	var order []string
	for range 45 {
		p.press(t, "\t")
		order = append(order, p.text(t, `document.activeElement.id || document.activeElement.getAttribute("class") || document.activeElement.tagName`))
	}
	for _, id := range []string{"theme", "help", "link", "graph", "node", "first", "step", "same-prev", "only", "lanes", "tab-history", "panel"} {
		if !strings.Contains(strings.Join(order, " "), id) {
			t.Errorf("45 times Tab do not come to %s: %s", id, order)
		}
	}
	p.text(t, `document.querySelector(".node").focus()`)
	p.press(t, "\r")
	p.until(t, `document.querySelector(".node").classList.contains("picked")`)
	p.press(t, "1")
	p.text(t, `document.getElementById("tab-step").focus()`)
	p.press(t, kb.ArrowRight)
	p.until(t, `document.activeElement.id === "tab-goroutines"`)
	if got := p.text(t, `document.getElementById("words").getAttribute("aria-live")`); got != "polite" {
		t.Errorf("the status is %q", got)
	}
}

// TestBarriersNoRequests sees that the page asks for nothing but itself, even where its script tries.
func TestBarriersNoRequests(t *testing.T) {
	p := barriers(t, record(t, stuck.DeadlockOfTwo), 1400, 900)
	got := eval[string](t, p, `(async () => { try { await fetch("http://127.0.0.1:9/"); return "it came through"; } catch (e) { return "refused"; } })()`)
	if got != "refused" {
		t.Errorf("a request: %s", got)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.asked[1:] {
		if !strings.HasPrefix(a, "http://127.0.0.1:9/") {
			t.Errorf("the page asks for %s", a)
		}
	}
}

// TestBarriersNarrow: on a telephone nothing but what scrolls by itself is wider than the window.
func TestBarriersNarrow(t *testing.T) {
	p := barriers(t, record(t, stuck.LeakedSlot), 390, 844)
	if w := eval[int](t, p, `document.documentElement.scrollWidth`); w > 390 {
		t.Errorf("the page is %d wide", w)
	}
	p.picture(t, "barriers-narrow")
}

// TestBarriersHostileNames: a name is a name, whatever is in it.
func TestBarriersHostileNames(t *testing.T) {
	for i, name := range append(markup, strings.Repeat("x", 1<<20)) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			r := record(t, func() {
				full := mbarrier.New(2, mbarrier.WithName(name))
				go func() {
					mbarriertest.Name(name)
					full.ArriveAndWait()
				}()
				full.WaitParity(0)
			})
			r.Test, r.Failure = name, name
			for i := range r.Places {
				r.Places[i].File, r.Places[i].Function, r.Places[i].Text = name, name, name
			}
			r.Words = append(r.Words, name)
			p := barriers(t, r, 1400, 900)
			for _, tab := range []string{"goroutines", "barriers", "history", "step"} {
				p.click(t, "#tab-"+tab)
			}
			if got := p.text(t, `[window.pwned, document.querySelectorAll("img, iframe, object, [onload], [onerror], script:not(:last-of-type)").length]`); got != ",0" && got != ",1" {
				t.Errorf("the name came out of its place: %s", got)
			}
			if w := eval[int](t, p, `document.documentElement.scrollWidth`); w > 1400 {
				t.Errorf("the page is %d wide", w)
			}
			if len(p.asked) != 1 {
				t.Errorf("the page asks for %s", p.asked)
			}
		})
	}
}

// TestBarriersSizes opens pages of tests without barriers, with very many goroutines, barriers and steps.
func TestBarriersSizes(t *testing.T) {
	for name, run := range map[string]func(){
		"no barriers": func() { <-make(chan bool) },
		"10,000 goroutines": func() {
			b := mbarrier.New(10_001, mbarrier.WithName("all"))
			for range 10_000 {
				go b.ArriveAndWait()
			}
			b.WaitParity(0)
		},
		"10,000 in a circle": func() {
			var wg sync.WaitGroup
			all := make([]*mbarrier.Barrier, 10_000)
			for i := range all {
				all[i] = mbarrier.New(1)
			}
			for i := range all {
				wg.Go(func() {
					next := all[(i+1)%len(all)]
					all[i].Arrive()
					next.WaitParity(0)
					next.WaitParity(1)
					all[i].Arrive()
				})
			}
			wg.Wait()
		},
		"100,000 steps": func() {
			p := mbarrier.NewPipeline(4, 1, 1)
			ctx := context.Background()
			go func() {
				r := p.Producer()
				for range 20_000 {
					r.Acquire(ctx)
					r.Commit()
				}
			}()
			c := p.Consumer()
			for {
				c.Wait(ctx)
				c.Release()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(t, run)
			p := barriers(t, r, 1400, 900)
			if name == "10,000 in a circle" && !strings.Contains(r.Words[1], "and so on, 10000 in all") {
				t.Errorf("the circle is told as %.300q", r.Words[1])
			}
			for _, key := range []string{kb.Home, "+", "-", "f", kb.End, "w", "1", "2", "3", "4", "n", "p"} {
				p.press(t, key)
			}
			if n := eval[int](t, p, `document.querySelectorAll("*").length`); n > 40_000 {
				t.Errorf("the document has %d elements", n)
			}
			p.picture(t, "barriers-"+strings.ReplaceAll(name, " ", "-"))
		})
	}
}
