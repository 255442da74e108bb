package tma

// Elements that are smaller than a byte (ISA 5.5.1.1) come in groups of 16, packed in
// global memory. b4x16 is packed in shared memory too, and copied as bytes are. A group
// of the other two has 16 bytes in shared memory: a load writes the packed elements to
// the first 8 or 12 of them and leaves the rest undefined; a store of 6-bit elements
// finds each in a byte of its own and packs them.
const (
	groupElements = 16
	groupShared   = 16
)

// padded reports whether a group has more bytes in shared memory than in global.
func (t Type) padded() bool { return t == B4x16P64 || t == B6x16P32 }

// group is the number of bytes of a group in global memory.
func (t Type) group() int { return int(t.bytes(groupElements)) }

// Pack gives the bytes that a store writes of a run's bytes in shared memory.
func (m *Map) Pack(b []byte) []byte {
	if m.Type != B6x16P32 {
		return b
	}
	out := make([]byte, 0, len(b)*6/8)
	word, n := uint32(0), 0
	for _, v := range b {
		word |= uint32(v&63) << n
		for n += 6; n >= 8; n -= 8 {
			out = append(out, byte(word))
			word >>= 8
		}
	}
	return out
}

// Padding returns which bytes of each 16 in shared memory a load leaves undefined: those
// from n on; 16 if there are none.
func (m *Map) Padding() (n int) {
	if m.Type.padded() {
		return m.Type.group()
	}
	return groupShared
}
