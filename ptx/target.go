package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// This file holds a module to its own .version and .target, as ptxas does: in the
// whole module, whether an instruction is reached or not.

// CheckTarget reports what a module's version of PTX or its architecture does not
// have: the architecture itself, directives, and instructions. What matches no row
// is not reported, since nobody knows which version brings it.
func CheckTarget(m *Module) []*Error {
	c := &targetCheck{file: m.Name, version: m.Version}
	for _, t := range m.Target {
		if sm, ok := parseTarget(t); ok {
			c.target, c.name = sm, t
		}
	}
	for _, r := range targetVersions {
		if c.target == r.sm && c.version.Before(r.version) {
			c.list = append(c.list, &Error{File: m.Name, Pos: Pos{Line: 1, Col: 1}, Msg: c.late(".target "+c.name, r.version)})
			return c.list
		}
	}
	for _, it := range m.Items {
		if f, ok := it.(*Func); ok {
			for _, a := range f.Attrs {
				c.directive(a)
			}
			if f.Body != nil {
				c.block(f.Body)
			}
		}
	}
	return c.list
}

type targetCheck struct {
	file    string
	version Version
	target  SM // zero if the module names no architecture
	name    string
	list    []*Error
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

// targetVersions are the versions of PTX that brought the architectures (ISA 11.1.2).
var targetVersions = func() (list []struct {
	sm      SM
	version Version
}) {
	for _, w := range strings.Fields(`70:6.0 72:6.1 75:6.3 80:7.0 86:7.1 87:7.4 89:7.8 90:7.8 90a:8.0
		100:8.6 100a:8.6 100f:8.8 103:8.8 103a:8.8 103f:8.8 110:9.0 110a:9.0 110f:9.0
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

// directives of functions that came late (ISA 11.4, 11.5, 11.7).
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
				c.report(s.Pos, strings.Join(append([]string{s.Op}, s.Mods...), "."), v, sm, s.Form.Family)
			}
		case *Var:
			if s.Type == "b128" {
				c.report(s.Pos, "type .b128", Version{8, 3}, SM{Number: 70}, nil)
			}
		}
	}
}

func (c *targetCheck) report(pos Pos, what string, v Version, sm SM, family []int) {
	switch {
	case c.version.Before(v):
		what = c.late(what, v)
	case c.target.Number == 0 || c.target.has(sm, family):
		return
	case sm.Suffix == "" && family == nil:
		what = fmt.Sprintf("%s requires .target sm_%d or higher; this module has %s", what, sm.Number, c.name)
	default:
		what = fmt.Sprintf("%s is not supported on .target %s; it requires sm_%d%s", what, c.name, sm.Number, sm.Suffix)
	}
	c.list = append(c.list, &Error{File: c.file, Pos: pos, Msg: what})
}

func (c *targetCheck) late(what string, v Version) string {
	return fmt.Sprintf("%s requires PTX ISA .version %d.%d or later; this module has %d.%d", what, v.Major, v.Minor, c.version.Major, c.version.Minor)
}

// has tells whether an architecture has what needs sm. What needs a suffix is had
// by later architectures with one, unless it is for a family: which of them, only
// their own notes say.
func (t SM) has(sm SM, family []int) bool {
	if family != nil && !slices.Contains(family, t.Number) {
		return false
	}
	return t.Number >= sm.Number && (sm.Suffix == "" || t.Suffix != "")
}

// AskedVersion gives the version of PTX that a module's instructions ask for: the
// module's own, or a later one.
func AskedVersion(m *Module) Version {
	v := m.Version
	var walk func(b *Block)
	walk = func(b *Block) {
		for _, s := range b.Stmts {
			switch s := s.(type) {
			case *Block:
				walk(s)
			case *Inst:
				asked, _ := s.Asks()
				v = later(v, asked)
			}
		}
	}
	for _, it := range m.Items {
		if f, ok := it.(*Func); ok && f.Body != nil {
			walk(f.Body)
		}
	}
	return v
}
