// Package browser looks at the page of `muster view` in a real Chromium: its controls, its
// keys, its colours, what it asks the network for, and what data that means harm does to it.
// It is a module of its own, for the sake of chromedp. Where there is no Chromium its tests
// are skipped by name.
package browser

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var pictures = flag.String("pictures", "", "write pictures of the pages to this folder")

// A tab is a page in a browser, with what it asked for and complained of.
type tab struct {
	ctx context.Context
	mu  sync.Mutex
	// asked are the addresses of its requests, thrown the exceptions that nothing caught.
	asked, thrown []string
}

// chromium names the browser, or skips the test.
func chromium(t testing.TB) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium here: Debian's package chromium has one")
	return ""
}

// running is the browser of all tests, which TestMain ends; each test has a tab of its own.
var running struct {
	ctx  context.Context
	stop []context.CancelFunc
}

// browser gives the browser, and starts it if it does not run.
func browser(t testing.TB) context.Context {
	t.Helper()
	path := chromium(t)
	if running.ctx == nil {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("force-color-profile", "srgb"))
		all, stop := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, cancel := chromedp.NewContext(all)
		running.ctx, running.stop = ctx, []context.CancelFunc{cancel, stop}
		if err := chromedp.Do(ctx); err != nil {
			t.Fatal(err)
		}
	}
	return running.ctx
}

// TestMain ends the browser, and removes what tests have built.
func TestMain(m *testing.M) {
	code := m.Run()
	for _, stop := range running.stop {
		stop()
	}
	for _, folder := range []string{built, siteFolder} {
		if folder != "" {
			os.RemoveAll(folder)
		}
	}
	os.Exit(code)
}

// open opens a page of a file in a window of some size, and waits until it is ready.
func open(t testing.TB, file string, width, height int64) *tab {
	t.Helper()
	p := start(t, "file://"+file, width, height)
	if got := p.text(t, `document.documentElement.dataset.ready`); got != "true" {
		t.Fatalf("the page says %q, threw %q", p.text(t, `document.getElementById("words").textContent`), p.thrown)
	}
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, s := range p.thrown {
			t.Errorf("the page threw: %s", s)
		}
	})
	return p
}

// start opens a page, and waits until it is ready or says why it is not.
func start(t testing.TB, address string, width, height int64) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser(t))
	t.Cleanup(cancel)
	p := &tab{ctx: ctx}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	ctx, late := context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(late)
	p.ctx = ctx
	err := chromedp.Listen(ctx, func(ev any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		switch e := ev.(type) {
		case *network.EventRequestWillBeSent:
			p.asked = append(p.asked, e.Request.URL)
		case *runtime.EventExceptionThrown:
			text := e.ExceptionDetails.Text
			if x := e.ExceptionDetails.Exception; x != nil {
				text = x.Description
			}
			p.thrown = append(p.thrown, text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	p.do(t, chromedp.EmulateViewport(width, height), chromedp.Navigate(address))
	p.until(t, `document.documentElement.dataset.ready !== undefined`)
	return p
}

func (p *tab) do(t testing.TB, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// eval gives the value of an expression of the page, and waits for it if it is a promise.
func eval[T any](t testing.TB, p *tab, expression string) T {
	t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%v in %s", err, expression)
	}
	return v
}

func (p *tab) text(t testing.TB, expression string) string {
	t.Helper()
	return eval[string](t, p, "String("+expression+")")
}

// until waits for an expression to be true, which the page looks at once a frame.
func (p *tab) until(t testing.TB, expression string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, time.Minute)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`new Promise((done) => { const look = () => (`+expression+`) ? done(true) : requestAnimationFrame(look); look(); })`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s never comes true: %v\nthe page says %q at step %s, threw %q", expression, err, p.text(t, `["words", "note"].map((id) => document.getElementById(id)?.textContent ?? "").join("")`), p.text(t, `document.getElementById("step")?.value`), p.thrown)
	}
}

// step waits until the page stands at a step.
func (p *tab) step(t testing.TB, n string) {
	t.Helper()
	p.until(t, `document.getElementById("step").value === "`+n+`"`)
}

// click clicks where an element stands when what the page has to show is shown: a node that
// the page makes anew meanwhile is found again by its place.
func (p *tab) click(t testing.TB, selector string) {
	t.Helper()
	p.until(t, `document.querySelector(`+quote(selector)+`)?.checkVisibility()`)
	at := eval[[]float64](t, p, `(async () => {
		const frame = () => new Promise(requestAnimationFrame), find = () => document.querySelector(`+quote(selector)+`);
		await frame();
		await frame();
		find().scrollIntoView({ block: "nearest" });
		await frame();
		const r = find().getClientRects()[0];
		return [r.x + r.width / 2, r.y + r.height / 2];
	})()`)
	p.clickAt(t, at[0], at[1])
}

func (p *tab) clickAt(t testing.TB, x, y float64) {
	t.Helper()
	p.do(t, chromedp.MouseClickXY(x, y))
}

// choose picks an option of a select, as a reader's choice does.
func (p *tab) choose(t testing.TB, selector, option string) {
	t.Helper()
	p.until(t, `document.querySelector(`+quote(selector)+`)?.checkVisibility()`)
	p.text(t, `((s) => { s.value = `+quote(option)+`; s.dispatchEvent(new Event("input", { bubbles: true })); s.dispatchEvent(new Event("change", { bubbles: true })); })(document.querySelector(`+quote(selector)+`))`)
	// The page may make the field anew with the choice in it.
	p.until(t, `document.querySelector(`+quote(selector)+`)?.value === `+quote(option))
}

// fill writes into a field, and leaves it.
func (p *tab) fill(t testing.TB, selector, text string) {
	t.Helper()
	p.choose(t, selector, text)
}

func (p *tab) press(t testing.TB, keys string, with ...chromedp.KeyOption) {
	t.Helper()
	p.do(t, chromedp.KeyEvent(keys, with...))
}

// theme makes the system's colours dark or light.
func (p *tab) theme(t testing.TB, name string) {
	t.Helper()
	features := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: features}); err != nil {
		t.Fatal(err)
	}
}

// picture writes what the window shows, if the flag asks for it.
func (p *tab) picture(t testing.TB, name string) {
	t.Helper()
	if *pictures == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*pictures, name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestControls uses each control, and sees what it is for.
func TestControls(t *testing.T) {
	p := open(t, small(t).write(t), 1400, 900)
	p.step(t, "14") // it starts at the finding
	p.picture(t, "start")
	for _, c := range []struct{ selector, step string }{
		{"#first", "0"}, {"#forth", "1"}, {"#forth", "2"}, {"#back", "1"}, {"#last", "40"}, {"#place-prev", "14"}, {"#place-prev", "5"}, {"#place-next", "14"},
		{".word:not(.site)", "4"}, {".sites li:nth-child(1) .link", "5"}, {".sites li:nth-child(2) .link", "14"},
	} {
		p.click(t, c.selector)
		p.step(t, c.step)
	}
	seen := `document.getElementById("lanes").querySelector("canvas").width`
	if p.text(t, seen) == "0" {
		t.Error("the lanes have no width")
	}
	// What time is in sight shows in the table's caption.
	p.click(t, "#tab-table")
	caption := `document.querySelector("#panel caption").textContent`
	p.until(t, `document.querySelector("#panel caption") !== null`)
	last := p.text(t, caption)
	for _, id := range []string{"#fit", "#zoom-in", "#zoom-out"} {
		p.click(t, id)
		p.until(t, caption+` !== `+quote(last))
		last = p.text(t, caption)
	}
	p.click(t, "#panel tbody tr:nth-child(2) .link")
	p.click(t, "#tab-barriers")
	p.until(t, `document.querySelector("#panel td.number") !== null`)
	p.click(t, "#panel tbody .link") // the phase
	p.until(t, `document.querySelector("#panel td.number .link") !== null`)
	p.click(t, "#panel td.number .link") // the step in which it began
	p.step(t, "0")
	p.click(t, "#tab-registers")
	p.click(t, "#place-next")
	p.step(t, "5")
	p.click(t, "#forth")
	p.until(t, `document.querySelector(".registers .link")?.textContent === "5"`)
	p.picture(t, "registers")
	p.click(t, ".registers .link")
	p.until(t, `document.getElementById("note").textContent.endsWith("has this value since step 5")`)
	p.step(t, "5")
	p.click(t, "#tab-memory")
	p.until(t, `document.querySelector(".memory .link") !== null`)
	p.picture(t, "memory")
	p.do(t, chromedp.SetValue(chromedp.CSS("#panel label:nth-of-type(3) select"), "f32"))
	p.text(t, `document.querySelector("#panel label:nth-of-type(3) select").dispatchEvent(new Event("change"))`)
	p.until(t, `/e-45$/.test(document.querySelector(".memory .link")?.textContent)`)
	p.click(t, ".memory .link")
	p.until(t, `/^step \d+ wrote buf/.test(document.getElementById("note").textContent)`)
	p.click(t, "#tab-event")

	p.click(t, "#play")
	p.until(t, `document.getElementById("play").textContent === "Pause" && Number(document.getElementById("step").value) > 6`)
	p.click(t, "#play")
	p.until(t, `document.getElementById("play").textContent === "Play"`)

	p.click(t, "#arrows")
	p.click(t, "#theme")
	p.until(t, `document.documentElement.dataset.theme === "light"`)
	p.click(t, "#theme")
	p.until(t, `document.documentElement.dataset.theme === "dark"`)
	p.click(t, "#theme")
	p.until(t, `document.documentElement.dataset.theme === undefined`)

	p.click(t, "#help")
	p.until(t, `document.querySelector("dialog[open] kbd") !== null`)
	p.picture(t, "help")
	p.click(t, "dialog button")
	p.until(t, `document.querySelector("dialog[open]") === null`)

	rows := `document.querySelectorAll(".name").length`
	before := p.text(t, rows)
	p.click(t, "#tracks")
	p.until(t, `document.querySelector("dialog[open] .filter") !== null`)
	p.picture(t, "rows")
	p.do(t, chromedp.SendKeys(chromedp.CSS("dialog input[type=search]"), "warp 1"))
	p.click(t, "dialog .row button") // only these
	p.until(t, rows+` < `+before)
	p.click(t, "dialog .row button:nth-of-type(2)") // all
	p.until(t, rows+` == `+before)
	p.click(t, "dialog .dialog-head button")
	p.click(t, ".name.cta button") // folds the CTA
	p.until(t, rows+` == 1`)
	p.click(t, ".name.cta button")
	p.until(t, rows+` == `+before)

	p.do(t, chromedp.SendKeys(chromedp.CSS("#query"), "mbarrier"))
	p.until(t, `/found$/.test(document.getElementById("hits").textContent)`)
	p.click(t, "#hit-next")
	p.until(t, `/ of /.test(document.getElementById("hits").textContent)`)
	p.click(t, "#hit-prev")

	p.do(t, chromedp.SetValue(chromedp.CSS("#finding"), "1"))
	p.text(t, `document.getElementById("finding").dispatchEvent(new Event("change"))`)
	p.until(t, `document.querySelector(".headline").textContent.includes("finding 2")`)
	p.click(t, ".code-line:nth-child(3)") // the line of the second instruction
	p.until(t, `document.querySelector(".code-line.current") !== null`)
}

// TestKeys drives the page by keys alone.
func TestKeys(t *testing.T) {
	p := open(t, small(t).write(t), 1400, 900)
	p.step(t, "14")
	for _, c := range []struct{ keys, step string }{
		{kb.ArrowLeft, "13"}, {kb.ArrowRight, "14"}, {kb.Home, "0"}, {kb.End, "40"}, {"p", "14"}, {"p", "5"}, {"n", "14"},
	} {
		p.press(t, c.keys)
		p.step(t, c.step)
	}
	// Each control gets the focus by Tab, shows it, and has a name.
	missed := eval[[]string](t, p, `(() => {
		const missed = [];
		for (const e of document.querySelectorAll("button, select, input, [tabindex='0']")) {
			if (e.closest("[hidden]") || e.disabled || e.tabIndex < 0) continue;
			const name = e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label")?.textContent.trim() || e.getAttribute("aria-labelledby");
			if (!name) missed.push(e.outerHTML.slice(0, 200));
		}
		return missed;
	})()`)
	for _, m := range missed {
		t.Errorf("a control has no name: %s", m)
	}
	var order []string
	for range 60 {
		p.press(t, "\t")
		order = append(order, p.text(t, `document.activeElement.id || document.activeElement.className || document.activeElement.tagName`))
	}
	for _, id := range []string{"finding", "query", "theme", "help", "first", "back", "step", "forth", "last", "play", "place-next", "zoom-in", "fit", "tracks", "arrows", "scroll", "split", "code-scroll", "tab-event", "panel"} {
		if !strings.Contains(strings.Join(order, " "), id) {
			t.Errorf("60 times Tab do not come to %s: %s", id, order)
		}
	}
	p.text(t, `document.activeElement.blur()`)
	p.press(t, "5")
	p.until(t, `document.querySelector("#panel caption") !== null`)
	p.press(t, "/")
	p.until(t, `document.activeElement.id === "query"`)
	p.text(t, `document.getElementById("query").value = ""`) // a browser's own keyboard writes no / there, the protocol's does
	p.press(t, "7\r")
	p.step(t, "7")
	p.press(t, "?") // a letter of the field
	if p.text(t, `document.querySelector("dialog[open]")`) != "null" {
		t.Error("a ? in the search field opens the help")
	}
	p.text(t, `document.activeElement.blur()`)
	p.press(t, "?")
	p.until(t, `document.querySelector("dialog[open]") !== null`)
	p.press(t, "\x1b")
	p.until(t, `document.querySelector("dialog[open]") === null`)
	p.text(t, `document.querySelector("#panel tbody tr").focus()`)
	p.press(t, "\r")
	p.until(t, `document.getElementById("step").value !== "7"`)
	if got := p.text(t, `document.getElementById("words").textContent`); !strings.HasPrefix(got, "Step ") {
		t.Errorf("the step in words is %q", got)
	}
}

// TestContrast computes the contrast of each text of the page with what lies behind it.
func TestContrast(t *testing.T) {
	p := open(t, small(t).write(t), 1400, 900)
	for _, theme := range []string{"light", "dark"} {
		p.theme(t, theme)
		for _, tab := range []string{"event", "barriers", "registers", "memory", "table"} {
			p.click(t, "#tab-"+tab)
			p.until(t, `document.getElementById("panel").getAttribute("aria-labelledby") === "tab-`+tab+`" && document.getElementById("panel").childElementCount > 0`)
			for _, l := range eval[[]string](t, p, contrast) {
				t.Errorf("%s, %s: %s", theme, tab, l)
			}
		}
		for _, l := range eval[[]string](t, p, drawn) {
			t.Errorf("%s, lanes: %s", theme, l)
		}
		p.picture(t, "theme-"+theme)
	}
}

// contrast lists the texts whose contrast is less than 4.5 to 1 (WCAG 2.2, 1.4.3).
const contrast = `(() => {
	const lum = (c) => { const [r, g, b] = c.map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const rgb = (s) => s.match(/[\d.]+/g).map(Number);
	const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
	const low = new Set();
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walk.nextNode()) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || !e.checkVisibility() || e.closest("script, style, option, noscript")) continue;
		const a = lum(rgb(getComputedStyle(e).color)), b = lum(behind(e)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) low.add(ratio.toFixed(2) + " to 1: " + e.tagName + "." + e.className + " " + walk.currentNode.data.slice(0, 40));
	}
	return [...low];
})()`

// drawn lists the colours of the lanes whose contrast is too low: of letters with what they
// stand on (4.5 to 1), and of what has a meaning with the ground (3 to 1; WCAG 2.2, 1.4.11).
const drawn = `(() => {
	const style = getComputedStyle(document.documentElement), of = (n) => style.getPropertyValue("--" + n).trim();
	const lum = (h) => { const [r, g, b] = [1, 3, 5].map((i) => parseInt(h.slice(i, i + 2), 16) / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const ratio = (a, b) => { const [x, y] = [lum(of(a)), lum(of(b))]; return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
	const low = [], need = (a, b, least) => { if (ratio(a, b) < least) low.push(a + " on " + b + " has " + ratio(a, b).toFixed(2) + " to 1"); };
	const fills = ["memory", "barrier", "fence", "async", "other", "op", "phase-0", "phase-1"];
	for (const f of fills) need("on-fill", f, 4.5);
	for (const f of ["ground", "wait", "run"]) need("ink", f, 4.5);
	for (const f of ["finding", "focus"]) need("ground", f, 4.5);
	need("quiet", "ground", 4.5);
	for (const f of [...fills, "stage-0", "stage-1", "stage-2", "counter", "arrow", "edge"]) need(f, "ground", 3);
	return low;
})()`

// TestNoRequests sees that the page asks for nothing but itself, even where its script tries.
func TestNoRequests(t *testing.T) {
	file := small(t).write(t)
	p := open(t, file, 1400, 900)
	got := eval[string](t, p, `(async () => { try { await fetch("http://127.0.0.1:9/"); return "it came through"; } catch (e) { return "refused"; } })()`)
	if got != "refused" {
		t.Errorf("a request: %s", got)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.asked {
		if a != "file://"+file && !strings.HasPrefix(a, "http://127.0.0.1:9/") {
			t.Errorf("the page asks for %s", a)
		}
	}
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return string(b)
}
