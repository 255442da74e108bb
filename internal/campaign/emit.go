package campaign

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Every case runs as CTAs blocks of Block threads.
const (
	Block   = 256
	CTAs    = 4
	threads = CTAs * Block
)

// A Case is one kernel and its operands. Thread i finds operand k at
// In[k].Offset + i*In[k].Size of the buffer at param in, and leaves result k
// at Out[k].Offset + i*Out[k].Size of the one at param out.
type Case struct {
	Name    string // the kernel's name, unique
	Form    string // the row it is for
	Text    string // the instructions under test
	Module  string // what the kernel needs at module scope
	Kernel  string // the entry, as PTX
	Cluster int    // CTAs a cluster
	In, Out []Array
	Approx  *Approx // for the approximate functions
	Blob    bool    // takes a third parameter, blob
	keep    int
	fixed   []uint64           // a constant operand, after those in In
	fill    func(*Case) []byte // makes the operands, where they depend on one another
}

// An Array is one operand or result of all threads.
type Array struct {
	Kind   kind
	Size   int
	Offset int
}

// Input makes the operands of a case.
func (c *Case) Input() []byte {
	if c.fill != nil {
		return c.fill(c)
	}
	buf := make([]byte, sizeOf(c.In))
	s := newSource(c.Name)
	var prev []uint64
	for i := range threads {
		prev = prev[:0]
		for _, a := range c.In {
			at := buf[a.Offset+i*a.Size:]
			if a.Size == 16 {
				binary.LittleEndian.PutUint64(at[8:], s.value("b64", i, prev))
			}
			v := s.value(a.Kind, i, prev)
			prev = append(prev, v)
			putBits(at, a.Size, v)
		}
	}
	return buf
}

func putBits(b []byte, size int, v uint64) {
	for i := range min(size, 8) {
		b[i] = byte(v >> (8 * i))
	}
}

func getBits(b []byte, size int) (v uint64) {
	for i := range min(size, 8) {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

func sizeOf(list []Array) int {
	if len(list) == 0 {
		return 0
	}
	last := list[len(list)-1]
	return (last.Offset + threads*last.Size + 15) &^ 15
}

// OutSize is the size of the output buffer.
func (c *Case) OutSize() int { return sizeOf(c.Out) }

// A program is a kernel being written.
type program struct {
	c      Case
	regs   []string
	load   []string
	body   []string
	store  []string
	sizes  []int // the element sizes whose addresses are needed
	nreg   int
	attrs  string
	module string
}

func newProgram(form string) *program { return &program{c: Case{Form: form, Cluster: 1}} }

// reg declares a register for a type.
func (p *program) reg(typ string) string {
	p.nreg++
	name := fmt.Sprintf("%%v%d", p.nreg)
	decl := fmt.Sprintf("b%d", bitsOf(typ))
	if typ == "pred" {
		decl = "pred"
	}
	p.regs = append(p.regs, fmt.Sprintf(".reg .%s %s;", decl, name))
	return name
}

func (p *program) emit(format string, args ...any) {
	p.body = append(p.body, fmt.Sprintf(format, args...))
}

func (p *program) address(size int, output bool) string {
	key, prefix := size, "i"
	if output {
		key, prefix = -size, "o"
	}
	if !slices.Contains(p.sizes, key) {
		p.sizes = append(p.sizes, key)
	}
	return fmt.Sprintf("%%%s%d", prefix, size)
}

func addArray(list []Array, k kind, size int) ([]Array, int) {
	off := sizeOf(list)
	return append(list, Array{k, size, off}), off
}

// in gives a register that holds an operand of a kind, as a type.
func (p *program) in(k kind, typ string) string {
	if typ == "pred" {
		h := p.in(truth, "b8")
		r := p.reg("pred")
		p.load = append(p.load, fmt.Sprintf("setp.ne.u16 %s, %s, 0;", r, h))
		return r
	}
	r := p.reg(typ)
	size := bitsOf(typ) / 8
	if k == truth {
		size = 1
	}
	var off int
	p.c.In, off = addArray(p.c.In, k, size)
	p.load = append(p.load, fmt.Sprintf("ld.global.%s %s, [%s+%d];", map[int]string{1: "u8", 2: "b16", 4: "b32", 8: "b64", 16: "b128"}[size], r, p.address(size, false), off))
	return r
}

// slot reserves a result of all threads and gives this thread's address.
func (p *program) slot(size int) string {
	var off int
	p.c.Out, off = addArray(p.c.Out, "", size)
	return fmt.Sprintf("[%s+%d]", p.address(size, true), off)
}

// out stores a register at the end.
func (p *program) out(r, typ string) {
	if typ == "pred" {
		h := p.reg("b16")
		p.store = append(p.store, fmt.Sprintf("selp.b16 %s, 1, 0, %s;", h, r))
		p.store = append(p.store, fmt.Sprintf("st.global.b8 %s, %s;", p.slot(1), h))
		return
	}
	size := bitsOf(typ) / 8
	p.store = append(p.store, fmt.Sprintf("st.global.b%d %s, %s;", 8*size, p.slot(size), r))
}

// result declares a register and stores it at the end.
func (p *program) result(typ string) string {
	r := p.reg(typ)
	p.out(r, typ)
	return r
}

// finish names the case by what it tests.
func (p *program) finish(text string) Case {
	c := p.c
	c.Text = text
	c.Module = p.module
	var b strings.Builder
	b.WriteString(".visible .entry NAME(.param .u64 in, .param .u64 out")
	if c.Blob {
		b.WriteString(", .param .align 16 .b8 blob[64]")
	}
	b.WriteString(")" + p.attrs + "\n{\n")
	for _, r := range p.regs {
		b.WriteString("\t" + r + "\n")
	}
	b.WriteString("\t.reg .b32 %tx, %cx, %nx, %id;\n\t.reg .b64 %in, %out, %wide;\n")
	b.WriteString("\tld.param.u64 %in, [in];\n\tld.param.u64 %out, [out];\n")
	b.WriteString("\tmov.u32 %tx, %tid.x;\n\tmov.u32 %cx, %ctaid.x;\n\tmov.u32 %nx, %ntid.x;\n\tmad.lo.u32 %id, %cx, %nx, %tx;\n\tcvt.u64.u32 %wide, %id;\n")
	for _, s := range p.sizes {
		if s > 0 {
			fmt.Fprintf(&b, "\t.reg .b64 %%i%d;\n\tmad.lo.u64 %%i%d, %%wide, %d, %%in;\n", s, s, s)
		} else {
			fmt.Fprintf(&b, "\t.reg .b64 %%o%d;\n\tmad.lo.u64 %%o%d, %%wide, %d, %%out;\n", -s, -s, -s)
		}
	}
	for _, part := range [][]string{p.load, p.body, p.store} {
		for _, line := range part {
			b.WriteString("\t" + line + "\n")
		}
	}
	b.WriteString("\tret;\n}\n")
	c.Kernel = b.String()
	return c
}

// Header begins every module.
const Header = ".version 9.0\n.target sm_90a\n.address_size 64\n"

// Source gives a case as a module of its own.
func (c *Case) Source() string { return Header + c.Module + c.Entry() }

func (c *Case) Entry() string { return strings.Replace(c.Kernel, "NAME", c.Name, 1) }
