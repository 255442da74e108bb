package kernel

import (
	"slices"
	"strconv"
	"strings"

	"muster/ptx"
)

// A Kernel is a kernel under construction: instructions are appended in the order of the
// calls. Mistakes are collected, and Build reports them all.
//
// A Kernel belongs to one goroutine.
type Kernel struct {
	name    string
	target  string
	version ptx.Version
	least   ptx.Version // required by the instructions so far
	block   [3]int
	cluster [3]int
	attrs   []ptx.Directive

	params  []*ptx.Var
	vars    []*variable
	items   []ptx.Item // functions and variables of the module
	entry   *body
	at      *body // the body under construction
	guard   *Pred // of the open Guard
	files   []string
	names   map[string]Place
	inner   map[string]Place // names that blocks of inline PTX declare
	serial  int
	parts   int // of the text, as enter counts them
	places  map[uintptr]Place
	errs    Errors
	group   *Group // the threads that execute the code being written
	insts   int    // so far
	full    bool   // it takes no more: see fill
	refused int    // additions rejected since then

	ended bool // finish has made the checks that need the whole kernel
	built *ptx.Module
	state map[any]any // state of the block level, per kernel
}

// A body is a function's statements so far.
type body struct {
	prologue, stmts []ptx.Stmt
	regs            []register
	where           map[*ptx.Inst]Place
	labels          []*Label
	loops           []*loop
	ifs             []*Error // enclosing Ifs, for an error if Build is called inside
	open            []int    // enclosing groups, Ifs and loops, each with a number of its own
	line            Place    // of the last .loc
}

// A register is the builder's information on a register.
type register struct {
	typ  Type
	name string
	at   Place
	// given says that the register is set outside of the instructions, or that it
	// replaces the result of a mistake.
	given bool
	hint  string // for the error if it is read before it is set
	inner bool   // a block of inline PTX declares it
}

// An Option configures a kernel.
type Option func(*Kernel)

// Block sets the dimensions of a CTA in threads, one to three: .reqntid. Thread groups
// need it.
func Block(x int, yz ...int) Option {
	return func(k *Kernel) { k.block = k.dims("Block", x, yz) }
}

// Clusters sets the dimensions of a cluster in CTAs, one to three: .reqnctapercluster and
// .explicitcluster.
func Clusters(x int, yz ...int) Option {
	return func(k *Kernel) { k.cluster = k.dims("Clusters", x, yz) }
}

// MaxRegisters bounds the registers of a thread: .maxnreg.
func MaxRegisters(n int) Option {
	return func(k *Kernel) {
		if n < 1 || n > 255 {
			k.fail("MaxRegisters(%d): a thread has 1 to 255", n)
			return
		}
		k.attrs = append(k.attrs, ptx.Directive{Name: "maxnreg", Args: []ptx.Operand{integer(int64(n))}})
	}
}

// MinCTAs requests at least n CTAs per SM: .minnctapersm.
func MinCTAs(n int) Option {
	return func(k *Kernel) {
		if n < 1 || n > 32 {
			k.fail("MinCTAs(%d): an SM has room for 1 to 32 CTAs", n)
			return
		}
		k.attrs = append(k.attrs, ptx.Directive{Name: "minnctapersm", Args: []ptx.Operand{integer(int64(n))}})
	}
}

// Target sets the kernel's architecture, by default sm_90a.
func Target(sm string) Option {
	return func(k *Kernel) {
		if n, _, ok := parseSM(sm); !ok || n < 50 {
			k.fail("Target(%q): no architecture; one is written as sm_90a", sm)
			return
		}
		k.target = sm
	}
}

// Version sets the kernel's version of PTX. By default it is the lowest that has all
// instructions of the kernel, 8.0 or newer.
func Version(major, minor int) Option {
	return func(k *Kernel) {
		if major < 1 || major > 99 || minor < 0 || minor > 9 {
			k.fail("Version(%d, %d): no version of PTX; one is written as 8, 0", major, minor)
			return
		}
		k.version = ptx.Version{Major: major, Minor: minor}
	}
}

func (k *Kernel) dims(what string, x int, yz []int) [3]int {
	d := [3]int{x, 1, 1}
	if len(yz) > 2 {
		k.fail("%s has %d dimensions; three are the most", what, 1+len(yz))
		return d
	}
	copy(d[1:], yz)
	if d[0] < 1 || d[1] < 1 || d[2] < 1 {
		k.fail("%s(%d, %d, %d): every dimension is at least 1", what, d[0], d[1], d[2])
		return [3]int{1, 1, 1}
	}
	n := 1
	for _, x := range d {
		n *= min(x, 1<<16) // too many, without overflow
	}
	switch {
	case what == "Block" && (n > 1024 || d[2] > 64):
		k.fail("Block(%d, %d, %d): a CTA has 1,024 threads at most, and 64 in z", d[0], d[1], d[2])
		return [3]int{1024, 1, 1}
	case what == "Clusters" && n > 16:
		k.fail("Clusters(%d, %d, %d): a cluster has 16 CTAs at most, and 8 where it must be portable", d[0], d[1], d[2])
		return [3]int{16, 1, 1}
	}
	return d
}

// New begins a kernel of that name.
func New(name string, opts ...Option) *Kernel {
	k := &Kernel{name: name, target: "sm_90a", least: ptx.Version{Major: 8}, names: map[string]Place{}, inner: map[string]Place{}, places: map[uintptr]Place{}, state: map[any]any{}}
	k.entry = &body{where: map[*ptx.Inst]Place{}}
	k.at = k.entry
	k.name = k.claim(name, "kernel")
	for _, o := range opts {
		if o != nil {
			o(k)
		}
	}
	return k
}

// Name gives the kernel's name, as the module has it.
func (k *Kernel) Name() string { return k.name }

// BlockThreads gives the threads of a CTA; 0 if no Block was given.
func (k *Kernel) BlockThreads() int { return k.block[0] * k.block[1] * k.block[2] }

// CTAs gives the CTAs of a cluster; 1 if no Clusters were given.
func (k *Kernel) CTAs() int { return max(1, k.cluster[0]*k.cluster[1]*k.cluster[2]) }

// BlockDims and ClusterDims return the dimensions from Block and Clusters; zero if not
// set.
func (k *Kernel) BlockDims() [3]int   { return k.block }
func (k *Kernel) ClusterDims() [3]int { return k.cluster }

func parseSM(s string) (number int, suffix string, ok bool) {
	digits, ok := strings.CutPrefix(s, "sm_")
	if !ok {
		return 0, "", false
	}
	suffix = strings.TrimLeft(digits, "0123456789")
	n, err := strconv.Atoi(strings.TrimSuffix(digits, suffix))
	return n, suffix, err == nil && (suffix == "" || suffix == "a" || suffix == "f")
}

// Err returns the mistakes so far: nil, or Errors.
func (k *Kernel) Err() error {
	if len(k.errs) == 0 {
		return nil
	}
	return slices.Clone(k.errs)
}

// reg makes a new register.
func (k *Kernel) reg(t Type) Reg {
	t = t.reg()
	b := k.at
	_, prefix := t.declared()
	if len(b.regs) >= maxRegs {
		k.fill("the kernel has more than %d registers", maxRegs)
		return Reg{k, b, len(b.regs) - 1, t}
	}
	b.regs = append(b.regs, register{typ: t, name: prefix + strconv.Itoa(len(b.regs)+1), at: k.here()})
	return Reg{k, b, len(b.regs) - 1, t}
}

// lost returns a register that replaces the result of a mistake: errors about it are
// suppressed.
func (k *Kernel) lost(t Type) Reg {
	r := k.reg(t)
	r.in.regs[r.id].given = true
	return r
}

// lostVec returns n registers, at most 256, to go on with after a mistake.
func (k *Kernel) lostVec(t Type, n int) Vec {
	v := make(Vec, min(max(n, 1), 256))
	for i := range v {
		v[i] = k.lost(t)
	}
	return v
}

func (k *Kernel) pred() Pred {
	b := k.at
	if len(b.regs) >= maxRegs {
		k.fill("the kernel has more than %d registers", maxRegs)
		return Pred{k, b, len(b.regs) - 1, false}
	}
	b.regs = append(b.regs, register{typ: predType, name: "%p" + strconv.Itoa(len(b.regs)+1), at: k.here()})
	return Pred{k, b, len(b.regs) - 1, false}
}

func (k *Kernel) lostPred() Pred {
	p := k.pred()
	p.in.regs[p.id].given = true
	return p
}

func integer(n int64) ptx.Operand { return ptx.Int{Bits: uint64(n)} }
