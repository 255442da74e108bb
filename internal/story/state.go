package story

import (
	"fmt"
	"strconv"
	"strings"

	"muster/internal/diag"
	"muster/internal/machine"
	"muster/internal/resolve"
	"muster/report"
)

// This file shows the state after a step.

// A Show is a part of a state to show.
type Show struct {
	what       string
	region     resolve.Region
	name       string
	cta        int32
	from, upto uint64 // elements
}

// maxElements is how many elements of memory one Show shows.
const maxElements = 1024

// ParsePrints reads what --print takes: barriers, ops, columns, memory:NAME[i:j], where
// NAME is a buffer or a variable, NAME@CTA another CTA's shared one, and i and j
// count elements.
func ParsePrints(r *resolve.Resolver, texts []string) ([]Show, error) {
	var list []Show
	for _, t := range texts {
		switch what, arg, _ := strings.Cut(t, ":"); {
		case t == "barriers" || t == "ops" || t == "columns":
			list = append(list, Show{what: t})
		case what == "memory" && arg != "":
			s, err := parseMemory(r, arg)
			if err != nil {
				return nil, fmt.Errorf("TellOptions.Print %s: %w", t, err)
			}
			list = append(list, s)
		default:
			return nil, fmt.Errorf("TellOptions.Print %s: there are barriers, ops, columns, and memory:NAME[i:j]", t)
		}
	}
	return list, nil
}

func parseMemory(r *resolve.Resolver, arg string) (Show, error) {
	s := Show{what: "memory", name: arg}
	name, index, sliced := strings.Cut(arg, "[")
	name, cta, other := strings.Cut(name, "@")
	found := false
	for _, g := range r.Regions {
		if g.Name == name || diag.ShortName(g.Name) == name {
			s.region, found = g, true
			break
		}
	}
	if !found {
		return s, fmt.Errorf("no buffer or variable is called %q", name)
	}
	if other {
		n, err := strconv.ParseInt(cta, 10, 32)
		if err != nil || n < 0 || !s.region.Shared {
			return s, fmt.Errorf("@ is followed by the number of a CTA, and for shared memory alone")
		}
		s.cta = int32(n)
	}
	s.upto = s.region.Size / s.elem()
	if sliced {
		var err error
		if s.from, s.upto, err = parseSlice(strings.TrimSuffix(index, "]"), strings.HasSuffix(index, "]"), s.upto); err != nil {
			return s, err
		}
	}
	if s.upto-s.from > maxElements {
		return s, fmt.Errorf("%d elements are more than %d; say which, as in %s[0:64]", s.upto-s.from, maxElements, name)
	}
	return s, nil
}

func parseSlice(text string, closed bool, size uint64) (from, upto uint64, err error) {
	lo, hi, span := strings.Cut(text, ":")
	upto = size
	if lo != "" {
		if from, err = strconv.ParseUint(lo, 10, 63); err == nil && !span {
			upto = from + 1
		}
	}
	if err == nil && hi != "" {
		upto, err = strconv.ParseUint(hi, 10, 63)
	}
	if err != nil || !closed || from >= upto || upto > size {
		return 0, 0, fmt.Errorf("want elements from and below, as [0:8], of %d", size)
	}
	return from, upto, nil
}

// elem is the size of an element: the declared one if a register can hold it,
// else a byte.
func (s *Show) elem() uint64 {
	switch s.region.Elem {
	case 2, 4, 8:
		return s.region.Elem
	}
	return 1
}

// State describes the present state of a machine that the teller has stepped.
func (t *Teller) State(m *machine.Machine, shows []Show) *report.State {
	s := &report.State{Splits: t.splits(m)}
	for i := range shows {
		switch show := &shows[i]; show.what {
		case "barriers":
			s.Barriers = t.barriers(m)
		case "ops":
			s.Ops = t.ops(m)
		case "columns":
			s.Columns = t.allColumns(m)
		default:
			s.Memory = append(s.Memory, t.memory(m, show)...)
		}
	}
	return s
}

// maxLines bounds each list of a state.
const maxLines = 256

func (t *Teller) splits(m *machine.Machine) []string {
	list := []string{}
	for _, v := range m.Waiting() {
		if len(list) == maxLines {
			return append(list, "and more")
		}
		who := t.warp(v.CTA, v.Warp)
		if v.Mask != ^uint32(0) {
			who += lanesText(v.Mask)
		}
		where, _ := t.names.Where(v.PC)
		text := fmt.Sprintf("%s: at %s", who, where)
		if in := t.names.Program.Inst(v.PC); in != nil {
			text += ", before " + machine.Name(in)
		}
		if what := t.waitsFor(&v); what != "" {
			text += ", sleeps until " + what
		}
		list = append(list, text)
	}
	if n := m.NotStarted(); n > 0 {
		list = append(list, fmt.Sprintf("%s not started", diag.Plural(n, "CTA")))
	}
	return list
}

// barriers lists live mbarriers, and named barriers with arrivals.
func (t *Teller) barriers(m *machine.Machine) []string {
	list := []string{}
	for _, b := range m.Barriers() {
		if len(list) == maxLines {
			return append(list, "and more")
		}
		list = append(list, t.state(m, barrier{mem: b.Bar.Mem, addr: b.Bar.Addr}))
	}
	for cta := range int32(m.CTAs()) {
		for id := range 16 {
			if text := t.state(m, barrier{mem: machine.SharedOf(cta), addr: uint64(id), named: true}); text != "" && len(list) < maxLines {
				if t.multiple {
					text = t.cta(cta) + ", " + text
				}
				list = append(list, text)
			}
		}
	}
	return list
}

func (t *Teller) ops(m *machine.Machine) []string {
	list := []string{}
	for _, op := range m.InFlight() {
		if len(list) == maxLines {
			return append(list, "and more")
		}
		stage := map[machine.Stage]string{machine.Issued: "issued", machine.SourceRead: "source read", machine.Written: "written, not reported"}[op.Stage]
		text := fmt.Sprintf("%s %d of %s: %s", opWord(op), op.ID, t.warp(op.CTA, op.Warp), stage)
		if len(op.Reads) > 0 {
			text += "; reads " + t.spans(op.Reads, op.CTA)
		}
		if len(op.Writes) > 0 {
			text += "; writes " + t.spans(op.Writes, op.CTA)
		}
		for i, b := range op.Bars {
			text += fmt.Sprintf("; reports %s to %s", diag.Bytes(uint64(op.BarBytes[i])), t.mbarName(b.Mem, b.Addr, op.CTA))
		}
		list = append(list, text)
	}
	return list
}

// memory shows elements in hexadecimal, eight words of 4 bytes a line, and a dash
// for unwritten bytes.
func (t *Teller) memory(m *machine.Machine, s *Show) []string {
	mem := machine.Global
	if s.region.Shared {
		mem = machine.SharedOf(s.cta)
	}
	e := s.elem()
	row := max(32/e, 1)
	var list []string
	for i := s.from; i < s.upto; i += row {
		text := fmt.Sprintf("%s[%d]:", diag.ShortName(s.region.Name), i)
		for k := i; k < min(i+row, s.upto); k++ {
			v, init := m.Peek(mem, s.region.Base+k*e, int(e))
			if init {
				text += fmt.Sprintf(" %0*x", 2*e, v)
			} else {
				text += " " + strings.Repeat("-", int(2*e))
			}
		}
		list = append(list, text)
	}
	return list
}
