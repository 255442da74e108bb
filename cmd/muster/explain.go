package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"muster/internal/rules"
	"muster/internal/tensor"
	"muster/internal/undecided"
	"muster/launch"
)

func explainCommand(c *console) *cobra.Command {
	schema := false
	cmd := &cobra.Command{
		Use:   "explain [KIND | incomplete | C0…C10 | launch | sums]",
		Short: "Tell what a finding means, with a wrong and a right kernel",
		Long: `Explain prints what a kind of finding is, why it is wrong and who says so, how
to mend it, and two kernels in PTX: one that has the defect, and the same one
mended. Without a name it lists all kinds, with a part of one those that have it. 'explain incomplete' says what makes a
verdict incomplete and what to do about it, 'explain C1' what a condition of a proof
means, with a kernel for which it fails. 'explain launch' prints the reference of
launch files, with --schema as a JSON Schema, by which editors complete. 'explain
sums' says how the tensor cores of each architecture add, and what that rests on.`,
		Example: "  muster explain\n  muster explain proxy-raw\n  muster explain C9\n  muster explain launch --schema > launch.schema.json",
		Args:    atMost(1, "one name"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			names := []string{launchTopic + "\tThe form of launch files", sumsTopic + "\tHow tensor cores add", incompleteTopic + "\tWhat makes a verdict incomplete"}
			for _, k := range undecided.Conditions {
				names = append(names, k.Name+"\t"+k.Title)
			}
			for _, k := range rules.Kinds() {
				names = append(names, k.Name+"\t"+k.Title)
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case schema && (len(args) == 0 || args[0] != launchTopic):
				return errors.New("--schema goes with 'muster explain launch'")
			case len(args) == 0:
				c.listKinds()
				return nil
			case schema:
				_, err := c.out.Write(launch.Schema())
				return err
			case args[0] == launchTopic:
				_, err := io.WriteString(c.out, launch.Reference())
				return err
			}
			if args[0] == sumsTopic {
				_, err := io.WriteString(c.out, sumsText+tensor.Table())
				return err
			}
			if args[0] == incompleteTopic {
				c.explainIncomplete()
				return nil
			}
			if k := undecided.Lookup(args[0]); k != nil {
				c.explainCondition(k)
				return nil
			}
			return c.explainLike(args[0])
		},
	}
	cmd.Flags().BoolVar(&schema, "schema", false, "of launch files: a JSON Schema")
	return cmd
}

// What 'muster explain' knows besides kinds.
const (
	launchTopic = "launch"
	sumsTopic   = "sums"
)

const sumsText = `sums: how tensor cores add

An instruction adds C and all products of a step as one sum. Each summand is exact; it is
cut, towards zero, to F fraction bits below the largest exponent of the step. An f32
result keeps KEPT bits of fraction, cut towards zero; an f16 result is rounded to nearest.
It is the C of the next step. STEP is how many products are in one: all of an
instruction's, or so many of them. "2 of 4" is fp8 that is widened to f16: elements 0 and
1 of each four make a step, 2 and 3 the next, and C is added at the end.

BASIS says what the row rests on:

  measured  results of cards equal it, bit for bit
  modelled  a published model that its authors held to the card says so (MMA-Sim); for
            tcgen05.mma there are no published vectors of a card
  assumed   no model covers it; its neighbours do

Of tcgen05.mma these are assumed besides: that a pair of CTAs, and .ws, add as one CTA does,
that scale-input-d multiplies C before it is aligned, and that a sparse A adds what its stored
elements meet as a dense one does. Integers (kind i8) are summed exactly, and clamped once
or not at all.

Block scales: kind mxf8f6f4 adds as above, F = 25, with the exponents of the two scale
factors added to each product's. Of kinds mxf4 and mxf4nvf4, sums of 16 products are exact;
each is multiplied by the fractions of its factors, counts with the sum of their exponents,
and is cut at F = 35. Both are modelled for e4m3, e5m2, and e2m1 in 4 bits with K of 64; for
e2m3, e3m2 and e2m1 in bytes, and for K of 96, they are assumed.

`

// condition is what a condition of a proof is called.
var condition = regexp.MustCompile(`^[cC][0-9]+$`)

// explainLike explains the kind that a word names, or lists the kinds that it may mean.
func (c *console) explainLike(word string) error {
	switch list := kindsLike(word); len(list) {
	case 0:
		if condition.MatchString(word) {
			var names []string
			for _, k := range undecided.Conditions {
				names = append(names, k.Name)
			}
			return fmt.Errorf("no condition of a proof is called %q; there are %s", brief(word), strings.Join(names, ", "))
		}
		return unknownKind(word, launchTopic, sumsTopic, incompleteTopic)
	case 1:
		c.explain(list[0])
	default:
		c.list(list)
	}
	return nil
}

func (c *console) listKinds() { c.list(rules.Kinds()) }

func (c *console) list(kinds []*rules.Kind) {
	for _, s := range []rules.Severity{rules.Error, rules.Warning, rules.Note} {
		for _, k := range kinds {
			if k.Severity == s {
				fmt.Fprintf(c.out, "%-8s %-24s %s\n", k.Severity, k.Name, k.Title)
			}
		}
	}
}

func (c *console) explain(k *rules.Kind) {
	fmt.Fprintf(c.out, "%s (%s): %s\nPTX ISA (version %s) %s\n\n%s\n", k.Name, k.Severity, k.Title, k.Edition(), k.Section, strings.TrimSpace(k.Text))
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
