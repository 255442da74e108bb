package launch

import (
	"slices"
	"strings"

	"muster/internal/diag"
)

// Names that other languages and libraries have for a type or a fill. None of them is
// accepted, since which one is meant may be a guess (torch's float8 is two formats): an error
// names the likely one.
var typeAliases = map[string]Type{
	"char": S8, "int8": S8, "i8": S8, "schar": S8,
	"uchar": U8, "uint8": U8, "byte": U8, "bool": U8, "i1": U8, "pred": U8,
	"short": S16, "int16": S16, "i16": S16,
	"ushort": U16, "uint16": U16,
	"int": S32, "int32": S32, "i32": S32, "integer": S32, "signed": S32,
	"uint": U32, "uint32": U32, "unsigned": U32, "dword": U32,
	"long": S64, "longlong": S64, "int64": S64, "i64": S64, "ptrdiff": S64,
	"ulong": U64, "ulonglong": U64, "uint64": U64, "size": U64, "uintptr": U64, "void": U64, "ptr": U64, "pointer": U64, "address": U64,
	"half": F16, "fp16": F16, "float16": F16,
	"bfloat16": BF16, "bfloat": BF16, "brain": BF16,
	"float": F32, "fp32": F32, "float32": F32, "single": F32, "tf32": F32, "tfloat32": F32,
	"double": F64, "fp64": F64, "float64": F64,
	"fp8": E4M3, "float8": E4M3, "f8": E4M3, "fp8e4m3": E4M3, "float8e4m3": E4M3, "float8e4m3fn": E4M3, "e4m3fn": E4M3, "fp8e4nv": E4M3, "f8e4m3": E4M3, "f8e4m3fn": E4M3,
	"fp8e5m2": E5M2, "float8e5m2": E5M2, "fp8e5": E5M2, "f8e5m2": E5M2, "bf8": E5M2,
	"cutensormap": TensorMapType, "tma": TensorMapType, "descriptor": TensorMapType, "map": TensorMapType,
}

// A fill's alias leads to what a launch file writes.
var fillAliases = map[string]string{
	"0": "zeros", "0.0": "zeros", "zero": "zeros", "zeroes": "zeros", "zeros_like": "zeros", "null": "zeros", "memset": "zeros", "clear": "zeros", "false": "zeros",
	"1": "ones", "1.0": "ones", "one": "ones", "ones_like": "ones", "true": "ones",
	"arange": "iota", "range": "iota", "linspace": "iota", "index": "iota", "counter": "iota", "seq": "iota", "sequence": "iota", "ramp": "iota",
	"none": "uninitialized", "empty": "uninitialized", "undefined": "uninitialized", "uninit": "uninitialized", "garbage": "uninitialized", "any": "uninitialized",
	"rand": "random", "randn": "random", "uniform": "random", "normal": "random", "rnd": "random",
	"npy": "file", "load": "file", "from": "file", "path": "file", "data": "file",
	"modulo": "mod", "%": "mod",
}

// likelyType returns the type that a name most likely means, of those known; "" for none.
func likelyType(name string, known []string) string {
	plain := strings.ToLower(strings.TrimSpace(name))
	if i := strings.LastIndexAny(plain, ".:"); i >= 0 { // torch.float32, cuda::std::uint32_t, .f32
		plain = plain[i+1:]
	}
	plain = strings.NewReplacer("_", "", "*", "", " ", "", "const", "", "nv", "", "cuda", "").Replace(strings.TrimSuffix(plain, "_t"))
	if rest, ok := strings.CutPrefix(plain, "unsigned"); ok && rest != "" {
		plain = "u" + rest
	}
	if slices.Contains(known, plain) {
		return plain
	}
	if near, ok := typeAliases[plain]; ok && slices.Contains(known, near.String()) {
		return near.String()
	}
	// A vector (float4, f16x2) is elements in a row.
	if short := strings.TrimSuffix(strings.TrimRight(plain, "248"), "x"); short != plain && short != "" {
		if near, ok := typeAliases[short]; ok && slices.Contains(known, near.String()) {
			return near.String()
		}
		if slices.Contains(known, short) {
			return short
		}
	}
	return diag.Nearest(name, known)
}

// unknownType is the end of an error about the name of a type: the likely one, then all.
func unknownType(name string, known []string) string {
	return diag.Meant(likelyType(name, known)) + "; one of " + strings.Join(known, ", ")
}

// Fills that have a value, as a flag and a launch file write them.
var (
	valuedFills = []string{"mod", "random", "file"}
	flagFills   = map[string]string{"mod": "mod=97", "random": "random=SEED,LOW,HIGH", "file": "file=a.npy"}
	keyFills    = map[string]string{"mod": "{mod: 97}", "random": "{random: {seed: 7, low: 0, high: 1}}", "file": "{file: a.npy}"}
)

// fillForms returns how a fill is written where a node stands: in a flag or in a file.
func fillForms(n *Node) map[string]string {
	if n.Pos.Line == 0 {
		return flagFills
	}
	return keyFills
}

// likelyFill returns the fill that a word most likely means, of those known; "" for none.
func likelyFill(word string, known []string) string {
	if near := fillAliases[strings.ToLower(word)]; slices.Contains(known, near) {
		return near
	}
	return diag.Nearest(word, known)
}

// unknownFill is the error about a fill that is none.
func (d *decoder) unknownFill(n *Node, text string) error {
	forms := fillForms(n)
	if n.Kind == MapNode && n.Pos.Line > 0 {
		return errorf(at(d.file, n.Entries[0].Pos), "unknown key %s%s; known here: %s", quote(text), diag.Meant(likelyFill(text, valuedFills)), strings.Join(valuedFills, ", "))
	}
	if slices.Contains(valuedFills, text) {
		return d.errorf(n, "fill %s lacks its value: write %s", text, forms[text])
	}
	near := likelyFill(text, append(slices.Clone(fillWords), valuedFills...))
	all := slices.Clone(fillWords)
	for _, f := range valuedFills {
		all = append(all, forms[f])
	}
	if form := forms[near]; form != "" {
		near = form
	}
	return d.errorf(n, "unknown fill %s%s; one of %s", quote(text), diag.Meant(near), strings.Join(all, ", "))
}
