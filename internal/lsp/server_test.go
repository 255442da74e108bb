package lsp

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestFinding opens PTX beside a launch file: the finding stands in the PTX and in the source,
// goes when the text is mended in the editor alone, and comes back.
func TestFinding(t *testing.T) {
	files := folder(t, "bulk_store/broken_no_fence.ptx", "bulk_store/broken_no_fence.yaml", "bulk_store/broken_no_fence.cu", "bulk_store/out.npy")
	ptx, cu := files[0], files[2]
	src := read(t, ptx)
	c := open(t, "")
	c.opens(ptx, src)
	d := c.diagnostics(ptx, code("proxy-raw"))[0]
	if d.Severity != severityError || d.Source != "muster" || d.Range.Start != (Position{98, 1}) || d.Data == nil || !strings.HasPrefix(d.Data.ID, "proxy-raw@") {
		t.Errorf("%+v", d)
	}
	if len(d.RelatedInformation) != 1 || d.RelatedInformation[0].Location.Range.Start.Line != 83 || d.RelatedInformation[0].Message != "writes" {
		t.Errorf("%+v", d.RelatedInformation)
	}
	if want := "missing: no fence.proxy.async between"; !strings.Contains(d.Message, want) {
		t.Errorf("%q lacks %q", d.Message, want)
	}
	all := c.diagnostics(cu, code("proxy-raw"))
	if len(all) != 1 {
		t.Errorf("a store and a copy that are unrolled are %d findings in the source", len(all))
	}
	inSource := all[0]
	if inSource.Range.Start.Line != 20 || len(inSource.RelatedInformation) != 2 || inSource.RelatedInformation[0].Location.URI != uriOf(cu) || inSource.RelatedInformation[0].Location.Range.Start.Line != 17 {
		t.Errorf("%+v", inSource)
	}

	line := "\tcp.async.bulk.global.shared::cta"
	fence := "\tfence.proxy.async.shared::cta;\n"
	mended := strings.ReplaceAll(src, line, fence+line)
	c.changes(ptx, 2, change{Text: mended})
	c.diagnostics(cu, func(l []Diagnostic) bool { return len(l) == 0 })
	c.logged("clean")
	c.changes(ptx, 3, change{Text: src})
	c.diagnostics(ptx, code("proxy-raw"))
	c.diagnostics(cu, code("proxy-raw"))
}

// logged waits for a line of the log.
func (c *client) logged(text string) {
	c.t.Helper()
	c.next("the log's "+text, func(m *message) bool {
		return m.Method == "window/logMessage" && strings.Contains(string(m.Params), text)
	})
}

// TestJump asks of a wait what completes it: by the text, and as a run shows.
func TestJump(t *testing.T) {
	files := folder(t, "ring/ring.ptx", "ring/ring.yaml", "ring/ring.cu", "ring/out.npy")
	ptx := files[0]
	src := read(t, ptx)
	wait, arrive := "mbarrier.try_wait.parity", "mbarrier.arrive.expect_tx"
	lines := func(result json.RawMessage) (list []int) {
		var at []Location
		if err := json.Unmarshal(result, &at); err != nil {
			t.Fatal(err)
		}
		for _, l := range at {
			if l.URI != uriOf(ptx) {
				t.Errorf("%+v", l)
			}
			list = append(list, int(l.Range.Start.Line)+1)
		}
		return list
	}
	for _, mode := range []string{"text", "run"} {
		c := open(t, `"delay": 0, "check": `+map[string]string{"text": "false", "run": "true"}[mode])
		c.opens(ptx, src)
		if mode == "run" {
			c.logged("clean")
		}
		for _, q := range []struct {
			method, mark string
			text, run    []int
		}{
			{"definition", wait, []int{238, 256}, []int{238, 256}},
			{"implementation", wait, []int{238, 256}, []int{238, 256}},
			{"references", wait, []int{238, 256}, []int{238, 256}},
			{"definition", arrive, []int{125}, []int{125}},
			{"implementation", "P_OUT, [%r10]", []int{162}, []int{58, 68, 78, 88, 162}}, // a fresh mbarrier lets a producer pass
			{"definition", "P_OUT, [%r10]", []int{219}, []int{219}},
			{"definition", "%r10], %r8", []int{211}, []int{211}},
			{"declaration", "%r10], %r8", []int{27}, []int{27}},
			{"declaration", "_ZZ4ringE4full;", []int{33}, []int{33}},
			{"definition", "$L__BB0_2;", []int{91}, []int{91}},
			{"references", "$L__BB0_2;", []int{44, 91}, []int{44, 91}},
		} {
			want := q.text
			if mode == "run" {
				want = q.run
			}
			got := lines(c.request("textDocument/"+q.method, at(ptx, src, q.mark)))
			if !equal(got, want) {
				t.Errorf("%s: %s of %s: lines %v, want %v", mode, q.method, q.mark, got, want)
			}
		}
	}
}

func equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestSourceAlone opens CUDA C++ whose PTX and launch file lie beside it, closed.
func TestSourceAlone(t *testing.T) {
	files := folder(t, "bulk_store/broken_no_fence.ptx", "bulk_store/broken_no_fence.yaml", "bulk_store/broken_no_fence.cu", "bulk_store/out.npy")
	cu := files[2]
	c := open(t, "")
	c.opens(cu, read(t, cu))
	c.diagnostics(cu, code("proxy-raw"))
}
