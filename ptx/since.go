package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// A Since says that some modifiers or operands are newer than the form, or exist on fewer
// architectures: an instruction that meets all of If needs Version and SM, if they exceed
// the form's.
type Since struct {
	If      []Cond
	Version Version // zero if it is the form's
	SM      SM      // zero if it is the form's
	On      []SM    // the only targets, as Form.On; nil for all from SM on
	// Lax: the ISA requires this, but ptxas does not check it.
	Lax bool
}

// A Cond is met if the slot has one of the values Is (any, if empty); "-" means that it
// is left out. Instead of a slot it may name an optional operand, and is met if that is
// present.
type Cond struct {
	Slot string
	Is   []string
}

// Before reports whether v is older than w.
func (v Version) Before(w Version) bool {
	return v.Major < w.Major || v.Major == w.Major && v.Minor < w.Minor
}

// Needs returns the minimum version of PTX and architecture for an instruction: those of
// its form, or later ones that introduced its modifiers, its operands or the special
// registers that it reads. The suffix of the architecture is that of the row or cell with
// the highest number. An instruction without a form needs nothing.
func (in *Inst) Needs() (Version, SM) {
	if in.Form == nil {
		return Version{}, SM{}
	}
	return in.needs(in.Form.Version, in.Form.SM, true)
}

// Asks returns what ptxas requires, which is less than Needs where ptxas accepts older
// versions than the ISA states.
func (in *Inst) Asks() (Version, SM) {
	f := in.Form
	switch {
	case f == nil:
		return Version{}, SM{}
	case f.Takes != nil:
		return in.needs(f.Takes.Version, f.Takes.SM, false)
	}
	return in.needs(f.Version, f.SM, false)
}

func (in *Inst) needs(v Version, sm SM, lax bool) (Version, SM) {
	var fill []int8
	if len(in.Form.Since) > 0 {
		fill = in.fill()
	}
	for i := range in.Form.Since {
		if s := &in.Form.Since[i]; fill != nil && (lax || !s.Lax) && s.met(in, fill) {
			v, sm = later(v, s.Version), narrower(sm, s.SM)
		}
	}
	for _, x := range in.Operands {
		if name, ok := x.(Name); ok && strings.HasPrefix(string(name), "%") {
			if s, ok := LookupSpecial(string(name)); ok {
				v, sm = later(v, s.Version), narrower(sm, s.SM)
			}
		}
	}
	return v, sm
}

// on returns the lists of targets, in each of which that of an instruction's module must be:
// those of its form and of its modifiers and operands.
func (in *Inst) on() (lists [][]SM) {
	if in.Form.On != nil {
		lists = append(lists, in.Form.On)
	}
	var fill []int8
	for i := range in.Form.Since {
		s := &in.Form.Since[i]
		if s.On == nil {
			continue
		}
		if fill == nil {
			fill = in.fill()
		}
		if fill != nil && !s.Lax && s.met(in, fill) {
			lists = append(lists, s.On)
		}
	}
	return lists
}

func later(v, w Version) Version {
	if v.Before(w) {
		return w
	}
	return v
}

func narrower(a, b SM) SM {
	if a.Number < b.Number || a.Number == b.Number && a.Suffix == "" {
		return b
	}
	return a
}

func (s *Since) met(in *Inst, fill []int8) bool {
	for i := range s.If {
		c, v := &s.If[i], "-"
		switch n := in.Form.slot(c.Slot); {
		case n >= 0 && fill[n] >= 0:
			v = in.Mods[fill[n]]
		case n < 0 && in.gives(c.Slot):
			v = c.Slot
		}
		if c.Is == nil && v == "-" || c.Is != nil && !slices.Contains(c.Is, v) {
			return false
		}
	}
	return true
}

// gives reports whether an optional operand is present.
func (in *Inst) gives(operand string) bool {
	return slices.ContainsFunc(Bind(in), func(b Bound) bool { return b.Arg.Name == operand })
}

// String returns the cell in the table's notation: "sem:acquire,release>8.6".
func (s Since) String() string {
	var conds, what []string
	for _, c := range s.If {
		if c.Is != nil {
			c.Slot += ":" + strings.Join(c.Is, ",")
		}
		conds = append(conds, c.Slot)
	}
	if s.Version != (Version{}) {
		what = append(what, fmt.Sprintf("%d.%d", s.Version.Major, s.Version.Minor))
	}
	switch {
	case s.On != nil:
		what = append(what, "on_"+targetNames(s.On, "+", ""))
	case s.SM != (SM{}):
		what = append(what, fmt.Sprintf("sm_%d%s", s.SM.Number, s.SM.Suffix))
	}
	if s.Lax {
		conds[0] = "~" + conds[0]
	}
	return strings.Join(conds, "&") + ">" + strings.Join(what, "/")
}
