package kernel

import "muster/ptx"

// special returns the type of a special register (ISA 10), or of a component of one.
func special(name string) (Type, bool) {
	s, ok := ptx.LookupSpecial(name)
	t := Type(s.Type)
	return t, ok && (t == predType || t.Size() > 0)
}
