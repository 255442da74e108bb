package campaign

import (
	"flag"
	"os"
	"strings"
	"testing"

	"muster/ptx"
)

var matrixFile = flag.String("matrix", "testdata/matrix.gz", "golden data of the matrix instructions")

// TestReplayMatrix runs every case of the matrix instructions and compares it with
// the card, and holds the cases to the instruction table.
func TestReplayMatrix(t *testing.T) {
	cases := MatrixCases()
	Full = *full
	f, err := os.Open(*matrixFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	card, recs, err := ReadGolden(f, cases)
	if err != nil {
		t.Fatal(err)
	}
	rows, texts := map[string]int{}, map[string]bool{}
	worst := new(worstErrors)
	bad := 0
	for i := range cases {
		if i%10 != 0 && testing.Short() {
			continue
		}
		c := &cases[i]
		rec := recs[c.Name]
		wrong := "is not in the golden data: make it anew"
		switch {
		case rec == nil:
		case rec.Refused+rec.Failed != "":
			wrong = "did not run on the card: " + rec.Refused + rec.Failed
		default:
			wrong = check(c, rec, worst)
		}
		if wrong == "" {
			rows[c.Form]++
			texts[c.Text] = true
			continue
		}
		if bad++; bad <= 10 {
			t.Errorf("%s: %s: %s", c.Name, c.Text, wrong)
		}
	}
	t.Logf("%s", card)
	t.Logf("%d cases of %d forms with %d fragments each, %d differ", len(cases), len(texts), wholeWarps, bad)
	if len(cases) < 1200 || len(recs) != len(cases) {
		t.Errorf("%d cases, %d in the golden data", len(cases), len(recs))
	}
	for _, f := range ptx.Forms() {
		if f.Class != "matrix" || f.SM.Number > 90 || assembler.Before(f.Version) || strings.HasPrefix(f.Op, "w") {
			continue // internal/machine has what an H100 answered about wmma; wgmma has a campaign of its own
		}
		if rows[f.Name] == 0 {
			t.Errorf("row %s has no case", f.Name)
		}
		t.Logf("%s: %d cases", f.Name, rows[f.Name])
	}
}
