package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// This file links modules by the linking directives of the ISA (11.6). link_copy.go copies
// their nodes under the names that they get, link_target.go merges versions and targets.

// maxUnits bounds the texts of one module.
const maxUnits = 1 << 12

// system are the functions that the driver defines for every program (PTX Interoperability,
// system calls).
var system = []string{"vprintf", "malloc", "free", "__assertfail"}

// IsSystem reports whether the system defines a function that no module defines.
func IsSystem(name string) bool { return slices.Contains(system, name) }

// unitMark is what the names end in that Link gives to a symbol whose name another
// module has too, before the number of its unit from 1 on.
const unitMark = "$unit"

// Written returns the name of a symbol as its text has it, for messages: without what Link
// added to keep it apart.
func Written(name string) string {
	if i := strings.LastIndex(name, unitMark); i > 0 {
		if n := strings.Trim(name[i+len(unitMark):], "0123456789_"); n == "" && i+len(unitMark) < len(name) {
			return name[:i]
		}
	}
	return name
}

// Link makes one module of several, as the linker of device code does (nvcc -rdc=true, the
// driver's cuLink functions, nvJitLink), by the linking directives of ISA 11.6:
//
//   - a symbol without a directive is its module's alone. Where another symbol has its name,
//     one of them is renamed, which Written undoes;
//   - .extern declarations, and others without a definition, become the .visible, .weak or
//     .common definition of the name. Their types must agree: the spaces, the sizes of
//     elements and of the whole unless an extent is left out, the alignment, and of
//     functions the number, sizes and alignments of parameters. Which type of one size it
//     is does not matter (.b32, .u32, .f32);
//   - of one name there is at most one .visible definition. Without it the first .weak one
//     counts, or the largest .common one, of which only the largest may have initial values;
//   - a name that is used must be defined, except the functions of the system (IsSystem) and
//     dynamic shared memory, which is one for all modules.
//
// The result has the newest version and an architecture that all modules can be compiled
// for; address sizes and texture modes must be the same. Units keeps each module's own
// version and target, and positions of nodes count it, so that an error, or whatever quotes a
// place, names the right file (UnitAt). Numbers of .file and labels of .debug_str are those
// of the whole; DWARF in other sections refers to the numbers of its own module, and is
// left out, with the target's option debug.
//
// The modules are not changed; the result shares parts with them. An error is an *Error with
// one line. Modules for sm_1x, which has no linker, are refused, and more than 4096 modules.
func Link(mods ...*Module) (*Module, error) {
	l, err := newLinker(mods)
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{l.choose, l.agreeAll, l.copyAll, l.unresolved} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	l.assemble()
	return l.out, nil
}

// A symbol is a name at module scope, in one module.
type symbol struct {
	mod   int
	name  string
	link  Linkage
	decls []Item // *Func without a body, or .extern *Var
	def   Item   // *Func with a body or an alias, *Var; nil if there is none
	alias *Alias // makes def another name of a function
}

// first is where the symbol is first declared.
func (s *symbol) first() Item {
	if s.def != nil {
		return s.def
	}
	return s.decls[0]
}

// A group is one name that is visible to all modules.
type group struct {
	members []*symbol
	chosen  *symbol // its definition; nil if there is none
	used    *symbol // a declaration that is used
	kept    *symbol // the declaration that stands for one without a definition
}

type linker struct {
	mods    []*Module
	base    []int32 // the first unit of each module
	out     *Module
	symbols []map[string]*symbol // by module
	order   [][]*symbol          // as declared
	groups  map[string]*group
	names   []string            // of groups, in order
	rename  []map[string]string // by module
	taken   map[string]bool     // names that no symbol may be given
	ranges  []*Var

	files  map[linkFile]int // numbers of the whole
	number map[[2]int]int   // module and number there
	labels map[string]bool  // of .debug_str
	debug  *Section         // the merged .debug_str
	forth  map[string]bool  // functions that need a declaration before variables
	vars   []*linkedVar     // in order
	byName map[string]*linkedVar
	funcs  []linkedFunc
	heads  []*Func // declarations of the functions
	rest   []Item  // .file, .pragma and other directives
}

type linkFile struct {
	name       string
	time, size int64
}

type linkedVar struct {
	v    *Var
	uses []string
	done bool
}

type linkedFunc struct {
	f       *Func
	aliases []Item
}

func newLinker(mods []*Module) (*linker, error) {
	if len(mods) == 0 {
		return nil, &Error{File: "ptx", Msg: "no module to link"}
	}
	l := &linker{
		mods: mods, out: &Module{Name: mods[0].Name}, groups: map[string]*group{}, taken: map[string]bool{},
		files: map[linkFile]int{}, number: map[[2]int]int{}, labels: map[string]bool{}, forth: map[string]bool{}, byName: map[string]*linkedVar{},
	}
	for _, m := range mods {
		l.base = append(l.base, int32(len(l.out.Units)))
		if m.Units == nil {
			l.out.Units = append(l.out.Units, m.UnitAt(Pos{}))
		}
		l.out.Units = append(l.out.Units, m.Units...)
		if len(l.out.Units) > maxUnits {
			return nil, &Error{File: m.Name, Msg: fmt.Sprintf("more than %d modules to link", maxUnits)}
		}
	}
	if err := l.mergeTargets(); err != nil {
		return nil, err
	}
	for i := range mods {
		if err := l.collect(i); err != nil {
			return nil, err
		}
	}
	l.nameAll()
	return l, nil
}

// at is a position of a module in the whole.
func (l *linker) at(mod int, p Pos) Pos {
	if p != (Pos{}) {
		p.Unit += l.base[mod]
	}
	return p
}

func (l *linker) errorAt(s *symbol, it Item, format string, args ...any) error {
	return l.out.errorAt(l.at(s.mod, itemPos(it)), format, args...)
}

// where names the place of another declaration.
func (l *linker) where(s *symbol, it Item) string {
	p := itemPos(it)
	return fmt.Sprintf("%s:%d:%d", l.mods[s.mod].UnitAt(p).Name, p.Line, p.Col)
}

func itemPos(it Item) Pos {
	switch it := it.(type) {
	case *Func:
		return it.Pos
	case *Var:
		return it.Pos
	}
	return Pos{}
}

// dynamic reports whether a variable is dynamic shared memory.
func (v *Var) dynamic() bool {
	return v.Linkage == "extern" && v.Space == "shared" && len(v.Dims) > 0 && v.Dims[0] < 0
}

// collect enters the symbols of a module.
func (l *linker) collect(mod int) error {
	table := map[string]*symbol{}
	var order []*symbol
	aliases := map[string]*Alias{}
	for _, it := range l.mods[mod].Items {
		if a, ok := it.(*Alias); ok {
			aliases[a.Name] = a
		}
	}
	for _, it := range l.mods[mod].Items {
		var name string
		var link Linkage
		defines := false
		switch x := it.(type) {
		case *Func:
			name, link, defines = x.Name, x.Linkage, x.Body != nil
			if link == "common" {
				return l.out.errorAt(l.at(mod, x.Pos), ".common is for variables in .global, and %s is a function", name)
			}
		case *Var:
			name, link, defines = x.Name, x.Linkage, x.Linkage != "extern"
			if link == "common" && (x.Space != "global" || opaque(x.Type)) {
				return l.out.errorAt(l.at(mod, x.Pos), ".common is for variables in .global without opaque types, and %s is not one", name)
			}
		default:
			continue
		}
		s := table[name]
		if s == nil {
			s = &symbol{mod: mod, name: name, link: link}
			table[name], order = s, append(order, s)
		}
		switch {
		case !defines:
			s.decls = append(s.decls, it)
		case s.def == nil:
			s.def, s.link = it, link
		case s.alias != nil || link != "weak" && link != "common" || s.link != link || !sameKind(s.def, it):
			return l.errorAt(s, it, "%s is defined twice in this module: first at %s", name, l.where(s, s.def))
		}
		if a := aliases[name]; a != nil && s.def == nil {
			f, ok := it.(*Func)
			if !ok {
				return l.out.errorAt(l.at(mod, a.Pos), "alias %s has the name of a variable", name)
			}
			s.def, s.link, s.alias = f, link, a
			s.decls = s.decls[:len(s.decls)-1]
		}
	}
	for _, it := range l.mods[mod].Items {
		if a, ok := it.(*Alias); ok {
			if s := table[a.Name]; s == nil || s.alias == nil {
				return l.out.errorAt(l.at(mod, a.Pos), "alias %s is declared as no function of this module", a.Name)
			}
			if s := table[a.Target]; s == nil || s.def == nil || s.alias != nil || !isFunc(s.def) {
				return l.out.errorAt(l.at(mod, a.Pos), "alias %s stands for %s, which this module does not define as a function", a.Name, a.Target)
			}
		}
	}
	// Declarations that disagree in one module would hide that one of them is wrong.
	for _, s := range order {
		for _, d := range s.decls {
			if why := disagree(d, s.first(), s.link == "common"); why != "" {
				return l.errorAt(s, d, "%s is declared otherwise at %s: %s", s.name, l.where(s, s.first()), why)
			}
		}
	}
	l.symbols, l.order = append(l.symbols, table), append(l.order, order)
	return nil
}

func isFunc(it Item) bool { _, ok := it.(*Func); return ok }

func sameKind(a, b Item) bool { return isFunc(a) == isFunc(b) }

// global reports whether other modules see a symbol.
func (l *linker) global(s *symbol) bool {
	if s.def == nil && isFunc(s.decls[0]) && IsSystem(s.name) {
		return true
	}
	return s.link != ""
}

// nameAll finds the groups, and names for the symbols that are not in one.
func (l *linker) nameAll() {
	for mod, list := range l.order {
		for _, s := range list {
			l.taken[s.name] = true
			if !l.global(s) {
				continue
			}
			g := l.groups[s.name]
			if g == nil {
				g = &group{kept: s}
				l.groups[s.name], l.names = g, append(l.names, s.name)
			}
			g.members = append(g.members, s)
		}
		l.inner(l.mods[mod])
	}
	given := map[string]bool{}
	for name := range l.groups {
		given[name] = true
	}
	for mod, list := range l.order {
		names := map[string]string{}
		for _, s := range list {
			if l.global(s) {
				continue
			}
			if !given[s.name] {
				given[s.name] = true
				continue
			}
			base := fmt.Sprintf("%s%s%d", Written(s.name), unitMark, l.at(mod, itemPos(s.first())).Unit+1)
			name := base
			for n := 2; l.taken[name] || slices.ContainsFunc(l.ranges, func(v *Var) bool { return v.holds(name) }); n++ {
				name = fmt.Sprintf("%s_%d", base, n)
			}
			l.taken[name], given[name], names[s.name] = true, true, name
		}
		l.rename = append(l.rename, names)
	}
}

// inner enters the names inside functions, which a new name must not meet.
func (l *linker) inner(m *Module) {
	add := func(v *Var) {
		if v.Count > 0 {
			if strings.Contains(v.Name, unitMark) {
				l.ranges = append(l.ranges, v)
			}
		} else {
			l.taken[v.Name] = true
		}
	}
	var walk func(b *Block)
	walk = func(b *Block) {
		for _, s := range b.Stmts {
			switch s := s.(type) {
			case *Var:
				add(s)
			case *Label:
				l.taken[s.Name] = true
			case *Targets:
				l.taken[s.Label] = true
			case *Prototype:
				l.taken[s.Label] = true
			case *Block:
				walk(s)
			}
		}
	}
	for _, it := range m.Items {
		f, ok := it.(*Func)
		if !ok || f.Body == nil {
			continue
		}
		for _, v := range slices.Concat(f.Ret, f.Params) {
			add(v)
		}
		walk(f.Body)
	}
}

// choose picks the definition of each group.
func (l *linker) choose() error {
	for _, name := range l.names {
		g := l.groups[name]
		var visible, common, weak, initial *symbol
		for _, s := range g.members {
			switch {
			case s.def == nil:
			case s.link == "visible":
				if visible != nil {
					return l.errorAt(s, s.def, "%s is defined .visible here and at %s", name, l.where(visible, visible.def))
				}
				visible = s
			case s.link == "common":
				v := s.def.(*Var)
				if v.Init != nil {
					if initial != nil {
						return l.errorAt(s, s.def, "%s has initial values here and at %s: one definition of a .common variable may", name, l.where(initial, initial.def))
					}
					initial = s
				}
				if common == nil || sizeOf(v) > sizeOf(common.def.(*Var)) || sizeOf(v) == sizeOf(common.def.(*Var)) && v.Init != nil {
					common = s
				}
			case weak == nil:
				weak = s
			}
		}
		if initial != nil && initial != common {
			return l.errorAt(initial, initial.def, "%s has initial values and %s here, and %s at %s: the largest definition of a .common variable may have them", name,
				plainBytes(sizeOf(initial.def.(*Var))), plainBytes(sizeOf(common.def.(*Var))), l.where(common, common.def))
		}
		for _, s := range []*symbol{weak, common, visible} {
			if s != nil {
				g.chosen = s
			}
		}
	}
	return nil
}

// agreeAll holds every declaration of a group to what was chosen.
func (l *linker) agreeAll() error {
	for _, name := range l.names {
		g := l.groups[name]
		to, what := g.kept, "declared"
		if g.chosen != nil {
			to, what = g.chosen, "defined"
		}
		common := slices.ContainsFunc(g.members, func(s *symbol) bool { return s.def != nil && s.link == "common" })
		for _, s := range g.members {
			it := s.first()
			if s == to {
				continue
			}
			if why := disagree(it, to.first(), common); why != "" {
				return l.errorAt(s, it, "%s is %s otherwise at %s: %s", name, what, l.where(to, to.first()), why)
			}
		}
	}
	return nil
}

func opaque(t string) bool { return t == "texref" || t == "samplerref" || t == "surfref" }

// elemSize is the size of an element of a variable, in bytes.
func elemSize(v *Var) int64 { return types[v.Type] * int64(max(v.Vec, 1)) }

// sizeOf is the size of a variable in bytes; -1 if it is left open.
func sizeOf(v *Var) int64 {
	n := elemSize(v)
	for i, d := range v.Dims {
		switch {
		case d >= 0:
		case i == 0 && v.Init != nil:
			d = int64(len(v.Init.List))
		default:
			return -1
		}
		n *= d
	}
	return n
}

// disagree says how two declarations of one name differ; "" if they agree.
func disagree(decl, def Item, common bool) string {
	if !sameKind(decl, def) {
		return fmt.Sprintf("%s here, %s there", itemKind(decl), itemKind(def))
	}
	if v, ok := decl.(*Var); ok {
		return disagreeVars(v, def.(*Var), common)
	}
	f, g := decl.(*Func), def.(*Func)
	if f.Entry != g.Entry {
		return fmt.Sprintf("%s here, %s there", itemKind(decl), itemKind(def))
	}
	if why := disagreeParams("result", f.Ret, g.Ret); why != "" {
		return why
	}
	return disagreeParams("parameter", f.Params, g.Params)
}

func itemKind(it Item) string {
	switch f, ok := it.(*Func); {
	case !ok:
		return "a variable"
	case f.Entry:
		return "a kernel"
	}
	return "a function"
}

func disagreeVars(v, w *Var, common bool) string {
	a, b := sizeOf(v), sizeOf(w)
	switch {
	case v.Space != w.Space:
		return fmt.Sprintf("in .%s here, in .%s there", v.Space, w.Space)
	case opaque(v.Type) != opaque(w.Type) || opaque(v.Type) && v.Type != w.Type:
		return fmt.Sprintf("of type .%s here, .%s there", v.Type, w.Type)
	case v.dynamic() || w.dynamic():
		if v.dynamic() == w.dynamic() {
			return "" // both begin at one place, aligned for each
		}
		if v.dynamic() && w.Linkage != "extern" {
			break
		}
		return "dynamic shared memory in one place alone"
	case common && a > b && b >= 0:
		return fmt.Sprintf("%s here, %s there", plainBytes(a), plainBytes(b))
	case common:
		return ""
	case elemSize(v) != elemSize(w):
		return fmt.Sprintf("elements of %s here, of %s there", plainBytes(elemSize(v)), plainBytes(elemSize(w)))
	case a >= 0 && b >= 0 && a != b:
		return fmt.Sprintf("%s here, %s there", plainBytes(a), plainBytes(b))
	}
	if v.alignment() > w.alignment() {
		return fmt.Sprintf("aligned to %s here, to %s there", plainBytes(v.alignment()), plainBytes(w.alignment()))
	}
	return ""
}

func disagreeParams(what string, v, w []*Var) string {
	if len(v) != len(w) {
		return fmt.Sprintf("%d %ss here, %d there", len(v), what, len(w))
	}
	for i := range v {
		a, b := sizeOf(v[i]), sizeOf(w[i])
		switch {
		case v[i].Space != w[i].Space:
			return fmt.Sprintf("%s %d in .%s here, in .%s there", what, i+1, v[i].Space, w[i].Space)
		case a >= 0 && b >= 0 && a != b:
			return fmt.Sprintf("%s %d of %s here, of %s there", what, i+1, plainBytes(a), plainBytes(b))
		case v[i].Space == "param" && v[i].alignment() != w[i].alignment():
			return fmt.Sprintf("%s %d aligned to %s here, to %s there", what, i+1, plainBytes(v[i].alignment()), plainBytes(w[i].alignment()))
		}
	}
	return ""
}

func plainBytes(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// unresolved reports a name that is used and defined nowhere.
func (l *linker) unresolved() error {
	for _, name := range l.names {
		g := l.groups[name]
		if g.used == nil || g.chosen != nil || IsSystem(name) {
			continue
		}
		it := g.used.decls[0]
		if v, ok := it.(*Var); ok && v.dynamic() {
			continue
		}
		link := "without a body"
		if g.used.link == "extern" {
			link = ".extern"
		}
		return l.errorAt(g.used, it, "%s is declared %s, and no module defines it", name, link)
	}
	return nil
}

// assemble puts the copies in an order in which names are declared before they are used.
func (l *linker) assemble() {
	m := l.out
	m.Items = l.rest
	if l.debug != nil {
		m.Items = append(m.Items, l.debug)
	}
	m.Items = append(m.Items, l.declared()...)
	var put func(v *linkedVar, depth int)
	put = func(v *linkedVar, depth int) {
		if v.done {
			return
		}
		v.done = true
		if depth < maxDepth {
			for _, n := range v.uses {
				if w := l.byName[n]; w != nil {
					put(w, depth+1)
				}
			}
		}
		m.Items = append(m.Items, v.v)
	}
	for _, v := range l.vars {
		put(v, 0)
	}
	for _, f := range l.funcs {
		m.Items = append(m.Items, f.f)
		m.Items = append(m.Items, f.aliases...)
	}
}

// Refers returns the names that a module uses and does not define, system functions and
// dynamic shared memory aside, and those that it defines for other modules. Both are empty
// for a module that cannot be linked.
func Refers(m *Module) (needs, gives []string) {
	l, err := newLinker([]*Module{m})
	if err != nil || l.choose() != nil || l.copyAll() != nil {
		return nil, nil
	}
	for _, name := range l.names {
		switch g := l.groups[name]; {
		case g.chosen != nil:
			gives = append(gives, name)
		case g.used != nil && !IsSystem(name):
			if v, ok := g.used.decls[0].(*Var); !ok || !v.dynamic() {
				needs = append(needs, name)
			}
		}
	}
	return needs, gives
}

// A LinkSet is modules of which some refer to others, as those of a program are.
type LinkSet struct {
	mods  []*Module
	refs  map[*Module]linkRefs
	gives map[string]*Module
}

type linkRefs struct{ needs, gives []string }

// NewLinkSet returns the set of some modules. Of several that define a name for others, the
// first does.
func NewLinkSet(mods []*Module) *LinkSet {
	s := &LinkSet{mods: mods, refs: map[*Module]linkRefs{}, gives: map[string]*Module{}}
	for _, m := range mods {
		r := linkRefs{}
		r.needs, r.gives = Refers(m)
		s.refs[m] = r
		for _, name := range r.gives {
			if s.gives[name] == nil {
				s.gives[name] = m
			}
		}
	}
	return s
}

// With returns a module of the set, and behind it those that it refers to, directly or through
// others.
func (s *LinkSet) With(m *Module) []*Module {
	set := []*Module{m}
	for k := 0; k < len(set); k++ {
		for _, need := range s.refs[set[k]].needs {
			if o := s.gives[need]; o != nil && !slices.Contains(set, o) {
				set = append(set, o)
			}
		}
	}
	return set
}
