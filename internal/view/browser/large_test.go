package browser

import (
	"flag"
	"fmt"
	"testing"

	"muster/internal/view/page"
)

// This file measures a large run: how long it loads, how smoothly it is dragged, and how long
// a jump to a step takes. It is a benchmark, since a machine's speed is no property of the page:
//
//	go test -run - -bench Large -benchtime 1x

// large makes a page of a run of so many steps: eight CTAs of four warps with rings of
// barriers and copies, which take turns.
func large(t testing.TB, steps int64) string {
	m := &made{Report: report("race@k.ptx:2,4")}
	m.text("ptx", "k.ptx", "// k\nst.shared.u32 [%r1], %r2;\nmbarrier.arrive.shared.b64 _, [%r3];\nld.shared.u32 %r4, [%r1];\n")
	r := newRun("earliest", steps)
	type part struct{ warps, ops, bars, pending []int }
	var parts []part
	for c := range 8 {
		p, cta := part{}, r.track(0, "cta", fmt.Sprintf("CTA (%d,0,0)", c), c+1)
		for w := range 4 {
			warp := r.track(cta, "warp", fmt.Sprintf("warp %d", w), w)
			p.warps = append(p.warps, warp)
			p.ops = append(p.ops, r.track(warp, "op", "bulk copy", 0))
			bar := r.track(cta, "mbar", fmt.Sprintf("mbarrier full+%d", 8*w), 1<<16+w)
			p.bars = append(p.bars, bar)
			p.pending = append(p.pending, r.track(bar, "counter", "pending arrivals", 1))
		}
		r.slice(cta, 0, steps, "runs", "run", extra{})
		parts = append(parts, p)
	}
	names := []string{"st.shared.u32", "mbarrier.arrive.shared.b64", "ld.shared.u32"}
	var flow uint64
	for s := int64(1); s <= steps; s++ {
		p, w := &parts[s/7%8], int(s/3%4)
		x := extra{file: "k.ptx", line: uint64(s%3) + 2}
		if s%16 == 0 && s+40 < steps {
			flow++
			x.from = []uint64{flow}
			r.slice(p.ops[w], s-1, s+14, "bulk copy", "operation", extra{to: []uint64{flow}})
		}
		if s%20 == 0 {
			r.slice(p.bars[w], s-20, s, fmt.Sprintf("phase %d", s/20), "phase", extra{args: [][2]string{{"ended_by", "mbarrier.arrive"}}})
			r.value(p.pending[w], s, s%5)
		}
		r.slice(p.warps[w], s-1, s, names[s%3], "step", x)
	}
	r.Finding = "race@k.ptx:2,4"
	r.Sites = []map[string]any{{"step": steps / 2, "track": 2, "role": "writes", "site": 0}, {"step": steps/2 + 9, "track": 5, "role": "reads", "site": 1}}
	m.add(t, r)
	return m.write(t)
}

// drag moves the lanes for 120 frames at a scale, and gives how long each frame took.
const drag = `(async (width) => {
	const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect(), at = (type, x) => canvas.dispatchEvent(new PointerEvent(type, { pointerId: 1, pointerType: "mouse", button: 0, buttons: 1, clientX: x, clientY: box.top + 200, bubbles: true }));
	canvas.setPointerCapture = () => {};
	const frame = () => new Promise(requestAnimationFrame), times = [];
	at("pointerdown", box.right - 20);
	let last = await frame();
	for (let i = 0; i < 120; i++) {
		at("pointermove", box.right - 20 - (i % 60) * 8);
		const now = await frame();
		times.push(now - last);
		last = now;
	}
	at("pointerup", box.right);
	return times.sort((a, b) => a - b);
})()`

// jump goes to a step, and gives how long it takes until a frame shows it.
const jump = `(async () => {
	const step = document.getElementById("step"), times = [], all = Number(step.max);
	for (let i = 1; i <= 20; i++) {
		const start = performance.now();
		step.value = String(Math.floor((all * i * 7919 / 20) % all));
		step.dispatchEvent(new Event("change"));
		await new Promise(requestAnimationFrame);
		await new Promise((r) => { const c = new MessageChannel(); c.port1.onmessage = r; c.port2.postMessage(0); });
		times.push(performance.now() - start);
	}
	return times.sort((a, b) => a - b);
})()`

var pageFile = flag.String("page", "", "measure this page, and not one that the benchmark makes")

func BenchmarkLarge(b *testing.B) {
	file := *pageFile
	if file == "" {
		file = large(b, 1_000_000)
	}
	for range b.N {
		p := open(b, file, 1400, 900)
		b.ReportMetric(eval[float64](b, p, `performance.getEntriesByName("ready")[0].startTime`), "load-ms")
		p.picture(b, "large")
		for _, scale := range []struct{ name, key string }{{"near", ""}, {"middle", "ssssssssss"}, {"all", "fw"}} {
			if scale.key != "" {
				p.press(b, scale.key)
			}
			times := eval[[]float64](b, p, drag)
			b.ReportMetric(times[len(times)*95/100], scale.name+"-frame-p95-ms")
			b.ReportMetric(times[len(times)-1], scale.name+"-frame-max-ms")
			p.picture(b, "large-"+scale.name)
		}
		times := eval[[]float64](b, p, jump)
		b.ReportMetric(times[len(times)/2], "jump-median-ms")
		b.ReportMetric(times[len(times)-1], "jump-max-ms")
		p.press(b, "3") // with registers
		times = eval[[]float64](b, p, jump)
		b.ReportMetric(times[len(times)-1], "jump-registers-max-ms")
	}
}

// TestLarge opens a long run, and goes to its steps.
func TestLarge(t *testing.T) {
	p := open(t, large(t, 60_000), 1400, 900)
	p.step(t, "30009")
	p.press(t, "f")
	p.text(t, `((s) => { s.value = "59999"; s.dispatchEvent(new Event("change")); })(document.getElementById("step"))`)
	p.until(t, `document.getElementById("words").textContent.startsWith("Step 59,999 of 60,000: CTA ")`)
}

// TestBundle makes the page's parts into one script: a module that is missing, or that two
// modules import of each other, would be an error here and not in a reader's browser.
func TestBundle(t *testing.T) {
	if err := page.Write(discard{}, []byte("{}"), nil, true); err != nil {
		t.Fatal(err)
	}
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
