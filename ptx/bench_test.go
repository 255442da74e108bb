package ptx_test

import (
	"os"
	"testing"

	"muster/ptx"
)

// BenchmarkParse reads all the compiler output at hand; its MB/s is the
// parser's speed.
func BenchmarkParse(b *testing.B) {
	var total int64
	var texts [][]byte
	for _, file := range ptxFiles(b) {
		src, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		texts = append(texts, src)
		total += int64(len(src))
	}
	b.SetBytes(total)
	b.ReportAllocs()
	for b.Loop() {
		for _, src := range texts {
			if _, err := ptx.Parse("x.ptx", src); err != nil {
				b.Fatal(err)
			}
		}
	}
}
