package litmus

import (
	"regexp"
	"slices"
	"strings"

	"muster/ptx"
)

// code reads the columns of the table.
func (r *reader) code(columns [][]cell) {
	total := 0
	for k, cells := range columns {
		labels := map[string]int{}
		h := &r.t.Threads[k]
		for _, c := range cells {
			for {
				name, rest, ok := label(c)
				if !ok {
					break
				}
				if _, twice := labels[name]; twice {
					r.fail(c.at, "label %s of P%d stands twice", name, k)
				}
				labels[name] = len(h.Code)
				c = rest
			}
			if c.text == "" {
				continue
			}
			if total++; total > maxInstrs {
				r.need(c.at, "more than %d instructions", maxInstrs)
			}
			r.instr(k, c)
		}
		for i := range h.Code {
			in := &h.Code[i]
			if in.Kind != Jump || in.label == "" {
				continue
			}
			at, ok := labels[in.label]
			if !ok {
				panic(&Error{r.t.File, in.Line, in.Col, "no label " + brief(in.label) + " in P" + itoa(k)})
			}
			in.Target = at
		}
	}
}

var labelText = regexp.MustCompile(`^([A-Za-z_$][\w$]*)\s*:(?:\s*|$)`)

func label(c cell) (string, cell, bool) {
	m := labelText.FindStringSubmatch(c.text)
	if m == nil {
		return "", c, false
	}
	n := len(m[0])
	return m[1], cell{c.at + n, c.text[n:]}, true
}

var guard = regexp.MustCompile(`^@(!?)(%?p\d{1,3})\s+`)

// instr reads one instruction of thread k. A guard becomes a jump over it.
func (r *reader) instr(k int, c cell) {
	h := &r.t.Threads[k]
	jump := -1
	if m := guard.FindStringSubmatch(c.text); m != nil {
		line, col := r.position(c.at)
		cmp := Eq
		if m[1] == "!" {
			cmp = Ne
		}
		jump = len(h.Code)
		h.Code = append(h.Code, Instr{Text: strings.TrimSpace(m[0]), Line: line, Col: col, Kind: Jump, Cmp: cmp, Src: []Value{{Reg: r.regOf(c.at, k, m[2]) + 1}, {}}})
		c = cell{c.at + len(m[0]), c.text[len(m[0]):]}
	}
	p := &parsing{r: r, k: k, c: c}
	p.in.Text = strings.Join(strings.Fields(c.text), " ")
	p.in.Line, p.in.Col = r.position(c.at)
	p.in.Barrier = -1
	p.read()
	h.Code = append(h.Code, p.in)
	if jump >= 0 {
		h.Code[jump].Target = len(h.Code)
	}
}

// A parsing is the reading of one instruction.
type parsing struct {
	r     *reader
	k     int
	c     cell
	word  string
	parts []string // of the word, after the first
	used  []bool
	args  []string
	in    Instr
}

func (p *parsing) fail(format string, args ...any) { p.r.fail(p.c.at, format, args...) }
func (p *parsing) need(format string, args ...any) { p.r.need(p.c.at, format, args...) }

var (
	sems     = map[string]Sem{"weak": Weak, "volatile": Volatile, "relaxed": Relaxed, "acquire": Acquire, "release": Release, "acq_rel": AcqRel, "sc": SC}
	scopes   = map[string]Scope{"cta": CTA, "cluster": Cluster, "gpu": GPU, "gl": GPU, "sys": Sys}
	ops      = map[string]Op{"add": Add, "sub": Sub, "mul": Mul, "and": And, "or": Or, "xor": Xor, "min": Min, "max": Max, "inc": Inc, "exch": Exch, "cas": Cas}
	proxies  = map[string]Proxy{"texture": Texture, "surface": Surface, "constant": Constant, "alias": Alias}
	accesses = map[string]struct {
		kind  Kind
		proxy Proxy
	}{
		"ld": {Load, Generic}, "tld": {Load, Texture}, "suld": {Load, Surface}, "cold": {Load, Constant},
		"st": {Store, Generic}, "sust": {Store, Surface},
		"atom": {Atom, Generic}, "suatom": {Atom, Surface}, "red": {Red, Generic}, "sured": {Red, Surface},
	}
	compares = map[string]Op{"eq": IsEq, "ne": IsNe, "lt": IsLess, "ge": IsNotLess, "lo": IsLower, "hs": IsNotLower}
	branches = map[string]struct {
		cmp  Cmp
		swap bool
	}{"beq": {Eq, false}, "bne": {Ne, false}, "blt": {Less, false}, "bge": {NotLess, false}, "bgt": {Less, true}, "ble": {NotLess, true}}
)

// words that say nothing here: state spaces, what caches do, and roundings.
var silent = []string{"global", "shared", "ca", "cg", "cv", "cs", "wb", "wt", "lo", "to", "uni", "aligned"}

func (p *parsing) read() {
	word, rest := p.c.text, ""
	if i := strings.IndexAny(p.c.text, " \t\r\n"); i >= 0 {
		word, rest = p.c.text[:i], p.c.text[i:]
	}
	all := strings.Split(word, ".")
	p.word, p.parts = all[0], all[1:]
	p.used = make([]bool, len(p.parts))
	p.args = arguments(rest)
	p.types()
	access, isAccess := accesses[p.word]
	_, isBranch := branches[p.word]
	_, isOp := ops[p.word]
	if !isAccess && !isBranch && !isOp && !slices.Contains([]string{"fence", "membar", "bar", "barrier", "setp", "bra", "goto", "mov", "cvt", "cvta"}, p.word) {
		p.unknown("this instruction")
	}
	for i, s := range p.parts {
		if !p.used[i] && !known(s) {
			p.unknown("." + s)
		}
	}
	switch {
	case isAccess && !p.local():
		p.access(access.kind, access.proxy)
	case p.word == "fence" || p.word == "membar":
		p.fence()
	case p.word == "bar" || p.word == "barrier":
		p.barrier()
	case p.word == "setp":
		p.compare()
	case p.word == "bra" || p.word == "goto":
		p.count(1, "a label")
		p.in.Kind, p.in.Cmp, p.in.label = Jump, Eq, p.args[0]
		p.in.Src = []Value{{}, {}}
	default:
		p.other()
	}
	for i, u := range p.used {
		if !u && !slices.Contains(silent, p.parts[i]) {
			p.unknown("." + p.parts[i])
		}
	}
}

// known reports whether a part of an instruction is one of some instruction of a litmus test.
func known(s string) bool {
	_, sem := sems[s]
	_, scope := scopes[s]
	_, op := ops[s]
	_, proxy := proxies[s]
	_, cmp := compares[s]
	return sem || scope || op || proxy || cmp || slices.Contains(silent, s) || slices.Contains([]string{"gt", "le", "hi", "ls", "proxy", "sync", "arrive", "v2", "v4"}, s)
}

// unknown tells what is not known in an instruction: PTX that has no place in a litmus test
// yet, or no PTX.
func (p *parsing) unknown(what string) {
	if slices.ContainsFunc(ptx.Forms(), func(f *ptx.Form) bool { return f.Op == p.word }) {
		p.need("%s, of %q", what, brief(p.in.Text))
	}
	p.fail("%q is no instruction of a litmus test", brief(p.in.Text))
}

// types takes the types of the instruction, which are of 32 bits where memory is accessed.
func (p *parsing) types() {
	for i, s := range p.parts {
		switch s {
		case "shared":
			p.r.shared = p.c.at
		case "u32", "s32", "b32", "pred":
			p.used[i] = true
		case "u64", "s64", "b64":
			if _, access := accesses[p.word]; access {
				p.need("accesses of 8 bytes")
			}
			p.used[i] = true
		}
	}
}

// take uses the first part that is a key.
func take[T any](p *parsing, m map[string]T) (v T, ok bool) {
	for i, s := range p.parts {
		if v, ok = m[s]; ok && !p.used[i] {
			p.used[i] = true
			return v, true
		}
	}
	return v, false
}

func (p *parsing) count(n int, what string) {
	if len(p.args) != n {
		p.fail("%q: %s.%s takes %s", brief(p.in.Text), p.word, strings.Join(p.parts, "."), what)
	}
}

// local reports whether an ld is Dat3M's for a register: ld r0, 1.
func (p *parsing) local() bool {
	return p.word == "ld" && len(p.parts) == 0 && len(p.args) == 2
}

func (p *parsing) access(kind Kind, proxy Proxy) {
	p.in.Kind, p.in.Proxy = kind, proxy
	var stated bool
	p.in.Sem, stated = take(p, sems)
	p.in.Scope, _ = take(p, scopes)
	if kind == Atom || kind == Red {
		var ok bool
		if p.in.Op, ok = take(p, ops); !ok || p.in.Op == Mul || kind == Red && p.in.Op >= Exch {
			p.unknown("its operation")
		}
		if slices.Contains(p.parts, "s32") && (p.in.Op == Min || p.in.Op == Max) {
			p.need("the least or greatest of signed values")
		}
		if !stated { // ISA 9.7.13.15: relaxed, and of scope .gpu
			p.in.Sem = Relaxed
		}
		if p.in.Scope == NoScope {
			p.in.Scope = GPU
		}
	}
	p.allowed(kind)
	n := p.elements()
	switch kind {
	case Load:
		p.count(2, "a register and a location")
		p.in.Dst = p.registers(p.args[0], n)
		p.in.At = p.address(p.args[1], n)
	case Store:
		p.count(2, "a location and a value")
		p.in.At = p.address(p.args[0], n)
		p.in.Src = p.values(p.args[1], n)
	case Atom:
		p.atom(1, p.args)
		p.in.Dst = p.registers(p.args[0], 1)
	case Red:
		p.atom(0, p.args)
	}
}

// atom reads the operands of an atomic operation, from the location on.
func (p *parsing) atom(from int, args []string) {
	n := 2
	if p.in.Op == Cas {
		n = 3
	}
	p.count(from+n, "a location, and a value or two")
	p.in.At = p.address(args[from], 1)
	for _, a := range args[from+1:] {
		p.in.Src = append(p.in.Src, p.value(a))
	}
}

// allowed holds semantics and scope to what the ISA has.
func (p *parsing) allowed(kind Kind) {
	s, scope := p.in.Sem, p.in.Scope
	ok := s == Weak || s == Relaxed || s == Volatile
	switch kind {
	case Load:
		ok = ok || s == Acquire
	case Store:
		ok = ok || s == Release
	default:
		ok = s != Weak && s != Volatile && s != SC
	}
	switch {
	case !ok:
		p.fail("%q: no such semantics of %s", brief(p.in.Text), p.word)
	case (s == Weak || s == Volatile) && scope != NoScope:
		p.fail("%q: a weak or volatile access has no scope", brief(p.in.Text))
	case s != Weak && s != Volatile && scope == NoScope:
		p.fail("%q: a strong access has a scope: .cta, .cluster, .gpu or .sys", brief(p.in.Text))
	}
}

func (p *parsing) elements() int {
	n, ok := take(p, map[string]int{"v2": 2, "v4": 4})
	if !ok {
		return 1
	}
	if p.in.Kind != Load && p.in.Kind != Store {
		p.need("vectors of atomic operations")
	}
	return n
}

func (p *parsing) fence() {
	p.count(0, "no operand")
	p.in.Kind = Fence
	for i, s := range p.parts {
		if s != "proxy" {
			continue
		}
		p.used[i] = true
		var ok bool
		if p.in.Proxy, ok = take(p, proxies); !ok {
			p.unknown("this proxy fence")
		}
		p.in.Kind = ProxyFence
		return
	}
	var stated bool
	p.in.Sem, stated = take(p, sems)
	p.in.Scope, _ = take(p, scopes)
	if p.word == "membar" { // ISA 9.7.13.4: fence.sc
		stated, p.in.Sem = !stated, SC
	}
	if !stated && p.word == "fence" && p.in.Scope != NoScope {
		stated, p.in.Sem = true, AcqRel // the default
	}
	if s := p.in.Sem; !stated || p.in.Scope == NoScope || s == Weak || s == Volatile || s == Relaxed {
		p.fail("%q: a fence is fence.sc, .acq_rel, .acquire or .release, and a scope", brief(p.in.Text))
	}
}

// barrier reads Dat3M's bar.cta.sync INSTANCE, ID, QUORUM, and PTX's bar.sync BARRIER, THREADS.
func (p *parsing) barrier() {
	dat3m := p.word == "bar" && len(p.parts) > 0 && p.parts[0] == "cta" && !p.r.herd
	p.in.Kind, p.in.id, p.in.most = Meet, -1, -1
	for i, s := range p.parts {
		if p.used[i] = s == "cta" || s == "sync" || s == "arrive"; s == "arrive" {
			p.in.Arrives = true
		}
	}
	if !slices.Contains(p.parts, "sync") && !p.in.Arrives {
		p.unknown("this barrier")
	}
	most := 2
	if dat3m {
		most = 3
	}
	if len(p.args) < 1 || len(p.args) > most {
		p.fail("%q: a barrier has a number, and perhaps how many threads meet", brief(p.in.Text))
	}
	p.in.instance = p.small(p.args[0])
	last := ""
	switch {
	case dat3m && len(p.args) > 1:
		id := p.value(p.args[1])
		p.in.Src = []Value{id}
		if p.in.id = int(id.Const); id.Reg > 0 {
			p.in.id = -1
		} else if id.Const > 1000 {
			p.fail("%q: barriers have numbers up to 1000", brief(p.in.Text))
		}
		if len(p.args) > 2 {
			last = p.args[2]
		}
	case len(p.args) > 1:
		last = p.args[1]
	}
	if last == "" {
		return
	}
	p.in.most = p.small(last)
	if !dat3m {
		if p.in.most%32 != 0 {
			p.fail("%q: a barrier counts whole warps of 32 threads (each thread of a litmus test is one)", brief(p.in.Text))
		}
		p.in.most /= 32
	}
	if p.in.most == 0 {
		p.fail("%q: a barrier for no thread", brief(p.in.Text))
	}
}

func (p *parsing) small(s string) int {
	v, ok := number(s)
	if !ok || v > 1000 {
		p.fail("%q: %q is no number up to 1000", brief(p.in.Text), brief(s))
	}
	return int(v)
}

func (p *parsing) compare() {
	p.count(3, "a predicate and two values")
	op, ok := take(p, compares)
	if !ok {
		gt, isGT := take(p, map[string]Op{"gt": IsLess, "le": IsNotLess, "hi": IsLower, "ls": IsNotLower})
		if !isGT {
			p.unknown("this comparison")
		}
		op, p.args[1], p.args[2] = gt, p.args[2], p.args[1]
	}
	if slices.Contains(p.parts, "u32") || slices.Contains(p.parts, "u64") {
		op = map[Op]Op{IsEq: IsEq, IsNe: IsNe, IsLess: IsLower, IsNotLess: IsNotLower, IsLower: IsLower, IsNotLower: IsNotLower}[op]
	}
	p.in.Kind, p.in.Op = Move, op
	p.in.Dst = p.registers(p.args[0], 1)
	p.in.Src = []Value{p.value(p.args[1]), p.value(p.args[2])}
}

// other reads what changes registers, and Dat3M's branches.
func (p *parsing) other() {
	if b, ok := branches[p.word]; ok && len(p.parts) == 0 {
		p.count(3, "two values and a label")
		if b.swap {
			p.args[0], p.args[1] = p.args[1], p.args[0]
		}
		p.in.Kind, p.in.Cmp, p.in.label = Jump, b.cmp, p.args[2]
		p.in.Src = []Value{p.value(p.args[0]), p.value(p.args[1])}
		return
	}
	op, known := ops[p.word]
	switch {
	case p.word == "mov" || p.word == "cvt" || p.word == "cvta" || p.local():
		p.count(2, "a register and a value")
		p.in.Kind, p.in.Op = Move, Add
		p.in.Dst = p.registers(p.args[0], 1)
		p.in.Src = []Value{p.operand(p.args[1]), {}}
	case known && op < Inc && op != Min && op != Max:
		p.count(3, "a register and two values")
		p.in.Kind, p.in.Op = Move, op
		p.in.Dst = p.registers(p.args[0], 1)
		p.in.Src = []Value{p.value(p.args[1]), p.value(p.args[2])}
	default:
		p.unknown("this instruction")
	}
}

// arguments splits operands at commas outside of braces.
func arguments(s string) (list []string) {
	depth, from := 0, 0
	add := func(to int) {
		if a := strings.TrimSpace(s[from:to]); a != "" || to < len(s) {
			list = append(list, a)
		}
		from = to + 1
	}
	for i, c := range s {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ',' && depth == 0:
			add(i)
		}
	}
	if strings.TrimSpace(s) != "" {
		add(len(s))
	}
	return list
}
