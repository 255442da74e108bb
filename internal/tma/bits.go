package tma

import (
	"encoding/binary"
	"errors"
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

// Encode gives the bytes that the driver would, or a *RefusedError.
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
	w.put(64, 1, uint64(m.Mode))
	w.put(68, 3, uint64(m.Rank-1))
	w.put(71, 4, t.code)
	w.put(75, 2, uint64(m.Interleave))
	w.put(77, 2, uint64(m.Swizzle))
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
	if m.Mode == Im2col {
		w.put(440, 8, uint64(m.Channels-1))
		w.put(480, 10, uint64(m.Pixels-1))
		n := m.cornerBits()
		for i := range m.Rank - 2 {
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
var ErrNotAMap = errors.New("not a tensor map of sm_90")

// Decode reads a map back. The error is ErrNotAMap if a field holds a value that
// no map has, and then the Map is zero; or if bits are set that the table in the
// package comment does not name, or the two derived fields do not follow from the
// others; or a *RefusedError if the driver would never have written it. In the
// last two cases the Map is what the fields say.
func Decode(b [Size]byte) (Map, error) {
	m, ok := unpack(&b)
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

// unpack reads the fields; it fails if one holds a value that no map has.
func unpack(b *[Size]byte) (Map, bool) {
	var w word
	w.load(b)
	m := Map{
		Mode: Mode(w.get(64, 1)), Rank: int(w.get(68, 3)) + 1, Address: w.get(0, 57),
		Interleave: Interleave(w.get(75, 2)), Swizzle: Swizzle(w.get(77, 2)),
		Fill: Fill(w.get(79, 1)), L2: L2Promotion(w.get(81, 2)),
	}
	var ok bool
	if m.Type, ok = typeOf(w.get(71, 4), w.get(80, 1)); !ok || m.Rank > 5 || m.Interleave > Interleave32 || m.Mode == Im2col && m.Rank < 3 {
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
	if m.Mode == Im2col {
		m.Channels = uint32(w.get(440, 8)) + 1
		m.Pixels = uint32(w.get(480, 10)) + 1
		n := m.cornerBits()
		for i := range m.Rank - 2 {
			m.Lower[i] = w.signed(448+n*i, n)
			m.Upper[i] = w.signed(464+n*i, n)
		}
	}
	return m, true
}

func typeOf(code, tf32 uint64) (Type, bool) {
	for t, r := range types {
		if r.code == code && r.tf32 == tf32 {
			return Type(t), true
		}
	}
	return 0, false
}

// Read returns the map that the card sees in 128 bytes, also after
// tensormap.replace, which does not update the derived fields: the card ignores
// these and all bits without a name. The error is a *FaultError, and then every
// copy through the map faults. A map that no driver made may have a box of 2^40
// rows: see SharedBytes before Load.
func Read(b [Size]byte) (Map, error) {
	m, ok := unpack(&b)
	if !ok {
		return Map{}, fault("no tensor map: a field holds what no map has")
	}
	return m, m.checkCard()
}
