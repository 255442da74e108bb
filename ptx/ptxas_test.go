package ptx_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"muster/ptx"
)

// TestPtxas compares the table with NVIDIA's assembler: what ptxas accepts
// matches a row, what it refuses matches none. The lines of testdata/ptxas.txt
// were made from the table: pairs of modifiers, every type, and modifiers
// out of order. The file marks differences, with the reason; a difference that
// has disappeared must be removed from it.
func TestPtxas(t *testing.T) {
	file, err := os.Open("testdata/ptxas.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	count := map[string]int{}
	sc := bufio.NewScanner(file)
	for sc.Scan() {
		verdict, rest, _ := strings.Cut(sc.Text(), " ")
		if verdict == "#" {
			continue
		}
		count[verdict]++
		text, why, _ := strings.Cut(rest, " # ")
		in := body(t, text)[0].(*ptx.Inst)
		if v, _ := in.Asks(); verdict == "-" && (ptx.Version{Major: 9}).Before(v) {
			continue // which it cannot know
		}
		matches := in.Form != nil
		taken := verdict == "+" || why == "ptxas takes it"
		if agree := matches == taken; agree != (verdict != "!") {
			t.Errorf("%s (%s): matches a row: %v; %s", text, verdict, matches, ptx.Explain(in))
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	if count["+"] < 5000 || count["-"] < 5000 {
		t.Errorf("only %v lines", count)
	}
}
