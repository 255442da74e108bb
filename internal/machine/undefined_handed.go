package machine

// Words that are handed on. What threads leave in memory one after the other, in an order that the
// schedule decides, is known to nobody beforehand. A run that tracks undefined values takes what is
// loaded from such words for undefined.

// UndefinedHanded: a load of a word that is handed on.
const UndefinedHanded UndefinedKind = 102

// FollowHanded makes a run that tracks undefined values take what is read of some bytes of global
// memory for such.
func (u *Undefined) FollowHanded(of func(addr, n uint64) bool) { u.handed = of }

// takesHanded adds to the shade of n bytes that the instruction at hand reads.
func (u *Undefined) takesHanded(x *ctx, mem MemID, addr, n uint64, s shade) shade {
	if u.handed == nil || mem != Global || !u.handed(addr, n) {
		return s
	}
	return shade{^uint64(0), s.from | u.origin(UndefinedFrom{UndefinedHanded, x.s.pc, 0})}
}
