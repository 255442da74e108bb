package litmus

import (
	"fmt"

	"muster/internal/axiom/flow"
)

// A Test is a litmus test as its file states it. Addresses are in bytes: word n of memory is
// at 4n, and aliases (ISA 8.2.2) have addresses of their own behind all words.
type Test struct {
	File, Name string
	Words      int
	Init       []uint32 // of the words
	Aliases    []int    // the words that addresses from firstAlias on stand for
	Names      []string // of the words
	Threads    []Thread
	Barriers   []Barrier
	Quant      Quant
	Cond       *Cond
	Filter     *Cond
	// Observed are what an outcome tells: what the conditions and `locations` name.
	Observed []Term
	Notes    []string

	where   map[string]location
	without flow.Clause // of the axioms
	free    bool        // branches are no dependence
}

// A location is what a name of memory stands for.
type location struct {
	addr  int // in bytes
	words int
}

// A Thread is one thread of the test. Threads of one CTA have one number there, and so on.
type Thread struct {
	Name              string
	GPU, Cluster, CTA int
	Code              []Instr
	Regs              []string // by number
	Init              map[int]uint32
	line, col         int
}

// A Barrier is one that threads of a CTA name alike.
type Barrier struct {
	CTA, Instance int
	ID            int  // Dat3M's logical barrier; -1: none is given
	Open          bool // some thread names it by a register
	Quorum        int
	Members       int // threads that name it
}

// A Quant says what is asked of the condition.
type Quant uint8

const (
	Exists Quant = iota
	NotExists
	Forall
)

func (q Quant) String() string { return [...]string{"exists", "~exists", "forall"}[q] }

// A Kind is what an instruction does.
type Kind uint8

const (
	Load Kind = iota
	Store
	Atom
	Red
	Fence
	ProxyFence
	Meet // at a barrier
	Move // Dst = Src[0] Op Src[1]
	Jump // to Target if Src[0] Cmp Src[1]
)

// A Sem is the semantics of an access or a fence.
type Sem uint8

const (
	Weak Sem = iota
	Volatile
	Relaxed
	Acquire
	Release
	AcqRel
	SC
)

// A Scope is a scope (ISA 8.5).
type Scope uint8

const (
	NoScope Scope = iota
	CTA
	Cluster
	GPU
	Sys
)

// A Proxy is a method of access (ISA 8.6).
type Proxy uint8

const (
	Generic Proxy = iota
	Texture
	Surface
	Constant
	Alias // of a proxy fence
)

// An Op is an operation on two values.
type Op uint8

const (
	Add Op = iota
	Sub
	Mul
	And
	Or
	Xor
	Min
	Max
	Inc
	Exch
	Cas
	// 1 or 0: see Cmp.
	IsEq
	IsNe
	IsLess
	IsNotLess
	IsLower
	IsNotLower
)

// A Cmp is a comparison: Less is signed, Lower unsigned.
type Cmp uint8

const (
	Eq Cmp = iota
	Ne
	Less
	NotLess
	Lower
	NotLower
)

// A Value is Const, plus the register Reg - 1 if Reg is not 0.
type Value struct {
	Const uint32
	Reg   int
}

// An Instr is one instruction.
type Instr struct {
	Text      string
	Line, Col int
	Kind      Kind
	Sem       Sem
	Scope     Scope
	Proxy     Proxy
	Op        Op
	Cmp       Cmp
	Dst       []int // registers; one an element
	At        Value // address
	Src       []Value
	Target    int // of a Jump: a position, that of the end included
	// Of a Meet.
	Barrier int // of Test.Barriers; -1: Src[0] has the number
	Arrives bool

	label              string // of a Jump: its target
	instance, id, most int    // of a Meet; id and most are -1 if not given
}

// An Error is a mistake in a file.
type Error struct {
	File      string
	Line, Col int
	Msg       string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) }

// A Need is what a test needs and an engine does not have: the test is right, but has no
// answer.
type Need struct {
	File      string
	Line, Col int
	What      string
}

func (e *Need) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: needs %s", e.File, e.What)
	}
	return fmt.Sprintf("%s:%d:%d: needs %s", e.File, e.Line, e.Col, e.What)
}
