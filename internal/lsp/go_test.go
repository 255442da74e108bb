package lsp

import (
	"runtime"
	"strings"
	"testing"

	"muster/kernel"
)

// TestGo writes a kernel in Go that nobody waits in, and opens this file beside what the
// kernel's Call wrote: the finding stands at the line that loads.
func TestGo(t *testing.T) {
	const n = 64
	k := kernel.New("unordered", kernel.Block(n))
	in, out := k.GlobalPtr("in", kernel.F32), k.GlobalPtr("out", kernel.F32)
	buf := k.Shared("buf", kernel.F32, n)
	i := k.TidX()
	buf.At(i).Store(in.At(i).Load())
	out.At(i).Store(buf.At(i.Xor(n - 1)).Load()) // here
	call, err := k.Call(kernel.Grid(1), make([]float32, n), make([]float32, n))
	if err != nil {
		t.Fatal(err)
	}
	written, err := call.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, file, _, _ := runtime.Caller(0)
	src := read(t, file)
	c := open(t, `"delay": 0`)
	c.notify("workspace/didChangeConfiguration", string(raw(map[string]any{"settings": map[string]any{"muster": map[string]any{"launch": written}}})))
	c.opens(file, src)
	list := c.diagnostics(file, some)
	line := strings.Count(src[:strings.Index(src, "// here")], "\n")
	if d := list[0]; int(d.Range.Start.Line) != line || !strings.HasPrefix(d.Code, "race") {
		t.Errorf("%+v, want line %d", d, line)
	}
}
