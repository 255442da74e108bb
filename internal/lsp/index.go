package lsp

import (
	"sort"
	"strings"
	"sync"

	"muster/ptx"
)

// An index finds what stands at a place of a module, and where names are declared.
type index struct {
	text  *text
	funcs []*function
	insts []inst
	root  *scope
	files map[int]string // of .file
}

// A function is a kernel or a device function.
type function struct {
	f        *ptx.Func
	from, to int // its text
	name     int // where its name stands
	body     *scope
	first    int // of its instructions
	last     int // behind the last of them

	once sync.Once
	flow *flow // built when it is first asked for: see waits.go
}

// An inst is an instruction with its place.
type inst struct {
	in       *ptx.Inst
	from, to int // from its opcode to its semicolon
	fn       *function
	scope    *scope
	loc      *ptx.Loc
}

// opcodeEnd is where the opcode ends.
func (i *inst) opcodeEnd() int { return i.from + len(i.in.Opcode()) }

// A scope is a block with the names that it declares.
type scope struct {
	parent   *scope
	inner    []*scope
	from, to int
	names    map[string]*name
	ranges   []*name // registers declared together: %r<100>
}

// A name is what a name stands for.
type name struct {
	at    int
	v     *ptx.Var
	fn    *ptx.Func
	label bool
}

// newIndex indexes a module; it is empty for one that does not parse.
func newIndex(t *text, mod *ptx.Module) *index {
	x := &index{text: t, files: map[int]string{}, root: &scope{to: len(t.src), names: map[string]*name{}}}
	if mod == nil {
		return x
	}
	for _, it := range mod.Items {
		switch it := it.(type) {
		case *ptx.Var:
			x.root.add(it.Name, &name{at: t.at(it.Pos), v: it})
		case *ptx.File:
			x.files[it.Index] = it.Name
		case *ptx.Func:
			x.function(it)
		}
	}
	return x
}

func (x *index) function(f *ptx.Func) {
	at := x.text.at(f.Pos)
	if old := x.root.names[f.Name]; old == nil || old.fn != nil && old.fn.Body == nil {
		x.root.add(f.Name, &name{at: at, fn: f})
	}
	if f.Body == nil {
		return
	}
	fn := &function{f: f, from: x.lineStart(at), to: x.text.at(f.Body.End) + 1, name: at, first: len(x.insts)}
	params := &scope{parent: x.root, from: fn.from, to: fn.to, names: map[string]*name{}}
	x.root.inner = append(x.root.inner, params)
	for _, list := range [][]*ptx.Var{f.Ret, f.Params} {
		for _, v := range list {
			params.add(v.Name, &name{at: x.text.at(v.Pos), v: v})
		}
	}
	w := &walker{index: x, fn: fn}
	fn.body = w.block(f.Body, params)
	fn.last = len(x.insts)
	x.funcs = append(x.funcs, fn)
}

// A walker indexes a function's body.
type walker struct {
	*index
	fn  *function
	loc *ptx.Loc
}

func (w *walker) block(b *ptx.Block, parent *scope) *scope {
	t := w.text
	s := &scope{parent: parent, from: t.at(b.Pos), to: t.at(b.End) + 1, names: map[string]*name{}}
	parent.inner = append(parent.inner, s)
	for _, st := range b.Stmts {
		switch st := st.(type) {
		case *ptx.Var:
			s.add(st.Name, &name{at: t.at(st.Pos), v: st})
		case *ptx.Label:
			s.add(st.Name, &name{at: t.at(st.Pos), label: true})
		case *ptx.Targets:
			s.add(st.Label, &name{at: t.at(st.Pos), label: true})
		case *ptx.Prototype:
			s.add(st.Label, &name{at: t.at(st.Pos), label: true})
		case *ptx.Block:
			w.block(st, s)
		case *ptx.Loc:
			w.loc = st
		case *ptx.Inst:
			from := t.at(st.Pos)
			w.insts = append(w.insts, inst{in: st, from: from, to: statementEnd(t.src, from), fn: w.fn, scope: s, loc: w.loc})
		}
	}
	return s
}

func (s *scope) add(key string, n *name) {
	if n.v != nil && n.v.Count > 0 {
		s.ranges = append(s.ranges, n)
		return
	}
	s.names[key] = n
}

// find returns what a name stands for in a scope, and the scope that declares it; nil if
// nothing does.
func (s *scope) find(key string) (*name, *scope) {
	for ; s != nil; s = s.parent {
		if n := s.names[key]; n != nil {
			return n, s
		}
		for _, n := range s.ranges {
			if rest, ok := strings.CutPrefix(key, n.v.Name); ok && inRange(rest, n.v.Count) {
				return n, s
			}
		}
	}
	return nil, nil
}

// inRange reports whether digits number one of n registers.
func inRange(digits string, n int) bool {
	if digits == "" || len(digits) > 7 || len(digits) > 1 && digits[0] == '0' {
		return false
	}
	v := 0
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return false
		}
		v = 10*v + int(c-'0')
	}
	return v < n
}

// scopeAt is the innermost scope around a place.
func (x *index) scopeAt(off int) *scope {
	s := x.root
	for {
		i := sort.Search(len(s.inner), func(i int) bool { return s.inner[i].to > off })
		if i == len(s.inner) || s.inner[i].from > off {
			return s
		}
		s = s.inner[i]
	}
}

// instAt returns the number of the instruction around a place, its guard included; -1 if
// there is none.
func (x *index) instAt(off int) int {
	i := sort.Search(len(x.insts), func(i int) bool { return x.insts[i].to > off })
	if i == len(x.insts) || x.guardStart(&x.insts[i]) > off {
		return -1
	}
	return i
}

// instOn returns the number of the instruction around a place, or else of the first that
// begins on its line; -1 if there is none.
func (x *index) instOn(off int) int {
	if i := x.instAt(off); i >= 0 {
		return i
	}
	from := x.lineStart(off)
	i := sort.Search(len(x.insts), func(i int) bool { return x.insts[i].from >= from })
	if i < len(x.insts) && !strings.Contains(x.text.src[from:x.insts[i].from], "\n") {
		return i
	}
	return -1
}

// guardStart is where an instruction begins with its guard.
func (x *index) guardStart(i *inst) int {
	if i.in.Guard == nil {
		return i.from
	}
	if at := strings.LastIndexByte(x.text.src[:i.from], '@'); at >= 0 {
		return at
	}
	return i.from
}

func (x *index) lineStart(off int) int {
	return strings.LastIndexByte(x.text.src[:min(off, len(x.text.src))], '\n') + 1
}

// byPos returns the number of the instruction at a line and column; -1 if there is none.
func (x *index) byPos(line, col int) int {
	at := x.text.lineCol(line, col)
	i := sort.Search(len(x.insts), func(i int) bool { return x.insts[i].from >= at })
	if i < len(x.insts) && x.insts[i].from == at {
		return i
	}
	return -1
}

// statementEnd is where the statement that begins at a place ends: behind its semicolon.
func statementEnd(src string, from int) int {
	for i := from; i < len(src); i++ {
		switch src[i] {
		case ';':
			return i + 1
		case '"':
			if n := strings.IndexByte(src[i+1:], '"'); n >= 0 {
				i += n + 1
			}
		case '/':
			i += comment(src[i:])
		}
	}
	return len(src)
}

// comment is how far behind its first byte a comment at the beginning of a text reaches; 0 if
// there is none.
func comment(src string) int {
	end := ""
	switch {
	case strings.HasPrefix(src, "//"):
		end = "\n"
	case strings.HasPrefix(src, "/*"):
		end = "*/"
	default:
		return 0
	}
	n := strings.Index(src[2:], end)
	if n < 0 {
		return len(src) - 1
	}
	return 2 + n + len(end) - 1
}

// isName reports whether a byte may stand in a name.
func isName(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '%'
}

// wordAt returns the name around a place, and where it begins; empty if there is none.
func wordAt(src string, off int) (string, int) {
	from, to := min(off, len(src)), min(off, len(src))
	for from > 0 && isName(src[from-1]) {
		from--
	}
	for to < len(src) && isName(src[to]) {
		to++
	}
	return src[from:to], from
}

// uses lists where a name stands as a word in a part of the text, outside of comments and
// strings.
func uses(src string, from, to int, key string, visit func(at int)) {
	for i := from; i < to; {
		switch c := src[i]; {
		case c == '/':
			i += comment(src[i:]) + 1
		case c == '"':
			n := strings.IndexByte(src[i+1:], '"')
			if n < 0 {
				return
			}
			i += n + 2
		case isName(c):
			j := i + 1
			for j < to && isName(src[j]) {
				j++
			}
			if src[i:j] == key {
				visit(i)
			}
			i = j
		default:
			i++
		}
	}
}
