package ops_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/examples/kernels"
	"muster/internal/ops"
	"muster/kernel"
)

// strict fails cases that have not run on an H200 in the form that they have
// now. While cases are being written it is false, and they are logged.
const strict = true

const again = "make testdata/h200.txt again, as its first lines say"

// TestH200: the machine leaves, in its earliest schedule, what an H200 left.
func TestH200(t *testing.T) {
	file, err := os.Open("testdata/h200.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	goldens, err := ops.ReadGoldens(file)
	if err != nil {
		t.Fatal(err)
	}
	pending := t.Logf
	if strict {
		pending = t.Errorf
	}
	for _, c := range cases() {
		golden, ok := goldens[c.Name]
		delete(goldens, c.Name)
		if !ok {
			pending("%s has not run on an H200; %s", c.Name, again)
			continue
		}
		call, err := c.Make()
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if ops.Fingerprint(call.Module) != golden.PTX {
			pending("%s has changed since it ran on an H200; %s", c.Name, again)
			continue
		}
		if got := machine(t, c.Name, call); got != nil {
			if why := got.Differs(golden); why != "" {
				t.Errorf("%s: %s", c.Name, why)
			}
		}
	}
	for name := range goldens {
		pending("%s ran on an H200 and is no case any more; %s", name, again)
	}
}

// cases returns the cases of this package and the examples, as gpu/cmd/goldens
// runs them.
func cases() []ops.Case {
	list := slices.Clone(ops.All())
	for _, e := range kernels.All() {
		list = append(list, ops.Case{Name: "examples/kernels/" + e.Name, Make: func() (*kernel.Call, error) {
			w, err := e.Make("")
			if err != nil {
				return nil, err
			}
			return w.Call, nil
		}})
	}
	return list
}

// machine runs a case; nil if the run does not end.
func machine(t *testing.T, name string, call *kernel.Call) *ops.Golden {
	l, err := muster.LoadCall(call, muster.Limits{})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return nil
	}
	r, err := l.Run(context.Background(), muster.RunOptions{})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return nil
	}
	if r.Report != nil {
		t.Errorf("%s: %s", name, r.Report.Summary)
		return nil
	}
	g, err := ops.Record(name, call, r.Buffer)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	return &g
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range cases() {
		if seen[c.Name] || c.Name == "" || strings.ContainsAny(c.Name, " =#\t") {
			t.Errorf("%q: a case's name is unique and has no blanks", c.Name)
		}
		if len(c.Uses) == 0 && !strings.HasPrefix(c.Name, "examples/") {
			t.Errorf("%s says of nothing that it shows it", c.Name)
		}
		seen[c.Name] = true
	}
}

// made is a call that adds one to x on line n of the program, so to say.
func made(t *testing.T, add int, x, y []uint32) *kernel.Call {
	k := kernel.New("add", kernel.Block(32))
	p, q := k.GlobalPtr("x", kernel.U32), k.GlobalPtr("y", kernel.U32)
	i := k.TidX()
	q.At(i).Store(p.At(i).Load().Add(add))
	c, err := k.Call(kernel.Grid(1), x, y)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestGolden: a line reads back, and every difference is told.
func TestGolden(t *testing.T) {
	x, y := make([]uint32, 32), make([]uint32, 32)
	g := machine(t, "a/b", made(t, 1, x, y))
	lines := "# comment\n\n" + g.String() + "\n"
	read, err := ops.ReadGoldens(strings.NewReader(lines))
	if err != nil || g.Differs(read["a/b"]) != "" || read["a/b"].String() != g.String() {
		t.Fatal(read, err)
	}
	x[31] = 1
	for _, tt := range []struct {
		g    *ops.Golden
		want string
	}{
		{machine(t, "a/b", made(t, 2, x, y)), "its PTX is not the one that ran on the H200"},
		{machine(t, "a/b", made(t, 1, x, y)), "the machine leaves other bits in x than the H200"},
		{machine(t, "a/b", made(t, 1, x, x)), "its buffers are not those that the H200 had"},
		{&ops.Golden{PTX: g.PTX, Buffers: []ops.Digest{g.Buffers[1], g.Buffers[0]}}, "buffer 0 is y, and was x on the H200"},
	} {
		if got := tt.g.Differs(*g); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
	for _, bad := range []string{"a x=0123456789abcdef", "a ptx=12", "a", g.String() + "\n" + g.String()} {
		if _, err := ops.ReadGoldens(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// TestFingerprint: lines of Go leave no trace, instructions do.
func TestFingerprint(t *testing.T) {
	build := func(more bool) (string, string) {
		k := kernel.New("k", kernel.Block(32))
		p := k.GlobalPtr("p", kernel.U32)
		if more {
			p.Store(1)
		} else {
			p.Store(2)
		}
		m, err := k.Build()
		if err != nil {
			t.Fatal(err)
		}
		return m.String(), ops.Fingerprint(m)
	}
	elsewhere := func() (string, string) {
		k := kernel.New("k", kernel.Block(32))
		p := k.GlobalPtr("p", kernel.U32)
		p.Store(1)
		m, err := k.Build()
		if err != nil {
			t.Fatal(err)
		}
		return m.String(), ops.Fingerprint(m)
	}
	text1, one := build(true)
	_, two := build(false)
	text3, three := elsewhere()
	if one == two || one != three || text1 == text3 {
		t.Error(slices.Equal([]string{one}, []string{two}), text1, text3)
	}
}
