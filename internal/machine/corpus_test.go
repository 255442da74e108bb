package machine_test

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/explore"
	"muster/internal/machine"
	"muster/ptx"
)

// corpus returns the PTX files that the project keeps, parsed.
func corpus(t *testing.T) []*ptx.Module {
	t.Helper()
	var all []*ptx.Module
	for _, dir := range []string{"../../ptx/testdata", "../../examples", "testdata"} {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(path, ".ptx") {
				return err
			}
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			m, err := ptx.Parse(path, src)
			if err != nil {
				return err
			}
			all = append(all, m)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(all) < 50 {
		t.Fatalf("only %d files", len(all))
	}
	return all
}

// TestCorpusDecodes decodes every entry of every file.
func TestCorpusDecodes(t *testing.T) {
	n := 0
	for _, m := range corpus(t) {
		for _, k := range machine.Kernels(m) {
			if _, err := machine.Decode(m, k); err != nil {
				t.Errorf("%s, %s: %v", m.Name, k, err)
			}
			n++
		}
	}
	t.Logf("%d kernels", n)
}

// instructions returns the instructions of a kernel's body, nested ones too.
func instructions(b *ptx.Block, list []*ptx.Inst) []*ptx.Inst {
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *ptx.Inst:
			list = append(list, s)
		case *ptx.Block:
			list = instructions(s, list)
		}
	}
	return list
}

// mutate changes one instruction in a way that keeps it one: operands and
// modifiers of others, mostly of the same kernel, take the place of its own, come twice, or go. It returns
// a function that takes the change back.
func mutate(r *rand.Rand, in *ptx.Inst, own, all []*ptx.Inst) func() {
	old := *in
	in.Mods = append([]string(nil), in.Mods...)
	in.Operands = append([]ptx.Operand(nil), in.Operands...)
	for range 1 + r.IntN(2) {
		other := own[r.IntN(len(own))]
		if r.IntN(3) == 0 {
			other = all[r.IntN(len(all))]
		}
		switch k := r.IntN(9); {
		case k == 0 && len(in.Operands) > 0:
			i := r.IntN(len(in.Operands))
			in.Operands = append(in.Operands[:i], in.Operands[i+1:]...)
		case k == 1 && len(other.Operands) > 0:
			in.Operands = append(in.Operands, other.Operands[r.IntN(len(other.Operands))])
		case k <= 4 && len(in.Operands) > 0 && len(other.Operands) > 0:
			in.Operands[r.IntN(len(in.Operands))] = other.Operands[r.IntN(len(other.Operands))]
		case k == 5 && len(in.Mods) > 0 && len(other.Mods) > 0:
			in.Mods[r.IntN(len(in.Mods))] = other.Mods[r.IntN(len(other.Mods))]
		case k == 6 && len(in.Mods) > 0:
			i := r.IntN(len(in.Mods))
			in.Mods = append(in.Mods[:i], in.Mods[i+1:]...)
		case k == 7 && len(in.Operands) > 0:
			odd := []ptx.Operand{ptx.Int{Bits: ^uint64(0)}, ptx.Int{}, ptx.Sink{}, ptx.Name("WARP_SZ"), ptx.Name("%tid"), ptx.Float{Bits: 1, Size: 64},
				&ptx.Vector{}, &ptx.Mem{}, &ptx.List{}, &ptx.Pair{A: ptx.Sink{}, B: ptx.Sink{}}, &ptx.Not{X: ptx.Int{Bits: 1}}}
			in.Operands[r.IntN(len(in.Operands))] = odd[r.IntN(len(odd))]
		default:
			in.Op = other.Op
		}
	}
	return func() { *in = old }
}

// few is n, or a sixth of it with -short.
func few(n int) int {
	if testing.Short() {
		return n / 6
	}
	return n
}

// TestMutantsDecode holds that whatever an instruction is made of, decoding
// ends in a program or an error that says where.
func TestMutantsDecode(t *testing.T) {
	var all []*ptx.Inst
	type victim struct {
		m    *ptx.Module
		k    string
		list []*ptx.Inst
	}
	var victims []victim
	for _, m := range corpus(t) {
		for _, it := range m.Items {
			if f, ok := it.(*ptx.Func); ok && f.Body != nil {
				list := instructions(f.Body, nil)
				all = append(all, list...)
				if f.Entry && len(list) > 0 && len(list) < 1500 {
					victims = append(victims, victim{m, f.Name, list})
				}
			}
		}
	}
	all = append(all, examplesOfForms(t)...)
	r := rand.New(rand.NewPCG(1, 2))
	bad, rounds := 0, few(3000)
	for range rounds {
		v := victims[r.IntN(len(victims))]
		undo := mutate(r, v.list[r.IntN(len(v.list))], v.list, all)
		_, err := machine.Decode(v.m, v.k)
		var de *machine.DecodeError
		if err != nil && (!errors.As(err, &de) || de.Pos.Line == 0) {
			t.Errorf("%s: error without a place: %v", v.k, err)
		}
		if err != nil {
			bad++
		}
		undo()
	}
	if bad == 0 || bad == rounds {
		t.Errorf("%d of %d mutants are refused", bad, rounds)
	}
}

// examplesOfForms returns one instruction of each row of the table.
func examplesOfForms(t *testing.T) []*ptx.Inst {
	var list []*ptx.Inst
	for _, f := range ptx.Forms() {
		m, err := ptx.Parse(f.Name, []byte(".version 9.0\n.target sm_100a\n.address_size 64\n.entry e() {\n"+f.Example()+"\nret; }"))
		if err != nil {
			continue
		}
		list = append(list, instructions(m.Items[0].(*ptx.Func).Body, nil)...)
	}
	if len(list) < 300 {
		t.Fatalf("only %d examples parse", len(list))
	}
	return list
}

// TestCorpusRunsOnJunk runs every kernel on parameters that mean nothing, and
// every mutant that decodes: a run stops or ends, and never panics.
func TestCorpusRunsOnJunk(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, m := range corpus(t) {
		for _, k := range machine.Kernels(m) {
			p, err := machine.Decode(m, k)
			if err != nil {
				t.Fatal(m.Name, err)
			}
			for i, s := range []explore.Schedule{{}, {Policy: explore.Random, Seed: 1}} {
				junk(t, p, s, r, i)
			}
		}
	}
}

// TestMutantsRun runs mutants that decode.
func TestMutantsRun(t *testing.T) {
	var all []*ptx.Inst
	mods := corpus(t)
	for _, m := range mods {
		for _, it := range m.Items {
			if f, ok := it.(*ptx.Func); ok && f.Body != nil {
				all = append(all, instructions(f.Body, nil)...)
			}
		}
	}
	all = append(all, examplesOfForms(t)...)
	r := rand.New(rand.NewPCG(5, 6))
	ran := 0
	for _, m := range mods {
		for _, it := range m.Items {
			f, ok := it.(*ptx.Func)
			if !ok || !f.Entry || f.Body == nil {
				continue
			}
			list := instructions(f.Body, nil)
			for range few(6) {
				// Near the start, so that the run comes there.
				undo := mutate(r, list[r.IntN(min(len(list), 40))], list, all)
				if p, err := machine.Decode(m, f.Name); err == nil {
					junk(t, p, explore.Schedule{Policy: explore.Random, Seed: 1}, r, 1)
					ran++
				}
				undo()
			}
		}
	}
	if ran < few(600)/6 {
		t.Errorf("only %d mutants ran", ran)
	}
}

// junk runs a program with one buffer that every pointer may point into.
func junk(t *testing.T, p *machine.Program, s explore.Schedule, r *rand.Rand, kind int) {
	t.Helper()
	size := uint64(0)
	for _, q := range p.Params {
		size = max(size, q.Offset+q.Size)
	}
	params := make([]byte, size)
	const base = 0x10_0000
	for _, q := range p.Params {
		b := params[q.Offset : q.Offset+q.Size]
		switch {
		case kind == 0:
		case q.Size == 8:
			b[2] = 0x10
		default:
			for i := range b {
				b[i] = byte(r.UintN(256))
			}
			if q.Size == 4 {
				b[1], b[2], b[3] = 0, 0, 0
			}
		}
	}
	cfg := machine.Config{Program: p, Grid: [3]uint32{2, 1, 1}, Block: [3]uint32{64, 1, 1}, Cluster: [3]uint32{1, 1, 1},
		Shared: 64 << 10, Params: params, MaxInstrs: 20_000,
		Buffers: []machine.Buffer{{Name: "b", Base: base, Size: 1 << 20, Init: true}}}
	if kind == 1 {
		cfg.Cluster[0] = 2
	}
	m, err := machine.New(cfg)
	if err != nil {
		return
	}
	explore.Run(m, s, nil)
	m.Waiting()
	if m.Stopped() == nil && !m.Done() {
		t.Errorf("%s: the run neither stopped nor ended", p.Kernel.Name)
	}
}
