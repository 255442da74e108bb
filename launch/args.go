package launch

import (
	"fmt"
	"math"
	"strings"

	"muster/internal/diag"
)

// An ArgKind says what an Arg is.
type ArgKind uint8

const (
	ArgPointer   ArgKind = iota // an address inside a buffer
	ArgNull                     // a null pointer
	ArgScalar                   // a number
	ArgTensorMap                // 128 bytes
	ArgStruct                   // one parameter made of parts
	ArgBytes                    // raw, from a file
	ArgPad                      // zero bytes; inside a struct only
)

var argKindNames = [...]string{"a pointer", "a null pointer", "a scalar", "a tensor map", "a struct", "raw bytes", "a pad"}

// An Arg is an argument of the kernel, or a part of one.
type Arg struct {
	Pos   Pos
	Kind  ArgKind
	Ptr   *Pointer
	Type  Type   // of a scalar
	Bits  uint64 // of a scalar, encoded
	Map   *TensorMapSpec
	Parts []Arg  // of a struct; none of them a struct
	Path  string // of raw bytes
	Pad   int    // bytes
}

// String describes the argument in an error: its kind, and a scalar's type.
func (a Arg) String() string {
	switch a.Kind {
	case ArgScalar:
		return "a scalar of type " + a.Type.String()
	case ArgPointer:
		return fmt.Sprintf("a pointer to buffer %q", a.Ptr.Buffer)
	}
	return argKindNames[a.Kind]
}

// MaxParams bounds the total size in bytes of a kernel's parameters, as PTX 8.1 does on
// sm_70 and newer.
const MaxParams = 32764

func (d *decoder) args(n *Node) ([]Arg, error) {
	if n.Kind != SeqNode {
		return nil, d.errorf(n, "args is a list, not %s", n.Kind)
	}
	return d.argList(n, d.topArg)
}

func (d *decoder) argList(n *Node, read func(*Node) (Arg, error)) ([]Arg, error) {
	var list []Arg
	for _, item := range n.Items {
		a, err := read(item)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

func (d *decoder) topArg(n *Node) (Arg, error) {
	return d.arg(n, "an argument", append(d.partForms(), argForm{"struct", d.structArg}))
}

func (d *decoder) part(n *Node) (Arg, error) {
	pad := func(n *Node) (Arg, error) {
		v, err := d.integer(n, "pad", 1, MaxParams)
		return Arg{Kind: ArgPad, Pad: int(v)}, err
	}
	return d.arg(n, "a part of a struct", append(d.partForms(), argForm{"pad", pad}))
}

// An argForm is a one-key mapping that makes an Arg.
type argForm struct {
	key  string
	read func(*Node) (Arg, error)
}

// partForms returns the forms allowed both alone and in a struct.
func (d *decoder) partForms() []argForm {
	forms := []argForm{
		{"tensormap", func(n *Node) (Arg, error) {
			m, err := d.tensorMap(n)
			return Arg{Kind: ArgTensorMap, Map: m}, err
		}},
		{"bytes", func(n *Node) (Arg, error) {
			p, err := d.path(n, "bytes")
			return Arg{Kind: ArgBytes, Path: p}, err
		}},
	}
	for t := U8; t < TensorMapType; t++ {
		forms = append(forms, argForm{t.String(), func(n *Node) (Arg, error) {
			bits, err := parseScalar(t, n)
			return Arg{Kind: ArgScalar, Type: t, Bits: bits}, err
		}})
	}
	return forms
}

func (d *decoder) arg(n *Node, what string, forms []argForm) (Arg, error) {
	var a Arg
	var err error
	switch n.Kind {
	case NullNode:
		a = Arg{Kind: ArgNull}
	case StringNode:
		a = Arg{Kind: ArgPointer, Ptr: &Pointer{Pos: d.pos(n), Buffer: n.Text}}
	case MapNode:
		a, err = d.argMap(n, what, forms)
	default:
		err = d.errorf(n, "%s is %s; write its type, as {s32: %s}, or a buffer's name", what, describe(n), scalarExample(n))
	}
	a.Pos = d.pos(n)
	return a, d.place(err)
}

func scalarExample(n *Node) string {
	if n.Kind == IntNode {
		return n.Text
	}
	return "1"
}

func (d *decoder) argMap(n *Node, what string, forms []argForm) (Arg, error) {
	keys := []string{"ptr"}
	for _, f := range forms {
		keys = append(keys, f.key)
	}
	if len(n.Entries) == 0 {
		return Arg{}, d.errorf(n, "%s is empty", what)
	}
	for _, e := range n.Entries {
		if e.Key == "ptr" {
			p, err := d.pointer(n)
			return Arg{Kind: ArgPointer, Ptr: p}, err
		}
	}
	e := n.Entries[0]
	for _, f := range forms {
		if f.key == e.Key {
			if len(n.Entries) > 1 {
				return Arg{}, errorf(at(d.file, n.Entries[1].Pos), "%s has one key; %s follows %q", what, quote(n.Entries[1].Key), e.Key)
			}
			return f.read(e.Value)
		}
	}
	if e.Key == "struct" {
		return Arg{}, errorf(at(d.file, e.Pos), "a struct cannot hold a struct; list its parts in place")
	}
	return Arg{}, errorf(at(d.file, e.Pos), "unknown key %s%s; known here: %s", quote(e.Key), diag.Meant(likelyType(e.Key, keys)), strings.Join(keys, ", "))
}

func (d *decoder) structArg(n *Node) (Arg, error) {
	if n.Kind != SeqNode {
		return Arg{}, d.errorf(n, "struct is a list of parts, not %s", n.Kind)
	}
	if len(n.Items) == 0 {
		return Arg{}, d.errorf(n, "struct has no parts")
	}
	parts, err := d.argList(n, d.part)
	return Arg{Kind: ArgStruct, Parts: parts}, err
}

func (a Arg) eachReference(check func(Pos, string) error) error {
	if err := eachReference(Value{Ptr: a.Ptr, Map: a.Map}, check); err != nil {
		return err
	}
	for _, p := range a.Parts {
		if err := p.eachReference(check); err != nil {
			return err
		}
	}
	return nil
}

// validate checks what a program that builds an Arg itself can get wrong.
func (a *Arg) validate() error {
	switch {
	case int(a.Kind) >= len(argKindNames):
		return errorf(a.Pos, "an argument is of kind %d; there are %d kinds", uint8(a.Kind), len(argKindNames))
	case a.Kind == ArgPointer && a.Ptr == nil:
		return errorf(a.Pos, "an argument is a pointer that names no buffer")
	case a.Kind == ArgTensorMap && a.Map == nil:
		return errorf(a.Pos, "an argument is a tensor map that describes none")
	case a.Kind == ArgScalar && !a.Type.valid():
		return errorf(a.Pos, "an argument has type %d; there is none of that number", uint8(a.Type))
	}
	for i := range a.Parts {
		if err := a.Parts[i].validate(); err != nil {
			return err
		}
	}
	return nil
}

// alignment of a part inside a struct, in bytes.
func (a Arg) alignment() int {
	switch a.Kind {
	case ArgPointer, ArgNull:
		return 8
	case ArgScalar:
		return a.Type.Size()
	case ArgTensorMap:
		return tensorMapAlign
	}
	return 1
}

// tensorMapAlign is the alignment of the driver's CUtensorMap.
const tensorMapAlign = 64

// alignUp rounds v up to a multiple of a power of two, unless it overflows.
func alignUp(v, align uint64) (uint64, bool) {
	if v > math.MaxUint64-(align-1) {
		return 0, false
	}
	return (v + align - 1) &^ (align - 1), true
}
