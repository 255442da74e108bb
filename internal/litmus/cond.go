package litmus

import (
	"fmt"
	"regexp"
	"strings"
)

// A Cond is a condition on a final state: all or any of its parts, or a comparison.
type Cond struct {
	Op    CondOp
	Parts []*Cond // of All, Any and Not
	// Of a comparison: terms, or with Left or Right less than 0 a constant.
	Left, Right int // of Test.Observed
	A, B        uint32
}

// A CondOp is what a condition asks.
type CondOp uint8

const (
	All CondOp = iota
	Any
	Not
	Same
	Differ
	True
)

// A Term is a register of a thread, or a word of memory.
type Term struct {
	Thread, Reg int // Thread less than 0: a word
	Word        int
	Name        string
}

// Holds evaluates a condition for the values of the observed terms.
func (c *Cond) Holds(v []uint32) bool {
	switch c.Op {
	case All:
		for _, p := range c.Parts {
			if !p.Holds(v) {
				return false
			}
		}
		return true
	case Any:
		for _, p := range c.Parts {
			if p.Holds(v) {
				return true
			}
		}
		return false
	case Not:
		return !c.Parts[0].Holds(v)
	case True:
		return true
	}
	a, b := c.A, c.B
	if c.Left >= 0 {
		a = v[c.Left]
	}
	if c.Right >= 0 {
		b = v[c.Right]
	}
	return (a == b) == (c.Op == Same)
}

// text writes a condition as herd does.
func (c *Cond) text(t *Test) string {
	switch c.Op {
	case All, Any:
		by := ` /\ `
		if c.Op == Any {
			by = ` \/ `
		}
		var parts []string
		for _, p := range c.Parts {
			s := p.text(t)
			if p.Op <= Any && p.Op != c.Op {
				s = "(" + s + ")"
			}
			parts = append(parts, s)
		}
		return strings.Join(parts, by)
	case Not:
		return "~(" + c.Parts[0].text(t) + ")"
	case True:
		return "true"
	}
	side := func(i int, k uint32) string {
		if i < 0 {
			return fmt.Sprint(k)
		}
		return t.Observed[i].Name
	}
	op := " = "
	if c.Op == Differ {
		op = " != "
	}
	return side(c.Left, c.A) + op + side(c.Right, c.B)
}

// CondText writes the question of a test.
func (t *Test) CondText() string { return t.Quant.String() + " (" + t.Cond.text(t) + ")" }

// A token is a word of a condition, with its offset.
type token struct {
	at   int
	text string
}

var condToken = regexp.MustCompile(`^(?:/\\|\\/|~|\(|\)|\[|\]|==|!=|<>|=|&&|\|\||!|;|-?\w+|%\w+|:|.)`)

func (r *reader) tokens(from, to int) (list []token) {
	for at := r.space(from); at < to; at = r.space(at) {
		m := condToken.FindString(r.src[at:to])
		if m == "" {
			r.fail(at, "not a condition")
		}
		list = append(list, token{at, m})
		at += len(m)
	}
	return list
}

// tail reads what follows the table.
func (r *reader) tail(at int) {
	asked := false
	for at = r.space(at); at < len(r.src); at = r.space(at) {
		if r.src[at] == ';' {
			at++
			continue
		}
		m := section.FindStringSubmatchIndex(r.src[at:])
		if m == nil {
			r.fail(at, "%q after the table: locations, a filter or a condition is expected", brief(firstLine(r.src[at:])))
		}
		if m[2] < 0 { // x: global
			at = r.spaces(at)
			continue
		}
		word := strings.ToLower(strings.Join(strings.Fields(r.src[at+m[2]:at+m[3]]), ""))
		start := at
		at += m[3]
		switch word {
		case "scopetree":
			at = r.tree(at)
		case "locations":
			at = r.locations(at)
		case "final":
			r.fail(start, "final is not of this format: exists, ~exists or forall is")
		case "filter":
			if r.t.Filter != nil {
				r.fail(start, "a second filter")
			}
			r.t.Filter, at = r.condition(at)
		default:
			if asked {
				r.fail(start, "a second condition")
			}
			asked = true
			r.t.Quant = map[string]Quant{"exists": Exists, "~exists": NotExists, "notexists": NotExists, "forall": Forall}[word]
			r.t.Cond, at = r.condition(at)
		}
	}
	if !asked {
		r.fail(len(r.src), "no condition: exists, ~exists or forall at the end")
	}
}

var spaceMap = regexp.MustCompile(`(?i)^([A-Za-z]\w*)\s*:\s*(global|shared|generic)\s*,?`)

// spaces reads a map of state spaces, which the axioms do not tell apart (ISA 8.3).
func (r *reader) spaces(at int) int {
	for {
		m := spaceMap.FindStringSubmatch(r.src[at:])
		if m == nil {
			return at
		}
		if strings.EqualFold(m[2], "shared") {
			r.shared = at
		}
		at = r.space(at + len(m[0]))
	}
}

// locations reads what is observed beside the conditions: [x; P0:r1;].
func (r *reader) locations(at int) int {
	at = r.space(at)
	end := -1
	for depth, i := 0, at; i < len(r.src); i++ {
		switch r.src[i] {
		case '[':
			depth++
		case ']':
			depth--
		}
		if depth == 0 {
			end = i - at
			break
		}
	}
	if end < 1 {
		r.fail(at, "locations are listed in brackets: [x; P0:r0;]")
	}
	c := &conditions{r: r, list: r.tokens(at+1, at+end)}
	for c.at < len(c.list) {
		if c.list[c.at].text == ";" {
			c.at++
			continue
		}
		if c.term(); c.last.Name == "" {
			r.fail(c.list[c.at-1].at, "a constant is no location")
		}
	}
	return at + end + 1
}

// condition reads a condition, and returns where it ends: at the next section.
func (r *reader) condition(at int) (*Cond, int) {
	end := len(r.src)
	for i := at; i < end; i++ {
		if (i == 0 || !isWord(r.src[i-1])) && section.MatchString(r.src[i:]) && r.src[i] != '~' {
			end = i
		}
	}
	c := &conditions{r: r, list: r.tokens(at, end), end: end}
	for n := len(c.list); n > 0 && c.list[n-1].text == ";"; n-- {
		c.list = c.list[:n-1]
	}
	cond := c.any(0)
	if c.at < len(c.list) {
		r.fail(c.list[c.at].at, "%q after the condition", brief(c.list[c.at].text))
	}
	return cond, end
}

func isWord(b byte) bool {
	return b == '_' || b == ':' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// conditions reads a condition's tokens.
type conditions struct {
	r    *reader
	list []token
	at   int
	end  int
	last Term
}

func (c *conditions) peek() string {
	if c.at < len(c.list) {
		return c.list[c.at].text
	}
	return ""
}

func (c *conditions) fail(format string, args ...any) {
	at := c.end
	if c.at < len(c.list) {
		at = c.list[c.at].at
	}
	c.r.fail(at, format, args...)
}

func (c *conditions) any(depth int) *Cond { return c.chain(Any, `\/`, "||", depth, c.all) }
func (c *conditions) all(depth int) *Cond { return c.chain(All, `/\`, "&&", depth, c.one) }

func (c *conditions) chain(op CondOp, by, or string, depth int, part func(int) *Cond) *Cond {
	list := []*Cond{part(depth)}
	for c.peek() == by || c.peek() == or {
		c.at++
		list = append(list, part(depth))
	}
	if len(list) == 1 {
		return list[0]
	}
	return &Cond{Op: op, Parts: list}
}

func (c *conditions) one(depth int) *Cond {
	if depth > maxDepth {
		c.fail("more than %d parentheses within each other", maxDepth)
	}
	switch c.peek() {
	case "":
		c.fail("the condition ends early")
	case "~", "!", "not":
		c.at++
		return &Cond{Op: Not, Parts: []*Cond{c.one(depth + 1)}}
	case "(":
		open := c.list[c.at].at
		c.at++
		in := c.any(depth + 1)
		if c.peek() != ")" {
			c.r.fail(open, "a parenthesis that stays open")
		}
		c.at++
		return in
	case "true":
		c.at++
		return &Cond{Op: True}
	}
	x := &Cond{}
	x.Left, x.A = c.term()
	switch c.peek() {
	case "=", "==":
		x.Op = Same
	case "!=", "<>":
		x.Op = Differ
	default:
		c.fail("%q: a condition compares with = or !=", brief(c.peek()))
	}
	c.at++
	x.Right, x.B = c.term()
	return x
}

// term reads a term, and returns its index among the observed ones, or a constant.
func (c *conditions) term() (int, uint32) {
	r := c.r
	first := c.peek()
	at := c.end
	if c.at < len(c.list) {
		at = c.list[c.at].at
	}
	c.at++
	c.last = Term{}
	if c.peek() == ":" {
		k, ok := number(strings.TrimLeft(first, "PT"))
		c.at++
		name := strings.TrimPrefix(c.peek(), "%")
		if !ok || k >= uint32(len(r.t.Threads)) || !regName.MatchString(name) {
			r.fail(at, "%q: a register is named as P0:r0, of one of %d threads", brief(first+":"+c.peek()), len(r.t.Threads))
		}
		c.at++
		return c.observe(Term{Thread: int(k), Reg: r.regOf(at, int(k), name), Name: fmt.Sprintf("P%d:%s", k, name)}), 0
	}
	if v, ok := number(first); ok {
		return -1, v
	}
	bracket := first == "["
	if bracket {
		first = c.peek()
		c.at++
	}
	loc, ok := r.t.where[first]
	if !ok {
		r.fail(at, "%q is no location of the test", brief(first))
	}
	addr := loc.addr
	if !bracket && c.peek() == "[" {
		c.at++
		n, ok := number(c.peek())
		if !ok || n >= uint32(loc.words) {
			c.fail("%s has %d words", first, loc.words)
		}
		addr += 4 * int(n)
		c.at++
		bracket = true
	}
	if bracket {
		if c.peek() != "]" {
			c.fail("a bracket that stays open")
		}
		c.at++
	}
	word := addr / 4
	if addr >= firstAlias {
		word = r.t.Aliases[(addr-firstAlias)/4]
	}
	return c.observe(Term{Thread: -1, Word: word, Name: r.t.Names[word]}), 0
}

func (c *conditions) observe(t Term) int {
	c.last = t
	for i, o := range c.r.t.Observed {
		if o == t {
			return i
		}
	}
	c.r.t.Observed = append(c.r.t.Observed, t)
	return len(c.r.t.Observed) - 1
}
