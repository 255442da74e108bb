package tensor

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Table writes how the units of all architectures add, a line for each row: what 'muster
// explain sums' prints.
func Table() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "INSTRUCTION\tARCHITECTURES\tFORMATS\tF\tSTEP\tKEPT\tBASIS")
	for i := range sums {
		row := &sums[i]
		step := "all"
		if row.Step > 0 {
			step = fmt.Sprint(row.Step)
		}
		if row.Widened {
			step = "2 of 4"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%d\t%s\n", row.unitNames(), row.archNames(), row.operands, row.Bits, step, row.Keep, row.Basis)
	}
	w.Flush()
	return b.String()
}

func (row *sumRow) unitNames() string {
	var list []string
	for u := UnitMMA; u <= UnitTcgen05; u <<= 1 {
		if row.units&u != 0 {
			list = append(list, u.String())
		}
	}
	return strings.Join(list, ", ")
}

func (row *sumRow) archNames() string {
	var list []string
	for _, a := range row.archs {
		list = append(list, fmt.Sprintf("sm_%d", a))
	}
	return strings.Join(list, ", ")
}
