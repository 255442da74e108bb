package tma

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"strconv"
	"testing"
)

// The buffer and the pattern in shared memory are those of tensormap.cu.
const bufferBytes = 1 << 20

func bufferOf(word func(i uint32) uint32, n int) []byte {
	b := make([]byte, n)
	for i := range uint32(n / 4) {
		binary.LittleEndian.PutUint32(b[4*i:], word(i))
	}
	return b
}

func globalWord(i uint32) uint32 {
	i++
	x := i
	x ^= x >> 16
	x *= 0x7feb352d
	x ^= x >> 15
	x *= 0x846ca68b
	x ^= x >> 16
	if i%5 == 0 {
		x = x&^0x1fff | 0x1000
	}
	if i%31 == 0 {
		x &^= 0x7f800000
	}
	if i%37 == 0 {
		x |= 0x7f800000
	}
	if i%74 == 0 {
		x &= 0xff800000
	}
	return x
}

func sharedWord(i uint32) uint32 {
	x := i*0x9e3779b1 + 0x1234567
	x ^= x >> 15
	x *= 0x2c1b3c6d
	return x ^ x>>13
}

// A copyCase is the part of a golden row that is not the map.
type copyCase struct {
	m      Map
	store  bool
	coords []int32
	offs   []uint16
	dst    uint32
	window int
}

func (g *golden) toCopy() copyCase {
	v := g.In[35:]
	c := copyCase{m: g.toMap(), store: v[0] == 1, dst: uint32(v[9]), window: int(v[10])}
	for _, x := range v[1:6] {
		c.coords = append(c.coords, int32(x))
	}
	for _, x := range v[6:9] {
		c.offs = append(c.offs, uint16(x))
	}
	return c
}

func (c *copyCase) access() Access { return Access{Coords: c.coords, Offsets: c.offs} }

// run does the copy on the host and hashes what it wrote into.
func (c *copyCase) run(global, shared []byte) string {
	h := fnv.New64a()
	if c.store {
		out := make([]byte, bufferBytes)
		for r := range c.m.Store(c.dst, c.access()) {
			copy(out[r.Global:][:r.Len], shared[r.Shared:])
		}
		h.Write(out)
	} else {
		out := make([]byte, c.window)
		for i := range out {
			out[i] = 0xa5
		}
		for r := range c.m.Load(c.dst, c.access()) {
			to := out[r.Shared:][:r.Len]
			if r.Fill {
				c.m.WriteFill(to)
			} else {
				copy(to, global[r.Global:])
				c.m.Convert(to)
			}
		}
		h.Write(out)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// name groups the cases.
func (c *copyCase) name() string {
	dir, mode := "load", "tiled"
	if c.store {
		dir = "store"
	}
	if c.m.Mode == Im2col {
		mode = "im2col"
	}
	return fmt.Sprintf("%s/%s/interleave%d/swizzle%d", dir, mode, c.m.Interleave, c.m.Swizzle)
}

func TestCopyIsTheCards(t *testing.T) {
	global, shared := bufferOf(globalWord, bufferBytes), bufferOf(sharedWord, 1<<16)
	seen, faults := map[string]int{}, 0
	for i, g := range readGolden(t, "copies.jsonl.gz") {
		c := g.toCopy()
		check := c.m.CheckLoad
		if c.store {
			check = c.m.CheckStore
		}
		if err := check(c.access()); (err != nil) != g.Fault {
			t.Errorf("%d: %s: fault %v, error %v\n%+v", i, c.name(), g.Fault, err, c)
			continue
		} else if g.Fault {
			faults++
			continue
		}
		seen[c.name()]++
		if got := c.run(global, shared); got != g.Hash {
			t.Errorf("%d: %s: %s, not %s\n%+v", i, c.name(), got, g.Hash, c)
		}
		if c.store {
			continue
		}
		w, err := strconv.ParseUint(g.Word, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if tx := int(w >> 21 & (1<<21 - 1)); tx != c.m.TxBytes(c.access()) {
			t.Errorf("%d: the mbarrier counted %d bytes, not %d\n%+v", i, tx, c.m.TxBytes(c.access()), c)
		}
	}
	t.Log(faults, seen)
}
