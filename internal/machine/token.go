package machine

import (
	"muster/internal/flow"
	"muster/ptx"
)

// The 64 bits of an arrival's token do not identify its mbarrier, and recur two phases
// later. So the machine tracks the registers that may hold tokens: beside the bits it
// keeps the arrival that returned them, and its barrier. Moves and selections propagate
// this; any other write, also a load, clears it. Programs without tokens pay nothing.

// A Token identifies the token in a register: the arrival that returned it. The zero
// value: unknown.
type Token struct {
	Bar        BarRef
	Phase      int64
	PC         int32
	NoComplete bool
	Known      bool
}

// A tokenMove is what an instruction does to registers that may hold tokens.
type tokenMove struct {
	exec   execFn  // of a plain instruction
	visit  visitFn // of a visible one
	from   []reg   // what it may copy; empty for an arrival
	to     []reg
	arrive bool
}

// A tokenRow is what is known of one register of a warp.
type tokenRow struct {
	row  int32
	lane [32]Token
}

// tokens returns what is known of a register.
func (w *warp) tokens(row int32) *tokenRow {
	for _, r := range w.tokenRows {
		if r.row == row {
			return r
		}
	}
	return nil
}

// tokenOf returns what is known of the token that a lane has in a register.
func (x *ctx) tokenOf(r reg, lane int) Token {
	if r < 0 || len(x.w.tokenRows) == 0 {
		return Token{}
	}
	if t := x.w.tokens(x.s.base64 + int32(r)); t != nil {
		return t.lane[lane]
	}
	return Token{}
}

func (x *ctx) setToken(r reg, lane int, t Token) {
	row := x.s.base64 + int32(r)
	at := x.w.tokens(row)
	switch {
	case at != nil:
	case !t.Known:
		return
	default:
		at = &tokenRow{row: row}
		x.w.tokenRows = append(x.w.tokenRows, at)
	}
	at.lane[lane] = t
}

// followTokens finds the registers that may hold tokens, and instruments the instructions
// that write them.
func (d *decoder) followTokens() {
	p := d.prog
	asks := func(u *flow.Use) bool {
		return u.Does(ptx.CountsPending) || u.Does(ptx.Tests) && !has(u.In, "parity")
	}
	isArrive := func(u *flow.Use) bool {
		mi, ok := p.code[u.PC].x.(*mbarInfo)
		return ok && mi.token
	}
	asked, regs := false, flow.RegSet{}
	for again := true; again; {
		again = false
		for u := range p.flow.Uses() {
			asked = asked || asks(u)
			if !isArrive(u) && !(carriesToken(u) && regs.HasAny(u.Reads)) {
				continue
			}
			for _, r := range u.Writes {
				if wide(r) && !regs.Has(r) {
					regs.Add(r)
					again = true
				}
			}
		}
	}
	if !asked {
		return
	}
	p.tokens = true
	for u := range p.flow.Uses() {
		in := &p.code[u.PC]
		if has(u.In, "noComplete") {
			p.noComplete = true
		}
		if !regs.HasAny(u.Writes) {
			continue
		}
		t := &tokenMove{arrive: isArrive(u)}
		for _, r := range u.Writes {
			if wide(r) && regs.Has(r) {
				t.to = append(t.to, reg(r.Row()))
			}
		}
		if carriesToken(u) {
			for _, r := range u.Reads {
				if wide(r) && regs.Has(r) {
					t.from = append(t.from, reg(r.Row()))
				}
			}
		}
		in.tokens = t
		switch {
		case t.arrive: // visitMbar records it
		case in.class == visible:
			t.visit, in.visit = in.visit, visitTokens
		case in.class == plain:
			t.exec, in.exec = in.exec, execTokens
		default:
			p.tokens = false // a call returns one in a register
			return
		}
	}
}

// wide reports whether a register is one of 64 bits.
func wide(r flow.Reg) bool { return r.Class() == flow.Wide }

// carriesToken reports whether an instruction copies one of its operands.
func carriesToken(u *flow.Use) bool { return u.Does(ptx.Moves | ptx.Selects) }

// execTokens executes a plain instruction that writes a register which may hold a
// token, and propagates what is known of the operand that it copies.
func execTokens(x *ctx, in *instr, mask uint32) {
	t := in.tokens
	var kept [32]Token
	selects := in.src.Effect().Has(ptx.Selects)
	for l := range lanesOf(mask) {
		switch {
		case selects && x.p[in.c]>>l&1 != 0:
			kept[l] = x.tokenOf(in.a, l)
		case selects:
			kept[l] = x.tokenOf(in.b, l)
		case len(t.from) == 1:
			kept[l] = x.tokenOf(t.from[0], l)
		}
	}
	t.exec(x, in, mask)
	for _, r := range t.to {
		for l := range lanesOf(mask) {
			x.setToken(r, l, kept[l])
		}
	}
}

// visitTokens performs a visible instruction that writes a register which may hold a
// token, and clears what is known of it.
func visitTokens(x *ctx, in *instr, mask uint32) verdict {
	v := in.tokens.visit(x, in, mask)
	if v == performed {
		for _, r := range in.tokens.to {
			for l := range lanesOf(mask) {
				x.setToken(r, l, Token{})
			}
		}
	}
	return v
}
