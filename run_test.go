package muster_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster"
)

// TestRunApart: clusters that share nothing written leave, side by side, what one run of
// all of them leaves, after as many instructions.
func TestRunApart(t *testing.T) {
	files, err := filepath.Glob("examples/*/*.yaml")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	apart := map[string]bool{}
	for _, f := range files {
		if strings.HasPrefix(filepath.Base(f), "broken_") {
			continue
		}
		l := loadYAML(t, f, nil, nil)
		if muster.Refused(l) {
			continue
		}
		for _, text := range []string{"earliest", "latest"} {
			s, err := muster.ParseSchedule(text)
			if err != nil {
				t.Fatal(err)
			}
			hash, instrs, ok := muster.RunApart(l, s, 2)
			if !ok {
				continue
			}
			apart[strings.TrimSuffix(filepath.Base(f), ".yaml")] = true
			if h, n := muster.RunWhole(l, s); h != hash || n != instrs {
				t.Errorf("%s, %s: memory %x after %d instructions; in one run %x after %d", f, text, hash, instrs, h, n)
			}
		}
	}
	for _, name := range []string{"gemm_ws_multicast", "flash_attention_fwd", "triton_attention", "pallas_matmul"} {
		if !apart[name] {
			t.Errorf("%s did not run in parts", name)
		}
	}
}

// TestRunTogether: clusters that share a byte that one of them writes run together, as the
// schedule has it, and so do those of a launch that prints.
func TestRunTogether(t *testing.T) {
	for name, body := range map[string]string{
		"each reads what the one before writes": `
	mul.wide.u32 %rd1, %r1, 4;
	add.u64 %rd1, %rd1, %rd0;
	ld.global.u32 %r2, [%rd1];
	add.u32 %r2, %r2, 1;
	st.global.u32 [%rd1+4], %r2;`,
		"all write one byte": `
	st.global.u8 [%rd0], %r1;`,
		"each adds to one word": `
	red.global.add.u32 [%rd0], %r1;`,
		"one bulk copy reads what another CTA writes": `
	mul.wide.u32 %rd1, %r1, 4;
	add.u64 %rd1, %rd1, %rd0;
	st.global.u32 [%rd1], %r1;
	mbarrier.init.shared.b64 [bar], 1;
	fence.mbarrier_init.release.cluster;
	mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buf], [%rd0], 16, [bar];
WAIT:
	mbarrier.try_wait.parity.shared.b64 %p0, [bar], 0;
	@!%p0 bra WAIT;`,
	} {
		src := ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<4>;\n\t.shared .align 16 .b8 buf[16];\n\t.shared .align 8 .b8 bar[8];\n" +
			"\tld.param.u64 %rd0, [p];\n\tmov.u32 %r1, %ctaid.x;" + body + "\n\tret;\n}\n"
		dir := t.TempDir()
		write(t, filepath.Join(dir, "k.ptx"), src)
		write(t, filepath.Join(dir, "launch.json"), `{"ptx": "k.ptx", "grid": 8, "block": 1,
			"buffers": {"p": {"type": "u32", "shape": [64], "fill": "zeros"}}, "args": ["p"]}`)
		l, err := muster.Load(filepath.Join(dir, "launch.json"))
		if err != nil {
			t.Fatal(name, err)
		}
		s, _ := muster.ParseSchedule("earliest")
		if _, _, ok := muster.RunApart(l, s, 2); ok {
			t.Errorf("%s: they ran apart", name)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
