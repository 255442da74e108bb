package tritonlog

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"muster/internal/entry"
	"muster/internal/skeleton"
	"muster/launch"
	"muster/ptx"
)

// An Array is the contents of a buffer, which the log saved.
type Array struct {
	Name  string // of the buffer
	Type  launch.Type
	Shape []int64
	Data  []byte
}

// Options say how a launch is described.
type Options struct {
	// Blob returns the contents of a tensor that the log names, without compression. Where it
	// is nil, or fails, contents are made up.
	Blob func(path string) ([]byte, error)
	// Keep keeps an array, and returns the path for the launch file.
	Keep func(*Array) (string, error)
}

// Known returns what is known of a launch of a kernel; of no launch, if l is nil.
func (k *Kernel) Known(f *ptx.Func, l *Launch, o Options) (*skeleton.Known, error) {
	out := &skeleton.Known{}
	d := &describer{Kernel: k, f: f, l: l, o: o, out: out}
	place := k.Place
	if l != nil {
		place = l.Place
	}
	d.say("from %s", tidy(place))
	if m := k.meta; m != nil {
		d.shape(m)
	}
	if l == nil {
		d.say("the grid and the arguments are not known; a log of tritonparse has them (TRITON_TRACE_LAUNCH=1)")
		return out, nil
	}
	if l.without != "" {
		d.say("the arguments are not known: %s", l.without)
		return out, nil
	}
	return out, d.arguments()
}

type describer struct {
	*Kernel
	f      *ptx.Func
	l      *Launch
	o      Options
	out    *skeleton.Known
	params []launch.Param
	points []launch.Type // what the kernel's parameters point to
	memory *memory
}

func (d *describer) say(format string, args ...any) {
	d.out.Head = append(d.out.Head, fmt.Sprintf(format, args...))
}

// shape describes what the compiler decides of a launch.
func (d *describer) shape(m *metadata) {
	cluster, times := m.cluster()
	d.out.Cluster = cluster
	d.out.Shared = uint64(m.Shared)
	d.out.Cooperative = bool(m.Cooperative)
	if m.Warps > 0 {
		d.out.Block = []uint64{32 * uint64(m.Warps)}
	}
	if m.Dependent {
		d.say("a dependent launch (launch_pdl): it may begin before the launch ahead of it has ended")
	}
	if d.l == nil {
		return
	}
	grid := slices.Clone(d.l.grid)
	if cluster != nil {
		for len(grid) < 3 {
			grid = append(grid, 1)
		}
		for i := range grid {
			grid[i] *= times[i]
		}
		if !slices.Equal(times, []uint64{1, 1, 1}) {
			d.say("the program's grid is %s, of clusters", sizes(d.l.grid))
		}
	}
	for i, n := range grid {
		if n > []uint64{launch.MaxGridX, launch.MaxGridYZ, launch.MaxGridYZ}[i] {
			d.say("the grid is %s, which no card takes", sizes(grid))
			return
		}
	}
	for i := range cluster {
		if grid[i]%cluster[i] != 0 {
			d.say("the grid is %s, no multiple of the cluster", sizes(grid))
			return
		}
	}
	d.out.Grid = grid
}

// arguments describes the arguments of a launch.
func (d *describer) arguments() error {
	var err error
	if d.params, err = entry.Params(d.f); err != nil {
		return err
	}
	d.points = skeleton.Elements(d.f)
	used := d.used()
	list, ok := d.match(used)
	if !ok {
		d.say("the log's arguments do not match the kernel's %d parameters, which are left to fill in:", len(d.params))
		for i, a := range used {
			if i == 40 {
				d.say("  and %d more", len(used)-i)
				break
			}
			d.say("  %s: %s", tidy(a.name), a)
		}
		return nil
	}
	d.memory = d.l.memory()
	written := skeleton.Written(d.f)
	for i, p := range list {
		if p.t != nil && p.pointer && d.memory.of[p.t] != nil && written[i] {
			d.memory.of[p.t].written = true
		}
	}
	if err := d.buffers(); err != nil {
		return err
	}
	for i, p := range list {
		d.out.Args = append(d.out.Args, d.arg(i, p))
	}
	return nil
}

// used returns the arguments that the compiler did not take as constants.
func (d *describer) used() (list []*argument) {
	for i := range d.l.args {
		if d.meta != nil {
			if _, constant := d.meta.Constants[fmt.Sprintf("(%d,)", i)]; constant {
				continue
			}
		}
		list = append(list, &d.l.args[i])
	}
	return list
}

// A piece is what one parameter of the kernel takes of an argument.
type piece struct {
	a       *argument
	t       *tensor
	pointer bool   // to the tensor
	tensor  *mapOf // the map of the tensor
	value   *int64 // a number of a descriptor
	size    int    // its bytes
	what    string // it is
	scratch int64  // bytes of scratch memory for each CTA; -1: none
	align   int64
}

// match finds the argument of each parameter, if that can be known. Triton passes the
// arguments in their order, then pointers to its own scratch memory.
func (d *describer) match(used []*argument) ([]piece, bool) {
	for _, round := range []bool{false, true} {
		list := d.pieces(used, round)
		rest := len(d.params) - len(list)
		if rest < 0 || rest > 3 || slices.ContainsFunc(used, func(a *argument) bool { return strings.Contains(strings.ToLower(a.typ), "tuple") }) {
			continue
		}
		fits := true
		for i, p := range list {
			fits = fits && d.fits(&p, i)
		}
		for i := len(list); i < len(d.params); i++ {
			fits = fits && d.params[i].Size == 8 && len(d.f.Params[i].Dims) == 0
		}
		if !fits {
			continue
		}
		for i := range rest {
			p := piece{what: "Triton's scratch memory", scratch: -1}
			if m := d.meta; m != nil && i == 0 && m.Global > 0 {
				p.scratch, p.align = m.Global, m.GlobalAlign
			} else if m != nil && i == 1 && m.Profile > 0 {
				p.scratch, p.align = m.Profile, m.ProfAlign
			}
			list = append(list, p)
		}
		return list, true
	}
	return nil, false
}

// pieces returns what the arguments are passed as. Newer versions of Triton pass one flag
// more of a descriptor that is no tensor map.
func (d *describer) pieces(used []*argument, round bool) (list []piece) {
	maps := 0
	for _, a := range used {
		if a.typ != "TensorDescriptor" {
			list = append(list, piece{a: a, t: a.tensor(), pointer: a.typ == "tensor"})
			continue
		}
		number := func(what string, v int64, size int) {
			list = append(list, piece{a: a, value: &v, size: size, what: what})
		}
		numbers := func(size int) {
			for i, n := range a.info.shape {
				number(fmt.Sprintf("size %d", i), n, size)
			}
			for i, n := range a.info.Strides {
				number(fmt.Sprintf("stride %d", i), n, 8)
			}
		}
		var m *mapOf
		if d.meta != nil && maps < len(d.meta.Maps) {
			m = d.meta.Maps[maps]
		}
		maps++
		if m != nil {
			list = append(list, piece{a: a, t: a.info.Base, tensor: m})
		} else {
			list = append(list, piece{a: a, t: a.info.Base, pointer: true})
			numbers(8)
			nan := int64(0)
			if a.info.Padding == "nan" {
				nan = 1
			}
			number("padding with NaN", nan, 1)
			if round {
				number("rounding to tf32", 0, 1)
			}
		}
		numbers(4)
	}
	return list
}

// fits reports whether a parameter can take a piece.
func (d *describer) fits(p *piece, i int) bool {
	size, scalar := d.params[i].Size, d.params[i].Type != 0
	switch {
	case p.tensor != nil:
		return size == 128
	case p.pointer:
		return size == 8
	case p.value != nil:
		return scalar && size == p.size
	case p.a.typ == "NoneType":
		return size == 8 && scalar
	case p.a.typ == "float":
		return scalar && size > 1
	case p.a.typ == "int", p.a.typ == "bool":
		return scalar
	}
	return true
}

// arg writes the argument of a parameter.
func (d *describer) arg(i int, p piece) skeleton.Entry {
	param := &d.params[i]
	if p.a == nil {
		if p.scratch < 0 {
			return skeleton.Entry{Text: "null", Comment: p.what + ": none"}
		}
		return d.scratch(&p)
	}
	name := tidy(p.a.name)
	switch {
	case p.tensor != nil:
		return d.tensorMap(&p)
	case p.value != nil:
		text, _ := scalar(param, p.a, new(big.Float).SetInt64(*p.value))
		return skeleton.Entry{Text: text, Comment: fmt.Sprintf("%s: %s", name, p.what)}
	case p.pointer && p.t == nil:
		return skeleton.Entry{Comment: name + ": the log has no address"}
	case p.pointer:
		return d.pointer(p.a, p.t)
	case p.a.typ == "NoneType":
		return skeleton.Entry{Text: "null", Comment: name + ": None"}
	case p.a.typ == "int" || p.a.typ == "float" || p.a.typ == "bool":
		v, err := p.a.number()
		if err != nil {
			return skeleton.Entry{Comment: name + ": " + err.Error()}
		}
		if d.points[i] != 0 {
			return d.address(p.a, v)
		}
		text, note := scalar(param, p.a, v)
		return skeleton.Entry{Text: text, Comment: name + note}
	}
	return skeleton.Entry{Comment: fmt.Sprintf("%s: %s", name, p.a)}
}

// String says what the log says of an argument.
func (a *argument) String() string {
	switch a.typ {
	case "tensor":
		return a.info.tensor.String()
	case "TensorDescriptor":
		return fmt.Sprintf("a descriptor of shape %s, strides %s, blocks %s", ints(a.info.shape), ints(a.info.Strides), ints(a.info.Block))
	}
	text := string(a.info.Value)
	if text == "" {
		text = a.info.Repr
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s", tidy(a.typ), tidy(text)))
}

func (t *tensor) String() string {
	return fmt.Sprintf("a tensor of shape %s, strides %s, %s", ints(t.Shape), ints(t.Stride), tidy(t.Dtype))
}

// scalar writes a number as a parameter of the kernel. The text is empty, and the note says
// why, where it does not fit.
func scalar(p *launch.Param, a *argument, v *big.Float) (text, note string) {
	float := p.Type.IsFloat()
	bits := 8 * p.Size
	if a.typ == "float" {
		float = true
	}
	if float {
		typ := map[int]launch.Type{16: launch.F16, 32: launch.F32, 64: launch.F64}[bits]
		if p.Type == launch.BF16 {
			typ = launch.BF16
		}
		if typ == 0 {
			return "", ": a number that does not fit"
		}
		if bits == 16 && p.Type != launch.F16 && p.Type != launch.BF16 {
			note = ": f16, or bf16 if the kernel takes that"
		}
		if v == nil {
			word := map[byte]string{'n': "nan", 'N': "nan", 'i': "inf", 'I': "inf", '-': "-inf"}[strings.Trim(string(a.info.Value), `"`)[0]]
			return fmt.Sprintf("{%s: %s}", typ, word), note
		}
		f, _ := v.Float64()
		if math.Abs(f) > map[launch.Type]float64{launch.F16: 65504, launch.BF16: 3.38e38, launch.F32: math.MaxFloat32, launch.F64: math.MaxFloat64}[typ] {
			return "", ": a number that does not fit"
		}
		return fmt.Sprintf("{%s: %s}", typ, floatText(f)), note
	}
	i, _ := v.Int(nil)
	switch {
	case i.Sign() < 0 && i.BitLen() <= bits-1 || new(big.Int).Neg(i).Cmp(new(big.Int).Lsh(big.NewInt(1), uint(bits-1))) == 0 && i.Sign() < 0:
		return fmt.Sprintf("{s%d: %s}", bits, i), ""
	case i.Sign() >= 0 && i.BitLen() <= bits-1:
		return fmt.Sprintf("{s%d: %s}", bits, i), ""
	case i.Sign() >= 0 && i.BitLen() <= bits:
		return fmt.Sprintf("{u%d: %s}", bits, i), ""
	}
	return "", fmt.Sprintf(": %s does not fit into %d bits", tidy(i.String()), bits)
}

// floatText writes a number so that YAML reads it as a float.
func floatText(v float64) string {
	s := fmt.Sprintf("%g", v)
	mantissa, exp, scientific := strings.Cut(s, "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if scientific {
		return mantissa + "e" + exp
	}
	return mantissa
}

// pointer writes a pointer to a tensor.
func (d *describer) pointer(a *argument, t *tensor) skeleton.Entry {
	name := tidy(a.name)
	r := d.memory.of[t]
	if r == nil {
		return skeleton.Entry{Text: "null", Comment: name + ": a tensor without elements"}
	}
	if at := r.offset(t); at > 0 && t.known {
		return skeleton.Entry{Text: fmt.Sprintf("{ptr: %s, offset: %d}", r.name, at), Comment: name}
	}
	comment := name
	if name == r.name {
		comment = ""
	}
	return skeleton.Entry{Text: fmt.Sprintf("{ptr: %s}", r.name), Comment: comment}
}

// address writes a number that the kernel takes as a pointer.
func (d *describer) address(a *argument, v *big.Float) skeleton.Entry {
	name := tidy(a.name)
	if v == nil {
		return skeleton.Entry{Comment: name}
	}
	n, accuracy := v.Uint64()
	if n == 0 && accuracy == big.Exact {
		return skeleton.Entry{Text: "null", Comment: name}
	}
	for _, r := range d.memory.regions {
		if r.tensors[0].known && r.begin <= n && n < r.end {
			return skeleton.Entry{Text: fmt.Sprintf("{ptr: %s, offset: %d}", r.name, n-r.begin), Comment: name}
		}
	}
	return skeleton.Entry{Comment: fmt.Sprintf("%s: address %#x, of which the log says no more", name, n)}
}

// scratch writes the memory that Triton adds for each CTA.
func (d *describer) scratch(p *piece) skeleton.Entry {
	n := uint64(p.scratch)
	for _, g := range append(slices.Clone(d.l.grid), uint64(max(d.meta.CTAs, 1))) {
		if n > launch.MaxAddress/g {
			return skeleton.Entry{Comment: p.what + ": more than a card's memory"}
		}
		n *= g
	}
	taken := map[string]bool{}
	for _, b := range d.out.Buffers {
		name, _, _ := strings.Cut(b.Text, ":")
		taken[name] = true
	}
	name := bufferName("scratch", taken)
	d.out.Buffers = append(d.out.Buffers, skeleton.Entry{
		Text:    fmt.Sprintf("%s: {type: b8, shape: [%d], align: %d}", name, n, max(p.align, align)),
		Comment: fmt.Sprintf("%s: %d bytes for each CTA", p.what, p.scratch),
	})
	return skeleton.Entry{Text: fmt.Sprintf("{ptr: %s}", name)}
}

// elements are the types of tensor maps, as tensormap.replace numbers them.
var elements = []launch.ElementType{
	launch.ElementU8, launch.ElementU16, launch.ElementU32, launch.ElementS32, launch.ElementU64, launch.ElementS64, launch.ElementF16,
	launch.ElementF32, launch.ElementF32FTZ, launch.ElementF64, launch.ElementBF16, launch.ElementTF32, launch.ElementTF32FTZ,
}

// tensorMap writes the tensor map of a descriptor.
func (d *describer) tensorMap(p *piece) skeleton.Entry {
	a, m := p.a, p.tensor
	name := tidy(a.name)
	var r *region
	if p.t != nil {
		r = d.memory.of[p.t]
	}
	n := len(a.info.shape)
	box := m.Box
	if len(box) == 0 {
		box = a.info.Block
	}
	bad := func(why string) skeleton.Entry {
		return skeleton.Entry{Comment: fmt.Sprintf("%s: %s: %s", name, a, why)}
	}
	switch {
	case r == nil:
		return bad("the log has no tensor for it")
	case bool(m.Im2col):
		return bad("of im2col mode, whose box the log does not hold")
	case bool(m.Padded):
		return bad("of padded fp4, which is not modelled")
	case len(box) != n:
		return bad(fmt.Sprintf("its box is %v", box))
	case m.Type < 0 || m.Type >= int64(len(elements)) || m.Swizzle < 0 || m.Swizzle > 3:
		return bad(fmt.Sprintf("type %d and swizzle %d of a tensor map are not known", m.Type, m.Swizzle))
	}
	for _, b := range box {
		if b < 0 || b > math.MaxUint32 {
			return bad(fmt.Sprintf("its box is %v", box))
		}
	}
	typ := elements[m.Type]
	var strides []int64
	for _, s := range a.info.Strides[:n-1] {
		strides = append(strides, s*typ.Size()) // at most 2^52
	}
	fields := []string{"of: " + r.name, "type: " + typ.String(), "shape: " + ints(a.info.shape)}
	if n > 1 {
		fields = append(fields, "strides: "+ints(strides))
	}
	if at := r.offset(p.t); p.t.known && at > 0 {
		fields = append(fields, fmt.Sprintf("offset: %d", at))
	}
	fields = append(fields, "box: "+ints(box), "swizzle: "+[]string{"none", "32B", "64B", "128B"}[m.Swizzle], "l2: 128B")
	if a.info.Padding == "nan" {
		fields = append(fields, "fill: nan")
	}
	return skeleton.Entry{Text: "{tensormap: {" + strings.Join(fields, ", ") + "}}", Comment: name}
}

func sizes(list []uint64) string { return strings.ReplaceAll(fmt.Sprint(list), " ", ", ") }

func ints(list []int64) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = fmt.Sprint(n)
	}
	return "[" + strings.Join(words, ", ") + "]"
}
