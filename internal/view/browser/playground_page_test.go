package browser

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// This file looks at the playground: the command itself in a page of static files, served
// from a folder below the host's root by a server that knows nothing of it.

// madeSite makes the playground's files once; TestMain removes them.
var madeSite = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "muster-playground")
	if err != nil {
		return "", err
	}
	siteFolder = folder
	cmd := exec.Command("go", "run", "./internal/playground/build", folder)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return folder, nil
})

// siteFolder is the folder of the playground, which TestMain removes.
var siteFolder string

// site serves the playground and gives the address of its page.
func site(t testing.TB) string {
	t.Helper()
	chromium(t)
	dir, err := madeSite()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/some/where/", http.StripPrefix("/some/where/", http.FileServer(http.Dir(dir))))
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL + "/some/where/"
}

// visit opens the playground at a fragment.
func visit(t testing.TB, fragment string, width, height int64) *tab {
	t.Helper()
	p := start(t, site(t)+fragment, width, height)
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, s := range p.thrown {
			t.Errorf("the page threw: %s", s)
		}
	})
	return p
}

// says waits until the footer has words.
func (p *tab) says(t testing.TB, words string) {
	t.Helper()
	p.until(t, `document.documentElement.dataset.busy !== "true" && document.getElementById("words").textContent?.includes(`+quote(words)+`)`)
}

// panel waits until the results have words.
func (p *tab) panel(t testing.TB, words string) {
	t.Helper()
	p.until(t, `document.documentElement.dataset.busy !== "true" && document.getElementById("panel").textContent?.includes(`+quote(words)+`)`)
}

// idle waits until no run is under way.
func (p *tab) idle(t testing.TB) {
	t.Helper()
	p.until(t, `document.documentElement.dataset.busy === "false"`)
}

// is waits until an expression has a value, as text.
func (p *tab) is(t testing.TB, expression, value string) {
	t.Helper()
	p.until(t, `String(`+expression+`) === `+quote(value))
}

const current = `document.querySelector("#files [aria-selected=true]").textContent`

// write puts a text into the editor in place of what is there.
func (p *tab) write(t testing.TB, text string) {
	t.Helper()
	p.text(t, `(() => { const a = document.getElementById("text"); a.focus(); a.select(); document.execCommand("insertText", false, `+quote(text)+`); })()`)
}

// name answers the dialog that asks for a name.
func (p *tab) name(t testing.TB, name string) {
	t.Helper()
	p.until(t, `document.activeElement.id === "name"`)
	p.text(t, `document.activeElement.value = `+quote(name))
	p.press(t, "\r")
}

// upload hands the page files of this machine.
func (p *tab) upload(t testing.TB, files ...string) {
	t.Helper()
	p.do(t, chromedp.SetUploadFiles(chromedp.CSS("#pick"), files))
}

// frame gives the page of a run, which has no address, when it is ready.
func (p *tab) frame(t testing.TB) *tab {
	t.Helper()
	p.until(t, `document.getElementById("frame") !== null && document.getElementById("frame").dataset.loaded === "true"`)
	targets, err := chromedp.Targets(p.ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range targets {
		if info.Type != "iframe" || info.URL != "about:srcdoc" {
			continue
		}
		ctx, cancel := chromedp.NewContext(p.ctx, chromedp.WithTargetID(info.TargetID))
		t.Cleanup(cancel)
		f := &tab{ctx: ctx}
		if err := chromedp.Do(ctx); err != nil {
			t.Fatal(err)
		}
		f.until(t, `document.documentElement.dataset.ready === "true"`)
		return f
	}
	t.Fatal("the page of a run has no process of its own")
	return nil
}

// TestPlaygroundControls uses each control of the playground, and sees what it is for.
func TestPlaygroundControls(t *testing.T) {
	p := visit(t, "", 1400, 900)
	p.text(t, `(() => { window.clicked = new Set(); document.addEventListener("click", (e) => { const b = e.target.closest("button[id], select[id], input[id]"); if (b) clicked.add(b.id); }, true); })()`)
	playScript(t, p)
	catalogue(t, p)
	ownFiles(t, p)

	p.click(t, "#shelf")
	p.until(t, `!document.getElementById("library").checkVisibility()`)
	p.click(t, "#shelf")
	for _, theme := range []string{"light", "dark", "undefined"} {
		p.click(t, "#theme")
		p.is(t, `document.documentElement.dataset.theme`, theme)
	}
	p.click(t, "#help")
	p.until(t, `document.querySelector("dialog[open] kbd") !== null`)
	p.picture(t, "playground-help")
	p.click(t, "dialog button")
	p.is(t, `document.querySelector("dialog[open]")`, "null")
	p.click(t, "#limit-time")
	p.press(t, kb.Escape)
	p.click(t, "#limit-memory")
	p.press(t, kb.Escape)
	missed := eval[[]string](t, p, `[...document.querySelectorAll("button[id]")].map((b) => b.id).filter((id) => !clicked.has(id) && !/^file-/.test(id))`)
	if len(missed) > 0 {
		t.Errorf("no step of this test clicks %s", missed)
	}
}

// playScript goes through the tour's first script, and mends another.
func playScript(t *testing.T, p *tab) {
	p.picture(t, "playground-start")
	p.click(t, `[data-id="barrier/two_debts"]`)
	p.is(t, current, "two_debts.txt")
	p.click(t, "#check")
	p.until(t, `document.getElementById("to-forth") !== null`)
	gauge := `document.querySelector(".card .gauge:nth-child(3)").lastChild.textContent`
	at := `document.querySelector(".said code").textContent`
	p.is(t, at, "init full 1")
	p.is(t, gauge, "0 B")
	for range 3 {
		p.click(t, "#to-forth")
	}
	p.is(t, at, "copy a: 1024 bytes to full")
	p.is(t, gauge, "1,024 B")
	p.until(t, `document.querySelector(".chip.sleeps")?.textContent === "consumer waits for phase 0" && document.querySelector(".chip.flight").textContent === "a: 1,024 bytes"`)
	p.until(t, `document.querySelector(".paint .current")?.textContent === "copy a: 1024 bytes to full"`)
	p.picture(t, "playground-barrier")
	p.click(t, "#to-forth")
	p.until(t, `document.querySelector(".card .phase").textContent === "phase 1, parity 1" && document.querySelector(".chip.sleeps") === null`)
	p.click(t, "#to-back")
	p.is(t, gauge, "1,024 B")
	p.click(t, "#to-first")
	p.is(t, at, "init full 1")
	p.click(t, "#to-last")
	p.is(t, at, "end")
	p.click(t, ".history td:nth-of-type(3) button")
	p.is(t, at, "producer: arrive.expect_tx full 1024")
	p.click(t, ".list li:nth-child(2) button")
	p.is(t, at, "consumer: wait full parity 0")
	p.click(t, "#at")
	p.click(t, "#to-first")
	p.click(t, "#play")
	p.until(t, at+` === "consumer: wait full parity 0"`)
	p.click(t, "#play")
	p.click(t, "#tab-report")
	p.panel(t, "nobody waits")
	p.click(t, "#tab-barrier")
	p.write(t, "init full 1\narrive full 3\n")
	p.panel(t, "Said of the text before your last edit")
	p.press(t, "\r") // it does not play by itself
	p.click(t, "#check")
	p.idle(t)
	p.click(t, "#to-last")
	p.click(t, "#to-back")
	p.panel(t, "the launch ends here")
	p.click(t, ".said .link")
	p.panel(t, "arrivals-excess (error)")
	p.click(t, "#empty")
	p.click(t, "#back")
	p.is(t, `document.getElementById("text").value.split("\n")[1]`, "arrive full 3")
	p.write(t, "init full\n")
	p.click(t, "#check")
	p.panel(t, "init BAR COUNT")
	p.until(t, `document.querySelector(".gutter .error")?.textContent === "1"`)
}

// catalogue checks a wrong kernel, looks at all that is said of it, and opens the right one.
func catalogue(t *testing.T, p *tab) {
	p.click(t, "#query")
	p.text(t, `(() => { const q = document.getElementById("query"); q.value = "proxy-raw"; q.dispatchEvent(new Event("input")); })()`)
	p.click(t, `[data-id="proxy-raw/wrong"]:not(.twin)`)
	p.is(t, current, "wrong.ptx")
	p.click(t, "#check")
	p.panel(t, "no fence.proxy.async between")
	p.picture(t, "playground-findings")
	p.is(t, `[...document.querySelectorAll(".gutter .error")].map((e) => e.textContent).join()`, "14,19")
	p.click(t, ".site:nth-of-type(2) .link")
	p.until(t, `document.activeElement.id === "text" && document.querySelector(".paint .current")?.textContent?.includes("cp.async.bulk.global")`)
	p.press(t, kb.F8)
	p.says(t, "Line 14: proxy-raw")
	p.click(t, "#tab-report")
	p.panel(t, "error[proxy-raw]")
	p.click(t, "#save-report")
	p.click(t, "#tab-diff")
	p.panel(t, "+ \tfence.proxy.async.shared::cta;")
	p.is(t, `document.querySelectorAll(".diff .plus:not(.n), .diff .minus:not(.n)").length`, "1")
	p.picture(t, "playground-diff")
	p.click(t, ".diff .link")
	p.is(t, `document.activeElement.id`, "text")
	p.click(t, "#tab-explain")
	p.panel(t, "choose a finding")
	p.click(t, "#tab-findings")
	p.click(t, ".finding h3 .link")
	p.panel(t, "proxy-raw (error): an ordinary write")
	p.picture(t, "playground-explain")
	p.choose(t, "#kind", "bytes-early")
	p.panel(t, "bytes-early (error)")
	p.click(t, "#kind")
	p.press(t, kb.Escape)
	p.click(t, "#tab-view")
	p.click(t, "#step-here")
	p.until(t, `document.getElementById("main").classList.contains("wide")`)
	f := p.frame(t)
	f.text(t, `document.getElementById("first").click()`)
	f.step(t, "0")
	f.text(t, `document.getElementById("forth").click()`)
	f.step(t, "1")
	f.text(t, `document.getElementById("place-next").click()`)
	f.is(t, `document.querySelector("#code .code-line.current")?.textContent.includes("st.shared.u32")`, "true")
	p.click(t, "#save-page")
	p.click(t, "#widen")
	p.until(t, `document.getElementById("text").checkVisibility()`)
	p.click(t, "#widen")
	p.press(t, kb.Escape)
	p.until(t, `document.getElementById("text").checkVisibility()`)
	p.click(t, ".finding .row button")
	p.until(t, `document.getElementById("frame") !== null`)
	p.click(t, "#widen")
	p.click(t, "#run")
	p.panel(t, "ran to its end")
	p.click(t, "#step")
	p.until(t, `document.getElementById("main").classList.contains("wide")`)
	p.click(t, "#widen")
	p.click(t, `.twin[data-id="proxy-raw/right"]`)
	p.is(t, current, "right.ptx")
	p.click(t, "#check")
	p.panel(t, "cleanall schedules")
	p.text(t, `(() => { const q = document.getElementById("query"); q.value = ""; q.dispatchEvent(new Event("input")); })()`)
}

// ownFiles pastes a kernel, lets a launch file be made, and shares it.
func ownFiles(t *testing.T, p *tab) {
	p.click(t, "#empty")
	p.write(t, ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [out];\nst.global.u32 [%rd1], 7;\nret;\n}\n")
	p.click(t, "#check")
	p.panel(t, "make a launch file from")
	p.click(t, "#format")
	p.until(t, `document.getElementById("text").value.includes("\tst.global.u32 [%rd1], 7;")`)
	p.click(t, "#check")
	p.idle(t)
	p.click(t, "#panel > p .link")
	p.is(t, current, "kernel.yaml")
	p.until(t, `document.querySelector(".paint .current")?.textContent?.includes("???")`)
	p.picture(t, "playground-template")
	p.write(t, "ptx: kernel.ptx\ngrid: 1\nblock: 32\nbuffers:\n  out: {type: u32, shape: [1], fill: zeros}\nargs: [{ptr: out}]\n")
	p.click(t, "#check")
	p.panel(t, "same-value")
	p.click(t, "#file-0")
	p.is(t, current, "kernel.ptx")
	p.is(t, `document.querySelector(".gutter .note")?.textContent`, "11")
	p.click(t, "#template")
	p.is(t, current, "kernel-2.yaml")
	p.click(t, "#remove")
	p.is(t, current, "kernel.yaml")
	p.click(t, "#new")
	p.name(t, "../../etc/passwd")
	p.until(t, `document.querySelector("dialog [role=alert]")?.textContent === "a file's name cannot lead out of its folder"`)
	p.name(t, "notes.txt")
	p.is(t, current, "notes.txt")
	p.click(t, "#rename")
	p.name(t, "other.txt")
	p.is(t, current, "other.txt")
	p.choose(t, "#entry", "other.txt")
	p.is(t, `document.getElementById("check").textContent`, "Play")
	p.choose(t, "#entry", "kernel.yaml")
	p.click(t, "#entry")
	p.press(t, kb.Escape)
	p.click(t, "#flags")
	p.press(t, "--schedules 3\r")
	p.panel(t, "same-value")
	p.click(t, "#share")
	p.until(t, `document.getElementById("link")?.value.includes("#s=")`)
	p.click(t, "#copy")
	p.click(t, "dialog .dialog-head button")
	file := t.TempDir() + "/up.ptx"
	if err := os.WriteFile(file, []byte("// uploaded\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.click(t, "#upload")
	p.upload(t, file)
	p.is(t, current, "up.ptx")
	p.is(t, `document.getElementById("text").value`, "// uploaded\n")
	p.click(t, "#stop") // nothing runs: it does nothing
	p.text(t, `clicked.add("stop")`)
}
