package kernels

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"muster"
	"muster/kernel"
)

var writeTo = flag.String("gemm", "", "write the kernels that gemm_bench.py launches to this folder")

// A spec is what gemm_bench.py has to know of a kernel.
type spec struct {
	Name   string   `json:"name"`
	PTX    string   `json:"ptx"`
	M      int      `json:"m"`
	N      int      `json:"n"`
	K      int      `json:"k"`
	Type   string   `json:"type"`
	Boxes  [3][]int `json:"boxes"`
	Grid   int      `json:"grid"`
	Block  int      `json:"block"`
	Shared int      `json:"shared"`
	A      string   `json:"a,omitempty"`
	B      string   `json:"b,omitempty"`
	C      string   `json:"c,omitempty"`
	Right  *bool    `json:"right,omitempty"`
}

// TestWriteGEMM writes kernels with their launches: small ones with the
// machine's results, and those that are timed.
func TestWriteGEMM(t *testing.T) {
	if *writeTo == "" {
		t.Skip("no -gemm")
	}
	var specs []spec
	for i, g := range []GEMM{
		{M: 256, N: 512, K: 256, Type: kernel.F16, CTAs: 2},
		{M: 256, N: 512, K: 256, Type: kernel.BF16, CTAs: 2},
		{M: 200, N: 320, K: 200, Type: kernel.F16, CTAs: 4, Stages: 3, Buffers: 4},
		{M: 200, N: 320, K: 200, Type: kernel.BF16, CTAs: 3, Cluster: 1},
	} {
		specs = append(specs, small(t, fmt.Sprintf("small%d", i), g))
	}
	for _, n := range []int{4096, 8192} {
		for _, typ := range []kernel.Type{kernel.F16, kernel.BF16} {
			for _, v := range variants {
				if typ == kernel.BF16 && !v.both {
					continue
				}
				g := v.GEMM
				g.M, g.N, g.K, g.Type = n, n, n, typ
				s := write(t, fmt.Sprintf("%s_%d_%s", v.name, n, typ), g, v.edit)
				s.Name = v.name
				if strings.HasPrefix(v.name, "without-") && v.edit != nil {
					s.Right = new(bool)
				}
				specs = append(specs, s)
			}
		}
	}
	odd := write(t, "odd", GEMM{M: 4000, N: 3000, K: 2008, Type: kernel.F16}, nil)
	specs = append(specs, odd)
	out, err := json.MarshalIndent(specs, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	save(t, "kernels.json", out)
}

// A variant is a kernel that is timed: a configuration, or one with an edit of
// its PTX that takes a part of the work away, to find where time goes.
type variant struct {
	name string
	GEMM
	both bool // for bf16 too
	edit func(ptx string) string
}

var variants = []variant{
	{name: "gemm", both: true},
	{name: "all-processors", GEMM: GEMM{CTAs: processors}, both: true},
	{name: "stages-3-buffers-4", GEMM: GEMM{Stages: 3, Buffers: 4}},
	{name: "rows-4", GEMM: GEMM{Rows: 4}},
	{name: "rows-16", GEMM: GEMM{Rows: 16}},
	{name: "tile-n-128", GEMM: GEMM{TileN: 128, Stages: 6}},
	{name: "without-multicast", GEMM: GEMM{Cluster: 1}},
	{name: "release-cluster", edit: func(text string) string {
		text = drop(text, "fence.release.sync_restrict")
		return strings.ReplaceAll(text, "mbarrier.arrive.relaxed", "mbarrier.arrive.release")
	}},
	{name: "without-store", edit: func(text string) string {
		return drop(text, "cp.async.bulk.tensor.2d.global")
	}},
	{name: "without-load", edit: func(text string) string {
		text = drop(text, "cp.async.bulk.tensor.2d.shared")
		return regexp.MustCompile(`(expect_tx.*), \d+;`).ReplaceAllString(text, "$1, 0;")
	}},
	{name: "without-product", edit: func(text string) string { // but the first of a tile
		return regexp.MustCompile(`(?m)^\s*wgmma.mma_async.*, 1, 1, 1, 0, 0;\n`).ReplaceAllString(text, "")
	}},
}

// drop leaves out the lines that have a word.
func drop(text, word string) string {
	return regexp.MustCompile(`(?m)^.*`+regexp.QuoteMeta(word)+`.*\n`).ReplaceAllString(text, "")
}

func write(t *testing.T, name string, g GEMM, edit func(string) string) spec {
	g, err := g.complete()
	if err != nil {
		t.Fatal(err)
	}
	k, w := g.write()
	text, err := k.Text()
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		was := text
		if text = edit(text); text == was {
			t.Errorf("%s: the edit changes nothing", name)
		}
	}
	save(t, name+".ptx", []byte(text))
	return spec{Name: name, PTX: name + ".ptx", M: g.M, N: g.N, K: g.K, Type: string(g.Type),
		Boxes: [3][]int{w.a.Box(), w.b.Rows(0, g.TileN/g.Cluster).Box(), w.c.Box()},
		Grid:  g.CTAs, Block: k.BlockThreads(), Shared: k.SharedBytes()}
}

// small writes a launch with random numbers and what the machine computes.
func small(t *testing.T, name string, g GEMM) spec {
	r := rand.New(rand.NewPCG(1, 2))
	fill := func(n int) []uint16 {
		s := make([]uint16, n)
		for i := range s {
			f := r.Float32()*2 - 1
			if s[i] = kernel.F16Bits(f); g.Type == kernel.BF16 {
				s[i] = kernel.BF16Bits(f)
			}
		}
		return s
	}
	a, b, c := fill(g.M*g.K), fill(g.N*g.K), make([]uint16, g.M*g.N)
	call, err := g.Call(a, b, c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := muster.LoadCall(call, muster.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := l.Run(context.Background(), muster.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := call.Take(run.Buffer); err != nil {
		t.Fatal(err)
	}
	s := write(t, name, g, nil)
	for _, f := range []struct {
		name string
		data []uint16
		to   *string
	}{{"a", a, &s.A}, {"b", b, &s.B}, {"c", c, &s.C}} {
		var buf bytes.Buffer
		binary.Write(&buf, binary.LittleEndian, f.data)
		*f.to = name + "." + f.name
		save(t, *f.to, buf.Bytes())
	}
	return s
}

func save(t *testing.T, name string, data []byte) {
	if err := os.WriteFile(filepath.Join(*writeTo, name), data, 0o666); err != nil {
		t.Fatal(err)
	}
}
