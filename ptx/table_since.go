package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// everywhere are modifiers introduced for all or almost all instructions at once:
// addressing, state spaces, scopes, caches and types (the notes of ISA 9.7.9.8, 9.7.9.11,
// 9.7.13.4 to 9.7.13.6). A newer row has them from its beginning.
var everywhere = func() (list []Since) {
	for _, cell := range strings.Fields(`
		space:->2.0/sm_20
		space:shared::cta>7.8/sm_30 dst:shared::cta>7.8/sm_30 src:shared::cta>7.8/sm_30
		space:shared::cluster>7.8/sm_90 dst:shared::cluster>7.8/sm_90
		space:param::entry,param::func>8.3
		scope:cluster>7.8/sm_90
		cop>2.0/sm_20
		hint>7.4/sm_80 prefetch>7.4/sm_75 prefetch:L2::256B>7.4/sm_80
		l1>7.4/sm_70 l2>8.8/sm_100
		type:b128>8.3/sm_70 type:b128&scope:sys>8.4
		type:f64>sm_13 dtype:f64>sm_13 atype:f64>sm_13`) {
		list = append(list, parseSince(cell, cell))
	}
	return list
}()

// parseSince parses "slot:v,w&slot:x>8.3/sm_70" or "…>8.3/on_100a+103f"; either of the two at
// its end may be missing. "~" before it says that ptxas does not check it.
func parseSince(line, s string) Since {
	cond, what, ok := strings.Cut(s, ">")
	if !ok {
		badRow(line, "cell since=%s says no version", s)
	}
	var r Since
	cond, r.Lax = strings.CutPrefix(cond, "~")
	r.If = parseConds(line, cond)
	for w := range strings.SplitSeq(what, "/") {
		if list, ok := strings.CutPrefix(w, "on_"); ok {
			r.On = parseTargets(line, list, "+")
			r.SM = r.On[0]
		} else if sm, ok := strings.CutPrefix(w, "sm_"); ok {
			r.SM = parseSM(line, sm)
		} else if _, err := fmt.Sscanf(w, "%d.%d", &r.Version.Major, &r.Version.Minor); err != nil {
			badRow(line, "version %q", w)
		}
	}
	return r
}

// parseConds parses "slot:v,w&slot:x".
func parseConds(line, s string) (list []Cond) {
	for c := range strings.SplitSeq(s, "&") {
		slot, is, _ := strings.Cut(c, ":")
		x := Cond{Slot: slot}
		if is != "" {
			x.Is = values(line, is)
		}
		list = append(list, x)
	}
	return list
}

// keepSince keeps those cells of the section, of the row, and of everywhere that apply to
// the form. The row's own must apply.
func (f *Form) keepSince(line string, section []Since) {
	for i := range f.Since {
		if i >= len(section) && !f.Since[i].concerns(f) {
			badRow(line, "since=%v says nothing of this row", f.Since[i])
		}
	}
	own := f.Since
	overruled := func(s Since) bool { // by the row's own cell, which ptxas does not check
		return slices.ContainsFunc(own, func(o Since) bool { return o.Lax && o.String() == "~"+s.String() })
	}
	f.Since = slices.DeleteFunc(slices.Concat(f.Since, everywhere), func(s Since) bool { return !s.concerns(f) || overruled(s) })
}

// concerns reports whether a form has the slots and values of a cell, and is older than
// they are.
func (s *Since) concerns(f *Form) bool {
	for _, c := range s.If {
		slot, ok := f.Slot(c.Slot)
		has := func(v string) bool { return v == "-" && slot.Optional || slices.Contains(slot.Values, v) }
		if !ok && !f.optional(c.Slot) || c.Is != nil && !slices.ContainsFunc(c.Is, has) {
			return false
		}
	}
	return s.On != nil || later(f.Version, s.Version) != f.Version || narrower(f.SM, s.SM) != f.SM
}

// optional reports whether a form has an optional operand of that name.
func (f *Form) optional(name string) bool {
	return slices.ContainsFunc(f.Operands, func(a Arg) bool {
		return a.Name == name && a.Optional || a.Pred != nil && a.Pred.Name == name && a.Pred.Optional
	})
}
