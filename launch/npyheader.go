package launch

import (
	"fmt"
	"strconv"
	"strings"
)

// pyScanner reads the few Python literals of an .npy header: strings, True and
// False, tuples of integers. The first error sticks.
type pyScanner struct {
	text string
	off  int
	err  error
}

func (p *pyScanner) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("bad .npy header: "+format, args...)
	}
}

func (p *pyScanner) skip() {
	for p.off < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.off]) >= 0 {
		p.off++
	}
}

func (p *pyScanner) accept(c byte) bool {
	p.skip()
	if p.err == nil && p.off < len(p.text) && p.text[p.off] == c {
		p.off++
		return true
	}
	return false
}

func (p *pyScanner) want(c byte) {
	if !p.accept(c) {
		p.fail("no %q at byte %d", c, p.off)
	}
}

func (p *pyScanner) end() {
	if p.skip(); p.off < len(p.text) {
		p.fail("text after the dictionary, at byte %d", p.off)
	}
}

// str reads a quoted string. A list here means a structured dtype, an error.
func (p *pyScanner) str() string {
	p.skip()
	if p.err != nil || p.off >= len(p.text) {
		p.fail("it ends where a string should be")
		return ""
	}
	quote := p.text[p.off]
	if quote == '[' {
		p.fail("structured dtypes are not supported")
		return ""
	}
	if quote != '\'' && quote != '"' {
		p.fail("no string at byte %d", p.off)
		return ""
	}
	rest := p.text[p.off+1:]
	n := strings.IndexByte(rest, quote)
	if n < 0 {
		p.fail("a string does not end")
		return ""
	}
	p.off += n + 2
	return rest[:n]
}

func (p *pyScanner) boolean() bool {
	p.skip()
	for _, word := range []string{"True", "False"} {
		if strings.HasPrefix(p.text[p.off:], word) {
			p.off += len(word)
			return word == "True"
		}
	}
	p.fail("no True or False at byte %d", p.off)
	return false
}

// tuple reads (), (3,) or (3, 4), also with the L of Python 2's long integers.
func (p *pyScanner) tuple() []int64 {
	list := []int64{}
	p.want('(')
	for p.err == nil && !p.accept(')') {
		list = append(list, p.integer())
		p.accept('L')
		if !p.accept(',') {
			p.want(')')
			if len(list) == 1 {
				p.fail("a shape that is no tuple")
			}
			break
		}
	}
	return list
}

func (p *pyScanner) integer() int64 {
	p.skip()
	begin := p.off
	for p.off < len(p.text) && '0' <= p.text[p.off] && p.text[p.off] <= '9' {
		p.off++
	}
	v, err := strconv.ParseInt(p.text[begin:p.off], 10, 64)
	if err != nil {
		p.fail("bad dimension at byte %d", begin)
	}
	return v
}

// formatTuple formats a shape as Python does.
func formatTuple(shape []int64) string {
	if len(shape) == 1 {
		return fmt.Sprintf("(%d,)", shape[0])
	}
	return "(" + joinInts(shape) + ")"
}

// formatShape formats a shape as a launch file does.
func formatShape(shape []int64) string { return "[" + joinInts(shape) + "]" }

func joinInts(list []int64) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = strconv.FormatInt(v, 10)
	}
	return strings.Join(words, ", ")
}

func equalShapes(a, b []int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// formatSize formats a number of bytes with a binary unit.
func formatSize(n uint64) string {
	const units = "KMGTPE"
	if n < 1<<10 {
		return fmt.Sprintf("%d bytes", n)
	}
	v, i := float64(n)/1024, 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	return strconv.FormatFloat(float64(int64(v*10+0.5))/10, 'f', -1, 64) + " " + units[i:i+1] + "iB"
}
