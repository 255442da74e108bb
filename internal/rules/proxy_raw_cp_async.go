package rules

import (
	"muster/internal/machine"
	"muster/internal/order"
)

var proxyRawCpAsync = register(Kind{
	Name:     "proxy-raw-cp-async",
	Severity: Warning,
	Title:    "cp.async feeding wgmma or tcgen05.mma without a proxy fence",
	Habit:    true,
	Section:  "8.6, 9.7.9.25.2, 9.7.15.7.1",
	Text: `A cp.async (not bulk) wrote shared memory that a wgmma, tcgen05.mma or tcgen05.cp reads
as a matrix. It was
waited for, and barriers order the two; but no fence.proxy.async stands between.

Who disagrees. By the letter of the ISA a cp.async is performed in the generic
proxy (9.7.9.25.2 puts only cp.async.bulk and cp.reduce.async.bulk into the asynchronous
one), and wgmma and tcgen05 read their matrices in the asynchronous proxy and ask for a
fence of that proxy after writes to them (9.7.15, 9.7.15.7.1, 9.7.18.6.5). The multistage main loop of CUTLASS for sm_90 and the
code that Triton compiles for pointer loads leave the fence out; other
libraries have added it as a bug fix. We know of no failure on a card. That is why
this is a warning, where the same with ordinary stores is an error (proxy-raw).

To follow the letter, execute fence.proxy.async.shared::cta in each thread after its
cp.async.wait_group and before the barrier that leads to the wgmma or tcgen05.mma.`,
})

// fedByCpAsync reports whether a conflict is of that kind.
func fedByCpAsync(c *order.Conflict) bool {
	return c.Prior.Op >= 0 && c.Prior.Kind == machine.OpCpAsync && c.Cur.Op >= 0 && readsMatrices(c.Cur.Kind)
}

// readsMatrices reports whether operations of a kind read shared memory by descriptors.
func readsMatrices(k machine.OpKind) bool {
	return k == machine.OpWgmma || k == machine.OpTensorMultiply || k == machine.OpTensorCopy
}

func (j *Judge) cpAsyncRead(c *order.Conflict) Finding {
	f := j.proxyRead(c)
	f.Notes = append(f.Notes, "contested: CUTLASS's multistage main loop and Triton leave the fence out, other libraries added it as a fix; we know of no failure on a card")
	return f
}
