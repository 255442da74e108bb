package tma

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Size is the number of bytes of a map. Align is the alignment of its address in
// a copy (misaligned address otherwise); tensormap.replace and
// fence.proxy.tensormap need 128.
const (
	Size  = 128
	Align = 64
)

// word is a map's bytes as 64-bit words. A field lies within one word.
type word [Size / 8]uint64

func (w *word) put(at, n int, v uint64) { w[at/64] |= v & (1<<n - 1) << (at % 64) }

func (w *word) get(at, n int) uint64 { return w[at/64] >> (at % 64) & (1<<n - 1) }

// set is put, but clears the field first.
func (w *word) set(at, n int, v uint64) {
	w[at/64] &^= (1<<n - 1) << (at % 64)
	w.put(at, n, v)
}

func (w *word) load(b *[Size]byte) {
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}

// signed is get for two's complement.
func (w *word) signed(at, n int) int32 { return int32(w.get(at, n)<<(64-n)>>32) >> (32 - n) }

// modeCodes are bits 64-66 of a map.
var modeCodes = [...]uint64{Tiled: 0, Im2col: 1, Im2colW: 3, Im2colW128: 7}

// Encode gives the bytes that the driver would, or a *RefusedError: for the newest
// architecture (see CheckOn), and where the driver's bytes are not known, those that
// the package comment says.
func (m *Map) Encode() ([Size]byte, error) {
	if err := m.Check(); err != nil {
		return [Size]byte{}, err
	}
	return m.pack(), nil
}

func (m *Map) pack() [Size]byte {
	var w word
	t := types[m.Type]
	w.put(0, 57, m.Address)
	w.put(64, 3, modeCodes[m.Mode])
	w.put(68, 3, uint64(m.Rank-1))
	w.put(71, 4, t.code)
	w.put(75, 2, uint64(m.Interleave))
	w.put(77, 2, swizzles[m.Swizzle].mode)
	w.put(86, 1, swizzles[m.Swizzle].mode>>2)
	w.put(83, 3, swizzles[m.Swizzle].atom)
	w.put(79, 1, uint64(m.Fill))
	w.put(80, 1, t.tf32)
	w.put(81, 2, uint64(m.L2))
	for i := range m.Rank {
		if i > 0 {
			w.put(64+32*i, 32, m.Strides[i-1]>>4)
			w.put(220+4*i, 4, m.Strides[i-1]>>36)
		}
		w.put(256+32*i, 32, m.Dims[i]-1)
		w.put(416+3*i, 3, uint64(m.ElementStrides[i]-1))
		if m.Mode == Tiled {
			w.put(440+8*i, 8, uint64(m.Box[i]-1))
		}
	}
	if m.Mode != Tiled {
		w.put(440, 8, uint64(m.Channels-1))
		if m.Mode != Im2colW128 {
			w.put(480, 10, uint64(m.Pixels-1))
		}
		n := m.cornerBits()
		for i := range m.corners() {
			w.put(448+n*i, n, uint64(m.Lower[i]))
			w.put(464+n*i, n, uint64(m.Upper[i]))
		}
	}
	w.put(512, 32, m.boxBytes())
	w.put(576, 32, uint64(m.Swizzle.Align()))
	var b [Size]byte
	for i, v := range w {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
	return b
}

// ErrNotAMap says that the driver would not write these 128 bytes.
var ErrNotAMap = errors.New("not a tensor map")

// Decode reads a map back. The error is ErrNotAMap if a field holds a value that
// no map has, and then the Map is zero; or if bits are set that the tables in the
// package comment do not name, or the two derived fields do not follow from the
// others; or a *RefusedError if the driver would never have written it. In the
// last two cases the Map is what the fields say.
func Decode(b [Size]byte) (Map, error) {
	m, ok := unpack(&b, Blackwell)
	if !ok {
		return Map{}, ErrNotAMap
	}
	if err := m.Check(); err != nil {
		return m, err
	}
	if m.pack() != b {
		return m, ErrNotAMap
	}
	return m, nil
}

// unpack reads the fields that an architecture has; it fails if one holds a value that
// no map has.
func unpack(b *[Size]byte, a Arch) (Map, bool) {
	var w word
	w.load(b)
	m := Map{
		Rank: int(w.get(68, 3)) + 1, Address: w.get(0, 57), Interleave: Interleave(w.get(75, 2)),
		Fill: Fill(w.get(79, 1)), L2: L2Promotion(w.get(81, 2)),
	}
	if !m.unpackKinds(&w, a) || m.Rank > 5 || m.Interleave > Interleave32 || m.Mode != Tiled && m.Rank < 3 {
		return Map{}, false
	}
	for i := range m.Rank {
		if i > 0 {
			m.Strides[i-1] = w.get(64+32*i, 32)<<4 | w.get(220+4*i, 4)<<36
		}
		m.Dims[i] = w.get(256+32*i, 32) + 1
		m.ElementStrides[i] = uint32(w.get(416+3*i, 3)) + 1
		if m.Mode == Tiled {
			m.Box[i] = uint32(w.get(440+8*i, 8)) + 1
		}
	}
	if m.Mode != Tiled {
		m.Channels = uint32(w.get(440, 8)) + 1
		if m.Mode != Im2colW128 {
			m.Pixels = uint32(w.get(480, 10)) + 1
		}
		n := m.cornerBits()
		for i := range m.corners() {
			m.Lower[i] = w.signed(448+n*i, n)
			m.Upper[i] = w.signed(464+n*i, n)
		}
	}
	return m, true
}

// unpackKinds reads what the architectures number differently. A card of Hopper reads
// neither the bits of the wide modes nor those of the newer swizzles.
func (m *Map) unpackKinds(w *word, a Arch) (ok bool) {
	mode, high, atom := w.get(64, 3), w.get(86, 1), w.get(83, 3)
	if a < Blackwell {
		mode, high, atom = mode&1, 0, 0
	}
	i := slices.Index(modeCodes[:], mode)
	m.Mode = Mode(max(i, 0))
	if m.Swizzle, ok = swizzleOf(w.get(77, 2)|high<<2, atom); !ok || i < 0 {
		return false
	}
	m.Type, ok = typeOf(w.get(71, 4), w.get(80, 1))
	return ok && (m.Type <= TF32FTZ || a >= Blackwell)
}

func typeOf(code, tf32 uint64) (Type, bool) {
	for t, r := range types {
		if r.code == code && r.tf32 == tf32 {
			return Type(t), true
		}
	}
	return 0, false
}

// Read returns the map that a card of an architecture sees in 128 bytes, also after
// tensormap.replace, which does not update the derived fields: the card ignores
// these and all bits without a name. The error is a *FaultError, and then every
// copy through the map faults. A map that no driver made may have a box of 2^40
// rows: see SharedBytes before Load.
func Read(b [Size]byte, a Arch) (Map, error) {
	m, ok := unpack(&b, a)
	if !ok {
		return Map{}, fault("no tensor map: a field holds what no map has")
	}
	return m, m.checkCard()
}

// Unnamed returns a bit among those of the kinds, 64 to 95, that is set and has no name:
// no map of Hopper has one, and of a newer card's map it shows that its encoding is not
// the one that this package knows. It is -1 if there is none.
func Unnamed(b [Size]byte) int {
	var w word
	w.load(&b)
	for _, at := range []int{67, 87, 88, 89, 90, 91, 92, 93, 94, 95} {
		if w.get(at, 1) != 0 {
			return at
		}
	}
	return -1
}
