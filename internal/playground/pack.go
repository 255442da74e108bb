package playground

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
)

// The program is shipped in a form of its own: gzip, which every browser unpacks, makes a
// quarter less of WebAssembly if numbers of one kind stand together, since its window is
// 32 KiB and its codes are of bytes. So the bodies of functions are split into streams:
// operations, local variables, offsets, constants and so on. unpack.js puts them together
// again, and both follow this format:
//
//	8 bytes   the magic
//	u32 ×     the module's size; where the first body begins; the number of bodies; then the
//	          size of each stream, all little-endian
//	streams   one after the other, in the order of the constants below
//
// A body is its size, its locals and its instructions (WebAssembly Core Specification 2.0,
// 5.4 and 5.5.13). Numbers are copied as they are encoded. Only alignments are not there:
// they are natural ones.
const magic = "musterw1"

// The streams.
const (
	rest = iota // what is not in bodies
	sizes
	locals
	ops
	blocks
	labels
	tables
	calls
	vars
	globals
	reads
	writes
	ints
	longs
	floats
	others
	streams
)

// form says what follows an operation: numbers of these streams.
func form(op byte) ([]int, error) {
	switch {
	case op == 0x02 || op == 0x03 || op == 0x04: // block, loop, if
		return []int{blocks}, nil
	case op == 0x0c || op == 0x0d: // br, br_if
		return []int{labels}, nil
	case op == 0x10: // call
		return []int{calls}, nil
	case op == 0x11: // call_indirect
		return []int{others, others}, nil
	case 0x20 <= op && op <= 0x22: // local.get, .set, .tee
		return []int{vars}, nil
	case op == 0x23 || op == 0x24: // global.get, .set
		return []int{globals}, nil
	case 0x28 <= op && op <= 0x35: // loads
		return []int{reads}, nil
	case 0x36 <= op && op <= 0x3e: // stores
		return []int{writes}, nil
	case op == 0x3f || op == 0x40: // memory.size, .grow
		return []int{others}, nil
	case op == 0x41:
		return []int{ints}, nil
	case op == 0x42:
		return []int{longs}, nil
	case op <= 0x01, op == 0x05, op == 0x0b, op == 0x0f, op == 0x1a, op == 0x1b, 0x45 <= op && op <= 0xc4:
		return nil, nil
	}
	return nil, fmt.Errorf("operation %#x, which Go's compiler is not known to use", op)
}

// alignments are the natural ones of operations 0x28 to 0x3e, as powers of two.
const alignments = "\x02\x03\x02\x03\x00\x00\x01\x01\x00\x00\x01\x01\x02\x02\x02\x03\x02\x03\x00\x01\x00\x01\x02"

// A splitter reads a module.
type splitter struct {
	b   []byte
	at  int
	out [streams][]byte
}

// errShort is panicked with, and is what split answers, where a module ends too soon.
var errShort = errors.New("not a module of WebAssembly: it ends too soon")

func (s *splitter) next() byte { return s.take(1)[0] }

func (s *splitter) take(n int) []byte {
	if n < 0 || n > len(s.b)-s.at {
		panic(errShort)
	}
	s.at += n
	return s.b[s.at-n : s.at]
}

// number reads an unsigned number, whose size in bytes no stream needs.
func (s *splitter) number() int {
	v, n := binary.Uvarint(s.b[s.at:])
	if n <= 0 || v > uint64(len(s.b)) {
		panic(errShort)
	}
	s.at += n
	return int(v)
}

// move copies a number of any kind to a stream.
func (s *splitter) move(to int) {
	from := s.at
	for s.next() >= 0x80 {
	}
	s.out[to] = append(s.out[to], s.b[from:s.at]...)
}

// split splits a module, and puts what the page unpacks together.
func split(module []byte) (packed []byte, err error) {
	defer func() {
		if v := recover(); v == errShort {
			err = errShort
		} else if v != nil {
			panic(v)
		}
	}()
	s := &splitter{b: module}
	begin, bodies := 0, 0
	s.take(8)
	for s.at < len(module) {
		id, size := s.next(), s.number()
		if id != 10 {
			s.take(size)
			continue
		}
		bodies = s.number()
		begin = s.at
		for range bodies {
			if err := s.body(); err != nil {
				return nil, err
			}
		}
		break
	}
	s.out[rest] = append(bytes.Clone(module[:begin]), module[s.at:]...)
	packed = []byte(magic)
	for _, n := range []int{len(module), begin, bodies} {
		packed = binary.LittleEndian.AppendUint32(packed, uint32(n))
	}
	for _, stream := range s.out {
		packed = binary.LittleEndian.AppendUint32(packed, uint32(len(stream)))
	}
	return append(packed, bytes.Join(s.out[:], nil)...), nil
}

// body splits the body of a function.
func (s *splitter) body() error {
	from := s.at
	size := s.number()
	s.out[sizes] = append(s.out[sizes], s.b[from:s.at]...)
	end := s.at + size
	from = s.at
	for range s.number() {
		s.number()
		s.next()
	}
	s.out[locals] = append(s.out[locals], s.b[from:s.at]...)
	for s.at < end {
		if err := s.instruction(); err != nil {
			return err
		}
	}
	if s.at != end {
		return errShort
	}
	return nil
}

func (s *splitter) instruction() error {
	op := s.next()
	s.out[ops] = append(s.out[ops], op)
	switch {
	case op == 0x0e: // br_table: a count, so many labels, and one more
		from := s.at
		n := s.number()
		s.at = from
		for range n + 2 {
			s.move(tables)
		}
		return nil
	case op == 0x43: // f32.const
		s.out[floats] = append(s.out[floats], s.take(4)...)
		return nil
	case op == 0x44: // f64.const
		s.out[floats] = append(s.out[floats], s.take(8)...)
		return nil
	case op == 0xfc:
		from := s.at
		sub := s.number()
		s.at = from
		s.move(others)
		for range map[int]int{8: 2, 9: 1, 10: 2, 11: 1, 12: 2, 13: 1, 14: 2, 15: 1, 16: 1, 17: 1}[sub] { // of memory and tables
			s.move(others)
		}
		return nil
	}
	numbers, err := form(op)
	if err != nil {
		return err
	}
	if 0x28 <= op && op <= 0x3e && s.next() != alignments[op-0x28] {
		return fmt.Errorf("operation %#x with an alignment that is not natural", op)
	}
	for _, stream := range numbers {
		s.move(stream)
	}
	return nil
}

// pack compresses a program as the page unpacks it.
func pack(module []byte) ([]byte, error) {
	joined, err := join(module)
	if err != nil {
		return nil, err
	}
	data, err := split(joined)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
