package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// This file comes back to the playground: what somebody wrote on an earlier visit, or before
// something else was opened, is not lost, and a link is of what is there.

const (
	text     = `document.getElementById("text").value`
	noBack   = `document.getElementById("back").hidden`
	location = `decodeURIComponent(location.hash)`
)

// item chooses an item of the library.
func (p *tab) item(t testing.TB, id string) {
	t.Helper()
	p.text(t, `document.querySelector('[data-id="`+id+`"]').click()`)
	p.is(t, location, "#item="+id)
}

// shared gives the fragment that the page makes a link of.
func (p *tab) shared(t testing.TB) string {
	t.Helper()
	p.text(t, `document.getElementById("link")?.remove()`)
	p.click(t, "#share")
	p.until(t, `document.querySelector("dialog[open] #link") !== null`)
	link := p.text(t, `document.getElementById("link").value.replace(/^[^#]*/, "")`)
	p.press(t, kb.Escape)
	p.is(t, `document.querySelector("dialog[open]")`, "null")
	return link
}

// TestPlaygroundReturn writes a text, comes back on another visit, and opens other things over
// it: each text can be brought back.
func TestPlaygroundReturn(t *testing.T) {
	p := visit(t, "", 1400, 900)
	p.click(t, "#empty")
	p.write(t, "// mine")
	p.do(t, chromedp.Reload())
	p.until(t, `document.documentElement.dataset.ready === "true" && `+text+` === "// mine"`)
	p.item(t, "barrier/two_debts")
	p.is(t, noBack, "false")
	p.write(t, "init second 1")
	p.item(t, "barrier/tokens")
	p.write(t, "init third 1")
	for _, want := range []string{"init second 1", "// mine", "init third 1", "init second 1"} {
		p.click(t, "#back")
		p.is(t, text, want)
	}
	p.is(t, noBack, "false")
}

// TestPlaygroundReload loads the page again while the address names an item that was edited.
func TestPlaygroundReload(t *testing.T) {
	p := visit(t, "#item=barrier%2Ftwo_debts", 1400, 900)
	p.write(t, "init edited 1")
	p.is(t, `location.hash`, "")
	p.do(t, chromedp.Reload())
	p.until(t, `document.documentElement.dataset.ready === "true" && `+text+` === "init edited 1"`)
	if got := p.shared(t); !strings.HasPrefix(got, "#s=") {
		t.Errorf("an edited item is shared as %s", got)
	}

	// Who gets the link and passes it on passes on the same text.
	fragment := p.shared(t)
	q := visit(t, fragment, 1400, 900)
	q.is(t, text, "init edited 1")
	if got := q.shared(t); got != fragment {
		t.Errorf("%s is passed on as %s", fragment, got)
	}
	q.item(t, "barrier/two_debts")
	if got := q.shared(t); got != "#item=barrier%2Ftwo_debts" {
		t.Errorf("the library's own item is shared as %s", got)
	}
}

// TestPlaygroundTabs has two tabs: the one that is closed last has changed nothing since.
func TestPlaygroundTabs(t *testing.T) {
	p := visit(t, "", 1400, 900)
	p.click(t, "#empty")
	p.write(t, "// first")
	p.until(t, `localStorage.getItem("muster-playground")?.includes("// first")`)
	p.text(t, `localStorage.setItem("muster-playground", localStorage.getItem("muster-playground").replace("first", "other"))`) // as the other tab does
	p.do(t, chromedp.Reload())
	p.until(t, `document.documentElement.dataset.ready === "true" && `+text+` === "// other"`)
}

// TestPlaygroundSkip skips to the editor, which is no other address.
func TestPlaygroundSkip(t *testing.T) {
	p := visit(t, "#item=ring%2Fring", 1400, 900)
	p.says(t, "Ctrl Enter checks the kernel.")
	p.text(t, `document.querySelector(".skip").click()`)
	p.is(t, `document.activeElement.id`, "text")
	p.is(t, location, "#item=ring/ring")
	p.says(t, "Ctrl Enter checks the kernel.")
}

// TestPlaygroundWords says what is wrong with a script or a kernel, and not the mark that shows
// its place.
func TestPlaygroundWords(t *testing.T) {
	p := visit(t, "#item=barrier%2Ftwo_debts", 1400, 900)
	p.write(t, "init bar 1\nfoo bar\n")
	p.click(t, "#check")
	p.says(t, `muster: two_debts.txt:2:1: no command "foo"`)
	p.text(t, `(() => { const a = document.getElementById("text"); a.focus(); a.select(); document.execCommand("delete"); })()`)
	p.click(t, "#check")
	p.says(t, "The script has no command.")
	p.click(t, "#empty")
	p.write(t, "foo\n")
	p.click(t, "#format")
	p.says(t, "muster: kernel.ptx:1:1: ")
	p.panel(t, "bad input")
	p.click(t, "#flags")
	p.press(t, "--help\r")
	p.says(t, "What the command said is below Report.")
}

// TestPlaygroundPatience reads the limit of time of a command as the command does: by its flags
// first, the last one holds.
func TestPlaygroundPatience(t *testing.T) {
	p := visit(t, "", 1400, 900)
	for args, want := range map[string]string{
		`["check", "k.ptx", "--limit-time", "10s"]`:              "10",
		`["check", "--limit-time=1h1m1.5s", "k.ptx"]`:            "3661.5",
		`["check", "--limit-time", "10m", "--limit-time=250ms"]`: "0.25",
		`["check", "k.ptx", "--limit-time", "soon"]`:             "undefined",
		`["check", "k.ptx", "--limit-time"]`:                     "undefined",
		`["fmt", "k.ptx"]`:                                       "undefined",
	} {
		if got := eval[string](t, p, `import(new URL("state.js", location.href)).then((m) => String(m.limitTime(`+args+`)))`); got != want {
			t.Errorf("%s: %s seconds, want %s", args, got, want)
		}
	}
}

// TestPlaygroundFolder refuses a file that has the name of another one's folder.
func TestPlaygroundFolder(t *testing.T) {
	p := visit(t, link(t, state([2]string{"a", ""}, [2]string{"a/b.ptx", ""})), 1400, 900)
	p.says(t, "This link cannot be opened: a file and a folder cannot have one name.")
	p.click(t, "#empty")
	p.click(t, "#new")
	p.name(t, "kernel.ptx/launch.yaml")
	p.is(t, `document.querySelector("dialog[open] [role=alert]").textContent`, "a file and a folder cannot have one name")
}

// TestPlaygroundLongScript plays a script of more barriers, waits and commands than are drawn.
func TestPlaygroundLongScript(t *testing.T) {
	var script strings.Builder
	for i := range 600 {
		fmt.Fprintf(&script, "init b%d 1\n", i)
	}
	script.WriteString("c: wait b599 parity 0\n" + strings.Repeat("p: arrive b0\n", 24000))
	p := visit(t, link(t, state([2]string{"long.txt", script.String()})), 1400, 900)
	p.says(t, "Opened from a link.")
	p.click(t, "#check")
	p.panel(t, "The first 20,000 commands are drawn")
	p.click(t, "#to-last")
	p.panel(t, "20000 of 20000")
	p.panel(t, "p: arrive b0")
}
