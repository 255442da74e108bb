package browser

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// This file looks at the playground: the command itself in a page of static files, served
// from a folder below the host's root by a server that knows nothing of it.

// site serves the playground and gives the address of its page.
func site(t testing.TB) string {
	t.Helper()
	chromium(t)
	dir := os.Getenv("PLAYGROUND_SITE")
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
	p.until(t, `document.documentElement.dataset.busy !== "true" && document.getElementById("words").textContent.includes(`+quote(words)+`)`)
}

// panel waits until the results have words.
func (p *tab) panel(t testing.TB, words string) {
	t.Helper()
	p.until(t, `document.documentElement.dataset.busy !== "true" && document.getElementById("panel").textContent.includes(`+quote(words)+`)`)
}

func TestPlaygroundPictures(t *testing.T) {
	p := visit(t, "", 1400, 900)
	p.click(t, "#check")
	p.until(t, `document.getElementById("to-forth") !== null`)
	p.picture(t, "play-barrier-0")
	p.click(t, "#to-forth")
	p.click(t, "#to-forth")
	p.click(t, "#to-forth")
	p.picture(t, "play-barrier")
	p.click(t, `[data-id="catalogue/proxy-raw/wrong"]`)
	p.picture(t, "play-catalogue-0")
	p.press(t, kb.Tab)
	p.click(t, "#check")
	p.panel(t, "missing")
	p.picture(t, "play-catalogue")
	p.click(t, "#tab-diff")
	p.picture(t, "play-diff")
	p.click(t, "#tab-report")
	p.picture(t, "play-report")
	p.click(t, "#tab-findings")
	p.click(t, ".finding .link")
	p.panel(t, "Wrong:")
	p.picture(t, "play-explain")
	p.click(t, "#step")
	p.until(t, `document.getElementById("frame") !== null`)
	p.do(t, chromedp.Sleep(3e9))
	p.picture(t, "play-step")
	p.click(t, "#widen")
	p.theme(t, "dark")
	p.click(t, "#tab-findings")
	p.click(t, "#check")
	p.panel(t, "missing")
	p.picture(t, "play-dark")
	_ = strings.TrimSpace
}
