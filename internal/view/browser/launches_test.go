package browser

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// root is the folder of the main module, from this one's.
const root = "../../.."

// built is the folder of the command, which TestMain removes.
var built string

var build = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "muster-view")
	if err != nil {
		return "", err
	}
	built = folder
	name := filepath.Join(folder, "muster")
	cmd := exec.Command("go", "build", "-o", name, "./cmd/muster")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return name, nil
})

// view makes the page of a launch with muster view, and returns its name.
func view(t *testing.T, launch string, flags ...string) string {
	t.Helper()
	muster, err := build()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	cmd := exec.Command(muster, append([]string{"view", launch, "--html", file}, flags...)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("muster view %s: %v\n%s", launch, err, out)
	}
	return file
}

// TestFindings opens the page of findings of ten kinds: it starts at the finding, says it in
// words, and draws its places.
func TestFindings(t *testing.T) {
	chromium(t)
	for kind, launch := range map[string]string{
		"proxy-raw":            "examples/bulk_store/broken_no_fence.yaml",
		"exit-in-flight":       "examples/bulk_store/broken_exit.yaml",
		"overwrite-in-flight":  "examples/bulk_store/broken_no_barrier.yaml",
		"exit-before-remote":   "examples/cluster_exchange/broken_exit.yaml",
		"scope-too-narrow":     "examples/cluster_exchange/broken_scope.yaml",
		"bytes-early":          "examples/conv_im2col/broken_clipped_bytes.yaml",
		"bytes-missing":        "examples/ring/broken_bytes.yaml",
		"tensor-unallocated":   "examples/found/broken_early_free.yaml",
		"use-after-inval":      "examples/found/broken_inval_ring.yaml",
		"lapped-wait":          "examples/found/broken_lapped_tile.yaml",
		"expect-late":          "examples/found/broken_late_expect.yaml",
		"reinit-without-inval": "examples/found/broken_init_block.yaml",
	} {
		t.Run(kind, func(t *testing.T) {
			p := open(t, view(t, launch), 1400, 900)
			// The kind may not be the launch's first: choose it.
			chosen := eval[bool](t, p, `(() => {
				const s = document.getElementById("finding"), o = [...s.options].find((o) => o.textContent.includes(" `+kind+`@"));
				if (!o) return false;
				s.value = o.value;
				s.dispatchEvent(new Event("change"));
				return true;
			})()`)
			if !chosen {
				t.Fatalf("the page has no finding of kind %s", kind)
			}
			p.until(t, `document.querySelector(".kind").textContent === `+quote(kind))
			if p.text(t, `document.querySelector(".sites .link") !== null`) != "true" {
				// Another finding's run: muster view --finding shows this one's.
				id := p.text(t, `document.getElementById("finding").selectedOptions[0].textContent.replace(/^\d+\. /, "")`)
				p = open(t, view(t, launch, "--finding", id), 1400, 900)
			}
			p.until(t, `document.querySelector(".kind").textContent === `+quote(kind))
			step := p.text(t, `document.querySelector(".sites .link").textContent.replace("step ", "")`)
			p.click(t, ".sites .link")
			p.step(t, step)
			if n, err := strconv.Atoi(step); err != nil || n < 1 {
				t.Errorf("the first place is step %q", step)
			}
			p.until(t, `document.querySelector(".code-line.current") !== null`)
			if got := p.text(t, `document.getElementById("words").textContent`); !strings.HasPrefix(got, "Step ") {
				t.Errorf("the step in words is %q", got)
			}
			p.picture(t, "finding-"+kind)
		})
	}
}

// TestBeside shows two schedules above each other, and goes to where they part.
func TestBeside(t *testing.T) {
	chromium(t)
	p := open(t, view(t, "examples/ring/ring.yaml", "--beside", "latest"), 1400, 900)
	if got := p.text(t, `document.querySelectorAll("canvas").length`); got != "2" {
		t.Fatalf("the page has %s lanes", got)
	}
	at := p.text(t, `document.getElementById("part").textContent.replace(/\D/g, "")`)
	p.click(t, "#part")
	p.step(t, at)
	p.picture(t, "beside")
	p.press(t, "2")
	p.until(t, `document.querySelector("#panel caption") !== null`)
	p.picture(t, "barriers")
	p.text(t, `document.querySelectorAll(".scroll")[1].focus()`)
	p.until(t, `document.querySelectorAll(".scroll")[1].classList.contains("active")`)
}

// locals is a kernel with local memory: an element of its own for each lane, one that all
// have, and half a word.
const locals = `.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
	.local .align 16 .u32 depot[64];
	.reg .b32 %r<6>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd4, %r1, 4;
	mov.u64 %rd2, depot;
	add.u64 %rd5, %rd2, %rd4;
	add.u64 %rd1, %rd1, %rd4;
	st.local.u32 [%rd5], %r1;
	st.global.u32 [%rd1], %r1;
	st.local.u16 [depot+200], 7;
	st.global.u32 [%rd1], %r1;
	ret;
}
`

// TestLocals shows local memory: a row for each lane, and which step wrote an element.
func TestLocals(t *testing.T) {
	chromium(t)
	file := filepath.Join(t.TempDir(), "locals.ptx")
	if err := os.WriteFile(file, []byte(locals), 0o600); err != nil {
		t.Fatal(err)
	}
	p := open(t, view(t, file, "--grid", "1", "--block", "64", "--buffer", "out=u32[64]", "--arg", "out"), 1400, 900)
	p.click(t, "#last")
	p.click(t, "#tab-memory")
	p.until(t, `document.querySelector("#panel select option:nth-child(3)") !== null`)
	p.choose(t, "#panel label:nth-of-type(1) select", "local/0/1/depot")
	p.until(t, `document.querySelectorAll(".memory tbody tr").length === 0 || document.querySelector(".memory tbody th").textContent.startsWith("lane")`)
	p.fill(t, "#panel input[type=number]", "128") // lanes of warp 1 have theirs there
	p.until(t, `document.querySelectorAll(".memory tbody tr").length === 8`)
	if got := p.text(t, `[...document.querySelectorAll(".memory tbody tr:nth-child(3) td")].map((e) => e.textContent).join(" ")`); got != "· · 34 · · · · ·" {
		t.Errorf("lane 2 of warp 1 has %s", got)
	}
	p.picture(t, "locals")
	p.click(t, ".memory tbody tr:nth-child(3) .link")
	p.until(t, `/^step \d+ wrote depot\+136 of lane 2$/.test(document.getElementById("note").textContent)`)
	p.click(t, "#last")
	p.fill(t, "#panel input[type=number]", "200")
	p.choose(t, "#panel label:nth-of-type(3) select", "f16")
	p.until(t, `document.querySelectorAll(".memory tbody tr").length === 32 && document.querySelector(".memory tbody td").textContent === "4.172325e-7"`)
}

// TestServed opens a page that is served: registers and memory come from its own server, and
// nothing from elsewhere.
func TestServed(t *testing.T) {
	chromium(t)
	muster, err := build()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(muster, "view", "examples/bulk_store/broken_no_fence.yaml")
	cmd.Dir = root
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(line)
	p := start(t, address, 1400, 900)
	p.step(t, "26")
	p.click(t, "#tab-registers")
	p.until(t, `document.querySelector(".registers .link") !== null`)
	p.picture(t, "served-registers")
	p.click(t, "#tab-memory")
	p.until(t, `document.querySelector(".memory .link") !== null`)
	p.theme(t, "dark")
	p.picture(t, "served-memory")
	p.click(t, ".memory .link")
	p.until(t, `document.getElementById("note").textContent.includes(" wrote ")`)
	p.mu.Lock()
	defer p.mu.Unlock()
	details := 0
	for _, a := range p.asked {
		switch {
		case strings.HasPrefix(a, address+"detail?"):
			details++
		case a != address && !strings.HasSuffix(a, "/favicon.ico"):
			t.Errorf("the page asks for %s", a)
		}
	}
	if details == 0 {
		t.Error("the page asks for no registers and memory")
	}
}
