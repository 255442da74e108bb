package muster_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"muster"
	"muster/launch"
)

// jacobi loads a kernel of cooperative groups that relaxes numbers in turns, with a grid.sync
// between them.
func jacobi(t *testing.T, cooperative, ptx string, ctas, turns int) *muster.Launch {
	t.Helper()
	const n = 256
	first := make([]float32, n)
	for i := range first {
		first[i] = float32(i * i)
	}
	second := make([]float32, n)
	copy(second, first)
	bytes := func(v []float32) (data []byte) {
		for _, x := range v {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
		}
		return data
	}
	f, err := launch.FromFlags(launch.Flags{
		PTX: ptx, Kernel: "jacobi", Grid: fmt.Sprint(ctas), Block: "64", Cooperative: cooperative,
		Buffers: []string{"a=f32[256]", "b=f32[256]"}, Args: []string{"a", "b", "s32:256", fmt.Sprint("s32:", turns)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Buffers {
		f.Buffers[i].Fill = launch.Fill{Kind: launch.FillData, Data: bytes(first)}
	}
	for range turns {
		for i := 1; i+1 < n; i++ {
			second[i] = 0.5 * (first[i-1] + first[i+1])
		}
		first, second = second, first
	}
	last, other := "a", "b"
	if turns%2 == 1 {
		last, other = other, last
	}
	f.Expect = []launch.Expect{{Buffer: last, Data: bytes(first)}, {Buffer: other, Data: bytes(second)}}
	src, err := os.ReadFile(ptx)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := muster.ReadModule(f)
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadModule(f, m, src, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func reportText(r *muster.Report) string {
	var text strings.Builder
	_ = r.WriteText(&text, muster.TextOptions{})
	return text.String()
}

// TestCooperative: a cooperative launch has the workspace of grid.sync, which nvcc's code reaches
// by %envreg1 and %envreg2, and all its CTAs are resident together.
func TestCooperative(t *testing.T) {
	for _, ptx := range []string{"ptx/testdata/corpus/groups_sm80.ptx", "ptx/testdata/corpus/groups_sm90.ptx"} {
		check := func(cooperative string, ctas, turns int) *muster.Report {
			r, err := jacobi(t, cooperative, ptx, ctas, turns).Check(context.Background(), muster.CheckOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if r := check("true", 2, 2); r.Verdict != muster.Clean || len(r.Findings) > 0 {
			t.Errorf("%s: %s", ptx, reportText(r))
		}
		for _, ctas := range []int{3, 5, 12} {
			if r := check("true", ctas, 3); r.Verdict != muster.Clean || r.Proof == nil || !r.Proof.All {
				t.Errorf("%s, %d CTAs: %s", ptx, ctas, reportText(r))
			}
		}
		ran, err := jacobi(t, "true", ptx, 5, 3).Run(context.Background(), muster.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range ran.Comparisons {
			if !x.OK() || x.Elements == 0 {
				t.Errorf("%s: %s: %s", ptx, x.Buffer, x.Comparison)
			}
		}
		// Without a workspace grid.sync traps.
		if r := check("", 2, 2); len(r.Findings) != 1 || r.Findings[0].Kind != "trap" {
			t.Errorf("%s, not cooperative: %s", ptx, reportText(r))
		}
	}
}
