// Package skeleton writes launch files for kernels of which only the PTX is at hand: every
// parameter named and typed, what the kernel declares filled in, and a comment wherever only
// the author knows.
//
// A parameter is a pointer if a value that is computed from it is part of an address. The
// accesses at that address say what its buffer holds. A struct is laid out by the loads of
// its parts. What only the author knows is launch.Unfilled, which no launch is made with.
package skeleton

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"muster/launch"
	"muster/ptx"
)

// Known is what is known of a launch besides the PTX of its kernel. What is zero is not
// known, and is written as it is for PTX alone.
type Known struct {
	Link        []string // paths of the modules that the kernel's is linked with
	Head        []string // lines of comment that begin the file
	Grid, Block []uint64
	Cluster     []uint64
	Shared      uint64 // bytes of dynamic shared memory
	Cooperative bool
	Buffers     []Entry
	Args        []Entry // none, or one for each parameter
}

// An Entry is a line of a launch file and its comment.
type Entry struct{ Text, Comment string }

// Write writes the launch file of a kernel of a module, which is at a path.
func Write(w io.Writer, path string, mod *ptx.Module, f *ptx.Func) error {
	return WriteKnown(w, path, mod, f, &Known{})
}

// WriteKnown is Write for a launch of which more is known. A parameter whose argument is not
// known gets what the PTX tells.
func WriteKnown(w io.Writer, path string, mod *ptx.Module, f *ptx.Func, known *Known) error {
	k := newKernel(f)
	k.dynamic = usesDynamic(mod, f)
	if len(known.Args) > 0 {
		k.given(known)
	}
	out := bufio.NewWriter(w)
	line := func(text, comment string) {
		if comment != "" {
			text = fmt.Sprintf("%-40s # %s", text, comment)
		}
		fmt.Fprintln(out, text)
	}
	for _, text := range known.Head {
		fmt.Fprintln(out, "# "+strings.Map(printable, text))
	}
	modules := quoted(path)
	if len(known.Link) > 0 {
		for _, p := range known.Link {
			modules += ", " + quoted(p)
		}
		modules = "[" + modules + "]"
	}
	line("ptx: "+modules, "")
	line("kernel: "+quoted(f.Name), "")
	cluster := known.Cluster
	declared := k.directive("reqnctapercluster")
	switch {
	case known.Grid != nil:
		line("grid: "+dims(known.Grid), "")
	case cluster != nil:
		line("grid: "+launch.Unfilled, "how many CTAs: [x, y, z], multiples of the cluster's")
	case volume(declared) > launch.MaxClusterCTAs:
		line("grid: "+launch.Unfilled, fmt.Sprintf("the kernel declares clusters %s, and no card takes more than %d CTAs in one", dims(declared), launch.MaxClusterCTAs))
	case declared != nil:
		line("grid: "+launch.Unfilled, "how many CTAs: [x, y, z], multiples of the cluster's, "+dims(declared))
	default:
		line("grid: "+launch.Unfilled, "how many CTAs: [x, y, z]")
	}
	switch req, most := k.directive("reqntid"), k.directive("maxntid"); {
	case req != nil && (volume(req) == 0 || volume(req) > launch.MaxBlockThreads):
		line("block: "+dims(req), fmt.Sprintf(".reqntid: no card takes it; a CTA has 1 to %d threads", launch.MaxBlockThreads))
	case req != nil:
		line("block: "+dims(req), "")
	case known.Block != nil:
		line("block: "+dims(known.Block), "")
	case most != nil && (volume(most) == 0 || volume(most) > launch.MaxBlockThreads):
		line("block: "+launch.Unfilled, fmt.Sprintf("threads of a CTA: [x, y, z], at most %s (.maxntid), and %d in all", dims(most), launch.MaxBlockThreads))
	case most != nil:
		line("block: "+dims(most), "threads of a CTA: at most these (.maxntid)")
	default:
		line("block: "+launch.Unfilled, "threads of a CTA: [x, y, z]")
	}
	switch {
	case cluster != nil:
		line("cluster: "+dims(cluster), "")
	case k.attr("reqnctapercluster") == nil && k.attr("explicitcluster") != nil:
		line("cluster: "+launch.Unfilled, "CTAs of a cluster: [x, y, z]")
	}
	switch {
	case known.Shared > 0:
		line(fmt.Sprintf("shared: %d", known.Shared), "")
	case k.dynamic && known.Block == nil:
		line("shared: "+launch.Unfilled, "bytes of dynamic shared memory")
	}
	if known.Cooperative {
		line("cooperative: true", "")
	}
	if names := k.buffers(); len(names)+len(known.Buffers) > 0 {
		line("buffers:", "shapes, contents: fill: iota, ones, random, a file")
		for _, b := range known.Buffers {
			line("  "+b.Text, b.Comment)
		}
		for _, p := range k.params {
			for _, b := range p.pointers() {
				line(fmt.Sprintf("  %s: {type: %s, shape: %s, fill: %s}", quoted(b.name), b.typ, b.shape, b.fill), b.note)
			}
		}
	}
	if len(k.params) == 0 {
		line("args: []", "")
	} else {
		line("args:", "")
	}
	for _, p := range k.params {
		line("  - "+p.arg(), p.comment())
	}
	return out.Flush()
}

// given takes the arguments that are known, and keeps names of other buffers apart from theirs.
func (k *kernel) given(known *Known) {
	taken := map[string]bool{}
	for _, b := range known.Buffers {
		name, _, _ := strings.Cut(b.Text, ":")
		taken[name] = true
	}
	for i, p := range k.params {
		if i < len(known.Args) && known.Args[i].Text != "" {
			p.known = &known.Args[i]
			continue
		}
		if i < len(known.Args) {
			p.note = known.Args[i].Comment
		}
		for ; taken[p.name]; p.name += "_" {
		}
		for _, q := range p.parts {
			for ; taken[q.name]; q.name += "_" {
			}
		}
	}
}

// Written says for each parameter of a kernel whether it points to what the kernel writes.
func Written(f *ptx.Func) []bool {
	k := newKernel(f)
	list := make([]bool, len(k.params))
	for i, p := range k.params {
		list[i] = p.written
	}
	return list
}

// usesDynamic reports whether a kernel names dynamic shared memory: a variable without a size.
// A function that it calls may, too.
func usesDynamic(mod *ptx.Module, f *ptx.Func) bool {
	names := map[string]bool{}
	for _, it := range mod.Items {
		if v, ok := it.(*ptx.Var); ok && v.Space == "shared" && v.Linkage == "extern" {
			names[v.Name] = true
		}
	}
	var block func(b *ptx.Block) bool
	block = func(b *ptx.Block) bool {
		return b != nil && slices.ContainsFunc(b.Stmts, func(s ptx.Stmt) bool {
			switch s := s.(type) {
			case *ptx.Block:
				return block(s)
			case *ptx.Inst:
				return s.Effect().Has(ptx.Calls) && len(names) > 0 || slices.ContainsFunc(s.Operands, func(op ptx.Operand) bool { return mentions(op, names) })
			}
			return false
		})
	}
	return block(f.Body)
}

// mentions reports whether an operand names one of some variables.
func mentions(op ptx.Operand, names map[string]bool) bool {
	switch op := op.(type) {
	case ptx.Name:
		return names[string(op)]
	case *ptx.Mem:
		return mentions(op.Base, names)
	case *ptx.Binary:
		return mentions(op.X, names) || mentions(op.Y, names)
	}
	return false
}

// quoted writes a string as YAML does that needs no quotes, or with them.
func quoted(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r == '_' || r == '/' || r == '.' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	}) && !strings.ContainsAny(s[:1], "-.0123456789") && !slices.Contains(words, strings.ToLower(s))
	switch {
	case plain:
		return s
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		return strconv.Quote(s) // its escapes are YAML's, too
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// words are other things than strings in some version of YAML.
var words = []string{"null", "true", "false", "yes", "no", "on", "off", "y", "n", "inf", "nan"}

// printable keeps a comment on its line.
func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return ' '
	}
	return r
}

// volume is the product of the numbers of a directive, or more than anything takes.
func volume(list []uint64) uint64 {
	if list == nil {
		return 0
	}
	n := uint64(1)
	for _, x := range list {
		if n *= min(x, 1<<20); n > 1<<20 {
			n = 1 << 20
		}
	}
	return n
}

func dims(list []uint64) string {
	var text []string
	for _, n := range list {
		text = append(text, fmt.Sprint(n))
	}
	if len(text) == 1 {
		return text[0]
	}
	return "[" + strings.Join(text, ", ") + "]"
}

// A kernel is what is known of one.
type kernel struct {
	*ptx.Func
	params  []*param
	dynamic bool // it has dynamic shared memory
}

// attr returns a directive of the kernel; nil if it has none.
func (k *kernel) attr(name string) *ptx.Directive {
	for i := range k.Attrs {
		if k.Attrs[i].Name == name {
			return &k.Attrs[i]
		}
	}
	return nil
}

// directive returns the numbers of one.
func (k *kernel) directive(name string) (list []uint64) {
	if d := k.attr(name); d != nil {
		for _, a := range d.Args {
			if v, ok := a.(ptx.Int); ok {
				list = append(list, v.Bits)
			}
		}
	}
	return list
}

// A param is a parameter, or a part of a struct.
type param struct {
	v     *ptx.Var
	name  string // of its buffer
	typ   launch.Type
	size  int64
	at    int64    // offset, of a part
	parts []*param // of a struct, by offset
	// A pointer is part of addresses.
	pointer bool
	element launch.Type // of its buffer
	written bool
	// rank is that of the tensor whose map it is; 0: it is none.
	rank int
	// known is the argument where more than the PTX tells it; note, what is said of one that
	// is not.
	known *Entry
	note  string
}

// A buffer is what a pointer points to.
type buffer struct{ name, typ, shape, fill, note string }

// pointers returns the buffers of a parameter.
func (p *param) pointers() (list []buffer) {
	switch {
	case p.known != nil:
		return nil
	case p.rank > 0:
		shape := slices.Repeat([]string{launch.Unfilled}, p.rank)
		list = append(list, buffer{p.name, "f16", "[" + strings.Join(shape, ", ") + "]", "iota", "of a tensor map"})
	case p.pointer:
		b := buffer{p.name, max(p.element, launch.U8).String(), "[" + launch.Unfilled + "]", "iota", ""}
		if p.written {
			b.fill, b.note = "zeros", "written"
		}
		list = append(list, b)
	}
	for _, q := range p.parts {
		list = append(list, q.pointers()...)
	}
	return list
}

// arg is a parameter's argument.
func (p *param) arg() string {
	switch {
	case p.known != nil:
		return p.known.Text
	case p.rank > 0:
		box := slices.Repeat([]string{"1"}, p.rank)
		for i := max(0, p.rank-2); i < p.rank; i++ {
			box[i] = "64"
		}
		return fmt.Sprintf("{tensormap: {of: %s, box: [%s], swizzle: none}}", quoted(p.name), strings.Join(box, ", "))
	case p.pointer:
		return fmt.Sprintf("{ptr: %s}", quoted(p.name))
	case p.v.Dims == nil && p.parts == nil:
		return fmt.Sprintf("{%s: %s}", p.typ, launch.Unfilled)
	}
	var list []string
	at := int64(0)
	pad := func(to int64) {
		if to > at {
			list = append(list, fmt.Sprintf("{pad: %d}", to-at))
			at = to
		}
	}
	for _, q := range p.parts {
		pad(q.at)
		list = append(list, q.arg())
		at += q.size
	}
	pad(p.size)
	return "{struct: [" + strings.Join(list, ", ") + "]}"
}

func (p *param) comment() string {
	if p.known != nil {
		return p.known.Comment
	}
	if p.note != "" {
		return p.guess() + "; " + p.note
	}
	return p.guess()
}

// guess says what is known of a parameter from the PTX alone.
func (p *param) guess() string {
	switch {
	case p.rank > 0:
		return p.v.Name + ": compare box, type and swizzle with the host's code"
	case p.pointer:
		return p.v.Name
	case p.parts != nil:
		return p.v.Name + ": parts as the kernel loads them; pads are bytes that it does not"
	case p.v.Dims != nil:
		return p.v.Name + ": the kernel loads nothing of it"
	}
	return p.v.Name + ": a number"
}

// buffers returns the names of all buffers.
func (k *kernel) buffers() (names []string) {
	for _, p := range k.params {
		for _, b := range p.pointers() {
			names = append(names, b.name)
		}
	}
	return names
}

func newKernel(f *ptx.Func) *kernel {
	k := &kernel{Func: f}
	taken := map[string]bool{}
	for i, v := range f.Params {
		p := &param{v: v, name: fmt.Sprintf("p%d", i), typ: typeOf(v.Type)}
		if short := strings.TrimPrefix(v.Name, f.Name+"_"); len(short) <= 20 && !strings.HasPrefix(short, "param_") && launch.ValidName(short) {
			p.name = short
		}
		for ; taken[p.name]; p.name += "_" { // as of a parameter that is called p1
		}
		taken[p.name] = true
		p.size = int64(max(v.Vec, 1) * p.typ.Size())
		for _, n := range v.Dims {
			p.size *= n
		}
		k.params = append(k.params, p)
	}
	k.follow()
	return k
}

// Elements returns, for each parameter of a kernel, what the buffer holds that it points to: U8
// if the accesses do not say, 0 if it is no pointer.
func Elements(f *ptx.Func) []launch.Type {
	k := newKernel(f)
	list := make([]launch.Type, len(k.params))
	for i, p := range k.params {
		if p.pointer {
			list[i] = max(p.element, launch.U8)
		}
	}
	return list
}

// typeOf is the type of a launch file that holds what PTX names; u8 for one of no such size.
func typeOf(text string) launch.Type {
	switch text {
	case "b8", "b16", "b32", "b64":
		text = "u" + text[1:]
	case "f16x2", "bf16x2", "u16x2", "s16x2":
		text = "u32"
	}
	if t, ok := launch.ParseType(text); ok && t != launch.TensorMapType {
		return t
	}
	return launch.U8
}
