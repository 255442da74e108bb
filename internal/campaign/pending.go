package campaign

import (
	_ "embed"
	"strings"
)

// pendingRows lists rows that no card has run: the golden data lacks their cases.
//
//go:embed testdata/pending.txt
var pendingRows string

// Pending returns the rows of the instruction table whose cases the golden data need not
// have yet, each with the reason. TestList wants a row off the list once it has them.
func Pending() map[string]string { return parsePending(pendingRows) }

func parsePending(text string) map[string]string {
	rows := map[string]string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		row, why, _ := strings.Cut(line, " ")
		rows[row] = strings.TrimSpace(why)
	}
	return rows
}
