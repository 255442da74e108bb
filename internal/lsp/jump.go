package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"muster/ptx"
)

// This file answers where something is: what a wait waits for, what a name stands for, which
// line of source an instruction comes from.

// mostLocations bounds an answer.
const mostLocations = 2000

// A spot is what stands at a place of PTX.
type spot struct {
	x    *index
	inst int    // the instruction; -1 if there is none
	word string // the name; empty on an opcode
	at   int    // of word
}

// spot looks at a place of a PTX document.
func (t *text) spot(off int) spot {
	x := t.module().index()
	p := spot{x: x, inst: x.instOn(off)}
	if p.inst >= 0 {
		in := &x.insts[p.inst]
		if off >= in.from && off <= in.opcodeEnd() || off < x.guardStart(in) || off >= in.to {
			return p
		}
	}
	p.word, p.at = wordAt(t.src, off)
	return p
}

// name is what the spot's word stands for, and the scope that declares it.
func (p *spot) name() (*name, *scope) {
	if p.word == "" {
		return nil, nil
	}
	s := p.x.scopeAt(p.at)
	if p.inst >= 0 {
		s = p.x.insts[p.inst].scope
	}
	if n, in := s.find(p.word); n != nil {
		return n, in
	}
	for _, fn := range p.x.funcs { // labels are seen from anywhere in their function
		if p.at >= fn.from && p.at < fn.to {
			return fn.body.label(p.word), fn.body
		}
	}
	return nil, nil
}

// label finds a label in a scope and those inside it.
func (s *scope) label(key string) *name {
	if n := s.names[key]; n != nil && n.label {
		return n
	}
	for _, in := range s.inner {
		if n := in.label(key); n != nil {
			return n
		}
	}
	return nil
}

func (v *view) definition(t *text, off int) []Location {
	if !t.ptx {
		return v.ptxOf(t, off)
	}
	p := t.spot(off)
	if n, _ := p.name(); n != nil {
		if list := p.writers(); len(list) > 0 {
			return p.x.locations(list)
		}
		return []Location{p.x.word(n.at, p.word)}
	}
	if l, ok := v.locTarget(p.x, off); ok {
		return []Location{l}
	}
	if p.inst < 0 || p.word != "" {
		return nil
	}
	return p.x.locations(v.counterparts(p.x, p.inst).list)
}

// declaration is where a name is declared, and of an instruction the line of source that it
// comes from.
func (v *view) declaration(t *text, off int) []Location {
	if !t.ptx {
		return v.ptxOf(t, off)
	}
	p := t.spot(off)
	if n, _ := p.name(); n != nil {
		return []Location{p.x.word(n.at, p.word)}
	}
	if l, ok := v.locTarget(p.x, off); ok {
		return []Location{l}
	}
	if p.inst < 0 {
		return nil
	}
	if l, ok := v.sourceLocation(p.x, p.inst); ok {
		return []Location{l}
	}
	return nil
}

// implementation is the other ends of a wait: in PTX, and of a line of source those that its
// instructions have, as lines of source where they have one.
func (v *view) implementation(t *text, off int) []Location {
	if t.ptx {
		p := t.spot(off)
		if p.inst < 0 {
			return nil
		}
		return p.x.locations(v.counterparts(p.x, p.inst).list)
	}
	var list []Location
	seen := map[Location]bool{}
	line := int(t.position(off).Line) + 1
	for _, m := range v.compiled(t.path) {
		x := m.module().index()
		for _, i := range v.from(x, t.path, line) {
			for _, k := range v.counterparts(x, i).list {
				l, ok := v.sourceLocation(x, k)
				if !ok {
					l = x.locations([]int{k})[0]
				}
				if !seen[l] && len(list) < mostLocations {
					seen[l] = true
					list = append(list, l)
				}
			}
		}
	}
	return list
}

// references are the uses of a name, or the other ends of a wait.
func references(_ context.Context, v *view, params json.RawMessage) (any, error) {
	p, err := decode[referenceParams](params)
	if err != nil {
		return nil, err
	}
	t, err := v.document(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	off := t.offset(p.Position)
	if !t.ptx {
		return v.ptxOf(t, off), nil
	}
	at := t.spot(off)
	n, s := at.name()
	if n == nil {
		if at.inst < 0 {
			return []Location(nil), nil
		}
		return at.x.locations(v.counterparts(at.x, at.inst).list), nil
	}
	var list []Location
	uses(t.src, s.from, s.to, at.word, func(use int) {
		declares := use == n.at
		if len(list) == mostLocations || declares && !p.Context.IncludeDeclaration {
			return
		}
		if m, in := (&spot{x: at.x, inst: at.x.instAt(use), word: at.word, at: use}).name(); m != n || in != s {
			return // another of that name, in a block inside
		}
		list = append(list, at.x.word(use, at.word))
	})
	return list, nil
}

// writers lists the instructions that write the register at a spot, if it is one.
func (p *spot) writers() []int {
	if p.inst < 0 {
		return nil
	}
	in := &p.x.insts[p.inst]
	r, ok := in.register(ptx.Name(p.word))
	if !ok {
		return nil
	}
	return p.x.flowOf(in.fn).writers[r]
}

// locations are the places of instructions.
func (x *index) locations(list []int) []Location {
	var out []Location
	for _, i := range list[:min(len(list), mostLocations)] {
		in := &x.insts[i]
		out = append(out, Location{x.text.uri, x.text.span(x.guardStart(in), in.to)})
	}
	return out
}

// word is the place of a name.
func (x *index) word(at int, word string) Location {
	return Location{x.text.uri, x.text.span(at, at+len(word))}
}

// locTarget is the line of source that the .loc on a place's line names.
func (v *view) locTarget(x *index, off int) (Location, bool) {
	from := x.lineStart(off)
	line, _, _ := strings.Cut(x.text.src[from:], "\n")
	var file, n, col int
	if read, _ := fmt.Sscanf(strings.TrimSpace(line), ".loc %d %d %d", &file, &n, &col); read < 2 {
		return Location{}, false
	}
	path := v.sourceFile(x.text.path, x.files[file])
	if path == "" {
		return Location{}, false
	}
	return v.location(path, n, col), true
}

// ptxOf lists the instructions of all PTX that come from a line of source: the first of each
// stretch.
func (v *view) ptxOf(t *text, off int) []Location {
	if t.path == "" || isLaunch(t) {
		return nil
	}
	var list []Location
	line := int(t.position(off).Line) + 1
	for _, m := range v.compiled(t.path) {
		x := m.module().index()
		last := -2
		for _, i := range v.from(x, t.path, line) {
			if i != last+1 && len(list) < mostLocations {
				list = append(list, x.locations([]int{i})...)
			}
			last = i
		}
	}
	return list
}
