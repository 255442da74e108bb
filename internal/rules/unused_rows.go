package rules

import (
	"slices"

	"muster/internal/order"
)

// Races on rows of A, or of B, that a tcgen05.mma multiplies because its shape has them, and of
// which no result is used. Nothing of them can come to light, and shipped kernels have them
// (DeepGEMM with tiles of 32 and 64 rows): they are warnings.

// Rows says what a finding knows of the operands of a tcgen05.mma that it is about.
type Rows uint8

const (
	// SomeRows: not all of A race, nor all of B. The race is harmless if no result of those
	// that do is used.
	SomeRows Rows = iota + 1
	// UnusedRows: no result of them is used (Config.Unused).
	UnusedRows
	// UsedRows: a result of them is used, or may be, and a note says so.
	UsedRows
)

const unusedRows = "contested: the product has rows or columns that the tile has not, and what becomes of these bytes was followed: " +
	"it reaches no output, branch, address or operand of synchronization. Shipped kernels read such rows; if one of them were used, this would be an error"

// rows makes a race on rows of which no result is used a warning.
func (j *Judge) rows(c *order.Conflict, f *Finding) {
	switch {
	case c.Why&order.UnusedOperand != 0:
		f.Severity, f.Rows = Warning, UnusedRows
		f.Notes = append(f.Notes, unusedRows)
	case j.Order.InPart(c):
		f.Rows = SomeRows
	}
}

// onRows reports whether a conflict may be harmless for that reason: a run is not over with it.
func (j *Judge) onRows(c *order.Conflict) bool {
	return c.Why&order.UnusedOperand != 0 || j.Order.InPart(c)
}

// OnRowsAlone reports whether there are errors, and all may be harmless because no result of some
// rows is used.
func OnRowsAlone(fs []Finding) (some bool) {
	for i := range fs {
		if fs[i].Severity == Error {
			if some = true; fs[i].Rows != SomeRows {
				return false
			}
		}
	}
	return some
}

// HasUnusedRows reports whether a finding is a warning because no result of some rows is used.
func HasUnusedRows(fs []Finding) bool {
	for i := range fs {
		if fs[i].Rows == UnusedRows {
			return true
		}
	}
	return false
}

// RowsUsed makes errors of warnings about rows of which a result is used after all, and notes of
// errors where it goes, or why that was not followed.
func RowsUsed(fs []Finding, to string) {
	for i := range fs {
		f := &fs[i]
		if f.Rows == UnusedRows {
			f.Severity, f.Rows = Error, SomeRows
			f.Notes = slices.DeleteFunc(slices.Clone(f.Notes), func(n string) bool { return n == unusedRows })
		}
	}
	NoteRows(fs, to)
}

// NoteRows is RowsUsed for errors alone.
func NoteRows(fs []Finding, to string) {
	for i := range fs {
		if f := &fs[i]; f.Rows == SomeRows && f.Severity == Error {
			f.Rows = UsedRows
			f.Notes = append(slices.Clone(f.Notes), "such a race is harmless where no result of the rows that race is used; "+to)
		}
	}
}

// RowsOpen returns the gap of races of which nobody knows whether a result of their rows is used.
func RowsOpen(fs []Finding, why string) []Gap {
	for i := range fs {
		if f := &fs[i]; why != "" && f.Rows == UnusedRows {
			return []Gap{{What: "a race on rows of a product is harmless where no result of theirs is used; " + why, PC: f.Sites[len(f.Sites)-1].PC}}
		}
	}
	return nil
}
