package campaign

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
)

// A Record is what the card did with a case.
type Record struct {
	Name  string
	Print uint64 // of the kernel and its inputs
	// Refused is the assembler's error, Failed the driver's; both empty if the
	// kernel ran.
	Refused, Failed string
	Head            []byte   // the results of the first Keep threads, array by array
	Sums            []uint64 // a hash for each block
}

// Blob is what the third parameter of a kernel holds.
func Blob() []byte {
	s, b := newSource("blob"), make([]byte, 64)
	for i := range b {
		b[i] = byte(s.next() >> 56)
	}
	return b
}

// Fingerprint tells one case's kernel and inputs from another's.
func (c *Case) Fingerprint(input []byte) uint64 {
	h := fnv.New64a()
	io.WriteString(h, c.Source())
	h.Write(input)
	return h.Sum64()
}

// Full makes golden data hold all results of all threads, to look into a
// difference between hashes.
var Full bool

// Keep is how many threads' results the golden data holds in full.
func (c *Case) Keep() int {
	if c.Approx != nil || Full {
		return threads
	}
	return c.keep
}

// width is how many bytes a thread's results have.
func (c *Case) width() (n int) {
	for _, a := range c.Out {
		n += a.Size
	}
	return n
}

// Summary gives what a record holds of the results out.
func (c *Case) Summary(out []byte) (head []byte, sums []uint64) {
	n := c.Keep()
	for _, a := range c.Out {
		head = append(head, out[a.Offset:a.Offset+n*a.Size]...)
	}
	for b := range CTAs {
		h := fnv.New64a()
		for _, a := range c.Out {
			h.Write(out[a.Offset+b*Block*a.Size:][:Block*a.Size])
		}
		sums = append(sums, h.Sum64())
	}
	return head, sums
}

// planes writes an array byte plane by byte plane, which packs better.
func planes(c *Case, head []byte, back bool) []byte {
	out := make([]byte, len(head))
	n, at := c.Keep(), 0
	for _, a := range c.Out {
		for i := range n {
			for k := range a.Size {
				if back {
					out[at+i*a.Size+k] = head[at+k*n+i]
				} else {
					out[at+k*n+i] = head[at+i*a.Size+k]
				}
			}
		}
		at += n * a.Size
	}
	return out
}

// WriteGolden writes the records of cases, in the same order.
func WriteGolden(w io.Writer, machine string, cases []Case, recs []Record) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(z)
	text := func(s string) {
		b.Write(binary.AppendUvarint(nil, uint64(len(s))))
		b.WriteString(s)
	}
	text(machine)
	b.Write(binary.AppendUvarint(nil, uint64(len(recs))))
	for i := range recs {
		r := &recs[i]
		text(r.Name)
		b.Write(binary.LittleEndian.AppendUint64(nil, r.Print))
		text(r.Refused)
		text(r.Failed)
		if r.Refused != "" || r.Failed != "" {
			continue
		}
		text(string(planes(&cases[i], r.Head, false)))
		for _, s := range r.Sums {
			b.Write(binary.LittleEndian.AppendUint64(nil, s))
		}
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return z.Close()
}

// ReadGolden reads what WriteGolden wrote; it gives the card's description and
// the records by name.
func ReadGolden(r io.Reader, cases []Case) (machine string, recs map[string]*Record, err error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return "", nil, err
	}
	b := bufio.NewReader(z)
	fail := func(e error) {
		if err == nil {
			err = e
		}
	}
	number := func() uint64 {
		n, e := binary.ReadUvarint(b)
		fail(e)
		return n
	}
	bytes := func(n uint64) []byte {
		buf := make([]byte, min(n, 1<<24))
		_, e := io.ReadFull(b, buf)
		fail(e)
		return buf
	}
	byName := map[string]*Case{}
	for i := range cases {
		byName[cases[i].Name] = &cases[i]
	}
	machine = string(bytes(number()))
	recs = map[string]*Record{}
	for range number() {
		rec := &Record{Name: string(bytes(number()))}
		rec.Print = binary.LittleEndian.Uint64(bytes(8))
		rec.Refused, rec.Failed = string(bytes(number())), string(bytes(number()))
		if rec.Refused == "" && rec.Failed == "" {
			rec.Head = bytes(number())
			for range CTAs {
				rec.Sums = append(rec.Sums, binary.LittleEndian.Uint64(bytes(8)))
			}
		}
		if err != nil {
			return "", nil, fmt.Errorf("golden data: %w", err)
		}
		if c := byName[rec.Name]; c != nil && rec.Head != nil {
			if want := c.Keep() * c.width(); len(rec.Head) != want {
				return "", nil, fmt.Errorf("golden data: %s has %d bytes of results, not %d: the generator has changed", rec.Name, len(rec.Head), want)
			}
			rec.Head = planes(c, rec.Head, true)
		}
		recs[rec.Name] = rec
	}
	return machine, recs, nil
}
