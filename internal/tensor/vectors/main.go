// Command vectors compares the rules of package tensor with published results of
// real cards: those of the repository north-numerical-computing/MATLAB-tensor-core,
// whose folder model_validation is the argument.
//
//	go run ./internal/tensor/vectors DIR
//
// A line is a card's results for one format. It says how many vectors differ from
// the rule, and how many do from rules changed in one thing: F less and more by
// one, C added the other way (at the end instead of with the products, or the
// reverse), steps of half the size. A dash is a change that changes nothing, or
// that no unit could have. The exit status is 1 if a vector differs from the rule.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"muster/internal/tensor"
)

// A card is one that results were published of.
type card struct {
	name string
	arch int
}

var cards = []card{{"B200", 100}, {"H200", 90}, {"H100", 90}, {"Ada", 89}, {"L40S", 89}, {"A100", 80}, {"A2", 86}, {"V100", 70}}

var operands = []struct {
	name   string // of files
	format tensor.Format
}{{"fp16", tensor.F16}, {"bf16", tensor.BF16}, {"tf32", tensor.TF32}, {"E4M3", tensor.E4M3}, {"E5M2", tensor.E5M2}}

// unit is the instruction that the results were made with, and whether C was zero
// whatever its file says: the authors used wgmma for fp8 with an f32 result where
// there is one, and wmma or mma.sync for the rest.
func (c card) unit(f, acc tensor.Format) (u tensor.Unit, zero bool) {
	switch fp8 := f == tensor.E4M3 || f == tensor.E5M2; {
	case fp8 && c.arch == 90 && acc == tensor.F32:
		return tensor.UnitWGMMA, true
	case fp8:
		return tensor.UnitMMA, false
	}
	return tensor.UnitWMMA, false
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: vectors DIR")
		os.Exit(2)
	}
	differ, err := compare(os.Stdout, os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if differ > 0 {
		os.Exit(1)
	}
}

// compare writes the table of all sets of vectors in a folder, and returns how many
// vectors differ from their rules.
func compare(out io.Writer, dir string) (differ int, err error) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "card\tunit\tA, B\tD\tvectors\tdiffer\tF-1\tF+1\tC moved\thalf steps")
	sets, total := 0, 0
	for _, c := range cards {
		for _, o := range operands {
			for _, acc := range []tensor.Format{tensor.F32, tensor.F16} {
				s, err := load(dir, c.name, o.name, o.format, acc)
				if errors.Is(err, os.ErrNotExist) {
					continue
				}
				if err != nil {
					return 0, err
				}
				n, err := s.line(w, c)
				if err != nil {
					return 0, err
				}
				sets, total, differ = sets+1, total+len(s.want), differ+n
			}
		}
	}
	if sets == 0 {
		return 0, fmt.Errorf("%s: no vectors of a known card", dir)
	}
	w.Flush()
	fmt.Fprintf(out, "%d sets, %d vectors: %d differ\n", sets, total, differ)
	return differ, nil
}

// line writes the line of a set.
func (s *set) line(w io.Writer, c card) (differ int, err error) {
	unit, zero := c.unit(s.format, s.acc)
	sum, err := tensor.SumOf(c.arch, unit, s.format, s.format)
	if err != nil {
		return 0, err
	}
	if zero {
		clear(s.c)
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d", c.name, unit, s.format, s.acc, len(s.want))
	differ = s.differ(sum)
	fmt.Fprintf(w, "\t%d", differ)
	less, more := sum, sum
	less.Bits--
	more.Bits++
	fmt.Fprintf(w, "\t%d\t%d", s.differ(less), s.differ(more))
	if moved := sum; zero {
		fmt.Fprint(w, "\t-")
	} else {
		moved.Last = !sum.Last
		fmt.Fprintf(w, "\t%d", s.differ(moved))
	}
	if half, ok := halved(sum, s.k); ok {
		fmt.Fprintf(w, "\t%d", s.differ(half))
	} else {
		fmt.Fprint(w, "\t-")
	}
	fmt.Fprintln(w)
	return differ, nil
}

// halved is a sum over k products in steps of half the size; none has less than
// four products.
func halved(sum tensor.Sum, k int) (half tensor.Sum, ok bool) {
	if sum.Step == 0 || sum.Step > k {
		sum.Step = k
	}
	// A widened sum has two steps already, of every other pair: now it has the
	// first half of K and then the second.
	sum.Widened = false
	sum.Step /= 2
	return sum, sum.Step%4 == 0
}

// differ counts the vectors that a sum does not explain.
func (s *set) differ(sum tensor.Sum) (n int) {
	r := tensor.NewRule(s.acc, s.format, s.format, sum)
	for i, want := range s.want {
		var a, b tensor.Vector
		for e := range s.k {
			r.AppendA(&a, s.a[i*s.k+e])
			r.AppendB(&b, s.b[i*s.k+e])
		}
		if r.Dot(s.c[i], &a, &b) != want {
			n++
		}
	}
	return n
}
