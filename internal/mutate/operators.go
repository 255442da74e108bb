package mutate

import (
	"fmt"
	"slices"
	"strings"

	"muster/ptx"
)

// An operator proposes changes of one kind.
type operator struct {
	kind    string
	changes func(*site) []change
}

// operators is the list of what can be wrong with synchronization.
var operators = []operator{
	{"init", initChanges},
	{"fence", fenceChanges},
	{"wait", waitChanges},
	{"commit", commitChanges},
	{"arrive", arriveChanges},
	{"count", countChanges},
	{"bytes", bytesChanges},
	{"parity", parityChanges},
	{"scope", scopeChanges},
	{"order", orderChanges},
	{"barrier", barrierChanges},
	{"mask", maskChanges},
	{"registers", registerChanges},
	{"tensor", tensorChanges},
	{"group", groupChanges},
	{"early", earlyChanges},
}

// Kinds are the kinds of mutations.
func Kinds() []string {
	var list []string
	for _, o := range operators {
		list = append(list, o.kind)
	}
	return list
}

func initChanges(s *site) []change {
	switch s.in.Form.Barrier {
	case "init":
		return s.delete("init-delete")
	case "inval":
		return s.delete("inval-delete")
	}
	return nil
}

func fenceChanges(s *site) (list []change) {
	f := s.in.Form
	if f.Class != "fence" && f.Name != "wgmma.fence" && f.Name != "tcgen05.fence" {
		return nil
	}
	list = s.delete("fence-delete")
	if s.in.Mod("sem") == "sc" {
		list = append(list, s.swapMod("fence-weak", "sc", "acq_rel")...)
	}
	if scope := levels[s.in.Mod("level")]; s.in.Op == "membar" && scope != "" {
		c := s.copy()
		c.Op, c.Mods = "fence", []string{"acq_rel", scope}
		list = append(list, s.replace("fence-weak", "→ fence.acq_rel."+scope, c)...)
	}
	if f.Name != "fence.proxy.async" {
		return list
	}
	if space := s.in.Mod("space"); space == "" {
		list = append(list, s.addMod("fence-space", len(s.in.Mods), "global")...)
	} else if space == "global" {
		list = append(list, s.swapMod("fence-space", space, "shared::cta")...)
	} else {
		list = append(list, s.swapMod("fence-space", space, "global")...)
	}
	return list
}

// levels are the scopes of membar, which is fence.sc (ISA 9.7.13.4).
var levels = map[string]string{"cta": "cta", "gl": "gpu", "sys": "sys"}

// groupWaits are the forms that wait for the groups of a thread.
var groupWaits = []string{"cp.async.wait_group", "cp.async.wait_all", "cp.async.bulk.wait_group", "wgmma.wait_group", "tcgen05.wait"}

func waitChanges(s *site) (list []change) {
	f := s.in.Form
	switch {
	case f.Barrier == "test" || f.Barrier == "try":
		pass := s.copy()
		pass.Op, pass.Mods = "setp", []string{"eq", "u32"}
		pass.Operands = []ptx.Operand{s.in.Operands[0], ptx.Int{}, ptx.Int{}}
		return s.replace("wait-pass", "passes at once", pass)
	case !slices.Contains(groupWaits, f.Name):
		return nil
	}
	list = s.delete("wait-delete")
	if len(s.in.Operands) == 1 {
		list = append(list, s.add("wait-more", "leaves one group more", 0, 1)...)
	}
	if f.Name == "cp.async.bulk.wait_group" && s.in.Mod("mode") == "" {
		list = append(list, s.addMod("wait-read", len(s.in.Mods), "read")...)
	}
	return list
}

func commitChanges(s *site) []change {
	switch {
	case isCommit(s.in.Form):
		return tensorCommits(s)
	case strings.HasSuffix(s.in.Form.Name, "commit_group"):
		return s.delete("commit-delete")
	}
	return nil
}

func isArrive(f *ptx.Form) bool {
	return f.Class == "mbarrier" && strings.HasPrefix(f.Barrier, "arrive")
}

func arriveChanges(s *site) []change {
	if isArrive(s.in.Form) {
		return s.delete("arrive-delete")
	}
	return nil
}

func countChanges(s *site) (list []change) {
	if s.in.Form.Class != "mbarrier" {
		return nil
	}
	if s.in.Op == "cp" { // cp.async.mbarrier.arrive
		if i := slices.Index(s.in.Mods, "noinc"); i >= 0 {
			c := s.copy()
			c.Mods = slices.Delete(c.Mods, i, i+1)
			return s.replace("count-inc", "counts itself", c)
		}
		return s.addMod("count-noinc", slices.Index(s.in.Mods, "arrive")+1, "noinc")
	}
	if i := s.operand("count"); i >= 0 {
		list = append(list, s.add("count-plus", "count + 1", i, 1)...)
		list = append(list, s.add("count-minus", "count - 1", i, -1)...)
	}
	return list
}

func bytesChanges(s *site) (list []change) {
	f := s.in.Form
	if f.Class != "mbarrier" {
		return nil
	}
	if i := s.operand("tx"); i >= 0 {
		list = append(list, s.half("bytes-half", i)...)
		list = append(list, s.add("bytes-plus", "16 bytes more", i, 16)...)
	}
	switch {
	case f.Barrier == "expect-tx" || f.Barrier == "complete-tx":
		list = append(list, s.delete("bytes-delete")...)
	case isArrive(f) && slices.Contains(s.in.Mods, "expect_tx"):
		c := s.copy()
		i := slices.Index(c.Mods, "expect_tx")
		c.Mods, c.Operands = slices.Delete(c.Mods, i, i+1), c.Operands[:2]
		list = append(list, s.replace("bytes-none", "expects no bytes", c)...)
	}
	return list
}

func parityChanges(s *site) []change {
	i := s.operand("parity")
	if i < 0 {
		return nil
	}
	if x, ok := s.in.Operands[i].(ptx.Int); ok {
		return s.set("parity-flip", "the other parity", i, ptx.Int{Bits: x.Bits ^ 1})
	}
	return s.compute("parity-flip", "the other parity", i, "b32", inst("xor.b32", temp, s.in.Operands[i], ptx.Int{Bits: 1}))
}

// narrower maps a scope to the narrower one that replaces it.
var narrower = map[string]string{"sys": "gpu", "gpu": "cta", "cluster": "cta", "gl": "cta"}

func scopeChanges(s *site) []change {
	slot := "scope"
	if s.in.Op == "membar" {
		slot = "level"
	}
	have := s.in.Mod(slot)
	to := narrower[have]
	if s.in.Op == "membar" && have == "sys" {
		to = "gl"
	}
	if to == "" {
		return nil
	}
	return s.swapMod("scope-narrow", have, to)
}

func orderChanges(s *site) []change {
	f := s.in.Form
	if f.Class == "fence" || f.Class == "tensormap" {
		return nil
	}
	if slices.Contains(s.in.Mods, "volatile") && (s.in.Op == "ld" || s.in.Op == "st") {
		c := s.copy()
		i := slices.Index(c.Mods, "volatile")
		c.Mods = slices.Delete(c.Mods, i, i+1)
		return s.replace("order-weak", "without .volatile", c)
	}
	switch sem := s.in.Mod("sem"); {
	case sem == "release" || sem == "acquire" || sem == "acq_rel":
		return s.swapMod("order-relaxed", sem, "relaxed")
	case sem != "":
		return nil
	case f.Class == "mbarrier" && s.in.Op == "mbarrier" && (isArrive(f) || f.Barrier == "test" || f.Barrier == "try"):
		i := slices.IndexFunc(s.in.Mods, func(m string) bool { return m == "b64" || strings.HasPrefix(m, "shared") })
		return s.addMod("order-relaxed", i, "relaxed", "cta")
	case f.Name == "barrier.cluster.arrive":
		return s.addMod("order-relaxed", 2, "relaxed")
	}
	return nil
}

func barrierChanges(s *site) (list []change) {
	switch b := s.in.Form.Barrier; b {
	case "warp-sync":
		return s.delete("barrier-delete")
	case "cluster-arrive":
		list = s.delete("barrier-delete")
		return append(list, s.deleteCluster()...)
	case "cluster-wait":
		return s.delete("barrier-delete")
	case "cta-red":
		list = s.reduceAlone()
	case "cta-sync", "cta-arrive":
		list = s.delete("barrier-delete")
	default:
		return nil
	}
	i := s.operand("b")
	if i < 0 || i >= len(s.in.Operands) || s.in.Form.Barrier == "cta-red" && len(s.in.Operands) < 4 {
		return list
	}
	list = append(list, s.add("barrier-count-plus", "a warp more", i, 32)...)
	list = append(list, s.add("barrier-count-minus", "a warp less", i, -32)...)
	return append(list, s.add("barrier-id", "the next barrier", i-1, 1)...)
}

// deleteCluster drops both halves of a cluster barrier.
func (s *site) deleteCluster() []change {
	for i := s.at + 1; i < len(s.block.Stmts); i++ {
		in, ok := s.block.Stmts[i].(*ptx.Inst)
		if ok && in.Form != nil && in.Form.Barrier == "cluster-wait" {
			return []change{{"barrier-delete-both", "deleted with its wait", s.at, i + 1, slices.Clone(s.block.Stmts[s.at+1 : i])}}
		}
		if _, ok := s.block.Stmts[i].(*ptx.Label); ok {
			break
		}
	}
	return nil
}

// reduceAlone leaves each thread of bar.red with its own predicate.
func (s *site) reduceAlone() []change {
	c := s.copy()
	d, p := s.in.Operands[0], s.in.Operands[len(s.in.Operands)-1]
	if s.in.Mod("type") == "pred" {
		if n, ok := p.(*ptx.Not); ok {
			c.Op, c.Mods, c.Operands = "not", []string{"pred"}, []ptx.Operand{d, n.X}
		} else {
			c.Op, c.Mods, c.Operands = "mov", []string{"pred"}, []ptx.Operand{d, p}
		}
		return s.replace("barrier-delete", "deleted", c)
	}
	yes, no := ptx.Int{Bits: 1}, ptx.Int{}
	if n, ok := p.(*ptx.Not); ok {
		p, yes, no = n.X, no, yes
	}
	c.Op, c.Mods, c.Operands = "selp", []string{"u32"}, []ptx.Operand{d, yes, no, p}
	return s.replace("barrier-delete", "deleted", c)
}

func maskChanges(s *site) []change {
	if !s.multicasts() || s.in.Op != "cp" && !isCommit(s.in.Form) {
		return nil
	}
	// The mask follows the barrier, and im2col offsets if there are any.
	i := 3
	switch {
	case s.in.Op != "cp":
		i = 1
	case !slices.Contains(s.in.Mods, "tensor"):
		i = 4
	}
	if i < len(s.in.Operands) {
		if _, ok := s.in.Operands[i].(*ptx.Vector); ok {
			i++
		}
	}
	if i >= len(s.in.Operands) {
		return nil
	}
	x := s.in.Operands[i]
	if v, ok := x.(ptx.Int); ok {
		return s.set("mask-less", "without its first CTA", i, ptx.Int{Bits: v.Bits & (v.Bits - 1)})
	}
	return s.compute("mask-less", "without its first CTA", i, "b16", inst("sub.u16", temp, x, ptx.Int{Bits: 1}), inst("and.b16", temp, temp, x))
}

func registerChanges(s *site) []change {
	if s.in.Op == "setmaxnreg" {
		return s.delete("registers-delete")
	}
	return nil
}

// delete drops the instruction. A destination that is read elsewhere gets 0, as
// code that reads a register must follow code that writes it.
func (s *site) delete(variant string) []change {
	if d, ok := s.destination(); ok && s.fn.uses[d] > 1 {
		c := s.copy()
		c.Op, c.Mods, c.Operands = "mov", []string{"b64"}, []ptx.Operand{d, ptx.Int{}}
		return s.replace(variant, "deleted", c)
	}
	return []change{s.here(variant, "deleted")}
}

// destination is the register that the instruction writes, if it writes one.
func (s *site) destination() (ptx.Name, bool) {
	if len(s.in.Operands) == 0 || len(s.in.Form.Operands) == 0 || s.in.Form.Operands[0].Role != ptx.Write {
		return "", false
	}
	n, ok := s.in.Operands[0].(ptx.Name)
	return n, ok
}

// operand returns the index of the operand with that name in the form; -1 if it
// is absent. It is correct only for forms whose optional operands come last.
func (s *site) operand(name string) int {
	i := slices.IndexFunc(s.in.Form.Operands, func(a ptx.Arg) bool { return a.Name == name })
	if i >= len(s.in.Operands) {
		return -1
	}
	return i
}

func (s *site) copy() *ptx.Inst {
	c := *s.in
	c.Mods, c.Operands = slices.Clone(s.in.Mods), slices.Clone(s.in.Operands)
	return &c
}

// replace replaces the site's instruction by c, if PTX has it.
func (s *site) replace(variant, what string, c *ptx.Inst) []change {
	if c.Form = ptx.Match(c); c.Form == nil {
		return nil
	}
	return []change{s.here(variant, what, c)}
}

func (s *site) swapMod(variant, old, new string) []change {
	c := s.copy()
	c.Mods[slices.Index(c.Mods, old)] = new
	return s.replace(variant, "."+old+" → ."+new, c)
}

func (s *site) addMod(variant string, at int, mods ...string) []change {
	c := s.copy()
	c.Mods = slices.Insert(c.Mods, at, mods...)
	return s.replace(variant, "→ ."+strings.Join(mods, "."), c)
}

func (s *site) set(variant, what string, i int, x ptx.Operand) []change {
	c := s.copy()
	c.Operands[i] = x
	return s.replace(variant, what, c)
}

// add adds n to an operand of 32 bits.
func (s *site) add(variant, what string, i int, n int64) []change {
	x := s.in.Operands[i]
	if v, ok := x.(ptx.Int); ok {
		return s.set(variant, fmt.Sprintf("%s: %d", what, int64(v.Bits)+n), i, ptx.Int{Bits: uint64(int64(v.Bits) + n)})
	}
	return s.compute(variant, what, i, "b32", inst("add.u32", temp, x, ptx.Int{Bits: uint64(n)}))
}

func (s *site) half(variant string, i int) []change {
	x := s.in.Operands[i]
	if v, ok := x.(ptx.Int); ok {
		return s.set(variant, fmt.Sprintf("half the bytes: %d", v.Bits/2), i, ptx.Int{Bits: v.Bits / 2})
	}
	return s.compute(variant, "half the bytes", i, "b32", inst("shr.u32", temp, x, ptx.Int{Bits: 1}))
}

// temp is the register that an operand is computed in.
const temp = ptx.Name("%mutant")

// compute replaces an operand by temp, in a block of its own, after instructions
// that compute temp.
func (s *site) compute(variant, what string, i int, typ string, by ...*ptx.Inst) []change {
	c := s.copy()
	c.Operands[i] = temp
	if c.Form = ptx.Match(c); c.Form == nil {
		return nil
	}
	b := &ptx.Block{Pos: s.in.Pos, End: s.in.Pos, Stmts: []ptx.Stmt{&ptx.Var{Pos: s.in.Pos, Space: "reg", Type: typ, Name: string(temp)}}}
	for _, x := range by {
		x.Pos = s.in.Pos
		b.Stmts = append(b.Stmts, x)
	}
	b.Stmts = append(b.Stmts, c)
	return []change{s.here(variant, what, b)}
}

// inst makes an instruction from its opcode with modifiers and its operands.
func inst(op string, operands ...ptx.Operand) *ptx.Inst {
	words := strings.Split(op, ".")
	in := &ptx.Inst{Op: words[0], Mods: words[1:], Operands: operands}
	in.Form = ptx.Match(in)
	if in.Form == nil {
		panic("BUG: no instruction " + in.String())
	}
	return in
}
