package machine

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"muster/internal/diag"
)

// The functions that the system provides: vprintf and __assertfail.

// A builtin is a function that the system provides.
type builtin func(x *ctx, ci *callInfo)

var builtins = map[string]builtin{
	"vprintf":      callPrintf,
	heapMalloc:     callMalloc,
	"__assertfail": callAssert,
}

// argument returns one lane's argument as bits.
func (x *ctx) argument(ci *callInfo, i, lane int) uint64 {
	var v [16]byte
	p := ci.args[i]
	if p.inReg {
		x.laneValue(v[:0], p, x.s, lane)
	} else {
		x.w.local.read(uint64(lane)*x.w.lsize+uint64(x.s.lbase+p.off), v[:min(p.size, 16)])
	}
	return binary.LittleEndian.Uint64(v[:])
}

func callPrintf(x *ctx, ci *callInfo) {
	if len(ci.args) < 2 {
		return
	}
	for l := range lanesOf(x.s.mask) {
		format := x.cString(x.argument(ci, 0, l), l)
		x.m.out = append(x.m.out, x.format(format, x.argument(ci, 1, l), l)...)
		if len(x.m.out) > maxOutput {
			x.m.out = x.m.out[:maxOutput]
		}
	}
	if len(ci.rets) > 0 {
		var s [4]byte
		for l := range lanesOf(x.s.mask) {
			r := ci.rets[0]
			if r.inReg {
				x.w.setLane(r.reg, r.typ, x.s, l, s[:])
			} else {
				x.w.local.put(uint64(l)*x.w.lsize+uint64(x.s.lbase+r.off), s[:min(r.size, 4)], x.m.owner)
			}
		}
	}
}

const (
	maxOutput = 1 << 20
	maxString = 1 << 12
)

// cString reads a zero-terminated string at a generic address as one lane
// sees it.
func (x *ctx) cString(addr uint64, lane int) string {
	var b []byte
	for len(b) < maxString {
		v := x.readByte(addr+uint64(len(b)), lane)
		if v == 0 {
			break
		}
		b = append(b, v)
	}
	return string(b)
}

// A printer renders printf's arguments, which stand in a packed buffer, each
// aligned to its size.
type printer struct {
	x    *ctx
	args uint64
	lane int
	out  []byte
}

func (p *printer) next(size uint64) uint64 {
	p.args = alignUp(p.args, size)
	var v uint64
	for i := range size {
		v |= uint64(p.x.readByte(p.args+i, p.lane)) << (8 * i)
	}
	p.args += size
	return v
}

// format renders a format of C's printf with the arguments at args.
func (x *ctx) format(f string, args uint64, lane int) []byte {
	p := &printer{x: x, args: args, lane: lane}
	for i := 0; i < len(f); i++ {
		if f[i] != '%' || i+1 == len(f) {
			p.out = append(p.out, f[i])
			continue
		}
		j := i + 1
		for j < len(f) && !isVerb(f[j]) {
			j++
		}
		if j == len(f) {
			return append(p.out, f[i:]...)
		}
		p.verb(f[i+1:j], f[j])
		i = j
	}
	return p.out
}

// verb renders one conversion: flags, width, precision and length are in mods.
func (p *printer) verb(mods string, verb byte) {
	spec, size := "%", uint64(4)
	for _, c := range []byte(mods) {
		switch c {
		case 'l', 'z', 'j', 't', 'q':
			size = 8
		case 'h':
		case '*':
			spec += fmt.Sprint(int32(p.next(4)))
		default:
			spec += string(c)
		}
	}
	switch verb {
	case '%':
		p.out = append(p.out, '%')
	case 'd', 'i':
		n := int64(p.next(size))
		if size == 4 {
			n = int64(int32(n))
		}
		p.out = fmt.Appendf(p.out, spec+"d", n)
	case 'u':
		p.out = fmt.Appendf(p.out, spec+"d", p.next(size))
	case 'x', 'X', 'o':
		p.out = fmt.Appendf(p.out, spec+string(verb), p.next(size))
	case 'c':
		p.out = fmt.Appendf(p.out, spec+"s", string([]byte{byte(p.next(4))}))
	case 'p':
		p.out = fmt.Appendf(p.out, "%#x", p.next(8))
	case 's':
		p.out = fmt.Appendf(p.out, spec+"s", p.x.cString(p.next(8), p.lane))
	default:
		p.float(spec, verb, math.Float64frombits(p.next(8)))
	}
}

// float renders a floating-point conversion, where Go's verbs differ from C's.
func (p *printer) float(spec string, verb byte, v float64) {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		text := strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "+"))
		if verb >= 'A' && verb <= 'Z' {
			text = strings.ToUpper(text)
		}
		width, _, _ := strings.Cut(spec[1:], ".")
		p.out = fmt.Appendf(p.out, "%"+strings.TrimLeft(width, "0")+"s", text)
		return
	}
	switch verb {
	case 'g', 'G':
		if !strings.Contains(spec, ".") {
			spec += ".6"
		}
	case 'a':
		verb = 'x'
	case 'A':
		verb = 'X'
	}
	p.out = fmt.Appendf(p.out, spec+string(verb), v)
}

func isVerb(c byte) bool { return strings.IndexByte("diuxXocpsfFeEgGaA%", c) >= 0 }

// readByte reads a byte at a generic address as one lane sees it.
func (x *ctx) readByte(addr uint64, lane int) byte {
	if a := addr - localWindow; a < windowSize {
		if a >= x.w.lsize {
			return 0
		}
		b, off := [1]byte{}, uint64(lane)*x.w.lsize+a
		x.w.local.read(off, b[:])
		if u := x.m.undefined(); u != nil {
			u.decides(x.w.local.shaded(off, u.missing(Local, x.s.pc)).from, "an output", x.s.pc)
		}
		if !x.w.local.initialized(off, 1) {
			x.readUnwrittenLocal(lane, off, 1)
			if p := x.m.cfg.Poison; p.at(x.s.pc) {
				p.fill(&x.w.local, off, b[:])
			}
		}
		return b[0]
	}
	mem, a, ok := x.resolve(spGeneric, addr)
	if !ok {
		return 0
	}
	v, _ := x.m.Peek(mem, a, 1)
	return byte(v)
}

// callAssert is __assertfail(message, file, line, function, charsize).
func callAssert(x *ctx, ci *callInfo) {
	if len(ci.args) < 4 {
		return
	}
	l := lowest(x.s.mask)
	msg := fmt.Sprintf("%s:%d: %s: assertion `%s' failed", x.cString(x.argument(ci, 1, l), l), uint32(x.argument(ci, 2, l)),
		x.cString(x.argument(ci, 3, l), l), x.cString(x.argument(ci, 0, l), l))
	x.m.halt(Stop{Kind: FaultAssert, CTA: x.w.cta, Warp: x.w.index, Lane: int8(l), Mask: x.s.mask, PC: x.s.pc, Mem: Local, Msg: diag.Printable(msg)})
}
