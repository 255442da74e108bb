package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"muster/gpu"
	"muster/internal/ops"
	"muster/kernel"
)

func TestMain(m *testing.M) {
	gpu.Worker()
	os.Exit(m.Run())
}

func TestBadFlags(t *testing.T) {
	for _, args := range []string{"", "-out x y", "-out x -times 0", "-out x -run (", "-nonsense"} {
		var errs bytes.Buffer
		if status := doMain(strings.Fields(args), &errs, &errs); status != 2 || errs.Len() == 0 {
			t.Errorf("goldens %s: exit %d: %s", args, status, &errs)
		}
	}
}

// TestTrials: a case that agrees is kept. One that hangs, one that faults, one
// that cannot be built and one that ptxas refuses are not; the others go on.
func TestTrials(t *testing.T) {
	_, err := gpu.Open()
	var none *gpu.NoDevice
	if errors.As(err, &none) {
		t.Skip(err)
	}
	cases := []ops.Case{
		{Name: "right", Make: func() (*kernel.Call, error) {
			k := kernel.New("right", kernel.Block(32))
			k.GlobalPtr("x", kernel.U32).At(k.TidX()).Store(k.TidX())
			return k.Call(kernel.Grid(1), make([]uint32, 32))
		}},
		{Name: "hangs", Make: func() (*kernel.Call, error) {
			k := kernel.New("hangs", kernel.Block(32))
			p := k.GlobalPtr("x", kernel.U32)
			k.Loop(func() {
				v := k.Var(kernel.U32)
				k.Inst("ld.volatile.global.u32", v, p)
				k.BreakIf(v.Ne(0))
			})
			return k.Call(kernel.Grid(1), make([]uint32, 1))
		}},
		{Name: "faults", Make: func() (*kernel.Call, error) {
			k := kernel.New("faults", kernel.Block(32))
			k.GlobalPtr("x", kernel.U32).Store(1)
			return k.Call(kernel.Grid(1), nil)
		}},
		{Name: "panics", Make: func() (*kernel.Call, error) { panic("at once") }},
		{Name: "wrong", Make: func() (*kernel.Call, error) {
			k := kernel.New("wrong", kernel.Block(32))
			return k.Call(kernel.Grid(1), 1)
		}},
	}
	o := options{times: 2, jobs: 4, timeout: 3e9}
	var got []string
	for r := range all(cases, &o) {
		got = append(got, r.verdict)
		if (r.golden != nil) != (r.verdict == equal) {
			t.Error(r.name, r.golden)
		}
		t.Log(r.name, r.verdict, r.log.String())
	}
	if s := strings.Join(got, "; "); s != strings.Join([]string{equal, failed, failed, unmade, unmade}, "; ") {
		t.Error(s)
	}
	dir := t.TempDir()
	o.out, o.only = dir, regexp.MustCompile("")
	var out bytes.Buffer
	if bad, err := run(cases[:1], &o, false, &out); bad != 0 || err != nil || !strings.HasPrefix(out.String(), "1 cases, 1 equal, on ") {
		t.Error(bad, err, out.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, "h200.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if g, err := ops.ReadGoldens(bytes.NewReader(text)); err != nil || len(g) != 1 {
		t.Error(g, err)
	}
}

func TestTally(t *testing.T) {
	if got, want := tally([]string{"right", "hangs", "right"}), "right in 2 of 3, hangs in 1 of 3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
