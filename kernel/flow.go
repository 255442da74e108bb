package kernel

import (
	"fmt"

	"muster/ptx"
)

// A Label is a position in a function, for branches beyond the structured forms of
// control flow.
type Label struct {
	name   string
	in     *body
	at     Place
	placed Place
	used   bool
}

// NewLabel makes a label. Place positions it, once.
func (k *Kernel) NewLabel() *Label { return k.label("L") }

func (k *Kernel) label(what string) *Label {
	k.serial++
	l := &Label{name: fmt.Sprintf("$%s%d", what, k.serial), in: k.at, at: k.here()}
	if k.grow(1) {
		k.at.labels = append(k.at.labels, l)
	}
	return l
}

// Place puts a label before the next instruction.
func (k *Kernel) Place(l *Label) {
	switch {
	case !k.known(l), !k.grow(0):
		return
	case l.placed != (Place{}):
		k.fail("the label is placed already, at %s", l.placed)
		return
	case k.guard != nil:
		k.fail("a label is placed inside of Guard: only plain instructions take a predicate; use If")
		return
	}
	l.placed = k.here()
	k.at.stmts = append(k.at.stmts, &ptx.Label{Name: l.name})
	k.at.line = Place{}
}

// known reports a label that is nil, or of another function or kernel.
func (k *Kernel) known(l *Label) bool {
	switch {
	case l == nil || l.in == nil:
		k.fail("the label is not from NewLabel")
	case l.in != k.at:
		k.fail("a label of another function is used here")
	default:
		return true
	}
	return false
}

// Branch goes to a label.
func (k *Kernel) Branch(l *Label) { k.Inst("bra", l) }

// BranchIf goes to a label where p is true.
func (k *Kernel) BranchIf(p Pred, l *Label) { k.branch(p, l, false) }

// branch emits a branch that may diverge, or a uniform one.
func (k *Kernel) branch(p Pred, l *Label, uniform bool) {
	if k.guard != nil {
		k.fail("a branch inside of Guard: only plain instructions take a predicate; use If")
		return
	}
	p.kernel()
	if !k.owns(p.k, p.in, "predicate") {
		return
	}
	op := "bra"
	if uniform {
		op = "bra.uni"
	}
	k.guard = &p
	k.Inst(op, l)
	k.guard = nil
}

// Guard predicates each instruction that body emits: threads for which p is false skip
// them, without a branch. Branches, loops and further guards are not allowed inside.
func (k *Kernel) Guard(p Pred, body func()) {
	p.kernel()
	if k.missing("Guard", body == nil) {
		return
	}
	if k.guard != nil {
		k.fail("a Guard inside of a Guard: combine the predicates with And")
		return
	}
	if !k.owns(p.k, p.in, "predicate") {
		return
	}
	k.guard = &p
	defer func() { k.guard = nil }()
	body()
}

// If executes then if p is true.
func (k *Kernel) If(p Pred, then func()) {
	if k.missing("If", then == nil) {
		return
	}
	end := k.label("end")
	k.branch(p.Not(), end, false)
	k.opened("If", then)
	k.Place(end)
}

// IfElse executes then if p is true, and otherwise els.
func (k *Kernel) IfElse(p Pred, then, els func()) {
	if k.missing("IfElse", then == nil || els == nil) {
		return
	}
	other, end := k.label("else"), k.label("end")
	k.branch(p.Not(), other, false)
	k.opened("IfElse", then)
	k.Branch(end)
	k.Place(other)
	k.opened("IfElse", els)
	k.Place(end)
}

// opened writes a branch of an If; Build inside of it is a mistake.
func (k *Kernel) opened(what string, part func()) {
	b := k.at
	b.ifs = append(b.ifs, &Error{k.here(), "the " + what + " is not closed: Build is called inside of its body"})
	defer func() { b.ifs = b.ifs[:len(b.ifs)-1] }()
	defer k.enter()()
	part()
}

// A loop is a loop whose body is being written.
type loop struct {
	next, end *Label
	at        Place
}

// For executes body with i starting at from, while i < to, adding step. Each is a number
// or a register, and step is positive. The loop's register has the type of the first of
// step, from and to that is a register, else U32, or S32 if a number is negative. Break
// and Continue apply to it.
func (k *Kernel) For(from, to, step Num, body func(i Reg)) {
	if k.missing("For", body == nil) {
		return
	}
	t := U32
	for _, x := range []Num{step, from, to} {
		if n, ok := toInt(x); ok && n < 0 {
			t = S32
		}
	}
	for _, x := range []Num{step, to, from} {
		if r, ok := x.(Reg); ok {
			if r.k == nil || !r.t.integer() {
				k.fail("For counts with %s; it takes integers", describe(x))
				return
			}
			t = r.arith()
		} else if !isInt(x) {
			k.fail("For counts with %s; it takes integers", describe(x))
			return
		}
	}
	if n, ok := toInt(step); ok && n < 1 {
		k.fail("For in steps of %d: a step is positive", n)
		return
	}
	if k.guard != nil {
		k.fail("a loop inside of Guard: only plain instructions take a predicate; use If")
		return
	}
	i := k.Const(t, from)
	l := &loop{next: k.label("next"), end: k.label("end"), at: k.here()}
	a, aok := toInt(from)
	z, zok := toInt(to)
	if !aok || !zok || a >= z {
		k.BranchIf(i.Ge(to), l.end)
	}
	head := k.label("for")
	k.Place(head)
	k.inside(l, func() { body(i) })
	k.placeUsed(l.next)
	i.Set(i.Add(step))
	k.BranchIf(i.Lt(to), head)
	k.placeUsed(l.end)
}

// inside writes the body of a loop.
func (k *Kernel) inside(l *loop, body func()) {
	b := k.at
	b.loops = append(b.loops, l)
	defer func() { b.loops = b.loops[:len(b.loops)-1] }()
	defer k.enter()()
	body()
}

// enter opens a part of the text that not every thread or turn executes, and returns what
// closes it.
func (k *Kernel) enter() func() {
	b := k.at
	k.parts++
	b.open = append(b.open[:len(b.open):len(b.open)], k.parts)
	return func() { b.open = b.open[:len(b.open)-1] }
}

// placeUsed places a label that has branches; a label without any is dropped.
func (k *Kernel) placeUsed(l *Label) {
	if l.used {
		k.Place(l)
		return
	}
	l.placed = k.here()
}

// While executes body while the predicate computed by cond is true.
func (k *Kernel) While(cond func() Pred, body func()) {
	if k.missing("While", cond == nil || body == nil) {
		return
	}
	k.Loop(func() {
		k.BreakIf(cond().Not())
		body()
	})
}

// Loop executes body until Break.
func (k *Kernel) Loop(body func()) {
	if k.missing("Loop", body == nil) {
		return
	}
	if k.guard != nil {
		k.fail("a loop inside of Guard: only plain instructions take a predicate; use If")
		return
	}
	l := &loop{next: k.label("loop"), end: k.label("end"), at: k.here()}
	k.Place(l.next)
	k.inside(l, body)
	k.Branch(l.next)
	k.placeUsed(l.end)
}

// Unroll emits the body n times, with i from 0: a loop in Go, not in the kernel.
func (k *Kernel) Unroll(n int, body func(i int)) {
	if k.missing("Unroll", body == nil) {
		return
	}
	if n < 0 || n > maxInsts {
		k.fail("Unroll(%d): it makes the body 0 to %d times; For makes a loop of the kernel", n, maxInsts)
		return
	}
	for i := range n {
		if body(i); k.full {
			return
		}
	}
}

// Break leaves the innermost loop.
func (k *Kernel) Break() {
	if l := k.innermost("Break"); l != nil {
		k.Branch(l.end)
	}
}

// BreakIf leaves the innermost loop if p is true.
func (k *Kernel) BreakIf(p Pred) {
	if l := k.innermost("BreakIf"); l != nil {
		k.BranchIf(p, l.end)
	}
}

// Continue goes to the next iteration of the innermost loop.
func (k *Kernel) Continue() {
	if l := k.innermost("Continue"); l != nil {
		k.Branch(l.next)
	}
}

// ContinueIf goes to the next iteration of the innermost loop if p is true.
func (k *Kernel) ContinueIf(p Pred) {
	if l := k.innermost("ContinueIf"); l != nil {
		k.BranchIf(p, l.next)
	}
}

func (k *Kernel) innermost(what string) *loop {
	if len(k.at.loops) == 0 {
		k.fail("%s outside of a loop", what)
		return nil
	}
	return k.at.loops[len(k.at.loops)-1]
}

// Return returns from the function, or ends the thread in the kernel itself.
func (k *Kernel) Return() { k.Inst("ret") }

// Exit ends the thread, also inside of a function.
func (k *Kernel) Exit() { k.Inst("exit") }

// Trap aborts the launch with an error.
func (k *Kernel) Trap() { k.Inst("trap") }
