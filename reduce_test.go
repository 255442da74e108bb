package muster_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"muster"
)

// TestTensorReductions: whether the order of reductions through tensor maps shows depends
// on the types of the maps, which the text of the instruction does not name.
func TestTensorReductions(t *testing.T) {
	for _, c := range []struct {
		name, op, first, second, at string
		proven                      bool
	}{
		{"sums of f32", "add", "f32", "f32", "0", true},
		{"sums of bf16", "add", "bf16", "bf16", "0", true},
		{"sums of f32 and of bf16", "add", "f32", "bf16", "0", false},
		{"sums of f32, each CTA's its own", "add", "f32", "f32", "%r1", true},
		{"sums of u32", "add", "u32", "u32", "0", true},
		{"sums of f32 and of u32", "add", "f32", "u32", "0", false},
		{"minima of s32", "min", "s32", "s32", "0", true},
		{"minima of s32 and of u32", "min", "s32", "u32", "0", false},
		{"all bits of u32 and of s32", "or", "u32", "s32", "0", false},
	} {
		src := fmt.Sprintf(`.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 a[128], .param .align 64 .b8 b[128])
{
	.shared .align 128 .b8 buf[128];
	.reg .pred %%p;
	.reg .b32 %%r<3>;
	.reg .b64 %%rd<3>;
	mov.u32 %%r1, %%ctaid.x;
	mov.u32 %%r2, 1;
	st.shared.v4.b32 [buf], {%%r2, %%r2, %%r2, %%r2};
	st.shared.v4.b32 [buf+16], {%%r2, %%r2, %%r2, %%r2};
	fence.proxy.async.shared::cta;
	mov.b64 %%rd1, a;
	mov.b64 %%rd2, b;
	setp.eq.u32 %%p, %%r1, 0;
	selp.b64 %%rd0, %%rd1, %%rd2, %%p;
	cvta.param.u64 %%rd0, %%rd0;
	cp.reduce.async.bulk.tensor.2d.global.shared::cta.%s.tile.bulk_group [%%rd0, {0, %s}], [buf];
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
	ret;
}
`, c.op, c.at)
		width := map[string]int{"bf16": 16, "f32": 8, "u32": 8, "s32": 8}
		mapOf := func(typ string) string {
			return fmt.Sprintf(`{"tensormap": {"of": "m", "type": %q, "shape": [3, %d], "box": [1, %d]}}`, typ, width[typ], width[typ])
		}
		dir := t.TempDir()
		write(t, filepath.Join(dir, "k.ptx"), src)
		write(t, filepath.Join(dir, "launch.json"), `{"ptx": "k.ptx", "grid": 3, "block": 1,
			"buffers": {"m": {"type": "u32", "shape": [24], "fill": "zeros"}}, "args": [`+mapOf(c.first)+", "+mapOf(c.second)+`]}`)
		l, err := muster.Load(filepath.Join(dir, "launch.json"))
		if err != nil {
			t.Fatal(c.name, err)
		}
		p := muster.Attempt(l)
		if p.All != c.proven {
			t.Errorf("%s: proven %v, %v", c.name, p.All, p.Reasons)
		}
	}
}
