package main

import (
	"bytes"
	"encoding/binary"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/launch"
)

var updateFound = flag.Bool("update.found", false, "rewrite the outputs of examples/found and the reports of docs/found.md")

// array returns an array of 32-bit elements.
func array(descr string, shape []int64, at func(i int) uint32) *launch.Array {
	n := int64(1)
	for _, d := range shape {
		n *= d
	}
	a := &launch.Array{Descr: descr, Shape: shape}
	for i := range int(n) {
		a.Data = binary.LittleEndian.AppendUint32(a.Data, at(i))
	}
	return a
}

// product returns the sum over tiles of s·x in f32, as the kernel wgmma_release forms it: s has 64 rows
// of 16 columns, a tile of x 16 rows of 8 columns, both in blocks of 8 by 8, and the elements are those
// of fill mod m. Every sum is an integer below 2²⁴ and so exact.
func product(tiles, m int) *launch.Array {
	block := func(row, column int) int { return (row/8*2+column/8)*64 + row%8*8 + column%8 }
	return array("<f4", []int64{64, 8}, func(i int) uint32 {
		row, column, sum := i/8, i%8, 0
		for tile := range tiles {
			for k := range 16 {
				sum += block(row, k) % 5 * ((tile*128 + block(column, k)) % m)
			}
		}
		return math.Float32bits(float32(sum))
	})
}

// element returns one of the 128 by 16 sums of a tile of a·bᵀ, as the kernels with tcgen05.mma form
// it: a tile of a has 128 rows of 16 columns and one of b 16, in blocks of 8 by 8, column after column,
// and the elements are those of fill mod 5 and mod 7.
func element(tile, i int) int {
	block := func(rows, row, k int) int { return k/8*rows*8 + row/8*64 + row%8*8 + k%8 }
	sum := 0
	for k := range 16 {
		sum += (tile*2048 + block(128, i/16, k)) % 5 * ((tile*256 + block(16, i%16, k)) % 7)
	}
	return sum
}

// rows returns the sum over tiles of a·bᵀ in f32, and what more gives for each element besides. Every
// sum is an integer below 2²⁴ and so exact.
func rows(tiles int, more func(i int) int) *launch.Array {
	return array("<f4", []int64{128, 16}, func(i int) uint32 {
		sum := more(i)
		for tile := range tiles {
			sum += element(tile, i)
		}
		return math.Float32bits(float32(sum))
	})
}

// TestFoundOutputs: the outputs that the launch files of examples/found expect are those that
// plain Go computes.
func TestFoundOutputs(t *testing.T) {
	none := func(int) int { return 0 }
	iota := func(i int) uint32 { return uint32(i) }
	for name, want := range map[string]*launch.Array{
		"alloc_address": array("<u4", []int64{256}, iota),
		"async_copy_stages": array("<u4", []int64{128}, func(i int) uint32 {
			sum := 0
			for tile := range 8 {
				sum += tile*128 + 127 - i
			}
			return uint32(sum)
		}),
		"bulk_store":      array("<u4", []int64{128}, iota),
		"dealloc_barrier": array("<u4", []int64{256}, iota),
		"early_free": array("<f4", []int64{2, 128, 16}, func(i int) uint32 {
			return math.Float32bits(float32(element(i/2048, i%2048)))
		}),
		"fixup":       rows(1, func(i int) int { return i % 11 }),
		"init_block":  array("<u4", []int64{128}, func(i int) uint32 { return uint32(127 - i) }),
		"inval_ring":  rows(5, none),
		"lapped_tile": rows(4, none),
		"late_expect": array("<f4", []int64{256}, func(row int) uint32 {
			sum := 0
			for column := range 64 {
				for k := range 16 {
					sum += (row*16 + k) % 5 * ((column*16 + k) % 7)
				}
			}
			return math.Float32bits(float32(sum))
		}),
		"load_release":     rows(4, none),
		"mailbox":          array("<u4", []int64{128}, func(i int) uint32 { return uint32(2*i + 128) }),
		"mma_stores":       rows(4, none),
		"reduce_release":   array("<u4", []int64{6, 128}, func(i int) uint32 { return uint32(i + (i/128+1)*(i%128)) }),
		"wgmma_release_dv": product(6, 11),
		"wgmma_release_dk": product(6, 7),
	} {
		file := filepath.Join("../../examples/found", name+".npy")
		var npy bytes.Buffer
		if err := launch.WriteNpy(&npy, want); err != nil {
			t.Fatal(err)
		}
		if *updateFound {
			if err := os.WriteFile(file, npy.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, npy.Bytes()) {
			t.Errorf("%s is not what plain Go computes (%v)", file, err)
		}
	}
}

// TestFound: docs/found.md has a command for every wrong kernel of examples/found, and below the
// command the first finding that it prints.
func TestFound(t *testing.T) {
	t.Chdir("../..")
	const doc = "docs/found.md"
	src, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	text, shown := string(src), map[string]bool{}
	const prompt = "$ muster check "
	for rest := text; ; {
		_, block, more := strings.Cut(rest, "```\n"+prompt)
		if !more {
			break
		}
		block, rest, _ = strings.Cut(block, "```")
		file, want, _ := strings.Cut(block, "\n")
		_, out := command("check", file)
		_, got, _ := strings.Cut("\n"+out, "\nerror[")
		got, _, _ = strings.Cut(got, "\n\n")
		got = "error[" + got + "\n"
		shown[file] = true
		if *updateFound {
			text = strings.Replace(text, prompt+block, prompt+file+"\n"+got, 1)
		} else if want != got {
			t.Errorf("%s: of %s check says\n%sand not\n%s", doc, file, got, want)
		}
	}
	if *updateFound && text != string(src) {
		if err := os.WriteFile(doc, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob("examples/found/*.yaml")
	if err != nil || len(files) < 32 {
		t.Fatalf("%d launch files, %v", len(files), err)
	}
	for _, f := range files {
		f = filepath.ToSlash(f)
		if strings.HasPrefix(filepath.Base(f), "broken_") && !shown[f] {
			t.Errorf("%s does not show %s", doc, f)
		} else if !strings.Contains(text, filepath.Base(f)) {
			t.Errorf("%s does not name %s", doc, f)
		}
	}
}
