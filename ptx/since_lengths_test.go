package ptx

import (
	"fmt"
	"strings"
)

// length returns the number of registers of a trial's vector, by its modifiers.
func (t *trial) length(a *Arg) int {
	if n, any := t.g.c.count(a, t.g.mods); !any && t.f.slot("num") < 0 {
		return n
	}
	num, shape := atoi(t.mod("num")), t.mod("shape")
	switch {
	case a.Name == "disable": // lanes of tensor memory
		return 4 * atoi(strings.TrimPrefix(t.mod("group"), "cta_group::"))
	case num > 0: // ldmatrix, stmatrix, tcgen05.ld, tcgen05.st
		return num * max(1, map[string]int{"m16n16": 2, "16x128b": 2, "16x256b": 4}[shape])
	case t.f.slot("geom") >= 0:
		return t.coordinates(a)
	case t.f.slot("dim") >= 0:
		return t.tensorCoordinates(a)
	case t.f.Class == "matrix":
		return t.fragment(a)
	}
	return 4
}

// coordinates returns the number of coordinates of textures and surfaces (ISA
// 9.7.10.3), including the index of an array before them.
func (t *trial) coordinates(a *Arg) int {
	geom := t.mod("geom")
	switch {
	case a.Name == "dx", a.Name == "dy", a.Name == "e":
		geom = strings.TrimPrefix(geom, "a")
	}
	if n := map[string]int{"1d": 1, "a1d": 2, "2d": 2}[geom]; n > 0 {
		return n
	}
	return 4
}

// tensorCoordinates returns the number of coordinates of a tensor copy, or of
// its im2col offsets (ISA 9.7.9.25.5.2).
func (t *trial) tensorCoordinates(a *Arg) int {
	dim, load := atoi(t.mod("dim")), t.mod("load")
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

// fragment returns the number of a lane's registers of a matrix (ISA
// 9.7.14.4.1, 9.7.14.5, 9.7.15.5.1).
func (t *trial) fragment(a *Arg) int {
	var m, n, k int
	fmt.Sscanf(t.mod("shape"), "m%dn%dk%d", &m, &n, &k)
	which, typ := a.Name, t.fragmentType(a)
	if load, ok := strings.CutPrefix(t.f.Name, "wmma.load."); ok {
		if which = t.mod("which"); which == "" {
			which = load[:1]
		}
	}
	elems := map[string]int{"a": m * k, "b": n * k}[which]
	switch {
	case elems == 0:
		elems = m * n
	case which == "a" && t.mod("sp") != "":
		elems /= 2
	}
	switch {
	case t.f.Op == "wgmma":
		elems /= 4 // warps
	case t.f.Op == "wmma" && typ == "f16" && (which == "a" || which == "b"):
		return 8 // elements are stored twice
	case t.f.Name == "mma.m8n8k4.f16":
		elems *= 4 // four products at once
	}
	bits := fragmentBits(typ)
	if strings.HasPrefix(t.mod("kind"), "kind::mxf4") && typ == "e2m1" {
		bits = 4
	}
	return max(1, elems*bits/32/max(32, bits))
}

// fragmentType returns the type of a fragment's elements.
func (t *trial) fragmentType(a *Arg) string {
	if strings.HasSuffix(a.Type, "f16x2") {
		return "f16"
	}
	return t.g.typeOf(a)
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

// element returns the type of a vector's element: fragments are packed, the
// index of an array is an integer, and bytes are 8 bits, or packed.
func (t *trial) element(a *Arg, i int) string {
	typ := t.g.typeOf(a)
	switch {
	case t.f.Class == "matrix" && a.Count == "any" && width(typ) < 32:
		return "b32"
	case strings.HasPrefix(t.mod("geom"), "a") && a.Name == "c" && i == 0:
		return "u32"
	case t.f.Op == "multimem" && (typ == "e4m3" || typ == "e5m2"):
		return "b8"
	}
	return typ
}
