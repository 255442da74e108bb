package kernel_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"muster/kernel"
)

// mistakesOf returns a kernel's mistakes, one per line.
func mistakesOf(t *testing.T, opts []kernel.Option, body func(k *kernel.Kernel)) string {
	t.Helper()
	k := kernel.New("bad", opts...)
	body(k)
	_, err := k.Build()
	if err == nil {
		t.Error("no mistake was found")
		return ""
	}
	return err.Error()
}

// TestBarrierMistakes checks the whole text of each mistake, and that it is
// reported once, at the line whose comment names it. Other places in the text
// are compared as PLACE.
func TestBarrierMistakes(t *testing.T) {
	block := []kernel.Option{kernel.Block(128)}
	clusters := []kernel.Option{kernel.Block(128), kernel.Clusters(2)}
	tests := []struct {
		name string
		opts []kernel.Option
		want string
		body func(k *kernel.Kernel)
	}{
		{"never initialized", block, `mbarrier full is never initialized: call InitMbarriers, or Init in one thread`,
			func(k *kernel.Kernel) {
				bar := k.Mbarrier("full", 1) // here: never initialized
				bar.Arrive()
			}},
		{"an element never initialized", block, `mbarrier full[2] is never initialized: call InitMbarriers, or Init in one thread`,
			func(k *kernel.Kernel) {
				bars := k.Mbarriers("full", 4, 1) // here: an element never initialized
				k.InitMbarriers(bars.At(0), bars.At(1), bars.At(3))
			}},
		{"initialized twice", block, `mbarrier empty[1] is initialized already, at PLACE; a barrier that is in use takes no other init`,
			func(k *kernel.Kernel) {
				bars := k.Mbarriers("empty", 2, 1)
				k.InitMbarriers()
				k.InitMbarriers(bars.At(1)) // here: initialized twice
			}},
		{"nothing to initialize", block, `InitMbarriers: there is no mbarrier that is not initialized yet`,
			func(k *kernel.Kernel) {
				k.InitMbarriers() // here: nothing to initialize
			}},
		{"init in a group", block, `InitMbarriers in a group of threads 0 to 31: all threads of the CTA wait for it; call it outside of groups`,
			func(k *kernel.Kernel) {
				k.Mbarrier("full", 1)
				k.SingleWarp(0, func() {
					k.InitMbarriers() // here: init in a group
				})
			}},
		{"init without a block", nil, `InitMbarriers: groups need the threads of a CTA; give New the option Block`,
			func(k *kernel.Kernel) {
				bar := k.Mbarrier("full", 1)
				k.InitMbarriers(bar) // here: init without a block
			}},
		{"count of zero", block, `Mbarrier("full"): a count of 0 arrivals; a barrier counts 1 to 2^20-1`,
			func(k *kernel.Kernel) {
				k.Mbarrier("full", 0) // here: count of zero
				k.InitMbarriers()
			}},
		{"count too large", block, `Mbarriers("full"): a count of 1048576 arrivals; a barrier counts 1 to 2^20-1`,
			func(k *kernel.Kernel) {
				k.Mbarriers("full", 2, 1<<20) // here: count too large
				k.InitMbarriers()
			}},
		{"init of zero", block, `Init(0) of mbarrier full: a barrier counts 1 to 2^20-1 arrivals`,
			func(k *kernel.Kernel) {
				bar := k.Mbarrier("full", 3)
				k.SingleThread(func() {
					bar.Init(0) // here: init of zero
				})
			}},
		{"no barriers", block, `Mbarriers("full"): an array of 0 barriers; it has at least one`,
			func(k *kernel.Kernel) {
				k.Mbarriers("full", 0, 1) // here: no barriers
				k.InitMbarriers()
			}},
		{"an array arrived at", block, `Arrive of full, which is an array of 4 barriers: say which with At`,
			func(k *kernel.Kernel) {
				bars := k.Mbarriers("full", 4, 1)
				k.InitMbarriers()
				bars.Arrive() // here: an array arrived at
			}},
		{"an array waited for", block, `WaitParity of full, which is an array of 4 barriers: say which with At`,
			func(k *kernel.Kernel) {
				bars := k.Mbarriers("full", 4, 1)
				k.InitMbarriers()
				bars.WaitParity(0) // here: an array waited for
			}},
		{"outside of the array", block, `At: barrier 4 of full, which has 4`,
			func(k *kernel.Kernel) {
				bars := k.Mbarriers("full", 4, 1)
				k.InitMbarriers()
				bars.At(4).Arrive() // here: outside of the array
			}},
		{"token of another barrier", block, `Wait of mbarrier empty with a token of mbarrier full: a token is of the barrier that was arrived at`,
			func(k *kernel.Kernel) {
				full, empty := k.Mbarrier("full", 128), k.Mbarrier("empty", 128)
				k.InitMbarriers()
				empty.Wait(full.Arrive()) // here: token of another barrier
			}},
		{"token of another element", block, `TestWait of mbarrier full[1] with a token of mbarrier full[0]: a token is of the barrier that was arrived at`,
			func(k *kernel.Kernel) {
				full := k.Mbarriers("full", 2, 128)
				k.InitMbarriers()
				full.At(1).TestWait(full.At(0).Arrive()) // here: token of another element
			}},
		{"token of a remote arrival", clusters, `Wait: the token is of the arrival at PLACE, which is at another CTA's mbarrier and gives none: wait by parity`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 128)
				k.InitMbarriers()
				tok := full.Remote(1).Arrive()
				full.Wait(tok) // here: token of a remote arrival
			}},
		{"pending of a remote arrival", clusters, `Pending: the token is of the arrival at PLACE, which is at another CTA's mbarrier and gives none: wait by parity`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 128)
				k.InitMbarriers()
				full.Remote(1).Arrive().Pending() // here: pending of a remote arrival
			}},
		{"zero token", block, `TryWait: the zero Token is of no arrival`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 128)
				k.InitMbarriers()
				full.TryWait(kernel.Token{}) // here: zero token
			}},
		{"pending of a plain arrival", block, `Pending of a token of mbarrier full: PTX defines it for tokens of ArriveNoComplete and ArriveDropNoComplete only`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 128)
				k.InitMbarriers()
				full.Arrive().Pending() // here: pending of a plain arrival
			}},
		{"remote without clusters", block, `Remote: the kernel has no clusters; give New the option Clusters`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 128)
				k.InitMbarriers()
				full.Remote(1).Arrive() // here: remote without clusters
			}},
		{"remote twice", clusters, `Remote of mbarrier full of another CTA: it is another CTA's already`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 128)
				k.InitMbarriers()
				full.Remote(1).Remote(0).Arrive() // here: remote twice
			}},
		{"remote outside of the cluster", clusters, `Remote(2) of mbarrier full: the cluster has CTAs 0 to 1`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 128)
				k.InitMbarriers()
				full.Remote(2).Arrive() // here: remote outside of the cluster
			}},
		{"remote wait", clusters, `WaitParity of mbarrier full of another CTA: a CTA can arrive there and announce bytes, nothing else`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 128)
				k.InitMbarriers()
				full.Remote(1).WaitParity(0) // here: remote wait
			}},
		{"remote inval", clusters, `Inval of mbarrier full of another CTA: a CTA can arrive there and announce bytes, nothing else`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 128)
				k.InitMbarriers()
				full.Remote(1).Inval() // here: remote inval
			}},
		{"multicast without clusters", block, `ArriveMulticast: the kernel has no clusters; give New the option Clusters`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 128)
				k.InitMbarriers()
				full.ArriveMulticast(1) // here: multicast without clusters
			}},
		{"multicast outside of the cluster", clusters, `ArriveMulticast: mask 0x5; the cluster has the CTAs of mask 0x3`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 128)
				k.InitMbarriers()
				full.ArriveMulticast(5) // here: multicast outside of the cluster
			}},
		{"too many bytes", block, `ArriveExpect(1048576) of mbarrier full: a phase awaits 0 to 2^20-1 bytes`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 128)
				k.InitMbarriers()
				full.ArriveExpect(1 << 20) // here: too many bytes
			}},
		{"negative bytes", block, `ExpectTx(-4) of mbarrier full: a phase awaits 0 to 2^20-1 bytes`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 128)
				k.InitMbarriers()
				full.ExpectTx(-4) // here: negative bytes
			}},
		{"more arrivals than are counted", block, `ArriveCount(5) of mbarrier full, which counts 4 arrivals a phase`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 4)
				k.InitMbarriers()
				full.ArriveCount(5) // here: more arrivals than are counted
			}},
		{"no arrivals", block, `ArriveNoComplete(0) of mbarrier full: 1 to 2^20-1 arrivals at a time`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 4)
				k.InitMbarriers()
				full.ArriveNoComplete(0) // here: no arrivals
			}},
		{"parity of two", block, `WaitParity(2) of mbarrier full: a parity is 0 or 1`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 4)
				k.InitMbarriers()
				full.WaitParity(2) // here: parity of two
			}},
		{"arrive acquires", block, `Arrive of mbarrier full: modifier acquire; it takes release or relaxed, and cta or cluster`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 4)
				k.InitMbarriers()
				full.Arrive(kernel.Acquire) // here: arrive acquires
			}},
		{"wait at GPU scope", block, `WaitParity of mbarrier full: modifier gpu; it takes acquire or relaxed, and cta or cluster`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 4)
				k.InitMbarriers()
				full.WaitParity(0, kernel.GPU) // here: wait at GPU scope
			}},
		{"wait in a guard", block, `WaitParity inside of Guard: it is a loop, and only plain instructions take a predicate; use If`,
			func(k *kernel.Kernel) {
				full := k.Mbarrier("full", 4)
				k.InitMbarriers()
				k.Guard(k.TidX().Eq(0), func() {
					full.WaitParity(0) // here: wait in a guard
				})
			}},
		{"pipeline without stages", block, `Pipeline("ring"): 0 stages; it has at least one`,
			func(k *kernel.Kernel) {
				k.Pipeline("ring", 0, 1, 1) // here: pipeline without stages
				k.InitMbarriers()
			}},
		{"pipeline without consumers", block, `Mbarriers("ring_empty"): a count of 0 arrivals; a barrier counts 1 to 2^20-1`,
			func(k *kernel.Kernel) {
				k.Pipeline("ring", 2, 1, 0) // here: pipeline without consumers
				k.InitMbarriers()
			}},
		{"pipeline never initialized", block, `mbarrier ring_full[0] is never initialized: call InitMbarriers, or Init in one thread
mbarrier ring_empty[0] is never initialized: call InitMbarriers, or Init in one thread`,
			func(k *kernel.Kernel) {
				k.Pipeline("ring", 2, 1, 1) // here: pipeline never initialized
			}},
		{"ring without stages", block, `Stages(0): a ring has at least one stage`,
			func(k *kernel.Kernel) {
				k.Stages(0, kernel.ProducerParity) // here: ring without stages
			}},
		{"ring of parity 2", block, `Stages: a parity of 2; it is ProducerParity, 1, or ConsumerParity, 0`,
			func(k *kernel.Kernel) {
				k.Stages(4, 2) // here: ring of parity 2
			}},
		{"outside of the group", block, `Threads(32, 64) is outside of the current group, which has 64 threads`,
			func(k *kernel.Kernel) {
				k.Warps(1, 2, func() {
					k.Threads(32, 64, func() {}) // here: outside of the group
				})
			}},
		{"outside of the CTA", block, `SingleWarp(4) is outside of the current group, which has 128 threads`,
			func(k *kernel.Kernel) {
				k.SingleWarp(4, func() {}) // here: outside of the CTA
			}},
		{"no second warpgroup", block, `Warpgroup(1) is outside of the current group, which has 128 threads`,
			func(k *kernel.Kernel) {
				k.Warpgroup(1, func() {}) // here: no second warpgroup
			}},
		{"empty group", block, `Threads(0, 0): a group has at least one thread, and begins at 0 or later`,
			func(k *kernel.Kernel) {
				k.Threads(0, 0, func() {}) // here: empty group
			}},
		{"warps of a group that begins within one", block, `Warps(0, 1) of threads 8 to 71: the group does not begin with a warp`,
			func(k *kernel.Kernel) {
				k.Threads(8, 64, func() {
					k.Warps(0, 1, func() {}) // here: warps of a group that begins within one
				})
			}},
		{"a warpgroup that is none", block, `Warpgroup(0) of threads 32 to 127: a warpgroup begins at a multiple of 128 threads, and the group does not`,
			func(k *kernel.Kernel) {
				k.Warps(1, 3, func() {
					k.Warpgroup(0, func() {}) // here: a warpgroup that is none
				})
			}},
		{"each warp of a part", block, `EachWarp of threads 0 to 47: the group is not made of whole warps`,
			func(k *kernel.Kernel) {
				k.Threads(0, 48, func() {
					k.EachWarp(func() {}) // here: each warp of a part
				})
			}},
		{"group without a block", nil, `SingleThread: groups need the threads of a CTA; give New the option Block`,
			func(k *kernel.Kernel) {
				k.SingleThread(func() {}) // here: group without a block
			}},
		{"group in a guard", block, `SingleThread inside of Guard: only plain instructions take a predicate; use If`,
			func(k *kernel.Kernel) {
				k.Guard(k.TidX().Eq(0), func() {
					k.SingleThread(func() {}) // here: group in a guard
				})
			}},
		{"elect of a CTA", block, `Elect in a group of threads 0 to 127: it elects one thread of one whole warp; make the group one with SingleWarp or EachWarp`,
			func(k *kernel.Kernel) {
				k.Elect(func() {}) // here: elect of a CTA
			}},
		{"elect of a part of a warp", block, `Elect in a group of threads 0 to 15: it elects one thread of one whole warp; make the group one with SingleWarp or EachWarp`,
			func(k *kernel.Kernel) {
				k.Threads(0, 16, func() {
					k.Elect(func() {}) // here: elect of a part of a warp
				})
			}},
		{"sync of a part of two warps", block, `Sync of threads 16 to 47: they are in more than one warp and not all of these warps, and a named barrier counts whole warps`,
			func(k *kernel.Kernel) {
				k.Threads(16, 32, func() {
					k.Sync() // here: sync of a part of two warps
				})
			}},
		{"named barrier of a part of a warp", block, `NamedBarrier(48): a named barrier counts whole warps, 32 to 128 threads here`,
			func(k *kernel.Kernel) {
				k.NamedBarrier(48) // here: named barrier of a part of a warp
			}},
		{"named barrier of more than the CTA", block, `NamedBarrier(160): a named barrier counts whole warps, 32 to 128 threads here`,
			func(k *kernel.Kernel) {
				k.NamedBarrier(160) // here: named barrier of more than the CTA
			}},
		{"named barrier by more than it counts", block, `NamedBarrier.Sync by threads 0 to 127: they are 128, and the barrier counts 64`,
			func(k *kernel.Kernel) {
				bar := k.NamedBarrier(64)
				bar.Sync() // here: named barrier by more than it counts
			}},
		{"named barrier by one thread", block, `NamedBarrier.Arrive by thread 0: a barrier counts whole warps, and these are not all threads of theirs`,
			func(k *kernel.Kernel) {
				bar := k.NamedBarrier(64)
				k.SingleThread(func() {
					bar.Arrive() // here: named barrier by one thread
				})
			}},
		{"sync threads by one", block, `SyncThreads by thread 0: a barrier counts whole warps, and these are not all threads of theirs`,
			func(k *kernel.Kernel) {
				k.SingleThread(func() {
					k.SyncThreads() // here: sync threads by one
				})
			}},
		{"sixteen named barriers", block, `NamedBarrier(64) needs a named barrier, and a CTA has 15 of them besides barrier 0: ` +
			`1: Sync of threads 64 to 127 at PLACE; ` + strings.Repeat(`N: NamedBarrier(32) at PLACE; `, 13) + `N: NamedBarrier(32) at PLACE`,
			func(k *kernel.Kernel) {
				k.Warps(2, 2, func() { k.Sync() })
				for range 14 {
					k.NamedBarrier(32)
				}
				k.Warps(2, 2, func() { k.Sync() }) // the same threads: the same barrier
				k.NamedBarrier(64)                 // here: sixteen named barriers
			}},
	}
	place := regexp.MustCompile(`mistakes_barrier_test\.go:\d+`)
	number := regexp.MustCompile(`\d+: NamedBarrier\(32\)`)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := mistakesOf(t, test.opts, test.body)
			at := "mistakes_barrier_test.go:" + strconv.Itoa(lineOf(t, "mistakes_barrier_test.go", "// here: "+test.name)) + ": "
			for i, line := range strings.Split(test.want, "\n") {
				have := ""
				if lines := strings.Split(got, "\n"); i < len(lines) {
					have = lines[i]
				}
				msg, ok := strings.CutPrefix(have, at)
				msg = place.ReplaceAllString(msg, "PLACE")
				msg = number.ReplaceAllString(msg, "N: NamedBarrier(32)")
				if !ok || msg != line {
					t.Errorf("got\n%s\nwant\n%s%s", have, at, line)
				}
			}
			if n := strings.Count(got, "\n"); n != strings.Count(test.want, "\n") {
				t.Errorf("%d mistakes are reported:\n%s", n+1, got)
			}
		})
	}
}
