package main

import (
	"fmt"

	"muster/internal/diag"
	"muster/internal/undecided"
)

// incompleteTopic is what 'muster explain' calls the causes of an incomplete verdict.
const incompleteTopic = "incomplete"

// explainIncomplete prints what makes a verdict incomplete.
func (c *console) explainIncomplete() {
	fmt.Fprintf(c.out, "incomplete: not every schedule is decided\n\n%s\n\nThe conditions ('muster explain C1' tells about one):\n\n", undecided.Overview)
	for _, k := range undecided.Conditions {
		fmt.Fprintf(c.out, "  %-4s %s\n", k.Name, k.Title)
	}
	for _, k := range undecided.Causes {
		fmt.Fprintf(c.out, "\n%s\n\n", k.Title)
		for _, line := range diag.Wrap(k.Shown, 76, 74) {
			fmt.Fprintf(c.out, "    %s\n", line)
		}
		fmt.Fprintf(c.out, "\n%s\n", k.Text)
	}
}

// explainCondition prints a condition of a proof, with a kernel for which it fails.
func (c *console) explainCondition(k *undecided.Condition) {
	e := k.Example()
	fmt.Fprintf(c.out, "%s: %s\ndocs/schedules.md\n\n%s\n\n%s\n", k.Name, k.Title, k.Text, e.About)
	fmt.Fprintf(c.out, "\nFails:\n\n%s\nmuster check fails.ptx %s\n\n%s\nWith exploration:\n\n%s", indentText(e.Fails), e.Launch, indentText(e.First), indentText(e.Then))
	if e.Holds != e.Fails {
		fmt.Fprintf(c.out, "\nHolds, and one run decides:\n\n%s", indentText(e.Holds))
		return
	}
	fmt.Fprintf(c.out, "\nHolds, and one run decides: muster check fails.ptx %s\n", e.LaunchHolds)
}
