// Package wmmacard has the inputs of the products that an H100 was asked for, as
// internal/machine/testdata/card/wmma/wmma.py draws them, and reads its answers there.
package wmmacard

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Read reads a file of answers in JSON.
func Read(dir, name string, into any) error {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

// A Form is a form of wmma.mma that the card ran, or that ptxas refused with Error.
type Form struct {
	Name, Shape, AB, C, D, Op, SHA, Error string
	Index, Tiles                          int
	Satfinite                             bool
	Kinds                                 []string
}

// Mods are the qualifiers of the form that follow "wmma", with its layouts.
func (f *Form) Mods(layouts string) []string {
	_, name, _ := strings.Cut(f.Name, ".")
	name, op := strings.CutPrefix(name, f.Op+".")
	if op && f.Op != "" {
		return strings.Split("mma."+f.Op+".popc.sync.aligned."+layouts+"."+name, ".")
	}
	return strings.Split("mma.sync.aligned."+layouts+"."+name, ".")
}

// Size returns M, N and K.
func (f *Form) Size() (m, n, k int) {
	fmt.Sscanf(f.Shape, "m%dn%dk%d", &m, &n, &k)
	return m, n, k
}

// Answer reads D of all tiles of all kinds, row by row.
func (f *Form) Answer(dir string) ([]byte, error) {
	return os.ReadFile(filepath.Join(dir, "d", f.Name+".bin"))
}

// Inputs draws A, B and C of a tile of one of Kinds, row by row.
func (f *Form) Inputs(kind, tile int) (a, b, c []uint64) {
	m, n, k := f.Size()
	name := f.Kinds[kind]
	seed := uint64(((f.Index*8+kind)*256 + tile) * 4)
	a, b, c = drawMatrix(f.AB, name, seed, 'a', m*k), drawMatrix(f.AB, name, seed+1, 'b', k*n), drawMatrix(f.C, name, seed+2, 'c', m*n)
	if name == "cancel" {
		drawCancelling(a, b, f.AB, n, k)
	}
	return a, b, c
}

// Sum is what SHA is if the inputs are those that the card was given.
func (f *Form) Sum() string {
	var all [3][]uint64
	for kind := range f.Kinds {
		for tile := range f.Tiles {
			a, b, c := f.Inputs(kind, tile)
			all[0], all[1], all[2] = append(all[0], a...), append(all[1], b...), append(all[2], c...)
		}
	}
	sum := sha256.New()
	for _, m := range all {
		for _, x := range m {
			sum.Write(binary.LittleEndian.AppendUint64(nil, x))
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Bits is the width of elements.
var Bits = map[string]uint{"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "u8": 8, "s8": 8, "s32": 32, "f64": 64, "u4": 4, "s4": 4, "b1": 1}

var floats = map[string]struct{ exp, frac uint }{"f16": {5, 10}, "bf16": {8, 7}, "tf32": {8, 23}, "f32": {8, 23}, "f64": {11, 52}}

func splitmix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func drawFloat(typ, kind string, which byte, u uint64) uint64 {
	f := floats[typ]
	bias := int64(1)<<(f.exp-1) - 1
	top := f.exp + f.frac
	if kind == "bits" {
		return u >> (63 - top)
	}
	var lo, hi int64
	switch kind {
	case "near":
		lo, hi = -2, 2
	case "wide":
		hi = 12
		if typ == "f16" {
			hi = 10
		}
		lo = -hi
	case "subnormal":
		lo, hi = -bias, 3-bias
		if which == 'b' {
			lo, hi = -1, 1
		}
	default:
		lo, hi = -3, 3
	}
	sign := u >> 63 << top
	frac := u & (1<<f.frac - 1)
	exp := uint64(bias+lo) + u>>53&1023%uint64(hi-lo+1)
	if kind != "special" || u>>48&31 != 0 {
		return sign | exp<<f.frac | frac
	}
	inf := uint64(1<<f.exp-1) << f.frac
	switch k := u >> 44 & 15; {
	case k < 4:
		return sign | inf
	case k < 7:
		return sign | inf | 1<<(f.frac-1)
	case k < 9:
		return sign
	case k < 11:
		return sign | 1
	case k < 13:
		return sign | inf | 1
	}
	return sign | inf - 1
}

func drawInt(typ, kind string, u uint64) uint64 {
	high := u>>63 != 0
	switch {
	case typ == "s32" && kind == "near":
		return uint64(uint32(int64(u>>48) - 32768))
	case typ == "s32" && kind == "extreme" && high:
		return 0x7fffff00 + u&255
	case typ == "s32" && kind == "extreme":
		return 0x80000000 + u&255
	case kind == "extreme":
		ends := map[string][2]uint64{"u8": {254, 255}, "s8": {128, 127}, "u4": {14, 15}, "s4": {8, 7}, "b1": {0, 1}}[typ]
		return ends[u>>63]
	}
	return u >> (64 - Bits[typ])
}

func drawMatrix(typ, kind string, seed uint64, which byte, n int) []uint64 {
	m := make([]uint64, n)
	for i := range m {
		u := splitmix(seed<<32 + uint64(i))
		if _, ok := floats[typ]; ok {
			m[i] = drawFloat(typ, kind, which, u)
		} else {
			m[i] = drawInt(typ, kind, u)
		}
	}
	return m
}

// drawCancelling makes pairs of products cancel but for a last bit.
func drawCancelling(a, b []uint64, typ string, cols, k int) {
	f := floats[typ]
	for i := range a {
		if i%k%2 == 1 {
			a[i] = a[i-1]
		}
	}
	for i := range b {
		if i/cols%2 == 1 {
			b[i] = b[i-cols] ^ 1<<(f.exp+f.frac) ^ b[i]&1
		}
	}
}
