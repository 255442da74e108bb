package kernel

import (
	"slices"

	"muster/ptx"
)

// introduced gives the version of PTX that has an instruction: its form's, or a
// later one that brought what it says besides.
func introduced(in *ptx.Inst) ptx.Version {
	v := in.Form.Version
	later := func(minor int) {
		if v.Major < 8 || v.Major == 8 && v.Minor < minor {
			v = ptx.Version{Major: 8, Minor: minor}
		}
	}
	for _, x := range in.Operands {
		if ptx.FormatOperand(x) == "%aggr_smem_size" {
			later(1) // ISA 10.31
		}
	}
	if in.Op == "wgmma" && slices.Contains(in.Mods, "u8") && slices.Contains(in.Mods, "s8") {
		later(4) // operands of different signs (ISA 9.7.15.5.2, notes)
	}
	return v
}
