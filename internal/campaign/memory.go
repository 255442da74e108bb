package campaign

import (
	"fmt"
	"strconv"
	"strings"

	"muster/ptx"
)

const scratch = 16 // bytes a thread in the spaces that loads and stores are tried on

// constants is an initialized array of 64 slots.
var constants = func() string {
	s := newSource("constants")
	var list []string
	for range 64 * scratch {
		list = append(list, strconv.Itoa(int(s.next()>>56)))
	}
	return ".const .align 16 .b8 constants[" + strconv.Itoa(64*scratch) + "] = {" + strings.Join(list, ", ") + "};\n"
}()

// A place is this thread's 16 bytes of a state space.
type place struct {
	p     *program
	space string
	base  string // a register that holds its address, or blob
	back  string // the space to read it through afterwards
}

// openPlace puts bytes into the place, from an input, so that loads find them. A
// generic address points to global memory in even variants, to shared memory
// in odd ones.
func (p *program) openPlace(space string, variant int) *place {
	pl := &place{p: p, space: space}
	switch {
	case space == "nc": // memory that the launch does not write
		a := p.reg("u64")
		var off int
		p.c.In, off = addArray(p.c.In, "b128", scratch)
		p.emit("add.u64 %s, %s, %d;", a, p.address(scratch, false), off)
		pl.base, pl.back = a, "global"
	case space == "const":
		p.module = constants
		a, i := p.reg("u64"), p.reg("u64")
		p.emit("and.b64 %s, %%wide, 63;", i)
		p.emit("shl.b64 %s, %s, 4;", i, i)
		p.emit("mov.u64 %s, constants;", a)
		p.emit("add.u64 %s, %s, %s;", a, a, i)
		pl.base, pl.back = a, "const"
	case space == "param" || space == "param::entry":
		p.c.Blob = true
		pl.base, pl.back = "blob", "param"
	case space == "global" || space == "" && variant%2 == 0:
		pl.openGlobal()
	case space == "local":
		p.emit(".local .align 16 .b8 mine[16];")
		a := p.reg("u64")
		p.emit("mov.u64 %s, mine;", a)
		pl.fill(a, "local")
		pl.base, pl.back = a, "local"
	default: // shared
		p.emit(".shared .align 16 .b8 tile[%d];", Block*scratch)
		a, t := p.reg("u64"), p.reg("u64")
		p.emit("cvt.u64.u32 %s, %%tx;", t)
		p.emit("mov.u64 %s, tile;", a)
		p.emit("mad.lo.u64 %s, %s, 16, %s;", a, t, a)
		pl.fill(a, "shared")
		pl.base, pl.back = a, "shared"
		if space == "" {
			g := p.reg("u64")
			p.emit("cvta.shared.u64 %s, %s;", g, a)
			pl.base, pl.back = g, ""
		}
	}
	return pl
}

// openGlobal uses a result slot: it is filled before and kept after.
func (pl *place) openGlobal() {
	p := pl.p
	a := p.reg("u64")
	slot := p.slot(scratch)
	reg, off, _ := strings.Cut(strings.Trim(slot, "[]"), "+")
	p.emit("add.u64 %s, %s, %s;", a, reg, off)
	pl.fill(a, "global")
	pl.base, pl.back = a, "global"
}

func (pl *place) fill(a, space string) {
	p := pl.p
	x, y := p.in("b64", "b64"), p.in("b64", "b64")
	p.emit("st.%s.v2.b64 [%s], {%s, %s};", space, a, x, y)
}

// keep stores the place's bytes as a result, unless they are one already.
func (pl *place) keep() {
	if pl.back == "global" {
		return
	}
	p := pl.p
	x, y := p.reg("b64"), p.reg("b64")
	p.emit("ld%s.v2.b64 {%s, %s}, [%s];", dotted(pl.back), x, y, pl.base)
	p.out(x, "b64")
	p.out(y, "b64")
}

func dotted(space string) string {
	if space == "" {
		return ""
	}
	return "." + space
}

// address writes the place's address with an offset that cancels out.
func (pl *place) address(variant int) string {
	if pl.base == "blob" {
		return fmt.Sprintf("[blob+%d]", 16*(variant%4))
	}
	if off := []int{0, 16, -32, 4096}[variant%4]; off != 0 {
		a := pl.p.reg("u64")
		pl.p.emit("sub.s64 %s, %s, %d;", a, pl.base, off)
		return fmt.Sprintf("[%s+%d]", a, off)
	}
	return "[" + pl.base + "]"
}

// vecLen is the number of elements that a vector modifier says.
func vecLen(v string) int {
	if v == "" {
		return 1
	}
	n, _ := strconv.Atoi(v[1:])
	return n
}

// plausible tells which choices of a load, store or atomic the ISA allows on
// sm_90; the assembler has the last word.
func plausible(f *ptx.Form) func(choice) bool {
	return func(ch choice) bool {
		space := ch.get(f, "space")
		n := vecLen(ch.get(f, "vec"))
		size := n * bytesOf(ch.get(f, "type"))
		if n > 4 && f.Class == "memory" || size > 16 {
			return false
		}
		if space == "param::func" || space == "param" && f.Op == "st" || ch.get(f, "l2") != "" {
			return false
		}
		global := space == "" || space == "global"
		if (ch.get(f, "hint") != "" || ch.get(f, "prefetch") != "") && !global {
			return false
		}
		if ch.get(f, "l1") != "" && !global {
			return false
		}
		if strings.HasPrefix(space, "param") && ch.get(f, "cop") != "" {
			return false
		}
		return true
	}
}

// policy gives the operand that a cache hint needs.
func (p *program) policy() string {
	r := p.reg("b64")
	p.emit("createpolicy.fractional.L2::evict_last.b64 %s, 1.0;", r)
	return r
}

func isWide(typ string) bool { return typ[0] == 'u' || typ[0] == 's' || typ[0] == 'b' }

// holder picks a register type to load into or store from: the type's own or,
// for integers, a wider one.
func holder(typ string, s *source) string {
	if !isWide(typ) || typ == "b128" {
		return typ
	}
	var list []string
	for _, w := range []string{"b16", "b32", "b64"} {
		if bitsOf(w) >= bitsOf(typ) {
			list = append(list, w)
		}
	}
	return list[s.n(len(list))]
}

func braced(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// loads makes the cases of a load row, stores of a store row.
func loads(f *ptx.Form) []Case  { return accesses(f, true) }
func stores(f *ptx.Form) []Case { return accesses(f, false) }

func accesses(f *ptx.Form, load bool) (list []Case) {
	for n, ch := range covering(f, []string{"space", "vec", "type", "sem"}, plausible(f)) {
		s := newSource(f.Name + ch.mods())
		p := newProgram(f.Name)
		space, typ := ch.get(f, "space"), ch.get(f, "type")
		where := space
		if f.Proxy == "nc" {
			where = "nc"
		}
		pl := p.openPlace(where, n)
		var vec []string
		reg := holder(typ, s)
		for i := range vecLen(ch.get(f, "vec")) {
			switch {
			case load && i == 1 && n%5 == 0:
				vec = append(vec, "_")
			case load:
				vec = append(vec, p.result(reg))
			default:
				vec = append(vec, p.in(kind(reg), reg))
			}
		}
		ops := []string{braced(vec), pl.address(n)}
		if !load {
			ops[0], ops[1] = ops[1], ops[0]
		}
		if ch.get(f, "hint") != "" {
			ops = append(ops, p.policy())
		}
		p.emit("%s%s %s;", f.Op, ch.mods(), strings.Join(ops, ", "))
		if !load {
			pl.keep()
		}
		text := f.Op + ch.mods() + " " + reg
		if space == "" {
			text += " at " + pl.back
		}
		list = append(list, p.finish(text))
	}
	return list
}

// atomics makes the cases of an atom or red row: each thread has a place of its
// own, so the result is determined.
func atomics(f *ptx.Form) (list []Case) {
	for n, ch := range covering(f, []string{"op", "type", "space", "vec"}, plausible(f)) {
		for _, variant := range []int{0, 1} {
			if variant == 1 && (ch.get(f, "space") != "" || ch.get(f, "vec") != "" || ch.get(f, "hint") != "") {
				continue
			}
			p := newProgram(f.Name)
			text := f.Op + ch.mods()
			pl := p.openAtomic(f, ch, variant)
			var ops []string
			for i := range f.Operands {
				a := &f.Operands[i]
				switch {
				case a.Class == "mem":
					ops = append(ops, pl.address(n))
				case a.When == "hint":
					if ch.get(f, "hint") != "" {
						ops = append(ops, p.policy())
					}
				case a.Role == ptx.Write:
					ops = append(ops, p.vector(f, ch, p.result))
				case a.Name == "b" && f.Operands[len(f.Operands)-1].Name != "b" && ch.get(f, "op") == "cas":
					ops = append(ops, p.expected(ch.get(f, "type"), pl))
				default:
					typ := ch.get(f, "type")
					ops = append(ops, p.vector(f, ch, func(string) string { return p.in(kind(typ), typ) }))
				}
			}
			p.emit("%s %s;", text, strings.Join(ops, ", "))
			pl.keep()
			if ch.get(f, "space") == "" {
				text += " at " + pl.back
				if pl.back == "" {
					text += "shared"
				}
			}
			list = append(list, p.finish(text))
		}
	}
	return list
}

func (p *program) vector(f *ptx.Form, ch choice, reg func(string) string) string {
	var vec []string
	for range vecLen(ch.get(f, "vec")) {
		vec = append(vec, reg(ch.get(f, "type")))
	}
	return braced(vec)
}

// openAtomic is openPlace with values of the type in it.
func (p *program) openAtomic(f *ptx.Form, ch choice, variant int) *place {
	pl := p.openPlace(ch.get(f, "space"), variant)
	typ := ch.get(f, "type")
	size := bitsOf(typ) / 8
	if size == 16 {
		return pl
	}
	st := "st" + dotted(pl.back)
	for i := range vecLen(ch.get(f, "vec")) {
		p.emit("%s.b%d [%s+%d], %s;", st, 8*size, pl.base, i*size, p.in(kind(typ), typ))
	}
	return pl
}

// expected is the comparand of a cas: what is there in half of the threads.
func (p *program) expected(typ string, pl *place) string {
	is, other := p.reg(typ), p.in(kind(typ), typ)
	same := p.in(truth, "pred")
	p.emit("ld%s.%s %s, [%s];", dotted(pl.back), typ, is, pl.base)
	r := p.reg(typ)
	p.emit("mov.%s %s, %s;", typ, r, other)
	p.emit("@%s mov.%s %s, %s;", same, typ, r, is)
	return r
}
