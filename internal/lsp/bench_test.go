package lsp

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// large is PTX of about so many bytes: a kernel of the examples, again and again.
func large(b *testing.B, size int) string {
	data, err := os.ReadFile("../../examples/ring/ring.ptx")
	if err != nil {
		b.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(data), ".visible .entry")
	end := strings.LastIndex(rest, "\n}\n\t.file")
	kernel, tail := ".visible .entry"+rest[:end], rest[end+3:]
	var out strings.Builder
	out.WriteString(head)
	for n := 0; out.Len() < size; n++ {
		text := strings.NewReplacer("$L__BB0", fmt.Sprintf("$L__BB%d", n), "ring", fmt.Sprintf("ring%d", n)).Replace(kernel)
		out.WriteString(text + "\n}\n")
	}
	out.WriteString(tail)
	return out.String()
}

// BenchmarkOpen is the time from a document's opening to the first answer about it, beside
// what goes on in the background.
func BenchmarkOpen(b *testing.B) {
	src := large(b, 5<<20)
	params := at("/large.ptx", src, "mbarrier.try_wait")
	for b.Loop() {
		c := bench(b)
		c.opens("/large.ptx", src)
		c.request("textDocument/hover", params)
		c.in.Close()
		<-c.end
	}
}

// BenchmarkHover is one answer about a large document that is open.
func BenchmarkHover(b *testing.B) {
	src := large(b, 5<<20)
	params := at("/large.ptx", src, "mbarrier.try_wait")
	c := bench(b)
	c.opens("/large.ptx", src)
	c.request("textDocument/hover", params)
	for b.Loop() {
		c.request("textDocument/hover", params)
	}
}

// BenchmarkEdit is the time from a character typed in a large document to the next answer.
func BenchmarkEdit(b *testing.B) {
	src := large(b, 5<<20)
	params := at("/large.ptx", src, "mbarrier.try_wait")
	c := bench(b)
	c.opens("/large.ptx", src)
	for n := 2; b.Loop(); n++ {
		c.changes("/large.ptx", n, change{&Range{}, " "})
		c.request("textDocument/hover", params)
	}
}

// BenchmarkProblems is what is wrong with a large document by itself.
func BenchmarkProblems(b *testing.B) {
	src := large(b, 5<<20)
	for b.Loop() {
		if list, ok := newText("file:///large.ptx", src, nil, false).module().problems(b.Context()); len(list) > 0 || !ok {
			b.Fatal(list)
		}
	}
}

func bench(b *testing.B) *client {
	return open(b, `"check": false`)
}
