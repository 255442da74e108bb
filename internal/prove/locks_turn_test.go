package prove_test

import "fmt"

// turnSection is a section that CTAs come to in a fixed order: the word of lock A holds whose turn it
// is. It is the round-th of ctas CTAs, which wait as a whole.
func (d *lockDrawing) turnSection(ctas, round int) {
	d.label++
	l := d.label
	d.add("add.u32 %%r20, %%r3, %d;", round*ctas)
	if d.rarely() {
		d.add("%s", pick(d, "and.b32 %r20, %r20, 1;", "add.u32 %r20, %r20, 1;", "max.u32 %r20, %r20, 1;", "shr.u32 %r20, %r20, 1;"))
	}
	relaxed := d.IntN(3) == 0
	look := func() {
		sem := "acquire." + d.scope()
		if relaxed {
			sem = pick(d, "relaxed.gpu", "volatile")
		}
		if d.rarely() {
			sem = "relaxed.gpu"
		}
		d.add("ld.%s.global.u32 %%r21, [%%rd1+%d];", sem, lockA)
	}
	compare := "ne"
	if d.rarely() {
		compare = pick(d, "lt", "gt", "eq")
	} else if d.IntN(5) == 0 {
		compare = "lt"
	}
	outside := func() { // what is loaded, or done, before the turn has come
		switch {
		case d.rarely():
			d.op(true)
		case d.IntN(3) == 0:
			d.add("ld.global.u32 %%r22, [%%rd2+%d];", lockPrivate)
			d.add("add.u32 %%r9, %%r22, 1;")
		}
	}
	switch d.IntN(4) {
	case 0: // CUTLASS's Semaphore
		d.add("mov.u32 %%r21, -1;")
		d.add("@%%p1 bra W%d;", l)
		look()
		d.add("bra W%d;", l)
		fmt.Fprintf(&d.b, "L%d:\n", l)
		look()
		fmt.Fprintf(&d.b, "W%d:\n", l)
		if d.IntN(2) == 0 {
			outside()
		}
		d.add("setp.%s.u32 %%p3, %%r21, %%r20;", compare)
		op := "and"
		if d.rarely() {
			op = "or"
		}
		if compare == "lt" { // -1 is not less
			d.add("or.pred %%p3, %%p3, %%p1;")
		}
		d.add("bar.red.%s.pred %%p4, 0, %%p3;", op)
		d.add("@!%%p4 bra M%d;", l)
		d.add("@%%p1 bra W%d;", l)
		d.add("bra L%d;", l)
	case 1: // all hear of it by shared memory, as in Triton
		outside()
		fmt.Fprintf(&d.b, "L%d:\n", l)
		d.add("@%%p1 bra W%d;", l)
		look()
		d.add("st.shared.u32 [am+4], %%r21;")
		fmt.Fprintf(&d.b, "W%d:\n", l)
		d.add("bar.sync 0;")
		d.add("ld.shared.u32 %%r21, [am+4];")
		if !d.rarely() {
			d.add("bar.sync 0;")
		}
		d.add("setp.%s.u32 %%p3, %%r21, %%r20;", compare)
		d.add("@%%p3 bra L%d;", l)
	case 2: // one look, and then others
		d.add("@%%p1 bra M%d;", l)
		look()
		outside()
		d.add("setp.%s.u32 %%p3, %%r21, %%r20;", compare)
		d.add("@!%%p3 bra M%d;", l)
		fmt.Fprintf(&d.b, "L%d:\n", l)
		look()
		if d.rarely() {
			d.add("mov.u32 %%r9, %%r21;")
		}
		d.add("setp.%s.u32 %%p3, %%r21, %%r20;", compare)
		d.add("@%%p3 bra L%d;", l)
	default: // by shared memory, by one thread
		d.add("@%%p1 bra M%d;", l)
		d.add("st.shared.u32 [am+4], %%r20;")
		fmt.Fprintf(&d.b, "L%d:\n", l)
		look()
		d.add("ld.shared.u32 %%r23, [am+4];")
		d.add("setp.%s.u32 %%p3, %%r21, %%r23;", compare)
		d.add("@%%p3 bra L%d;", l)
	}
	fmt.Fprintf(&d.b, "M%d:\n", l)
	if relaxed && d.IntN(2) == 0 {
		d.fence()
		relaxed = false
	}
	d.add("bar.sync 0;")
	if relaxed || d.IntN(4) == 0 {
		d.fence()
	}
	for range 1 + d.IntN(2) {
		d.op(true)
	}
	sem := pick(d, "release", "release", "relaxed", "volatile")
	if sem != "release" || d.IntN(4) == 0 {
		d.fence()
	}
	if !d.rarely() {
		d.add("bar.sync 0;")
	}
	if d.rarely() {
		d.op(true)
	}
	d.add("@%%p1 bra V%d;", l)
	d.nextTurn(ctas, sem)
	fmt.Fprintf(&d.b, "V%d:\n", l)
}

// nextTurn has the word hold the next one's turn.
func (d *lockDrawing) nextTurn(ctas int, sem string) {
	by := 1
	if d.rarely() {
		by = pick(d, 0, 2)
	}
	d.add("add.u32 %%r24, %%r20, %d;", by)
	if d.IntN(4) == 0 { // the last one sets it back
		d.add("setp.eq.u32 %%p6, %%r24, %d;", ctas)
		d.add("selp.b32 %%r24, 0, %%r24, %%p6;")
	}
	scope := "." + d.scope()
	switch {
	case d.rarely():
	case d.rarely():
		d.add("st.global.u32 [%%rd1+%d], %%r24;", lockA)
	case sem == "volatile":
		d.add("st.volatile.global.u32 [%%rd1+%d], %%r24;", lockA)
	case d.IntN(4) == 0:
		d.add("red.%s%s.global.add.u32 [%%rd1+%d], %d;", sem, scope, lockA, by)
	case d.IntN(4) == 0:
		d.add("atom.%s%s.global.exch.b32 %%r7, [%%rd1+%d], %%r24;", sem, scope, lockA)
	default:
		d.add("st.%s%s.global.u32 [%%rd1+%d], %%r24;", sem, scope, lockA)
	}
}
