package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"muster/internal/rules"
)

func explainCommand(c *console) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [KIND]",
		Short: "Tell what a finding means, with a wrong and a right kernel",
		Long: `Explain prints what a kind of finding is, why it is wrong and who says so, how
to mend it, and two kernels in PTX: one that has the defect, and the same one
mended. Without a name it lists all kinds.`,
		Example: "  muster explain\n  muster explain proxy-raw",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, k := range rules.Kinds() {
				names = append(names, k.Name+"\t"+k.Title)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				c.listKinds()
				return nil
			}
			k := rules.Lookup(args[0])
			if k == nil {
				return fmt.Errorf("no finding is called %q%s; 'muster explain' lists them", args[0], nearest(args[0]))
			}
			c.explain(k)
			return nil
		},
	}
}

func (c *console) listKinds() {
	for _, s := range []rules.Severity{rules.Error, rules.Warning, rules.Note} {
		for _, k := range rules.Kinds() {
			if k.Severity == s {
				fmt.Fprintf(c.out, "%-8s %-24s %s\n", k.Severity, k.Name, k.Title)
			}
		}
	}
}

func (c *console) explain(k *rules.Kind) {
	fmt.Fprintf(c.out, "%s (%s): %s\nPTX ISA %s\n\n%s\n", k.Name, k.Severity, k.Title, k.Section, strings.TrimSpace(k.Text))
	wrong, right := rules.Example(k.Name)
	for _, e := range []struct{ title, text string }{{"Wrong", wrong}, {"Right", right}} {
		if e.text != "" {
			fmt.Fprintf(c.out, "\n%s:\n\n%s", e.title, indentText(marks.ReplaceAllString(e.text, "// <- here")))
		}
	}
}

// marks are the expectations in examples, which tests read.
var marks = regexp.MustCompile(`// want: .*`)

func indentText(s string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.Trim(s, "\n") + "\n") {
		if strings.TrimSpace(line) != "" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// nearest suggests the kind with the longest common subsequence with name.
func nearest(name string) string {
	best, score := "", 0.6
	for _, k := range rules.Kinds() {
		if s := 2 * float64(common(name, k.Name)) / float64(len(name)+len(k.Name)); s > score {
			best, score = k.Name, s
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// common is the length of the longest common subsequence.
func common(a, b string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		diag := 0
		for j := range b {
			up := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diag + 1
			} else {
				row[j+1] = max(up, row[j])
			}
			diag = up
		}
	}
	return row[len(b)]
}
