package playground

import (
	"encoding/binary"
	"errors"
)

// A segment is bytes that a module puts at a place of its memory.
type segment struct {
	at   int
	data []byte
}

// gap is the number of zeros from which on two segments are apart.
const gap = 64

// join makes one of segments of a module's data that lie close together. Go's linker begins
// a new one after some zeros, 100,000 in all, whose places are more than the zeros compressed;
// memory is zero where no segment lies.
func join(module []byte) (joined []byte, err error) {
	defer func() {
		if v := recover(); v == errShort {
			err = errShort
		} else if v != nil {
			panic(v)
		}
	}()
	s := &splitter{b: module}
	s.take(8)
	for s.at < len(module) {
		from := s.at
		id, size := s.next(), s.number()
		if id != 11 {
			s.take(size)
			continue
		}
		end := s.at + size
		list, err := s.segments()
		if err != nil {
			return nil, err
		}
		if s.at != end {
			return nil, errShort
		}
		data := write(list)
		joined = append(joined, module[:from]...)
		joined = append(joined, 11)
		joined = binary.AppendUvarint(joined, uint64(len(data)))
		return append(append(joined, data...), module[end:]...), nil
	}
	return module, nil
}

// segments reads a data section, with segments that are close as one.
func (s *splitter) segments() (list []segment, err error) {
	for range s.number() {
		if s.next() != 0 || s.next() != 0x41 { // active, in memory 0, at i32.const
			return nil, errors.New("a segment of data that Go's linker is not known to make")
		}
		at := s.signed()
		if s.next() != 0x0b {
			return nil, errShort
		}
		data := s.take(s.number())
		if n := len(list) - 1; n >= 0 && at >= list[n].at+len(list[n].data) && at < list[n].at+len(list[n].data)+gap {
			last := &list[n]
			last.data = append(append(last.data, make([]byte, at-last.at-len(last.data))...), data...)
			continue
		}
		list = append(list, segment{at, data[:len(data):len(data)]})
	}
	return list, nil
}

// signed reads a signed number.
func (s *splitter) signed() int {
	v, shift := int64(0), 0
	for {
		b := s.next()
		v |= int64(b&0x7f) << shift
		if shift += 7; b < 0x80 || shift > 35 {
			if b&0x40 != 0 {
				v |= -1 << shift
			}
			return int(v)
		}
	}
}

// write makes a data section of segments.
func write(list []segment) []byte {
	data := binary.AppendUvarint(nil, uint64(len(list)))
	for _, g := range list {
		data = append(data, 0, 0x41)
		v := int64(g.at)
		for {
			b := byte(v & 0x7f)
			v >>= 7
			if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
				data = append(data, b)
				break
			}
			data = append(data, b|0x80)
		}
		data = append(data, 0x0b)
		data = binary.AppendUvarint(data, uint64(len(g.data)))
		data = append(data, g.data...)
	}
	return data
}
