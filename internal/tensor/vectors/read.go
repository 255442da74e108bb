package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"muster/internal/num"
	"muster/internal/tensor"
)

// A set is the results of a card for one format of A and B and one of D. Rows of A
// and columns of B follow each other in a and b, k elements each.
type set struct {
	format, acc tensor.Format
	k           int
	a, b        []uint32
	c, want     []uint32
}

// load reads a set. A file has a line for each vector: A's and B's are numbers in
// f32, in hexadecimal, C's and D's in f32, in binary. C is rounded to D's format.
func load(dir, card, name string, format, acc tensor.Format) (*set, error) {
	file := func(what, suffix string) string {
		return filepath.Join(dir, card, name, what+"_"+card+"_"+suffix+".txt")
	}
	d := "fp32"
	if acc == tensor.F16 {
		d = "fp16"
	}
	s := &set{format: format, acc: acc}
	want, err := numbers(file("d", d), 2)
	if err != nil {
		return nil, err
	}
	c, err := numbers(file("c", "fp32"), 2)
	if err != nil {
		return nil, err
	}
	for _, o := range []struct {
		what string
		to   *[]uint32
	}{{"a", &s.a}, {"b", &s.b}} {
		path := file(o.what, name)
		x, err := numbers(path, 16)
		if err != nil {
			return nil, err
		}
		for _, v := range x {
			e, ok := encode(format, v)
			if !ok {
				return nil, fmt.Errorf("%s: %#x is no number of %s", path, v, format)
			}
			*o.to = append(*o.to, e)
		}
	}
	n := len(want)
	if n == 0 || len(c) != n || len(s.a)%n != 0 || len(s.a) != len(s.b) {
		return nil, fmt.Errorf("%s: %d results, %d of C, %d and %d elements of A and B", filepath.Join(dir, card, name), n, len(c), len(s.a), len(s.b))
	}
	s.k = len(s.a) / n
	if acc == tensor.F16 {
		for i := range want {
			c[i], want[i] = uint32(num.F32ToF16(c[i])), uint32(num.F32ToF16(want[i]))
		}
	}
	s.c, s.want = c, want
	return s, nil
}

// numbers reads a file of 32-bit numbers.
func numbers(path string, base int) (l []uint32, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for _, word := range strings.Fields(string(data)) {
		x, err := strconv.ParseUint(word, base, 32)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		l = append(l, uint32(x))
	}
	return l, nil
}

// encode returns the element of a format that has the value of an f32, if there is
// one.
func encode(f tensor.Format, x uint32) (e uint32, ok bool) {
	switch f {
	case tensor.TF32:
		return x, x&0x1fff == 0
	case tensor.BF16:
		return x >> 16, x&0xffff == 0
	case tensor.F16:
		e = uint32(num.F32ToF16(x))
		return e, num.F16ToF32(uint16(e)) == x
	}
	v := float64(math.Float32frombits(x))
	for e := range uint32(256) {
		if y := f.Value(e); y == v && math.Signbit(y) == math.Signbit(v) {
			return e, true
		}
	}
	return 0, false
}
