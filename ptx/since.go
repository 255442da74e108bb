package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// A Since says that some modifiers or operands of a form came later than the
// form, or that fewer architectures have them: an instruction that meets all
// of If needs Version and SM, as far as they go beyond the form's.
type Since struct {
	If      []Cond
	Version Version // zero if it is the form's
	SM      SM      // zero if it is the form's
	// Lax: the ISA says so, and ptxas does not ask for it.
	Lax bool
}

// A Cond is met where the slot has one of the values Is (any, if there are
// none); "-" among them says that it is left out. In place of a slot it may
// name an operand that may be left out, and is met where that is there.
type Cond struct {
	Slot string
	Is   []string
}

// Before tells whether a version is older than another.
func (v Version) Before(w Version) bool {
	return v.Major < w.Major || v.Major == w.Major && v.Minor < w.Minor
}

// Needs gives the version of PTX and the least architecture that have an
// instruction: those of its form, or later ones that brought its modifiers,
// its operands or the special registers that it reads. The suffix of an
// architecture is that of the row or cell that asks for the highest number.
// An instruction without a form needs nothing.
func (in *Inst) Needs() (Version, SM) {
	if in.Form == nil {
		return Version{}, SM{}
	}
	return in.needs(in.Form.Version, in.Form.SM, true)
}

// Asks gives what ptxas asks for, which is less than Needs where it takes what
// the ISA has since a later version only.
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

// gives tells whether an operand that may be left out is there.
func (in *Inst) gives(operand string) bool {
	return slices.ContainsFunc(Bind(in), func(b Bound) bool { return b.Arg.Name == operand })
}

// String gives the cell as it stands in the table: "sem:acquire,release>8.6".
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
	if s.SM != (SM{}) {
		what = append(what, fmt.Sprintf("sm_%d%s", s.SM.Number, s.SM.Suffix))
	}
	if s.Lax {
		conds[0] = "~" + conds[0]
	}
	return strings.Join(conds, "&") + ">" + strings.Join(what, "/")
}
