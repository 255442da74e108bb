package litmus

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var (
	initThread = regexp.MustCompile(`^P?(\d{1,3})\s*:\s*`)
	initType   = regexp.MustCompile(`^(\.reg|\.?(?:global|shared|generic)|\.?(?:u|s|b)(?:32|64)|\.pred|u?int(?:32_t)?|unsigned)\s*\*?\s+`)
	initAlias  = regexp.MustCompile(`^([A-Za-z]\w*)\s*@\s*(\w+)\s+aliases\s+([A-Za-z]\w*)$`)
	initName   = regexp.MustCompile(`^([A-Za-z]\w*)\s*(?:\[(\d{1,3})\])?$`)
	regName    = regexp.MustCompile(`^%?[rp]\d{1,3}$`)
)

// init reads the initial state from its brace on, and returns where it ends.
func (r *reader) init(at int) int {
	at++
	depth, from := 0, at
	var decls []cell
	add := func(to int) {
		text := r.src[from:to]
		lead := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
		if text = strings.TrimSpace(text); text != "" {
			decls = append(decls, cell{from + lead, text})
		}
		from = to + 1
	}
	for ; ; at++ {
		if at >= len(r.src) {
			r.fail(from-1, "the initial state does not end with }")
		}
		switch c := r.src[at]; {
		case c == '{':
			depth++
		case c == '}' && depth > 0:
			depth--
		case c == ';' && depth == 0:
			add(at)
		case c == '}':
			add(at)
			r.declare(decls)
			at = r.space(at + 1)
			if at < len(r.src) && r.src[at] == ';' {
				at++
			}
			return at
		}
	}
}

// declare reads the declarations: locations first, since aliases and registers name them.
func (r *reader) declare(decls []cell) {
	var aliases, regs []cell
	for _, d := range decls {
		switch {
		case strings.Contains(d.text, "@"):
			aliases = append(aliases, d)
		case initThread.MatchString(d.text):
			regs = append(regs, d)
		default:
			r.location(d)
		}
	}
	for _, d := range aliases {
		m := initAlias.FindStringSubmatch(d.text)
		if m == nil {
			r.fail(d.at, "%q: an alias is written  y @ generic aliases x", brief(d.text))
		}
		r.alias(d, m[1], m[2], m[3])
	}
	for _, d := range regs {
		r.register(d)
	}
}

// location reads x = 1, x[4] = {1, 2, 3, 4}, or x = &y.
func (r *reader) location(d cell) {
	left, right, has := strings.Cut(d.text, "=")
	left = strings.TrimSpace(initType.ReplaceAllString(left, ""))
	m := initName.FindStringSubmatch(left)
	if m == nil || regName.MatchString(m[1]) {
		r.fail(d.at, "%q: a location is declared as x = 0", brief(d.text))
	}
	n := 1
	if m[2] != "" {
		n = atoi(m[2])
	}
	if _, ok := r.t.where[m[1]]; ok {
		r.fail(d.at, "%s is declared twice", m[1])
	}
	at := r.words(d.at, m[1], n)
	if !has {
		return
	}
	right = strings.TrimSpace(right)
	if list, ok := strings.CutPrefix(right, "{"); ok {
		for i, v := range strings.Split(strings.TrimSuffix(list, "}"), ",") {
			if i >= n {
				r.fail(d.at, "%s has %d words, and more values", m[1], n)
			}
			r.t.Init[at+i] = r.initial(d, v)
		}
		return
	}
	r.t.Init[at] = r.initial(d, right)
}

// words makes a location of n words.
func (r *reader) words(at int, name string, n int) int {
	first := r.t.Words
	if n < 1 || first+n > maxWords {
		r.need(at, "more than %d words of memory", maxWords)
	}
	r.t.where[name] = location{4 * first, n}
	for i := range n {
		r.t.Init = append(r.t.Init, 0)
		if n == 1 {
			r.t.Names = append(r.t.Names, name)
		} else {
			r.t.Names = append(r.t.Names, fmt.Sprintf("%s[%d]", name, i))
		}
	}
	r.t.Words += n
	return first
}

// initial reads a value of the initial state: a number, or a location's address.
func (r *reader) initial(d cell, text string) uint32 {
	text = strings.TrimSpace(text)
	if v, ok := number(text); ok {
		return v
	}
	name := strings.TrimSpace(strings.TrimPrefix(text, "&"))
	if !initName.MatchString(name) || regName.MatchString(name) {
		r.fail(d.at, "%q is neither a number of 32 bits nor a location", brief(text))
	}
	r.need(d.at, "a location that holds an address: only registers do")
	return 0
}

// alias reads a virtual alias, or a name by which another proxy is meant to access a location.
func (r *reader) alias(d cell, name, proxy, of string) {
	if _, ok := r.t.where[name]; ok || regName.MatchString(name) {
		r.fail(d.at, "%s is declared twice, or is a register", name)
	}
	to, ok := r.t.where[of]
	if !ok {
		if regName.MatchString(of) {
			r.fail(d.at, "%s is no location", of)
		}
		to = location{4 * r.words(d.at, of, 1), 1}
	}
	switch proxy {
	case "generic":
		if to.words != 1 {
			r.need(d.at, "an alias of several words")
		}
		if len(r.t.Aliases) >= maxWords {
			r.need(d.at, "more than %d aliases", maxWords)
		}
		word := to.addr / 4
		if to.addr >= firstAlias {
			word = r.t.Aliases[(to.addr-firstAlias)/4]
		}
		r.t.where[name] = location{firstAlias + 4*len(r.t.Aliases), 1}
		r.t.Aliases = append(r.t.Aliases, word)
	case "constant", "texture", "surface":
		r.t.where[name] = to // the instructions tell the proxy
	default:
		r.fail(d.at, "%q: an alias is of proxy generic, constant, texture or surface", brief(proxy))
	}
}

// register reads P0:r1 = 5, or 0:.reg .b64 r1 = x. It is kept until the threads are known.
func (r *reader) register(d cell) {
	m := initThread.FindStringSubmatch(d.text)
	k := atoi(m[1])
	if k >= maxThreads {
		r.need(d.at, "thread P%d; at most %d are taken", k, maxThreads)
	}
	rest := d.text[len(m[0]):]
	for initType.MatchString(rest) {
		rest = initType.ReplaceAllString(rest, "")
	}
	name, value, has := strings.Cut(rest, "=")
	if name = strings.TrimSpace(name); !regName.MatchString(name) {
		r.fail(d.at, "%q: a register is declared as P0:r1 = 0", brief(d.text))
	}
	for len(r.regs) <= k {
		r.regs = append(r.regs, map[string]int{})
	}
	reg := r.regOf(d.at, k, name)
	value = strings.TrimSpace(value)
	if v, ok := number(value); ok || !has {
		r.inits = append(r.inits, initReg{d.at, k, reg, v, ""})
		return
	}
	value = strings.TrimSpace(strings.TrimPrefix(value, "&"))
	if !initName.MatchString(value) || regName.MatchString(value) {
		r.fail(d.at, "%q is neither a number of 32 bits nor a location", brief(value))
	}
	if _, ok := r.t.where[value]; !ok {
		r.words(d.at, value, 1)
	}
	r.inits = append(r.inits, initReg{d.at, k, reg, 0, value})
}

// An initReg is the initial value of a register, or the location whose address it is.
type initReg struct {
	at, thread, reg int
	value           uint32
	of              string
}

// regOf returns the number of a register of thread k, which it makes if need be.
func (r *reader) regOf(at, k int, name string) int {
	name = strings.TrimPrefix(name, "%")
	if n, ok := r.regs[k][name]; ok {
		return n
	}
	n := len(r.regs[k])
	if n >= maxRegs {
		r.need(at, "more than %d registers of a thread", maxRegs)
	}
	r.regs[k][name] = n
	return n
}

// firstAlias is the address of the first alias: the words lie below.
const firstAlias = 4 * maxWords

// maxRegs is how many registers a thread has, at most.
const maxRegs = 12

// number reads a constant of 32 bits, negative ones included.
func number(s string) (uint32, bool) {
	if v, err := strconv.ParseUint(s, 0, 32); err == nil {
		return uint32(v), true
	}
	v, err := strconv.ParseInt(s, 0, 32)
	return uint32(v), err == nil
}
