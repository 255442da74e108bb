package browser

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// This file uses the playground as people do who have no mouse, who come by a link, who look
// at it on a small screen, or who run what takes too long.

// TestPlaygroundKeys goes by keys alone from the load to a verdict, to the finding's lines, and
// through the run's steps.
func TestPlaygroundKeys(t *testing.T) {
	p := visit(t, "", 1400, 900)
	p.press(t, "/")
	p.is(t, `document.activeElement.id`, "query")
	p.text(t, `document.getElementById("query").value = ""`) // a browser's own keyboard writes no / there, the protocol's does
	p.press(t, "broken bytes early\r")
	p.is(t, current, "broken_bytes_early.ptx")
	p.press(t, kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.panel(t, "bytes-early")
	p.press(t, kb.F8)
	p.is(t, `document.activeElement.id`, "text")
	line := `document.querySelector(".paint .current")?.textContent`
	p.until(t, line+` !== undefined`)
	first := p.text(t, line)
	p.press(t, kb.F8)
	p.until(t, line+` !== `+quote(first))

	// Out of the editor, over the command, to the button at the finding.
	p.tabTo(t, `document.activeElement.textContent === "Step through it"`)
	p.press(t, "\r")
	p.until(t, `document.activeElement.id === "widen"`)
	f := p.frame(t)
	p.tabTo(t, `document.activeElement.id === "frame"`)
	f.until(t, `document.hasFocus()`) // the frame's process hears of it later
	p.picture(t, "playground-step")
	at := f.text(t, `document.getElementById("step").value`)
	if got := f.text(t, `document.querySelector(".headline").textContent`); !strings.HasPrefix(got, "bytes-early") {
		t.Errorf("the page of the run begins with %q", got)
	}
	p.press(t, kb.Home)
	f.step(t, "0")
	p.press(t, "n")
	p.press(t, kb.ArrowRight)
	f.until(t, `Number(document.getElementById("step").value) > 1`)
	p.press(t, kb.End)
	f.until(t, `document.getElementById("step").value !== `+quote(at))
	p.text(t, `document.getElementById("widen").focus()`)
	p.press(t, kb.Escape)
	p.until(t, `document.activeElement.id === "tab-findings"`)
	p.press(t, kb.ArrowRight)
	p.until(t, `document.activeElement.id === "tab-report"`)
	p.panel(t, "replay:")
	p.press(t, kb.ArrowLeft)
	p.press(t, "?")
	p.until(t, `document.querySelector("dialog[open]") !== null`)
	p.press(t, kb.Escape)
	p.is(t, `document.querySelector("dialog[open]")`, "null")
	p.reached(t)
}

// tabTo presses Tab until something is so.
func (p *tab) tabTo(t *testing.T, so string) {
	t.Helper()
	for range 80 {
		p.press(t, kb.Tab)
		if p.text(t, so) == "true" {
			return
		}
	}
	t.Fatalf("80 times Tab do not come to where %s", so)
}

// reached sees that each control has a name, can have the focus, and shows it.
func (p *tab) reached(t *testing.T) {
	t.Helper()
	for _, m := range eval[[]string](t, p, `[...document.querySelectorAll("button, select, input, textarea, [tabindex='0']")].filter((e) => e.checkVisibility() && !e.disabled && e.tabIndex >= 0 && !(e.getAttribute("aria-label") || e.textContent.trim() || e.closest("label")?.textContent.trim() || e.getAttribute("aria-labelledby"))).map((e) => e.outerHTML.slice(0, 200))`) {
		t.Errorf("a control has no name: %s", m)
	}
	p.text(t, `document.getElementById("shelf").focus()`)
	var order []string
	for range 120 {
		order = append(order, p.text(t, `document.activeElement.id`))
		if style := p.text(t, `(() => { const e = document.activeElement, s = getComputedStyle(e), x = getComputedStyle(e.closest(".editor") ?? e); return e === document.body || s.outlineStyle !== "none" || x.borderTopColor !== "rgba(0, 0, 0, 0)" })()`); style != "true" {
			t.Errorf("the focus of %s does not show", order[len(order)-1])
		}
		p.press(t, kb.Tab)
		if order[len(order)-1] == "limit-memory" {
			break
		}
	}
	for _, id := range []string{"shelf", "empty", "share", "theme", "help", "query", "text", "new", "upload", "rename", "remove", "split", "entry", "flags", "check", "run", "step", "tab-findings", "panel", "limit-time"} {
		if !slices.Contains(order, id) {
			t.Errorf("Tab does not come to %s: %s", id, order)
		}
	}
}

// TestPlaygroundKinds checks the catalogue's kernels of ten kinds: the wrong one is found under
// its name with a marked line, the right one is clean.
func TestPlaygroundKinds(t *testing.T) {
	p := visit(t, "", 1400, 900)
	for _, kind := range []string{"proxy-raw", "bytes-early", "bytes-missing", "race-shared", "read-in-flight", "overwrite-in-flight", "scope-too-narrow", "never-completes", "use-before-init", "lapped-wait", "tensor-alloc", "divergent-barrier"} {
		for _, side := range []string{"wrong", "right"} {
			p.text(t, `location.hash = `+quote("#item="+kind+"%2F"+side))
			p.is(t, current, side+".ptx")
			p.press(t, kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
			p.until(t, `document.querySelector("#panel .verdict") !== null`)
			if side == "right" {
				p.is(t, `document.querySelector(".verdict .badge").textContent`, "clean")
				continue
			}
			p.until(t, `[...document.querySelectorAll(".finding h3 .link")].some((e) => e.textContent === `+quote(kind)+`)`)
			p.until(t, `document.querySelector(".gutter .error, .gutter .warning, .gutter .note") !== null`)
		}
	}
}

// TestPlaygroundContrast computes contrasts of texts in each state, dark and light.
func TestPlaygroundContrast(t *testing.T) {
	for _, theme := range []string{"light", "dark"} {
		p := visit(t, "#item=barrier%2Fbytes_early", 1400, 900)
		p.theme(t, theme)
		look := func(state string) {
			for _, l := range eval[[]string](t, p, contrast) {
				t.Errorf("%s, %s: %s", theme, state, l)
			}
		}
		look("welcome")
		p.click(t, "#check")
		p.idle(t)
		for range 5 {
			p.click(t, "#to-forth")
		}
		p.until(t, `document.querySelector(".said .error") !== null`)
		eval[bool](t, p, `Promise.all(document.getAnimations().map((a) => a.finished)).then(() => true)`)
		look("barrier")
		p.picture(t, "playground-barrier-"+theme)
		p.text(t, `location.hash = "#item=ring%2Fbroken_bytes"`)
		p.is(t, current, "broken_bytes.ptx")
		p.click(t, "#check")
		p.panel(t, "bytes-missing")
		look("findings")
		p.picture(t, "playground-findings-"+theme)
		p.click(t, "#help")
		look("help")
		p.press(t, kb.Escape)
		p.text(t, `location.hash = "#item=proxy-raw%2Fwrong"`)
		p.is(t, current, "wrong.ptx")
		p.click(t, "#tab-diff")
		look("diff")
		p.text(t, `location.hash = "#s=broken"`)
		p.says(t, "cannot be opened")
		look("an error")
	}
}

// TestPlaygroundRequests sees that the playground asks its own folder alone, and cannot ask
// others; what it loads stays when it is used.
func TestPlaygroundRequests(t *testing.T) {
	p := visit(t, "#item=proxy-raw%2Fwrong", 1400, 900)
	p.click(t, "#check")
	p.panel(t, "no fence.proxy.async")
	p.click(t, "#step")
	f := p.frame(t)
	for _, of := range []string{`fetch("http://127.0.0.1:9/")`, `fetch("kernels.json")`, `Promise.resolve().then(() => parent.document.title)`, `Promise.resolve().then(() => localStorage.length)`} {
		if got := eval[string](t, f, of+`.then(() => "it came through", () => "refused")`); got != "refused" {
			t.Errorf("the page of a run: %s: %s", of, got)
		}
	}
	if got := eval[string](t, p, `fetch("http://127.0.0.1:9/").then(() => "it came through", () => "refused")`); got != "refused" {
		t.Errorf("a request: %s", got)
	}
	base := p.text(t, `location.href.split("#")[0]`)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.asked {
		if !strings.HasPrefix(a, base) && a != "about:srcdoc" && a != "http://127.0.0.1:9/" {
			t.Errorf("the page asks for %s", a)
		}
	}
}

// TestPlaygroundShare carries what is in one tab to another by a link: it is the same, and
// nothing has run.
func TestPlaygroundShare(t *testing.T) {
	p := visit(t, "#item=ring%2Fring", 1400, 900)
	p.is(t, current, "ring.ptx")
	p.click(t, "#share")
	p.until(t, `document.getElementById("link")?.value.endsWith("#item=ring%2Fring")`) // the library's own needs no more
	p.press(t, kb.Escape)
	p.text(t, `(() => { const a = document.getElementById("text"); a.focus(); a.setSelectionRange(0, 0); document.execCommand("insertText", false, "// ünïcode 中\n"); })()`)
	p.click(t, "#flags")
	p.press(t, "--schedules 7")
	files := `JSON.stringify([document.getElementById("text").value, [...document.querySelectorAll("#files button")].map((b) => b.textContent), document.getElementById("flags").value, document.getElementById("entry").value])`
	want := p.text(t, files)
	p.click(t, "#share")
	p.until(t, `document.getElementById("link")?.value.includes("#s=")`)
	fragment := p.text(t, `document.getElementById("link").value.replace(/^[^#]*/, "")`)

	q := visit(t, fragment, 1400, 900)
	q.says(t, "Opened from a link. Nothing has run")
	if got := q.text(t, files); got != want {
		t.Errorf("the link opens\n%.300s\nand not\n%.300s", got, want)
	}
	if got := q.text(t, `performance.getEntriesByType("resource").some((e) => e.name.endsWith("worker.js"))`); got != "false" {
		t.Error("a link started the command")
	}
	q.click(t, "#check")
	q.panel(t, "all schedules of this launch")
	q.do(t, chromedp.Reload())
	q.says(t, "Opened from a link. Nothing has run")
}

// TestPlaygroundKept closes a tab and comes back.
func TestPlaygroundKept(t *testing.T) {
	p := visit(t, "", 1400, 900)
	p.click(t, "#empty")
	p.write(t, "// mine")
	p.until(t, `localStorage.getItem("muster-playground")?.includes("// mine")`)
	p.do(t, chromedp.Reload())
	p.until(t, `document.documentElement.dataset.ready === "true" && document.getElementById("text").value === "// mine"`)
	for _, bad := range []string{"{", `{"v":1}`, `{"v":1,"files":[["../x",""]]}`, "null"} {
		p.text(t, `(() => { addEventListener("pagehide", () => localStorage.setItem("muster-playground", `+quote(bad)+`)); })()`)
		p.do(t, chromedp.Reload())
		p.until(t, `document.documentElement.dataset.ready === "true" && document.getElementById("text").value.startsWith("#")`)
	}
}

// endless runs through so many steps that nobody waits for its end.
const endless = ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %p;\n.reg .b32 %r<2>;\nmov.u32 %r1, 0;\nL:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p, %r1, 2000000000;\n@%p bra L;\nret;\n}\n"

// TestPlaygroundStop stops what runs too long, by the button and by Escape, and goes on.
func TestPlaygroundStop(t *testing.T) {
	p := visit(t, "", 1400, 900)
	p.click(t, "#empty")
	p.write(t, endless)
	p.choose(t, "#limit-time", "10m")
	p.click(t, "#flags")
	p.press(t, "--grid 1 --block 32 --buffer out=u32[1] --arg out --limit-instrs 100000000000\r")
	p.until(t, `/[1-9]s of |[1-9] s$/.test(document.getElementById("words").textContent)`) // it says how far it is
	p.picture(t, "playground-busy")
	p.click(t, "#stop")
	p.says(t, "nothing is decided")
	p.press(t, kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl))
	p.until(t, `document.documentElement.dataset.busy === "true" && !document.getElementById("stop").disabled`)
	p.press(t, kb.Escape)
	p.says(t, "nothing is decided")
	p.choose(t, "#limit-time", "10s")
	p.click(t, "#flags")
	p.press(t, kb.End)
	p.press(t, " --limit-instrs 1000\r")
	p.panel(t, "incomplete")
}

// TestPlaygroundSmall looks at it on small screens: nothing is wider than the window.
func TestPlaygroundSmall(t *testing.T) {
	for name, width := range map[string]int64{"phone": 390, "tablet": 800} {
		p := visit(t, "#item=ring%2Fbroken_bytes", width, 844)
		p.click(t, "#check")
		p.panel(t, "bytes-missing")
		p.picture(t, "playground-"+name)
		p.text(t, `document.getElementById("command").scrollIntoView()`)
		p.picture(t, "playground-"+name+"-findings")
		if got := p.text(t, `document.documentElement.scrollWidth <= innerWidth`); got != "true" {
			t.Errorf("%s: the page is wider than its window: %s", name, p.text(t, `document.documentElement.scrollWidth`))
		}
		p.click(t, "#step")
		p.frame(t)
		p.picture(t, "playground-"+name+"-step")
		p.text(t, `location.hash = "#item=barrier%2Ftwo_debts"`)
		p.is(t, current, "two_debts.txt")
		p.click(t, "#check")
		p.idle(t)
		p.click(t, "#to-forth")
		p.text(t, `document.getElementById("command").scrollIntoView()`)
		p.picture(t, "playground-"+name+"-barrier")
		if got := p.text(t, `document.documentElement.scrollWidth <= innerWidth`); got != "true" {
			t.Errorf("%s: the page of a script is wider than its window", name)
		}
	}
}
