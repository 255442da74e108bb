package browser

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// This file uses every control that the page ever has: what a control is, the document says,
// not a list, so that one that is added is used too. Controls that differ only in the data
// that they stand for (the steps of the story, the rows of a table) are of one kind.

// controls is put into a page: it lists controls, and tells what of the page a control could
// change, the page's colours and drawings included.
const controls = `(() => {
	const own = (e) => { const l = e.closest("label"); return e.getAttribute("aria-label") ?? [...(l?.childNodes ?? [])].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join(" "); };
	const kind = (e) => {
		if (e.id) return "#" + e.id;
		const at = e.closest("[id]"), parts = ["#" + (at?.id ?? "?")];
		if (at?.id === "panel") parts.push(at.getAttribute("aria-labelledby"));
		if (e.closest("dialog")) parts.push(document.getElementById("dialog-title")?.textContent);
		const cell = e.closest("td, th, dd, li, p");
		if (cell) parts.push((cell.closest("table, dl, ul, ol")?.className ?? "") + " " + cell.tagName + "." + cell.className.replace("changed", "").trim());
		if (cell?.closest("table") && !e.closest(".memory, .registers")) parts.push(cell.cellIndex);
		parts.push(e.tagName + "." + e.className.replace(/ ?(current|caret|at-site)/g, ""));
		if (e.matches("input, select")) parts.push(own(e));
		else if (e.matches("dialog button, .scroll, .code-scroll, .listing-head select")) parts.push((e.textContent || own(e)).slice(0, 12));
		return parts.join(" ");
	};
	const all = () => [...document.querySelectorAll("a[href], button, select, input, textarea, summary, canvas, [tabindex='0'], .code-line")].filter((e) => {
		const top = document.querySelector("dialog[open]");
		return (!top || top.contains(e)) && !e.disabled && e.checkVisibility();
	});
	window.controlKinds = () => { const by = {}; for (const e of all()) (by[kind(e)] ??= e, 0); return Object.keys(by); };
	window.controlOf = (k) => all().filter((e) => kind(e) === k);
	window.fingerprint = () => {
		const out = [location.hash, document.documentElement.outerHTML.replace(/<script[^]*?<\/script>/g, "")];
		for (const e of document.querySelectorAll("input, select")) out.push(e === window.used ? "" : e.type === "checkbox" ? e.checked : e.value);
		for (const e of document.querySelectorAll(".scroll, .code-scroll, .panel, .story, .steps")) out.push(e.scrollTop);
		for (const e of document.querySelectorAll("canvas")) out.push(e.toDataURL());
		return out.join("\n");
	};
	window.settled = async () => {
		const frame = () => new Promise(requestAnimationFrame);
		await frame(); await frame();
		await new Promise((r) => setTimeout(r, 80)); // tabs are shown again that much later
		await frame(); await frame();
	};
})()`

// many makes a page that has every kind of control: two runs that part, two files of each
// kind, facts that are folded, registers that differ from lane to lane, rows in a bundle.
func many(t testing.TB) *made {
	m := &made{Report: report("race@k.ptx:2,4", "race@k.ptx:3,4"), Memory: []any{map[string]any{"name": "buf", "space": "shared", "size": 64, "elem": 4}}}
	f := m.Report.(map[string]any)["findings"].([]any)[0].(map[string]any)
	f["ledger"] = []string{"a", "b", "c", "d", "e"}
	m.text("ptx", "k.ptx", "// k\nst.shared.u32 [%r1], %r2;\nmbarrier.arrive.shared.b64 _, [%r3];\nld.shared.u32 %r4, [%r1];\n"+strings.Repeat("// more\n", 200), [3]any{2, "k.cu", 3}, [3]any{4, "k.cu", 5})
	m.text("ptx", "other.ptx", "// other\n"+strings.Repeat("ret;\n", 100))
	m.text("source", "k.cu", "kernel\n\n  buf = 1;\n\n  x = buf;\n"+strings.Repeat("more\n", 200))
	m.text("source", "other.cu", "other\n")
	for i, name := range []string{"earliest", "latest"} {
		r := smallRun(name, 40-2*int64(i))
		r.slice(r.track(1, "warp", "warp 2", 2), 20, 21, "ret", "step", extra{})
		for range 4 {
			r.slice(r.track(2, "op", "tcgen05.mma", 0), 3, 9, "tcgen05.mma", "operation", extra{})
		}
		if i == 0 {
			r.Finding = "race@k.ptx:2,4"
			r.Sites = []map[string]any{{"step": 5, "track": 2, "role": "writes", "site": 0}, {"step": 14, "track": 4, "role": "reads", "site": 1}}
			r.Words = []map[string]any{{"step": 4, "first": 1, "text": "4 steps"}, {"step": 5, "first": 5, "text": "warp 0 writes", "site": 0}, {"step": 14, "first": 14, "text": "warp 1 reads", "site": 1}}
		}
		at, b := int64(len(m.blob)), u(nil, 0)
		for s := int64(1); s <= r.Steps; s++ {
			b = u(b, 3)
			b = u(u(u(u(u(append(b, 1), 0), uint64(s/5)%2), r.name("%r1")), r.name("u32")), 1)
			b = u(b, uint64(s))
			b = u(u(u(u(u(append(b, 1), 0), uint64(s/5)%2), r.name("%r2")), r.name("u32")), 0xffffffff)
			for l := range uint64(32) {
				b = u(b, l+uint64(s))
			}
			b = u(u(u(u(append(b, 2), r.name("buf")), 1), uint64(s%16)*4), 4)
			b = append(b, byte(s), 1, 2, 0x40)
		}
		m.put(b)
		r.Detail = [][4]int64{{1, r.Steps + 1, at, int64(len(b))}}
		m.add(t, r)
	}
	return m
}

// use uses the nth control of a kind, as a reader would, and reports whether the page is
// another after it.
func (p *tab) use(t *testing.T, kind string, n int) bool {
	t.Helper()
	of := fmt.Sprintf("(window.controlOf(%s)[%d] ?? document.body)", quote(kind), n)
	before := `(window.used = ` + of + `, window.was = window.fingerprint(), window.used.tagName + " " + (window.used.type ?? "") + " " + (window.used.className ?? ""))`
	what := p.text(t, before)
	changed := func() bool {
		return eval[bool](t, p, `(async () => { for (let i = 0; i < 6; i++) { await window.settled(); if (window.fingerprint() !== window.was) return true; } return false; })()`)
	}
	switch {
	case strings.HasPrefix(what, "SELECT"):
		any := false
		for i := range eval[int](t, p, of+`.options.length`) {
			p.text(t, `((s) => { window.used = s; window.was = window.fingerprint(); s.focus(); s.selectedIndex = `+fmt.Sprint(i)+`; s.dispatchEvent(new Event("input", { bubbles: true })); s.dispatchEvent(new Event("change", { bubbles: true })); })(`+of+`)`)
			any = changed() || any
		}
		return any
	case strings.HasPrefix(what, "INPUT search"), strings.HasPrefix(what, "INPUT number"):
		p.text(t, of+`.focus()`)
		p.text(t, of+`.select()`)
		p.press(t, map[bool]string{true: "1", false: "w"}[strings.HasPrefix(what, "INPUT number")])
		p.text(t, `document.activeElement.dispatchEvent(new Event("change", { bubbles: true }))`)
		return changed()
	case strings.HasPrefix(what, "A "), strings.HasPrefix(what, "TR "):
		p.text(t, of+`.focus()`)
		p.press(t, kb.Enter)
		return changed()
	case strings.HasPrefix(what, "DIV") && !strings.Contains(what, "code-line"):
		// A region that takes the focus: its arrow keys do something, or it scrolls.
		any := false
		for _, key := range []string{kb.ArrowDown, kb.ArrowLeft, kb.ArrowRight, kb.PageDown} {
			p.text(t, of+`.focus()`)
			p.press(t, key)
			any = changed() || any
		}
		return any
	}
	at := eval[[]float64](t, p, `(async () => {
		const e = `+of+`;
		e.scrollIntoView({ block: "nearest" });
		await window.settled();
		window.was = window.fingerprint();
		const r = e.getClientRects()[0], x = r.x + Math.min(r.width / 2, 40), y = r.y + r.height / 2;
		return [x, y, document.elementFromPoint(x, y)?.closest("a, button, summary, input, canvas, .code-line") === e ? 1 : 0];
	})()`)
	if at[2] == 0 {
		t.Logf("something lies over %s", kind)
		return false
	}
	p.clickAt(t, at[0], at[1])
	return changed()
}

// TestEveryControl uses each control that the page shows in any of its states: each changes
// what the page shows.
func TestEveryControl(t *testing.T) {
	file := many(t).write(t)
	p := open(t, file, 1400, 900)
	p.text(t, controls)
	works := map[string]bool{}
	var kinds []string
	// states are what a reader brings the page to; controls that do nothing in one, as that
	// which goes to the first step at the first step, do in another.
	for _, state := range []struct{ name, script string }{
		{"at the finding", `document.getElementById("place-next").click()`},
		{"at the first step", `document.getElementById("first").click()`},
		{"events", `document.getElementById("tab-event").click()`},
		{"barriers", `document.getElementById("tab-barriers").click()`},
		{"registers", `document.getElementById("tab-registers").click()`},
		{"memory", `document.getElementById("tab-memory").click()`},
		{"in sight", `document.getElementById("tab-table").click()`},
		{"a search", `((q) => { q.value = "warp"; q.dispatchEvent(new Event("input")); })(document.getElementById("query"))`},
		{"the help", `document.getElementById("help").click()`},
		{"the filter", `document.getElementById("tracks").click()`},
		{"the filter, with letters", `(async () => { document.getElementById("tracks").click(); const q = document.querySelector("dialog input[type=search]"); q.value = "warp 1"; q.dispatchEvent(new Event("input")); })()`},
		{"the filter, with rows hidden and folded", `(() => { document.getElementById("tracks").click(); document.querySelector("dialog .filter li:nth-child(2) input").click(); [...document.querySelectorAll("dialog button")].find((b) => b.textContent === "Fold CTAs").click(); })()`},
		{"the other finding", `((s) => { s.value = "1"; s.dispatchEvent(new Event("change")); })(document.getElementById("finding"))`},
	} {
		again := func() {
			p.text(t, `document.querySelector("dialog[open]")?.close()`)
			p.text(t, `document.activeElement.blur()`)
			p.choose(t, "#finding", "0")
			p.choose(t, "#step", "14")
			settled := `window.settled().then(() => null)`
			eval[any](t, p, settled)
			p.text(t, state.script)
			eval[any](t, p, settled)
		}
		again()
		for _, kind := range eval[[]string](t, p, `window.controlKinds()`) {
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
			for n := 0; n < 3 && !works[kind]; n++ {
				again()
				there := func() bool { return n < eval[int](t, p, `window.controlOf(`+quote(kind)+`).length`) }
				if !there() && n == 0 { // what an earlier one chose may hide it
					p.do(t, chromedp.Navigate("file://"+file))
					p.until(t, `document.documentElement.dataset.ready !== undefined`)
					p.text(t, controls)
					again()
				}
				if there() {
					works[kind] = p.use(t, kind, n)
				}
			}
		}
	}
	for _, kind := range kinds {
		if !works[kind] {
			t.Errorf("a control does nothing: %s", kind)
		}
	}
	if len(kinds) < 50 {
		t.Errorf("%d kinds of controls", len(kinds))
	}
	t.Logf("%d kinds of controls: %q", len(kinds), kinds)
}

// TestSpeed plays at each speed that the page offers, by a clock of the test's own: a frame
// lasts half a second, so that so many steps are taken in one.
func TestSpeed(t *testing.T) {
	p := open(t, many(t).write(t), 1400, 900)
	p.text(t, `(() => {
		const frame = window.requestAnimationFrame.bind(window);
		let now = performance.now();
		performance.now = () => now;
		window.requestAnimationFrame = (f) => frame(() => { f(now); });
		window.tick = () => new Promise((done) => frame(() => frame(() => { now += 500; frame(() => frame(() => done(Number(document.getElementById("step").value)))); })));
	})()`)
	for speed, steps := range map[string]int{"2": 1, "8": 4, "30": 15, "200": 40} {
		p.click(t, "#first")
		p.step(t, "0")
		p.choose(t, "#speed", speed)
		p.click(t, "#play")
		if got := eval[int](t, p, `window.tick()`); got != steps {
			t.Errorf("at %s steps a second half a second takes %d, not %d", speed, got, steps)
		}
		if p.text(t, `document.getElementById("play").textContent`) == "Pause" {
			p.click(t, "#play")
		}
	}
}

// TestFiles picks each file, and sees its text.
func TestFiles(t *testing.T) {
	p := open(t, many(t).write(t), 1400, 900)
	for _, c := range []struct{ list, file, first string }{
		{"1", "other.ptx", "// other"}, {"1", "k.ptx", "// k"}, {"2", "other.cu", "other"}, {"2", "k.cu", "kernel"},
	} {
		listing := `#code .listing:nth-child(` + c.list + `)`
		p.choose(t, listing+" select", c.file)
		p.text(t, `document.querySelector(`+quote(listing+" .code-scroll")+`).scrollTop = 0`)
		p.until(t, `document.querySelector(`+quote(listing+" .code-line")+`)?.textContent === `+quote("1"+c.first))
	}
}
