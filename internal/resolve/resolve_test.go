package resolve

import "testing"

func TestRegionText(t *testing.T) {
	r := Resolver{Regions: []Region{
		{Name: "in", Base: 0x7f0000000000, Size: 1024, Elem: 4},
		{Name: "_ZZ1kE4tile", Shared: true, Base: 1024, Size: 512},
	}}
	for text, want := range map[string]string{
		"write at shared+1024 of CTA 0":        "write at tile of CTA 0",
		"shared+1032..shared+1039":             "tile+8..tile+15",
		"shared+9999 is nowhere":               "shared+9999 is nowhere",
		"global+0x7f0000000010 is in a buffer": "in+16 is in a buffer",
		"distributedshared+1024":               "distributedshared+1024",
	} {
		if got := r.names(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	g := &r.Regions[0]
	for _, c := range []struct {
		off, n uint64
		want   string
	}{{0, 4, "in[0]"}, {8, 8, "in[2..3]"}, {2, 4, "in+2..5"}, {4, 1, "in+4"}} {
		if got := g.text("in", c.off, c.n); got != c.want {
			t.Errorf("%d bytes at %d: %s, want %s", c.n, c.off, got, c.want)
		}
	}
}
