package capture

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"muster/launch"
	"muster/ptx"
)

// A dry capture answers a program as another card would, and runs none of its kernels: so
// kernels for a card that is not there are captured. The driver is given, for each image, a
// stub of its PTX for the card that is there: the same variables and the same kernels, with
// their parameters, bounds and shared memory, and nothing in them. So it answers by itself all
// that programs ask it about kernels.

// A card is what a program is told about a GPU.
type card struct {
	name       string
	attributes map[int]int // by CUdevice_attribute
}

// Numbers of CUdevice_attribute.
const (
	attrProcessors    = 16
	attrL2            = 38
	attrThreadsPerSM  = 39
	attrMajor         = 75
	attrMinor         = 76
	attrSharedPerSM   = 81
	attrSharedPerCTA  = 97
	attrCTAsPerSM     = 106
	sharedPerSM90     = 228 << 10
	sharedPerCTA90    = 227 << 10
	threadsPerSM90    = 2048
	mebibyte          = 1 << 20
	reservedSharedCTA = 1 << 10
)

// cards are those that --as names, by compute capability: sizes of shared memory and threads
// by the CUDA C++ Programming Guide, "Compute Capabilities"; processors and caches by NVIDIA's
// descriptions of H100 SXM, B200, B300 and GeForce RTX 5090.
var cards = map[int]card{
	90:  newCard("NVIDIA H100 80GB HBM3", 90, 132, 50*mebibyte, threadsPerSM90, sharedPerSM90, 32),
	100: newCard("NVIDIA B200", 100, 148, 126*mebibyte, threadsPerSM90, sharedPerSM90, 32),
	103: newCard("NVIDIA B300", 103, 148, 126*mebibyte, threadsPerSM90, sharedPerSM90, 32),
	120: newCard("NVIDIA GeForce RTX 5090", 120, 170, 96*mebibyte, 1536, 100<<10, 24),
}

func newCard(name string, capability, processors, l2, threads, shared, ctas int) card {
	return card{name, map[int]int{
		attrProcessors: processors, attrL2: l2, attrThreadsPerSM: threads, attrMajor: capability / 10, attrMinor: capability % 10,
		attrSharedPerSM: shared, attrSharedPerCTA: shared - reservedSharedCTA, attrCTAsPerSM: ctas,
	}}
}

// Cards names the cards that a dry capture can answer as.
func Cards() (names []string) {
	for _, n := range slices.Sorted(maps.Keys(cards)) {
		names = append(names, fmt.Sprintf("sm_%d", n))
	}
	return names
}

// ParseCard reads the name of a card; a suffix of its own instructions is no part of it.
func ParseCard(name string) (capability int, err error) {
	n, _, ok := architecture(name)
	if _, known := cards[n]; !ok || !known {
		return 0, fmt.Errorf("%q is no card that is known; there are %s", name, strings.Join(Cards(), ", "))
	}
	return n, nil
}

// architecture takes the name of an architecture apart: 100 and "a" of sm_100a.
func architecture(name string) (number int, suffix string, ok bool) {
	rest, ok := strings.CutPrefix(name, "sm_")
	digits := strings.TrimRight(rest, "af")
	if _, err := fmt.Sscanf(digits, "%d", &number); !ok || err != nil || fmt.Sprint(number) != digits || len(rest)-len(digits) > 1 {
		return 0, "", false
	}
	return number, rest[len(digits):], true
}

// runsOn reports whether PTX of an architecture can be compiled for a card (ISA 11.1.2: with
// the suffix a for that card alone, with f for those of its family from it on).
func (m *module) runsOn(capability int) bool {
	for _, t := range m.mod.Target {
		n, suffix, ok := architecture(t)
		switch {
		case !ok:
			continue
		case suffix == "a":
			return n == capability
		case suffix == "f":
			return n <= capability && n/10 == capability/10
		}
		return n <= capability
	}
	return true
}

// target is the compute capability that PTX is for; 0: it does not say.
func (m *module) target() int {
	for _, t := range m.mod.Target {
		if n, _, ok := architecture(t); ok {
			return n
		}
	}
	return 0
}

// options are lines for the shim.
func (c card) options(b *strings.Builder) {
	fmt.Fprintf(b, "name=%s\n", c.name)
	for _, a := range slices.Sorted(maps.Keys(c.attributes)) {
		fmt.Fprintf(b, "attribute=%d-%d\n", a, c.attributes[a])
	}
}

// stub writes, beside an image, the stub of it for the card that is there, and answers `stub
// PATH`; `none` if the image has no PTX.
func (s *sources) stub(path string, there int) string {
	i := s.image(path)
	modules := i.fitting(s.as)
	if len(modules) == 0 {
		modules = s.ofCode(i, path)
	}
	if len(modules) == 0 {
		return "none\n"
	}
	text, err := stubOf(modules, there)
	if err != nil {
		return "none\n"
	}
	name := path + ".stub"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return "none\n"
	}
	return "stub " + name + "\n"
}

// stubVersion is a version of PTX that drivers for a card know, and that has all that stubs are
// made of: a program may have been built by a newer toolkit than the driver.
func stubVersion(there int) ptx.Version {
	switch {
	case there <= 90:
		return ptx.Version{Major: 8, Minor: 3}
	case there <= 101 || there == 120:
		return ptx.Version{Major: 8, Minor: 7}
	}
	return ptx.Version{Major: 8, Minor: 8}
}

// namesOther reports whether an initial value has the name of something that a stub lacks: a function.
func namesOther(i *ptx.Init, variables map[string]bool) bool {
	var in func(op ptx.Operand) bool
	in = func(op ptx.Operand) bool {
		switch op := op.(type) {
		case ptx.Name:
			return !variables[string(op)]
		case *ptx.Unary:
			return in(op.X)
		case *ptx.Binary:
			return in(op.X) || in(op.Y)
		}
		return false
	}
	return in(i.Expr) || slices.ContainsFunc(i.List, func(e *ptx.Init) bool { return namesOther(e, variables) })
}

// stubOf is one module with the kernels and variables of several, those of the first first.
func stubOf(modules []*module, there int) (string, error) {
	all := &ptx.Module{Name: "stub.ptx", Version: stubVersion(there), Target: []string{fmt.Sprintf("sm_%d", there)}, Address: 64}
	seen := map[string]bool{}
	for _, m := range modules {
		var shared []string // static shared memory of the module
		for _, it := range m.mod.Items {
			switch it := it.(type) {
			case *ptx.Var:
				if seen[it.Name] || it.Type == "texref" || it.Type == "surfref" || it.Type == "samplerref" {
					continue
				}
				if it.Linkage == "extern" && it.Space != "shared" {
					continue // another unit has it
				}
				seen[it.Name] = true
				v := *it
				if v.Init != nil && namesOther(v.Init, seen) {
					if v.Dims = slices.Clone(v.Dims); len(v.Dims) > 0 && v.Dims[0] < 0 {
						v.Dims[0] = int64(len(v.Init.List))
					}
					v.Init = nil
				}
				if v.Linkage != "extern" && (v.Space == "global" || v.Space == "const") {
					v.Linkage = "visible" // so that it stays, with nothing that names it
				}
				if v.Space == "shared" && v.Linkage != "extern" {
					shared = append(shared, v.Name)
				}
				all.Items = append(all.Items, &v)
			case *ptx.Func:
				if it.Entry && it.Body != nil && !seen[it.Name] {
					seen[it.Name] = true
					all.Items = append(all.Items, stubKernel(it, shared))
				}
			}
		}
	}
	var b strings.Builder
	err := all.Print(&b)
	return b.String(), err
}

// bounds are the directives of a kernel that the driver's answers depend on.
var bounds = []string{"maxntid", "reqntid", "minnctapersm", "maxnreg", "reqnctapercluster", "explicitcluster", "maxclusterrank"}

// stubKernel is a kernel with nothing in it but its shared memory, which a store keeps: its
// own, and that of the module which it names.
func stubKernel(f *ptx.Func, shared []string) *ptx.Func {
	k := &ptx.Func{Linkage: "visible", Entry: true, Name: f.Name, Params: f.Params, Body: &ptx.Block{}}
	for _, d := range f.Attrs {
		if slices.Contains(bounds, strings.TrimPrefix(d.Name, ".")) {
			k.Attrs = append(k.Attrs, d)
		}
	}
	store := func(name string) {
		k.Body.Stmts = append(k.Body.Stmts, &ptx.Inst{Op: "st", Mods: []string{"volatile", "shared", "u8"}, Operands: []ptx.Operand{&ptx.Mem{Base: ptx.Name(name)}, ptx.Int{}}})
	}
	if len(shared) > 0 {
		text := (&ptx.Module{Items: []ptx.Item{f}}).String()
		for _, name := range shared {
			if strings.Contains(text, name) {
				store(name)
			}
		}
	}
	var keep func(list []ptx.Stmt)
	n := 0
	keep = func(list []ptx.Stmt) {
		for _, st := range list {
			switch st := st.(type) {
			case *ptx.Block:
				keep(st.Stmts)
			case *ptx.Var:
				if st.Space == "shared" {
					v := *st
					v.Name = fmt.Sprintf("muster_shared_%d", n) // blocks may use a name again
					n++
					k.Body.Stmts = append(k.Body.Stmts, &v)
					store(v.Name)
				}
			}
		}
	}
	keep(f.Body.Stmts)
	k.Body.Stmts = append(k.Body.Stmts, &ptx.Inst{Op: "ret"})
	return k
}

// --- tensor maps ---

// spec is a foreign map as a launch file states it. The lists of the driver's encoder begin
// with the innermost dimension.
func (m *foreignMap) spec() (t launch.TensorMap, err error) {
	n, lists := m.Numbers, uint64(4)
	if len(m.Wide) > 0 {
		lists = 3 // no box
	}
	if len(n) < 7 || n[1] < 1 || n[1] > launch.MaxTensorRank || uint64(len(n)) != 6+lists*n[1] || len(m.Wide) != 0 && len(m.Wide) != 5 {
		return t, fmt.Errorf("it was recorded by another version")
	}
	rank := int(n[1])
	take := func(k int) []int64 {
		list := make([]int64, k)
		for i, v := range n[:k] {
			list[k-1-i] = int64(v)
		}
		n = n[k:]
		return list
	}
	s := &launch.TensorMapSpec{Interleave: launch.Interleave(n[3]), Swizzle: launch.Swizzle(n[4]), L2: launch.L2Promotion(n[5]), Fill: launch.OOBFill(n[6])}
	t = launch.TensorMap{Spec: s, Address: n[2], Type: launch.ElementU8 + launch.ElementType(n[0])}
	n = n[7:]
	t.Shape, t.Strides = take(rank), take(rank-1)
	if w := m.Wide; len(w) > 0 {
		s.Im2col = &launch.Im2col{Wide: launch.WideW + launch.WideMode(w[0]), Lower: w[1:2], Upper: w[2:3], Channels: w[3], Pixels: w[4]}
	} else {
		s.Box = take(rank)
	}
	t.ElementStrides = take(rank)
	return t, nil
}

// encode gives the bytes that a launch file's map of that kind would have.
func (m *foreignMap) encode() (b [launch.TensorMapSize]byte, err error) {
	t, err := m.spec()
	if err != nil {
		return b, err
	}
	return t.Encode()
}

// bytes says what the bytes of a foreign map are.
func (m *foreignMap) bytes() string {
	if _, err := m.encode(); err != nil {
		return "its bytes are a name: " + err.Error()
	}
	return "its bytes are in an encoding of muster's own"
}

// translate writes the foreign maps of a launch's parameters into them.
func (w *writer) translate(block []byte) {
	for _, m := range w.Maps {
		if b, err := m.encode(); err == nil && m.At+len(b) <= len(block) {
			copy(block[m.At:], b[:])
		}
	}
}
