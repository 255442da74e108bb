package campaign

import (
	"fmt"
	"strings"

	"muster/ptx"
)

// share stores a value of this thread in shared memory; neighbour reads
// that of the thread delta further on, in the same block.
func (p *program) share() (tile string) {
	p.emit(".shared .align 16 .b32 tile[%d];", Block)
	a, t := p.reg("u64"), p.reg("u64")
	p.emit("mov.u64 %s, tile;", a)
	p.emit("mul.wide.u32 %s, %%tx, 4;", t)
	p.emit("add.u64 %s, %s, %s;", t, t, a)
	p.emit("st.shared.b32 [%s], %s;", t, p.in("b32", "b32"))
	return a
}

func (p *program) neighbour(tile string, delta, within int) {
	i, m, w := p.reg("u32"), p.reg("u32"), p.reg("u64")
	p.emit("add.u32 %s, %%tx, %d;", i, delta)
	p.emit("and.b32 %s, %s, %d;", i, i, within-1)
	p.emit("and.b32 %s, %%tx, %d;", m, ^(within-1)&(Block-1))
	p.emit("or.b32 %s, %s, %s;", i, i, m)
	p.emit("mul.wide.u32 %s, %s, 4;", w, i)
	p.emit("add.u64 %s, %s, %s;", w, w, tile)
	p.emit("ld.shared.b32 %s, [%s];", p.result("b32"), w)
}

// operand writes a number as a literal or through a register.
func (p *program) operand(n int, inRegister bool) string {
	if !inRegister {
		return fmt.Sprint(n)
	}
	r := p.reg("u32")
	p.emit("mov.u32 %s, %d;", r, n)
	return r
}

// barriers makes the cases of the bar and barrier rows: threads exchange values
// through shared memory, in whole blocks, in halves by their own barrier, and
// from one half to the other.
func barriers(f *ptx.Form) (list []Case) {
	for _, ch := range product(f) {
		for variant := range 6 {
			p := newProgram(f.Name)
			text := f.Op + ch.mods()
			inReg := variant%2 == 1
			switch {
			case strings.Contains(f.Name, "red"):
				p.reduceBlock(f, ch, variant)
			case strings.Contains(f.Name, "arrive"):
				if variant > 1 {
					continue
				}
				p.oneWay(text, inReg)
			default:
				p.exchange(text, variant, inReg)
			}
			list = append(list, p.finish(fmt.Sprintf("%s, variant %d", text, variant)))
		}
	}
	return list
}

func (p *program) exchange(text string, variant int, inReg bool) {
	tile := p.share()
	within := Block
	switch variant / 2 {
	case 0:
		p.emit("%s %s;", text, p.operand(3*variant, inReg))
	case 1:
		p.emit("%s %s, %s;", text, p.operand(15-variant, inReg), p.operand(Block, inReg))
	case 2: // each half by its own barrier
		within = Block / 2
		b := p.reg("u32")
		p.emit("shr.u32 %s, %%tx, 7;", b)
		p.emit("add.u32 %s, %s, 4;", b, b)
		p.emit("%s %s, %s;", text, b, p.operand(within, inReg))
	}
	p.neighbour(tile, 41, within)
}

// oneWay: the upper half of the block arrives, the lower half waits and reads
// what it wrote.
func (p *program) oneWay(text string, inReg bool) {
	tile := p.share()
	q := p.reg("pred")
	bar, n := p.operand(2, inReg), p.operand(Block, inReg)
	d := p.zeroed("b32")
	p.emit("setp.lt.u32 %s, %%tx, %d;", q, Block/2)
	p.emit("@%s bra WAIT;", q)
	p.emit("%s %s, %s;", text, bar, n)
	p.emit("bra.uni DONE;")
	p.emit("WAIT:")
	p.emit("bar.sync %s, %s;", bar, n)
	w := p.reg("u64")
	p.emit("mul.wide.u32 %s, %%tx, 4;", w)
	p.emit("add.u64 %s, %s, %s;", w, w, tile)
	p.emit("ld.shared.b32 %s, [%s+%d];", d, w, 4*Block/2)
	p.emit("DONE:")
}

func (p *program) reduceBlock(f *ptx.Form, ch choice, variant int) {
	typ := "u32"
	if ch.get(f, "op") != "popc" {
		typ = "pred"
	}
	d := p.result(typ)
	x, q := p.in("b32", "b32"), p.reg("pred")
	// Blocks differ: mostly false, all false, mostly true, all true.
	t := p.reg("u32")
	p.emit("and.b32 %s, %s, 0xff00;", t, x)
	p.emit("setp.eq.u32 %s, %s, 0;", q, t)
	for i, v := range []string{"", "setp.ne.u32 %s, 0, 0;", "not.pred %[1]s, %[1]s;", "setp.eq.u32 %s, 0, 0;"} {
		if v != "" {
			g := p.reg("pred")
			p.emit("setp.eq.u32 %s, %%cx, %d;", g, i)
			p.emit("@%s "+v, g, q)
		}
	}
	inReg := variant%2 == 1
	ops := []string{d, p.operand(variant, inReg)}
	if variant > 1 {
		ops = append(ops, p.operand(Block, inReg))
	}
	if variant > 3 {
		q = "!" + q
	}
	p.emit("%s%s %s;", f.Op, ch.mods(), strings.Join(append(ops, q), ", "))
}

func warpSync(f *ptx.Form) (list []Case) {
	for _, inReg := range []bool{false, true} {
		p := newProgram(f.Name)
		tile := p.share()
		p.emit("bar.warp.sync %s;", p.operand(-1, inReg))
		p.neighbour(tile, 5, 32)
		list = append(list, p.finish(fmt.Sprintf("bar.warp.sync, mask in a register %v", inReg)))
	}
	return list
}

// clusters makes the cases of barrier.cluster: the two CTAs of a cluster
// exchange values through distributed shared memory.
func clusters(f *ptx.Form) (list []Case) {
	for _, ch := range product(f) {
		p := newProgram(f.Name)
		p.c.Cluster, p.attrs = 2, ofTwo
		tile := p.share()
		arrive, wait := "barrier.cluster.arrive", "barrier.cluster.wait"
		if f.Name == "barrier.cluster.arrive" {
			arrive = f.Op + ch.mods()
		} else {
			wait = f.Op + ch.mods()
		}
		if ch.get(f, "sem") == "relaxed" {
			p.emit("fence.acq_rel.cluster;")
		}
		r := p.reg("u32")
		p.emit("%s;\n\t%s;", arrive, wait)
		p.emit("mov.u32 %s, %%cluster_ctarank;\n\txor.b32 %s, %s, 1;", r, r, r)
		a, w := p.reg("u64"), p.reg("u64")
		p.emit("mapa.shared::cluster.u64 %s, %s, %s;", a, tile, r)
		p.emit("mul.wide.u32 %s, %%tx, 4;\n\tadd.u64 %s, %s, %s;", w, w, w, a)
		p.emit("ld.shared::cluster.b32 %s, [%s];", p.result("b32"), w)
		p.emit("barrier.cluster.arrive;\n\tbarrier.cluster.wait;")
		list = append(list, p.finish(arrive+"; "+wait))
	}
	return list
}

// fences makes the cases of the fence rows: a fence between a store and a load
// of the same thread changes nothing.
func fences(f *ptx.Form) (list []Case) {
	for _, ch := range product(f) {
		p := newProgram(f.Name)
		slot := p.slot(4)
		p.emit("st.global.b32 %s, %s;", slot, p.in("b32", "b32"))
		if strings.Contains(f.Name, "tensormap.acquire") {
			a := p.reg("u64")
			p.emit("mov.u64 %s, %%in;", a)
			p.emit("%s%s [%s], 128;", f.Op, ch.mods(), a)
		} else {
			p.emit("%s%s;", f.Op, ch.mods())
		}
		p.emit("ld.global.b32 %s, %s;", p.result("b32"), slot)
		list = append(list, p.finish(f.Op+ch.mods()))
	}
	return list
}

// contended makes cases of red and atom on one address a block, with operations whose
// outcome no order changes.
func contended() (list []Case) {
	for _, space := range []string{"shared", "global"} {
		for _, op := range []string{"add.u32", "add.u64", "min.s32", "max.u64", "and.b32", "or.b64", "xor.b32", "inc.u32", "max.s64", "min.u32"} {
			for _, ins := range []string{"red", "atom"} {
				name, typ, _ := strings.Cut(op, ".")
				row := map[string]string{"add": "add", "min": "minmax", "max": "minmax", "and": "bits", "or": "bits", "xor": "bits", "inc": "inc"}[name]
				p := newProgram(ins + "." + row)
				a := p.reg("u64")
				if space == "shared" {
					p.emit(".shared .align 8 .b64 word;")
					p.emit("mov.u64 %s, word;", a)
				} else {
					p.module = ".global .align 8 .b64 words[4];\n"
					i := p.reg("u64")
					p.emit("mul.wide.u32 %s, %%cx, 8;\n\tmov.u64 %s, words;\n\tadd.u64 %s, %s, %s;", i, a, a, a, i)
				}
				p.emit("st.%s.b64 [%s], 77;\n\tbar.sync 0;", space, a)
				v := p.in(kind(typ), typ)
				if name == "inc" {
					v = "100"
				}
				if ins == "atom" {
					p.emit("atom.%s.%s %s, [%s], %s;", space, op, p.reg(typ), a, v)
				} else {
					p.emit("red.%s.%s [%s], %s;", space, op, a, v)
				}
				p.emit("bar.sync 0;\n\tld.%s.b64 %s, [%s];", space, p.result("b64"), a)
				list = append(list, p.finish(fmt.Sprintf("%s.%s.%s by a whole block", ins, space, op)))
			}
		}
	}
	return list
}
