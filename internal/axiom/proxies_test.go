package axiom_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/internal/axiom"
)

var (
	lanes = []axiom.Place{{Lane: 0}, {Lane: 1}, {Lane: 2}}
	warps = []axiom.Place{{Warp: 0}, {Warp: 1}, {Warp: 2}}
	alone = []axiom.Place{{}}
)

// TestBarriersAndProxies has each way of synchronizing and each proxy by itself,
// with what makes it right left out or too narrow. races lists the pairs that
// race, T:N the N-th operation of thread T; of a copy T:N is the source, T:N>
// the destination and T:Nm the map.
func TestBarriersAndProxies(t *testing.T) {
	for _, l := range []struct {
		name    string
		at      []axiom.Place
		cluster int
		threads []string
		races   string
	}{
		// ISA 9.7.13.1, 9.7.13.2.
		{"named barrier", warps, 1, []string{"st x 1; bar 1", "bar 1; ld x"}, ""},
		{"named barrier, arrive", warps, 1, []string{"st x 1; bararrive 1", "bar 1; ld x"}, ""},
		{"named barrier, a read by who arrived", warps, 1, []string{"bararrive 1; ld x", "st x 1; bar 1"}, "0:1 1:0"},
		{"bar.warp.sync", lanes, 1, []string{"st sx 1; syncwarp 1", "syncwarp 1; ld sx"}, ""},
		{"no bar.warp.sync", lanes, 1, []string{"st sx 1", "ld sx"}, "0:0 1:0"},
		// ISA 9.7.13.3.
		{"cluster barrier", apart, 2, []string{"st sx 1; carrive; cwait", "carrive; cwait; ld sx@0"}, ""},
		{"cluster barrier, relaxed", apart, 2, []string{"st sx 1; carrive.relaxed; cwait", "carrive.relaxed; cwait; ld sx@0"}, "0:0 1:2"},
		{"cluster barrier, relaxed behind a fence", apart, 2, []string{"st sx 1; fence.acq_rel.cluster; carrive.relaxed; cwait", "carrive.relaxed; cwait; ld sx@0"}, ""},
		{"cluster barrier, behind a narrow fence", apart, 2, []string{"st sx 1; fence.acq_rel.cta; carrive.relaxed; cwait", "carrive.relaxed; cwait; ld sx@0"}, "0:0 1:2"},
		{"cluster barrier, behind a fence for shared memory", apart, 2, []string{"st sx 1; st x 1; shared.release; carrive.relaxed; cwait", "carrive.relaxed; cwait; ld sx@0; ld x"}, "0:1 1:3"},
		// ISA 9.7.13.4: a release restricted to shared::cta covers its own CTA's.
		{"restricted fences, a store to the peer", apart, 2, []string{"st sx 1; st sx@1 1; shared.release; carrive.relaxed; cwait", "carrive.relaxed; cwait; ld sx@0; ld sx"}, "0:1 1:3"},
		{"a full release, a restricted acquire", apart, 2, []string{"st sx@1 1; st x 1; fence.acq_rel.cluster; marrive.relaxed.cluster 0@1", "mwait.relaxed.cluster; shared.acquire; ld sx; ld x"}, "0:1 1:3"},
		{"restricted fences, through a third CTA", apart, 3, []string{"st sx 1; shared.release; marrive.relaxed.cluster 0@1", "mwait.acquire.cluster; ld sx@0; shared.release; marrive.relaxed.cluster 0@2", "mwait.acquire.cluster; ld sx@0"}, "0:0 2:1"},
		// The same of the asynchronous proxy: the ISA's pattern of
		// clusterlaunchcontrol.try_cancel (9.7.13.17).
		{"proxy fences meet", apart, 2, []string{"ld sx; proxy.release; carrive.relaxed; cwait", "carrive.relaxed; cwait; proxy.acquire; copy y>sx@0 0@0"}, ""},
		{"proxy fences meet, no release", apart, 2, []string{"ld sx; carrive.relaxed; cwait", "carrive.relaxed; cwait; proxy.acquire; copy y>sx@0 0@0"}, "0:0 1:3>"},
		{"proxy fences meet, no acquire", apart, 2, []string{"ld sx; proxy.release; carrive.relaxed; cwait", "carrive.relaxed; cwait; copy y>sx@0 0@0"}, "0:0 1:2>"},
		{"proxy fences meet, the wrong way round", apart, 2, []string{"ld sx; proxy.acquire; carrive.relaxed; cwait", "carrive.relaxed; cwait; proxy.release; copy y>sx@0 0@0"}, "0:0 1:3>"},
		{"proxy fences meet, at an mbarrier", apart, 2, []string{"ld sx; proxy.release; marrive.relaxed.cluster 0@1", "mwait.relaxed.cluster; proxy.acquire; copy y>sx@0 0@0"}, ""},
		{"proxy fences meet, at a narrow mbarrier", apart, 2, []string{"ld sx; proxy.release; marrive.relaxed.cta 0@1", "mwait.relaxed.cluster; proxy.acquire; copy y>sx@0 0@0"}, "0:0 1:2>"},
		{"proxy fences meet, at a flag", apart, 2, []string{"ld sx; proxy.release; st.relaxed.cluster x 1", "ld.relaxed.cluster x; if 0=1: proxy.acquire; if 0=1: copy y>sx@0 0@0"}, ""},
		{"proxy fences meet, a release of the generic proxy", apart, 2, []string{"ld sx; fence.acq_rel.cluster; marrive.relaxed.cluster 0@1", "mwait.relaxed.cluster; proxy.acquire; copy y>sx@0 0@0"}, "0:0 1:2>"},
		{"proxy fences meet, an acquire of the generic proxy", apart, 2, []string{"ld sx; proxy.release; marrive.relaxed.cluster 0@1", "mwait.relaxed.cluster; fence.acq_rel.cluster; copy y>sx@0 0@0"}, "0:0 1:2>"},
		{"proxy fences meet, for the generic proxy", apart, 2, []string{"st sx 1; proxy.release; carrive.relaxed; cwait", "carrive.relaxed; cwait; proxy.acquire; ld sx@0"}, "0:0 1:3"},
		{"proxy fences meet, a store to the peer", apart, 2, []string{"st sx@1 1; proxy.release; carrive.relaxed; cwait", "carrive.relaxed; cwait; proxy.acquire; store sx>y"}, "0:0 1:3"},
		{"proxy fences meet, global memory", apart, 2, []string{"st x 1; proxy.release; carrive.relaxed; cwait", "carrive.relaxed; cwait; proxy.acquire; proxy; copy x>sx 0"}, "0:0 1:4"},
		{"proxy fences meet, what a copy wrote", apart, 2, []string{"copy x>sx 0; mwait; proxy.release; carrive.relaxed; cwait", "carrive.relaxed; cwait; proxy.acquire; copy y>sx@0 1@0"}, ""},
		{"an acquire of the asynchronous proxy alone", apart, 2, []string{"ld sx; carrive; cwait", "carrive; cwait; proxy.acquire; copy y>sx@0 0@0"}, ""},
		// ISA 9.7.13.15.
		{"mbarrier", apart, 2, []string{"st sx 1; marrive.release.cluster 0@1", "mwait.acquire.cluster; ld sx@0"}, ""},
		{"mbarrier, narrow", apart, 2, []string{"st sx 1; marrive.release.cta 0@1", "mwait.acquire.cluster; ld sx@0"}, "0:0 1:1"},
		{"mbarrier, relaxed", warps, 1, []string{"st sx 1; marrive.relaxed.cta 0", "mwait.acquire.cta; ld sx"}, "0:0 1:1"},
		{"mbarrier, relaxed with fences", warps, 1, []string{"st sx 1; fence.acq_rel.cta; marrive.relaxed.cta 0", "mwait.relaxed.cta; fence.acq_rel.cta; ld sx"}, ""},
		// ISA 9.7.9.25.2: completion is a proxy fence, for the copy's own accesses.
		{"async, completion", warps, 1, []string{"copy x>sx", "mwait; ld sx"}, ""},
		{"async, nobody waits", alone, 1, []string{"copy x>sx; ld sx"}, "0:0> 0:1"},
		{"async, its source while it reads", warps, 1, []string{"copy x>sx; st x 1", "mwait; st x 2"}, "0:0 0:1; 0:1 1:1"},
		{"async, completion is not transitive", warps, 1, []string{"st y 1; copy x>sx", "mwait; ld y"}, "0:0 1:1"},
		{"async, a store and a copy of it", alone, 1, []string{"st sx 1; store sx>y"}, "0:0 0:1"},
		{"async, a proxy fence between", alone, 1, []string{"st sx 1; proxy; store sx>y"}, ""},
		{"async, a fence for another space", alone, 1, []string{"st sx 1; proxy.global; store sx>y"}, "0:0 0:2"},
		{"async, a fence on the other side", warps, 1, []string{"st sx 1; bar 1", "bar 1; proxy.cta; store sx>y"}, ""},
		{"async, write after read", warps, 1, []string{"ld sx; bar 1", "bar 1; copy x>sx"}, "0:0 1:1>"},
		{"async, write after read, fenced", warps, 1, []string{"ld sx; bar 1", "bar 1; proxy.cta; copy x>sx"}, ""},
		// ISA 9.7.9.25.6.
		{"bulk group", alone, 1, []string{"store sx>y; wait; st sx 1; st y 1"}, ""},
		{"bulk group, read", alone, 1, []string{"store sx>y; wait.read; st sx 1; st y 1"}, "0:0> 0:3"},
		{"bulk group, copies of two CTAs", apart, 1, []string{"store sx>y; wait; st.release.gpu z 1", "ld.acquire.gpu z; if 0=1: copy y>sx"}, "0:0> 1:1"},
		{"bulk group, copies of two CTAs, fenced", apart, 1, []string{"store sx>y; wait; proxy; st.release.gpu z 1", "ld.acquire.gpu z; if 0=1: copy y>sx"}, ""},
		// ISA 9.7.9.25.4.2.
		{"bulk reductions", apart, 1, []string{"reduce sx>y", "reduce sx>y"}, ""},
		{"bulk reduction and atom", apart, 1, []string{"reduce sx>y", "add.relaxed.gpu y 1"}, "0:0> 1:0"},
		// ISA 9.7.9.25.4.1: multicast; each CTA has an mbarrier of its own.
		{"multicast", apart, 2, []string{"copy x>sx 0 3; mwait; ld sx", "mwait; ld sx"}, ""},
		{"multicast, one does not wait", apart, 2, []string{"copy x>sx 0 3; mwait; ld sx", "ld sx"}, "0:0> 1:0"},
		{"multicast, a store to the source", apart, 2, []string{"copy x>sx 0 3", "mwait; st x 1"}, "0:0 1:1"},
		{"multicast, a store to the source when all wait", apart, 2, []string{"copy x>sx 0 3; mwait; marrive.release.cluster 1@1", "mwait; mwait.acquire.cluster 1; st x 1"}, ""},
		{"multicast, the other's copy out", apart, 2, []string{"copy x>sx 0 3", "mwait; store sx>y"}, ""},
		// ISA 9.7.9.25.3: cp.async is generic.
		{"cp.async group", alone, 1, []string{"cpasync x>sx; cpwait; ld sx"}, ""},
		{"cp.async, nobody waits", alone, 1, []string{"cpasync x>sx; ld sx"}, "0:0> 0:1"},
		{"cp.async, another thread", warps, 1, []string{"cpasync x>sx; cpwait; bar 1", "bar 1; ld sx"}, ""},
		{"cp.async on an mbarrier", warps, 1, []string{"cpasync x>sx; cparrive 0", "mwait; ld sx"}, ""},
		{"cp.async, then a bulk copy", alone, 1, []string{"cpasync x>sx; cpwait; store sx>y"}, "0:0> 0:2"},
		// ISA 9.7.13.4: fence.proxy.tensormap.
		{"tensormap", alone, 1, []string{"replace; maprelease.cta; mapacquire.cta; tcopy x>sx"}, ""},
		{"tensormap, no fence", alone, 1, []string{"replace; tcopy x>sx"}, "0:0 0:1m"},
		{"tensormap, the wrong proxy's fence", alone, 1, []string{"replace; proxy; tcopy x>sx"}, "0:0 0:2m"},
		{"tensormap, no acquire", alone, 1, []string{"replace; maprelease.cta; tcopy x>sx"}, "0:0 0:2m"},
		{"tensormap, the fences in the wrong order", alone, 1, []string{"replace; mapacquire.cta; maprelease.cta; tcopy x>sx"}, "0:0 0:3m"},
		{"tensormap of another CTA", apart, 1, []string{"replace; maprelease.gpu; st.release.gpu y 1", "ld.acquire.gpu y; if 0=1: mapacquire.gpu; if 0=1: tcopy x>sx"}, ""},
		{"tensormap of another CTA, released narrowly", apart, 1, []string{"replace; maprelease.cta; st.release.gpu y 1", "ld.acquire.gpu y; if 0=1: mapacquire.gpu; if 0=1: tcopy x>sx"}, "0:0 1:2m"},
		{"tensormap of another CTA, acquired narrowly", apart, 1, []string{"replace; maprelease.gpu; st.release.gpu y 1", "ld.acquire.gpu y; if 0=1: mapacquire.cta; if 0=1: tcopy x>sx"}, "0:0 1:2m"},
		{"tensormap, rewritten after a load", alone, 1, []string{"tcopy x>sx; mwait; replace"}, ""},
		{"tensormap, rewritten under a load", alone, 1, []string{"tcopy x>sx; replace"}, "0:0m 0:1"},
		{"tensormap, multicast", apart, 2, []string{"replace; maprelease.cta; mapacquire.cta; tcopy x>sx 0 3; mwait; ld sx", "mwait; ld sx"}, ""},
	} {
		p := parse(t, l.name, l.at, l.cluster, "", l.threads...)
		c := compare(t, p)
		var got []string
		for _, q := range slices.SortedFunc(maps.Keys(c.racy), func(a, b axiom.Pair) int { return strings.Compare(pairName(a), pairName(b)) }) {
			got = append(got, pairName(q))
		}
		if s := strings.Join(got, "; "); s != l.races {
			t.Errorf("%s: races %q, want %q\n%s", l.name, s, l.races, text(p))
		}
		for q, d := range c.by {
			if d == falseAlarm || d == missed {
				t.Errorf("%s: %v %v\n%s", l.name, pairName(q), d, text(p))
			}
		}
	}
}

func pairName(q axiom.Pair) string {
	name := func(a axiom.Access) string {
		return fmt.Sprintf("%d:%d%s", a.Thread, a.Op, []string{"", ">", "m"}[a.Part])
	}
	return name(q.A) + " " + name(q.B)
}
