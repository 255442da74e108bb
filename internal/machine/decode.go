package machine

import (
	"errors"
	"fmt"
	"strings"

	"muster/internal/diag"
	"muster/internal/flow"
	"muster/ptx"
)

// This file turns a kernel's syntax into a Program: it lays out symbols,
// gives every register a row, and hands each instruction to the decoder that
// its opcode is listed under. What no decoder takes becomes an instruction
// that stops the run with its name when it is reached, never before: a kernel
// may carry instructions that this launch does not execute.

// Decode prepares the entry named kernel of m; an empty name picks the only
// entry there is.
func Decode(m *ptx.Module, kernel string) (*Program, error) { return DecodeAt(m, kernel, nil) }

// DecodeAt is Decode with addresses for variables of the module, by name. The others lie where
// the machine puts them.
func DecodeAt(m *ptx.Module, kernel string, at map[string]uint64) (*Program, error) {
	return DecodeAll([]Called{{Module: m, Kernel: kernel}}, false, at)
}

// Called is a kernel by its module and name. An empty name is the only kernel there is.
type Called struct {
	Module *ptx.Module
	Kernel string
	// Space, if not 0, numbers the module among those of a sequence of launches: its variables
	// lie at the same places whichever kernel of it runs.
	Space int
}

// DecodeAll prepares several kernels for one machine, in which their launches run side by
// side, if there are several launches. Kernels of one module share its variables.
func DecodeAll(kernels []Called, several bool, at map[string]uint64) (*Program, error) {
	d := &decoder{
		prog:  &Program{},
		k32:   map[uint32]reg{},
		k64:   map[uint64]reg{},
		tests: map[testedPhase]int32{}, symbols: map[*symbol]int32{},
		placed: map[*ptx.Var]*symbol{}, free: globalsAt, spaces: map[int]uint64{}, texts: map[*ptx.Module]*text{},
		at: at,
	}
	d.prog.grids = several
	for i, k := range kernels {
		if err := d.kernel(k, i == 0); err != nil {
			return nil, err
		}
	}
	d.followTokens()
	return d.prog, nil
}

// kernel decodes a kernel with the functions that it may call.
func (d *decoder) kernel(k Called, first bool) error {
	m := k.Module
	for _, check := range []func(*ptx.Module) []*ptx.Error{ptx.CheckTarget, ptx.CheckNames, ptx.CheckOperands} {
		if bad := check(m); len(bad) > 0 {
			return &DecodeError{File: bad[0].File, Pos: bad[0].Pos, Msg: bad[0].Msg}
		}
	}
	f, err := findEntry(m, k.Kernel)
	if err != nil {
		return err
	}
	if d.space = k.Space; d.space > 0 {
		d.free = max(d.spaces[d.space], globalsAt+uint64(d.space)*maxVar*16)
	}
	defer func() { d.spaces[d.space] = d.free }()
	d.mod, d.fns, d.shares = m, map[string]int32{}, nil
	d.root, d.decls, d.aliases = &scope{names: map[string]*symbol{}}, map[string]*ptx.Func{}, map[string]string{}
	if d.entry = &d.prog.Entry; !first {
		d.entry = &Entry{}
		d.prog.more = append(d.prog.more, d.entry)
	}
	d.entry.Module, d.entry.Kernel, d.entry.fn = m, f, int32(len(d.prog.funcs))
	if d.texts[m] == nil {
		d.texts[m] = &text{module: m, files: map[int]string{}, strs: map[string]string{}}
	}
	d.entry.text = d.texts[m]
	return d.module(f)
}

func findEntry(m *ptx.Module, kernel string) (*ptx.Func, error) {
	var entries []*ptx.Func
	for _, it := range m.Items {
		if f, ok := it.(*ptx.Func); ok && f.Entry && f.Body != nil {
			if f.Name == kernel {
				return f, nil
			}
			entries = append(entries, f)
		}
	}
	names := diag.Several(Kernels(m))
	switch {
	case len(entries) == 0:
		return nil, fmt.Errorf("%s: no kernel (.entry) in this module", m.Name)
	case kernel != "":
		return nil, fmt.Errorf("%s: no kernel %q%s; there is: %s", m.Name, kernel, diag.Meant(diag.NearestSymbol(kernel, Kernels(m))), names)
	case len(entries) > 1:
		return nil, fmt.Errorf("%s: several kernels, name one of: %s", m.Name, names)
	}
	return entries[0], nil
}

// A decodeFn decodes one instruction. It returns errNotModelled for a form
// that the machine does not execute.
type decodeFn func(d *decoder, in *ptx.Inst) error

var errNotModelled = errors.New("not modelled")

// decoders is filled from the tables of the instruction families.
var decoders = join(controlDecoders, aluDecoders, memoryDecoders, syncDecoders, asyncDecoders, tensormapDecoders, matrixDecoders, wgmmaDecoders, tcgen05Decoders, launchDecoders)

func join(tables ...map[string]decodeFn) map[string]decodeFn {
	all := map[string]decodeFn{}
	for _, t := range tables {
		for op, fn := range t {
			if all[op] != nil {
				panic("BUG: two decoders for " + op)
			}
			all[op] = fn
		}
	}
	return all
}

type decoder struct {
	prog *Program
	// placed are the variables of modules that have an address; from free on there is room.
	placed map[*ptx.Var]*symbol
	free   uint64
	space  int            // Called.Space
	spaces map[int]uint64 // free, by space
	texts  map[*ptx.Module]*text

	// the kernel being decoded
	mod     *ptx.Module
	entry   *Entry
	decls   map[string]*ptx.Func
	fns     map[string]int32
	tests   map[testedPhase]int32
	symbols map[*symbol]int32
	root    *scope
	// aliases maps the second names that .alias gives to their functions.
	aliases map[string]string
	// at are the addresses that variables are given, by name.
	at map[string]uint64

	k32 map[uint32]reg
	k64 map[uint64]reg

	// the function being decoded
	fn     *function
	index  int32
	scope  *scope
	guard  reg
	not    bool
	loc    *ptx.Loc
	cur    *ptx.Inst
	marks  uint64 // the modifiers of cur that its decoder has read
	fixups []fixup
	// its registers, except parameters
	declared []declaredRegister

	sigs   []*scope            // parameters, by function
	shares map[*ptx.Var]uint64 // static shared variables of bodies
}

type fixup struct {
	pc    int32
	label *symbol
	set   func(target int32)
}

// A symbol is what a name stands for.
type symbol struct {
	kind  symKind
	typ   typ
	reg   reg // symReg: its row; vectors take Vec consecutive rows
	vec   int
	addr  uint64 // address in its space
	size  uint64
	align uint64 // of module variables
	pc    int32  // symLabel
	bound bool
	fn    string
	v     *ptx.Var
	list  *ptx.Targets // symList
}

type symKind uint8

const (
	symReg symKind = iota
	symShared
	symDynamic
	symGlobal
	symLocal  // .local and .param variables of a function: offset in the frame
	symParam  // kernel parameter
	symFormal // parameter of a .func held in a frame
	symLabel
	symFunc
	symList
	symTexture
)

type regRange struct {
	prefix string
	first  reg
	count  int
	typ    typ
	vec    int
}

type scope struct {
	up     *scope
	names  map[string]*symbol
	ranges []regRange
}

func (s *scope) find(name string) *symbol {
	for ; s != nil; s = s.up {
		if y := s.names[name]; y != nil {
			return y
		}
		for i := range s.ranges {
			if r := s.ranges[i].lookup(name); r != nil {
				s.names[name] = r
				return r
			}
		}
	}
	return nil
}

// lookup resolves %r17 in the range %r<100>.
func (r *regRange) lookup(name string) *symbol {
	if !strings.HasPrefix(name, r.prefix) {
		return nil
	}
	digits := name[len(r.prefix):]
	if digits == "" || len(digits) > 9 || digits[0] == '0' && len(digits) > 1 {
		return nil
	}
	n := 0
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return nil
		}
		n = n*10 + int(c-'0')
	}
	if n >= r.count {
		return nil
	}
	return &symbol{kind: symReg, typ: r.typ, reg: r.first + reg(n*max(r.vec, 1))*regsPer(r.typ), vec: r.vec}
}

// regsPer is how many rows of its class a register takes.
func regsPer(t typ) reg {
	if t == b128 {
		return 2
	}
	return 1
}

func (d *decoder) errorf(format string, args ...any) error {
	var pos ptx.Pos
	if d.cur != nil {
		pos = d.cur.Pos
	}
	return d.errorAt(pos, format, args...)
}

func (d *decoder) errorAt(pos ptx.Pos, format string, args ...any) error {
	return &DecodeError{File: d.mod.UnitAt(pos).Name, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

// unit is what the text of the current function says about itself.
func (d *decoder) unit() ptx.Unit { return d.mod.UnitAt(d.fn.decl.Pos) }

func (d *decoder) module(entry *ptx.Func) error {
	for _, it := range d.mod.Items {
		switch it := it.(type) {
		case *ptx.Func:
			if old := d.decls[it.Name]; old == nil || old.Body == nil {
				d.decls[it.Name] = it
			}
		case *ptx.Alias:
			d.aliases[it.Name] = it.Target
		case *ptx.File:
			d.entry.text.files[it.Index] = it.Name
		case *ptx.Section:
			d.debugStrings(it)
		}
	}
	reach, names := d.reachable(entry)
	if err := d.layout(reach, names); err != nil {
		return err
	}
	if err := d.attributes(entry); err != nil {
		return err
	}
	for _, f := range reach {
		d.fns[f.Name] = int32(len(d.prog.funcs))
		fn := function{name: f.Name, text: d.entry.text, decl: f, entry: -1}
		if f.Body == nil { // of the system
			fn.builtin = builtins[f.Name]
			d.prog.allocates = d.prog.allocates || f.Name == heapMalloc || f.Name == heapFree
		}
		d.prog.funcs = append(d.prog.funcs, fn)
	}
	d.prog.flow.Funcs = append(d.prog.flow.Funcs, make([]flow.Func, len(reach))...)
	for i, f := range reach {
		if err := d.signature(d.entry.fn+int32(i), f); err != nil {
			return err
		}
	}
	for i, f := range reach {
		if f.Body == nil {
			continue
		}
		if err := d.function(d.entry.fn+int32(i), f); err != nil {
			return err
		}
	}
	return nil
}

// debugStrings keeps the names that .debug_str holds, for inlined functions.
func (d *decoder) debugStrings(s *ptx.Section) {
	if s.Name != ".debug_str" {
		return
	}
	label := ""
	var text []byte
	flush := func() {
		if label != "" {
			d.entry.text.strs[label] = string(text)
		}
		text = text[:0]
	}
	for _, it := range s.Items {
		if it.Label != "" {
			flush()
			label = it.Label
		}
		for _, op := range it.Data {
			if v, ok := op.(ptx.Int); ok && v.Bits != 0 && it.Type == "b8" {
				text = append(text, byte(v.Bits))
			}
		}
	}
	flush()
}

// reachable returns the functions that entry may call, entry first, and every
// name that their bodies and the initializers of module variables mention.
func (d *decoder) reachable(entry *ptx.Func) ([]*ptx.Func, map[string]bool) {
	names := map[string]bool{}
	seen := map[string]bool{entry.Name: true}
	list := []*ptx.Func{entry}
	vars := map[string]*ptx.Var{}
	for _, it := range d.mod.Items {
		if v, ok := it.(*ptx.Var); ok {
			vars[v.Name] = v
		}
	}
	visit := func(n string) {
		if names[n] {
			return
		}
		names[n] = true
		if to, ok := d.aliases[n]; ok {
			n = to
		}
		if f := d.decls[n]; f != nil && !f.Entry && !seen[n] {
			seen[n] = true
			list = append(list, f)
		}
	}
	var mention func(n string)
	mention = func(n string) {
		if names[n] {
			return
		}
		visit(n)
		if v := vars[n]; v != nil && v.Init != nil {
			initNames(v.Init, mention)
		}
	}
	for i := 0; i < len(list); i++ {
		if list[i].Body != nil {
			blockNames(list[i].Body, mention)
		}
	}
	return list, names
}

func initNames(in *ptx.Init, visit func(string)) {
	if in.Expr != nil {
		operandNames(in.Expr, visit)
	}
	for _, e := range in.List {
		initNames(e, visit)
	}
}

func blockNames(b *ptx.Block, visit func(string)) {
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *ptx.Inst:
			for _, op := range s.Operands {
				operandNames(op, visit)
			}
		case *ptx.Block:
			blockNames(s, visit)
		case *ptx.Targets:
			for _, n := range s.Names {
				visit(n)
			}
		}
	}
}

func operandNames(op ptx.Operand, visit func(string)) {
	switch op := op.(type) {
	case ptx.Name:
		visit(string(op))
	case *ptx.Vector:
		for _, e := range op.Elems {
			operandNames(e, visit)
		}
	case *ptx.List:
		for _, e := range op.Elems {
			operandNames(e, visit)
		}
	case *ptx.Mem:
		if op.Base != nil {
			operandNames(op.Base, visit)
		}
		for _, e := range op.Rest {
			operandNames(e, visit)
		}
	case *ptx.Unary:
		operandNames(op.X, visit)
	case *ptx.Binary:
		operandNames(op.X, visit)
		operandNames(op.Y, visit)
	}
}

// attributes reads what the kernel declares about its launch.
func (d *decoder) attributes(f *ptx.Func) error {
	for _, a := range f.Attrs {
		var v [3]uint32
		for i := range v {
			v[i] = 1
		}
		for i, op := range a.Args {
			n, ok := op.(ptx.Int)
			if ok && i < 3 {
				v[i] = uint32(n.Bits)
			}
		}
		switch a.Name {
		case "reqntid":
			d.entry.ReqBlock = v
		case "maxntid":
			d.entry.MaxThreads = v[0] * v[1] * v[2]
		case "reqnctapercluster":
			d.entry.ReqCluster = v
		case "maxclusterrank":
			d.entry.MaxCluster = v[0]
		case "explicitcluster":
			d.entry.Explicit = true
		case "blocksareclusters":
			return d.errorAt(a.Pos, ".blocksareclusters, a grid that counts clusters, is not modelled")
		case "maxnreg":
			d.entry.MaxRegs = v[0]
		case "minnctapersm":
			d.entry.MinCTAs = v[0]
		}
	}
	return nil
}

// function decodes the body of reachable function i.
func (d *decoder) function(i int32, f *ptx.Func) error {
	d.index, d.fn = i, &d.prog.funcs[i]
	d.scope = d.fnScopes(i)
	d.loc, d.fixups, d.declared = nil, nil, nil
	d.fn.entry = int32(len(d.prog.code))
	if err := d.stmts(f.Body); err != nil {
		return err
	}
	d.cur = nil
	d.guard = noGuard
	// Falling off the end of a body returns.
	if f.Entry {
		d.emit(instr{class: visible, visit: visitExit})
	} else {
		d.emit(instr{class: branch, exec: execRet})
	}
	for _, fx := range d.fixups {
		if !fx.label.bound {
			return d.errorAt(d.prog.code[fx.pc].pos, "label %s is not defined in this scope", fx.label.fn)
		}
		fx.set(fx.label.pc)
	}
	d.tellFlow()
	d.watchFragments(d.fn.entry)
	d.watchUnset()
	d.fn.declared = d.declared
	return nil
}

// stmts decodes a block in a scope of its own.
func (d *decoder) stmts(b *ptx.Block) error {
	d.scope = &scope{up: d.scope, names: map[string]*symbol{}}
	defer func() { d.scope = d.scope.up }()
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *ptx.Label:
			if d.scope.names[s.Name] != nil {
				return d.errorAt(s.Pos, "label %s is defined twice", s.Name)
			}
			d.scope.names[s.Name] = &symbol{kind: symLabel, fn: s.Name}
		case *ptx.Targets:
			d.scope.names[s.Label] = &symbol{kind: symList, fn: s.Label, list: s}
		}
	}
	for _, s := range b.Stmts {
		if err := d.stmt(s); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) stmt(s ptx.Stmt) error {
	switch s := s.(type) {
	case *ptx.Label:
		y := d.scope.names[s.Name]
		y.pc, y.bound = int32(len(d.prog.code)), true
	case *ptx.Loc:
		d.loc = s
	case *ptx.Var:
		return d.declare(s)
	case *ptx.Block:
		return d.stmts(s)
	case *ptx.Inst:
		return d.inst(s)
	}
	return nil
}

// inst decodes one instruction with its guard.
func (d *decoder) inst(in *ptx.Inst) error {
	d.cur, d.guard, d.not = in, noGuard, false
	if g := in.Guard; g != nil {
		y := d.scope.find(g.Reg)
		if y == nil || y.kind != symReg || y.typ != pred {
			return d.errorf("%s is no predicate register", g.Reg)
		}
		d.guard, d.not = y.reg, g.Not
	}
	mark := len(d.prog.code)
	err := d.decodeForm(in)
	if errors.Is(err, errNotModelled) {
		d.prog.code = d.prog.code[:mark]
		i := instr{class: visible, visit: visitUnmodelled, unmodelled: true}
		if why := notModelled(""); errors.As(err, &why) {
			i.x = why
		}
		d.emit(i)
		return nil
	}
	if n := len(d.prog.code); err == nil && n > mark {
		d.use(in, int32(n-1))
	}
	return err
}

// emit appends an instruction under the current guard.
func (d *decoder) emit(in instr) *instr {
	in.guard, in.not = d.guard, d.not
	in.loc, in.src, in.fn = d.loc, d.cur, d.index
	in.meet = mustMeet(d.cur)
	if d.cur != nil {
		in.pos = d.cur.Pos
	}
	d.prog.code = append(d.prog.code, in)
	return &d.prog.code[len(d.prog.code)-1]
}

// Name returns the full opcode of an instruction: "add.s32".
func Name(in *ptx.Inst) string { return in.Opcode() }

// has reports whether the instruction carries a modifier.
func has(in *ptx.Inst, mod string) bool {
	for _, m := range in.Mods {
		if m == mod {
			return true
		}
	}
	return false
}

// lastType returns the type that the last modifier names, or tNone.
func lastType(in *ptx.Inst) typ {
	if len(in.Mods) == 0 {
		return tNone
	}
	return typNames[in.Mods[len(in.Mods)-1]]
}
