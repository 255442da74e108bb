package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A vector is a sum that can be done by hand.
type vector struct {
	a, b    []float32
	c, want float32
}

// write makes the files of a set.
func write(t *testing.T, dir, card, name, d string, vs []vector) {
	t.Helper()
	dir = filepath.Join(dir, card, name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	var a, b, c, want strings.Builder
	for _, v := range vs {
		for i := range v.a {
			fmt.Fprintf(&a, "%08x ", math.Float32bits(v.a[i]))
			fmt.Fprintf(&b, "%08x ", math.Float32bits(v.b[i]))
		}
		a.WriteByte('\n')
		b.WriteByte('\n')
		fmt.Fprintf(&c, "%032b\n", math.Float32bits(v.c))
		fmt.Fprintf(&want, "%032b\n", math.Float32bits(v.want))
	}
	for what, s := range map[string]string{"a_" + card + "_" + name: a.String(), "b_" + card + "_" + name: b.String(), "c_" + card + "_fp32": c.String(), "d_" + card + "_" + d: want.String()} {
		if err := os.WriteFile(filepath.Join(dir, what+".txt"), []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// of is n numbers, of which the first are given.
func of(n int, x ...float32) []float32 { return append(x, make([]float32, n-len(x))...) }

// byHand are sums over 16 products of f16.
var byHand = []vector{
	// Below the 1 of C, 25 bits are kept: four times 2^-25 are 2^-23, which with 24
	// bits are lost.
	{a: of(16, 0x1p-12, 0x1p-12, 0x1p-12, 0x1p-12), b: of(16, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13), c: 1, want: 1 + 0x1p-23},
	// Eight times 2^-26 are lost with 25 bits, and 2^-23 with 26.
	{a: of(16, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13), b: of(16, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13), c: 1, want: 1},
	// 2^-24 and 2^-25 are truncated with the 1 of C; to nearest, they are 2^-23.
	{a: of(16, 0x1p-12, 0x1p-12), b: of(16, 0x1p-12, 0x1p-13), c: 1, want: 1},
	// 1 and -1 cancel before 2^-26 is added in a second step, but not beside it.
	{a: of(16, 1, -1, 0, 0, 0, 0, 0, 0, 0x1p-13), b: of(16, 1, 1, 0, 0, 0, 0, 0, 0, 0x1p-13), c: 0, want: 0},
}

func run(t *testing.T, dir string) (rows [][]string, differ int) {
	t.Helper()
	var out bytes.Buffer
	differ, err := compare(&out, dir)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		rows = append(rows, strings.Fields(line))
	}
	return rows[1 : len(rows)-1], differ
}

// TestByHand: each vector is right under the rule, and each change of the rule makes
// one of them wrong.
func TestByHand(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "B200", "fp16", "fp32", byHand)
	rows, differ := run(t, dir)
	// One bit more keeps what the second and the fourth lose; C at the end takes up
	// what the second and the third lose.
	want := "B200 wmma.mma f16 f32 4 0 1 2 2 1"
	if got := strings.Join(rows[0], " "); len(rows) != 1 || differ != 0 || got != want {
		t.Errorf("%d rows, %d differ; %q, want %q", len(rows), differ, got, want)
	}
}

// TestWrong: a wrong result is counted.
func TestWrong(t *testing.T) {
	dir := t.TempDir()
	vs := append([]vector{}, byHand...)
	vs[2].want = 1 + 0x1p-23
	write(t, dir, "B200", "fp16", "fp32", vs)
	if rows, differ := run(t, dir); differ != 1 || rows[0][5] != "1" {
		t.Errorf("%d differ, %v", differ, rows[0])
	}
}

// TestZeroC: what the authors made with wgmma has no C.
func TestZeroC(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "H100", "E4M3", "fp32", []vector{{a: of(32, 1.5, 2), b: of(32, 1.5, 0.25), c: 7, want: 2.75}})
	write(t, dir, "H100", "E4M3", "fp16", []vector{{a: of(32, 1.5, 2), b: of(32, 1.5, 0.25), c: 7, want: 9.75}})
	rows, differ := run(t, dir)
	if differ != 0 || len(rows) != 2 || rows[0][1] != "wgmma.mma_async" || rows[0][8] != "-" || rows[1][1] != "mma.sync" {
		t.Errorf("%d differ, %v", differ, rows)
	}
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	if _, err := compare(new(bytes.Buffer), dir); err == nil {
		t.Error("a folder without vectors is compared")
	}
	write(t, dir, "A100", "bf16", "fp32", []vector{{a: of(8, 1+0x1p-8), b: of(8, 1), want: 1}})
	if _, err := compare(new(bytes.Buffer), dir); err == nil || !strings.Contains(err.Error(), "0x3f808000 is no number of bf16") {
		t.Errorf("a number with too many bits for bf16: %v", err)
	}
}
