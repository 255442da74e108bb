package answer

import (
	"fmt"
	"io"
	"strings"

	"muster"
	"muster/internal/diag"
)

// WriteReduced says what became smaller, line by line.
func WriteReduced(w io.Writer, r *muster.Reduced) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.ID)
	for _, line := range r.Changes {
		fmt.Fprintln(&b, "  "+line)
	}
	if len(r.Changes) == 0 {
		fmt.Fprintln(&b, "  the launch stays as it is")
	}
	from, to := r.Shrunk.From, r.Shrunk.Size
	if to.Steps > 0 {
		fmt.Fprintf(&b, "  schedule: switches %d to %d, steps %d to %d\n", from.Switches, to.Switches, from.Steps, to.Steps)
	}
	if !r.All {
		fmt.Fprintf(&b, "  the budget ran out after %s; there may be a smaller launch\n", diag.Plural(r.Runs, "run"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
