package machine

import (
	"fmt"
	"testing"

	"muster/ptx"
)

// TestMixedSizes: of every mix of two sizes, in every shape, each CTA is in one cluster, of the
// size that was chosen where it lies, and of its own rank; and the special registers are as if
// all clusters had that size.
func TestMixedSizes(t *testing.T) {
	mod, err := ptx.Parse("k.ptx", []byte(".version 8.7 .target sm_100a .address_size 64 .visible .entry k() { ret; }"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Decode(mod, "k")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ grid, cluster, preferred [3]uint32 }{
		{[3]uint32{8, 1, 1}, [3]uint32{2, 1, 1}, [3]uint32{4, 1, 1}},
		{[3]uint32{4, 8, 1}, [3]uint32{2, 1, 1}, [3]uint32{4, 4, 1}},
		{[3]uint32{6, 4, 2}, [3]uint32{1, 2, 1}, [3]uint32{3, 2, 2}},
		{[3]uint32{4, 4, 4}, [3]uint32{1, 1, 1}, [3]uint32{2, 2, 2}},
	} {
		start, err := New(Config{Program: p, Grid: c.grid, Block: [3]uint32{32, 1, 1}, Cluster: c.cluster, Preferred: c.preferred})
		if err != nil {
			t.Fatal(err)
		}
		firsts := start.PreferredClusters()
		if want := volume(c.grid) / volume(c.preferred); uint64(len(firsts)) != want {
			t.Fatalf("%v: %d preferred clusters, want %d", c, len(firsts), want)
		}
		for bits := range 1 << len(firsts) {
			m := start.Fork(nil, nil)
			chosen := map[int32]bool{}
			for i, first := range firsts {
				if bits>>i&1 != 0 {
					chosen[first] = true
					if !m.Prefer(first) {
						t.Fatalf("%v: %d is refused", c, first)
					}
				}
			}
			if err := soundClusters(m, chosen); err != nil {
				t.Fatalf("%v, %v: %v", c, chosen, err)
			}
		}
		if start.Prefer(firsts[0] + 1) {
			t.Errorf("%v: a preferred cluster begins at CTA %d", c, firsts[0]+1)
		}
	}
}

// soundClusters checks a machine's clusters, where those that begin at the chosen CTAs are preferred.
func soundClusters(m *Machine, chosen map[int32]bool) error {
	g := m.grids[0]
	shape := m.Shape()
	seen := make([]bool, m.total)
	for i := range g.clusters() {
		first := g.clusterFirst(i)
		for r := range g.size(first) {
			one := g.clusterMember(first, r)
			dims := g.Cluster
			if chosen[m.PreferredOf(one)] {
				dims = g.Preferred
			}
			at, from := g.place(one), g.place(first)
			rank := at[0] - from[0] + dims[0]*(at[1]-from[1]+dims[1]*(at[2]-from[2]))
			switch {
			case seen[one]:
				return fmt.Errorf("CTA %d is in two clusters", one)
			case g.dims(one) != dims || g.size(one) != int32(volume(dims)):
				return fmt.Errorf("CTA %d: a cluster of %v, want %v", one, g.dims(one), dims)
			case g.clusterOrigin(one) != first || rank != uint32(r):
				return fmt.Errorf("CTA %d: rank %d of the cluster at %d", one, r, first)
			case shape.ClusterOf(one) != i:
				return fmt.Errorf("CTA %d: cluster %d in the shape, want %d", one, shape.ClusterOf(one), i)
			}
			seen[one] = true
			x := &ctx{m: m, c: &cta{index: one, first: first, rank: r, g: g, id: at}}
			for k := range 3 {
				if id, n := specialVectors["%clusterid"](x, k), specialVectors["%nclusterid"](x, k); id != at[k]/dims[k] || n != g.Grid[k]/dims[k] {
					return fmt.Errorf("CTA %d: %%clusterid %d of %d in %d", one, id, n, k)
				}
				if id, n := specialVectors["%cluster_ctaid"](x, k), specialVectors["%cluster_nctaid"](x, k); id != at[k]-from[k] || n != dims[k] {
					return fmt.Errorf("CTA %d: %%cluster_ctaid %d of %d in %d", one, id, n, k)
				}
			}
		}
	}
	for i, in := range seen {
		if !in {
			return fmt.Errorf("CTA %d is in no cluster", i)
		}
	}
	return nil
}
