package playground

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// ratios are launches that a check takes from a moment to some seconds for.
var ratios = []string{
	"ring/ring", "ring/broken_no_wait", "ldgsts/broken_no_wait", "gemm_ws_multicast/gemm_ws_multicast_k1024",
	"gemm_mma_sync/broken_wait_after_sync", "gemm_rs/gemm_rs", "flash_attention_fwd/flash_attention_fwd",
}

// BenchmarkRatio is how many times as long a check takes in WebAssembly as on one core of
// this machine:
//
//	go test ./internal/playground -run '^$' -bench Ratio -benchtime 3x
//
// Both are measured in time of the processor (user and system), so that what else runs on the
// machine says nothing: wasm-s is that of Node with worker.js, with the module compiled and
// run once before, native-s that of the command with GOMAXPROCS=1. ratio is wasm-s over
// native-s, each the least of the runs.
func BenchmarkRatio(b *testing.B) {
	for _, name := range ratios {
		b.Run(name, func(b *testing.B) {
			files, launch := folder(b, name)
			w := work(b)
			w.run(files, nil, "check", launch)
			var wasm, here time.Duration
			for b.Loop() {
				before := w.cpu()
				w.run(files, nil, "check", launch)
				wasm = least(wasm, w.cpu()-before)
				here = least(here, nativeCPU(b, files, launch))
			}
			b.ReportMetric(wasm.Seconds(), "wasm-s")
			b.ReportMetric(here.Seconds(), "native-s")
			b.ReportMetric(wasm.Seconds()/here.Seconds(), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func least(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// folder is the files of an example's folder that its launches name.
func folder(b *testing.B, name string) (files map[string]File, launch string) {
	b.Helper()
	dir := filepath.Join(root, "examples", filepath.Dir(name))
	list, err := os.ReadDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	files = map[string]File{}
	for _, e := range list {
		switch filepath.Ext(e.Name()) {
		case ".ptx", ".yaml", ".npy":
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				b.Fatal(err)
			}
			files[e.Name()] = data
		}
	}
	return files, filepath.Base(name) + ".yaml"
}

// cpu is the time of the processor that the worker's process has taken.
func (w *worker) cpu() time.Duration {
	w.post(map[string]any{"usage": true})
	return time.Duration(w.next().Usage) * time.Microsecond
}

// nativeCPU is the time of the processor that a check of this machine's command takes.
func nativeCPU(b *testing.B, files map[string]File, launch string) time.Duration {
	b.Helper()
	dir := b.TempDir()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			b.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(site(b), "muster"), "check", launch)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOMAXPROCS=1")
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 {
		b.Fatalf("%v\n%s", err, &said)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}
