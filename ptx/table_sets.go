package ptx

import "fmt"

// sets are named lists of values, shared by slots.
var sets = func() map[string][]string {
	m := map[string][]string{
		"rnd":      {"rn", "rz", "rm", "rp"},
		"irnd":     {"rni", "rzi", "rmi", "rpi"},
		"int":      {"u16", "u32", "u64", "s16", "s32", "s64"},
		"int8":     {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"},
		"bits":     {"b16", "b32", "b64"},
		"word":     {"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"},
		"cmp":      {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"},
		"hcmp":     {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"},
		"bool":     {"and", "or", "xor"},
		"memtype":  {"b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f32", "f64"},
		"ldspace":  {"const", "global", "local", "param", "param::entry", "param::func", "shared", "shared::cta", "shared::cluster"},
		"stspace":  {"global", "local", "param", "param::func", "shared", "shared::cta", "shared::cluster"},
		"ss":       {"global", "shared", "shared::cta", "shared::cluster"},
		"cta":      {"shared", "shared::cta"},
		"shared":   {"shared", "shared::cta", "shared::cluster"},
		"volatile": {"global", "local", "shared", "shared::cta", "shared::cluster"},
		"window":   {"const", "global", "local", "shared", "shared::cta", "shared::cluster", "param", "param::entry"},
		"l1":       {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"},
		"l2":       {"L2::evict_normal", "L2::evict_first", "L2::evict_last"},
		"hint":     {"L2::cache_hint"},
		"prefetch": {"L2::64B", "L2::128B", "L2::256B"},
		"scope":    {"cta", "cluster", "gpu", "sys"},
		"ctatx":    {"mbarrier::complete_tx::bytes"},
		"dim":      {"1d", "2d", "3d", "4d", "5d"},
		"group":    {"cta_group::1", "cta_group::2"},
		"load":     {"tile", "tile::gather4", "im2col", "im2col::w", "im2col::w::128"},
		"redop":    {"and", "or", "xor", "add", "inc", "dec", "min", "max"},
		"layout":   {"row", "col"},
		"fp8":      {"e4m3", "e5m2"},
		"f8f6f4":   {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"},
		"num":      {"x1", "x2", "x4", "x8", "x16", "x32", "x64", "x128"},
		"vtype":    {"u32", "s32"},
		"vcmp":     {"eq", "ne", "lt", "le", "gt", "ge"},
		"op2":      {"add", "min", "max"},
		"fkind":    {"kind::f16", "kind::tf32", "kind::f8f6f4"},
		"mxkind":   {"kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"},
		"scalevec": {"scale_vec::1X", "scale_vec::2X", "scale_vec::4X", "block16", "block32"},
		"collbb":   {"collector::b::fill", "collector::b::use", "collector::b::lastuse", "collector::b::discard"},
		"report": {"mbarrier::report::disabled", "mbarrier::report::validity::per_16bytes::80000000", "mbarrier::report::validity::per_16bytes::8000",
			"mbarrier::report::validity::per_16bytes::80", "mbarrier::report::validity::per_16bytes::8", "mbarrier::report::validity::per_element::ff"},
		"x4":    {"e5m2x4", "e4m3x4", "e3m2x4", "e2m3x4", "e2m1x4", "e2m1p4x4", "ue8m0x4"},
		"colla": {"collector::a::fill", "collector::a::use", "collector::a::lastuse", "collector::a::discard"},
	}
	for b := range 4 {
		for _, op := range []string{"fill", "use", "lastuse", "discard"} {
			m["collb"] = append(m["collb"], fmt.Sprintf("collector::b%d::%s", b, op))
		}
	}
	for _, k := range []int{8, 16, 32, 64} {
		for n := 8; n <= 256; n += 8 {
			m[fmt.Sprintf("n8k%d", k)] = append(m[fmt.Sprintf("n8k%d", k)], fmt.Sprintf("m64n%dk%d", n, k))
		}
	}
	for _, k := range []int{32, 64, 256} { // the integer and single-bit shapes skip some N
		for n := 8; n <= 256; n += 8 {
			if n <= 24 || n%16 == 0 {
				m[fmt.Sprintf("n16k%d", k)] = append(m[fmt.Sprintf("n16k%d", k)], fmt.Sprintf("m64n%dk%d", n, k))
			}
		}
	}
	return m
}()
