package rules

import (
	"muster/internal/machine"
	"muster/ptx"
)

var setmaxnregIgnored = register(Kind{
	Name:     "setmaxnreg-ignored",
	Severity: Note,
	Title:    "setmaxnreg in a kernel whose registers at entry nothing bounds",
	Section:  "9.7.19.5",
	Text: `setmaxnreg needs a kernel launched with a known number of registers a thread, by
.maxnreg or a compile option (ISA 9.7.19.5). ptxas 13.0 keeps it in a kernel with
.maxnreg, or with .minnctapersm beside .maxntid or .reqntid (__launch_bounds__ with a
minimum of blocks), or under -maxrregcount if there is neither .maxntid nor .reqntid.
In any other kernel it leaves every setmaxnreg out and says so (C7508): 'setmaxnreg
ignored; unable to determine register count at entry'.

So it does nothing here, as on the card: no warp waits for registers. What the kernel
was compiled to (registers: N in the launch file) changes nothing of that.

If it is meant, bound the registers; if -maxrregcount does, state that number in the
launch file (maxrregcount: N).`,
})

// registersIgnored returns the note that setmaxnreg does nothing.
func registersIgnored(p *machine.Program, e *machine.Entry) Finding {
	pc := p.Begin(e)
	for in := p.Inst(pc); in == nil || !in.Effect().Has(ptx.SetsRegisters); in = p.Inst(pc) {
		pc++
	}
	return Finding{
		Kind: setmaxnregIgnored.Name, Severity: Note, Count: 1,
		Headline: "setmaxnreg does nothing: ptxas leaves it out where nothing bounds the registers at entry (C7508)",
		Sites:    []Site{{Role: "asks", PC: pc}},
		Missing:  "the kernel has neither .maxnreg, nor .minnctapersm with .maxntid or .reqntid, and no -maxrregcount stands in for them",
		Fix:      "bound them (__launch_bounds__ with a minimum of blocks), or, where there is neither .maxntid nor .reqntid, state in the launch file what -maxrregcount gave (maxrregcount: N)",
	}
}
