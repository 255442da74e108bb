package tritonlog

import (
	"fmt"
	"slices"
	"strings"

	"muster/launch"
)

// align is the alignment of buffers that a launch file promises: a tensor keeps its address
// modulo it.
const align = launch.DefaultAlign

// A region is memory that becomes one buffer: tensors that lie in each other.
type region struct {
	name       string
	begin, end uint64 // addresses; begin is aligned
	tensors    []*tensor
	names      []string // of the arguments
	written    bool
}

// A memory is what the tensors of a launch lie in.
type memory struct {
	regions []*region // in the order of the arguments
	of      map[*tensor]*region
}

// memory plans the buffers of a launch.
func (l *Launch) memory() *memory {
	m := &memory{of: map[*tensor]*region{}}
	var list []*tensor
	names := map[*tensor]string{}
	for i := range l.args {
		if t := l.args[i].tensor(); t != nil && t.extent > 0 {
			list = append(list, t)
			names[t] = l.args[i].name
		}
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b *tensor) int {
		switch {
		case a.address < b.address:
			return -1
		case a.address > b.address:
			return 1
		}
		return 0
	})
	var last *region
	for _, t := range sorted {
		end := t.address + uint64(t.extent)
		if !t.known {
			m.of[t] = &region{end: end}
			continue
		}
		if last == nil || t.address >= last.end {
			last = &region{begin: t.address &^ (align - 1), end: end}
		}
		last.end = max(last.end, end)
		m.of[t] = last
	}
	taken := map[string]bool{}
	for _, t := range list {
		r := m.of[t]
		if r.name == "" {
			r.name = bufferName(names[t], taken)
			m.regions = append(m.regions, r)
		}
		r.tensors = append(r.tensors, t)
		r.names = append(r.names, names[t])
	}
	return m
}

// offset is where a tensor lies in its region.
func (r *region) offset(t *tensor) uint64 { return t.address - r.begin }

// place tells where a tensor lies.
func (m *memory) place(t *tensor) string {
	r := m.of[t]
	if r == nil {
		return "nowhere"
	}
	return fmt.Sprintf("%q+%d", r.name, r.offset(t))
}

// bufferName makes a name of a launch file of one of Python.
func bufferName(name string, taken map[string]bool) string {
	var out []byte
	for i := 0; i < len(name) && i < 60; i++ {
		c := name[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			c = '_'
		}
		out = append(out, c)
	}
	if len(out) == 0 || '0' <= out[0] && out[0] <= '9' || reserved[string(out)] {
		out = append([]byte("_"), out...)
	}
	for taken[string(out)] {
		out = append(out, '_')
	}
	taken[string(out)] = true
	return string(out)
}

// reserved words are no names in YAML.
var reserved = map[string]bool{
	"null": true, "Null": true, "NULL": true,
	"true": true, "True": true, "TRUE": true,
	"false": true, "False": true, "FALSE": true,
}

// dtypes are PyTorch's names of types, without 'torch.'.
var dtypes = map[string]launch.Type{
	"float16": launch.F16, "half": launch.F16, "bfloat16": launch.BF16,
	"float32": launch.F32, "float": launch.F32, "float64": launch.F64, "double": launch.F64,
	"int8": launch.S8, "int16": launch.S16, "int32": launch.S32, "int64": launch.S64,
	"uint8": launch.U8, "uint16": launch.U16, "uint32": launch.U32, "uint64": launch.U64,
	"bool": launch.U8, "float8_e4m3fn": launch.E4M3, "float8_e5m2": launch.E5M2, "complex64": launch.B64,
}

// dtype returns the type for a buffer; by the elements' size where there is none of that name.
func dtype(name string, size int64) launch.Type {
	if t := dtypes[strings.TrimPrefix(name, "torch.")]; t != 0 {
		return t
	}
	switch size {
	case 2:
		return launch.B16
	case 4:
		return launch.B32
	case 8:
		return launch.B64
	}
	return launch.B8
}

// typ returns the type of a region's buffer: that of its tensors, or bytes.
func (r *region) typ() launch.Type {
	t := dtype(r.tensors[0].Dtype, r.tensors[0].Size)
	for _, x := range r.tensors {
		if dtype(x.Dtype, x.Size) != t || int64(t.Size()) != x.Size || r.offset(x)%uint64(t.Size()) != 0 {
			return launch.B8
		}
	}
	if (r.end-r.begin)%uint64(t.Size()) != 0 {
		return launch.B8
	}
	return t
}

// contiguous reports whether a tensor lies in C order without gaps.
func (t *tensor) contiguous() bool {
	n := int64(1)
	for i := len(t.Shape) - 1; i >= 0; i-- {
		if t.Shape[i] != 1 && t.Stride[i] != n {
			return false
		}
		n *= t.Shape[i]
	}
	return true
}

// dense reports whether a tensor's elements fill its memory, in whatever order.
func (t *tensor) dense() bool {
	n := t.Size
	for _, d := range t.Shape {
		n *= d // bounded by the extent, or an overlap
		if n > t.extent {
			return false
		}
	}
	if n != t.extent {
		return false
	}
	for i, s := range t.Stride {
		if s == 0 && t.Shape[i] > 1 {
			return false
		}
	}
	return true
}

// shape returns the shape of a region's buffer.
func (r *region) shape(typ launch.Type) []int64 {
	if t := r.tensors[0]; len(r.tensors) == 1 && r.begin == t.address&^(align-1) && r.offset(t) == 0 && t.contiguous() && typ != launch.B8 && len(t.Shape) > 0 {
		return t.Shape
	}
	return []int64{int64(r.end-r.begin) / int64(typ.Size())}
}
