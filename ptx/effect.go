package ptx

import (
	"slices"
	"strings"
)

// An Effect describes an instruction for analyses of the text: control flow, memory
// effects, results that depend on the schedule, and operands that are data. The cell
// effect= of a row names the parts. Other cells of the row give the rest: Class and
// Barrier the effect on a barrier, Class and Proxy the kind of fence, Async whether it
// completes later.
//
// The zero value means unknown; no row of the table has it.
type Effect uint64

// The parts of effects. effectWords has their words in the table.
const (
	// Computes: it computes registers from registers, and no other part applies.
	Computes Effect = 1 << iota
	// None: no part applies; the other cells describe the instruction.
	None

	// Branches: control goes to a label.
	Branches
	// BranchesByTable: control goes to one of a list of labels.
	BranchesByTable
	// Calls: control goes to a function and returns.
	Calls
	// Returns: control leaves the function.
	Returns
	// Exits: the thread ends.
	Exits
	// Traps: the launch ends.
	Traps

	// Reads: registers receive contents of memory.
	Reads
	// Writes: memory receives register contents, as data.
	Writes
	// Updates: memory is read and written in one atomic step. An update without Reads is
	// a reduction: it returns nothing.
	Updates
	// CopiesMemory: an asynchronous operation copies memory to memory.
	CopiesMemory

	// Tests: the result says whether a phase of an mbarrier is complete. It may be false,
	// and the schedule decides how often.
	Tests
	// GivesToken: the result is the token of an arrival. The schedule decides its bits,
	// except for the phase.
	GivesToken
	// CountsPending: the result is the pending count in a token.
	CountsPending
	// ShowsLanes: the result says which lanes currently run together.
	ShowsLanes
	// Elects: the result is true in one lane, chosen by the implementation.
	Elects

	// Data: operands other than addresses are data; none of them controls the
	// instruction. Reads and Writes include it.
	Data
	// Exchanges: lanes of a warp exchange their operands, which are data; the last
	// operand is the mask of participating lanes.
	Exchanges
	// Multiplies: the results are products of matrices.
	Multiplies
	// Warpgroup: the warps of a warpgroup execute it together. A vector among the sources
	// is data; other operands are descriptors and control the instruction.
	Warpgroup
	// Aligned: all lanes of a warp execute it together, without a modifier that says so.
	// Use Inst.Aligned.
	Aligned

	// Moves: the result is the operand, bit for bit.
	Moves
	// Selects: the result is one of the first two sources; a predicate says which.
	Selects
	// Compares: the result is a predicate that says how two values compare.
	Compares
	// ComparesToNumber: the result is a number that says how two values compare.
	ComparesToNumber
	// Inverts: each bit of the result is the opposite of the operand's.
	Inverts
	// Ands: each bit of the result is set if it is set in both operands.
	Ands
	// Ors: each bit of the result is set if it is set in one of the operands.
	Ors
	// Adds: the result is the sum of the operands, modulo two to the power of their width.
	Adds
	// Subtracts: the result is the first operand less the second, modulo as for Adds.
	Subtracts
	// Xors: each bit of the result is set if it is set in one operand and not in the other.
	Xors
	// Converts: the result is the operand in another type.
	Converts
	// Divides: the second source is the divisor. If it is zero, the ISA leaves an integer
	// result undefined.
	Divides
	// ReadsCarry: it reads the carry flag, which is not an operand.
	ReadsCarry

	// Hints: operands are hints, which do not affect values.
	Hints
	// Sleeps: it only passes time.
	Sleeps
	// GivesPolicy: the result is a cache policy, whose bits the driver chooses.
	GivesPolicy
	// SavesStack: the result is the top of the stack, which the driver chooses.
	SavesStack
	// RestoresStack: the operand becomes the top of the stack.
	RestoresStack
	// SetsRegisters: the warp acquires or releases registers.
	SetsRegisters
	// Cancels: it asks for a part of the launch that has not started.
	Cancels
	// OrdersGrids: it waits for grids that the launch depends on, or lets grids begin that
	// depend on it.
	OrdersGrids
)

// effectWords maps words of the table to parts. Some words mean several parts.
var effectWords = []effectWord{
	{"compute", Computes}, {"none", None},
	{"branch", Branches}, {"branch-table", BranchesByTable}, {"call", Calls}, {"return", Returns}, {"exit", Exits}, {"trap", Traps},
	{"read", Reads | Data}, {"write", Writes | Data}, {"update", Updates}, {"copy-memory", CopiesMemory},
	{"test", Tests}, {"token", GivesToken}, {"pending", CountsPending}, {"lanes", ShowsLanes}, {"elect", Elects},
	{"data", Data}, {"exchange", Exchanges}, {"multiply", Multiplies}, {"warpgroup", Warpgroup}, {"aligned", Aligned},
	{"move", Moves}, {"select", Selects}, {"compare", Compares}, {"compare-number", ComparesToNumber}, {"invert", Inverts}, {"and", Ands}, {"or", Ors}, {"xor", Xors}, {"add", Adds}, {"subtract", Subtracts}, {"convert", Converts},
	{"divide", Divides}, {"carry", ReadsCarry},
	{"hint", Hints}, {"sleep", Sleeps}, {"policy", GivesPolicy}, {"stack-save", SavesStack}, {"stack-restore", RestoresStack},
	{"registers", SetsRegisters}, {"grids", OrdersGrids}, {"cancel", Cancels},
}

type effectWord struct {
	word string
	is   Effect
}

func parseEffect(line, s string) (e Effect) {
	for word := range strings.SplitSeq(s, ",") {
		i := slices.IndexFunc(effectWords, func(w effectWord) bool { return w.word == word })
		if i < 0 {
			badRow(line, "unknown effect %q", word)
		}
		e |= effectWords[i].is
	}
	return e
}

// Has reports whether an effect has any of the parts.
func (e Effect) Has(parts Effect) bool { return e&parts != 0 }

// String lists the words of the parts.
func (e Effect) String() string {
	var list []string
	for _, w := range effectWords {
		if e&w.is == w.is && !(w.word == "data" && e.Has(Reads|Writes)) {
			list = append(list, w.word)
		}
	}
	return strings.Join(list, ",")
}

// Effect returns the effect of an instruction's row. It is zero for an instruction
// without a row, which the machine does not execute.
func (in *Inst) Effect() Effect {
	if in.Form == nil {
		return 0
	}
	return in.Form.Effect
}

// A Sem is the memory semantics of an access or a synchronizing operation.
type Sem string

// The semantics, as modifiers name them. NoSem is for instructions whose row has no
// modifier of this kind.
const (
	NoSem    Sem = ""
	Weak     Sem = "weak"
	Volatile Sem = "volatile"
	Relaxed  Sem = "relaxed"
	Acquire  Sem = "acquire"
	Release  Sem = "release"
	AcqRel   Sem = "acq_rel"
	SC       Sem = "sc"
)

// Strong reports whether accesses with these semantics are strong operations (ISA 8.4).
func (s Sem) Strong() bool { return s != NoSem && s != Weak }

// Acquires reports whether a read with these semantics acquires.
func (s Sem) Acquires() bool { return s == Acquire || s == AcqRel || s == SC }

// Releases reports whether a write with these semantics releases.
func (s Sem) Releases() bool { return s == Release || s == AcqRel || s == SC }

// Sem returns an instruction's semantics, from its modifiers or else its row's default.
func (in *Inst) Sem() Sem {
	if in.Form == nil || in.Form.sem == 0 {
		return NoSem
	}
	s := &in.Form.Slots[in.Form.sem-1]
	for _, m := range in.Mods {
		if s.takes(m) {
			return Sem(m)
		}
	}
	return Sem(s.Default)
}

// Aligned reports whether all lanes of a warp must execute an instruction together.
func (in *Inst) Aligned() bool {
	return in.Effect().Has(Aligned) || slices.Contains(in.Mods, "aligned")
}

// Classes of rows, for analyses.
const (
	ClassBarrier   = "barrier"   // barriers of a warp, a CTA or a cluster
	ClassFence     = "fence"     // fences of memory
	ClassMbarrier  = "mbarrier"  // operations on an mbarrier
	ClassTcgen05   = "tcgen05"   // tensor memory and what computes in it
	ClassTensormap = "tensormap" // tensor maps, and what copies by them
)

// IsOf reports whether an instruction's row is of a class.
func (in *Inst) IsOf(class string) bool { return in.Form != nil && in.Form.Class == class }

// PlainFence reports whether an instruction is a fence for accesses through the generic
// proxy only.
func (in *Inst) PlainFence() bool { return in.IsOf(ClassFence) && in.Form.Proxy == "generic" }

// An Update is the function that an update instruction applies to a word of memory and its
// operand.
type Update uint8

// The updates. NoUpdate is for instructions without a modifier that names one.
const (
	NoUpdate Update = iota
	UpdateAdd
	UpdateAnd
	UpdateOr
	UpdateXor
	UpdateMin
	UpdateMax
	UpdateInc
	UpdateDec
	UpdateExch
	UpdateCas
)

// LookupUpdate returns the update that a modifier names; NoUpdate if it names none.
func LookupUpdate(mod string) Update {
	switch mod {
	case "add":
		return UpdateAdd
	case "and":
		return UpdateAnd
	case "or":
		return UpdateOr
	case "xor":
		return UpdateXor
	case "min":
		return UpdateMin
	case "max":
		return UpdateMax
	case "inc":
		return UpdateInc
	case "dec":
		return UpdateDec
	case "exch":
		return UpdateExch
	case "cas":
		return UpdateCas
	}
	return NoUpdate
}

// Update returns the update that an instruction's modifiers name: the last one, if they
// name several.
func (in *Inst) Update() Update {
	for i := len(in.Mods) - 1; i >= 0; i-- {
		if u := LookupUpdate(in.Mods[i]); u != NoUpdate {
			return u
		}
	}
	return NoUpdate
}

// LastType returns the type that an instruction's last modifier names, and its size in
// bytes, 0 for a predicate. The name is empty if the modifier is not a type of registers
// and memory.
func (in *Inst) LastType() (name string, size int) {
	if len(in.Mods) == 0 {
		return "", 0
	}
	name = in.Mods[len(in.Mods)-1]
	size, ok := TypeSize(name)
	if !ok {
		return "", 0
	}
	return name, size
}
