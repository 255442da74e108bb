package browser

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"muster/internal/view/page"
)

// This file makes data of a page by hand, so that a test says what the page shows, and may
// say what no launch would.

// A made is the data of a page with one run, under way.
type made struct {
	Report any    `json:"report"`
	Texts  []any  `json:"texts"`
	Memory []any  `json:"memories"`
	Runs   []*run `json:"runs"`
	blob   []byte
}

type run struct {
	Name     string           `json:"name"`
	Schedule string           `json:"schedule"`
	Steps    int64            `json:"steps"`
	Cut      string           `json:"cut"`
	Finding  string           `json:"finding"`
	Words    []map[string]any `json:"words"`
	Tracks   [2]int           `json:"tracks"`
	Strings  [2]int           `json:"strings"`
	Marks    [2]int           `json:"marks"`
	Detail   [][4]int64       `json:"detail"`
	Sites    []map[string]any `json:"sites"`
	Live     string           `json:"live"`

	tracks     []map[string]any
	strings    []string
	index      map[string]uint64
	stream     []byte
	last, time int64
}

// Kinds of marks, as the stream has them.
const (
	begin   = 0
	end     = 1
	instant = 2
	value   = 3
	arrows  = 16
	args    = 32
	place   = 64
)

func u(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }
func z(b []byte, v int64) []byte  { return binary.AppendVarint(b, v) }

func (r *run) name(s string) uint64 {
	i, ok := r.index[s]
	if !ok {
		i = uint64(len(r.strings))
		r.index[s] = i
		r.strings = append(r.strings, s)
	}
	return i
}

func newRun(name string, steps int64) *run {
	return &run{Name: name, Schedule: name, Steps: steps, index: map[string]uint64{}, Words: []map[string]any{}, Sites: []map[string]any{}, tracks: []map[string]any{}, strings: []string{}, Detail: [][4]int64{}}
}

// track makes a track and returns its number.
func (r *run) track(parent int, kind, name string, rank int) int {
	id := len(r.tracks) + 1
	r.tracks = append(r.tracks, map[string]any{"id": id, "parent": parent, "name": name, "kind": kind, "rank": rank, "counter": kind == "counter"})
	return id
}

func (r *run) mark(kind byte, track int, at int64) {
	r.stream = append(r.stream, kind)
	r.stream = z(r.stream, int64(track)-r.last)
	r.stream = z(r.stream, at-r.time)
	r.last, r.time = int64(track), at
}

// An extra is what a slice may have beside.
type extra struct {
	file     string
	line     uint64
	from, to []uint64
	args     [][2]string
}

func (r *run) slice(track int, from, to int64, name, category string, x extra) {
	kind := byte(begin)
	if x.file != "" {
		kind |= place
	}
	if x.from != nil || x.to != nil {
		kind |= arrows
	}
	if x.args != nil {
		kind |= args
	}
	r.mark(kind, track, from)
	r.stream = u(u(r.stream, r.name(name)), r.name(category))
	if x.file != "" {
		r.stream = u(u(r.stream, r.name(x.file)), x.line)
	}
	if kind&arrows != 0 {
		for _, list := range [][]uint64{x.from, x.to} {
			r.stream = u(r.stream, uint64(len(list)))
			for _, id := range list {
				r.stream = u(r.stream, id)
			}
		}
	}
	if x.args != nil {
		r.stream = u(r.stream, uint64(len(x.args)))
		for _, a := range x.args {
			r.stream = u(u(r.stream, r.name(a[0])), r.name(a[1])+1)
		}
	}
	r.mark(end, track, to)
}

func (r *run) value(track int, at, v int64) {
	r.mark(value, track, at)
	r.stream = z(r.stream, v)
}

// put adds bytes to the blob and says where they lie.
func (m *made) put(b []byte) [2]int {
	at := len(m.blob)
	m.blob = append(m.blob, b...)
	return [2]int{at, len(b)}
}

func (m *made) text(kind, file, text string, loc ...[3]any) {
	m.Texts = append(m.Texts, map[string]any{"file": file, "kind": kind, "text": m.put([]byte(text)), "loc": append([][3]any{}, loc...)})
}

func (m *made) add(t testing.TB, r *run) {
	t.Helper()
	list := func(of any) [2]int {
		s, err := json.Marshal(of)
		if err != nil {
			t.Fatal(err)
		}
		return m.put(s)
	}
	r.Tracks, r.Strings, r.Marks = list(r.tracks), list(r.strings), m.put(r.stream)
	m.Runs = append(m.Runs, r)
}

// write writes the page to a file and returns its name.
func (m *made) write(t testing.TB) string {
	t.Helper()
	about, err := json.Marshal(map[string]any{"version": 1, "report": m.Report, "texts": append([]any{}, m.Texts...), "memories": append([]any{}, m.Memory...), "runs": m.Runs})
	if err != nil {
		t.Fatal(err)
	}
	var packed, html bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(m.blob); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := page.Write(&html, about, packed.Bytes(), false); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(name, html.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// report makes a report with some findings of two places each.
func report(findings ...string) map[string]any {
	list := []any{}
	for i, id := range findings {
		site := func(role string, line int) map[string]any {
			return map[string]any{"role": role, "warp": 0, "lanes": "0", "cta": []int{0, 0, 0}, "ptx": map[string]any{"file": "k.ptx", "line": line, "col": 1, "text": "st.shared.u32 [%r1], %r2;"}, "source": []any{map[string]any{"file": "k.cu", "line": line + 1, "col": 1}}}
		}
		list = append(list, map[string]any{"id": id, "kind": "race", "severity": "error", "headline": fmt.Sprintf("finding %d of the test", i+1), "sites": []any{site("writes", 2), site("reads", 4)},
			"missing": "no fence between them", "fix": "a fence", "section": "8.6", "schedule": "earliest", "count": 1, "seen": 1, "replay": "muster replay k.yaml", "fingerprint": "0", "notes": []string{"a note"}})
	}
	verdict := "findings"
	if len(list) == 0 {
		verdict = "clean"
	}
	return map[string]any{"version": 1, "verdict": verdict, "summary": "what was checked", "findings": list, "gaps": []any{}, "notices": []any{}, "schedules": []string{"earliest"}, "assumptions": []any{},
		"launch": map[string]any{"file": "k.yaml", "kernel": "k", "ptx": "k.ptx", "grid": []int{1, 1, 1}}}
}

// small makes a page of 40 steps with two warps, an mbarrier with four phases, an operation,
// registers and memory, and two findings of which the run shows the first.
func small(t testing.TB) *made {
	m := &made{Report: report("race@k.ptx:2,4", "race@k.ptx:3,4"), Memory: []any{map[string]any{"name": "buf", "space": "shared", "size": 64, "elem": 4, "type": "u32"}}}
	m.text("ptx", "k.ptx", "// k\nst.shared.u32 [%r1], %r2;\nmbarrier.arrive.shared.b64 _, [%r3];\nld.shared.u32 %r4, [%r1];\n", [3]any{2, "k.cu", 3}, [3]any{4, "k.cu", 5})
	m.text("source", "k.cu", "kernel\n\n  buf = 1;\n\n  x = buf;\n")
	r := smallRun("earliest", 40)
	r.Finding = "race@k.ptx:2,4"
	r.Sites = []map[string]any{{"step": 5, "track": 2, "role": "writes", "site": 0}, {"step": 14, "track": 4, "role": "reads", "site": 1}}
	r.Words = []map[string]any{{"step": 4, "first": 1, "text": "4 steps"}, {"step": 5, "first": 5, "text": "warp 0 writes", "site": 0}, {"step": 14, "first": 14, "text": "warp 1 reads", "site": 1}}
	at := int64(len(m.blob))
	b := u(nil, 0)
	for s := int64(1); s <= r.Steps; s++ {
		if s%2 == 0 {
			b = u(b, 0)
			continue
		}
		b = u(b, 2)
		b = u(u(u(u(u(append(b, 1), 0), uint64(s/5)%2), r.name("%r1")), r.name("u32")), 1)
		b = u(b, uint64(s))
		b = u(u(u(u(append(b, 2), r.name("buf")), 1), uint64(s%16)*4), 4)
		b = binary.LittleEndian.AppendUint32(b, uint32(s))
	}
	m.put(b)
	r.Detail = [][4]int64{{1, r.Steps + 1, at, int64(len(b))}}
	m.add(t, r)
	return m
}

// smallRun makes the tracks and marks of a run in which two warps take turns.
func smallRun(name string, steps int64) *run {
	r := newRun(name, steps)
	cta := r.track(0, "cta", "CTA (0,0,0)", 1)
	warps := [2]int{r.track(cta, "warp", "warp 0", 0), 0}
	waits := r.track(warps[0], "wait", "waits", 0)
	warps[1] = r.track(cta, "warp", "warp 1", 1)
	ops := r.track(warps[1], "op", "bulk copy", 0)
	bar := r.track(cta, "mbar", "mbarrier full", 1<<16)
	pending := r.track(bar, "counter", "pending arrivals", 1)
	tx := r.track(bar, "counter", "tx-count", 2)
	names := []string{"st.shared.u32", "mbarrier.arrive.shared.b64", "ld.shared.u32"}
	for s := int64(1); s <= steps; s++ {
		i := s % 3
		x := extra{file: "k.ptx", line: uint64(i) + 2}
		if s == 4 {
			x.from = []uint64{1}
		}
		r.slice(warps[(s/5)%2], s-1, s, names[i], "step", x)
	}
	r.slice(waits, 4, 9, "wait: full", "wait", extra{args: [][2]string{{"completed_by", "warp 1"}}})
	r.slice(ops, 3, 12, "bulk copy", "operation", extra{to: []uint64{1}})
	for k := int64(0); k < 4; k++ {
		from, to := k*steps/4, (k+1)*steps/4
		r.slice(bar, from, to, fmt.Sprintf("phase %d", k), "phase", extra{args: [][2]string{{"ended_by", "mbarrier.arrive of warp 1"}}})
		r.value(pending, from+1, 2)
		r.value(pending, to-1, 1)
		r.value(tx, from+1, 128)
	}
	r.slice(cta, 0, steps, "runs", "run", extra{})
	return r
}
