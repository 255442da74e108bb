package flow

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"muster/internal/axiom"
)

// A litmusTest is one in the format in which Dat3M keeps its tests of PTX: a table
// with a column for each thread, and a condition on the final registers and memory.
type litmusTest struct {
	p     Program
	th    []thread
	where map[string]int // places
	quant string         // exists, ~exists, forall
	cond  cond
}

// A cond is a condition in a final state.
type cond func(f *final) bool

// A final is a final state: a value of each place, and of registers.
type final struct {
	mem  []uint32
	regs func(thread, reg int) uint32
}

var (
	litmusHead   = regexp.MustCompile(`^\s*P(\d+)@cta\s*(\d+)\s*,\s*gpu\s*(\d+)\s*$`)
	litmusLabel  = regexp.MustCompile(`^(LC\w+):$`)
	litmusToken  = regexp.MustCompile(`/\\|\\/|~|\(|\)|==|!=|=|P?\d+:\s*r\d+|\w+`)
	litmusRegInd = regexp.MustCompile(`^r(\d+)$`)
)

// readLitmus reads a test. An unknown construct is an error.
func readLitmus(text string) (*litmusTest, error) {
	l := &litmusTest{where: map[string]int{}}
	open := strings.Index(text, "\n{")
	end := strings.Index(text, "}")
	if open < 0 || end < open {
		return nil, fmt.Errorf("no initial state")
	}
	init := text[open+2 : end]
	rest := text[end+1:]
	at := -1
	for _, q := range []string{"~exists", "exists", "forall", "filter"} {
		if i := strings.Index(rest, q); i >= 0 && (at < 0 || i < at) {
			at, l.quant = i, q
		}
	}
	if at < 0 || l.quant == "filter" {
		return nil, fmt.Errorf("no condition that can be read")
	}
	table, condition := rest[:at], rest[at+len(l.quant):]
	regs := map[[2]int]uint32{}
	if err := l.start(init, regs); err != nil {
		return nil, err
	}
	if err := l.table(table, regs); err != nil {
		return nil, err
	}
	tokens := litmusToken.FindAllString(condition, -1)
	c, left, err := l.or(tokens)
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%q after the condition", left[0])
	}
	l.cond = c
	return l, err
}

func (l *litmusTest) place(name string) (int, error) {
	if at, ok := l.where[name]; ok {
		return at, nil
	}
	if !regexp.MustCompile(`^[a-zA-Z]\w*$`).MatchString(name) || litmusRegInd.MatchString(name) {
		return 0, fmt.Errorf("%q is no location", name)
	}
	at := l.p.Words
	l.where[name] = at
	l.p.Words++
	l.p.Init = append(l.p.Init, 0)
	return at, nil
}

func (l *litmusTest) start(init string, regs map[[2]int]uint32) error {
	for _, d := range strings.Split(init, ";") {
		d = strings.TrimSpace(d)
		if d == "" {
			continue
		}
		name, value, ok := strings.Cut(d, "=")
		if !ok || strings.Contains(d, "@") {
			return fmt.Errorf("initial state %q", d)
		}
		v, err := strconv.ParseUint(strings.TrimSpace(value), 10, 32)
		if err != nil {
			return fmt.Errorf("initial state %q", d)
		}
		name = strings.TrimSpace(name)
		if t, r, ok := strings.Cut(name, ":"); ok {
			n, err := strconv.Atoi(strings.TrimPrefix(t, "P"))
			m := litmusRegInd.FindStringSubmatch(strings.TrimSpace(r))
			if err != nil || m == nil {
				return fmt.Errorf("initial state %q", d)
			}
			i, _ := strconv.Atoi(m[1])
			regs[[2]int{n, i}] = uint32(v)
			continue
		}
		at, err := l.place(name)
		if err != nil {
			return err
		}
		l.p.Init[at] = uint32(v)
	}
	return nil
}

func (l *litmusTest) table(table string, regs map[[2]int]uint32) error {
	var columns [][]string
	for i, row := range strings.Split(strings.TrimSpace(table), ";") {
		if strings.TrimSpace(row) == "" {
			continue
		}
		for k, cell := range strings.Split(row, "|") {
			cell = strings.TrimSpace(cell)
			if i == 0 {
				m := litmusHead.FindStringSubmatch(cell)
				if m == nil || m[1] != fmt.Sprint(k) {
					return fmt.Errorf("thread %q", cell)
				}
				cta, _ := strconv.Atoi(m[2])
				gpu, _ := strconv.Atoi(m[3])
				l.th = append(l.th, thread{gpu: gpu, cta: 16*gpu + cta, warp: k})
				columns = append(columns, nil)
				continue
			}
			if k >= len(columns) {
				return fmt.Errorf("row %q", row)
			}
			if cell != "" {
				columns[k] = append(columns[k], cell)
			}
		}
	}
	for k, cells := range columns {
		t := &l.th[k]
		for key, v := range regs {
			if key[0] == k && v != 0 {
				t.code = append(t.code, Instr{Kind: Move, Op: Add, Dst: []int{key[1]}, Src: []Value{V(v), V(0)}})
			}
		}
		labels, jumps, uses := map[string]int{}, map[int]string{}, map[int]int{}
		for _, cell := range cells {
			if m := litmusLabel.FindStringSubmatch(cell); m != nil {
				labels[m[1]] = len(t.code)
				continue
			}
			in, to, err := l.instr(cell)
			if err != nil {
				return err
			}
			if in.Kind == barrier {
				in.bar = 100*in.bar + uses[in.bar]
				uses[in.bar/100]++
			}
			if to != "" {
				jumps[len(t.code)] = to
			}
			t.code = append(t.code, in)
		}
		t.code = append(t.code, Instr{Kind: halt})
		for i, to := range jumps {
			at, ok := labels[to]
			if !ok {
				return fmt.Errorf("no label %s", to)
			}
			t.code[i].target = at
		}
	}
	return nil
}

func (l *litmusTest) value(s string) (Value, error) {
	if m := litmusRegInd.FindStringSubmatch(s); m != nil {
		r, _ := strconv.Atoi(m[1])
		if r >= MaxRegs {
			return Value{}, fmt.Errorf("register %s", s)
		}
		return R(r), nil
	}
	v, err := strconv.ParseUint(s, 10, 32)
	return V(uint32(v)), err
}

var litmusSems = map[string]axiom.Sem{"weak": axiom.Weak, "relaxed": axiom.Relaxed, "acquire": axiom.Acquire, "release": axiom.Release, "acq_rel": axiom.AcqRel, "sc": axiom.SC}
var litmusScopes = map[string]axiom.Scope{"cta": axiom.CTA, "gpu": axiom.GPU, "sys": axiom.Sys}
var litmusOps = map[string]Op{"add": Add, "sub": Sub, "mul": Mul, "and": And, "or": Or, "xor": Xor, "exch": Exch, "cas": Cas}

// Branches, as the comparison under which they do not jump.
var litmusBranches = map[string]struct {
	c    Cmp
	swap bool
}{"beq": {Ne, false}, "bne": {Eq, false}, "blt": {Ge, false}, "bge": {Lt, false}, "bgt": {Ge, true}, "ble": {Lt, true}}

// instr reads an instruction, and the label that it jumps to.
func (l *litmusTest) instr(cell string) (in Instr, to string, err error) {
	word, rest, _ := strings.Cut(cell, " ")
	parts := strings.Split(word, ".")
	var args []string
	for _, a := range strings.Split(rest, ",") {
		if a = strings.TrimSpace(a); a != "" {
			args = append(args, a)
		}
	}
	unknown := fmt.Errorf("instruction %q", cell)
	values := func(list []string) {
		for _, a := range list {
			v, e := l.value(a)
			if e != nil {
				err = unknown
			}
			in.Src = append(in.Src, v)
		}
	}
	dest := func(s string) {
		v, e := l.value(s)
		if e != nil || v.Reg == 0 {
			err = unknown
		}
		in.Dst = []int{v.Reg - 1}
	}
	location := func(s string) {
		at, e := l.place(s)
		if e != nil {
			err = unknown
		}
		in.At = V(uint32(at))
	}
	qualify := func(list []string) bool {
		ok := len(list) > 0
		if ok {
			in.Sem, ok = litmusSems[list[0]]
		}
		if ok && len(list) > 1 {
			in.Scope, ok = litmusScopes[list[1]]
		}
		return ok && (in.Sem == axiom.Weak || len(list) > 1)
	}
	if b, ok := litmusBranches[word]; ok && len(args) == 3 {
		in.Kind, in.Cmp = jump, b.c
		if b.swap {
			args[0], args[1] = args[1], args[0]
		}
		values(args[:2])
		return in, args[2], err
	}
	op, known := litmusOps[parts[len(parts)-1]]
	switch {
	case word == "goto" && len(args) == 1:
		return Instr{Kind: jump, Cmp: Ne, Src: []Value{V(0), V(0)}}, args[0], nil
	case word == "ld" && len(args) == 2:
		in.Kind, in.Op = Move, Add
		dest(args[0])
		values([]string{args[1], "0"})
	case known && len(parts) == 1 && len(args) == 3:
		in.Kind, in.Op = Move, op
		dest(args[0])
		values(args[1:])
	case parts[0] == "ld" && len(args) == 2 && qualify(parts[1:]):
		in.Kind = Load
		dest(args[0])
		location(args[1])
	case parts[0] == "st" && len(args) == 2 && qualify(parts[1:]):
		in.Kind = Store
		location(args[0])
		values(args[1:])
	case parts[0] == "atom" && known && len(args) >= 3 && qualify(parts[1:len(parts)-1]):
		in.Kind, in.Op = Atom, op
		dest(args[0])
		location(args[1])
		values(args[2:])
	case parts[0] == "red" && known && len(args) == 2 && qualify(parts[1:len(parts)-1]):
		in.Kind, in.Op = Red, op
		location(args[0])
		values(args[1:])
	case parts[0] == "fence" && len(args) == 0 && qualify(parts[1:]):
		in.Kind = Fence
	case parts[0] == "bar" && len(parts) == 3 && parts[1] == "cta" && (len(args) == 1 || len(args) == 2):
		// Threads of a CTA meet by the number of the instruction and that of the
		// barrier. Dat3M does not block here: in the end all have arrived.
		in.Kind, in.split = barrier, parts[2] == "arrive"
		if in.bar, err = strconv.Atoi(args[0]); err != nil {
			err = unknown
		}
		values(args[1:])
	default:
		err = unknown
	}
	return in, "", err
}

// or, and and atom read a condition and give what is left.
func (l *litmusTest) or(s []string) (cond, []string, error) { return l.chain(s, `\/`, l.and) }

func (l *litmusTest) and(s []string) (cond, []string, error) { return l.chain(s, `/\`, l.not) }

func (l *litmusTest) chain(s []string, by string, part func([]string) (cond, []string, error)) (cond, []string, error) {
	c, s, err := part(s)
	for err == nil && len(s) > 0 && s[0] == by {
		var d cond
		a := c
		d, s, err = part(s[1:])
		c = func(f *final) bool {
			x, y := a(f), d(f)
			if by == `/\` {
				return x && y
			}
			return x || y
		}
	}
	return c, s, err
}

func (l *litmusTest) not(s []string) (cond, []string, error) {
	if len(s) == 0 {
		return nil, nil, fmt.Errorf("the condition ends early")
	}
	switch s[0] {
	case "~":
		c, s, err := l.not(s[1:])
		return func(f *final) bool { return !c(f) }, s, err
	case "(":
		c, s, err := l.or(s[1:])
		if err == nil && (len(s) == 0 || s[0] != ")") {
			err = fmt.Errorf("a parenthesis that stays open")
		}
		if err != nil {
			return nil, nil, err
		}
		return c, s[1:], nil
	}
	if len(s) < 3 {
		return nil, nil, fmt.Errorf("condition %q", s)
	}
	a, err := l.term(s[0])
	if err != nil {
		return nil, nil, err
	}
	b, err := l.term(s[2])
	if err != nil {
		return nil, nil, err
	}
	ne := s[1] == "!="
	if !ne && s[1] != "=" && s[1] != "==" {
		return nil, nil, fmt.Errorf("condition %q", s[1])
	}
	return func(f *final) bool { return (a(f) == b(f)) != ne }, s[3:], nil
}

func (l *litmusTest) term(s string) (func(*final) uint32, error) {
	if t, r, ok := strings.Cut(s, ":"); ok {
		n, err := strconv.Atoi(strings.TrimPrefix(t, "P"))
		v, err2 := l.value(strings.TrimSpace(r))
		if err != nil || err2 != nil || n >= len(l.th) {
			return nil, fmt.Errorf("condition %q", s)
		}
		return func(f *final) uint32 { return f.regs(n, v.Reg-1) }, nil
	}
	if v, err := strconv.ParseUint(s, 10, 32); err == nil {
		return func(*final) uint32 { return uint32(v) }, nil
	}
	at, ok := l.where[s]
	if !ok {
		return nil, fmt.Errorf("condition %q", s)
	}
	return func(f *final) uint32 { return f.mem[at] }, nil
}

// holds reports whether the condition holds as it is quantified.
func (l *litmusTest) holds() (bool, error) {
	some, all := false, true
	x := &search{p: &l.p, th: l.th, most: 1_000_000, loops: 2}
	x.found = func(g *graph) bool {
		if g.hangs() {
			return true
		}
		g.finals(func(f *final) {
			if l.cond(f) {
				some = true
			} else {
				all = false
			}
		})
		return true
	}
	x.run()
	switch {
	case x.err != nil:
		return false, x.err
	case x.cut:
		return false, fmt.Errorf("too large")
	case l.quant == "exists":
		return some, nil
	case l.quant == "~exists":
		return !some, nil
	}
	return all, nil
}

// finals gives the final states of an execution: where writes race, each that is
// last in coherence order may be the last.
func (g *graph) finals(f func(*final)) {
	var choice [][]uint32
	for at := range g.p.places() {
		var last []uint32
		for w := range g.ev {
			v := &g.ev[w]
			if !v.writes() || at < v.at || at >= v.at+v.words {
				continue
			}
			newest := true
			for u := range g.ev {
				o := &g.ev[u]
				newest = newest && !(o.writes() && g.co[w].has(u) && at >= o.at && at < o.at+o.words)
			}
			if newest {
				k, _ := g.know(v.val[at-v.at])
				last = append(last, k)
			}
		}
		if last == nil {
			last = []uint32{g.p.start(at)}
		}
		choice = append(choice, last)
	}
	fin := &final{mem: make([]uint32, len(choice)), regs: func(t, r int) uint32 {
		v, _ := g.know(g.state.th[t].regs[r])
		return v
	}}
	var walk func(at int)
	walk = func(at int) {
		if at == len(choice) {
			f(fin)
			return
		}
		for _, v := range choice[at] {
			fin.mem[at] = v
			walk(at + 1)
		}
	}
	walk(0)
}
