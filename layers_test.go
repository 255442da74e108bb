package muster_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// layers lists the packages from top to bottom. A package imports only
// packages that stand below it, and packages on one line not each other.
var layers = [][]string{
	{"muster/cmd/muster", "muster/internal/product/measure", "muster/internal/release", "muster/mbarrier/speed", "muster/internal/playground/build"},
	{"muster/internal/playground"},
	{"muster/internal/mcp"},
	{"muster/internal/mutate", "muster/internal/answer", "muster/internal/capture", "muster/internal/lsp"},
	{"muster"},
	{"muster/internal/view"},
	{"muster/internal/timeline"},
	{"muster/internal/campaign/gen", "muster/kernel/inst/gen", "muster/internal/mutate/table", "muster/internal/story", "muster/internal/alike", "muster/internal/tensor/vectors", "muster/internal/undecided/gen", "muster/internal/perfetto", "muster/internal/profile", "muster/internal/picture"},
	{"muster/internal/ops", "muster/launch/gen", "muster/report/gen", "muster/examples/kernels", "muster/examples/shapes", "muster/examples/blackwell"},
	{"muster/kernel/inst"},
	{"muster/kernel", "muster/internal/campaign"},
	{"muster/internal/tritonlog"},
	{"muster/internal/litmus", "muster/internal/script", "muster/internal/yaml", "muster/internal/entry", "muster/internal/skeleton", "muster/internal/fatbin"},
	{"muster/internal/shards", "muster/internal/anycount", "muster/internal/redundant", "muster/internal/executions", "muster/internal/masks"},
	{"muster/internal/evidence", "muster/internal/prove", "muster/internal/near"},
	{"muster/internal/predict", "muster/internal/undefined", "muster/internal/patience"},
	{"muster/internal/trial", "muster/internal/lanes"},
	{"muster/internal/resolve"},
	{"muster/internal/rules"},
	{"muster/internal/corpus"},
	{"muster/launch"},
	{"muster/internal/coherence"},
	{"muster/internal/explore", "muster/internal/loops", "muster/internal/outcome"},
	{"muster/internal/order", "muster/internal/confluence"},
	{"muster/internal/machine"},
	{"muster/internal/product"},
	{"muster/internal/flow", "muster/internal/tma", "muster/internal/tensor"},
	{"muster/internal/num"},
	{"muster/kernel/inst/internal/row", "muster/internal/axiom/flow"},
	{"muster/mbarrier/mbarriertest", "muster/examples/overlap", "muster/examples/stuck", "muster/internal/brute", "muster/internal/brute/lanes", "muster/internal/brute/launches", "muster/internal/axiom"},
	{"muster/report", "muster/internal/progress", "muster/internal/tensor/wmmacard"},
	{"muster/internal/files", "muster/internal/parallel", "muster/internal/garbage", "muster/internal/diag", "muster/internal/undecided", "muster/internal/view/page"},
	{"muster/ptx", "muster/mbarrier", "muster/mbarrier/internal/others"},
	{"muster/mbarrier/internal/history", "muster/mbarrier/internal/page"},
}

// commandParts are packages that commands alone import.
var commandParts = []string{"muster/internal/capture", "muster/internal/yaml", "muster/internal/fatbin", "muster/internal/mcp", "muster/internal/lsp", "muster/internal/perfetto"}

// commandOnly are the dependencies that commands and their parts have, and the library does
// not.
var commandOnly = []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/goccy/go-yaml", "golang.org/x/term", "github.com/klauspost/compress", "github.com/pierrec/lz4", "github.com/modelcontextprotocol/go-sdk", "github.com/google/jsonschema-go", "google.golang.org/protobuf"}

type pkg struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

// TestImportsPointDown holds every package to the layers, and the library to
// the standard library.
func TestImportsPointDown(t *testing.T) {
	level := map[string]int{}
	for i, l := range layers {
		for _, p := range l {
			level[p] = i
		}
	}
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Standard", "./...")
	out, err := cmd.Output()
	if err != nil {
		var ee *exec.ExitError
		if errors.As(err, &ee) {
			t.Fatalf("go list: %s", ee.Stderr)
		}
		t.Fatal(err)
	}
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	dec := json.NewDecoder(strings.NewReader(string(out)))
	seen := 0
	for {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		at, ok := level[p.ImportPath]
		if !ok {
			t.Errorf("%s stands in no layer: add it to the list in this test and in docs/architecture.md", p.ImportPath)
			continue
		}
		if name := strings.TrimPrefix(p.ImportPath, "muster/"); !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/architecture.md does not name %s", name)
		}
		for _, imp := range p.Imports {
			switch first, _, _ := strings.Cut(imp, "/"); {
			case first == "muster":
				if below, ok := level[imp]; ok && below <= at {
					t.Errorf("%s imports %s, which does not stand below it", p.ImportPath, imp)
				}
			case strings.Contains(first, "."):
				if at != 0 && !slices.Contains(commandParts, p.ImportPath) || !slices.ContainsFunc(commandOnly, func(m string) bool { return imp == m || strings.HasPrefix(imp, m+"/") }) {
					t.Errorf("%s imports %s: library packages import the standard library and nothing else", p.ImportPath, imp)
				}
			}
		}
	}
	if seen < 8 {
		t.Errorf("go list named %d packages", seen)
	}
}
