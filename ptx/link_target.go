package ptx

import (
	"slices"
	"strings"
)

// This file merges the versions and targets of modules that are linked.

// A stated is the architecture that a unit names.
type stated struct {
	sm   SM
	name string
	at   Pos
}

func (l *linker) mergeTargets() error {
	m := l.out
	m.Version, m.Address = l.mods[0].Version, l.mods[0].Address
	var all []stated
	for i := range m.Units {
		u, top := &m.Units[i], Pos{Line: 1, Col: 1, Unit: int32(i)}
		m.Version = later(m.Version, u.Version)
		for _, t := range u.Target {
			name := strings.Replace(t, "compute_", "sm_", 1)
			sm, ok := parseTarget(name)
			switch {
			case ok && sm.Number < 20:
				return m.errorAt(top, "modules for %s cannot be linked: that takes sm_20 or higher", t)
			case ok:
				all = append(all, stated{sm, name, top})
			case t != "debug" && !slices.Contains(m.Target, t):
				m.Target = append(m.Target, t)
			}
		}
		if a, b := texmode(u.Target), texmode(m.Units[0].Target); a != b {
			return m.errorAt(top, "the texture mode is %s here, and %s in %s", a, b, m.Units[0].Name)
		}
	}
	for k, other := range l.mods {
		if a, b := addressSize(other), addressSize(l.mods[0]); a != b {
			return m.errorAt(Pos{Line: 1, Col: 1, Unit: l.base[k]}, "addresses have %d bits here, and %d in %s", a, b, l.mods[0].Name)
		}
	}
	if len(all) == 0 {
		return nil // CheckTarget says so
	}
	best := all[0]
	for _, s := range all[1:] {
		if s.sm.Number > best.sm.Number || s.sm.Number == best.sm.Number && rank(s.sm) > rank(best.sm) {
			best = s
		}
	}
	// A suffix of one module must be that of the whole.
	for _, s := range all {
		if rank(s.sm) > rank(best.sm) {
			best.sm.Suffix = s.sm.Suffix
		}
	}
	for _, s := range all {
		if !s.sm.runsOn(best.sm) {
			other := all[0]
			for _, o := range all {
				if o.at.Unit != s.at.Unit && (!o.sm.runsOn(s.sm) && !s.sm.runsOn(o.sm)) {
					other = o
				}
			}
			if other.at.Unit > s.at.Unit {
				s, other = other, s
			}
			return m.errorAt(s.at, "no architecture runs both %s and %s of %s", s.name, other.name, m.UnitAt(other.at).Name)
		}
	}
	m.Target = append([]string{"sm_" + formatInt(Int{Bits: uint64(best.sm.Number)}) + best.sm.Suffix}, m.Target...)
	return nil
}

func texmode(target []string) string {
	for _, t := range target {
		if strings.HasPrefix(t, "texmode_") {
			return t
		}
	}
	return "texmode_unified"
}

// addressSize is a module's address size, 32 if it states none (ISA 11.1.3).
func addressSize(m *Module) int {
	if m.Address == 0 {
		return 32
	}
	return m.Address
}

func rank(s SM) int { return strings.Index("fa", s.Suffix) + min(len(s.Suffix), 1) }

// family is the number that the architectures of a family share (ISA 11.1.2).
func (t SM) family() int {
	if t.Number == 101 { // an older name of 110
		return 11
	}
	return t.Number / 10
}

// runsOn reports whether code for an architecture can be compiled for another.
func (t SM) runsOn(on SM) bool {
	switch t.Suffix {
	case "a":
		return on.Suffix == "a" && on.Number == t.Number
	case "f":
		return on.Suffix != "" && on.family() == t.family() && on.Number >= t.Number
	}
	return on.Number >= t.Number
}
