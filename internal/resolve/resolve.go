// Package resolve converts findings of package rules to findings of package report: it
// replaces the numbers by places and names.
package resolve

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"muster/internal/diag"
	"muster/internal/machine"
	"muster/internal/rules"
	"muster/ptx"
	"muster/report"
)

// A Resolver turns the numbers in a finding of package rules into places and
// names.
type Resolver struct {
	Program *machine.Program
	PTX     string  // the module's file, as it is to be shown
	Entry   ptx.Pos // of the kernel
	Grid    [3]uint32
	Regions []Region
	// Parts are named ranges of dynamic shared memory, known only to the code that laid
	// it out; Regions must list them first.
	Parts []Region
	// Launches are several that may overlap, in order of their CTAs; else none.
	Launches []Launch
	lines    [][]byte
	parts    []int32             // the stretches of the program's instructions; made when asked for
	texts    map[string][][]byte // lines, by file, of several modules
}

// A Launch is one of several.
type Launch struct {
	Name  string
	Grid  [3]uint32
	First int // its first CTA
}

// launch returns the launch of a CTA; nil if there is one alone.
func (r *Resolver) launch(cta int32) *Launch {
	for i := len(r.Launches) - 1; i >= 0; i-- {
		if int(cta) >= r.Launches[i].First {
			return &r.Launches[i]
		}
	}
	return nil
}

// A Region is a named range of memory: a buffer or a variable.
type Region struct {
	Name   string
	Shared bool
	Base   uint64 // in the CTA's window, or global
	Size   uint64
	Elem   uint64 // bytes per element; 0 to count bytes
}

// SetText gives the resolver the PTX text, to quote lines from.
func (r *Resolver) SetText(src []byte) { r.lines = bytes.Split(src, []byte("\n")) }

// AddModule gives the resolver the texts of a module: src, or those that it is linked of.
func (r *Resolver) AddModule(m *ptx.Module, src []byte) {
	if m.Units == nil {
		r.addText(m.Name, src)
	}
	for _, u := range m.Units {
		r.addText(u.Name, []byte(u.Text))
	}
}

func (r *Resolver) addText(file string, src []byte) {
	if r.texts == nil {
		r.texts = map[string][][]byte{}
	}
	r.texts[file] = bytes.Split(src, []byte("\n"))
}

// Finding resolves f.
func (r *Resolver) Finding(f *rules.Finding) report.Finding {
	out := report.Finding{
		Kind: f.Kind, Severity: report.Severity(f.Severity.String()), Headline: r.names(f.Headline),
		Missing: r.names(f.Missing), Fix: r.names(f.Fix), Count: f.Count, Sites: []report.Site{},
	}
	for _, t := range f.Stands {
		out.Stands = append(out.Stands, r.names(t))
	}
	for _, t := range f.Ledger {
		out.Ledger = append(out.Ledger, r.names(t))
	}
	for _, t := range f.Notes {
		out.Notes = append(out.Notes, r.names(t))
	}
	if k := rules.Lookup(f.Kind); k != nil {
		out.Section, out.Habit = k.Section, k.Habit
		out.Ties = report.Ties{Class: int(k.Class()), Always: k.Always(), Directed: k.Directed(), Breaks: f.Ties.Breaks, Needs: f.Ties.Needs, Early: f.Ties.Early, Reader: f.Ties.Reader, Again: f.Ties.Again}
	}
	for i := range f.Sites {
		out.Sites = append(out.Sites, r.site(&f.Sites[i]))
	}
	for i := range f.Waiting {
		w := &f.Waiting[i]
		out.Waiting = append(out.Waiting, report.Waiter{Site: r.site(&w.Site), For: r.names(w.For), Owed: r.names(w.Owed)})
	}
	out.ID = out.ShortID()
	return out
}

// An address as rules write it: in a CTA's shared window, or global.
var address = regexp.MustCompile(`\bshared\+(\d+)\b|\bglobal\+(0x[0-9a-f]+|\d+)\b`)

// A number of a CTA as rules write it.
var ctaNumber = regexp.MustCompile(`\bCTA (\d+)\b`)

// names replaces addresses by the names of variables and buffers, and numbers of CTAs, where
// there are several launches, by those in their launch. Findings of package rules contain only
// numbers.
func (r *Resolver) names(text string) string {
	if len(r.Launches) > 0 {
		text = ctaNumber.ReplaceAllStringFunc(text, func(word string) string {
			n, err := strconv.ParseInt(strings.TrimPrefix(word, "CTA "), 10, 32)
			l := r.launch(int32(n))
			if err != nil || l == nil {
				return word
			}
			return fmt.Sprintf("CTA %d of %s", int(n)-l.First, l.Name)
		})
	}
	return address.ReplaceAllStringFunc(text, func(word string) string {
		space, num, _ := strings.Cut(word, "+")
		addr, err := strconv.ParseUint(num, 0, 64)
		g := r.region(space, addr)
		if err != nil || g == nil {
			return word
		}
		if addr == g.Base {
			return diag.ShortName(g.Name)
		}
		return fmt.Sprintf("%s+%d", diag.ShortName(g.Name), addr-g.Base)
	})
}

// Gap resolves g.
func (r *Resolver) Gap(g rules.Gap) report.Gap {
	return report.Gap{What: g.What, Place: r.ptxPlace(g.PC)}
}

func (r *Resolver) site(s *rules.Site) report.Site {
	if s.CTA < 0 {
		return report.Site{Role: s.Role, PTX: r.placeIn(r.Entry, r.Program.Module.UnitAt(r.Entry).Name), Warp: -1}
	}
	cta := r.cta(s.CTA)
	name := ""
	if l := r.launch(s.CTA); l != nil {
		name = l.Name
	}
	out := report.Site{Launch: name, Role: s.Role, PTX: r.ptxPlace(s.PC), CTA: &cta, Warp: s.Warp, Lanes: diag.Lanes(s.Lanes), Operation: s.Op}
	for _, p := range r.Program.Source(s.PC) {
		out.Source = append(out.Source, report.Place{File: p.File, Line: p.Line, Col: p.Col, Func: p.Func})
	}
	if r.parts == nil {
		r.parts = r.Program.Stretches()
	}
	if s.PC >= 0 && int(s.PC) < len(r.parts) {
		out.Stretch = int(r.parts[s.PC]) + 1
	}
	out.Around = r.around(s.PC)
	if s.Len > 0 {
		out.Memory = r.memory(s)
	}
	return out
}

// around names the instructions nearest to one in the text that do more than compute or
// branch: two before it and two after it. It tells places apart that do the same, whatever
// their lines and registers are.
func (r *Resolver) around(pc int32) string {
	if pc < 0 {
		return ""
	}
	nearest := func(from, by int32) (list []string) {
		for p := from; p >= 0 && int(p) < r.Program.Len() && len(list) < 2; p += by {
			if in := r.Program.Inst(p); in != nil && in.Effect()&^(ptx.Computes|ptx.None|ptx.Branches|ptx.BranchesByTable) != 0 {
				list = append(list, machine.Name(in))
			}
		}
		return list
	}
	return strings.Join(nearest(pc-1, -1), ",") + ";" + strings.Join(nearest(pc+1, 1), ",")
}

// ptxPlace returns the place of an instruction; nil for a negative pc.
func (r *Resolver) ptxPlace(pc int32) *report.Place {
	if pc < 0 {
		return nil
	}
	return r.placeIn(r.Program.Pos(pc), r.Program.File(pc))
}

// File is the file of an instruction, as it is shown.
func (r *Resolver) File(pc int32) string {
	if file := r.Program.File(pc); r.texts[file] != nil {
		return file
	}
	return r.PTX
}

// placeIn is a place in a module; which, matters where there are several.
func (r *Resolver) placeIn(pos ptx.Pos, file string) *report.Place {
	if pos == (ptx.Pos{}) {
		return nil
	}
	lines := r.lines
	if of, ok := r.texts[file]; ok {
		lines = of
	} else {
		file = r.PTX
	}
	text, caret := textOf(lines, pos)
	return &report.Place{File: file, Line: int(pos.Line), Col: int(pos.Col), Text: text, Caret: caret}
}

// textOf returns a line of PTX without its comment, with single blanks, and the column's
// position in the result.
func textOf(lines [][]byte, pos ptx.Pos) (text string, caret int) {
	if pos.Line < 1 || int(pos.Line) > len(lines) {
		return "", 0
	}
	line := lines[pos.Line-1]
	at := min(max(int(pos.Col)-1, 0), len(line))
	before := tidy(line[:at])
	if before != "" && at > 0 && (line[at-1] == ' ' || line[at-1] == '\t') {
		before += " "
	}
	rest, _, _ := strings.Cut(tidy(line[at:]), "//")
	return before + strings.TrimRight(rest, " "), len(before)
}

func tidy(b []byte) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(string(b), "?")), " ")
}

func (r *Resolver) cta(i int32) [3]uint32 {
	g := r.Grid
	if l := r.launch(i); l != nil {
		g, i = l.Grid, i-int32(l.First)
	}
	if i < 0 || g[0] == 0 || g[1] == 0 {
		return [3]uint32{}
	}
	n := uint32(i)
	return [3]uint32{n % g[0], n / g[0] % g[1], n / g[0] / g[1]}
}

func (r *Resolver) memory(s *rules.Site) *report.Memory {
	m := &report.Memory{Space: "global", Address: fmt.Sprintf("%#x", s.Addr), Bytes: s.Len, Offset: s.Addr}
	switch {
	case s.Mem == machine.Local:
		m.Space = "local"
	case s.Mem.Kind() == machine.SharedMemory:
		owner := r.cta(s.Mem.CTA())
		m.Space, m.CTA = "shared", &owner
	case s.Mem.Kind() == machine.TensorMemory:
		owner := r.cta(s.Mem.CTA())
		m.Space, m.CTA, m.Text = "tensor", &owner, machine.TensorCells(s.Addr, s.Len)
		return m
	}
	g := r.region(m.Space, s.Addr)
	if g == nil {
		m.Text = m.Space + bounds(s.Addr, s.Len, true)
		return m
	}
	m.Symbol, m.Name, m.Offset = g.Name, diag.ShortName(g.Name), s.Addr-g.Base
	m.Text = g.text(m.Name, m.Offset, s.Len)
	return m
}

func (r *Resolver) region(space string, addr uint64) *Region {
	for i := range r.Regions {
		g := &r.Regions[i]
		if g.Shared == (space == "shared") && space != "local" && addr >= g.Base && addr-g.Base < g.Size {
			return g
		}
	}
	return nil
}

// text names a range of the region: by elements if it consists of whole ones.
func (g *Region) text(name string, off, n uint64) string {
	e := g.Elem
	if e == 0 || off%e != 0 || n%e != 0 {
		return name + bounds(off, n, false)
	}
	first, count := off/e, n/e
	if count == 1 {
		return fmt.Sprintf("%s[%d]", name, first)
	}
	return fmt.Sprintf("%s[%d..%d]", name, first, first+count-1)
}

func bounds(off, n uint64, hex bool) string {
	f := "+%d"
	if hex {
		f = "+%#x"
	}
	s := fmt.Sprintf(f, off)
	if n > 1 {
		s += ".." + strings.TrimPrefix(fmt.Sprintf(f, off+n-1), "+")
	}
	return s
}
