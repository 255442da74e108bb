package ops

import (
	"fmt"

	"muster/kernel"
)

// reductions are the operations of atomics.
var reductions = []reduction{
	{kernel.Add, []kernel.Type{kernel.U32, kernel.S32, kernel.U64, kernel.S64, kernel.F16, kernel.F16x2, kernel.BF16, kernel.BF16x2, kernel.F32, kernel.F64}},
	{kernel.Min, []kernel.Type{kernel.U32, kernel.S32, kernel.U64, kernel.S64}},
	{kernel.Max, []kernel.Type{kernel.U32, kernel.S32, kernel.U64, kernel.S64}},
	{kernel.Inc, []kernel.Type{kernel.U32}},
	{kernel.Dec, []kernel.Type{kernel.U32}},
	{kernel.And, []kernel.Type{kernel.B32, kernel.B64}},
	{kernel.Or, []kernel.Type{kernel.U32, kernel.U64}},
	{kernel.Xor, []kernel.Type{kernel.S32, kernel.B64}},
	{kernel.Exch, []kernel.Type{kernel.B32, kernel.F32, kernel.U64}},
}

func init() {
	for _, r := range reductions {
		for _, t := range r.types {
			name := fmt.Sprintf("%s_%s", r.op, t)
			add("atomic/"+name, []string{"Ptr.Atom", "Ptr.Red"}, call("atom_"+name, 1, 1, func(k *kernel.Kernel) {
				// Each thread has a number of its own, in global and in shared
				// memory, so that what it finds there is known.
				data := k.GlobalPtr("data", t)
				old := k.GlobalPtr("old", t)
				s := k.Shared("s", t, 64)
				i := k.TidX()
				v := data.At(i.Add(64)).Load()
				s.At(i).Store(data.At(i).Load())
				old.At(i).Store(data.At(i).Atom(r.op, v))
				old.At(i.Add(64)).Store(s.At(i).Atom(r.op, v, kernel.Relaxed, kernel.CTA))
				if r.op != kernel.Exch {
					data.At(i).Red(r.op, v, kernel.Release, kernel.GPU)
					s.At(i).Red(r.op, v, kernel.CTA)
				}
				old.At(i.Add(128)).Store(s.At(i).Load())
			}, values(t, 128), values(t, 192)))
		}
	}
	add("atomic/sum", []string{"Ptr.Atom", "Ptr.Red"},
		call("atom_sum", 2, 1, func(k *kernel.Kernel) {
			// All threads add to one number. No old value is kept, so the
			// result is the sum in every order.
			sum := k.GlobalPtr("sum", kernel.U32)
			s := k.Shared("s", kernel.U32)
			k.SingleThread(func() { s.Store(0) })
			k.SyncThreads()
			s.Red(kernel.Add, k.TidX(), kernel.Relaxed, kernel.CTA)
			k.SyncThreads()
			k.SingleThread(func() { sum.Red(kernel.Add, s.Load()) })
		}, empty(1)))
	for _, t := range []kernel.Type{kernel.B16, kernel.U32, kernel.F32, kernel.U64, kernel.S64} {
		args := []func() any{values(t, 64), values(t, 128)}
		if t == kernel.B16 {
			args = []func() any{halves(64, kernel.F16Bits), halves(128, kernel.F16Bits)}
		}
		add("atomic/cas-"+string(t), []string{"Ptr.CAS"}, call("cas_"+string(t), 1, 1, func(k *kernel.Kernel) {
			// Half of the comparisons come out false.
			data, old := k.GlobalPtr("data", t), k.GlobalPtr("old", t)
			s := k.Shared("s", t, 64)
			i := k.TidX()
			is := data.At(i).Load()
			s.At(i).Store(is)
			other := data.At(i.And(1).Mul(0).Add(7)).Load()
			k.SyncThreads()
			old.At(i).Store(data.At(i).CAS(is, other, kernel.AcqRel, kernel.GPU))
			old.At(i.Add(64)).Store(s.At(i).CAS(other, is, kernel.Relaxed, kernel.CTA))
		}, args...))
	}
	for _, v := range []struct {
		t   kernel.Type
		n   int
		ops []kernel.Op
	}{
		{kernel.F32, 2, []kernel.Op{kernel.Add}}, {kernel.F32, 4, []kernel.Op{kernel.Add}},
		{kernel.F16, 2, []kernel.Op{kernel.Add, kernel.Min, kernel.Max}}, {kernel.F16, 8, []kernel.Op{kernel.Add}},
		{kernel.BF16, 4, []kernel.Op{kernel.Add, kernel.Max}}, {kernel.F16x2, 4, []kernel.Op{kernel.Add, kernel.Min}}, {kernel.BF16x2, 2, []kernel.Op{kernel.Add}},
	} {
		for _, op := range v.ops {
			name := fmt.Sprintf("%s_%s_%d", op, v.t, v.n)
			add("atomic/vec-"+name, []string{"Ptr.AtomVec", "Ptr.RedVec"}, call("atom_vec_"+name, 1, 1, func(k *kernel.Kernel) {
				data, old := k.GlobalPtr("data", v.t, 16), k.GlobalPtr("old", v.t, 16)
				at := k.TidX().Mul(v.n)
				x := data.At(at.Add(64 * v.n)).LoadVec(min(v.n, 4))
				for i := 4; i < v.n; i++ {
					x = append(x, x[i-4])
				}
				was := data.At(at).AtomVec(op, x)
				data.At(at).RedVec(op, x)
				for i := range was {
					old.At(at.Add(i)).Store(was[i])
				}
			}, values(v.t, 128*v.n), values(v.t, 64*v.n)))
		}
	}
}
