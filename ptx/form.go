package ptx

import "slices"

// A Form is one row of the instruction table: one instruction with one set
// of modifiers and operands. All its cells are filled; "none" says that a
// property does not apply. A cell that depends on a modifier names its slot,
// as in "<space>".
type Form struct {
	Name     string // unique: "add.int", "cp.async.bulk.shared.global"
	Op       string // "add", "cp"
	Slots    []Slot // modifiers, in the ISA's order
	Operands []Arg
	Class    string // "scalar", "control", "memory", "barrier", "async", "matrix", …
	Space    string // state space of the memory touched: "none", "generic", "shared", "<space>", …
	Proxy    string // by which memory is touched: "none", "generic", "async", "tensormap", …
	Scope    string // of synchronization: "none", "cta", "<scope>", …
	Async    string // completion mechanism: "none", "async-group", "bulk-group", "mbarrier", "wgmma-group", …
	Barrier  string // effect on a barrier: "none", "arrive", "expect-tx", "cta-sync", …
	Effect   Effect // what an analysis of the text asks
	Version  Version
	SM       SM
	Section  string  // of the PTX ISA
	Rules    []Rule  // which modifiers go together
	Since    []Since // which modifiers need more than Version and SM
	// Takes is what ptxas asks for where that is less than Version and SM.
	Takes *Since
	// Gone is the version of PTX from which the architectures from SM on have the
	// form no more; nil for a form that stays.
	Gone *Since
	// Family has the architectures, by number, that the form is for alone; nil
	// if Version and SM say all.
	Family   []int
	synopsis string
	sem      int // the number of the slot sem, from 1 on; 0 for none
}

// A Slot is a place for a modifier. A slot without choice has one value.
type Slot struct {
	Name     string
	Values   []string
	Optional bool
	Default  string // what its absence means; "" if it means only that
	Tied     bool   // there if and only if the slot before it is filled
}

// A Rule says that a modifier goes with some values of another: where the
// slot If has one of the values Is (any, if there are none), the slot Then has
// one of Are; "-" among them says that it may be left out.
type Rule struct {
	If   string
	Is   []string
	Then string
	Are  []string
}

// A Role says what an instruction does with an operand.
type Role string

// The roles of operands.
const (
	Read      Role = "read"
	Write     Role = "write"
	ReadWrite Role = "readwrite"
	Address   Role = "address"
	LabelRef  Role = "label"
	Immediate Role = "imm"
)

// An Arg is an operand of a form.
type Arg struct {
	Name     string
	Role     Role
	Class    string // "reg", "pred", "imm", "vector", "mem", "label", "list", "video"
	Type     string // "u32", or "<type>" for the value of a slot
	Optional bool
	// Count is the number of elements of a vector: "4", "<vec>" for the
	// number in a slot's value, "any"; "1" for everything else.
	Count string
	// Access is what happens to memory at an address: "read", "write",
	// "readwrite", or "none" for operands that are no address.
	Access string
	// When is the slot that an optional operand goes with: it is there if
	// and only if the slot is filled. Empty if it may be left out freely.
	When string
	// Needs is a slot that, where it is filled, makes an optional operand
	// required.
	Needs string
	// Pred is a predicate destination beside this one, as in d|p.
	Pred *Arg
	// Rest is what stands in the brackets after an address: the
	// coordinates of a tensor copy.
	Rest []Arg
}

// An SM is the least architecture that has a form: sm_90, or sm_90a and
// sm_100f, whose suffix says that only that architecture or family has it.
type SM struct {
	Number int
	Suffix string // "", "a" or "f"
}

// Equal makes forms compare by identity, row by row.
func (f *Form) Equal(g *Form) bool { return f == g }

// String gives the synopsis of the form, in the table's notation.
func (f *Form) String() string {
	if f == nil {
		return "unknown form"
	}
	return f.synopsis
}

// Slot finds a slot by its name.
func (f *Form) Slot(name string) (Slot, bool) {
	i := f.slot(name)
	if i < 0 {
		return Slot{}, false
	}
	return f.Slots[i], true
}

func (f *Form) slot(name string) int {
	return slices.IndexFunc(f.Slots, func(s Slot) bool { return s.Name == name })
}

// Mod gives the value that an instruction has for a slot of its form: "" if
// the slot is left out, unknown, or the instruction has no form.
func (in *Inst) Mod(slot string) string {
	if in.Form == nil {
		return ""
	}
	i, fill := in.Form.slot(slot), in.fill()
	if i < 0 || fill == nil || fill[i] < 0 {
		return ""
	}
	return in.Mods[fill[i]]
}

// fill gives for each slot of the form the index of its modifier, or -1; nil
// for an instruction that does not fit.
func (in *Inst) fill() []int8 {
	fill, ok := in.Form.assign(in.Mods, (*Form).inOrder)
	if !ok {
		fill, ok = in.Form.assign(in.Mods, (*Form).anyOrder)
	}
	if !ok {
		return nil
	}
	return fill
}
