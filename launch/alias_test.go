package launch

import "testing"

// TestLikely: names of other languages lead to the type and the fill that they mean.
func TestLikely(t *testing.T) {
	for name, want := range map[string]string{
		"float": "f32", "half": "f16", "int": "s32", "double": "f64", "bfloat16": "bf16", "fp8": "e4m3", "fp16": "f16",
		"uint8_t": "u8", "unsigned int": "u32", "size_t": "u64", "torch.float16": "f16", "np.int64": "s64", "__nv_bfloat16": "bf16",
		"float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "__half": "f16", "float4": "f32", "half2": "f16", "f16x2": "f16", "u32x4": "u32",
		".f32": "f32", "F32": "f32", "cuda::std::uint32_t": "u32", "CUtensorMap": "tensormap", "const float*": "f32", "tf32": "f32",
		"f3": "f32", "bananas": "", "": "",
	} {
		if got := likelyType(name, typeNames()); got != want {
			t.Errorf("type %q: %q, want %q", name, got, want)
		}
	}
	for word, want := range map[string]string{"zero": "zeros", "0": "zeros", "ZEROS": "zeros", "one": "ones", "arange": "iota", "rand": "random", "npy": "file", "empty": "uninitialized", "NaN": "nan", "bananas": ""} {
		if got := likelyFill(word, append(append([]string{}, fillWords...), valuedFills...)); got != want {
			t.Errorf("fill %q: %q, want %q", word, got, want)
		}
	}
	for alias, typ := range typeAliases {
		if _, ok := ParseType(alias); ok || !typ.valid() {
			t.Errorf("alias %q", alias)
		}
	}
}
