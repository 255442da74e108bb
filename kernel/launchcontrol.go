package kernel

// LaunchControl is a ring of work: a thread asks for CTAs of the grid that have not begun,
// and a CTA that is given up never begins, so that the asking CTA does its work (ISA
// 9.7.13.18). What is given up is found out at run time; the last answer is that nothing is
// left.
//
//	x := k.CtaidX().Copy()
//	k.Loop(func() {
//	    k.SingleThread(w.Try)
//	    … the work of CTA x
//	    g := w.Wait()
//	    w.Release()
//	    k.BreakIf(g.Valid.Not())
//	    x.Set(g.X)
//	})
//
// The thread that asks must not ask again once an answer was that nothing is left: with one
// request under way it has seen each answer before the next.
type LaunchControl struct {
	k       *Kernel
	ring    *Pipeline
	answers Ptr
	ask     *Producer // each thread's positions
	got     *Consumer
}

// answerBytes is the size of an answer.
const answerBytes = 16

// LaunchControl allocates a ring for the answers of stages requests under way, 16 bytes each,
// and its barriers, which InitMbarriers initializes; consumers are the threads that call
// Release for each answer. Call it where all threads come by, outside of loops, for each keeps
// its positions in the ring. The kernel has no clusters; for those the answer goes to each CTA of the
// cluster, with package inst.
func (k *Kernel) LaunchControl(name string, stages, consumers int) *LaunchControl {
	if k.CTAs() > 1 {
		k.fail("LaunchControl(%q): the kernel has clusters of %d, all of whose CTAs take an answer: use inst.ClusterlaunchcontrolTryCancel with multicast::cluster::all", name, k.CTAs())
	}
	w := &LaunchControl{k: k, ring: k.Pipeline(name, stages, 1, consumers)}
	w.answers = k.Shared(name+"_answers", B128, w.ring.stages)
	w.ask, w.got = w.ring.Producer(), w.ring.Consumer()
	return w
}

// Try waits until the consumers have released the stage's last answer, asks for a CTA, and
// goes on to the next stage. One thread executes it. It emits
// clusterlaunchcontrol.try_cancel, and the proxy fence after the wait.
func (w *LaunchControl) Try() {
	k := w.k
	if !k.oneThread("Try", "each would take a CTA") {
		return
	}
	w.ask.Acquire()
	k.FenceProxyAsyncAcquire()
	w.ask.Expect(answerBytes)
	k.Inst("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128", w.answers.At(w.ask.Stage), w.ask.Full().Ptr())
	w.ask.Advance()
}

// A Grant is an answer: whether a CTA was given up, and its position in the grid, which is
// set only then.
type Grant struct {
	Valid   Pred
	X, Y, Z Reg
}

// Wait waits for the answer and reads it: each thread has it in registers then. It emits
// clusterlaunchcontrol.query_cancel.
func (w *LaunchControl) Wait() Grant {
	k := w.k
	w.got.Wait()
	v := w.answers.At(w.got.Stage).Load()
	g := Grant{Valid: k.pred(), X: k.reg(U32), Y: k.reg(U32), Z: k.reg(U32)}
	k.Inst("clusterlaunchcontrol.query_cancel.is_canceled.pred.b128", g.Valid, v)
	k.Guard(g.Valid, func() {
		for i, d := range []Reg{g.X, g.Y, g.Z} {
			k.Inst("clusterlaunchcontrol.query_cancel.get_first_ctaid::"+"xyz"[i:i+1]+".b32.b128", d, v)
		}
	})
	return g
}

// Release gives the stage back, once for each calling thread, and goes on to the next: the
// next answer may be written there. The proxy fence goes before the arrival.
func (w *LaunchControl) Release() {
	w.k.FenceProxyAsyncRelease()
	w.got.Release()
	w.got.Advance()
}
