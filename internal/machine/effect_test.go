package machine

import (
	"cmp"
	"slices"
	"testing"

	"muster/internal/flow"
	"muster/ptx"
)

// An effectQuestion is a property that the analysis needs of an instruction: by the
// table, and by names, as before.
type effectQuestion struct {
	name         string
	table, names func(in *ptx.Inst) bool
	// but are the rows for which the two differ, with the reason.
	but map[string]string
}

func parts(e ptx.Effect) func(*ptx.Inst) bool {
	return func(in *ptx.Inst) bool { return in.Effect().Has(e) }
}

func named(ops ...string) func(*ptx.Inst) bool {
	return func(in *ptx.Inst) bool { return oneOf(in, ops...) }
}

func both(a, b ptx.Effect) func(*ptx.Inst) bool {
	return func(in *ptx.Inst) bool { return in.Effect().Has(a) && in.Effect().Has(b) }
}

func isOf(class string) func(*ptx.Inst) bool {
	return func(in *ptx.Inst) bool { return in.IsOf(class) }
}

const (
	notRun   = "the machine does not execute it"
	noAccess = "it accesses no data in memory, so the analysis does not ask"
	noResult = "it has no operands"
)

var effectQuestions = []effectQuestion{
	{name: "writes memory", table: parts(ptx.Writes), names: namedWrites},
	{name: "reads memory", table: parts(ptx.Reads), names: namedReads},
	{name: "tests", table: parts(ptx.Tests), names: namedTest},
	{name: "strong read", names: func(in *ptx.Inst) bool { return in.Op == "atom" || in.Op == "ld" && namedStrong(in) },
		table: func(in *ptx.Inst) bool { return (&flow.Use{In: in}).ReadsStrongly() }},
	{name: "strong load", names: func(in *ptx.Inst) bool { return in.Op == "ld" && namedStrong(in) },
		table: func(in *ptx.Inst) bool {
			return in.Effect().Has(ptx.Reads) && !in.Effect().Has(ptx.Updates) && in.Sem().Strong()
		}},
	{name: "point", names: namedPoint, table: func(in *ptx.Inst) bool {
		return in.Effect().Has(ptx.Reads|ptx.Writes) && in.Sem().Strong() && in.Form.Async == "none"
	}},
	{name: "strong global", names: namedGlobal, table: func(in *ptx.Inst) bool {
		p := &flow.Program{Funcs: []flow.Func{{Uses: []flow.Use{{In: in}}}}}
		return p.HasStrongGlobalAccess()
	}},
	{name: "token", names: func(in *ptx.Inst) bool { return namedToken(in) && givesRegister(in) }, table: parts(ptx.GivesToken)},
	{name: "pending count", names: namedPending, table: parts(ptx.CountsPending)},
	{name: "which lanes", names: named("activemask"), table: parts(ptx.ShowsLanes)},
	{name: "elects", names: named("elect"), table: parts(ptx.Elects)},
	{name: "branch", names: named("bra"), table: parts(ptx.Branches)},
	{name: "branch by table", names: named("brx"), table: parts(ptx.BranchesByTable)},
	{name: "call", names: named("call"), table: parts(ptx.Calls)},
	{name: "return", names: named("ret"), table: parts(ptx.Returns)},
	{name: "exit", names: named("exit"), table: parts(ptx.Exits)},
	{name: "trap", names: named("trap"), table: parts(ptx.Traps)},
	{name: "sleep", names: named("nanosleep"), table: parts(ptx.Sleeps)},
	{name: "hints", names: named("nanosleep", "pmevent", "prefetch", "prefetchu"), table: parts(ptx.Hints)},
	{name: "policy", names: named("createpolicy"), table: parts(ptx.GivesPolicy)},
	{name: "saves the stack", names: named("stacksave"), table: parts(ptx.SavesStack)},
	{name: "restores the stack", names: named("stackrestore"), table: parts(ptx.RestoresStack)},
	{name: "registers", names: named("setmaxnreg"), table: parts(ptx.SetsRegisters)},
	{name: "carry", names: named("addc", "subc", "madc"), table: parts(ptx.ReadsCarry)},
	{name: "moves", names: func(in *ptx.Inst) bool { return in.Op == "mov" && in.Mod("vec") == "" }, table: parts(ptx.Moves)},
	{name: "selects", names: named("selp"), table: parts(ptx.Selects)},
	{name: "compares", names: named("setp"), table: parts(ptx.Compares)},
	{name: "compares to anything", names: named("setp", "set"), table: parts(ptx.Compares | ptx.ComparesToNumber)},
	{name: "inverts", names: named("not"), table: parts(ptx.Inverts)},
	{name: "ands", names: named("and"), table: parts(ptx.Ands)},
	{name: "ors", names: named("or"), table: parts(ptx.Ors)},
	{name: "converts", names: named("cvt"), table: parts(ptx.Converts)},
	{name: "divides integers", names: func(in *ptx.Inst) bool {
		t := lastType(in)
		return oneOf(in, "div", "rem") && t != f32 && t != f64
	}, table: parts(ptx.Divides)},
	{name: "atomic with a result", names: named("atom"), table: both(ptx.Reads, ptx.Updates)},
	{name: "updates", names: named("atom", "red"), table: parts(ptx.Updates)},
	{name: "reduces", names: named("red"), table: func(in *ptx.Inst) bool {
		return in.Effect().Has(ptx.Updates) && !in.Effect().Has(ptx.Reads)
	}},
	{name: "exchanges", names: named("shfl", "redux", "vote", "match"), table: parts(ptx.Exchanges)},
	{name: "warpgroup", names: named("wgmma"), table: parts(ptx.Warpgroup)},
	{name: "multiplies", names: namedMultiplies, table: parts(ptx.Multiplies), but: map[string]string{
		"wgmma.fence": noResult, "wgmma.commit_group": noResult, "wgmma.wait_group": noResult}},
	{name: "operands are data", names: func(in *ptx.Inst) bool { return namedOperands(in) == "data" }, table: parts(ptx.Data)},
	{name: "operation", names: func(in *ptx.Inst) bool { return namedOperation(in) == "atom" }, table: parts(ptx.Updates | ptx.CopiesMemory), but: map[string]string{
		"cp.async.commit_group": noAccess, "cp.async.wait_group": noAccess, "cp.async.wait_all": noAccess, "cp.async.bulk.commit_group": noAccess,
		"cp.async.bulk.wait_group": noAccess, "cp.async.bulk.prefetch": noAccess, "cp.async.bulk.prefetch.tensor": noAccess,
		"cp.async.bulk.prefetch.evict": noAccess, "cp.async.bulk.prefetch.tensor.evict": noAccess, "cp.async.mbarrier.arrive": noAccess}},
	{name: "aligned", names: namedAligned, table: mustMeet},
	{name: "barrier", names: named("bar", "barrier"), table: isOf(ptx.ClassBarrier)},
	{name: "barrier of the cluster", names: func(in *ptx.Inst) bool { return in.Op == "barrier" && has(in, "cluster") },
		table: func(in *ptx.Inst) bool { return in.IsOf(ptx.ClassBarrier) && in.Form.Scope == "cluster" }},
	{name: "aligned barrier of a CTA or cluster", names: func(in *ptx.Inst) bool {
		return in.Op == "bar" && !has(in, "warp") || in.Op == "barrier" && has(in, "aligned")
	}, table: func(in *ptx.Inst) bool { return in.IsOf(ptx.ClassBarrier) && in.Aligned() }},
	{name: "fence", names: named("fence", "membar"), table: isOf(ptx.ClassFence)},
	{name: "plain fence", names: namedPlainFence, table: (*ptx.Inst).PlainFence},
	{name: "acquiring fence", names: func(in *ptx.Inst) bool {
		return in.Op == "membar" || in.Op == "fence" && !has(in, "release") && !has(in, "proxy")
	}, table: func(in *ptx.Inst) bool { return in.PlainFence() && in.Sem() != ptx.Release },
		but: map[string]string{"membar.proxy.alias": "the name was forgotten: it orders proxies, not accesses (ISA 9.7.13.4)"}},
	{name: "try", names: func(in *ptx.Inst) bool { return in.Op == "mbarrier" && has(in, "try_wait") },
		table: func(in *ptx.Inst) bool { return in.Form.Barrier == "try" }},
	{name: "inval", names: func(in *ptx.Inst) bool { return in.Op == "mbarrier" && in.Mods[0] == "inval" },
		table: func(in *ptx.Inst) bool { return in.Form.Barrier == "inval" }},
	{name: "on an mbarrier", names: named("mbarrier"), table: func(in *ptx.Inst) bool { return in.IsOf(ptx.ClassMbarrier) && in.Form.Async == "none" }},
	{name: "atomic acquires", names: func(in *ptx.Inst) bool { return in.Op == "atom" && (has(in, "acquire") || has(in, "acq_rel")) },
		table: func(in *ptx.Inst) bool { return both(ptx.Reads, ptx.Updates)(in) && in.Sem().Acquires() }},
	{name: "access releases", names: func(in *ptx.Inst) bool { return namedWrites(in) && (has(in, "release") || has(in, "acq_rel")) },
		table: func(in *ptx.Inst) bool { return in.Effect().Has(ptx.Writes) && in.Sem().Releases() }},
	{name: "acquiring wait", names: func(in *ptx.Inst) bool {
		return namedTest(in) && !has(in, "relaxed") || has(in, "acquire") || has(in, "acq_rel")
	}, table: func(in *ptx.Inst) bool { return in.Sem().Acquires() }, but: map[string]string{
		"barrier.cluster.wait": "the name was forgotten: it acquires where nothing is said (ISA 9.7.13.3)",
		"fence":                "the modifier .sc was forgotten: such a fence acquires (ISA 9.7.13.4)"}},
}

// givesRegister reports whether the first operand of an instruction's row is a register that
// is written.
func givesRegister(in *ptx.Inst) bool {
	ops := in.Form.Operands
	return len(ops) > 0 && ops[0].Class != "sink" && (ops[0].Role == ptx.Write || ops[0].Role == ptx.ReadWrite)
}

// everyModifier yields an instruction of each row with each choice of modifiers that the
// row permits. The instruction has no operands, and is changed by the next.
func everyModifier(yield func(in *ptx.Inst)) {
	for _, f := range ptx.Forms() {
		in := &ptx.Inst{Op: f.Op, Form: f}
		vals := make([]string, len(f.Slots))
		var from func(i int)
		from = func(i int) {
			if i == len(f.Slots) {
				if keepsRules(f, vals) {
					yield(in)
				}
				return
			}
			s := &f.Slots[i]
			if s.Optional && !(s.Tied && vals[i-1] != "") {
				vals[i] = ""
				from(i + 1)
			}
			if s.Tied && vals[i-1] == "" {
				return
			}
			for _, v := range s.Values {
				vals[i] = v
				in.Mods = append(in.Mods, v)
				from(i + 1)
				in.Mods = in.Mods[:len(in.Mods)-1]
			}
		}
		from(0)
	}
}

func keepsRules(f *ptx.Form, vals []string) bool {
	value := func(slot string) string {
		return cmp.Or(vals[slices.IndexFunc(f.Slots, func(s ptx.Slot) bool { return s.Name == slot })], "-")
	}
	return !slices.ContainsFunc(f.Rules, func(r ptx.Rule) bool { return !r.Holds(value) })
}

// TestEffectsAgreeWithNames compares the effects of each row, with all modifiers that it
// permits, with those by the names of instructions.
func TestEffectsAgreeWithNames(t *testing.T) {
	runs := map[*ptx.Form]bool{}
	for _, f := range ptx.Forms() {
		runs[f] = Executes(f)
	}
	insts, agreed, other := 0, 0, 0
	differ := map[[2]string]int{}
	everyModifier(func(in *ptx.Inst) {
		insts++
		for i := range effectQuestions {
			q := &effectQuestions[i]
			switch table, names := q.table(in), q.names(in); {
			case table == names:
				agreed++
			case !runs[in.Form]:
				other++
				differ[[2]string{q.name, notRun}]++
			case q.but[in.Form.Name] != "":
				other++
				differ[[2]string{q.name, in.Form.Name + ": " + q.but[in.Form.Name]}]++
			default:
				if k := [2]string{q.name, in.Form.Name + ": no reason"}; differ[k] == 0 {
					t.Errorf("%s: the table says %v of %s (%s), the name says %v", q.name, table, Name(in), in.Form.Name, names)
				}
				differ[[2]string{q.name, in.Form.Name + ": no reason"}]++
			}
		}
	})
	for i := range effectQuestions {
		q := &effectQuestions[i]
		for row, why := range q.but {
			if differ[[2]string{q.name, row + ": " + why}] == 0 {
				t.Errorf("%s: %s is listed, and the table and the name agree", q.name, row)
			}
		}
	}
	for k, n := range differ {
		t.Logf("%s: %s (%d)", k[0], k[1], n)
	}
	t.Logf("%d instructions, %d questions: %d answers agree, %d differ for a reason", insts, len(effectQuestions), agreed, other)
}

// TestVaryingRegisters holds the special registers that vary, by their table, to the names
// that the analysis knew.
func TestVaryingRegisters(t *testing.T) {
	n := 0
	for name := range specials {
		if _, ok := ptx.LookupSpecial(name); !ok {
			t.Errorf("%s is in no table", name)
		}
		if got, want := flow.Varies(ptx.Name(name)), namedClock(name); got != want {
			t.Errorf("%s: the table says %v, the name says %v", name, got, want)
		} else if got {
			n++
		}
	}
	if n != 9 || flow.Varies(ptx.Name("%clockwise")) || flow.Varies(ptx.Int{}) {
		t.Errorf("%d registers vary", n)
	}
}
