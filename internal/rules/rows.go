package rules

import (
	"fmt"

	"muster/internal/order"
)

// Races on rows of A, or of B, that a tcgen05.mma multiplies because its shape has them, and of
// which no result is used. Nothing in them can come to light, and shipped kernels have them
// (DeepGEMM with tiles of 32 and 64 rows): they are warnings.

// rows makes a race on such rows a warning, and notes of one on a part of an operand that it may
// be harmless.
func (j *Judge) rows(c *order.Conflict, f *Finding) {
	switch {
	case c.Why&order.UnusedOperand != 0:
		f.Severity = Warning
		f.Notes = append(f.Notes, "contested: the product has more rows or columns than the tile, and what becomes of these bytes was followed: "+
			"it reaches no output, branch, address or operand of synchronization. Shipped kernels read such rows; if one of them were used, this were an error")
	case j.Order.InPart(c):
		f.Rows = true
	}
}

// mayBeHarmless reports whether a conflict is on such rows, or may be: then a proof's run is not
// over with it.
func (j *Judge) mayBeHarmless(c *order.Conflict) bool {
	return c.Why&order.UnusedOperand != 0 || j.MustOnly && j.Order.InPart(c)
}

// RowsUsed notes of a finding about rows of an operand where their results go, or why that was
// not followed.
func (f *Finding) RowsUsed(to string) {
	f.Notes = append(f.Notes, fmt.Sprintf("a race on rows that a product has and its tile has not is harmless where no result of theirs is used; %s", to))
}
