package machine

import "muster/ptx"

// The 64 bits of an arrival's token do not identify its mbarrier, and recur two phases
// later. So the machine tracks the registers that may hold tokens: beside the bits it
// keeps the arrival that returned them, and its barrier. Moves and selections propagate
// this; any other write, also a load, clears it. Programs without tokens pay nothing.

// A Token is what is known of the token in a register: the arrival that returned it.
// The zero value: nothing is known.
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
	asks := func(u *use) bool {
		return u.does(ptx.CountsPending) || u.does(ptx.Tests) && !has(u.in, "parity")
	}
	isArrive := func(u *use) bool {
		mi, ok := p.code[u.pc].x.(*mbarInfo)
		return ok && mi.token
	}
	asked, regs := false, regSet{}
	for again := true; again; {
		again = false
		for i := range p.uses {
			u := &p.uses[i]
			asked = asked || asks(u)
			if !isArrive(u) && !(carriesToken(u) && anyOf(regs, u.reads)) {
				continue
			}
			for _, r := range u.writes {
				if wide(r) && !regs.has(r) {
					regs.add(r)
					again = true
				}
			}
		}
	}
	if !asked {
		return
	}
	p.tokens = true
	for i := range p.uses {
		u := &p.uses[i]
		in := &p.code[u.pc]
		if has(u.in, "noComplete") {
			p.noComplete = true
		}
		if !anyOf(regs, u.writes) {
			continue
		}
		t := &tokenMove{arrive: isArrive(u)}
		for _, r := range u.writes {
			if wide(r) && regs.has(r) {
				t.to = append(t.to, reg(uint32(r)))
			}
		}
		if carriesToken(u) {
			for _, r := range u.reads {
				if wide(r) && regs.has(r) {
					t.from = append(t.from, reg(uint32(r)))
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
func wide(r regID) bool { return r>>32&3 == 1 }

func anyOf(s regSet, regs []regID) bool {
	for _, r := range regs {
		if s.has(r) {
			return true
		}
	}
	return false
}

// carriesToken reports whether an instruction copies one of its operands.
func carriesToken(u *use) bool { return u.does(ptx.Moves | ptx.Selects) }

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

// visitTokens performs a visible instruction that writes such a register, and clears what
// is known of it.
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
