package campaign

import (
	"fmt"

	"muster/ptx"
)

// masks are sets of lanes, whole and partial.
var masks = []uint32{0xffffffff, 0x0000ffff, 0xff000000, 0x00000001, 0x80000001, 0x55555555, 0xdeadbeef, 0x00f00ff0}

// among runs the body in the lanes of a mask alone.
func (p *program) among(mask uint32, body func()) {
	if mask == 0xffffffff {
		body()
		return
	}
	in, b := p.reg("pred"), p.reg("b32")
	p.emit("mov.u32 %s, %%lanemask_eq;", b)
	p.emit("and.b32 %s, %s, %#x;", b, b, mask)
	p.emit("setp.eq.u32 %s, %s, 0;", in, b)
	p.emit("@%s bra OUT;", in)
	body()
	p.body = append(p.body, "OUT:")
}

// zeroed is a result that is zero unless the instruction writes it.
func (p *program) zeroed(typ string) string {
	if typ == "pred" {
		r := p.result("pred")
		p.load = append(p.load, fmt.Sprintf("setp.ne.u32 %s, 0, 0;", r))
		return r
	}
	r := p.result(typ)
	p.load = append(p.load, fmt.Sprintf("mov.b%d %s, 0;", bitsOf(typ), r))
	return r
}

// collectives makes the cases of vote, match, redux and elect: operands with
// few values, so that lanes agree at times.
func collectives(f *ptx.Form) (list []Case) {
	for _, ch := range product(f) {
		for _, mask := range masks {
			for _, few := range []bool{true, false} {
				p := newProgram(f.Name)
				var ops string
				p.among(mask, func() {
					for i := range f.Operands {
						a := &f.Operands[i]
						typ := typeOf(f, ch, a)
						var x string
						switch {
						case a.Name == "mask":
							x = fmt.Sprintf("%#x", mask)
						case a.Role == ptx.Write:
							x = p.zeroed(typ)
						case few && typ == "pred":
							x = p.in(truth, "pred")
						case few:
							x = p.in("few", typ)
						default:
							x = p.in("uniform", "b32")
							x = p.fromUniform(x, typ)
						}
						if a.Pred != nil {
							x += "|" + p.zeroed("pred")
						}
						if ops += ", " + x; i == 0 {
							ops = x
						}
					}
					p.emit("%s%s %s;", f.Op, ch.mods(), ops)
				})
				list = append(list, p.finish(fmt.Sprintf("%s%s, mask %#x, few values %v", f.Op, ch.mods(), mask, few)))
				if f.Op == "elect" {
					break
				}
			}
		}
	}
	return list
}

// fromUniform makes an operand of a value that a warp mostly agrees on.
func (p *program) fromUniform(x, typ string) string {
	switch typ {
	case "pred":
		r := p.reg("pred")
		p.emit("setp.lt.u32 %s, %s, 2;", r, x)
		return r
	case "b64":
		r := p.reg("b64")
		p.emit("mov.b64 %s, {%s, %s};", r, x, x)
		return r
	}
	return x
}

// shuffles makes the cases of shfl.sync: any lane and any clamp among all
// lanes, and segments inside a partial mask.
func shuffles(f *ptx.Form) (list []Case) {
	parts := []struct {
		mask  uint32
		width int
	}{{0xffffffff, 32}, {0xffffffff, 16}, {0xffffffff, 8}, {0xffffffff, 4}, {0xffffffff, 2}, {0xffffffff, 1}, {0x0000ffff, 16}, {0xffff0000, 8}, {0xff, 8}, {0xf0f0f0f0, 4}, {0xcccccccc, 2}, {0x10000000, 1}}
	for _, ch := range product(f) {
		for i, part := range parts {
			p := newProgram(f.Name)
			clamp := 31
			if ch.get(f, "mode") == "up" {
				clamp = 0
			}
			c := fmt.Sprint((32-part.width)<<8 | clamp)
			if i == 0 { // every clamp and segment
				c = p.in("segment", "b32")
			}
			p.among(part.mask, func() {
				d := p.zeroed("b32")
				if i%3 != 2 {
					d += "|" + p.zeroed("pred")
				}
				b := p.in("lane", "b32")
				switch {
				case part.mask != 0xffffffff && ch.get(f, "mode") == "bfly":
					// Or it would leave its segment downwards, for a lane that is not here.
					p.emit("and.b32 %s, %s, %d;", b, b, part.width-1)
				case i%4 == 3:
					b = fmt.Sprint(i)
				}
				p.emit("%s%s %s, %s, %s, %s, %#x;", f.Op, ch.mods(), d, p.in("b32", "b32"), b, c, part.mask)
			})
			list = append(list, p.finish(fmt.Sprintf("%s%s, mask %#x, segments of %d, variant %d", f.Op, ch.mods(), part.mask, part.width, i)))
		}
	}
	return list
}

// activemasks: all lanes, and those that have not exited.
func activemasks(f *ptx.Form) (list []Case) {
	p := newProgram(f.Name)
	p.emit("activemask.b32 %s;", p.result("b32"))
	list = append(list, p.finish("activemask.b32"))
	p = newProgram(f.Name)
	p.among(0xffffffff, func() {
		q, b := p.reg("pred"), p.reg("b32")
		p.emit("mov.u32 %s, %%laneid;", b)
		p.emit("setp.gt.u32 %s, %s, 11;", q, b)
		p.emit("@%s exit;", q)
		p.emit("activemask.b32 %s;", p.result("b32"))
	})
	return append(list, p.finish("activemask.b32 after exits"))
}

// laneKinds are operands of what lanes do together.
var laneKinds = map[kind]func(s *source, thread int) uint64{
	"few": func(s *source, _ int) uint64 { return uint64(s.n(3)) * 0x4000000040000001 },
	"uniform": func(s *source, thread int) uint64 { // mostly the same for a warp
		if s.n(64) == 0 {
			return 5
		}
		return uint64(thread/32*7%4) * 0x40000001
	},
	"lane": func(s *source, _ int) uint64 {
		if s.n(12) == 0 {
			return s.next() >> 32
		}
		return uint64(s.n(34))
	},
	"segment": func(s *source, _ int) uint64 { return s.next() & 0x1f1f },
}
