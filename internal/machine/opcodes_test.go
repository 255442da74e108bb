package machine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/ptx"
)

// decoderFiles are the files of this package that decode and execute instructions. They and
// the instruction table name opcodes; all other files ask the effect of an instruction.
var decoderFiles = []string{
	"alu.go", "alu_carry.go", "alu_cvt.go", "alu_cvt_small.go", "alu_float.go", "alu_int.go", "alu_logic.go", "alu_mov.go", "alu_packed.go", "alu_pred.go",
	"alu_rows.go", "alu_special.go", "alu_video.go", "async.go", "atom.go", "barrier.go", "bulk.go", "call.go", "collective.go", "collector.go",
	"control.go", "decode.go", "fence.go", "layout.go", "matrix.go", "matrix_memory.go", "mbar.go", "memory.go", "modifiers.go",
	"launchcontrol.go", "operands.go", "tcgen05.go", "tcgen05_commit.go", "tcgen05_mma.go", "tcgen05_reduce.go", "tcgen05_shift.go", "tensorcopy.go", "tensormap.go", "tensormem.go", "wgmma.go",
}

// analysisPackages are the other packages whose files ask what instructions do. (Package
// mutate edits text, and names the opcodes that it edits.)
var analysisPackages = []string{"flow", "rules", "confluence", "outcome", "loops", "order", "explore", "story",
	"redundant", "lanes", "shards", "predict", "prove", "undefined", "patience", "trial", "evidence", "anycount"}

const inText = "chooses words of a text that people read; it decides nothing"

// namesOpcodes lists the files that may name opcodes.
var namesOpcodes = []struct{ file, opcodes, why string }{
	{"machine/coverage.go", "call", "completes the examples of rows, which leave operands open"},
	{"flow/operation.go", "atom", "Operation gives all updates of a kind this name; it compares it with nothing"},
	{"flow/ticket_words.go", "bfind brev clz popc shfl", "knows the instructions by which a group of lanes counts its members; with others it is not followed"},
	{"machine/stride_op.go", "add and bfe cvt cvta div mad max min mov mul neg not or rem selp shl shr sub xor",
		"computes how strides go through the arithmetic of each; an opcode that it does not name loses them"},
	{"machine/transfer.go", "add and bfe bfi brev cvt fma lop3 mad max min mov mul neg not or prmt selp setp shf shl shr sub xor",
		"computes which bits the arithmetic of each leaves undefined; an opcode that it does not name leaves all of them"},
	{"rules/apart.go", "bar.warp.sync", inText},
	{"rules/in_flight.go", "cp.async.bulk.commit_group cp.async.bulk.wait_group cp.async.bulk.wait_group.read cp.async.commit_group cp.async.wait_group " +
		"wgmma.commit_group wgmma.wait_group", inText},
	{"rules/lifetime.go", "atom cp.async cp.async.bulk cp.async.mbarrier cp.reduce ld mbarrier.arrive mbarrier.complete_tx mbarrier.expect_tx " +
		"mbarrier.init mbarrier.inval mbarrier.pending_count mbarrier.test_wait mbarrier.try_wait red red.async st st.async tcgen05.commit", inText},
	{"rules/races.go", "cp.async cp.async.bulk cp.async.bulk.tensor cp.async.mbarrier.arrive cp.reduce.async.bulk mbarrier. red.async " +
		"st.async tcgen05.cp tcgen05.ld tcgen05.mma tcgen05.shift tcgen05.st wgmma wgmma.mma_async wgmma.wait_group", inText},
	{"rules/relaxed_sync.go", "atom ld red st", inText},
	{"rules/trap.go", "trap", "the name of a finding"},
	{"story/event.go", "exit", inText},
	{"story/tell.go", "cp.async red.async st.async tcgen05.cp tcgen05.ld tcgen05.mma tcgen05.shift tcgen05.st trap wgmma", inText},
	{"machine/undefined_run.go", "shfl vote", "computes which bits an exchange leaves undefined, by what it computes"},
}

// TestAnalysisNamesNoOpcodes fails on a file of the analysis with an opcode of the
// instruction table as a string, alone or with modifiers behind it.
func TestAnalysisNamesNoOpcodes(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range decoderFiles {
		if !slices.Contains(files, f) {
			t.Errorf("%s is listed as a decoder and is no file", f)
		}
	}
	var analysis []string
	for _, f := range files {
		if !slices.Contains(decoderFiles, f) {
			analysis = append(analysis, "../machine/"+f)
		}
	}
	for _, p := range analysisPackages {
		list, err := filepath.Glob("../" + p + "/*.go")
		if err != nil || len(list) == 0 {
			t.Fatalf("no files in %s: %v", p, err)
		}
		analysis = append(analysis, list...)
	}
	found := map[[2]string]token.Position{}
	for _, path := range analysis {
		if !strings.HasSuffix(path, "_test.go") {
			findOpcodes(t, path, found)
		}
	}
	for _, l := range namesOpcodes {
		for _, op := range strings.Fields(l.opcodes) {
			k := [2]string{l.file, op}
			if _, ok := found[k]; !ok {
				t.Errorf("%s is listed for %s and does not name it", l.file, op)
			}
			delete(found, k)
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(found), func(a, b [2]string) int { return strings.Compare(a[0]+a[1], b[0]+b[1]) }) {
		t.Errorf("%v names the opcode %q: ask the effect of the instruction (ptx.Effect), or list it in namesOpcodes with the reason", found[k], k[1])
	}
}

func findOpcodes(t *testing.T, path string, found map[[2]string]token.Position) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		s, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		op, _, _ := strings.Cut(s, ".")
		if isOpcode[op] && !strings.Contains(s, " ") {
			found[[2]string{strings.TrimPrefix(filepath.ToSlash(path), "../"), s}] = set.Position(lit.Pos())
		}
		return true
	})
}

var isOpcode = func() map[string]bool {
	m := map[string]bool{}
	for _, f := range ptx.Forms() {
		m[f.Op] = true
	}
	return m
}()
