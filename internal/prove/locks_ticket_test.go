package prove_test

import "fmt"

// mine is the register with the number that a thread drew for a ticket lock.
func mine(lock int) string { return fmt.Sprintf("%%r%d", 20+lock/16) }

// ticket draws a number and waits for its turn, and reports whether that needs a fence.
func (d *lockDrawing) ticket(lock int, over string) (relaxed bool) {
	d.label++
	l, n := d.label, mine(lock)
	by := 1
	if d.rarely() {
		by = 2
	}
	d.add("atom.%s.%s.global.add.u32 %s, [%%rd1+%d], %d;", pick(d, "relaxed", "relaxed", "acquire", "acq_rel"), d.scope(), n, lock+4, by)
	switch {
	case d.rarely(): // again
		d.add("atom.relaxed.gpu.global.add.u32 %s, [%%rd1+%d], 1;", n, lock+4)
	case d.rarely(): // what was drawn decides
		d.add("setp.eq.u32 %%p7, %s, %d;", n, d.IntN(3))
		d.add("@%%p7 %s", pick(d, "bra "+over+";", fmt.Sprintf("st.global.u32 [%%rd1+%d], 7;", lockData), fmt.Sprintf("st.global.u32 [%%rd1+%d], 1;", lockBuffer)))
	case d.IntN(4) == 0: // but for all numbers the same
		d.add("setp.gt.u32 %%p7, %s, 100;", n)
		d.add("@%%p7 bra %s;", over)
	case d.rarely():
		d.op(false)
	}
	with := n
	switch {
	case d.rarely():
		d.add("add.u32 %%r24, %s, %d;", n, pick(d, 1, -1))
		with = "%r24"
	case d.IntN(4) == 0:
		d.add("st.shared.u32 [am+4], %s;", n)
		with = "%r24"
	}
	sem, scope := pick(d, "acquire", "acquire", "relaxed", "volatile"), "."+d.scope()
	if relaxed = sem != "acquire"; sem == "volatile" {
		scope = ""
	}
	if d.rarely() {
		sem, scope, relaxed = "relaxed", ".gpu", false
	}
	look := func() {
		d.add("ld.%s%s.global.u32 %%r6, [%%rd1+%d];", sem, scope, lock)
		if with == "%r24" {
			d.add("ld.shared.u32 %%r24, [am+4];")
		}
		compare, a := "ne", "%r6"
		if d.rarely() {
			compare = pick(d, "lt", "eq", "gt")
		}
		if d.IntN(5) == 0 { // both with something added
			d.add("add.u32 %%r25, %%r6, 3;")
			d.add("add.u32 %%r26, %s, %d;", with, pick(d, 3, 3, 3, 3, 2))
			d.add("setp.%s.u32 %%p3, %%r25, %%r26;", compare)
			return
		}
		if d.IntN(4) == 0 {
			a, with = with, a
		}
		d.add("setp.%s.u32 %%p3, %s, %s;", compare, a, with)
		if a != "%r6" {
			with = a
		}
	}
	if d.IntN(3) == 0 || d.rarely() { // one look before the loop
		look()
		d.add("@!%%p3 bra M%d;", l)
	}
	once := d.rarely()
	fmt.Fprintf(&d.b, "L%d:\n", l)
	switch d.IntN(5) {
	case 0:
		d.add("nanosleep.u32 20;")
	case 1:
		if d.sloppy {
			d.add("mov.u32 %%r9, 1;") // which is stored, or decides
		} else {
			d.add("add.u32 %%r2, %%r2, 1;")
			d.add("and.b32 %%r2, %%r2, 3;")
		}
	}
	if d.rarely() {
		d.add("ld.global.u32 %%r8, [%%rd1+%d];", lockData)
	}
	look()
	if !once {
		d.add("@%%p3 bra L%d;", l)
	}
	fmt.Fprintf(&d.b, "M%d:\n", l)
	switch {
	case d.rarely():
		d.add("mov.u32 %%r9, %%r6;") // what it found
	case d.IntN(5) == 0:
		d.add("mov.u32 %%r9, %s;", n) // which may be stored
	}
	return relaxed
}

// handOn makes the turn larger by 1.
func (d *lockDrawing) handOn(lock int, sem string) {
	n, by := mine(lock), 1
	if d.rarely() {
		by = pick(d, 0, 2)
	}
	next := "%r27"
	switch {
	case d.rarely():
		d.add("mov.u32 %%r27, %d;", by)
	case d.rarely():
		d.add("add.u32 %%r27, %%r6, %d;", by)
	default:
		d.add("add.u32 %%r27, %s, %d;", n, by)
	}
	if d.rarely() { // twice
		d.add("st.relaxed.gpu.global.u32 [%%rd1+%d], %s;", lock, next)
	}
	scope := "." + d.scope()
	switch {
	case d.rarely():
	case d.rarely():
		d.add("st.global.u32 [%%rd1+%d], %s;", lock, next)
	case sem == "volatile":
		d.add("st.volatile.global.u32 [%%rd1+%d], %s;", lock, next)
	case d.IntN(4) == 0:
		d.add("atom.%s%s.global.exch.b32 %%r7, [%%rd1+%d], %s;", sem, scope, lock, next)
	case d.IntN(3) == 0:
		op, to := "red", ""
		if d.IntN(3) == 0 {
			op, to = "atom", "%r7, "
		}
		d.add("%s.%s%s.global.add.u32 %s[%%rd1+%d], %d;", op, sem, scope, to, lock, by)
	default:
		d.add("st.%s%s.global.u32 [%%rd1+%d], %s;", sem, scope, lock, next)
	}
}
