package launch

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// Write writes f as a launch file in YAML for the folder dir: Parse returns the same
// File, except for positions and omitted defaults. Paths become relative to dir where
// possible. Contents given in Go are written out, element by element; expected contents
// given in Go are an error.
func (f *File) Write(out io.Writer, dir string) error {
	w := &writer{dir: dir}
	if abs, err := filepath.Abs(dir); err == nil {
		w.dir = abs
	}
	b := bufio.NewWriter(out)
	key := func(name, value string) { fmt.Fprintf(b, "%s: %s\n", name, value) }
	several := len(f.Launches) > 1 || f.Launches[0].Builtin != NoBuiltin || f.Launches[0].listed()
	if !several {
		for _, k := range w.launchKeys(&f.Launches[0]) {
			key(k[0], k[1])
		}
	}
	if len(f.Buffers) > 0 {
		fmt.Fprintln(b, "buffers:")
		for i := range f.Buffers {
			fmt.Fprintf(b, "  %s: %s\n", f.Buffers[i].Name, w.buffer(&f.Buffers[i]))
		}
	}
	if len(f.Variables) > 0 {
		fmt.Fprintln(b, "variables:")
		for i := range f.Variables {
			v := &f.Variables[i]
			fmt.Fprintf(b, "  %s: %s\n", text(v.Array.Name), w.variable(v))
		}
	}
	switch {
	case several:
		fmt.Fprintln(b, "launches:")
		for i := range f.Launches {
			mark := "  - "
			for _, k := range w.entryKeys(&f.Launches[i]) {
				fmt.Fprintf(b, "%s%s: %s\n", mark, k[0], k[1])
				mark = "    "
			}
			if args := f.Launches[i].Args; len(args) > 0 && f.Launches[i].Builtin == NoBuiltin {
				fmt.Fprintln(b, "    args:")
				for i := range args {
					fmt.Fprintf(b, "      - %s\n", w.arg(&args[i]))
				}
			}
		}
	case len(f.Launches[0].Args) > 0:
		fmt.Fprintln(b, "args:")
		for i := range f.Launches[0].Args {
			fmt.Fprintf(b, "  - %s\n", w.arg(&f.Launches[0].Args[i]))
		}
	}
	if len(f.Expect) > 0 {
		fmt.Fprintln(b, "expect:")
		for i := range f.Expect {
			if f.Expect[i].Data != nil {
				return errorf(f.Expect[i].Pos, "what is expected of buffer %q lies in no file", f.Expect[i].Buffer)
			}
			fmt.Fprintf(b, "  %s: %s\n", f.Expect[i].Buffer, w.expect(&f.Expect[i]))
		}
	}
	if len(f.Accept) > 0 {
		fmt.Fprintln(b, "accept:")
		for _, a := range f.Accept {
			fmt.Fprintf(b, "  - {finding: %s, at: %s, reason: %s}\n", text(a.Finding), text(a.At), text(a.Reason))
		}
	}
	if len(f.Assume) > 0 {
		fmt.Fprintf(b, "assume: [%s]\n", strings.Join(f.Assume, ", "))
	}
	return b.Flush()
}

type writer struct{ dir string }

// text formats a string as JSON, which YAML includes.
func text(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic("BUG: a string that is no JSON: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func dims(d [3]uint32) string { return fmt.Sprintf("[%d, %d, %d]", d[0], d[1], d[2]) }

func list(v []int64) string {
	words := make([]string, len(v))
	for i, n := range v {
		words[i] = fmt.Sprint(n)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// float formats a number so that YAML reads it as a float.
func float(v float64) string {
	s := strconv.FormatFloat(v, 'g', -1, 64)
	mantissa, exp, scientific := strings.Cut(s, "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if scientific {
		return mantissa + "e" + exp
	}
	return mantissa
}

func (w *writer) path(p string) string {
	if abs, err := filepath.Abs(p); err == nil {
		p = abs
		if rel, err := filepath.Rel(w.dir, abs); err == nil {
			p = rel
		}
	}
	return text(filepath.ToSlash(p))
}

// fields joins keys and values, leaving out keys without a value.
func fields(pairs ...string) string {
	var parts []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			parts = append(parts, pairs[i]+": "+pairs[i+1])
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (w *writer) buffer(b *Buffer) string {
	shape, fill, values, align := "", "", "", ""
	if b.Shape != nil {
		shape = list(b.Shape)
	}
	switch f := &b.Fill; f.Kind {
	case FillMod:
		fill = fmt.Sprintf("{mod: %d}", f.Mod)
	case FillRandom:
		fill = fmt.Sprintf("{random: {seed: %d, low: %s, high: %s}}", f.Random.Seed, float(f.Random.Low), float(f.Random.High))
	case FillFile:
		fill = "{file: " + w.path(f.File) + "}"
	case FillValues:
		words := make([]string, len(b.Values))
		for i := range b.Values {
			words[i] = w.value(b.Type, &b.Values[i])
		}
		values = "[" + strings.Join(words, ", ") + "]"
	case FillData:
		size := b.Type.Size()
		words := make([]string, len(f.Data)/size)
		for i := range words {
			words[i] = w.value(b.Type, &Value{Bits: getBits(f.Data[i*size:], size)})
		}
		values = "[" + strings.Join(words, ", ") + "]"
	default:
		fill = fillWords[f.Kind]
	}
	if b.Align != 0 {
		align = fmt.Sprint(b.Align)
	}
	return fields("type", b.Type.String(), "shape", shape, "fill", fill, "values", values, "align", align, "base", base(b))
}

func base(b *Buffer) string {
	if !b.Fixed {
		return ""
	}
	return fmt.Sprintf("%#x", b.Base)
}

func (w *writer) parts(list []Arg) string {
	parts := make([]string, len(list))
	for i := range list {
		parts[i] = w.arg(&list[i])
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// number formats bits of a type: integers as numbers, others as bit patterns.
func number(t Type, bits uint64) string {
	switch t.info().class {
	case signedClass, unsignedClass:
		return t.Format(bits)
	}
	return fmt.Sprintf(`"%#x"`, bits)
}

func (w *writer) value(t Type, v *Value) string {
	switch {
	case v.Ptr != nil:
		return pointer(v.Ptr)
	case v.Map != nil:
		return w.tensorMap(v.Map)
	}
	return number(t, v.Bits)
}

func pointer(p *Pointer) string {
	offset := ""
	if p.Offset != 0 {
		offset = fmt.Sprint(p.Offset)
	}
	return fields("ptr", text(p.Buffer), "offset", offset)
}

func (w *writer) arg(a *Arg) string {
	switch a.Kind {
	case ArgPointer:
		return pointer(a.Ptr)
	case ArgScalar:
		return fields(a.Type.String(), number(a.Type, a.Bits))
	case ArgTensorMap:
		return fields("tensormap", w.tensorMap(a.Map))
	case ArgStruct:
		return fields("struct", w.parts(a.Parts))
	case ArgBytes:
		return fields("bytes", w.path(a.Path))
	case ArgPad:
		return fields("pad", fmt.Sprint(a.Pad))
	}
	return "null"
}

func (w *writer) tensorMap(m *TensorMapSpec) string {
	lists := func(v []int64) string {
		if v == nil {
			return ""
		}
		return list(v)
	}
	word := func(names []string, i uint8) string {
		if i == 0 {
			return ""
		}
		return text(names[i])
	}
	kind, offset, im2col := "", "", ""
	if m.Type != ElementDefault {
		kind = text(m.Type.String())
	}
	if m.Offset != 0 {
		offset = fmt.Sprint(m.Offset)
	}
	if c := m.Im2col; c != nil {
		im2col = fields("wide", word(wideNames, uint8(c.Wide)), "lower", list(c.Lower), "upper", list(c.Upper), "channels", fmt.Sprint(c.Channels), "pixels", fmt.Sprint(c.Pixels))
	}
	return fields("of", text(m.Of), "box", lists(m.Box), "type", kind, "shape", lists(m.Shape), "strides", lists(m.Strides), "offset", offset,
		"element_strides", lists(m.ElementStrides), "interleave", word(interleaveNames, uint8(m.Interleave)), "swizzle", word(swizzleNames, uint8(m.Swizzle)),
		"fill", word(oobFillNames, uint8(m.Fill)), "l2", word(l2Names, uint8(m.L2)), "im2col", im2col)
}

func (w *writer) expect(x *Expect) string {
	t := &x.Tolerance
	as, abs, rel, ulp := "", "", "", ""
	if x.As != 0 {
		as = x.As.String()
	}
	switch {
	case t.ByULP:
		ulp = fmt.Sprint(t.ULP)
	default:
		if t.Abs != 0 {
			abs = float(t.Abs)
		}
		if t.Rel != 0 {
			rel = float(t.Rel)
		}
	}
	return fields("file", w.path(x.File), "type", as, "atol", abs, "rtol", rel, "ulp", ulp)
}

// listed reports whether a launch has keys that only one of several can have.
func (l *Launch) listed() bool {
	return l.Name != "" || l.Stream != "" || l.After != nil || l.Dependent
}

// launchKeys are a launch's keys but for its arguments, with their values.
func (w *writer) launchKeys(l *Launch) [][2]string {
	modules := w.path(l.PTX)
	if len(l.Link) > 0 {
		for _, p := range l.Link {
			modules += ", " + w.path(p)
		}
		modules = "[" + modules + "]"
	}
	keys := [][2]string{{"ptx", modules}}
	add := func(is bool, name, value string) {
		if is {
			keys = append(keys, [2]string{name, value})
		}
	}
	add(l.Kernel != "", "kernel", text(l.Kernel))
	add(true, "grid", dims(l.Grid))
	add(true, "block", dims(l.Block))
	add(l.Cluster != [3]uint32{}, "cluster", dims(l.Cluster))
	add(l.Preferred != [3]uint32{}, "preferred-cluster", dims(l.Preferred))
	add(l.Shared != 0, "shared", fmt.Sprint(l.Shared))
	add(l.Registers != 0, "registers", fmt.Sprint(l.Registers))
	add(l.MaxRegCount != 0, "maxrregcount", fmt.Sprint(l.MaxRegCount))
	add(l.Cooperative, "cooperative", "true")
	add(l.CoResident != 0, "co-resident", fmt.Sprint(l.CoResident))
	return keys
}

// entryKeys are the keys of one of several launches.
func (w *writer) entryKeys(l *Launch) [][2]string {
	var keys [][2]string
	if l.Name != "" {
		keys = append(keys, [2]string{"name", text(l.Name)})
	}
	switch l.Builtin {
	case BuiltinFill:
		keys = append(keys, [2]string{"fill", fmt.Sprintf("{to: %s, value: %d, bytes: %d}", w.arg(&l.Args[0]), l.Args[1].Bits, l.Args[2].Bits)})
	case BuiltinCopy:
		keys = append(keys, [2]string{"copy", fmt.Sprintf("{to: %s, from: %s, bytes: %d}", w.arg(&l.Args[0]), w.arg(&l.Args[1]), l.Args[2].Bits)})
	default:
		keys = append(keys, w.launchKeys(l)...)
	}
	if l.Stream != "" {
		keys = append(keys, [2]string{"stream", text(l.Stream)})
	}
	if l.After != nil {
		var names []string
		for _, a := range l.After {
			name := text(a.Name)
			if a.Programmatic {
				name = fmt.Sprintf("{name: %s, programmatic: true}", name)
			}
			names = append(names, name)
		}
		keys = append(keys, [2]string{"after", "[" + strings.Join(names, ", ") + "]"})
	}
	if l.Dependent {
		keys = append(keys, [2]string{"dependent", "true"})
	}
	return keys
}
