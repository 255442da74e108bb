package browser

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// seen are five of the examples' bugs, as who has the page alone must be able to explain them:
// what the page says at its start without a click, and which rows the lanes show.
var seen = []struct {
	launch string
	says   []string // patterns
	rows   []string
}{
	{"examples/ring/broken_bytes.yaml", []string{
		`^phase 0 expects 2048 bytes, 1024 have landed`, `missing 1024 bytes of the phase are brought by no copy`, `fix expect the bytes that the copies of the phase really bring`,
		`pending 0 of 1, tx 1024`, `hangs nothing can go on then: warps 1-4 of CTA \(0,0,0\) wait at broken_bytes\.cu:49 for phase 0`, `end nothing can go on`,
	}, []string{"warp 0", "warp 1", "mbarrier full[0]", "tx-count"}},
	{"examples/bulk_store/broken_no_fence.yaml", []string{
		`reads through the asynchronous proxy what lane 0 .* wrote through the generic one`, `order CTA \(0,0,0\) · warp 0 does 1 \(writes\) before 2 \(bulk copy reads\) in its program; that does not suffice`,
		`fix fence\.proxy\.async`, `with it 1 \(writes\) is ordered before 2 \(bulk copy reads\), in every schedule`, `A barrier, however wide, is none\.`,
	}, []string{"warp 0", "barrier 0", "buf"}},
	{"examples/cluster_exchange/broken_exit.yaml", []string{
		`CTA 1 may have ended when warp 0 of CTA 0 reads there`, `ends CTA \(1,0,0\) step`, `order in this run 1 \(ends\), in step \d+, does not wait for 2 \(reads\), in step \d+: nothing leads`,
		`fix barrier\.cluster\.arrive`, `with it 2 \(reads\) is ordered before 1 \(ends\)`, `The ISA lets a CTA's shared memory be accessed by its cluster only while the CTA runs`,
	}, []string{"CTA (0,0,0)", "CTA (1,0,0)", "warp 0", "warp 3", "mine"}},
	{"examples/found/broken_lapped_tile.yaml", []string{
		`waits for phase 0 of the mbarrier at empty`, `warp 1 sleeps for phase 0 of mbarrier empty from step \d+ on\. It is complete in step \d+, phase 1 in step \d+, and nothing makes that wait`,
		`When it looks, in step \d+, it finds phase 2 complete, of the same parity`, `with it 2 \(waits\) is ordered before 1`, `too late, it slept for phase 0`, `hangs nothing can go on then`,
	}, []string{"warp 0", "commit", "warp 1", "mbarrier empty"}},
	{"examples/conv_im2col/broken_clipped_bytes.yaml", []string{
		`12288 bytes have landed that no phase expects`, `24576 bytes landed of 12288 expected in this phase`, `hangs nothing can go on then: warps 4-11 of CTA \(2,0,0\) wait at conv_im2col\.cu:73`,
		`fix expect, before or with the arrival`, `by the value of add\.s32 at line 142`,
	}, []string{"CTA (2,0,0)", "warp 0", "warp 4", "mbarrier memory+114688", "tx-count"}},
}

// TestSeen sees that each bug is told at the start: in words, with the fix in sight, with the
// rows that it takes, and with the places marked in the code that is in sight.
func TestSeen(t *testing.T) {
	chromium(t)
	for _, c := range seen {
		t.Run(strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(c.launch, "examples/"), ".yaml"), "/", " "), func(t *testing.T) {
			p := open(t, view(t, c.launch), 1400, 900)
			p.until(t, `document.querySelector(".code-line.current .site-tag") !== null`)
			text := strings.Join(strings.Fields(p.text(t, `document.getElementById("story").innerText`)), " ")
			for _, says := range c.says {
				if !regexp.MustCompile(strings.TrimPrefix(says, "^")).MatchString(text) {
					t.Errorf("the page does not say %s:\n%s", says, text)
				}
			}
			rows := eval[[]string](t, p, `[...document.querySelectorAll(".name")].filter((e) => e.getBoundingClientRect().bottom <= e.closest(".scroll").getBoundingClientRect().bottom + 1).map((e) => e.textContent.replace(/^[▾▸]/, ""))`)
			for _, row := range c.rows {
				if !strings.Contains("\n"+strings.Join(rows, "\n")+"\n", "\n"+row+"\n") {
					t.Errorf("no row %q in sight: %q", row, rows)
				}
			}
			for _, what := range []string{".missing", ".fix", ".word.site[aria-current]"} {
				if !within(t, p, what, ".said, .steps") {
					t.Errorf("%s is not in sight at the start", what)
				}
			}
			if !within(t, p, ".code-line.current .site-tag", ".code-scroll") {
				t.Error("the place's mark in the code is not in sight")
			}
			p.picture(t, "seen-"+strings.ReplaceAll(c.launch, "/", "-"))
		})
	}
}

// within reports whether the first element of a selector lies in what it scrolls in.
func within(t *testing.T, p *tab, selector, box string) bool {
	t.Helper()
	return eval[bool](t, p, `(() => {
		const e = document.querySelector(`+quote(selector)+`), b = e?.closest(`+quote(box)+`)?.getBoundingClientRect(), r = e?.getBoundingClientRect();
		return Boolean(b) && r.top >= b.top - 1 && r.bottom <= b.bottom + 1 && r.left >= b.left - 1 && r.right <= b.right + 1;
	})()`)
}

// TestSeenNarrow sees the step's words and the beginning of the finding in a small window.
func TestSeenNarrow(t *testing.T) {
	chromium(t)
	p := open(t, view(t, "examples/cluster_exchange/broken_exit.yaml"), 800, 700)
	p.until(t, `document.querySelector(".word.site[aria-current]") !== null`)
	for _, what := range []string{".fix", ".word.site[aria-current]"} {
		if !within(t, p, what, ".said, .steps") {
			t.Errorf("%s is not in sight at the start", what)
		}
	}
}

// TestSeenWay shows which operation the way between two places goes through, and what orders
// two events that the reader marks.
func TestSeenWay(t *testing.T) {
	chromium(t)
	p := open(t, view(t, "examples/found/broken_dealloc_barrier.yaml"), 1400, 900)
	p.until(t, `document.querySelectorAll(".way li").length > 2`)
	text := p.text(t, `document.querySelector(".story .way").innerText`)
	for _, part := range []string{"mbarrier.init", "barrier.cluster.arrive.relaxed.aligned arrives at the cluster’s barrier", "barrier.cluster.wait.acquire.aligned passes the cluster’s barrier"} {
		if !strings.Contains(text, part) {
			t.Errorf("the way does not say %q: %s", part, text)
		}
	}
	// The first link of the way, by keys alone, and the event there marked.
	first := p.text(t, `document.querySelector(".story .way .link").textContent.replace("step ", "")`)
	last := p.text(t, `document.getElementById("step").value`)
	p.text(t, `document.querySelector(".story .way .link").focus()`)
	p.press(t, kb.Enter)
	p.step(t, first)
	p.press(t, "m")
	p.until(t, `document.getElementById("panel").innerText.includes("This event is marked")`)
	p.press(t, "n")
	p.step(t, last)
	p.until(t, `document.querySelectorAll("#panel .way li").length > 2`)
	if got := p.text(t, `document.querySelector("#panel .way").innerText`); !strings.Contains(got, "passes the cluster’s barrier") {
		t.Errorf("what orders the two: %s", got)
	}
	p.picture(t, "seen-way")
	// Backwards nothing leads from a later event to an earlier one: the way is the same.
	p.press(t, "m")
	p.until(t, `document.getElementById("panel").innerText.includes("This event is marked")`)
	p.press(t, "p")
	p.step(t, first)
	p.until(t, `document.querySelectorAll("#panel .way li").length > 2`)
}

// TestSeenEnd looks at the end of a run that hangs: what its mbarriers count then, who waits
// the longest, and that rows which were left out come back.
func TestSeenEnd(t *testing.T) {
	chromium(t)
	p := open(t, view(t, "examples/ring/broken_bytes.yaml"), 1400, 900)
	p.press(t, kb.End)
	p.step(t, p.text(t, `document.getElementById("step").max`))
	p.press(t, "2")
	p.until(t, `/phase 0\s+0\s+1,024/.test(document.getElementById("panel").innerText)`)
	hidden := p.text(t, `document.getElementById("all-rows").textContent.replace(/\D/g, "")`)
	if n, err := strconv.Atoi(hidden); err != nil || n < 1 {
		t.Fatalf("the button for rows that are left out says %q", hidden)
	}
	p.click(t, "#all-rows")
	p.until(t, `document.getElementById("all-rows").hidden && document.querySelectorAll("#panel tbody tr").length === 8`)
	p.press(t, "6")
	p.until(t, `document.querySelector("#panel caption")?.textContent.startsWith("Waits of ")`)
	steps := eval[[]float64](t, p, `[...document.querySelectorAll("#panel tbody tr")].map((r) => parseInt(r.children[4].textContent, 10))`)
	for i := 1; i < len(steps); i++ {
		if steps[i] > steps[i-1] {
			t.Errorf("the waits are not in order: %v", steps)
		}
	}
	if got := p.text(t, `document.querySelector("#panel tbody tr").innerText`); !strings.Contains(got, "wait: full[0]") {
		t.Errorf("the longest wait is %q", got)
	}
	p.click(t, "#panel tbody .link")
	p.press(t, "1")
	p.until(t, `document.querySelector("#panel h3").textContent === "wait: full[0]"`)
}

// TestSeenMemory sees the finding's bytes marked, as values of the type by which they are
// written, and who let a warp pass a named barrier.
func TestSeenMemory(t *testing.T) {
	chromium(t)
	p := open(t, view(t, "examples/bulk_store/broken_no_fence.yaml"), 1400, 900)
	p.press(t, "4")
	p.until(t, `document.querySelector(".memory td.found") !== null`)
	if got := p.text(t, `[...document.querySelectorAll(".memory td.found")].map((e) => e.textContent).join()`); got != "1" {
		t.Errorf("the finding's bytes are %q, want the one value 1", got)
	}
	p.press(t, "6")
	p.until(t, `[...document.querySelectorAll("#panel .link")].some((e) => e.textContent === "wait: barrier 0")`)
	p.text(t, `[...document.querySelectorAll("#panel .link")].find((e) => e.textContent === "wait: barrier 0").click()`)
	p.press(t, "1")
	p.until(t, `/completed by\s+CTA \(0,0,0\), warp \d, step \d+/.test(document.getElementById("panel").innerText)`)
}

// TestSeenParting says what each of two runs does where they part.
func TestSeenParting(t *testing.T) {
	chromium(t)
	p := open(t, view(t, "examples/found/broken_lapped_tile.yaml", "--beside", "earliest"), 1400, 900)
	p.click(t, "#part")
	p.until(t, `/^here .+; in the other run .+/.test(document.getElementById("note").textContent)`)
	p.until(t, `document.getElementById("panel").innerText.includes("The other run")`)
}

// lanes is a kernel whose lanes 16 to 31 read what lane 0 writes, in another branch.
const lanes = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .pred %high, %rest;
	.reg .b32 %t, %v;
	.reg .b64 %out;
	.shared .align 16 .b8 buf[128];
	ld.param.u64 %out, [out];
	mov.u32 %t, %tid.x;
	setp.ge.u32 %high, %t, 16;
	setp.ne.u32 %rest, %t, 0;
	@%high bra HIGH;
	@!%rest st.shared.u32 [buf], 7;
	SYNC
	ret;
HIGH:
	SYNC
	ld.shared.u32 %v, [buf];
	st.global.u32 [%out], %v;
	ret;
}
`

// TestSeenLanes sees that the lanes of a warp are in no order of one another, and that
// bar.warp.sync orders them.
func TestSeenLanes(t *testing.T) {
	chromium(t)
	page := func(old, with string) *tab {
		file := filepath.Join(t.TempDir(), "lanes.ptx")
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(strings.ReplaceAll(lanes, old, with), "SYNC", "")), 0o666); err != nil {
			t.Fatal(err)
		}
		return open(t, view(t, file, "--grid", "1", "--block", "32", "--buffer", "out=u32[1]:zeros", "--arg", "out"), 1400, 900)
	}
	p := page("SYNC", "")
	said := `document.getElementById("story").innerText`
	p.until(t, said+`.includes("no barrier and no program leads from 2 (reads) to 1 (writes)")`)
	if text := p.text(t, said); !strings.Contains(text, "warp 0, lanes 16-31") {
		t.Errorf("the places are not those of lanes 16 to 31: %s", text)
	}
	// Each lane reads what another wrote, and all go together.
	p = page(lanes[strings.Index(lanes, "\tsetp.ge"):], `
	.reg .b32 %at;
	shl.b32 %at, %t, 2;
	mov.u32 %v, buf;
	add.u32 %at, %at, %v;
	st.shared.u32 [%at], %t;
	xor.b32 %at, %at, 4;
	ld.shared.u32 %v, [%at];
	ret;
}
`)
	p.until(t, said+`.includes("in different lanes, and its program orders those of each lane alone")`)
	// The steps of lane 0's write and of the read, the first first.
	for sync, steps := range map[string][2]int{"": {2, 5}, "bar.warp.sync 0xffffffff;": {2, 4}} {
		p := page("SYNC", sync)
		p.press(t, kb.Home)
		p.step(t, "0")
		p.press(t, "1")
		at := 0
		to := func(n int) {
			for ; at < n; at++ {
				p.click(t, "#forth")
				p.step(t, strconv.Itoa(at+1))
			}
			p.until(t, `document.getElementById("panel").innerText.includes("In step `+strconv.Itoa(n)+`")`)
		}
		to(steps[0])
		p.press(t, "m")
		to(steps[1])
		if sync == "" {
			p.until(t, `document.getElementById("panel").innerText.includes("leads from the one to the other")`)
		} else {
			p.until(t, `document.querySelectorAll("#panel .way li").length === 2`)
		}
	}
}
