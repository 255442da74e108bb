package ptx

import "strings"

// length returns the number of registers of a trial's vector, by its modifiers.
func (t *trial) length(a *Arg) int {
	if n, any := t.g.c.count(a, t.g.mods); !any && t.f.slot("num") < 0 {
		return n
	}
	l := lengths{t.f, t.mod, t.g.typeOf}
	if n, ok := l.of(a); ok {
		return n
	}
	if t.f.slot("geom") >= 0 {
		return t.coordinates(a)
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
