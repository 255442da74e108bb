package lsp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"muster"
	"muster/internal/yaml"
)

// TestEverywhere asks everything at places all over the examples, whole and cut short.
func TestEverywhere(t *testing.T) {
	names, err := filepath.Glob("../../examples/*/*.ptx")
	if err != nil || len(names) < 30 {
		t.Fatal(names, err)
	}
	s := &server{}
	for n, name := range names {
		if strings.Contains(name, "broken") {
			continue
		}
		src := read(t, name)
		for _, part := range []string{src, src[:len(src)*(n%7)/7]} {
			d := newText(uriOf(absolute(name)), part, nil, n%2 == 0)
			v := &view{server: s, docs: map[string]*text{d.path: d}}
			answered := 0
			for off := n; off < len(part); off += 101 {
				if v.hover(d, off) != nil {
					answered++
				}
				v.definition(d, off)
				v.declaration(d, off)
				v.implementation(d, off)
				params := raw(positionParams{textDocument{d.uri}, d.position(off)})
				if _, err := references(context.Background(), v, params); err != nil {
					t.Error(err)
				}
			}
			if part == src && d.module().mod != nil && answered == 0 { // the beginning of one may be a comment alone
				t.Errorf("%s: nothing is known of it", name)
			}
		}
	}
}

// TestTextCovers holds what the text tells of waits to what runs of the examples show: each
// instruction that worked on a phase is among those that the text gives, but for what only a
// run can show, an mbarrier.init that lets a fresh test pass, and operations behind a commit.
func TestTextCovers(t *testing.T) {
	names, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	shown, files := 0, 0
	for _, name := range names {
		f, err := yaml.ReadFile(name)
		if strings.Contains(name, "broken") || err != nil || len(f.Launches) > 1 {
			continue
		}
		l, err := muster.LoadFile(f, muster.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		pairs, err := l.Completions(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		src, err := os.ReadFile(f.Launches[0].PTX)
		if err != nil {
			t.Fatal(err)
		}
		x := newText(uriOf(absolute(f.Launches[0].PTX)), string(src), nil, true).module().index()
		files++
		missed := map[string]bool{}
		for _, p := range pairs {
			wait, by := x.byPlace(p.Wait), x.byPlace(p.By)
			if wait < 0 || by < 0 {
				t.Fatalf("%s: no instruction at %v or %v", name, p.Wait, p.By)
			}
			ends := x.flowOf(x.insts[wait].fn).ends()
			e, ok := ends[by]
			if !ok || e.by != ends[wait].by {
				continue // an init, or behind a commit
			}
			if shown++; !slices.Contains(x.counterparts(wait), by) {
				missed[fmt.Sprintf("line %d %s <- line %d %s", p.Wait.Line, x.insts[wait].in.Opcode(), p.By.Line, x.insts[by].in.Opcode())] = true
			}
		}
		for m := range missed {
			t.Errorf("%s: %s", name, m)
		}
	}
	if shown < 300 || files < 30 {
		t.Errorf("%d pairs of %d files", shown, files)
	}
	t.Logf("%d pairs of %d files", shown, files)
}
