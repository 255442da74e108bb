package kernel

import "muster/ptx"

// special gives the type of a special register (ISA 10), or of a part of one.
func special(name string) (Type, bool) {
	s, ok := ptx.LookupSpecial(name)
	t := Type(s.Type)
	return t, ok && (t == predType || t.Size() > 0)
}
