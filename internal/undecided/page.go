package undecided

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Overview begins the page and 'muster explain incomplete'.
const Overview = `incomplete says that Muster cannot speak for every schedule of the launch. It is no
finding, and no all-clear: nothing wrong was seen in what was covered, and the report
names what was not. The exit status is 3. A report with an error has the verdict
findings, whatever is open besides.

A verdict comes about in two steps. One run is watched, and if all conditions C0 to C10
hold in it, every schedule does the same, and the verdict is clean for all of them. Where
a condition fails, nothing is wrong yet: one run does not decide. Then one schedule of
each kind is explored, within a budget. If none is left over, the verdict is clean or
findings for all schedules, too; incomplete if the budget ran out before, or
something could not be looked at. A line "unproven" names the condition that failed and
its place, a line "incomplete:" what was not looked at.`

// Page returns docs/incomplete.md. Findings are the names of the kinds of findings, which it
// marks.
func Page(findings []string) []byte {
	findings = slices.DeleteFunc(slices.Clone(findings), func(name string) bool { return !strings.Contains(name, "-") }) // not words as trap
	kinds := regexp.MustCompile(`\b(` + strings.Join(findings, "|") + `)\b`)
	markdown := func(text string) string { return markdown(text, kinds) }
	var b strings.Builder
	fmt.Fprintf(&b, "# What `incomplete` means\n\n%s\n", markdown(Overview))
	b.WriteString("\n`muster explain incomplete` prints the first part of this page, `muster explain C1` the part on a condition.\n")
	b.WriteString("\n## The causes\n\n")
	for _, c := range Causes {
		fmt.Fprintf(&b, "- [%s](#%s)\n", c.Title, anchor(c.Title))
	}
	for _, c := range Causes {
		fmt.Fprintf(&b, "\n### %s\n\n```\n%s\n```\n\n%s\n", upper(c.Title), c.Shown, markdown(c.Text))
	}
	b.WriteString("\n## The conditions of a proof\n\n[schedules.md](schedules.md) has the argument why they are enough. Here is what each means for a kernel. The check of each example is made with `--schedules 1`, which leaves the exploration out; what it says with exploration comes second.\n\n")
	for _, c := range Conditions {
		fmt.Fprintf(&b, "- [%s](#%s): %s\n", c.Name, strings.ToLower(c.Name), c.Title)
	}
	for i := range Conditions {
		Conditions[i].section(&b, markdown)
	}
	return []byte(b.String())
}

func (c *Condition) section(b *strings.Builder, markdown func(string) string) {
	e := c.Example()
	fmt.Fprintf(b, "\n### %s\n\n*%s.* %s\n\n%s\n", c.Name, upper(c.Title), markdown(c.Text), markdown(e.About))
	fmt.Fprintf(b, "\n```ptx\n%s```\n\n`muster check fails.ptx %s`\n\n```\n%s```\n\nWith exploration:\n\n```\n%s```\n", e.Fails, e.Launch, e.First, e.Then)
	switch {
	case e.Fails != e.Holds:
		fmt.Fprintf(b, "\nMended, and proven by one run:\n\n```diff\n%s```\n", Diff(e.Fails, e.Holds))
	default:
		fmt.Fprintf(b, "\nProven by one run: `muster check fails.ptx %s`.\n", e.LaunchHolds)
	}
}

// Diff lists the lines of two kernels, those of one of them alone with - and +.
func Diff(a, b string) string {
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	// length[i][j] is how many lines x[i:] and y[j:] have in common, in order.
	length := make([][]int, len(x)+1)
	for i := range length {
		length[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if length[i][j] = max(length[i+1][j], length[i][j+1]); x[i] == y[j] {
				length[i][j] = 1 + length[i+1][j+1]
			}
		}
	}
	var lines []string
	for i, j := 0, 0; i < len(x) || j < len(y); {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j]:
			lines = append(lines, " "+x[i])
			i, j = i+1, j+1
		case j == len(y) || i < len(x) && length[i+1][j] >= length[i][j+1]:
			lines = append(lines, "-"+x[i])
			i++
		default:
			lines = append(lines, "+"+y[j])
			j++
		}
	}
	return strings.Join(near(lines), "")
}

// near keeps the changed lines and two on each side.
func near(lines []string) []string {
	const around = 2
	var kept []string
	for i, l := range lines {
		for k := max(0, i-around); k <= min(len(lines)-1, i+around); k++ {
			if lines[k][0] != ' ' {
				if strings.TrimSpace(l) != "" {
					kept = append(kept, l)
				}
				break
			}
		}
	}
	return kept
}

var (
	quoted  = regexp.MustCompile(`'(muster [^']*)'`)
	flagged = regexp.MustCompile(`(^|[\s(])(--[a-z]+(?:-[a-z]+)*(?: (?:\d+|[A-Z]+|\d+h)\b)*)`)
	coded   = regexp.MustCompile(`\b((?:mbarrier|bar|cp|tcgen05|fence|ld|setmaxnreg)\.[a-z_0-9.]+[a-z_0-9]|expect_tx|activemask|elect\.sync|relinquish_alloc_permit|cooperative: true|co-resident|preferred-cluster)`)
	linked  = regexp.MustCompile(`docs/([a-z-]+\.md)`)
)

// markdown makes a paragraph of each block of lines, and marks what is code.
func markdown(text string, kinds *regexp.Regexp) string {
	var paragraphs []string
	for p := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		p = strings.Join(strings.Fields(p), " ")
		p = quoted.ReplaceAllString(p, "`$1`")
		p = flagged.ReplaceAllString(p, "$1`$2`")
		p = coded.ReplaceAllString(p, "`$1`")
		p = kinds.ReplaceAllString(p, "`$1`")
		p = linked.ReplaceAllString(p, "[$1]($1)")
		paragraphs = append(paragraphs, p)
	}
	return strings.Join(paragraphs, "\n\n")
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// anchor is the name that GitHub gives a heading.
func anchor(title string) string {
	return strings.NewReplacer(" ", "-", ",", "").Replace(strings.ToLower(title))
}
