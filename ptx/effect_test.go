package ptx_test

import (
	"fmt"
	"slices"
	"testing"

	"muster/ptx"
)

// TestEveryRowHasAnEffect fails for rows that state no effect.
func TestEveryRowHasAnEffect(t *testing.T) {
	n := map[string]int{}
	for _, f := range ptx.Forms() {
		e := f.Effect
		if e == 0 {
			t.Errorf("%s has no effect", f.Name)
		}
		if alone := ptx.Computes | ptx.None; e.Has(alone) && e&alone != e {
			t.Errorf("%s: %v stands beside others", f.Name, e)
		}
		if e.Has(ptx.Reads|ptx.Writes) && !e.Has(ptx.Data) {
			t.Errorf("%s: %v: what is read or written is data", f.Name, e)
		}
		if e.Has(ptx.Updates) && !e.Has(ptx.Writes) {
			t.Errorf("%s: %v: an update writes", f.Name, e)
		}
		n[e.String()]++
	}
	t.Log(n)
}

// TestEffectsAgreeWithOperands compares effects with a row's operands: the address that
// is read or written, and the destination.
func TestEffectsAgreeWithOperands(t *testing.T) {
	for _, f := range ptx.Forms() {
		access, gives := "", false
		for i, a := range f.Operands {
			if a.Class == "mem" && access == "" {
				access = a.Access
			}
			gives = gives || i == 0 && (a.Role == ptx.Write || a.Role == ptx.ReadWrite)
		}
		want := ""
		switch e := f.Effect; {
		case e.Has(ptx.Updates):
			want = "readwrite"
		case e.Has(ptx.Reads):
			want = "read"
		case e.Has(ptx.Writes):
			want = "write"
		case e.Has(ptx.Tests):
			want = "read"
		case f.Class == "memory" && access != "" && access != "none" && !e.Has(ptx.Hints|ptx.None):
			t.Errorf("%s accesses memory (%s), and its effect is %v", f.Name, access, e)
		}
		if want != "" && want != access {
			t.Errorf("%s is %v, and its address is accessed by %s", f.Name, f.Effect, access)
		}
		results := ptx.Reads | ptx.Tests | ptx.GivesToken | ptx.CountsPending | ptx.ShowsLanes | ptx.Elects | ptx.Moves | ptx.Selects |
			ptx.Compares | ptx.Inverts | ptx.Ands | ptx.Ors | ptx.Converts | ptx.Divides | ptx.GivesPolicy | ptx.SavesStack
		if f.Effect.Has(results) && !gives {
			t.Errorf("%s is %v, and gives no result", f.Name, f.Effect)
		}
	}
}

// TestSemSlots checks that only one slot of a row takes the words of memory semantics.
func TestSemSlots(t *testing.T) {
	sems := []ptx.Sem{ptx.Weak, ptx.Volatile, ptx.Relaxed, ptx.Acquire, ptx.Release, ptx.AcqRel, ptx.SC}
	for _, f := range ptx.Forms() {
		for _, s := range f.Slots {
			for _, v := range append(slices.Clone(s.Values), s.Default) {
				if is := slices.Contains(sems, ptx.Sem(v)); v != "" && is != (s.Name == "sem") {
					t.Errorf("%s: slot %s has the value %s", f.Name, s.Name, v)
				}
			}
		}
	}
}

func ExampleInst_Sem() {
	for _, text := range []string{"ld.global.u32 %r1, [%rd1];", "ld.acquire.gpu.u32 %r1, [%rd1];", "mbarrier.arrive.b64 %rd1, [%rd2];", "red.add.u32 [%rd1], %r1;", "min.u32 %r1, %r2, %r3;"} {
		m, err := ptx.Parse("sem", []byte(".version 9.0\n.target sm_90\n.func f()\n{\n"+text+"\n}\n"))
		if err != nil {
			fmt.Println(err)
			return
		}
		in := m.Items[0].(*ptx.Func).Body.Stmts[0].(*ptx.Inst)
		fmt.Printf("%s: %v, strength %q\n", in.Form.Name, in.Effect(), in.Sem())
	}
	// Output:
	// ld: read, strength "weak"
	// ld.strong: read, strength "acquire"
	// mbarrier.arrive: token, strength "release"
	// red.add: write,update, strength "relaxed"
	// min.int: compute, strength ""
}

// TestUpdatesAndTypes checks what modifiers say about a word of memory: the update and the
// size.
func TestUpdatesAndTypes(t *testing.T) {
	for _, c := range []struct {
		op     string
		mods   []string
		update ptx.Update
		name   string
		size   int
	}{
		{"atom", []string{"global", "add", "noftz", "f16x2"}, ptx.UpdateAdd, "f16x2", 4},
		{"atom", []string{"cas", "b128"}, ptx.UpdateCas, "b128", 16},
		{"red", []string{"inc", "u32"}, ptx.UpdateInc, "u32", 4},
		{"ld", []string{"relaxed", "gpu", "v2", "f64"}, ptx.NoUpdate, "f64", 8},
		{"setp", []string{"eq", "bf16"}, ptx.NoUpdate, "bf16", 2},
		{"not", []string{"pred"}, ptx.NoUpdate, "pred", 0},
		{"cp", []string{"async", "wait_all"}, ptx.NoUpdate, "", 0},
		{"ret", nil, ptx.NoUpdate, "", 0},
	} {
		in := &ptx.Inst{Op: c.op, Mods: c.mods}
		if name, size := in.LastType(); in.Update() != c.update || name != c.name || size != c.size {
			t.Errorf("%s: update %d of %d bytes, type %q", in.Opcode(), in.Update(), size, name)
		}
	}
}
