package tritonlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"muster/launch"
)

// An event is a line of a log, as far as it matters here. Its parts are read where they are
// needed: most events of a long log are launches like others.
type event struct {
	Type *string         `json:"event_type"`
	Name json.RawMessage `json:"name"`
	// Of a compilation.
	Payload json.RawMessage `json:"payload"`
	// Of a launch.
	Grid     json.RawMessage `json:"grid"`
	Metadata json.RawMessage `json:"compilation_metadata"`
	Args     json.RawMessage `json:"extracted_args"`
}

type payload struct {
	Metadata metadata          `json:"metadata"`
	Content  map[string]string `json:"file_content"` // by the names of the compiler's files
}

// metadata is what Triton keeps of a compilation, in a log and in its cache.
type metadata struct {
	Name        string   `json:"name"`
	Hash        string   `json:"hash"`
	Warps       int64    `json:"num_warps"`
	CTAs        int64    `json:"num_ctas"`
	Cluster     []int64  `json:"cluster_dims"`
	PerCGA      []int64  `json:"ctas_per_cga"`
	Shared      int64    `json:"shared"`
	Cooperative flag     `json:"launch_cooperative_grid"`
	Dependent   flag     `json:"launch_pdl"`
	Global      int64    `json:"global_scratch_size"`
	GlobalAlign int64    `json:"global_scratch_align"`
	Profile     int64    `json:"profile_scratch_size"`
	ProfAlign   int64    `json:"profile_scratch_align"`
	Maps        []*mapOf `json:"tensordesc_meta"`
	Backend     string   `json:"backend_name"`
	// Constants are the arguments that the compiler took, by their places.
	Constants map[string]json.RawMessage `json:"src_constants"`
}

// A mapOf is how a tensor descriptor becomes a tensor map.
type mapOf struct {
	Swizzle int64   `json:"swizzle"`
	Size    int64   `json:"elem_size"`
	Type    int64   `json:"elem_type"`
	Box     []int64 `json:"block_size"`
	Padded  flag    `json:"fp4_padded"`
	Im2col  flag    `json:"is_im2col"`
}

// A flag is a bool that may be written as a number.
type flag bool

func (f *flag) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "true", "1":
		*f = true
	case "false", "0", "null":
		*f = false
	default:
		return &json.UnmarshalTypeError{Value: string(tidy(string(b))), Field: "of true or false"}
	}
	return nil
}

// event takes one line.
func (r *reader) event(text []byte) error {
	var e event
	if err := decode(text, &e); err != nil {
		return r.errorf("%v", err)
	}
	if e.Type == nil {
		return r.errorf("no event_type: this is no event of tritonparse")
	}
	switch *e.Type {
	case "compilation":
		return r.compilation(&e)
	case "launch":
		return r.launch(&e)
	}
	return nil // what tritonparse found out besides
}

// part decodes a part of an event.
func part(name string, text json.RawMessage, to any) error {
	err := decode(text, to)
	var typ *typeError
	if errors.As(err, &typ) {
		typ.field = strings.TrimSuffix(name+"."+typ.field, ".")
	}
	return err
}

// A typeError is JSON of another type than is needed.
type typeError struct{ field, got string }

func (e *typeError) Error() string {
	if e.field == "" {
		return fmt.Sprintf("a JSON %s; an object is needed", e.got)
	}
	return fmt.Sprintf("%s is a JSON %s, which does not fit", e.field, e.got)
}

// decode reads JSON, and says in words what is wrong.
func decode(text []byte, to any) error {
	err := json.Unmarshal(text, to)
	var typ *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &typ) && typ.Type == nil:
		return fmt.Errorf("%s, instead %s", tidy(typ.Value), typ.Field)
	case errors.As(err, &typ):
		return &typeError{typ.Field, tidy(typ.Value)}
	case errors.As(err, &syntax) && (strings.HasPrefix(err.Error(), "unexpected end") || strings.HasPrefix(err.Error(), "invalid character ' '") && int(syntax.Offset) >= len(text)):
		return errors.New("the line ends within its JSON")
	case errors.As(err, &syntax):
		return fmt.Errorf("no JSON at byte %d of the line", syntax.Offset)
	}
	return errors.New("a value that does not fit")
}

// ptx returns the name and the text of the PTX; none, if there is none.
func (p *payload) ptx() (name, text string) {
	var names []string
	for n := range p.Content {
		if strings.HasSuffix(n, ".ptx") {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	if i := slices.Index(names, p.Metadata.Name+".ptx"); i > 0 {
		names = names[i:]
	}
	if len(names) == 0 {
		return "", ""
	}
	return names[0], p.Content[names[0]]
}

// without says why there is no PTX.
func (m *metadata) without(text string) string {
	switch {
	case text == "" && m.Backend != "" && m.Backend != "cuda":
		return "it is compiled for " + tidy(m.Backend)
	case text == "":
		return "the log does not hold its file"
	case strings.HasPrefix(text, "<"): // tritonparse's words in place of a file
		return tidy(text)
	}
	return ""
}

// check holds numbers to what a launch can have.
func (m *metadata) check() error {
	for _, n := range []struct {
		name    string
		value   int64
		lo, max int64
	}{
		{"num_warps", m.Warps, 0, launch.MaxBlockThreads / 32},
		{"num_ctas", m.CTAs, 0, launch.MaxClusterCTAs},
		{"shared", m.Shared, 0, launch.MaxShared},
		{"global_scratch_size", m.Global, 0, 1 << 40},
		{"global_scratch_align", m.GlobalAlign, 0, launch.MaxAlign},
		{"profile_scratch_size", m.Profile, 0, 1 << 40},
		{"profile_scratch_align", m.ProfAlign, 0, launch.MaxAlign},
	} {
		if n.value < n.lo || n.value > n.max {
			return fmt.Errorf("%s is %d; a kernel has from %d to %d", n.name, n.value, n.lo, n.max)
		}
	}
	for _, align := range []int64{m.GlobalAlign, m.ProfAlign} {
		if align&(align-1) != 0 {
			return fmt.Errorf("an alignment of %d, no power of two", align)
		}
	}
	for _, dims := range [][]int64{m.Cluster, m.PerCGA} {
		if len(dims) > 3 {
			return fmt.Errorf("a cluster of %d dimensions; there are 3", len(dims))
		}
		n := int64(1)
		for _, d := range dims {
			if d < 1 || d > launch.MaxClusterCTAs {
				return fmt.Errorf("a cluster is %d wide; it can be from 1 to %d", d, launch.MaxClusterCTAs)
			}
			n *= d
		}
		if n > launch.MaxClusterCTAs {
			return fmt.Errorf("a cluster of %d CTAs; at most %d are allowed", n, launch.MaxClusterCTAs)
		}
	}
	if len(m.Maps) > maxArgs {
		return fmt.Errorf("%d tensor maps; a kernel has fewer", len(m.Maps))
	}
	return nil
}

// cluster returns the CTAs of a cluster, and by what Triton multiplies the grid; nil, if
// there are no clusters.
func (m *metadata) cluster() (dims, times []uint64) {
	three := func(list []int64) []uint64 {
		out := []uint64{1, 1, 1}
		for i, n := range list {
			out[i] = uint64(n)
		}
		return out
	}
	one := []uint64{1, 1, 1}
	if dims = three(m.PerCGA); !slices.Equal(dims, one) {
		return dims, one
	}
	if dims = three(m.Cluster); !slices.Equal(dims, one) {
		return dims, dims
	}
	if m.CTAs > 1 {
		dims = []uint64{uint64(m.CTAs), 1, 1}
		return dims, dims
	}
	return nil, one
}

// grid returns the grid as the program gave it; nil, if it has no CTA.
func (e *event) grid() ([]uint64, error) {
	if e.Grid == nil || string(e.Grid) == "null" {
		return nil, errors.New("a launch without a grid")
	}
	var list []json.Number
	d := json.NewDecoder(bytes.NewReader(e.Grid))
	d.UseNumber()
	if err := d.Decode(&list); err != nil {
		return nil, errors.New("grid is no list of numbers")
	}
	if len(list) < 1 || len(list) > 3 {
		return nil, fmt.Errorf("grid has %d dimensions; it has from 1 to 3", len(list))
	}
	most := []uint64{launch.MaxGridX, launch.MaxGridYZ, launch.MaxGridYZ}
	zero := false
	var grid []uint64
	for i, n := range list {
		v, err := strconv.ParseUint(n.String(), 10, 64)
		if err != nil || v > most[i] {
			return nil, fmt.Errorf("grid is %s in %c; it can be up to %d", tidy(n.String()), "xyz"[i], most[i])
		}
		zero = zero || v == 0
		grid = append(grid, v)
	}
	if zero {
		return nil, nil
	}
	return grid, nil
}

// An argument is one of a launch, as the log describes it.
type argument struct {
	name string
	typ  string
	info argInfo
}

// argInfo is what a log says of an argument.
type argInfo struct {
	Value  json.RawMessage // of a number
	Repr   string          // of anything else
	tensor                 // of a tensor
	// Of a descriptor of a tensor.
	Base           *tensor
	shape, Strides []int64 // in elements
	Block          []int64
	Padding        string
}

// A tensor is one of PyTorch.
type tensor struct {
	Shape   []int64 `json:"shape"`
	Dtype   string  `json:"dtype"`
	Stride  []int64 `json:"stride"`
	Size    int64   `json:"element_size"`
	Pointer string  `json:"data_ptr"`
	Min     *limit  `json:"min"`
	Max     *limit  `json:"max"`
	Blob    string  `json:"blob_path"`
	Missing string  `json:"error"` // why there is no blob

	address uint64
	known   bool // the address is
	extent  int64
}

// A limit is the least or the largest element of a tensor. What JSON has no numbers for, the log
// has as strings: "nan", "inf", "-inf". NaN is also what is no number in any form.
type limit float64

func (l *limit) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err != nil {
		v = math.NaN()
	}
	*l = limit(v)
	return nil
}

// arguments returns a launch's arguments, in their order, or why there are none.
func (e *event) arguments() (list []argument, without string, err error) {
	if e.Args == nil || string(e.Args) == "null" {
		return nil, "the log has no arguments of this launch", nil
	}
	d := json.NewDecoder(bytes.NewReader(e.Args))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, "", errors.New("extracted_args is no object")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, "", errors.New("extracted_args cannot be read")
		}
		name := t.(string)
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, "", fmt.Errorf("argument %s cannot be read", tidy(name))
		}
		if strings.HasPrefix(name, "_note") && len(raw) > 0 && raw[0] == '"' {
			var text string
			json.Unmarshal(raw, &text)
			return nil, tidy(text), nil
		}
		a := argument{name: name}
		if seen[name] {
			return nil, "", fmt.Errorf("argument %s stands there twice", tidy(name))
		}
		seen[name] = true
		if len(list) == maxArgs {
			return nil, "", fmt.Errorf("more than %d arguments", maxArgs)
		}
		if err := a.read(raw); err != nil {
			return nil, "", fmt.Errorf("argument %s: %w", tidy(name), err)
		}
		list = append(list, a)
	}
	return list, "", nil
}

// read reads what the log says of an argument.
func (a *argument) read(raw json.RawMessage) error {
	var kind struct {
		Type *string `json:"type"`
	}
	if err := decode(raw, &kind); err != nil {
		return err
	}
	if kind.Type == nil {
		return errors.New("it has no type")
	}
	a.typ = *kind.Type
	switch a.typ {
	case "tensor":
		return a.readTensor(raw)
	case "TensorDescriptor":
		return a.readDescriptor(raw)
	case "int", "float", "bool":
		var v struct {
			Value json.RawMessage `json:"value"`
		}
		if err := decode(raw, &v); err != nil {
			return err
		}
		a.info.Value = v.Value
		_, err := a.number()
		return err
	}
	var v struct {
		Repr  string          `json:"repr"`
		Value json.RawMessage `json:"value"`
	}
	if decode(raw, &v) == nil {
		a.info.Repr = v.Repr
		if v.Repr == "" {
			a.info.Repr = string(v.Value[:min(len(v.Value), 400)])
		}
	}
	return nil
}

func (a *argument) readTensor(raw json.RawMessage) error {
	t := &a.info.tensor
	if err := decode(raw, t); err != nil {
		return err
	}
	return t.check()
}

func (a *argument) readDescriptor(raw json.RawMessage) error {
	var v struct {
		Base    *tensor `json:"base"`
		Shape   []int64 `json:"shape"`
		Strides []int64 `json:"strides"`
		Block   []int64 `json:"block_shape"`
		Padding string  `json:"padding"`
	}
	if err := decode(raw, &v); err != nil {
		return err
	}
	i := &a.info
	i.Base, i.shape, i.Strides, i.Block, i.Padding = v.Base, v.Shape, v.Strides, v.Block, v.Padding
	if n := len(v.Shape); n < 1 || n > launch.MaxTensorRank || len(v.Strides) != n {
		return fmt.Errorf("a descriptor of %d dimensions and %d strides", n, len(v.Strides))
	}
	for k := range v.Shape {
		if v.Shape[k] < 0 || v.Shape[k] > math.MaxUint32 || v.Strides[k] < 0 || v.Strides[k] > launch.MaxAddress {
			return fmt.Errorf("a descriptor of shape %v, strides %v", v.Shape, v.Strides)
		}
	}
	if v.Base == nil {
		return nil
	}
	return v.Base.check()
}

// check holds a tensor to what fits into memory, and measures it.
func (t *tensor) check() error {
	if len(t.Shape) > launch.MaxRank {
		return fmt.Errorf("a tensor of %d dimensions; there are at most %d", len(t.Shape), launch.MaxRank)
	}
	if t.Stride == nil && t.Shape != nil { // an old log: C order
		t.Stride = make([]int64, len(t.Shape))
		n := int64(1)
		for i := len(t.Shape) - 1; i >= 0; i-- {
			t.Stride[i] = n
			if d := max(t.Shape[i], 1); n > launch.MaxAddress/d {
				return fmt.Errorf("a tensor of shape %v does not fit into memory", t.Shape)
			} else {
				n *= d
			}
		}
	}
	if len(t.Stride) != len(t.Shape) {
		return fmt.Errorf("a tensor of %d dimensions and %d strides", len(t.Shape), len(t.Stride))
	}
	if t.Size == 0 {
		t.Size = int64(dtype(t.Dtype, 1).Size())
	}
	if t.Size < 1 || t.Size > 64 {
		return fmt.Errorf("elements of %d bytes", t.Size)
	}
	last, zero := int64(0), false
	for i, d := range t.Shape {
		s := t.Stride[i]
		switch {
		case d < 0 || s < 0:
			return fmt.Errorf("a tensor of shape %v, strides %v", t.Shape, t.Stride)
		case d == 0:
			zero = true
		case d > 1 && s > 0 && (s > launch.MaxAddress || d-1 > launch.MaxAddress/s):
			return fmt.Errorf("a tensor of shape %v, strides %v does not fit into memory", t.Shape, t.Stride)
		default:
			last += (d - 1) * s
		}
	}
	if last > launch.MaxAddress/t.Size-1 {
		return fmt.Errorf("a tensor of shape %v, strides %v does not fit into memory", t.Shape, t.Stride)
	}
	if !zero {
		t.extent = (last + 1) * t.Size
	}
	if t.Pointer != "" {
		v, err := strconv.ParseUint(strings.TrimPrefix(t.Pointer, "0x"), 16, 64)
		if err != nil || !strings.HasPrefix(t.Pointer, "0x") {
			return fmt.Errorf("data_ptr is %s, no address as 0x7f…", tidy(t.Pointer))
		}
		if v > launch.MaxAddress-uint64(t.extent) {
			return fmt.Errorf("data_ptr is %#x, beyond the memory of a GPU", v)
		}
		t.address, t.known = v, v != 0
	}
	return nil
}

// number returns a scalar's value.
func (a *argument) number() (*big.Float, error) {
	text := strings.Trim(string(a.info.Value), `"`)
	switch {
	case a.info.Value == nil:
		return nil, errors.New("it has no value")
	case a.typ == "bool" && text == "true":
		return big.NewFloat(1), nil
	case a.typ == "bool" && text == "false":
		return big.NewFloat(0), nil
	case a.typ == "float" && slices.Contains([]string{"nan", "NaN", "inf", "-inf", "Infinity", "-Infinity"}, text):
		return nil, nil
	}
	if len(text) > 400 {
		return nil, errors.New("a number of more than 400 digits")
	}
	if a.typ == "int" {
		i, ok := new(big.Int).SetString(text, 10)
		if !ok {
			return nil, fmt.Errorf("%s is no whole number", tidy(text))
		}
		return new(big.Float).SetPrec(2000).SetInt(i), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || a.typ != "float" {
		return nil, fmt.Errorf("%s is no %s", tidy(text), a.typ)
	}
	return big.NewFloat(v), nil
}

// key tells launches apart: by grid and arguments, but not by where in memory tensors lie,
// unless they lie in each other.
func (l *Launch) key() (key [32]byte) {
	h := sha256.New()
	fmt.Fprintf(h, "%v %q\n", l.grid, l.without)
	m := l.memory()
	for i := range l.args {
		a := &l.args[i]
		fmt.Fprintf(h, "%q %q %s %q %v %v %v %s\n", a.name, a.typ, a.info.Value, a.info.Repr, a.info.shape, a.info.Strides, a.info.Block, a.info.Padding)
		if t := a.tensor(); t != nil {
			fmt.Fprintf(h, "%v %v %s %d %v %s\n", t.Shape, t.Stride, t.Dtype, t.Size, t.known, m.place(t))
		}
	}
	io.WriteString(h, "end")
	h.Sum(key[:0])
	return key
}

// tensor returns the tensor that an argument is, or describes; nil if there is none.
func (a *argument) tensor() *tensor {
	switch a.typ {
	case "tensor":
		return &a.info.tensor
	case "TensorDescriptor":
		return a.info.Base
	}
	return nil
}
