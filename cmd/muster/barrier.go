package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"muster/internal/files"
	"muster/internal/rules"
	"muster/internal/script"
)

func barrierCommand(c *console) *cobra.Command {
	var update, explain bool
	var picture pictureFlag
	cmd := &cobra.Command{
		Use:   "barrier SCRIPT",
		Short: "Play with an mbarrier: operations in, the word and its ledger out",
		Long: `Barrier runs a script of mbarrier operations by named actors and shows, after
each, the barrier's word as an H200 has it, and its ledger: the phase, the
arrivals and the bytes that are still owed, and who wakes. What goes wrong is
named in the words of 'muster explain'. '-' reads standard input.

  # Two debts: one arrival, and 1024 bytes.
  init full 1
  consumer: wait full parity 0
  producer: arrive.expect_tx full 1024
  copy a: 1024 bytes to full
  land a

The commands:

  init BAR COUNT                    arrive BAR [COUNT]      arrive_drop BAR [COUNT]
  inval BAR                         arrive.expect_tx BAR BYTES
  expect_tx BAR BYTES               arrive.noComplete BAR COUNT
  complete_tx BAR BYTES             (arrive_drop has these forms too)
  wait BAR parity P                 the actor waits; also 'wait BAR TOKEN', by a
                                    token kept with 'TOKEN = actor: arrive BAR',
                                    and 'wait BAR phase N', by the parity of N
  try BAR …, timeout ACTOR          one try_wait, and the end of its time
  test BAR …                        test_wait: true or false at once
  pending_count TOKEN
  copy NAME: BYTES bytes to BAR     a bulk copy, which lands when told: land NAME
  cp.async NAME: arrives on BAR [noinc]
  show BAR, new launch, end

The output is again a script, in which '----' and the output follow each
command. Such a script is its own test: run again, it is compared, differences
are shown, and --update rewrites it. The folder examples/barrier has some to
start from.

Exit status: 0 as expected (or nothing wrong, where nothing is expected), 1 the
output differs (or an error was found), 2 bad input.`,
		Example: "  muster barrier examples/barrier/two_debts.txt\n  echo 'init bar 2' | muster barrier -",
		Args:    exactly(1, "one script, or - for standard input"),
		RunE: func(_ *cobra.Command, args []string) error {
			return c.barrier(args[0], update, explain, picture)
		},
	}
	cmd.Flags().BoolVar(&update, "update", false, "write the script with the output that it has (to standard output for '-')")
	picture.register(cmd.Flags(), "the phases, what they are owed, waits and copies")
	cmd.Flags().BoolVar(&explain, "explain", false, "print the script as it runs, and what each finding means")
	return cmd
}

func (c *console) barrier(name string, update, explain bool, picture pictureFlag) error {
	src, err := readSource(c.in, name)
	if err != nil {
		return err
	}
	s, err := script.Parse(name, src)
	if err != nil {
		return c.scriptError(files.Instead(name, files.AsScript, src, err))
	}
	s.Moves = picture != ""
	res, err := s.Run()
	if err == nil {
		if err := picture.script(name, res); err != nil {
			return err
		}
	}
	switch {
	case err != nil:
		return c.scriptError(err)
	case update && name != "-":
		return files.WriteBytes(name, []byte(res.Text))
	case update:
		io.WriteString(c.out, res.Text)
		return nil
	case s.Checked() && !explain:
		if diff := res.Diff(name); diff != "" {
			io.WriteString(c.out, diff)
			return exit(exitFindings)
		}
		io.WriteString(c.out, res.Text)
		fmt.Fprintf(c.err, "%s: as expected\n", name)
		return nil
	}
	io.WriteString(c.out, res.Text)
	if explain {
		c.explainKinds(res.Kinds)
	}
	if len(res.Kinds) > 0 && !s.Checked() {
		return exit(exitFindings)
	}
	return nil
}

// explainKinds prints the catalogue's texts for the findings of a script.
func (c *console) explainKinds(names []string) {
	for _, name := range names {
		if k := rules.Lookup(name); k != nil {
			fmt.Fprintf(c.out, "\n%s (%s): %s\nPTX ISA (version %s) %s\n\n%s\n", k.Name, k.Severity, k.Title, k.Edition(), k.Section, strings.TrimSpace(k.Text))
		}
	}
}

// scriptError prints an error with the script line that it is about.
func (c *console) scriptError(err error) error {
	var e *script.Error
	if !errors.As(err, &e) {
		return err
	}
	printError(c.err, err)
	quote(c.err, e.File, e.Line, e.Col, widest)
	return exit(exitBadInput)
}
