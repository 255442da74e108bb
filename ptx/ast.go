package ptx

import (
	"fmt"
	"strings"
)

// This file is the syntax tree: one node kind per construct. The printer and the
// machine's decoder read only the tree. It keeps the content of the text (names, literals
// as bits, directive order) and not its layout, so that printing is a function of the
// tree alone.

// A Pos is a place in the source text: 1-based line and column, in bytes.
// The zero Pos means "made by a program, not read from text".
type Pos struct {
	Line, Col int32
	Unit      int32 // which of Module.Units the place is in; 0 in a module of one text
}

// A Module is one PTX translation unit, or what Link made of several.
type Module struct {
	Name    string // file name, for diagnostics
	Text    string // the text that positions refer to, for diagnostics; it may be empty
	Units   []Unit // what the module was made of; nil for one text
	Version Version
	Target  []string // sm_90a, texmode_…, debug, …
	Address int      // 32 or 64; 0 if not stated
	Items   []Item   // module-scope declarations in source order
}

// A Unit is one of the texts that a module was made of: its name, and what it states about
// itself. Positions of nodes count units.
type Unit struct {
	Name, Text string
	Version    Version
	Target     []string
}

// UnitAt returns the unit that a position lies in: one of Units, or what a module of one text
// says of itself.
func (m *Module) UnitAt(pos Pos) Unit {
	if pos.Unit >= 0 && int(pos.Unit) < len(m.Units) {
		return m.Units[pos.Unit]
	}
	return Unit{m.Name, m.Text, m.Version, m.Target}
}

// errorAt makes an error at a position of the module.
func (m *Module) errorAt(pos Pos, format string, args ...any) *Error {
	return &Error{File: m.UnitAt(pos).Name, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// A Version is a PTX ISA version, as in ".version 9.0".
type Version struct {
	Major, Minor int
}

// An Item is a module-scope declaration: *Func, *Var, *File, *Section,
// *Pragma, *Alias or *Directive.
type Item interface{ item() }

// A Linkage is .extern, .visible, .weak or .common; empty for none.
type Linkage string

// A Func is an .entry or .func, defined (Body != nil) or only declared.
type Func struct {
	Pos     Pos
	Linkage Linkage
	Entry   bool
	Ret     []*Var // return parameters of a .func
	Name    string
	Params  []*Var
	Attrs   []Directive // .maxntid, .reqntid, .reqnctapercluster, .noreturn, .pragma, …
	Body    *Block
}

// A Var declares variables of one type in one state space: module-scope
// variables, function-scope .shared and .local variables, call parameters,
// formal parameters and registers.
type Var struct {
	Pos     Pos
	Linkage Linkage
	Space   string      // "reg", "shared", "global", "const", "local", "param", "tex"
	Attrs   []Directive // of .attribute( ): "managed", "unified"
	Align   int         // bytes; 0 if not stated
	Vec     int         // 0, 2 or 4
	Type    string      // "b8", "f32", "pred", "texref", …
	Ptr     *Ptr        // .ptr attribute of a kernel parameter
	Name    string
	Count   int     // N of a register range %r<N>, else 0
	Dims    []int64 // array extents, outermost first; -1 for []
	Init    *Init   // initializer, or nil
}

// A Ptr is the .ptr attribute of a kernel parameter.
type Ptr struct {
	Space string // "", "global", "shared", "local" or "const"
	Align int    // 0 if not stated
}

// An Init is an initializer: one expression, or a braced list.
type Init struct {
	Expr Operand // nil for a list
	List []*Init
}

// A Directive is a named directive with its operands: a function attribute such as
// ".maxntid 128, 1, 1", an attribute of a variable, or a module directive without a node
// kind of its own.
type Directive struct {
	Pos  Pos
	Name string // without the dot
	Args []Operand
}

// A File is a .file directive.
type File struct {
	Pos         Pos
	Index       int
	Name        string
	Time, Size  int64
	HasTimeSize bool
}

// A Section is a .section directive: debug data, kept item by item.
type Section struct {
	Pos   Pos
	Name  string // ".debug_info"
	Items []SectionItem
}

// A SectionItem is a label ("name:") or one data line (".b8 1,2,3").
type SectionItem struct {
	Label string
	Type  string
	Data  []Operand
}

// A Pragma is a .pragma directive, at module scope, among a function's
// attributes or in a body.
type Pragma struct {
	Pos  Pos
	Text []string
}

// An Alias is a .alias directive.
type Alias struct {
	Pos          Pos
	Name, Target string
}

func (*Func) item()      {}
func (*Var) item()       {}
func (*File) item()      {}
func (*Section) item()   {}
func (*Pragma) item()    {}
func (*Alias) item()     {}
func (*Directive) item() {}

// A Block is a brace-delimited statement list: a function body or a nested
// scope. Labels, registers and variables declared in it are scoped to it.
type Block struct {
	Pos   Pos
	Stmts []Stmt
	End   Pos
}

// A Stmt is a statement: *Inst, *Label, *Var, *Block, *Loc, *Pragma,
// *Prototype, *Targets or *Directive.
type Stmt interface{ stmt() }

// A Label marks the statement that follows it.
type Label struct {
	Pos  Pos
	Name string
}

// A Loc is a .loc directive: the source position of the statements after it.
type Loc struct {
	Pos             Pos
	File, Line, Col int
	Inlined         bool
	Func            string // label, in .debug_str, of the inlined function's name
	FuncOffset      int64
	AtFile          int // inlined_at
	AtLine, AtCol   int
}

// A Prototype is a .callprototype.
type Prototype struct {
	Pos    Pos
	Label  string
	Ret    []*Var
	Params []*Var
	Attrs  []Directive
}

// Targets is a .branchtargets or .calltargets list.
type Targets struct {
	Pos   Pos
	Label string
	Call  bool
	Names []string
}

// A Guard is an instruction's predicate, as in "@!%p1".
type Guard struct {
	Reg string
	Not bool
}

// An Inst is an instruction. Op is the text before the first dot and Mods are the words
// between the dots after it, so that
//
//	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd2], %r3, [%r4];
//
// has Op "cp" and Mods "async", "bulk", "shared::cluster", "global",
// "mbarrier::complete_tx::bytes". Form is its row of the instruction table, or nil for an
// instruction that matches none.
type Inst struct {
	Pos      Pos
	Guard    *Guard
	Op       string
	Mods     []string
	Operands []Operand
	Form     *Form
}

// Opcode returns the full opcode of an instruction: "add.s32".
func (in *Inst) Opcode() string {
	if len(in.Mods) == 0 {
		return in.Op
	}
	return in.Op + "." + strings.Join(in.Mods, ".")
}

func (*Inst) stmt()      {}
func (*Label) stmt()     {}
func (*Var) stmt()       {}
func (*Block) stmt()     {}
func (*Loc) stmt()       {}
func (*Pragma) stmt()    {}
func (*Prototype) stmt() {}
func (*Targets) stmt()   {}
func (*Directive) stmt() {}

// An Operand is one operand: Name, Int, Float, String, *Vector, *Mem, *Pair,
// *Not, Sink, *Select, *Unary, *Binary or *List.
type Operand interface{ operand() }

// A Name is an identifier: a register, variable, label, function, parameter or special
// register, including the component of a vector or special register (%tid.x, %v.y).
type Name string

// An Int is an integer literal; Unsigned if it is written with U or does not
// fit a signed 64-bit integer. Bits holds it modulo 2^64, sign included.
type Int struct {
	Bits     uint64
	Unsigned bool
}

// A Float is a floating-point literal as its bit pattern: 0f…, or a decimal or 0d…
// literal, both f64 in PTX.
type Float struct {
	Bits uint64
	Size int // 32 or 64
}

// A String is a quoted string.
type String string

// Sink is the bit bucket "_".
type Sink struct{}

// A Vector is {a, b, c, d}.
type Vector struct{ Elems []Operand }

// A Mem is a memory operand [base], [base+off], [base, {c0, c1}] or name[off]. Base is a
// Name, an Int or nil; Off is an immediate displacement in bytes. Rest holds the operands
// after the first comma: the coordinates of a tensor copy (*Vector) and im2col or gather
// operands.
type Mem struct {
	Base Operand
	Off  int64
	Rest []Operand
	// Index is set for the array form name[Off], which is printed in that form. Off then
	// counts elements; a register index is in Rest.
	Index bool
}

// A Pair is d|p: a destination with a predicate destination.
type Pair struct{ A, B Operand }

// A Not is a negated predicate operand !p.
type Not struct{ X Operand }

// A Select is an operand with a component selector that is not part of a name: the video
// instructions' %r1.b0, %r2.h1, or %r1.b10 pairs. Sel is "unified" for the qualifier
// allowed after a load's address.
type Select struct {
	X   Operand
	Sel string
}

// Unary and Binary are constant expressions that the parser cannot fold because they
// contain an address: (sym), sym+4, generic(sym), mask(sym).
type Unary struct {
	Op string // "-", "~", "!", "generic", "0xFF" (a mask operator), "(cast)"
	X  Operand
}

// A Binary is a constant expression with an address. With the operator "=" it is a
// property of an opaque variable's initializer: addr_mode_0 = wrap.
type Binary struct {
	Op   string
	X, Y Operand
}

// A List is a parenthesized operand list: the return and argument lists of a call.
type List struct{ Elems []Operand }

func (Name) operand()    {}
func (Int) operand()     {}
func (Float) operand()   {}
func (String) operand()  {}
func (Sink) operand()    {}
func (*Vector) operand() {}
func (*Mem) operand()    {}
func (*Pair) operand()   {}
func (*Not) operand()    {}
func (*Select) operand() {}
func (*Unary) operand()  {}
func (*Binary) operand() {}
func (*List) operand()   {}
