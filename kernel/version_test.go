package kernel_test

import (
	"strings"
	"testing"

	"muster/kernel"
)

// TestIntroduced: a kernel gets the lowest version of PTX that has all of it, also if
// a qualifier or a special register came later than its instruction.
func TestIntroduced(t *testing.T) {
	for _, tt := range []struct {
		write func(k *kernel.Kernel)
		want  string
	}{
		{func(k *kernel.Kernel) { k.TidX() }, "8.0"},
		{func(k *kernel.Kernel) { k.Special("%total_smem_size", kernel.U32) }, "8.0"},
		{func(k *kernel.Kernel) { k.Special("%aggr_smem_size", kernel.U32) }, "8.1"},
		{func(k *kernel.Kernel) { k.Inst("fence.sc.cluster") }, "8.0"},
		{func(k *kernel.Kernel) { k.Inst("fence.acquire.cluster") }, "8.6"},
		{func(k *kernel.Kernel) { wgmmaOf(k, "s8.s8") }, "8.0"},
		{func(k *kernel.Kernel) { wgmmaOf(k, "u8.s8") }, "8.4"},
		{func(k *kernel.Kernel) { wgmmaOf(k, "s8.u8") }, "8.4"},
	} {
		k := kernel.New("k", kernel.Block(128))
		tt.write(k)
		text, err := k.Text()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Fields(text)[1]; got != tt.want {
			t.Errorf("version %s, want %s\n%s", got, tt.want, text)
		}
	}
	k := kernel.New("k", kernel.Block(128), kernel.Version(8, 3))
	wgmmaOf(k, "u8.s8")
	if _, err := k.Build(); err == nil || !strings.Contains(err.Error(), "u8.s8 needs PTX 8.4, and the kernel is for 8.3") {
		t.Error(err)
	}
}

// TestIntroducedFor: a modifier or a special register that the architecture lacks is
// a mistake; one that a later architecture-specific target introduced stays in the
// architectures after it.
func TestIntroducedFor(t *testing.T) {
	gather := func(k *kernel.Kernel) {
		p, bar, at := k.Const(kernel.U64, 0), k.Const(kernel.U64, 0), k.Const(kernel.S32, 0)
		k.PTX("cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [{p}], [{p}, {x}], [{bar}];",
			kernel.Args{"p": p, "bar": bar, "x": kernel.Vec{at, at, at, at, at}})
	}
	for _, tt := range []struct {
		target string
		write  func(k *kernel.Kernel)
		want   string
	}{
		{"sm_80", func(k *kernel.Kernel) { k.Inst("fence.sc.gpu") }, ""},
		{"sm_80", func(k *kernel.Kernel) { k.Inst("fence.sc.cluster") }, "fence.sc.cluster needs sm_90, and the kernel is for sm_80"},
		{"sm_80", func(k *kernel.Kernel) { k.Special("%clusterid.x", kernel.U32) }, "mov.u32 needs sm_90, and the kernel is for sm_80"},
		{"sm_90a", gather, "needs sm_100a, and the kernel is for sm_90a"},
		{"sm_100", gather, "needs sm_100a, and the kernel is for sm_100"},
		{"sm_100a", gather, ""},
		{"sm_103a", gather, ""},
	} {
		k := kernel.New("k", kernel.Target(tt.target), kernel.Block(128))
		tt.write(k)
		_, err := k.Build()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.target, err, tt.want)
		}
	}
}

// wgmmaOf adds one wgmma of 64 x 16 x 32.
func wgmmaOf(k *kernel.Kernel, types string) {
	var d kernel.Vec
	for range 8 {
		d = append(d, k.Const(kernel.S32, 0))
	}
	desc := k.Const(kernel.U64, 0)
	k.Inst("wgmma.mma_async.sync.aligned.m64n16k32.s32."+types, d, desc, desc, 0)
}
