// Command measure runs launches of matrix products, and holds what they leave to the
// product in f64 within the bound that package product derives.
//
//	go run ./internal/product/measure [-inputs LIST] [-schedule S] [-bits F] [-planted] TABLE [NAME...]
//
// The table is JSON, a list of objects; a launch's path is relative to the table:
//
//	{"name": "tutorial 1", "launch": "tutorial/launch.yaml", "m": 128, "n": 256, "k": 64,
//	 "a": {"buffer": "b0", "format": "f16"}, "b": {"buffer": "b1", "format": "f16"},
//	 "d": {"buffer": "b2", "format": "f32"}}
//
// A matrix is at "offset" bytes of its buffer. "row" and "column" say how many elements lie
// between rows and columns; without them K is dense in A and in B, whose rows are N, and N
// in D. "every" and "part" say that K comes in parts: so many each, and so many elements
// apart. "split": 2 says that each half of K is summed for itself. "c" is what the
// accumulator begins with, or, with "late", what is added in the end. "in" is the format that
// A and B are converted to before, and "relu" says that negative results become zero. "zeros"
// says that D is zero before; it is NaN otherwise, or what it is as C.
//
// Operands are drawn anew, whatever the launch file fills them with. A line has the number
// of elements, how many are the exact sum cut or rounded to D's format, how many are outside
// of the bound, the largest distance as a fraction of the bound, and the bound's mean width
// in units of an f32. With -planted it also says how many are outside of references with one
// thing wrong: F one and three more and less, the last step of K left out, two columns
// exchanged. The exit status is 1 if an element is outside.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"muster"
	_ "muster/internal/capture" // reads what it writes
	"muster/internal/product"
	"muster/internal/yaml"
	"muster/launch"
)

// A row is a line of the table.
type row struct {
	Name, Launch string
	M, N, K      int
	A, B, D      matrix
	C            *matrix
	Late         bool
	Split        int
	In           string
	Relu, Zeros  bool
}

type matrix struct {
	Buffer, Format      string
	Offset, Row, Column int64
	Every               int
	Part                int64
}

func main() {
	inputs := flag.String("inputs", "positive,signed,cancelling", "a `list` of positive, signed, cancelling and integers")
	planted := flag.Bool("planted", false, "compare with wrong references, too")
	schedule := flag.String("schedule", "earliest", "a `schedule` of muster run; others cancel other clusters of a persistent kernel")
	bits := flag.Int("bits", 0, "the F that the bound is derived from; default: that of the instruction")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: measure [-inputs LIST] [-schedule S] [-bits F] [-planted] TABLE [NAME...]")
		os.Exit(2)
	}
	s, err := muster.ParseSchedule(*schedule)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	o := &options{inputs: strings.Split(*inputs, ","), schedule: s, planted: *planted, bits: *bits}
	ok, err := o.measure(os.Stdout, flag.Arg(0), flag.Args()[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

type options struct {
	inputs   []string
	schedule muster.Schedule
	planted  bool
	bits     int
}

func (o *options) measure(w io.Writer, table string, names []string) (ok bool, err error) {
	text, err := os.ReadFile(table)
	if err != nil {
		return false, err
	}
	var rows []row
	if err := json.Unmarshal(text, &rows); err != nil {
		return false, fmt.Errorf("%s: %w", table, err)
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(out, "launch\tM×N×K\tinputs\telements\texact\toutside\tworst\twidth\ttime")
	if o.planted {
		for _, c := range changes {
			fmt.Fprint(out, "\t", c.name)
		}
	}
	fmt.Fprintln(out)
	ok = true
	for _, r := range rows {
		if len(names) > 0 && !slices.Contains(names, r.Name) {
			continue
		}
		for _, in := range o.inputs {
			one, err := r.measure(out, filepath.Dir(table), product.Inputs(in), o)
			if err != nil {
				fmt.Fprintf(out, "%s\t\t%s\t%v\n", r.Name, in, err)
			}
			ok = ok && one && err == nil
			out.Flush()
		}
	}
	return ok, nil
}

// changes are the wrong references.
var changes = []struct {
	name string
	product.Change
}{
	{"F+1", product.Change{Bits: 1}},
	{"F+3", product.Change{Bits: 3}},
	{"F-1", product.Change{Bits: -1}},
	{"F-3", product.Change{Bits: -3}},
	{"dropped", product.Change{Drop: true}},
	{"swapped", product.Change{Swap: true}},
}

func (r *row) measure(out io.Writer, dir string, in product.Inputs, o *options) (ok bool, err error) {
	p, err := r.product()
	if err != nil {
		return false, err
	}
	f, err := yaml.ReadFile(r.path(dir))
	if err != nil {
		return false, err
	}
	data, err := r.fill(p, f, in)
	if err != nil {
		return false, err
	}
	start := time.Now()
	l, err := muster.LoadFile(f, muster.Limits{})
	if err != nil {
		return false, err
	}
	run, err := l.Run(context.Background(), muster.RunOptions{Schedule: o.schedule})
	if err != nil {
		return false, err
	}
	took := time.Since(start)
	if run.Report != nil {
		return false, fmt.Errorf("the run stopped: %s", run.Report.Summary)
	}
	if data.D, err = run.Buffer(r.D.Buffer); err != nil {
		return false, err
	}
	sum, err := p.SumOf(100)
	if err != nil {
		return false, err
	}
	if o.bits != 0 {
		sum.Bits = o.bits
	}
	x := p.Compare(sum, data, product.Change{})
	fmt.Fprintf(out, "%s\t%d×%d×%d\t%s\t%d\t%d\t%d\t%.3f\t%.2f\t%.1fs", r.Name, p.M, p.N, p.K, in, x.Elements, x.Exact, x.Outside, x.Worst, x.Width, took.Seconds())
	if o.planted {
		for _, c := range changes {
			fmt.Fprintf(out, "\t%d", p.Compare(sum, data, c.Change).Outside)
		}
	}
	if fmt.Fprintln(out); x.First != "" {
		fmt.Fprintln(out, "  "+x.First)
	}
	return x.Outside == 0, nil
}

// product is what the row describes.
func (r *row) product() (p *product.Product, err error) {
	p = &product.Product{M: r.M, N: r.N, K: r.K, Late: r.Late, Split: r.Split, Relu: r.Relu}
	if r.In != "" {
		if p.In, err = product.FormatOf(r.In); err != nil {
			return nil, err
		}
	}
	if p.A, err = r.A.matrix(r.K); err != nil {
		return nil, err
	}
	if p.B, err = r.B.matrix(r.K); err != nil {
		return nil, err
	}
	if p.D, err = r.D.matrix(r.N); err != nil || r.C == nil {
		return p, err
	}
	c, err := r.C.matrix(r.N)
	p.C = &c
	return p, err
}

// matrix is what is described; dense is how many elements a row has.
func (m *matrix) matrix(dense int) (product.Matrix, error) {
	f, err := product.FormatOf(m.Format)
	if err != nil {
		return product.Matrix{}, err
	}
	row, column := m.Row, m.Column
	if row == 0 && column == 0 {
		row, column = int64(dense), 1
	}
	size := int64(f.Bytes)
	return product.Matrix{Format: f, Offset: m.Offset, Row: row * size, Column: column * size, Every: m.Every, Part: m.Part * size}, nil
}

// fill draws A, B and C, and makes D NaN or zero, in the launch's buffers. It returns the
// buffers' bytes.
func (r *row) fill(p *product.Product, f *launch.File, in product.Inputs) (*product.Data, error) {
	layout, err := f.Layout(launch.DefaultMemoryLimit)
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	of := func(m *matrix) []byte {
		if placed := layout.Buffer(m.Buffer); all[m.Buffer] == nil && placed != nil {
			all[m.Buffer] = make([]byte, placed.Size)
			copy(all[m.Buffer], placed.Data)
		}
		return all[m.Buffer]
	}
	data := &product.Data{A: of(&r.A), B: of(&r.B), D: of(&r.D)}
	if r.C != nil {
		data.C = of(r.C)
	}
	for _, m := range []*matrix{&r.A, &r.B, &r.D, cmp.Or(r.C, &r.D)} {
		if all[m.Buffer] == nil {
			return nil, fmt.Errorf("no buffer is called %q", m.Buffer)
		}
	}
	if err := p.Check(data); err != nil {
		return nil, err
	}
	h := fnv.New64()
	io.WriteString(h, r.Name+string(in))
	p.Fill(data, r.Zeros, in, rand.New(rand.NewPCG(1, h.Sum64())))
	for name, bytes := range all {
		buffer := f.Buffer(name)
		buffer.Fill = launch.Fill{Kind: launch.FillData, Data: bytes}
		buffer.Values = nil
	}
	return data, nil
}

// path is where the launch file is.
func (r *row) path(dir string) string {
	if filepath.IsAbs(r.Launch) {
		return r.Launch
	}
	return filepath.Join(dir, r.Launch)
}
