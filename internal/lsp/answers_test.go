package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster/launch"
	"muster/ptx"
)

// TestSections: each section that a row names has a title.
func TestSections(t *testing.T) {
	used := map[string]bool{}
	for _, f := range ptx.Forms() {
		used[f.Section] = true
		if sections()[f.Section] == "" {
			t.Errorf("%s: section %s has no title", f.Name, f.Section)
		}
	}
	for number := range sections() {
		if !used[number] {
			t.Errorf("no row names section %s", number)
		}
	}
}

func (c *client) hover(params string) string {
	c.t.Helper()
	var h *Hover
	if err := json.Unmarshal(c.request("textDocument/hover", params), &h); err != nil {
		c.t.Fatal(err)
	}
	if h == nil {
		return ""
	}
	return h.Contents.Value
}

// TestHover asks about instructions, names and findings.
func TestHover(t *testing.T) {
	files := folder(t, "ring/broken_count.ptx", "ring/broken_count.yaml", "ring/broken_count.cu", "ring/out.npy")
	ptx, path := files[0], files[1]
	src := read(t, ptx)
	c := open(t, "")
	c.opens(ptx, src)
	found := c.diagnostics(ptx, some)[0]
	for _, q := range []struct {
		mark string
		want []string
	}{
		{"mbarrier.try_wait.parity", []string{"PTX ISA (version 9.0) 9.7.13.15.16, Parallel Synchronization and Communication Instructions: mbarrier.test\\_wait / mbarrier.try\\_wait", "from PTX 7.8 and sm_90 on", "is completed by, as a run of broken\\_count showed", "`mbarrier.arrive.expect_tx.", "inlined at [broken_count.cu:49]("}},
		{"%r10], %r8", []string{"points to `_ZZ4ringE5empty + …`, of 32 bytes", "used as an mbarrier by", "- `mbarrier.init.shared.b64`, lines ", "written at"}},
		{"_ZZ4ringE4full;", []string{".shared .align 8 .b8 _ZZ4ringE4full[32]", "32 bytes", "used as an mbarrier by"}},
		{"%tid.x", []string{"special register `%tid.x`"}},
		{"$L__BB0_2;", []string{"label `$L__BB0_2`, line "}},
		{"ring_param_0];", []string{".param .u64 ring_param_0", "8 bytes"}},
		{"ring(", []string{"kernel `ring` of 3 parameters"}},
	} {
		got := c.hover(at(ptx, src, q.mark))
		for _, w := range q.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %q lacks %q", q.mark, got, w)
			}
		}
	}
	p := string(raw(positionParams{textDocument{uriOf(ptx)}, found.Range.Start}))
	if got, want := c.hover(p), "`muster explain "+found.Code+"`"; !strings.Contains(got, want) || !strings.Contains(got, "muster replay") {
		t.Errorf("%q lacks %q", got, want)
	}
	c.opens(path, read(t, path))
	if got := c.hover(at(path, read(t, path), "ptx:")); got != "" {
		t.Errorf("%q", got)
	}
	// Behind the statement and on blank lines there is nothing.
	if got := c.hover(at(ptx, src, "\n\n")); got != "" {
		t.Errorf("%q", got)
	}
}

// TestNeeds: an instruction is as new as the newest of its modifiers and operands, and has the
// number of its section in one version of the ISA, which is said.
func TestNeeds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "k.ptx")
	src := ".version 9.4\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p;\n.reg .b16 %h;\n.reg .b32 %r;\n.reg .b64 %rd;\n" +
		"bar.sync 0;\nbar.cta.sync 1;\nmbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 %p, [%r], 0;\n" +
		"cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd], [%r], 16, %h;\nfabric.wait.sync_restrict::reads;\nret;\n}\n"
	c := open(t, "")
	c.opens(path, src)
	for mark, want := range map[string]string{
		"bar.sync 0": "from PTX 1.0 and sm_10 on", "bar.cta": "from PTX 7.8 and sm_10 on", "mbarrier.try": "from PTX 8.6 and sm_90 on",
		"cp.async": "from PTX 8.6 and sm_100 on", "fabric": "PTX ISA (version 9.4) 9.7.11.5.6, Fabric Instructions: fabric.wait",
	} {
		if got := c.hover(at(path, src, mark)); !strings.Contains(got, want) {
			t.Errorf("%s: %q lacks %q", mark, got, want)
		}
	}
}

// TestSource jumps from lines of CUDA C++ to PTX and back, and between waits and arrivals.
func TestSource(t *testing.T) {
	files := folder(t, "ring/ring.ptx", "ring/ring.cu")
	ptx, cu := files[0], files[1]
	src, source := read(t, ptx), read(t, cu)
	c := open(t, `"check": false`)
	c.opens(cu, source)
	places := func(result json.RawMessage) []Location {
		var list []Location
		if err := json.Unmarshal(result, &list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	lineOf := func(path string, l Location) string {
		if l.URI != uriOf(path) {
			return ""
		}
		return strings.Split(read(t, path), "\n")[l.Range.Start.Line]
	}
	// The PTX says which lines of the source its waits come from.
	x := newText(uriOf(ptx), src, nil, false).module().index()
	i := slices.IndexFunc(x.insts, func(in inst) bool { return strings.HasPrefix(in.in.Opcode(), "mbarrier.try_wait") })
	from := x.sources(i)
	line := from[len(from)-1].line
	p := string(raw(positionParams{textDocument{uriOf(cu)}, Position{uint32(line - 1), 2}}))
	list := places(c.request("textDocument/definition", p))
	if !slices.ContainsFunc(list, func(l Location) bool { return l.URI == uriOf(ptx) }) {
		t.Errorf("definition: %v", list)
	}
	others := places(c.request("textDocument/implementation", p))
	if len(others) == 0 {
		t.Fatal("a wait in CUDA C++ has no other ends")
	}
	for _, l := range others {
		if text := lineOf(cu, l); text == "" {
			t.Errorf("%v is no line of the source", l)
		}
	}
	if got := c.hover(p); !strings.Contains(got, "synchronizes by") || !strings.Contains(got, "`mbarrier.try_wait.parity") {
		t.Errorf("%q", got)
	}
	c.opens(ptx, src)
	back := places(c.request("textDocument/declaration", at(ptx, src, "mbarrier.try_wait")))
	if len(back) != 1 || back[0].URI != uriOf(cu) || back[0].Range.Start.Line != uint32(line-1) {
		t.Errorf("declaration: %v, want line %d", back, line)
	}
	byLoc := places(c.request("textDocument/definition", at(ptx, src, ".loc\t1 26 3")))
	if len(byLoc) != 1 || byLoc[0].Range.Start.Line != 25 {
		t.Errorf("of .loc: %v", byLoc)
	}
}

// TestLaunchFile: what is wrong with a launch file stands in it, and files that are none are
// left alone.
func TestLaunchFile(t *testing.T) {
	files := folder(t, "ring/ring.ptx", "ring/ring.yaml", "ring/out.npy")
	path := files[1]
	src := read(t, path)
	c := open(t, "")
	for n, bad := range []struct {
		text, code string
		line       int
	}{
		{strings.Replace(src, "grid: 1", "grid: none", 1), "launch", 3},
		{strings.Replace(src, "  - {ptr: out}", "  - {ptr: elsewhere}", 1), "launch", 10},
		{strings.Replace(src, "kernel: ring", "kernel: rung", 1), "launch", 2},
		{src + "\n\tx: [", "launch", -1},
		{strings.Replace(src, "{s32: 64}", "{s64: 64}", 1), "launch", -1},
	} {
		if n == 0 {
			c.opens(path, bad.text)
		} else {
			c.changes(path, n+1, change{Text: bad.text})
		}
		list := c.diagnostics(path, code(bad.code))
		if got := int(list[0].Range.Start.Line); bad.line >= 0 && got != bad.line {
			t.Errorf("%d: line %d, want %d: %s", n, got, bad.line, list[0].Message)
		}
	}
	c.changes(path, 9, change{Text: src})
	c.logged("clean")
	other := filepath.Join(filepath.Dir(path), "compose.yaml")
	c.opens(other, "services:\n  web: [")
	if list := c.diagnostics(other, func([]Diagnostic) bool { return true }); len(list) > 0 {
		t.Errorf("%v", list)
	}
}

// TestProblems: what is wrong with PTX by itself stands at its place.
func TestProblems(t *testing.T) {
	src := read(t, "../../examples/ring/ring.ptx")
	for _, bad := range []struct {
		from, to, code string
		severity       int
	}{
		{"bar.sync \t0;", "bar.sink \t0;", "unknown-instruction", severityWarning},
		{"bar.sync \t0;", "bar.sync \t%nowhere;", "decode", severityError},
		{"bar.sync \t0;", "bar.sync \t0", "syntax", severityError},
		{".target sm_90a", ".target sm_10", "decode", severityError},
	} {
		if !strings.Contains(src, bad.from) {
			t.Fatalf("no %q", bad.from)
		}
		text := strings.Replace(src, bad.from, bad.to, 1)
		list, ok := newText("file:///x.ptx", text, nil, false).module().problems(t.Context())
		if !ok || len(list) == 0 || list[0].Code != bad.code || list[0].Severity != bad.severity {
			t.Errorf("%s: %+v", bad.to, list)
		}
	}
}

// TestWatched: PTX that another program writes is checked again.
func TestWatched(t *testing.T) {
	files := folder(t, "bulk_store/broken_no_fence.ptx", "bulk_store/broken_no_fence.yaml", "bulk_store/broken_no_fence.cu", "bulk_store/out.npy")
	ptx, cu := files[0], files[2]
	c := open(t, "")
	c.opens(cu, read(t, cu))
	c.diagnostics(cu, code("proxy-raw"))
	src := read(t, ptx)
	line := "\tcp.async.bulk.global.shared::cta"
	if err := os.WriteFile(ptx, []byte(strings.ReplaceAll(src, line, "\tfence.proxy.async.shared::cta;\n"+line)), 0o666); err != nil {
		t.Fatal(err)
	}
	c.notify("workspace/didChangeWatchedFiles", string(raw(map[string]any{"changes": []any{map[string]any{"uri": uriOf(ptx), "type": 2}}})))
	c.diagnostics(cu, func(l []Diagnostic) bool { return len(l) == 0 })
	c.logged("clean")
	// Nobody wants to know any more: what was said is taken back.
	if err := os.WriteFile(ptx, []byte(src), 0o666); err != nil {
		t.Fatal(err)
	}
	c.notify("textDocument/didSave", string(raw(documentParams{textDocument{uriOf(ptx)}})))
	c.diagnostics(cu, code("proxy-raw"))
	c.notify("textDocument/didClose", string(raw(documentParams{textDocument{uriOf(cu)}})))
	c.diagnostics(cu, func(l []Diagnostic) bool { return len(l) == 0 })
}

// TestSaved: for a client that watches no files, saving one is when others are looked at: PTX
// that a compiler wrote, and a launch file that is gone.
func TestSaved(t *testing.T) {
	files := folder(t, "bulk_store/broken_no_fence.ptx", "bulk_store/broken_no_fence.yaml", "bulk_store/broken_no_fence.cu", "bulk_store/out.npy")
	ptx, path, cu := files[0], files[1], files[2]
	c := open(t, "")
	c.opens(cu, read(t, cu))
	c.diagnostics(cu, code("proxy-raw"))
	src := read(t, ptx)
	save := func() {
		c.notify("textDocument/didSave", string(raw(documentParams{textDocument{uriOf(cu)}})))
	}
	line := "\tcp.async.bulk.global.shared::cta"
	for _, text := range []string{strings.ReplaceAll(src, line, "\tfence.proxy.async.shared::cta;\n"+line), src} {
		if err := os.WriteFile(ptx, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		save()
		c.diagnostics(cu, func(l []Diagnostic) bool { return len(l) == 0 == (text != src) })
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	save()
	c.diagnostics(cu, func(l []Diagnostic) bool { return len(l) == 0 })
}

// TestMissing: PTX that is not there is told once, and checked when it comes; a launch file that
// is deleted says nothing more.
func TestMissing(t *testing.T) {
	files := folder(t, "ring/ring.ptx", "ring/ring.yaml", "ring/out.npy")
	ptx, path := files[0], files[1]
	text, src := read(t, ptx), read(t, path)
	if err := os.Remove(ptx); err != nil {
		t.Fatal(err)
	}
	c := open(t, "")
	c.opens(path, src)
	if d := c.diagnostics(path, code("launch"))[0]; !strings.Contains(d.Message, "cannot read") || d.Range.Start.Line != 1 {
		t.Errorf("%+v", d)
	}
	changed := func(path string) {
		t.Helper()
		c.notify("workspace/didChangeWatchedFiles", string(raw(map[string]any{"changes": []any{map[string]any{"uri": uriOf(path), "type": 1}}})))
	}
	if err := os.WriteFile(ptx, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	changed(ptx)
	c.diagnostics(path, func(l []Diagnostic) bool { return len(l) == 0 })
	c.logged("clean")
	told := 0
	for _, m := range c.held {
		if m.Method == "window/logMessage" && strings.Contains(string(m.Params), "is not checked") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
	c = open(t, "")
	c.opens(ptx, text)
	c.logged("clean")
	broken := strings.Replace(src, "grid: 1", "grid: 1000000000", 1) + "shared: 4000000000\n"
	if err := os.WriteFile(path, []byte(broken), 0o666); err != nil {
		t.Fatal(err)
	}
	changed(path)
	c.diagnostics(path, some)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	changed(path)
	c.diagnostics(path, func(l []Diagnostic) bool { return len(l) == 0 })
}

// TestFormatting: comments are not lost unawares.
func TestFormatting(t *testing.T) {
	const src = ".version 9.0 .target sm_90a .address_size 64\n.visible .entry k() { ret; }\n"
	c := open(t, "")
	params := `{"textDocument": {"uri": "file:///x.ptx"}, "options": {}}`
	c.opens("/x.ptx", src+"// a comment\n")
	if m := c.answer(c.ask("textDocument/formatting", params)); m.Error == nil || !strings.Contains(m.Error.Message, "formatDropsComments") {
		t.Errorf("%+v", m)
	}
	c.changes("/x.ptx", 2, change{Text: src})
	var edits []TextEdit
	if err := json.Unmarshal(c.request("textDocument/formatting", params), &edits); err != nil || len(edits) != 1 {
		t.Fatalf("%v %v", edits, err)
	}
	if _, err := ptx.Parse("x", []byte(edits[0].NewText)); err != nil || edits[0].Range.End != (Position{2, 0}) {
		t.Errorf("%+v %v", edits, err)
	}
}

// TestSymbols lists what a kernel declares, in both forms.
func TestSymbols(t *testing.T) {
	text := newText("file:///ring.ptx", read(t, "../../examples/ring/ring.ptx"), nil, false)
	list := text.symbols()
	if len(list) != 1 || list[0].Name != "ring" || list[0].Detail != "kernel" {
		t.Fatalf("%+v", list)
	}
	var names []string
	for _, s := range list[0].Children {
		names = append(names, s.Name)
		if line, at := text.line(int(s.Range.Start.Line)); !strings.HasPrefix(line[text.offset(s.Range.Start)-at:], s.Name) {
			t.Errorf("%s stands at %+v", s.Name, s.Range)
		}
	}
	if got := strings.Join(names[:4], " "); got != "_ZZ4ringE5slots _ZZ4ringE4full _ZZ4ringE5empty $L__BB0_2" {
		t.Error(got)
	}
	if flat := flatten(text.uri, list); len(flat) != 1+len(names) || flat[1].ContainerName != "ring" {
		t.Errorf("%+v", flat)
	}
}

// TestNamed: a launch file elsewhere counts if a setting names it.
func TestNamed(t *testing.T) {
	files := folder(t, "bulk_store/broken_no_fence.ptx", "bulk_store/out.npy")
	elsewhere := filepath.Join(t.TempDir(), "launch.yaml")
	text := strings.Replace(read(t, "../../examples/bulk_store/broken_no_fence.yaml"), "ptx: broken", "ptx: "+filepath.Dir(files[0])+"/broken", 1)
	text = strings.Replace(text, "file: out.npy", "file: "+files[1], 1)
	if err := os.WriteFile(elsewhere, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	c := open(t, `"delay": 0`)
	c.opens(files[0], read(t, files[0]))
	c.notify("workspace/didChangeConfiguration", fmt.Sprintf(`{"settings": {"muster": {"launch": %q}}}`, elsewhere))
	if d := c.diagnostics(files[0], code("proxy-raw"))[0]; d.Data.Launch != elsewhere {
		t.Errorf("%+v", d.Data)
	}
}

// TestCompiled: source that a launch file names is compiled when it is opened and when it is
// saved, not while it is typed, and what is found stands in it.
func TestCompiled(t *testing.T) {
	files := folder(t, "bulk_store/broken_no_fence.ptx", "bulk_store/broken_no_fence.cu", "bulk_store/broken_no_fence.yaml", "bulk_store/out.npy")
	made, cu, path := files[0], files[1], files[2]
	elsewhere := filepath.Join(t.TempDir(), "made.ptx")
	text := strings.Replace(read(t, made), `"broken_no_fence.cu"`, fmt.Sprintf("%q", cu), 1)
	if err := errors.Join(os.Remove(made), os.WriteFile(elsewhere, []byte(text), 0o666),
		os.WriteFile(path, []byte(strings.Replace(read(t, path), "broken_no_fence.ptx", "broken_no_fence.cu", 1)), 0o666)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan bool, 10)
	c := start(t, Options{Sources: func(_ context.Context, f *launch.File) (func(), error) {
		f.Launches[0].PTX = elsewhere
		return func() { ended <- true }, nil
	}})
	c.request("initialize", `{"capabilities": {}, "initializationOptions": {"delay": 0}}`)
	src := read(t, cu)
	c.opens(cu, src)
	c.diagnostics(cu, code("proxy-raw"))
	<-ended
	c.changes(cu, 2, change{Text: "// typed\n" + src})
	c.hover(string(raw(positionParams{textDocument{uriOf(cu)}, Position{}})))
	if len(ended) > 0 {
		t.Error("it was compiled while it was typed")
	}
	c.notify("textDocument/didSave", string(raw(documentParams{textDocument{uriOf(cu)}})))
	<-ended
}
