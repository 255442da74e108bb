package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// This file checks a module against its own .version and .target, like ptxas: in the
// whole module, reachable or not.

// CheckTarget reports what the module's version of PTX or its architecture does not have:
// the architecture itself, directives, and instructions. Instructions without a row are
// not reported, since the version that introduces them is unknown. Each unit of a linked
// module is held to its own version and architecture.
func CheckTarget(m *Module) (list []*Error) {
	units := make([]*targetCheck, max(len(m.Units), 1))
	for i := range units {
		units[i] = checkHead(m, int32(i))
		list = append(list, units[i].list...)
		units[i].list = nil
	}
	if len(list) > 0 {
		return list
	}
	for _, it := range m.Items {
		switch it := it.(type) {
		case *Directive:
			units[it.Pos.Unit].unknown(it)
		case *Func:
			c := units[it.Pos.Unit]
			c.attributes(it)
			if it.Body != nil {
				c.block(it.Body)
			}
		}
	}
	for _, c := range units {
		list = append(list, c.list...)
	}
	return list
}

func checkHead(m *Module, unit int32) *targetCheck {
	top := Pos{Line: 1, Col: 1, Unit: unit}
	u := m.UnitAt(top)
	c := &targetCheck{mod: m, version: u.Version}
	if c.head(m, u, top); len(c.list) > 0 {
		return c
	}
	for _, r := range targetVersions {
		if c.target == r.sm && c.version.Before(r.version) {
			c.list = append(c.list, m.errorAt(top, "%s", c.late(".target "+c.name, r.version)))
		}
	}
	return c
}

// head checks .version and .target themselves.
func (c *targetCheck) head(mod *Module, m Unit, top Pos) {
	refuse := func(format string, args ...any) {
		c.list = append(c.list, mod.errorAt(top, format, args...))
	}
	if last, ok := lastMinor[m.Version.Major]; ok && m.Version.Minor > last || m.Version.Major > Newest.Major+1 || m.Version.Minor > 9 {
		refuse(".version %d.%d: PTX has no such version; the newest that is known here is %d.%d", m.Version.Major, m.Version.Minor, Newest.Major, Newest.Minor)
		return
	}
	for _, t := range m.Target {
		sm, ok := parseTarget(t)
		switch {
		case ok:
			c.target, c.name = sm, t
			fallthrough
		case strings.HasPrefix(t, "compute_"), slices.Contains(targetOptions, t):
			if ok && !Newest.Before(m.Version) && !slices.Contains(architectures, t) {
				refuse(".target %s: PTX %d.%d has no such architecture", t, m.Version.Major, m.Version.Minor)
			}
		default:
			refuse(".target %s: no architecture and no option has this name", t)
		}
	}
	if c.name == "" && len(c.list) == 0 && !slices.ContainsFunc(m.Target, func(t string) bool { return strings.HasPrefix(t, "compute_") }) {
		refuse(".target names no architecture")
	}
}

// lastMinor gives the last minor version of each completed major version of PTX (ISA 14,
// release notes).
var lastMinor = map[int]int{1: 5, 2: 3, 3: 2, 4: 3, 5: 1, 6: 5, 7: 8, 8: 8}

// architectures and options that a .target may name (ISA 11.1.2).
var (
	architectures = strings.Fields(`sm_10 sm_11 sm_12 sm_13 sm_20 sm_21 sm_30 sm_32 sm_35 sm_37 sm_50 sm_52 sm_53 sm_60 sm_61 sm_62
		sm_70 sm_72 sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_90a sm_100 sm_100a sm_100f sm_101 sm_101a sm_101f sm_103 sm_103a sm_103f
		sm_107 sm_107a sm_107f
		sm_110 sm_110a sm_110f sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f`)
	targetOptions = strings.Fields("texmode_unified texmode_independent debug map_f64_to_f32")
)

// unknown reports a directive that does not exist up to the module's version.
func (c *targetCheck) unknown(d *Directive) {
	if !Newest.Before(c.version) {
		c.list = append(c.list, c.mod.errorAt(d.Pos, "unknown directive .%s", d.Name))
	}
}

// attributes checks the directives between a function's parameters and its body (ISA 11.3
// to 11.7).
func (c *targetCheck) attributes(f *Func) {
	given := map[string]bool{}
	for _, a := range f.Attrs {
		_, known := argCount[a.Name]
		switch {
		case a.Name == "pragma", a.Name == "managed", a.Name == "unified":
		case !known:
			c.unknown(&a)
		case a.Name == "noreturn" && f.Entry:
			c.list = append(c.list, c.mod.errorAt(a.Pos, ".noreturn is for functions, not for kernels"))
		}
		for _, pair := range [][2]string{{"maxntid", "reqntid"}, {"maxclusterrank", "reqnctapercluster"}} {
			if a.Name == pair[0] && given[pair[1]] || a.Name == pair[1] && given[pair[0]] {
				c.list = append(c.list, c.mod.errorAt(a.Pos, ".%s and .%s cannot both be given", pair[0], pair[1]))
			}
		}
		given[a.Name] = true
		c.directive(a)
	}
}

type targetCheck struct {
	mod     *Module
	version Version
	target  SM // zero if the module names no architecture
	name    string
	list    []*Error
}

// Architecture returns the architecture that .target names; false if it names none.
func (m *Module) Architecture() (sm SM, ok bool) {
	for _, t := range m.Target {
		if sm, ok = parseTarget(t); ok {
			break
		}
	}
	return sm, ok
}

// parseTarget takes "sm_90a".
func parseTarget(s string) (sm SM, ok bool) {
	s, ok = strings.CutPrefix(s, "sm_")
	digits := strings.TrimRight(s, "af")
	if ok = ok && len(digits) > 0 && len(digits) < 5 && strings.Trim(digits, "0123456789") == ""; ok {
		sm = SM{atoi(digits), s[len(digits):]}
	}
	return sm, ok
}

// targetVersions are the versions of PTX that introduced the architectures (ISA 11.1.2).
var targetVersions = func() (list []struct {
	sm      SM
	version Version
}) {
	for _, w := range strings.Fields(`70:6.0 72:6.1 75:6.3 80:7.0 86:7.1 87:7.4 89:7.8 90:7.8 90a:8.0
		100:8.6 100a:8.6 100f:8.8 103:8.8 103a:8.8 103f:8.8 107:9.4 107a:9.4 107f:9.4 110:9.0 110a:9.0 110f:9.0
		120:8.7 120a:8.7 120f:8.8 121:8.8 121a:8.8 121f:8.8`) {
		sm, v, _ := strings.Cut(w, ":")
		s := parseSince(w, ">"+v)
		list = append(list, struct {
			sm      SM
			version Version
		}{parseSM(w, sm), s.Version})
	}
	return list
}()

// Directives of functions that were introduced later (ISA 11.4, 11.5, 11.7).
var directives = func() map[string]Since {
	m := map[string]Since{}
	for _, w := range strings.Fields(`reqnctapercluster>7.8/sm_90 explicitcluster>7.8/sm_90 maxclusterrank>7.8/sm_90
		blocksareclusters>9.0/sm_90 noreturn>6.4/sm_30`) {
		name, _, _ := strings.Cut(w, ">")
		m[name] = parseSince(w, w)
	}
	return m
}()

func (c *targetCheck) directive(d Directive) {
	if s, ok := directives[d.Name]; ok {
		c.report(d.Pos, "."+d.Name, s.Version, s.SM, nil)
	}
}

func (c *targetCheck) block(b *Block) {
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *Block:
			c.block(s)
		case *Inst:
			if s.Form != nil {
				v, sm := s.Asks()
				c.gone(s)
				c.report(s.Pos, s.Opcode(), v, sm, s.Form.Family, s.on()...)
			}
		case *Directive:
			c.unknown(s)
		case *Var:
			if s.Type == "b128" {
				c.report(s.Pos, "type .b128", Version{8, 3}, SM{Number: 70}, nil)
			}
		}
	}
}

// gone reports an instruction that the module's version no longer has.
func (c *targetCheck) gone(in *Inst) {
	g := in.Form.Gone
	if g == nil || c.version.Before(g.Version) || c.target.Number < g.SM.Number {
		return
	}
	name := in.Opcode()
	msg := fmt.Sprintf("%s: from PTX ISA .version %d.%d on", name, g.Version.Major, g.Version.Minor)
	if _, saturates := in.Form.Slot("satfinite"); saturates {
		msg += fmt.Sprintf(" .satfinite is for integers alone; this module has %d.%d", c.version.Major, c.version.Minor)
	} else if slices.ContainsFunc(formsByOp[in.Op], func(f *Form) bool { _, rounds := f.Slot("rnd"); return rounds }) {
		msg += fmt.Sprintf(" a rounding modifier is required; this module has %d.%d", c.version.Major, c.version.Minor)
	} else {
		msg += fmt.Sprintf(", sm_%d and later have %s.sync in its place; this module has %d.%d and %s", g.SM.Number, in.Op, c.version.Major, c.version.Minor, c.name)
	}
	c.list = append(c.list, c.mod.errorAt(in.Pos, "%s", msg))
}

func (c *targetCheck) report(pos Pos, what string, v Version, sm SM, family []int, on ...[]SM) {
	missing := slices.IndexFunc(on, func(list []SM) bool { return !c.target.in(list) })
	switch {
	case c.version.Before(v):
		what = c.late(what, v)
	case c.target.Number == 0:
		return
	case missing >= 0:
		what = fmt.Sprintf("%s is not supported on .target %s; it requires %s", what, c.name, targetNames(on[missing], " or ", "sm_"))
	case c.target.has(sm, family), on != nil && c.target.has(SM{Number: sm.Number}, family):
		return
	case sm.Suffix == "" && family == nil:
		what = fmt.Sprintf("%s requires .target sm_%d or higher; this module has %s", what, sm.Number, c.name)
	default:
		what = fmt.Sprintf("%s is not supported on .target %s; it requires sm_%d%s", what, c.name, sm.Number, sm.Suffix)
	}
	c.list = append(c.list, c.mod.errorAt(pos, "%s", what))
}

func (c *targetCheck) late(what string, v Version) string {
	return fmt.Sprintf("%s requires PTX ISA .version %d.%d or later; this module has %d.%d", what, v.Major, v.Minor, c.version.Major, c.version.Minor)
}

// has reports whether an architecture has a feature that needs sm. A feature with a
// suffix is in later architectures with a suffix, unless it has a family, listed
// individually in the ISA's notes.
func (t SM) has(sm SM, family []int) bool {
	if family != nil && !slices.Contains(family, t.Number) {
		return false
	}
	return t.Number >= sm.Number && (sm.Suffix == "" || t.Suffix != "")
}

// in reports whether a target is one of a list, or of the family of one.
func (t SM) in(list []SM) bool {
	return slices.ContainsFunc(list, func(s SM) bool {
		switch s.Suffix {
		case "f":
			return t.Suffix != "" && t.Number/10 == s.Number/10 && t.Number >= s.Number
		case "a":
			return t == s
		}
		return t.Number >= s.Number
	})
}

// targetNames lists targets in words.
func targetNames(list []SM, sep, prefix string) string {
	var names []string
	for _, s := range list {
		names = append(names, fmt.Sprintf("%s%d%s", prefix, s.Number, s.Suffix))
	}
	return strings.Join(names, sep)
}

// RaiseVersion sets the version of a module, and of each of its units, to the one that its
// instructions require, if that is later.
func RaiseVersion(m *Module) {
	m.Units = slices.Clone(m.Units)
	var walk func(b *Block, v Version) Version
	walk = func(b *Block, v Version) Version {
		for _, s := range b.Stmts {
			switch s := s.(type) {
			case *Block:
				v = walk(s, v)
			case *Inst:
				asked, _ := s.Asks()
				v = later(v, asked)
			}
		}
		return v
	}
	for _, it := range m.Items {
		f, ok := it.(*Func)
		if !ok || f.Body == nil {
			continue
		}
		v := walk(f.Body, m.UnitAt(f.Pos).Version)
		if m.Version = later(m.Version, v); m.Units != nil {
			m.Units[f.Pos.Unit].Version = v
		}
	}
}
