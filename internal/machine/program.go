package machine

import (
	"fmt"
	"path"
	"sort"
	"sync"

	"muster/internal/flow"
	"muster/ptx"
)

// A Program is a kernel decoded for the machine: registers are rows, symbols
// are addresses, and each instruction holds the function that executes it. It
// is immutable and shared by every machine that runs it.
type Program struct {
	// Entry is the first kernel, and the only one but in a program for several launches.
	Entry
	more []*Entry // the others

	code    []instr
	flow    flow.Program
	unset   []UnsetRegister
	funcs   []function
	k32     [][32]uint32
	k64     [][32]uint64
	globals []global
	symbols []Symbol

	// tokens: the machine tracks which tokens registers hold. noComplete: some
	// arrival is .noComplete.
	tokens, noComplete bool

	allocates bool // Allocates
	columns   bool // AllocatesColumns
	besides   besides
	assumes   []string // Assumes
	cancels   bool     // Cancels
	grids     bool     // it is for launches that run side by side
	// unspecified: see Unspecified.
	unspecified bool

	// sequential: there are fences that are sequentially consistent.
	sequential bool
	// tells: lanes hand each other values by shfl, votes and the like.
	tells bool

	// pauses: see Pauses.
	pauses struct {
		once sync.Once
		at   map[int32]Pause
	}
	// waits: see round.go.
	waits struct {
		once         sync.Once
		at           map[int32]bool
		graphs, live sync.Map // by function, by place
	}
	// fixed, varies: see Fixed, OrderVaries.
	fixed, varies struct {
		once sync.Once
		is   bool
	}
	// fenceBehind: see FenceBehind.
	fenceBehind struct {
		once sync.Once
		at   []bool
	}
}

// An Entry is a kernel of a program: its parameters, and what it declares.
type Entry struct {
	Module *ptx.Module
	Kernel *ptx.Func
	Params []Param // the kernel's parameter layout

	// What the kernel declares; zero if it does not.
	ReqBlock   [3]uint32 // .reqntid
	MaxThreads uint32    // .maxntid, as a product
	MaxCluster uint32    // .maxclusterrank
	ReqCluster [3]uint32 // .reqnctapercluster
	Explicit   bool      // .explicitcluster
	MaxRegs    uint32    // .maxnreg
	MinCTAs    uint32    // .minnctapersm
	MostRegs   uint32    // the most that a setmaxnreg.inc asks for; 0 if none does
	// SetsRegisters: it has setmaxnreg.
	SetsRegisters bool

	// Static is the static shared memory in bytes, from SharedBase on; Dynamic
	// says whether the kernel refers to dynamic shared memory, which starts at
	// DynamicAt.
	Static    uint64
	DynamicAt uint64

	// reserved: shared memory begins at 0, since the kernel uses what the
	// system keeps before SharedBase.
	reserved bool

	fn   int32 // its function
	text *text // of its module
}

// A text is what the messages of a module's instructions name.
type text struct {
	module *ptx.Module
	files  map[int]string
	strs   map[string]string // .debug_str labels, for inlined function names
}

// EntryRegisters returns the registers of a thread at entry, from which setmaxnreg starts,
// of a launch that states some (0: none) and of a compilation with -maxrregcount (0:
// without). It is 0 if ptxas leaves setmaxnreg out (its C7508; testdata/card/setmaxnreg.txt):
// where there is no .maxnreg, no .minnctapersm beside .maxntid or .reqntid, and no
// -maxrregcount where both of these two are missing. What the kernel was compiled to then
// brings it back as little as the launch bound alone.
//
// If neither the launch nor .maxnreg states them, it is the most that a compiler may use
// for the CTAs that .minnctapersm asks for: the register file divided among their threads,
// by whole warpgroups, in units of eight. If a setmaxnreg asks for more later, it is at
// most what that asks for, as in ptxas 13.0.
func (p *Entry) EntryRegisters(stated, maxrregcount uint32) uint32 {
	threads := max(p.MaxThreads, p.ReqBlock[0]*p.ReqBlock[1]*p.ReqBlock[2])
	resident := p.MinCTAs != 0 && threads != 0
	switch {
	case p.MaxRegs == 0 && !resident && (threads != 0 || maxrregcount == 0):
		return 0
	case stated != 0:
		return stated
	case p.MaxRegs != 0:
		return p.MaxRegs
	case !resident:
		return maxrregcount
	}
	threads = (threads + 127) &^ 127 * p.MinCTAs
	most := min(255, max(ctaRegisters/threads, leastRegisters)) &^ 7
	if p.MostRegs != 0 {
		most = min(most, p.MostRegs)
	}
	return most
}

const (
	ctaRegisters   = 64 << 10
	leastRegisters = 24 // of setmaxnreg
)

// Multiplies reports whether the program has matrix instructions.
func (p *Program) Multiplies() bool {
	for i := range p.code {
		if in := p.code[i].src; in != nil && in.Effect().Has(ptx.Multiplies) {
			return true
		}
	}
	return false
}

// A Param is one parameter of the kernel, in its parameter space.
type Param struct {
	Name   string
	Offset uint64
	Size   uint64
	Align  uint64
	Type   string // element type
}

// A global is a module-scope variable with its place and initial bytes.
type global struct {
	name string
	addr uint64
	size uint64
	data []byte
	init bool
	ro   bool
}

// A function is a decoded .entry or .func.
type function struct {
	name    string
	text    *text
	decl    *ptx.Func
	entry   int32 // index of its first instruction; -1 if it has no body
	n32     int32 // registers of each class
	n64     int32
	np      int32
	local   uint32  // bytes of local memory a frame, .local and .param variables
	align   uint32  // of its frame, bytes
	calls   []int32 // functions that it calls; -1: one by address
	grows   bool    // its frame grows by alloca
	params  []place
	rets    []place
	builtin builtin
	// Its registers that may be read before they are written, by number.
	unsetFrom, unsetTo int32
	unsetRets          []int32 // those that it returns
	carry              int32   // the number of its carry flag, from 1 on, if that is among them
	locals             []localVar
	formals            []declaredRegister // parameters and results in registers
	declared           []declaredRegister // its other registers
}

// A localVar is a variable in a function's frame.
type localVar struct {
	v         *ptx.Var
	off, size uint64
}

// A reg names a lane-wide register of one class within a frame; negative
// values are rows of the program's constants.
type reg int32

// An execFn executes an instruction for the lanes in mask, and completes it for
// each.
type execFn func(x *ctx, in *instr, mask uint32)

// A readyFn reports whether a visible instruction can be performed now.
type readyFn func(x *ctx, in *instr, mask uint32) bool

// A class says how the run loop treats an instruction.
type class uint8

const (
	plain    class = iota // exec, next
	branch                // exec sets the split's pc
	visible               // a scheduling point: visit performs it
	collects              // waits for the lanes of its mask, then runs; invisible to others
)

// An instr is a decoded instruction.
type instr struct {
	exec       execFn
	visit      visitFn
	ready      readyFn
	d, a, b, c reg
	guard      reg // predicate row, or noGuard
	not        bool
	test       bool // an mbarrier test
	unmodelled bool // reaching it ends the run
	meet       bool // it is aligned
	class      class
	t, t2      typ
	op         uint8 // sub-operation, by family
	target     int32 // branch target; first operand register of a list
	imm        uint64
	pos        ptx.Pos
	loc        *ptx.Loc
	src        *ptx.Inst
	fn         int32 // function it belongs to
	gives      gives
	touch      *touching
	unset      *unsetUse
	tokens     *tokenMove
	uni        *promise // of a branch with .uni that could divide lanes
	x          any      // what only this family of instructions needs
}

const noGuard reg = 1 << 30

// typ is a PTX fundamental or alternate type.
type typ uint8

const (
	tNone typ = iota
	b8
	b16
	b32
	b64
	b128
	u8
	u16
	u32
	u64
	s8
	s16
	s32
	s64
	f16
	f16x2
	bf16
	bf16x2
	tf32
	f32
	f64
	f32x2
	pred
	u16x2
	s16x2
	e4m3x2
	e5m2x2
	e4m3
	e5m2
	u8x4
	s8x4
	otherType
)

var typNames = map[string]typ{
	"b8": b8, "b16": b16, "b32": b32, "b64": b64, "b128": b128,
	"u8": u8, "u16": u16, "u32": u32, "u64": u64,
	"s8": s8, "s16": s16, "s32": s32, "s64": s64,
	"f16": f16, "f16x2": f16x2, "bf16": bf16, "bf16x2": bf16x2, "tf32": tf32,
	"f32": f32, "f64": f64, "f32x2": f32x2, "pred": pred, "u16x2": u16x2, "s16x2": s16x2,
	"e4m3x2": e4m3x2, "e5m2x2": e5m2x2, "e4m3": e4m3, "e5m2": e5m2, "u8x4": u8x4, "s8x4": s8x4,
}

var typSizes = func() (sizes [otherType + 1]int32) {
	for name, t := range typNames {
		n, _ := ptx.TypeSize(name)
		sizes[t] = int32(n)
	}
	return sizes
}()

// size is the type's width in bytes; 0 for predicates.
func (t typ) size() int32 { return typSizes[t] }

// wide reports whether values of the type live in 64-bit rows.
func (t typ) wide() bool { return t.size() == 8 }

// packed reports whether a value of the type is two values of half its width (ISA 5.2.3).
func (t typ) packed() bool { return t == f16x2 || t == bf16x2 || t == f32x2 }

// integer reports whether t is one integer, or bits, of at most 64.
func (t typ) integer() bool { return t >= b8 && t <= s64 && t != b128 }

func (t typ) signed() bool { return t >= s8 && t <= s64 }

func (t typ) float() bool {
	switch t {
	case f16, f16x2, bf16, bf16x2, tf32, f32, f64, f32x2, e4m3, e5m2, e4m3x2, e5m2x2:
		return true
	}
	return false
}

// Pos returns where instruction pc stands in the PTX text.
func (p *Program) Pos(pc int32) ptx.Pos {
	if pc < 0 || int(pc) >= len(p.code) {
		return ptx.Pos{}
	}
	return p.code[pc].pos
}

// File returns the name of the text in which instruction pc stands.
func (p *Program) File(pc int32) string { return p.module(pc).UnitAt(p.Pos(pc)).Name }

// module returns the module in which instruction pc stands.
func (p *Program) module(pc int32) *ptx.Module {
	if pc < 0 || int(pc) >= len(p.code) {
		return p.text.module
	}
	return p.funcs[p.code[pc].fn].text.module
}

// Line names the place of instruction pc in a sentence: "line 12", and with the file if its
// module is linked of several.
func (p *Program) Line(pc int32) string { return p.LineAt(pc, p.Pos(pc)) }

// LineAt is Line of a place in the module of instruction pc.
func (p *Program) LineAt(pc int32, pos ptx.Pos) string {
	if m := p.module(pc); len(m.Units) > 1 {
		return fmt.Sprintf("line %d of %s", pos.Line, path.Base(m.UnitAt(pos).Name))
	}
	return fmt.Sprintf("line %d", pos.Line)
}

// Begin returns the kernel's first instruction.
func (p *Program) Begin(e *Entry) int32 { return p.funcs[e.fn].entry }

// Entries returns the program's kernels.
func (p *Program) Entries() []*Entry { return append([]*Entry{&p.Entry}, p.more...) }

// Inst returns the syntax of instruction pc, or nil for one that the decoder
// made.
func (p *Program) Inst(pc int32) *ptx.Inst {
	if pc < 0 || int(pc) >= len(p.code) {
		return nil
	}
	return p.code[pc].src
}

// A Source is a place in the source program that a .loc directive gives.
type Source struct {
	File      string
	Line, Col int
	Func      string // the inlined function it belongs to, mangled; empty if none
}

// Source returns the source places of instruction pc by .loc: the innermost
// first, then those that it was inlined at. It is empty without line
// information.
func (p *Program) Source(pc int32) []Source {
	if pc < 0 || int(pc) >= len(p.code) || p.code[pc].loc == nil {
		return nil
	}
	l, of := p.code[pc].loc, p.funcs[p.code[pc].fn].text
	out := []Source{{File: of.files[l.File], Line: l.Line, Col: l.Col}}
	if l.Inlined {
		out[0].Func = of.strs[l.Func]
		out = append(out, Source{File: of.files[l.AtFile], Line: l.AtLine, Col: l.AtCol})
	}
	return out
}

// Len is the number of decoded instructions.
func (p *Program) Len() int { return len(p.code) }

// Kernels returns the names of the module's entries, sorted.
func Kernels(m *ptx.Module) []string {
	var names []string
	for _, it := range m.Items {
		if f, ok := it.(*ptx.Func); ok && f.Entry && f.Body != nil {
			names = append(names, f.Name)
		}
	}
	sort.Strings(names)
	return names
}

// A DecodeError is a fault of the module that parsing does not see: an
// undeclared name, an operand of the wrong kind.
type DecodeError struct {
	File string
	Pos  ptx.Pos
	Msg  string
}

func (e *DecodeError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Pos.Line, e.Pos.Col, e.Msg)
}

// The machine's address windows. A generic address in the shared window is
// shared::cluster address plus sharedWindow, and so on; anything else is
// global. They lie above every address that a launch file can give a buffer.
const (
	sharedWindow = 0x0020_0000_0000_0000
	localWindow  = 0x0030_0000_0000_0000
	paramWindow  = 0x0040_0000_0000_0000
	codeWindow   = 0x0050_0000_0000_0000
	workspaceAt  = 0x005f_ffff_ffff_f000 // of a cooperative launch
	globalsAt    = 0x0060_0000_0000_0000 // module-scope variables
	windowSize   = 1 << 32

	// SharedBase is where a CTA's shared-memory window starts: sm_90 keeps the
	// first KiB for itself, so that the first variable is 1,024-byte aligned.
	SharedBase = 1024
	// rankShift puts the CTA's rank into a shared::cluster address.
	rankShift = 24
)
