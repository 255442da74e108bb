package kernel_test

import (
	"context"
	"strings"
	"testing"

	"muster"
	"muster/kernel"
	"muster/launch"
)

func saxpy() *kernel.Kernel {
	k := kernel.New("saxpy", kernel.Block(128))
	x := k.GlobalPtr("x", kernel.F32)
	y := k.GlobalPtr("y", kernel.F32)
	n := k.Param("n", kernel.U32)
	a := k.Param("a", kernel.F32)
	i := k.CtaidX().Mad(128, k.TidX())
	k.If(i.Lt(n), func() {
		y.At(i).Store(x.At(i).Load().Mad(a, y.At(i).Load()))
	})
	return k
}

func TestSaxpy(t *testing.T) {
	k := saxpy()
	m, err := k.Build()
	if err != nil {
		t.Fatal(err)
	}
	text := m.String()
	t.Log(text)
	f, err := launch.FromFlags(launch.Flags{PTX: "saxpy.ptx", Grid: "2", Block: "128", Buffers: []string{"x=f32[200]:iota", "y=f32[200]:ones"}, Args: []string{"x", "y", "u32:200", "f32:2"}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadModule(f, m, []byte(text), muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Check(context.Background(), muster.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(r.Summary, "clean") {
		t.Error(r.Summary)
	}
}

func TestMistakes(t *testing.T) {
	k := kernel.New("bad", kernel.Block(32))
	x := k.GlobalPtr("x", kernel.F32)
	i := k.TidX()
	x.At(i).Store(i)
	v := k.Var(kernel.F32)
	k.If(i.Eq(0), func() { v.Set(1) })
	i.Add(v)
	k.Inst("add.u32", i, i, v)
	k.Inst("ld.shared.f32", v, x)
	k.Inst("bogus.u32", i)
	k.Inst("add", i, i, 1)
	k.Break()
	_, err := k.Build()
	t.Log(err)
}
