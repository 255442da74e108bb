package ptx

import (
	"fmt"
	"strings"
)

// lengths finds the number of registers of the operands whose vectors the table gives no
// length ("*?"), since it follows from several modifiers.
type lengths struct {
	form *Form
	mod  func(slot string) string
	typ  func(*Arg) string // the type of an operand's elements
}

// checkLength reports a vector of another length than its instruction's modifiers ask for.
func (c *operandCheck) checkLength(b *Bound, x *Vector) {
	if b.Arg.Count != "any" {
		return
	}
	l := lengths{c.in.Form, c.in.Mod, func(*Arg) string { return b.Type }}
	if n, ok := l.of(b.Arg); ok && n != len(x.Elems) {
		c.refuse("%s takes %d registers as %s, not %d", c.opcode(), n, b.Arg.Name, len(x.Elems))
	}
}

// of returns the number of registers of a vector; ok is false where no rule states it.
func (l *lengths) of(a *Arg) (n int, ok bool) {
	num, shape := atoi(l.mod("num")), l.mod("shape")
	switch {
	case a.Name == "disable": // a bit for each lane of tensor memory (ISA 9.7.18.10.10)
		return 4 * atoi(strings.TrimPrefix(l.mod("group"), "cta_group::")), true
	case l.form.slot("factor") >= 0: // compressed data
		return 0, false
	case num > 0: // ldmatrix, stmatrix, tcgen05.ld, tcgen05.st
		return num * max(1, map[string]int{"m16n16": 2, "16x128b": 2, "16x256b": 4}[shape]), true
	case l.form.slot("dim") >= 0 && a.Name == "c", l.form.slot("dim") >= 0 && a.Name == "im2col":
		return l.tensorCoordinates(a), true
	case l.form.Class == "matrix":
		return l.fragment(a), true
	}
	return 0, false
}

// tensorCoordinates returns the number of coordinates of a tensor copy, or of its im2col
// offsets (ISA 9.7.9.25.5.2).
func (l *lengths) tensorCoordinates(a *Arg) int {
	dim, load := atoi(l.mod("dim")), l.mod("load")
	switch {
	case a.Name == "im2col" && load == "im2col":
		return dim - 2
	case a.Name == "im2col":
		return 2
	case load == "tile::gather4", load == "tile::scatter4":
		return 5
	}
	return dim
}

// fragment returns the number of a lane's registers of a matrix (ISA 9.7.14.4.1, 9.7.14.5,
// 9.7.15.5.1).
func (l *lengths) fragment(a *Arg) int {
	var m, n, k int
	fmt.Sscanf(l.mod("shape"), "m%dn%dk%d", &m, &n, &k)
	which, typ := a.Name, l.fragmentType(a)
	if load, ok := strings.CutPrefix(l.form.Name, "wmma.load."); ok {
		if which = l.mod("which"); which == "" {
			which = load[:1]
		}
	}
	elems := map[string]int{"a": m * k, "b": n * k}[which]
	switch {
	case elems == 0:
		elems = m * n
	case which == "a" && l.mod("sp") != "":
		elems /= 2
	}
	switch {
	case l.form.Op == "wgmma":
		elems /= 4 // warps
	case l.form.Op == "wmma" && typ == "f16" && (which == "a" || which == "b"):
		return 8 // elements are stored twice
	case l.form.Name == "mma.m8n8k4.f16":
		elems *= 4 // four products at once
	}
	bits := fragmentBits(typ)
	if strings.HasPrefix(l.mod("kind"), "kind::mxf4") && typ == "e2m1" {
		bits = 4
	}
	return max(1, elems*bits/32/max(32, bits))
}

// fragmentType returns the type of a fragment's elements.
func (l *lengths) fragmentType(a *Arg) string {
	if strings.HasSuffix(a.Type, "f16x2") {
		return "f16"
	}
	return l.typ(a)
}

func fragmentBits(typ string) int {
	switch typ {
	case "b1":
		return 1
	case "u4", "s4":
		return 4
	case "u8", "s8", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1":
		return 8
	case "f16", "bf16":
		return 16
	case "f64":
		return 64
	}
	return 32
}
