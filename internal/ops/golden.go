package ops

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"muster/kernel"
	"muster/ptx"
)

// A Golden is what a GPU left of a case: a line of testdata/h200.txt.
type Golden struct {
	Name    string
	PTX     string // Fingerprint of the module that ran
	Buffers []Digest
}

// A Digest is the beginning of the SHA-256 of a buffer's bytes, in hex.
type Digest struct{ Buffer, Sum string }

// short is how many bytes of a hash are kept.
const short = 8

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:short])
}

// Fingerprint is that of a module's text without the lines that name lines of
// Go: moving a case in its file changes nothing that a GPU sees.
func Fingerprint(m *ptx.Module) string {
	var text strings.Builder
	for line := range strings.Lines(m.String()) {
		switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word {
		case ".file", ".loc":
		default:
			text.WriteString(line)
		}
	}
	return sum([]byte(text.String()))
}

// Record makes the golden of a call from its buffers, as
// (*muster.RunResult).Buffer gives them. Scratch memory is left out.
func Record(name string, c *kernel.Call, buffer func(string) ([]byte, error)) (Golden, error) {
	g := Golden{Name: name, PTX: Fingerprint(c.Module)}
	for _, b := range c.Results() {
		data, err := buffer(b)
		if err != nil {
			return g, err
		}
		g.Buffers = append(g.Buffers, Digest{b, sum(data)})
	}
	return g, nil
}

// String is the line: the name, the PTX, and each buffer with its digest.
func (g Golden) String() string {
	s := g.Name + " ptx=" + g.PTX
	for _, b := range g.Buffers {
		s += " " + b.Buffer + "=" + b.Sum
	}
	return s
}

// Differs says in a clause how g, which the machine made, is not what a GPU
// left; "" if it is.
func (g Golden) Differs(gpu Golden) string {
	if g.PTX != gpu.PTX {
		return "its PTX is not the one that ran on the H200"
	}
	if len(g.Buffers) != len(gpu.Buffers) {
		return "its buffers are not those that the H200 had"
	}
	for i, b := range g.Buffers {
		switch {
		case b.Buffer != gpu.Buffers[i].Buffer:
			return fmt.Sprintf("buffer %d is %s, and was %s on the H200", i, b.Buffer, gpu.Buffers[i].Buffer)
		case b.Sum != gpu.Buffers[i].Sum:
			return fmt.Sprintf("the machine leaves other bits in %s than the H200", b.Buffer)
		}
	}
	return ""
}

// ReadGoldens reads lines as String writes them; those that begin with # are
// comments.
func ReadGoldens(r io.Reader) (map[string]Golden, error) {
	all := map[string]Golden{}
	in := bufio.NewScanner(r)
	for n := 1; in.Scan(); n++ {
		words := strings.Fields(in.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		g := Golden{Name: words[0]}
		for i, w := range words[1:] {
			name, sum, ok := strings.Cut(w, "=")
			if !ok || len(sum) != 2*short || i == 0 && name != "ptx" {
				return nil, fmt.Errorf("line %d: %q is no name=digest", n, w)
			}
			if i == 0 {
				g.PTX = sum
			} else {
				g.Buffers = append(g.Buffers, Digest{name, sum})
			}
		}
		if _, twice := all[g.Name]; twice || g.PTX == "" {
			return nil, fmt.Errorf("line %d: %s stands there twice, or without its PTX", n, g.Name)
		}
		all[g.Name] = g
	}
	return all, in.Err()
}
