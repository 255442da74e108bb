package script

import (
	"fmt"
	"slices"
	"strings"
)

// A difference is an output that is not the expected one.
type difference struct {
	line  int // of the expected output
	lines []string
	want  []string
	got   []string
}

// Diff shows every output that differs from the expected one; it is empty if none does.
func (r *Result) Diff(file string) string {
	var b strings.Builder
	for _, d := range r.diffs {
		fmt.Fprintf(&b, "%s:%d: output differs\n", file, d.line)
		for _, l := range d.lines {
			b.WriteString("  " + l + "\n")
		}
		for _, l := range compare(d.want, d.got) {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// compare marks lines only in want with -, lines only in got with +.
func compare(want, got []string) []string {
	n, m := len(want), len(got)
	if n*m > 1<<20 { // too much for a table
		return slices.Concat(mark("- ", want), mark("+ ", got))
	}
	common := make([][]int, n+1) // longest common subsequence of the suffixes
	for i := range common {
		common[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if want[i] == got[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []string
	for i, j := 0, 0; i < n || j < m; {
		switch {
		case i < n && j < m && want[i] == got[j]:
			out = append(out, "  "+want[i])
			i, j = i+1, j+1
		case j == m || i < n && common[i+1][j] >= common[i][j+1]:
			out = append(out, "- "+want[i])
			i++
		default:
			out = append(out, "+ "+got[j])
			j++
		}
	}
	return out
}

func mark(sign string, lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = sign + l
	}
	return out
}
