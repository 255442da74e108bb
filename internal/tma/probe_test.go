package tma

import (
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"testing"
)

// probed is a row of more.jsonl.gz; probe.cu says what the numbers are.
type probed struct {
	What  string
	In    []int64
	Map   string   // the bytes of the map where In has another
	Fault int      // cudaError: see the constants
	Word  []string // mbarriers of the cluster's CTAs
	Hash  []string // of their shared memory, or of the buffer
}

// What the card answers. The launch ends with one of them.
const (
	noFault      = 0
	badAddress   = 700
	illegal      = 715
	misaligned   = 716
	launchFailed = 719
)

// A probe is a row taken apart.
type probe struct {
	bytes                              [Size]byte
	what                               int // 0 load, 1 store, 2 to 9 reductions, 10 prefetch
	coords                             []int32
	offs                               []uint16
	dst, window                        int
	where, shift, cluster, mask, owner int
	dim                                int
	mode                               Mode
	pattern                            int
}

func (r *probed) probe() probe {
	g := golden{In: r.In}
	m := g.toMap()
	p := probe{bytes: m.pack()}
	v := r.In[35:]
	next := func() int { x := v[0]; v = v[1:]; return int(x) }
	p.what = next()
	for range 5 {
		p.coords = append(p.coords, int32(next()))
	}
	for range 3 {
		p.offs = append(p.offs, uint16(next()))
	}
	p.dst, p.window = next(), next()
	p.where, p.shift, p.cluster, p.mask, p.owner = next(), next(), next(), next(), next()
	next() // hint
	p.dim, p.mode = next(), m.Mode
	if p.dim < 0 {
		p.dim = m.Rank
	}
	if x := next(); x >= 0 {
		p.mode = Mode(x)
	}
	for range 2 {
		p.spoil(next(), r.Map)
	}
	p.pattern = next()
	return p
}

// spoil does to the map what probe.cu does.
func (p *probe) spoil(flip int, raw string) {
	switch {
	case flip < 0:
	case raw != "":
		if _, err := hex.Decode(p.bytes[:], []byte(raw)); err != nil {
			panic(err)
		}
	case flip < 1024:
		p.bytes[flip/8] ^= 1 << (flip % 8)
	default:
		for i := range p.bytes {
			p.bytes[i] = byte(globalWord(uint32(flip*128 + i - 1)))
			if flip < 2002 {
				p.bytes[i] = byte(2000 - flip)
			}
		}
	}
}

// fault predicts how the launch ends, from what package tma says.
func (p *probe) fault() (Map, int) {
	if p.where == 3 {
		return Map{}, badAddress
	}
	if p.shift%Align != 0 || p.dst%BoxAlign != 0 && p.what != 10 {
		return Map{}, misaligned
	}
	m, err := Read(p.bytes, Hopper)
	var f *FaultError
	switch {
	case errors.As(err, &f) && f.Misaligned:
		return m, misaligned
	case err != nil || p.dim != m.Rank || p.mode != m.Mode:
		return m, illegal
	}
	switch {
	case p.what == 0 || p.what == 10:
		err = m.CheckLoad(p.access())
	default:
		if err = m.CheckStore(p.access()); err == nil && p.what > 1 {
			err = m.CheckReduce(Op(p.what - 2))
		}
	}
	if err != nil {
		return m, illegal
	}
	switch {
	case p.mask>>p.cluster > 0:
		return m, launchFailed
	case p.what != 10 && p.dst+m.SharedBytes(p.access()) > 41<<10: // what probe.cu has behind dst 0
		return m, badAddress
	}
	return m, noFault
}

func (p *probe) access() Access { return Access{Coords: p.coords, Offsets: p.offs} }

// inside reports whether all runs lie in the buffer.
func (p *probe) inside(m *Map) bool {
	runs := m.Load(uint32(p.dst), p.access())
	if p.what > 0 {
		runs = m.Store(uint32(p.dst), p.access())
	}
	for r := range runs {
		if !r.Fill && (r.Global > bufferBytes || r.Global+uint64(r.Len) > bufferBytes) {
			return false
		}
	}
	return true
}

func hash(b []byte) string {
	h := fnv.New64a()
	h.Write(b)
	return fmt.Sprintf("%016x", h.Sum64())
}

// stored is the buffer after a store or reduction.
func (p *probe) stored(m *Map, global, shared []byte) string {
	out := make([]byte, bufferBytes)
	if p.what > 1 {
		copy(out, global)
	}
	for r := range m.Store(uint32(p.dst), p.access()) {
		to, from := out[r.Global:][:r.Len], shared[r.Shared:][:r.Len]
		if p.what == 1 {
			copy(to, from)
		} else {
			m.Reduce(Op(p.what-2), to, from)
		}
	}
	return hash(out)
}

// loaded is the shared memory of a CTA that the load goes to, or does not.
func (p *probe) loaded(m *Map, global []byte, reached bool) string {
	out := make([]byte, 228<<10) // a box may go on beyond what probe.cu looks at
	for i := range p.window {
		out[i] = 0xa5
	}
	if reached {
		for r := range m.Load(uint32(p.dst), p.access()) {
			to := out[r.Shared:][:r.Len]
			if r.Fill {
				m.WriteFill(to)
			} else {
				copy(to, global[r.Global:])
				m.Convert(to)
			}
		}
	}
	return hash(out[:p.window])
}

// reaches reports whether a load writes to the CTA of that rank.
func (p *probe) reaches(rank int) bool {
	if p.mask >= 0 {
		return p.mask>>rank&1 == 1
	}
	return p.what == 0 && rank == p.owner
}

func TestProbesAreTheCards(t *testing.T) {
	global, shared := bufferOf(globalWord, bufferBytes), bufferOf(sharedWord, 1<<16)
	rows := readRows[probed](t, "more.jsonl.gz")
	seen := map[string][2]int{}
	for i, r := range rows {
		p := r.probe()
		m, fault := p.fault()
		if fault == noFault && !p.inside(&m) {
			fault = badAddress
		}
		n := seen[r.What]
		if r.Fault != noFault {
			n[1]++
		} else {
			n[0]++
		}
		seen[r.What] = n
		if fault != r.Fault {
			t.Errorf("%d: %s: the card answers %d, not %d\n%v\n%+v", i, r.What, r.Fault, fault, r.In, m)
			continue
		}
		if fault == noFault && p.pattern == 0 {
			p.compare(t, i, &r, &m, global, shared)
		}
	}
	if len(rows) < 2800 || len(seen) < 45 {
		t.Errorf("only %d cases of %d kinds", len(rows), len(seen))
	}
	t.Log(len(rows), seen)
}

func (p *probe) compare(t *testing.T, i int, r *probed, m *Map, global, shared []byte) {
	t.Helper()
	if p.what >= 1 && p.what < 10 {
		if got := p.stored(m, global, shared); got != r.Hash[0] {
			t.Errorf("%d: %s: buffer %s, not %s\n%v\n%+v", i, r.What, got, r.Hash[0], r.In, m)
		}
		return
	}
	for rank := range p.cluster {
		reached := p.reaches(rank)
		if got := p.loaded(m, global, reached); got != r.Hash[rank] {
			t.Errorf("%d: %s: CTA %d: %s, not %s\n%v\n%+v", i, r.What, rank, got, r.Hash[rank], r.In, m)
		}
		w, err := strconv.ParseUint(r.Word[rank], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		if reached {
			want = m.TxBytes(p.access())
		}
		if tx := int(w >> 21 & (1<<21 - 1)); tx != want {
			t.Errorf("%d: %s: the mbarrier of CTA %d counted %d bytes, not %d\n%v", i, r.What, rank, tx, want, r.In)
		}
	}
}
