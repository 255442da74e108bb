package browser

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// This file runs the command itself in the browser, by the module that the playground's page
// runs it by.

// An answer is what a run in the browser gave.
type answer struct {
	Exit           int
	Stdout, Stderr string
	MS             int
}

// script is an expression of the page that has a run's files and the engine: body returns
// what is asked for.
func script(body string) string {
	return `(async () => {
		const { Engine } = await import("./engine.js");
		const { groups } = await (await fetch("./kernels.json")).json();
		const files = id => {
			const item = groups.flatMap(g => g.items).find(i => i.id === id);
			const bytes = f => typeof f === "string" ? f : Uint8Array.from(atob(f.base64), c => c.charCodeAt(0));
			return Object.fromEntries(Object.entries(item.files).map(([name, f]) => [name, bytes(f)]));
		};
		const engine = window.engine ??= new Engine(() => {});
		` + body + `
	})()`
}

// runs runs the command on an example's files.
func runs(t testing.TB, p *tab, id string, args ...string) answer {
	t.Helper()
	list, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return eval[answer](t, p, script(`return engine.run(`+string(list)+`, files(`+quote(id)+`)).then(a => ({ Exit: a.exit, Stdout: a.stdout, Stderr: a.stderr, MS: a.ms }))`))
}

// TestPlaygroundAnswers: the command in the browser says what it says on this machine, byte
// for byte, and asks the site's own folder for what it needs.
func TestPlaygroundAnswers(t *testing.T) {
	p := visit(t, "", 1400, 900)
	muster, err := build()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ folder, id, launch string }{
		{"ring", "ring/ring", "ring.yaml"},
		{"ring", "ring/broken_bytes", "broken_bytes.yaml"},
		{"bulk_store", "bulk_store/broken_no_fence", "broken_no_fence.yaml"},
		{"found", "found/broken_mma_stores", "broken_mma_stores.yaml"},
	} {
		got := runs(t, p, x.id, "check", x.launch, "--format", "json", "--quiet")
		cmd := exec.Command(muster, "check", x.launch, "--format", "json", "--quiet")
		cmd.Dir = filepath.Join(root, "examples", x.folder)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); cmd.ProcessState == nil {
			t.Fatal(err)
		}
		if got.Exit != cmd.ProcessState.ExitCode() || got.Stdout != out.String() || got.Stderr != errs.String() {
			t.Errorf("%s: exit %d\n%s%s\non this machine exit %d\n%s%s", x.id, got.Exit, got.Stdout, got.Stderr, cmd.ProcessState.ExitCode(), &out, &errs)
		}
	}
	base := p.text(t, `location.href.split("#")[0]`)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, a := range p.asked {
		if !strings.HasPrefix(a, base) {
			t.Errorf("a request for %s", a)
		}
	}
}

// TestPlaygroundWorkerEnds: progress comes while a run goes on, stopping it ends it at once,
// and the run after it needs no new load.
func TestPlaygroundWorkerEnds(t *testing.T) {
	p := visit(t, "", 1400, 900)
	got := eval[string](t, p, script(`
		const kernel = { "k.ptx": `+quote(endless)+` };
		const args = ["check", "k.ptx", "--grid", "1", "--block", "32", "--buffer", "out=u32[1]", "--arg", "out", "--limit-instrs", "100000000000"];
		const lines = [];
		const end = await engine.run(args, kernel, [], line => { lines.push(line); if (lines.length === 2) engine.stop(); }).then(a => "exit " + a.exit, e => e.constructor.name);
		const next = await engine.run(["version"], {});
		return [end, lines.length, lines.every(l => l.startsWith("muster: ")), next.exit, next.stdout.startsWith("muster ")].join(" ");
	`))
	if want := "Stopped 2 true 0 true"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// BenchmarkPlayground is how long the first verdict on a kernel takes a browser that has
// nothing of the site, and the ones after it, in milliseconds of this machine:
//
//	go test ./internal/view/browser -run '^$' -bench Playground -benchtime 3x
//
// cold-ms begins with the page's own address and ends with ring's verdict, again-ms is the
// next run of the same check, in the same worker.
func BenchmarkPlayground(b *testing.B) {
	var cold, again, ms time.Duration
	n := 0
	site(b) // makes the files
	for b.Loop() {
		address := site(b) // another port: nothing of it is in the browser's cache
		begun := time.Now()
		p := start(b, address, 1400, 900)
		a := runs(b, p, "ring/ring", "check", "ring.yaml")
		cold += time.Since(begun)
		if a.Exit != 0 {
			b.Fatalf("exit %d\n%s", a.Exit, a.Stderr)
		}
		begun = time.Now()
		a = runs(b, p, "ring/ring", "check", "ring.yaml")
		again += time.Since(begun)
		ms += time.Duration(a.MS) * time.Millisecond
		n++
	}
	for name, d := range map[string]time.Duration{"cold-ms": cold, "again-ms": again, "run-ms": ms} {
		b.ReportMetric(float64(d.Milliseconds())/float64(n), name)
	}
	b.ReportMetric(0, "ns/op")
}
