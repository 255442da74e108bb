package litmus

import (
	"regexp"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// group lists the members of {a, b}, or the only one.
func group(s string) []string {
	inner, ok := strings.CutPrefix(s, "{")
	if !ok {
		return []string{s}
	}
	var list []string
	for _, m := range strings.Split(strings.TrimSuffix(inner, "}"), ",") {
		list = append(list, strings.TrimSpace(m))
	}
	return list
}

func (p *parsing) members(s string, n int) []string {
	list := group(s)
	if len(list) != n {
		p.fail("%q: %q has %d elements, and the access %d", brief(p.in.Text), brief(s), len(list), n)
	}
	return list
}

func (p *parsing) registers(s string, n int) (list []int) {
	for _, m := range p.members(s, n) {
		if !regName.MatchString(m) {
			p.fail("%q: %q is no register: registers are r0, r1, …", brief(p.in.Text), brief(m))
		}
		list = append(list, p.r.regOf(p.c.at, p.k, m))
	}
	return list
}

func (p *parsing) values(s string, n int) (list []Value) {
	for _, m := range p.members(s, n) {
		list = append(list, p.value(m))
	}
	return list
}

// value reads a constant or a register.
func (p *parsing) value(s string) Value {
	if regName.MatchString(s) {
		return Value{Reg: p.r.regOf(p.c.at, p.k, s) + 1}
	}
	v, ok := number(s)
	if !ok {
		p.fail("%q: %q is neither a register nor a number of 32 bits", brief(p.in.Text), brief(s))
	}
	return Value{Const: v}
}

// operand is a value, or a location, which stands for its address.
func (p *parsing) operand(s string) Value {
	if m := strings.TrimPrefix(s, "&"); initName.MatchString(m) && !regName.MatchString(m) {
		return p.address(m, 1)
	}
	return p.value(s)
}

// address is x, [x], [x+4], x[1], [r1] or [r1+4].
var addressText = regexp.MustCompile(`^([%A-Za-z]\w*)\s*(?:\[(\d{1,3})\])?\s*(?:([+-])\s*(\d{1,6}))?$`)

func (p *parsing) address(s string, elements int) Value {
	text := s
	if inner, ok := strings.CutPrefix(s, "["); ok {
		text = strings.TrimSpace(strings.TrimSuffix(inner, "]"))
	}
	m := addressText.FindStringSubmatch(text)
	if m == nil {
		p.fail("%q: %q is no location", brief(p.in.Text), brief(s))
	}
	off := 4 * atoi(m[2])
	if m[3] == "-" {
		off -= atoi(m[4])
	} else {
		off += atoi(m[4])
	}
	if regName.MatchString(m[1]) {
		if text == s || m[2] != "" {
			p.fail("%q: an address in a register is written [%s]", brief(p.in.Text), m[1])
		}
		return Value{Const: uint32(off), Reg: p.r.regOf(p.c.at, p.k, m[1]) + 1}
	}
	if !initName.MatchString(m[1]) {
		p.fail("%q: %q is no location", brief(p.in.Text), brief(s))
	}
	to, ok := p.r.t.where[m[1]]
	if !ok {
		p.r.words(p.c.at, m[1], 1)
		to = p.r.t.where[m[1]]
	}
	if off < 0 || off+4*elements > 4*to.words || off%(4*elements) != 0 {
		p.fail("%q: %q is outside of %s, which has %d bytes, or not aligned", brief(p.in.Text), brief(s), m[1], 4*to.words)
	}
	if elements > 1 && to.addr%(4*elements) != 0 {
		p.need("a location that is aligned to %d bytes: declare %s first", 4*elements, m[1])
	}
	return Value{Const: uint32(to.addr + off)}
}
