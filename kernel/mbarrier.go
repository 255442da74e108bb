package kernel

import (
	"fmt"

	"muster/ptx"
)

// An Mbarrier is a barrier in shared memory that counts arrivals and the bytes of
// asynchronous copies, or an array of them (ISA 9.7.13.15). A phase is complete when its
// pending count and its tx-count are zero: all arrivals were made and all expected bytes
// have landed. Then the next phase begins.
//
// Every thread that executes an arrival arrives: in a group of 128 threads Arrive is 128
// arrivals. Use SingleThread or Elect for one arrival.
//
// Modifiers are an order (Release, the default of arrivals; Acquire, that of waits;
// Relaxed) and a scope (CTA, Cluster). Without a scope, arrivals at a barrier of another
// CTA have cluster scope, all others CTA scope. Waits without a scope have cluster scope
// if the kernel arrives at other CTAs' barriers of the same allocation, by Remote or
// ArriveMulticast, and else CTA scope.
type Mbarrier struct {
	k      *Kernel
	set    *mbarriers
	index  int // of the element; -1 if only the kernel knows it, or for the whole array
	ptr    Ptr
	remote bool
}

// mbarriers are the barriers of one allocation.
type mbarriers struct {
	name   string
	n      int
	count  int
	at     Place
	single bool    // not an array
	inits  []Place // of each element
	// dynamic says that Init was called for an element whose index is a register.
	dynamic bool
	another bool        // Init was called with a different count
	far     bool        // the kernel accesses other CTAs' barriers of the allocation
	waits   []*ptx.Inst // without an explicit scope
	all     Mbarrier    // the barrier, or the array
}

// ProducerParity and ConsumerParity are the initial parities of the two sides of a ring
// of barriers: a wait for parity 1 passes at a new barrier, since the phase before the
// first counts as complete, and one for parity 0 waits for the first phase (ISA
// 9.7.13.15.16).
const (
	ProducerParity = 1
	ConsumerParity = 0
)

// maxCount bounds the pending count and the tx-count of a phase (ISA 9.7.13.15.2).
const maxCount = 1<<20 - 1

type mbarrierKey struct{}

// Mbarrier allocates a barrier in shared memory, 8 bytes, that expects count arrivals per
// phase: 1 to 2^20-1. InitMbarriers initializes it.
func (k *Kernel) Mbarrier(name string, count int) Mbarrier {
	return k.mbarriers("Mbarrier", name, 1, count, true)
}

// Mbarriers allocates an array of n barriers, each of which expects count arrivals a
// phase. At selects one.
func (k *Kernel) Mbarriers(name string, n, count int) Mbarrier {
	return k.mbarriers("Mbarriers", name, n, count, false)
}

func (k *Kernel) mbarriers(what, name string, n, count int, single bool) Mbarrier {
	switch {
	case n < 1:
		k.fail("%s(%q): an array of %d barriers; it has at least one", what, name, n)
		n = 1
	case n > maxShared/8:
		k.fail("%s(%q): an array of %d barriers; shared memory has room for %d", what, name, n, maxShared/8)
		n = 1
	}
	if count < 1 || count > maxCount {
		k.fail("%s(%q): a count of %d arrivals; a barrier counts 1 to 2^20-1", what, name, count)
		count = 1
	}
	s := &mbarriers{name: name, n: n, count: count, at: k.here(), single: single, inits: make([]Place, n)}
	all, again := k.state[mbarrierKey{}].([]*mbarriers)
	k.state[mbarrierKey{}] = append(all, s)
	if !again {
		k.onBuild(k.finishMbarriers)
	}
	m := Mbarrier{k: k, set: s}
	if single {
		m.ptr = k.Shared(name, B64)
	} else {
		m.ptr, m.index = k.Shared(name, B64, n), -1
	}
	s.all = m
	return m
}

// finishMbarriers reports uninitialized barriers, and sets the scope of waits.
func (k *Kernel) finishMbarriers() {
	all, _ := k.state[mbarrierKey{}].([]*mbarriers)
	for _, s := range all {
		if s.far {
			s.widen()
		}
		for i := range s.n {
			if !s.dynamic && s.inits[i] == (Place{}) {
				k.failAt(s.at, "mbarrier %s is never initialized: call InitMbarriers, or Init in one thread", s.element(i))
				break
			}
		}
	}
}

func (s *mbarriers) element(i int) string {
	if s.single || i < 0 {
		return s.name
	}
	return fmt.Sprintf("%s[%d]", s.name, i)
}

func (m Mbarrier) kernel() *Kernel {
	if m.k == nil {
		panic("kernel: the zero Mbarrier is no barrier: it comes from Kernel.Mbarrier")
	}
	return m.k
}

// String returns the barrier's name, with its index unless the kernel computes it.
func (m Mbarrier) String() string {
	s := m.set.element(m.index)
	if m.remote {
		s += " of another CTA"
	}
	return s
}

// Ptr gives the address of the barrier's 64-bit word.
func (m Mbarrier) Ptr() Ptr { return m.ptr }

// Count returns the arrivals per phase given at allocation.
func (m Mbarrier) Count() int { return m.set.count }

// Len returns the number of barriers in the array; 1 for a single barrier.
func (m Mbarrier) Len() int {
	if m.index >= 0 || m.ptr.dims == nil {
		return 1
	}
	return m.set.n
}

// At selects one barrier of an array. The index is a Go integer or a register.
func (m Mbarrier) At(i Num) Mbarrier {
	k := m.kernel()
	if m.set.single || m.ptr.dims == nil {
		k.fail("At of mbarrier %s, which is one barrier and no array", m)
		return m
	}
	n, ok := toInt(i)
	if ok && (n < 0 || n >= int64(m.set.n)) {
		k.fail("At: barrier %d of %s, which has %d", n, m.set.name, m.set.n)
		n = 0
		i = 0
	}
	m.ptr = m.ptr.At(i)
	if ok {
		m.index = int(n)
	}
	return m
}

// Remote returns the barrier at the same offset in another CTA of the cluster, by its
// rank. It supports only arrivals and ExpectTx, and its arrivals return no token (ISA
// 9.7.13.15.8). It emits mapa.
func (m Mbarrier) Remote(rank Num) Mbarrier {
	k := m.one("Remote")
	if m.remote {
		k.fail("Remote of mbarrier %s: it is another CTA's already", m)
		return m
	}
	if n, ok := toInt(rank); ok && k.CTAs() > 1 && (n < 0 || n >= int64(k.CTAs())) {
		k.fail("Remote(%d) of mbarrier %s: the cluster has CTAs 0 to %d", n, m, k.CTAs()-1)
		rank = 0
	}
	m.ptr, m.remote, m.set.far = m.ptr.Remote(rank), true, true
	return m
}

// one reports an operation on an array of barriers.
func (m Mbarrier) one(what string) *Kernel {
	k := m.kernel()
	if m.ptr.dims != nil {
		k.fail("%s of %s, which is an array of %d barriers: say which with At", what, m.set.name, m.set.n)
	}
	return k
}

// own reports an operation on a barrier of another CTA.
func (m Mbarrier) own(what string) (*Kernel, bool) {
	k := m.one(what)
	if m.remote {
		k.fail("%s of mbarrier %s: a CTA can arrive there and announce bytes, nothing else", what, m)
	}
	return k, !m.remote && m.ptr.dims == nil
}

// InitMbarriers initializes barriers with the counts given at allocation: the listed
// ones, or all that are not initialized yet. The first thread of the CTA does it, then
// all threads of the CTA synchronize, or of the cluster if the kernel has clusters, so
// that all of them may use the barriers afterwards. All threads of the CTA must execute
// it.
//
// It emits mbarrier.init for each barrier and bar.sync 0; with clusters
// fence.mbarrier_init and barrier.cluster.arrive and wait (ISA 9.7.13.15.9, 9.7.13.4). No
// proxy fence is needed, because copies access their barrier through the generic proxy.
func (k *Kernel) InitMbarriers(bars ...Mbarrier) {
	list := k.initialized(bars)
	if !k.sized("InitMbarriers") {
		return
	}
	if g := k.Group(); g.AnyWarp || g.Threads != k.BlockThreads() {
		k.fail("InitMbarriers in a group of %s: all threads of the CTA wait for it; call it outside of groups", g)
		return
	}
	if len(list) == 0 {
		if len(bars) == 0 {
			k.fail("InitMbarriers: there is no mbarrier that is not initialized yet")
		}
		return
	}
	k.SingleThread(func() {
		for _, m := range list {
			k.Inst("mbarrier.init.shared::cta.b64", m.ptr, m.set.count)
		}
		if k.CTAs() > 1 {
			k.Inst("fence.mbarrier_init.release.cluster")
		}
	})
	if k.CTAs() > 1 {
		k.Inst("barrier.cluster.arrive.release.aligned")
		k.Inst("barrier.cluster.wait.acquire.aligned")
		return
	}
	k.Inst("bar.sync", 0)
}

// initialized lists the single barriers for InitMbarriers to initialize, and marks them
// as initialized.
func (k *Kernel) initialized(bars []Mbarrier) []Mbarrier {
	given := len(bars) > 0
	if !given {
		all, _ := k.state[mbarrierKey{}].([]*mbarriers)
		for _, s := range all {
			bars = append(bars, s.all)
		}
	}
	var list []Mbarrier
	for _, m := range bars {
		switch {
		case m.k != k:
			k.fail("InitMbarriers: a barrier of another kernel, or none")
			continue
		case m.remote:
			k.fail("InitMbarriers of mbarrier %s: a CTA initializes its own", m)
			continue
		case m.index < 0 && m.ptr.dims == nil:
			k.fail("InitMbarriers of an element of %s that only the kernel knows: give it the array", m.set.name)
			continue
		}
		from, to := m.index, m.index+1
		if m.index < 0 {
			from, to = 0, m.set.n
		}
		for i := from; i < to; i++ {
			switch was := m.set.inits[i]; {
			case was == (Place{}):
				m.set.inits[i] = k.here()
				m := m.set.all
				if !m.set.single {
					m = m.At(i)
				}
				list = append(list, m)
			case given:
				k.fail("mbarrier %s is initialized already, at %s; a barrier that is in use takes no other init", m.set.element(i), was)
			}
		}
	}
	return list
}

// Init initializes the barrier with another count or at another time than InitMbarriers:
// one thread executes it, and a Sync orders it before every use. It emits mbarrier.init
// (ISA 9.7.13.15.9).
func (m Mbarrier) Init(count Num) {
	k, ok := m.own("Init")
	if !ok {
		return
	}
	if m.index < 0 {
		m.set.dynamic = true
	} else if m.set.inits[m.index] == (Place{}) {
		m.set.inits[m.index] = k.here()
	}
	n, isNum := toInt(count)
	m.set.another = m.set.another || !isNum || n != int64(m.set.count)
	if isNum && (n < 1 || n > maxCount) {
		k.fail("Init(%d) of mbarrier %s: a barrier counts 1 to 2^20-1 arrivals", n, m)
		return
	}
	k.Inst("mbarrier.init.shared::cta.b64", m.ptr, count)
}

// Inval invalidates the barrier, so that its memory can be reused: one thread executes
// it, ordered after every use. It emits mbarrier.inval (ISA 9.7.13.15.10).
func (m Mbarrier) Inval() {
	if k, ok := m.own("Inval"); ok {
		k.Inst("mbarrier.inval.shared::cta.b64", m.ptr)
	}
}
