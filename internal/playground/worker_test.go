package playground

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// node returns the path of Node, whose engine is that of a browser.
func node(t testing.TB) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node on this machine: worker.js, files.js and unpack.js did not run")
	}
	return path
}

// nodeCommand runs Node in the folder that comes last, and returns what it said.
func nodeCommand(t testing.TB, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(node(t), args[:len(args)-1]...)
	cmd.Dir = args[len(args)-1]
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// A worker is worker.js in a thread of Node.
type worker struct {
	t   testing.TB
	in  io.Writer
	out *bufio.Scanner
	ids int
}

// message is one of the worker's.
type message struct {
	ID         int
	Stream     string
	Text       string
	Exit       *int
	Files      map[string]string
	Crash      string
	MS         int
	Terminated bool
	Usage      int64
}

// work starts a worker, with options for Node.
func work(t testing.TB, options ...string) *worker {
	t.Helper()
	path := node(t)
	driver, err := filepath.Abs("testdata/driver.mjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append(options, driver, site(t))...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil || said.Len() > 0 {
			t.Errorf("node: %v\n%s", err, &said)
		}
	})
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	return &worker{t: t, in: in, out: lines}
}

func (w *worker) post(v any) {
	w.t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.in.Write(append(text, '\n')); err != nil {
		w.t.Fatal(err)
	}
}

// next waits for a message.
func (w *worker) next() (m message) {
	w.t.Helper()
	if !w.out.Scan() {
		w.t.Fatal("node ended:", w.out.Err())
	}
	if err := json.Unmarshal(w.out.Bytes(), &m); err != nil {
		w.t.Fatalf("%v: %s", err, w.out.Bytes())
	}
	return m
}

// begin begins a run.
func (w *worker) begin(files map[string]File, keep []string, args ...string) {
	w.t.Helper()
	w.ids++
	w.post(map[string]any{"id": w.ids, "args": args, "files": files, "keep": keep})
}

// run runs the command, and returns its last message and both streams.
func (w *worker) run(files map[string]File, keep []string, args ...string) (last message, out, errs string) {
	w.t.Helper()
	w.begin(files, keep, args...)
	for {
		m := w.next()
		if m.ID != w.ids {
			w.t.Fatalf("a message of run %d, in run %d", m.ID, w.ids)
		}
		switch m.Stream {
		case "stdout":
			out += m.Text
		case "stderr":
			errs += m.Text
		default:
			return m, out, errs
		}
	}
}

// item is an example of the site.
func item(t testing.TB, id string) *Item {
	t.Helper()
	for _, g := range offered(t).Groups {
		if n := slices.IndexFunc(g.Items, func(i Item) bool { return i.ID == id }); n >= 0 {
			return &g.Items[n]
		}
	}
	t.Fatalf("the site has no %s", id)
	return nil
}

// underWay is a line of progress, of which a slow machine has more.
var underWay = regexp.MustCompile(`(?m)^muster: \d+s of 10m: .*\n`)

// TestSameAnswers: the command in a worker says what the command of this machine says, byte
// for byte, one run after the other.
func TestSameAnswers(t *testing.T) {
	w := work(t)
	for _, x := range []struct {
		id   string
		args []string
		keep string
	}{
		{"ring/ring", []string{"check", "ring.yaml", "--format", "json"}, ""},
		{"ring/ring", []string{"run", "ring.yaml"}, ""},
		{"ring/broken_bytes", []string{"check", "broken_bytes.yaml", "--all"}, ""},
		{"ring/broken_parity", []string{"check", "broken_parity.yaml", "--format", "json", "--report", "sarif=out.sarif"}, "out.sarif"},
		{"ring/broken_count", []string{"replay", "broken_count.yaml", "--schedule", "earliest"}, ""},
		{"ring/broken_bytes", []string{"view", "broken_bytes.yaml", "--html", "page.html"}, "page.html"},
		{"found/broken_mma_stores", []string{"check", "broken_mma_stores.yaml", "--format", "json"}, ""},
		{"race-launches/wrong", []string{"check", "launch.yaml", "--format", "json"}, ""},
		{"barrier/two_debts", []string{"barrier", "two_debts.txt"}, ""},
		{"proxy-raw/wrong", []string{"fmt", "wrong.ptx"}, ""},
		{"proxy-raw/wrong", []string{"init", "wrong.ptx"}, ""},
		{"proxy-raw/wrong", []string{"check", "none.yaml"}, ""},
		{"proxy-raw/wrong", []string{"explain", "proxy-raw"}, ""},
		{"proxy-raw/wrong", []string{"reduce", "launch.yaml", "--finding", "proxy-raw"}, ""},
		{"proxy-raw/wrong", []string{"mutate", "launch.yaml", "--list"}, ""},
	} {
		i := item(t, x.id)
		last, out, errs := w.run(i.Files, []string{x.keep}, x.args...)
		errs = underWay.ReplaceAllString(errs, "")
		status, wantOut, wantErrs := native(t, i, x.args...)
		if last.Exit == nil || *last.Exit != status || out != wantOut || errs != wantErrs {
			t.Errorf("%s: on this machine exit %d, here %s: %s", x.args, status, said(last), firstDifference(wantOut+wantErrs, out+errs))
		}
		if x.keep != "" && last.Files[x.keep] == "" {
			t.Errorf("%s: no %s", x.args, x.keep)
		}
	}
}

// said is how a run ended.
func said(m message) string {
	if m.Exit == nil {
		return m.Crash
	}
	return fmt.Sprintf("exit %d", *m.Exit)
}

// firstDifference is where two texts part.
func firstDifference(want, got string) string {
	w, g := strings.SplitAfter(want, "\n"), strings.SplitAfter(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("line %d: want %q, got %q", i+1, w[i], g[i])
		}
	}
	return fmt.Sprintf("want %d lines, got %d", len(w), len(g))
}

// TestLeftOut: what needs a system says so in one line, and no help lists it.
func TestLeftOut(t *testing.T) {
	w := work(t)
	_, help, _ := w.run(nil, nil, "--help")
	for _, c := range []string{"capture", "import", "lsp", "mcp", "docs"} {
		for _, args := range [][]string{{c}, {c, "--help"}, {c, "x", "--y"}} {
			last, out, errs := w.run(nil, nil, args...)
			if last.Exit == nil || *last.Exit != 2 || out != "" || !strings.HasPrefix(errs, "muster: "+c+" is not in a browser: ") || strings.Count(errs, "\n") != 1 {
				t.Errorf("%s: %s\n%s%s", args, said(last), out, errs)
			}
		}
		if strings.Contains(help, "  "+c+" ") {
			t.Errorf("the help lists %s", c)
		}
	}
	files := map[string]File{"k.cu": File("__global__ void k() {}\n")}
	for want, args := range map[string][]string{
		"muster: k.cu: a browser has no nvcc: where it is type nvcc -ptx -lineinfo -arch=sm_90a k.cu, and name k.ptx here\n": {"check", "k.cu", "--grid", "1", "--block", "32"},
		"muster: a browser has no server for the page: write it with --html FILE\n":                                          {"view", "k.yaml"},
	} {
		if last, out, errs := w.run(files, nil, args...); last.Exit == nil || *last.Exit != 2 || out != "" || errs != want {
			t.Errorf("%s: %s\n%s%s", args, said(last), out, errs)
		}
	}
}

// endless is a launch whose check takes as long as it may.
var endless = map[string]File{
	"k.yaml": File("ptx: k.ptx\ngrid: 1\nblock: 32\nargs: []\n"),
	"k.ptx": File(`.version 8.6
.target sm_90a
.address_size 64

.visible .entry k()
{
	.reg .pred %p1;
	.reg .b64 %rd<2>;
	mov.u64 %rd1, 0;
LOOP:
	add.s64 %rd1, %rd1, 1;
	setp.ne.s64 %p1, %rd1, -1;
	@%p1 bra LOOP;
	ret;
}
`),
}

// TestProgressAndStop: lines of progress come while a run goes on, and the end of the worker
// ends it; the next worker works.
func TestProgressAndStop(t *testing.T) {
	w := work(t)
	w.begin(endless, nil, "check", "k.yaml", "--limit-instrs", "1000000000000", "--limit-time", "10m")
	for range 2 {
		if m := w.next(); m.Stream != "stderr" || !strings.HasPrefix(m.Text, "muster: ") || !strings.Contains(m.Text, " of 10m: ") {
			t.Fatalf("no line of progress: %+v", m)
		}
	}
	w.post(map[string]any{"terminate": true})
	for {
		m := w.next()
		if m.Terminated {
			break
		}
		if m.Stream == "" {
			t.Fatalf("the run ended by itself: %+v", m)
		}
	}
	if last, out, _ := w.run(nil, nil, "version"); last.Exit == nil || *last.Exit != 0 || !strings.HasPrefix(out, "muster ") {
		t.Errorf("the worker after it: %+v\n%s", last, out)
	}
}

// TestWorkerLimits: limits of time and memory end a run with an answer, exit status 3.
func TestWorkerLimits(t *testing.T) {
	w := work(t)
	begun := time.Now()
	last, out, errs := w.run(endless, nil, "check", "k.yaml", "--limit-instrs", "1000000000000", "--limit-time", "1s")
	if last.Exit == nil || *last.Exit != 3 || !strings.Contains(out, "the time limit of 1s ran out (--limit-time)") {
		t.Errorf("after %v: %s\n%s%s", time.Since(begun), said(last), out, errs)
	}
	large := map[string]File{"k.ptx": endless["k.ptx"], "k.yaml": File("ptx: k.ptx\ngrid: 1\nblock: 32\nbuffers:\n  a: {type: u8, shape: [1000000000]}\n  b: {type: u8, shape: [1000000000]}\n  c: {type: u8, shape: [1000000000]}\nargs: []\n")}
	last, out, errs = w.run(large, nil, "check", "k.yaml", "--limit-instrs", "1000")
	if last.Exit == nil || *last.Exit == 0 || !strings.Contains(errs, "the memory limit is 2 GiB\n") {
		t.Errorf("buffers of 3 GB: %s\n%s%s", said(last), out, errs)
	}
}

// TestBroken: what breaks the program is one line, and the worker goes on.
func TestBroken(t *testing.T) {
	w := work(t)
	last, _, _ := w.run(nil, nil, "explain", strings.Repeat("x", 20000))
	if !strings.HasPrefix(last.Crash, "muster: the program broke: total length of command line") {
		t.Errorf("a command line of 20,000 bytes: %+v", last)
	}
	last, _, errs := w.run(map[string]File{"a/../../b": File("x")}, nil, "explain")
	if last.Exit == nil || *last.Exit != 0 {
		t.Errorf("a file above the folder: %+v %s", last, errs)
	}
	if last, _, _ := w.run(map[string]File{"a": File("x"), "a/b": File("y")}, nil, "explain"); last.Crash == "" || strings.Contains(last.Crash, "\n") {
		t.Errorf("a file that is a folder: %+v", last)
	}
	if last, out, _ := w.run(nil, nil, "version"); last.Exit == nil || *last.Exit != 0 || out == "" {
		t.Errorf("the run after it: %+v", last)
	}
}

// TestMemoryEnds: where the engine has no more memory for the program, that is one line.
func TestMemoryEnds(t *testing.T) {
	w := work(t, "--wasm-max-mem-pages=1000")
	files := map[string]File{"k.ptx": endless["k.ptx"], "k.yaml": File("ptx: k.ptx\ngrid: 1\nblock: 32\nbuffers:\n  a: {type: u32, shape: [100000000], fill: iota}\nargs: []\n")}
	last, out, errs := w.run(files, nil, "run", "k.yaml", "--limit-instrs", "1000")
	if !strings.HasPrefix(last.Crash, "muster: the browser's memory ran out (") || strings.Contains(last.Crash, "\n") {
		t.Errorf("%+v\n%s%s", last, out, errs)
	}
}

// TestKept: only the files that are asked for come back, whole.
func TestKept(t *testing.T) {
	w := work(t)
	i := item(t, "ring/broken_bytes")
	last, _, errs := w.run(i.Files, []string{"x/y.txt", "none", "broken_bytes.ptx"}, "check", i.Launch, "--report", "text=x/y.txt")
	if last.Exit == nil || *last.Exit == 1 || last.Files["x/y.txt"] != "" {
		t.Errorf("a report into a folder that is not there: %+v %s", last, errs)
	}
	same, err := base64.StdEncoding.DecodeString(last.Files["broken_bytes.ptx"])
	if err != nil || string(same) != string(i.Files["broken_bytes.ptx"]) || len(last.Files) != 1 {
		t.Errorf("%v: kept %d files, and %d bytes of the PTX", err, len(last.Files), len(same))
	}
}

// TestFiles holds files.js to the file system of Node.
func TestFiles(t *testing.T) {
	driver, err := filepath.Abs("testdata/files_test.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range 5 {
		out, err := nodeCommand(t, driver, site(t), t.TempDir(), fmt.Sprint(seed), ".")
		if err != nil || !strings.HasSuffix(out, " calls\n") {
			t.Errorf("seed %d: %v\n%s", seed, err, out)
		}
	}
}
