package campaign

import (
	"slices"
	"strings"
	"testing"

	"muster/ptx"
)

// TestList holds the campaign to the instruction table: every row has a case that ran
// on the card, or a reason why not, such as a line of testdata/pending.txt. With -v it
// prints the account.
func TestList(t *testing.T) {
	cases := Cases()
	card, recs := golden(t, cases)
	pending := Pending()
	var ran, refused, values int
	rows := map[string][2]int{} // by row: cases that ran, cases refused
	refusals := map[string][]string{}
	for i := range cases {
		c := &cases[i]
		rec, n := recs[c.Name], rows[c.Form]
		switch {
		case rec == nil && ptx.LookupForm(c.Form).SM.Number > 90:
			continue // a row newer than the golden data, that sm_90a does not have
		case rec == nil && pending[c.Form] != "":
			continue
		case rec == nil:
			t.Errorf("%s (%s) is not in the golden data: make it anew, or list the row as pending", c.Name, c.Text)
			continue
		case rec.Refused != "":
			refused++
			n[1]++
			if why := c.Form + ": " + rec.Refused; !slices.Contains(refusals[c.Form], why) {
				refusals[c.Form] = append(refusals[c.Form], why)
			}
		default:
			ran++
			n[0]++
			values += threads * len(c.Out)
		}
		rows[c.Form] = n
	}
	t.Logf("%s", card)
	t.Logf("%d cases, %d ran on the card with %d threads each (%d results), %d refused by the assembler", len(cases), ran, threads, values, refused)
	if ran < 3000 {
		t.Errorf("only %d cases ran", ran)
	}
	reasons := map[string][]string{}
	covered := map[string]int{}
	for _, f := range ptx.Forms() {
		why := leftOut(f)
		switch n := rows[f.Name]; {
		case n[0] > 0:
			covered[f.Class]++
			if pending[f.Name] != "" {
				t.Errorf("row %s ran on the card: take it off testdata/pending.txt", f.Name)
			}
			continue
		case pending[f.Name] != "":
			why = "pending: " + pending[f.Name]
		case n[1] > 0:
			why = "refused by the assembler for sm_90a: " + strings.TrimPrefix(refusals[f.Name][0], f.Name+": ")
		case why == "" && f.SM.Number > 90:
			why = "for later architectures"
		case why == "":
			t.Errorf("row %s has no case and no reason", f.Name)
		}
		reasons[why] = append(reasons[why], f.Name)
	}
	for _, class := range sortedKeys(covered) {
		t.Logf("rows covered, %s: %d", class, covered[class])
	}
	for _, why := range sortedKeys(reasons) {
		t.Logf("left out, %s: %s", why, strings.Join(reasons[why], " "))
	}
	for _, what := range undetermined {
		t.Logf("left out of covered rows: %s", what)
	}
	for _, row := range sortedKeys(refusals) {
		if rows[row][0] > 0 {
			t.Logf("%d of %d combinations refused: %s", rows[row][1], rows[row][0]+rows[row][1], strings.Join(refusals[row], "; "))
		}
	}
}

// TestPending: each pending row is one of the table, and has a reason.
func TestPending(t *testing.T) {
	for row, why := range Pending() {
		if ptx.LookupForm(row) == nil || why == "" {
			t.Errorf("testdata/pending.txt: %q %q: want a row of the table and a reason", row, why)
		}
	}
	rows := parsePending("# a remark\n\nadd.int no card at hand\nsub.int\n")
	if len(rows) != 2 || rows["add.int"] != "no card at hand" || rows["sub.int"] != "" {
		t.Errorf("%q", rows)
	}
}
