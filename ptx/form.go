package ptx

import "slices"

// A Form is one row of the instruction table: one instruction with one set of modifiers
// and operands. All its cells are filled; "none" means not applicable. A cell that
// depends on a modifier names its slot, as in "<space>".
type Form struct {
	Name     string // unique: "add.int", "cp.async.bulk.shared.global"
	Op       string // "add", "cp"
	Slots    []Slot // modifiers, in the ISA's order
	Operands []Arg
	Class    string // "scalar", "control", "memory", "barrier", "async", "matrix", …
	Space    string // state space of the accessed memory: "none", "generic", "shared", "<space>", …
	Proxy    string // proxy of the access: "none", "generic", "async", "tensormap", …
	Scope    string // of synchronization: "none", "cta", "<scope>", …
	Async    string // completion mechanism: "none", "async-group", "bulk-group", "mbarrier", "wgmma-group", …
	Barrier  string // effect on a barrier: "none", "arrive", "expect-tx", "cta-sync", …
	Effect   Effect // properties for analyses of the text
	Version  Version
	SM       SM
	Section  string  // of the PTX ISA
	Edition  string  // the version of the PTX ISA whose number Section is: "9.0", or the first that has it
	Rules    []Rule  // valid combinations of modifiers
	Since    []Since // modifiers that need more than Version and SM
	// Takes is what ptxas requires if that is less than Version and SM.
	Takes *Since
	// Gone is the version of PTX that removed the form for the architectures from SM on;
	// nil for a form that stays.
	Gone *Since
	// Family lists the only architectures, by number, that have the form; nil if Version
	// and SM suffice.
	Family []int
	// On lists the only targets that have the form; nil if the above suffices. One with the
	// suffix f stands for its family from that architecture on.
	On       []SM
	synopsis string
	sem      int // the index of the slot sem, plus 1; 0 for none
}

// A Slot is a position for a modifier. A slot without choice has one value.
type Slot struct {
	Name     string
	Values   []string
	Optional bool
	Default  string // the value that its absence means; "" for none
	Tied     bool   // present if and only if the slot before it is filled
}

// A Rule restricts combinations of modifiers: if all of If are met, the slot Then must have
// one of Are; "-" in Are allows leaving it out.
type Rule struct {
	If   []Cond
	Then string
	Are  []string
}

// Holds reports whether the modifiers satisfy a rule; value gives that of a slot, "-" if it is
// left out.
func (r *Rule) Holds(value func(slot string) string) bool {
	return !r.applies(value) || slices.Contains(r.Are, value(r.Then))
}

// applies reports whether all conditions of a rule are met.
func (r *Rule) applies(value func(slot string) string) bool {
	for i := range r.If {
		c := &r.If[i]
		v := value(c.Slot)
		if c.Is == nil && v == "-" || c.Is != nil && !slices.Contains(c.Is, v) {
			return false
		}
	}
	return true
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
	// Access is the access to memory at an address: "read", "write", "readwrite", or
	// "none" for operands that are no address.
	Access string
	// When is the slot that an optional operand belongs to: it is present if and only if
	// the slot is filled. Empty if it may be left out freely.
	When string
	// Needs is a slot that, when filled, makes an optional operand required.
	Needs string
	// Pred is a predicate destination beside this one, as in d|p.
	Pred *Arg
	// Rest are the operands after an address in the brackets: the coordinates of a tensor
	// copy.
	Rest []Arg
}

// Strides reports whether the operand is the distance of a matrix's rows in memory: it
// decides which addresses are accessed, as the address does.
func (a *Arg) Strides() bool { return a.Name == "stride" }

// An SM is the minimum architecture of a form: sm_90, or sm_90a and sm_100f, whose suffix
// limits the form to that architecture or family.
type SM struct {
	Number int
	Suffix string // "", "a" or "f"
}

// Equal compares forms by identity.
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

// Mod returns the value that an instruction has for a slot of its form: "" if the slot is
// left out or unknown, or the instruction has no form.
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

// fill returns, for each slot of the form, the index of its modifier, or -1; nil for an
// instruction that does not match.
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
