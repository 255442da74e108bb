package litmus

import (
	"fmt"
	"regexp"
	"strings"
)

// Bounds on a file: what is beyond them is no litmus test.
const (
	MaxSize    = 1 << 20
	maxThreads = 12
	maxInstrs  = 400
	maxWords   = 48
	maxDepth   = 100 // of parentheses
)

// A reader reads one file.
type reader struct {
	t      *Test
	src    string // comments blanked, so that offsets are those of the file
	regs   []map[string]int
	shared int  // the offset of a word that puts something into shared memory; less than 0: none
	herd   bool // the tree of scopes or nothing gives the places

	inits []initReg
}

// Read reads a test in herd's or Dat3M's format.
func Read(file string, src []byte) (t *Test, err error) {
	t = &Test{File: file, where: map[string]location{}}
	r := &reader{t: t, shared: -1}
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *Error:
			t, err = nil, v
		case *Need:
			t, err = nil, v
		default:
			panic(v)
		}
	}()
	if len(src) > MaxSize {
		r.fail(0, "a file of more than %d bytes is no litmus test", MaxSize)
	}
	if i := strings.IndexByte(string(src), 0); i >= 0 {
		r.src = string(src)
		r.fail(i, "a byte 0: this is no text")
	}
	r.src = string(src)
	r.src = r.withoutComments()
	end := r.head()
	rest := r.table(r.init(end))
	r.tail(rest)
	r.finish()
	return t, nil
}

// fail ends the reading with an error at an offset.
func (r *reader) fail(at int, format string, args ...any) {
	line, col := r.position(at)
	panic(&Error{r.t.File, line, col, fmt.Sprintf(format, args...)})
}

// need ends the reading of a test that is right, but cannot be answered.
func (r *reader) need(at int, format string, args ...any) {
	line, col := r.position(at)
	panic(&Need{r.t.File, line, col, fmt.Sprintf(format, args...)})
}

func (r *reader) position(at int) (line, col int) {
	before := r.src[:min(at, len(r.src))]
	return 1 + strings.Count(before, "\n"), at - strings.LastIndexByte(before, '\n')
}

// withoutComments blanks (* … *), which nest, and // to the end of a line.
func (r *reader) withoutComments() string {
	b := []byte(r.src)
	depth, open, quoted := 0, 0, false
	for i := 0; i < len(b); i++ {
		two := func(s string) bool { return i+1 < len(b) && string(b[i:i+2]) == s }
		switch {
		case depth == 0 && b[i] == '"':
			quoted = !quoted
		case quoted:
		case two("(*"):
			if depth == 0 {
				open = i
			}
			depth++
			b[i], b[i+1] = ' ', ' '
			i++
			continue
		case depth > 0 && two("*)"):
			depth--
			b[i], b[i+1] = ' ', ' '
			i++
			continue
		case depth == 0 && two("//"):
			for i < len(b) && b[i] != '\n' {
				b[i] = ' '
				i++
			}
			continue
		}
		if depth > 0 && b[i] != '\n' {
			b[i] = ' '
		}
	}
	if depth > 0 {
		r.fail(open, "a comment that does not end")
	}
	return string(b)
}

var headWord = regexp.MustCompile(`^\s*(\S+)[ \t]*([^\n"{]*)`)

// head reads the name, and returns where the initial state begins.
func (r *reader) head() int {
	m := headWord.FindStringSubmatchIndex(r.src)
	if m == nil {
		r.fail(0, "an empty file: a litmus test begins with PTX and its name")
	}
	switch word := r.src[m[2]:m[3]]; strings.ToUpper(word) {
	case "PTX", "GPU_PTX":
	default:
		r.fail(m[2], "%q: a litmus test of this kind begins with PTX and its name", brief(word))
	}
	r.t.Name = strings.TrimSpace(r.src[m[4]:m[5]])
	quoted := false
	for i := m[3]; i < len(r.src); i++ {
		switch {
		case r.src[i] == '"':
			quoted = !quoted
		case r.src[i] == '{' && !quoted:
			return i
		}
	}
	r.fail(len(r.src), "no initial state: { and }, between the name and the threads")
	return 0
}

// A section is what may follow the table of instructions.
var section = regexp.MustCompile(`(?i)^(?:(~\s*exists|not\s+exists|exists|forall|filter|locations|scopetree|final)\b|([A-Za-z]\w*)\s*:\s*(global|shared|generic)\b)`)

// table reads the threads and their code, and returns where the next section begins.
func (r *reader) table(at int) int {
	first := true
	var code [][]cell
	for {
		at = r.space(at)
		if at >= len(r.src) || section.MatchString(r.src[at:]) {
			break
		}
		end := strings.IndexByte(r.src[at:], ';')
		if end < 0 {
			if first {
				r.fail(at, "the row of threads does not end with ;")
			}
			r.fail(at, "%q: a row of instructions ends with ;, and a condition is exists, ~exists or forall", brief(firstLine(r.src[at:])))
		}
		cells := r.cells(at, at+end)
		at += end + 1
		if first {
			r.threads(cells)
			code = make([][]cell, len(cells))
			first = false
			continue
		}
		if len(cells) > len(code) {
			r.fail(cells[len(code)].at, "a row of %d columns; there are %d threads", len(cells), len(code))
		}
		for k, c := range cells {
			if c.text != "" {
				code[k] = append(code[k], c)
			}
		}
	}
	if first {
		r.fail(at, "no threads: a row such as  P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;")
	}
	r.code(code)
	return at
}

// A cell is a text and its offset.
type cell struct {
	at   int
	text string
}

func (r *reader) cells(from, to int) (list []cell) {
	for _, part := range strings.Split(r.src[from:to], "|") {
		lead := len(part) - len(strings.TrimLeft(part, " \t\r\n"))
		list = append(list, cell{from + lead, strings.TrimSpace(part)})
		from += len(part) + 1
	}
	return list
}

func (r *reader) space(at int) int {
	for at < len(r.src) && strings.IndexByte(" \t\r\n", r.src[at]) >= 0 {
		at++
	}
	return at
}

// thread is P0@cta 0,gpu 0, P0 alone, or with a cluster.
var (
	threadHead  = regexp.MustCompile(`^([PT])?(\d+)\s*(@.*)?$`)
	threadPlace = regexp.MustCompile(`^(cta|cluster|gpu)\s*(\d{1,4})$`)
)

func (r *reader) threads(cells []cell) {
	if len(cells) > maxThreads {
		r.need(cells[maxThreads].at, "%d threads; at most %d are taken", len(cells), maxThreads)
	}
	for k, c := range cells {
		m := threadHead.FindStringSubmatch(c.text)
		if m == nil || m[2] != fmt.Sprint(k) {
			r.fail(c.at, "%q: thread %d is written P%d@cta N,gpu N, or P%d", brief(c.text), k, k, k)
		}
		h := Thread{Name: fmt.Sprintf("P%d", k), CTA: k, Cluster: -1, Init: map[int]uint32{}}
		h.line, h.col = r.position(c.at)
		if r.herd = m[3] == ""; !r.herd {
			r.place(&h, c, m[3][1:])
		}
		r.t.Threads = append(r.t.Threads, h)
		for len(r.regs) <= k {
			r.regs = append(r.regs, map[string]int{})
		}
	}
	if len(r.regs) > len(cells) {
		r.fail(cells[0].at, "the initial state names thread P%d; there are %d threads", len(r.regs)-1, len(cells))
	}
	r.number()
}

func (r *reader) place(h *Thread, c cell, text string) {
	h.CTA = -1
	for _, part := range strings.Split(text, ",") {
		m := threadPlace.FindStringSubmatch(strings.TrimSpace(part))
		if m == nil {
			r.fail(c.at, "%q: the place of a thread is @cta N,gpu N, or @cta N,cluster N,gpu N", brief(c.text))
		}
		n := atoi(m[2])
		switch m[1] {
		case "cta":
			h.CTA = n
		case "cluster":
			h.Cluster = n
		case "gpu":
			h.GPU = n
		}
	}
	if h.CTA < 0 {
		r.fail(c.at, "%q: the place of a thread is @cta N,gpu N, or @cta N,cluster N,gpu N", brief(c.text))
	}
}

// number gives CTAs and clusters numbers of their own over all GPUs, in order.
func (r *reader) number() {
	ctas, clusters, gpus := map[[3]int]int{}, map[[3]int]int{}, map[int]int{}
	number := func(m map[[3]int]int, key [3]int) int {
		if _, ok := m[key]; !ok {
			m[key] = len(m)
		}
		return m[key]
	}
	for i := range r.t.Threads {
		h := &r.t.Threads[i]
		if _, ok := gpus[h.GPU]; !ok {
			gpus[h.GPU] = len(gpus)
		}
		key := [3]int{h.GPU, h.Cluster, h.CTA}
		if h.Cluster < 0 {
			h.Cluster = number(clusters, [3]int{h.GPU, -1, h.CTA}) // a CTA is a cluster of its own
		} else {
			h.Cluster = number(clusters, [3]int{h.GPU, h.Cluster, -1})
		}
		h.CTA = number(ctas, key)
		h.GPU = gpus[h.GPU]
	}
}

// brief is a text for a message: one line, and not long.
func brief(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:57], "") + "…"
	}
	return s
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(line)
}

// atoi reads a number that a pattern has held to a few digits.
func atoi(s string) int {
	n := 0
	for _, c := range s {
		n = 10*n + int(c-'0')
	}
	return n
}
