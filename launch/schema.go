package launch

//go:generate go run ./gen

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The form of launch files as data: Schema makes a JSON Schema of it, by which editors
// complete, and Reference the text of docs/launch.md. Tests hold both to what Parse reads.

// A form is a mapping with known keys.
type form struct {
	name, title string
	text        string
	keys        []formKey
	oneOf       []string // of these, one is needed
	more        shape    // of all other keys, where names are the user's
	least, most int      // number of keys; 0: any
}

// A formKey is a key of a form.
type formKey struct {
	name     string
	required bool
	shape    shape
	text     string // one sentence or more
	example  string
}

// A shape is what a value may be: a JSON Schema, and its words.
type shape struct {
	words  string
	schema map[string]any
}

func ofType(words, t string) shape { return shape{words, map[string]any{"type": t}} }

var (
	aPath    = shape{"a path", map[string]any{"type": "string", "minLength": 1}}
	aName    = shape{"a name", map[string]any{"type": "string", "minLength": 1}}
	aBoolean = ofType("true or false", "boolean")
	aNumber  = ofType("a number", "number")
	nothing  = ofType("null", "null")
	aWord64  = shape{"an integer of 64 bits, or a string \"0x…\"", map[string]any{"anyOf": []any{map[string]any{"type": "integer", "minimum": 0}, map[string]any{"type": "string", "pattern": "^0[xX][0-9a-fA-F]{1,16}$"}}}}
)

func integerFrom(lo, hi int64) shape {
	s := map[string]any{"type": "integer", "minimum": lo}
	words := fmt.Sprintf("an integer from %d on", lo)
	if hi != math.MaxInt64 {
		s["maximum"], words = hi, fmt.Sprintf("an integer from %d to %d", lo, hi)
	}
	return shape{words, s}
}

func oneWord(words ...string) shape {
	list := []any{}
	for _, w := range words {
		list = append(list, w)
	}
	return shape{"one of " + strings.Join(words, ", "), map[string]any{"enum": list}}
}

func listOf(item shape, least, most int) shape {
	s := map[string]any{"type": "array", "items": item.schema}
	if least > 0 {
		s["minItems"] = least
	}
	if most > 0 {
		s["maxItems"] = most
	}
	return shape{"a list of: " + item.words, s}
}

// either is a value of one of some shapes.
func either(words string, shapes ...shape) shape {
	var list []any
	for _, s := range shapes {
		list = append(list, s.schema)
	}
	return shape{words, map[string]any{"anyOf": list}}
}

// integersOf is a list of integers, or one.
func integersOf(words string, lo, hi int64, most int) shape {
	one := integerFrom(lo, hi)
	return either(words, one, listOf(one, 0, most))
}

func refTo(form, words string) shape {
	return shape{words, map[string]any{"$ref": "#/$defs/" + form}}
}

func extents(words string, most int64) shape {
	one := integerFrom(1, most)
	return either(words, one, listOf(one, 1, 3))
}

// launchForm are the keys of a launch.
func launchForm() []formKey {
	return []formKey{
		{"ptx", true, either("a path, or a list of paths", aPath, listOf(aPath, 1, MaxModules)), "The module: PTX, or a .cu file that nvcc compiles first (in the command). Modules of a list are linked, as `nvcc -rdc=true` or cuLink do.", "ring.ptx"},
		{"kernel", false, aName, "The kernel's name as the PTX has it. May be left out where the module has one.", "ring"},
		{"grid", true, extents("one to three integers", MaxGridX), "CTAs in x, y and z; what is left out is 1. At most 2,147,483,647 in x and 65,535 in y and z.", "[4, 2]"},
		{"block", true, extents("one to three integers", MaxBlockThreads), "Threads of a CTA in x, y and z; at most 1,024 in all, and 64 in z.", "128"},
		{"cluster", false, extents("one to three integers", MaxClusterCTAs), "CTAs of a cluster, at most 16 in all; the grid is a multiple of it. Default: what the kernel declares, else 1.", "[2, 1]"},
		{"preferred-cluster", false, extents("one to three integers", MaxClusterCTAs), "The preferred size of clusters (cudaLaunchAttributePreferredClusterDimension), a multiple of `cluster`; the grid is a multiple of it. Which clusters get it is the device's choice, and so the schedule's. Default: none.", "[4, 2]"},
		{"shared", false, integerFrom(0, MaxShared), "Dynamic shared memory of a CTA in bytes. Default: 0.", "65536"},
		{"registers", false, integerFrom(1, MaxRegisters), "Registers of a thread at entry, as the compiler printed them, from which setmaxnreg starts. Default: by what the kernel declares.", "168"},
		{"maxrregcount", false, integerFrom(1, MaxRegCount), "What the compiler's option -maxrregcount gave; it keeps setmaxnreg in a kernel without .maxntid and .reqntid.", "128"},
		{"cooperative", false, aBoolean, "true: the driver starts all CTAs together or none, and %envreg1 and %envreg2 have the address of the grid's workspace. Default: false.", "true"},
		{"co-resident", false, integerFrom(1, MaxCoResident), "CTAs of the grid that share a multiprocessor, and the 512 columns of its tensor memory: 0 to N-1, N to 2N-1 and so on. Default: 1.", "2"},
		{"args", false, listOf(refTo("argument", "an argument"), 0, 0), "The arguments, one for each parameter, in order.", "[in, {ptr: out, offset: 256}, {s32: 64}]"},
	}
}

func orderForm() []formKey {
	return []formKey{
		{"name", false, aName, "Names the entry for `after` and in findings. Default: the kernel's name, or fill, or copy.", "producer"},
		{"stream", false, aName, "The entry comes after the one before it in the stream of that name. Entries with neither `stream` nor `after` are in the stream without a name.", "side"},
		{"after", false, listOf(either("a name, or {name, programmatic}", aName, refTo("edge", "an edge")), 0, 0), "Entries before it that have completed when it begins: a wait for an event, or edges of a graph. With `after` and without `stream` it comes after nothing else; `after: []` is a root.", "[producer]"},
	}
}

func contentForm(buffer bool) []formKey {
	what, none := "a variable", "Without one a fill covers the whole variable."
	if buffer {
		what, none = "a buffer", "Needed, but for a fill by a file."
	}
	return []formKey{
		{"type", true, oneWord(typeNames()...), "The type of an element.", "f32"},
		{"shape", false, integersOf("a list of integers", 0, math.MaxInt64, MaxRank), "Dimensions of " + what + ", outermost first, or the number of elements. " + none, "[128, 64]"},
		{"fill", false, either("a word, or a mapping of one key", oneWord(fillWords...), refTo("fill", "a fill")), "What it holds first: uninitialized, zeros, ones, iota (element i is i), nan; or random, mod or file. Default: uninitialized.", "iota"},
		{"values", false, listOf(refTo("value", "a value"), 0, 0), "The elements, in C order; instead of fill.", "[1, 2, 3]"},
		{"base", false, aWord64, "The address at which it lies. Default: the machine chooses.", "\"0x7f0000000000\""},
	}
}

// forms are all mappings of a launch file; the first is the file.
func forms() []form {
	file := []formKey{
		{"version", false, shape{"1", map[string]any{"const": 1}}, "The version of the format. Default: 1.", "1"},
		{"buffers", false, refTo("buffers", "a mapping from names"), "Global memory: each buffer by its name, in the order in which they lie.", "{out: {type: f32, shape: [128]}}"},
		{"variables", false, refTo("variables", "a mapping from names"), "What the module's .global and .const variables hold when the (first) kernel starts.", "{scale: {type: f32, values: [2]}}"},
		{"expect", false, refTo("expectations", "a mapping from buffers"), "What buffers must hold at the end.", "{out: {file: out.npy, atol: 1e-3}}"},
		{"accept", false, listOf(refTo("accepted", "an accepted finding"), 0, 0), "Findings that are meant, each with the reason.", "[{finding: proxy-war, at: \"gemm.cu:118\", reason: why}]"},
		{"assume", false, listOf(oneWord(VectorAtomic), 0, 0), "Assumptions beyond the ISA. vector-atomic: an aligned access of up to 16 bytes is one access.", "[vector-atomic]"},
	}
	several := formKey{"launches", true, listOf(refTo("launch", "a launch, a fill or a copy"), 1, MaxLaunches), "Several launches, in the order in which a program makes them, in place of the keys of one.", "[{ptx: k.ptx, grid: 1, block: 32}]"}
	var types []formKey
	types = append(types,
		formKey{"tensormap", false, refTo("tensormap", "a tensor map"), "A CUtensorMap of 128 bytes.", "{of: in, box: [64, 64]}"},
		formKey{"bytes", false, aPath, "Raw bytes out of a file.", "param.bin"})
	for t := U8; t < TensorMapType; t++ {
		types = append(types, formKey{t.String(), false, either("a number", aNumber, shape{"", map[string]any{"type": "string"}}), "A scalar of this type; also \"0x…\" for its bits, and inf, -inf, nan for floating point.", "1"})
	}
	part := append(slices.Clone(types), formKey{"pad", false, integerFrom(1, MaxParams), "So many bytes of zeros.", "4"})
	argument := append(slices.Clone(types), formKey{"struct", false, listOf(refTo("part", "a part"), 1, 0), "A struct by value: its parts, each at its natural alignment.", "[{ptr: in}, {s32: 3}, {pad: 4}]"})
	address := refTo("address", "a buffer's name, or {ptr, offset}")
	sizes := integersOf("a list of integers", 0, math.MaxInt64, MaxRank)
	return []form{
		{name: "file", title: "A launch file", text: "Of one launch: the keys below and those of [a launch](#a-launch).", keys: append(slices.Clone(file), launchForm()...)},
		{name: "sequence", title: "A launch file of several launches", text: "The keys of a launch file, and `launches` in place of those of one launch.", keys: append(slices.Clone(file), several)},
		{name: "entry", title: "A launch", text: "One launch of a file of several has these keys; the keys from `ptx` on are those of a file of one launch, too.", keys: append(append(orderForm(), formKey{"dependent", false, aBoolean, "true: a programmatic dependent launch. It may begin when each CTA of the kernel before it in its stream, or of the kernels of `after` if it has no `stream`, has executed griddepcontrol.launch_dependents, or has ended; griddepcontrol.wait waits until those have completed. It has no effect behind a fill or a copy, nor where `after` stands beside `stream`: a wait for an event is between the two. Default: false.", "true"}), launchForm()...)},
		{name: "fillEntry", title: "A fill", text: "An entry of `launches` like cudaMemsetAsync.", keys: append(orderForm(), formKey{"fill", true, refTo("fillKeys", "a mapping"), "What is filled.", "{to: out, bytes: 512}"})},
		{name: "fillKeys", title: "What is filled", keys: []formKey{
			{"to", true, address, "Where.", "{ptr: out, offset: 64}"},
			{"value", false, integerFrom(0, 255), "The value of each byte. Default: 0.", "255"},
			{"bytes", true, integerFrom(1, 1<<40), "How many bytes.", "512"}}},
		{name: "copyEntry", title: "A copy", text: "An entry of `launches` like cudaMemcpyAsync from device to device.", keys: append(orderForm(), formKey{"copy", true, refTo("copyKeys", "a mapping"), "What is copied.", "{to: out, from: in, bytes: 512}"})},
		{name: "copyKeys", title: "What is copied", keys: []formKey{
			{"to", true, address, "Where to.", "out"},
			{"from", true, address, "Where from.", "in"},
			{"bytes", true, integerFrom(1, 1<<40), "How many bytes.", "512"}}},
		{name: "edge", title: "An edge", text: "A name of `after`, where edges differ.", keys: []formKey{
			{"name", true, aName, "The entry that it comes after.", "producer"},
			{"programmatic", false, aBoolean, "true: as `dependent`, for this edge alone. Not towards or behind a fill or a copy, and not where `stream` stands beside `after`. Default: false.", "true"}}},
		{name: "buffers", title: "Buffers", text: "Names have letters, digits, '_', '.' and '-', and do not begin with a digit.", more: refTo("buffer", "a buffer")},
		{name: "buffer", title: "A buffer", keys: append(contentForm(true), formKey{"align", false, integerFrom(1, MaxAlign), "A power of two to which its address is aligned. Default: 256.", "1024"})},
		{name: "fill", title: "Contents", text: "One of the keys.", least: 1, most: 1, keys: []formKey{
			{"random", false, refTo("random", "a mapping"), "Random numbers, the same each time.", "{seed: 1, low: -1, high: 1}"},
			{"mod", false, integerFrom(1, math.MaxInt64), "Element i is i modulo this.", "97"},
			{"file", false, aPath, "An .npy, .npy.gz or .npy.zst file of the type and shape.", "in.npy"}}},
		{name: "random", title: "Random numbers", keys: []formKey{
			{"seed", false, aWord64, "The seed. Default: 0.", "7"},
			{"low", false, aNumber, "The least. Default: 0.", "-1"},
			{"high", false, aNumber, "The largest. Default: 1.", "1"}}},
		{name: "variables", title: "Variables", more: either("a variable, or {struct}", refTo("variable", ""), refTo("structVariable", ""))},
		{name: "variable", title: "A variable", text: "The contents of its first bytes; the rest keeps its initializer, or is zeros.", keys: contentForm(false)},
		{name: "structVariable", title: "A variable that is a struct", keys: []formKey{
			{"struct", true, listOf(refTo("part", "a part"), 1, 0), "Its parts, as of an argument.", "[{ptr: in}, {s32: 3}]"},
			{"base", false, aWord64, "The address at which it lies. Default: the machine chooses.", "\"0x7f0000000000\""}}},
		{name: "argumentKeys", title: "An argument", text: "An argument is a buffer's name or {ptr, offset} ([an address](#an-address) in it), null (a null pointer), or a mapping of one of these keys.", least: 1, most: 1, keys: argument},
		{name: "partKeys", title: "A part of a struct", text: "As an argument, but no struct.", least: 1, most: 1, keys: part},
		{name: "addressKeys", title: "An address", keys: []formKey{
			{"ptr", true, aName, "The buffer.", "out"},
			{"offset", false, integerFrom(0, math.MaxInt64), "Bytes from its begin. Default: 0.", "256"}}},
		{name: "tensormap", title: "A tensor map", text: "What is left out is taken from the buffer. Lists are in the order of the shape, outermost first.", oneOf: []string{"box", "im2col"}, keys: []formKey{
			{"of", true, aName, "The buffer.", "in"},
			{"box", false, sizes, "Extents of the box in elements; not with im2col.", "[64, 64]"},
			{"type", false, oneWord(elementNames()...), "The driver's data type. `b4x16`, `b4x16_p64` and `b6x16_p32` are its 16U4_ALIGN8B, 16U4_ALIGN16B and 16U6_ALIGN16B, from sm_100 on; they need `shape`. Default: by the buffer's type.", "bf16"},
			{"shape", false, sizes, "Extents of the tensor in elements. Default: the buffer's.", "[128, 64]"},
			{"strides", false, sizes, "Bytes from one element to the next in each dimension but the innermost. Default: dense.", "[128]"},
			{"offset", false, integerFrom(0, math.MaxInt64), "Bytes from the buffer's begin to the tensor's. Default: 0.", "0"},
			{"element_strides", false, sizes, "Steps between elements of the box. Default: 1.", "[1, 1]"},
			{"interleave", false, oneWord(interleaveNames...), "Default: none.", "none"},
			{"swizzle", false, oneWord(swizzleNames...), "Those with `ATOM` are of sm_100 and later, 96B of sm_103. Default: none.", "128B"},
			{"fill", false, oneWord(oobFillNames...), "What lies outside of the tensor. Default: zeros.", "nan"},
			{"l2", false, oneWord(l2Names...), "Promotion in L2; it changes no value. Default: none.", "128B"},
			{"im2col", false, refTo("im2col", "a mapping"), "The bounding box of im2col mode, in place of box.", "{lower: [0], upper: [0], channels: 64, pixels: 64}"}}},
		{name: "im2col", title: "Im2col mode", keys: []formKey{
			{"wide", false, oneWord(wideNames...), "The mode W or W128 of a map for `im2col::w` or `im2col::w::128`, from sm_100 on: the corners have one number, of the innermost spatial dimension, and W128 ignores `pixels`. Default: none.", "W"},
			{"lower", true, integersOf("a list of integers", math.MinInt64, math.MaxInt64, MaxRank), "The lower corner, one number for each spatial dimension.", "[-1, -1]"},
			{"upper", true, integersOf("a list of integers", math.MinInt64, math.MaxInt64, MaxRank), "The upper corner.", "[-1, -1]"},
			{"channels", true, integerFrom(0, math.MaxUint32), "Channels of a pixel.", "64"},
			{"pixels", true, integerFrom(0, math.MaxUint32), "Pixels of a column.", "64"}}},
		{name: "expectations", title: "Expectations", more: refTo("expectation", "an expectation")},
		{name: "expectation", title: "An expectation", text: "With no tolerance all bits agree. ulp excludes atol and rtol.", keys: []formKey{
			{"file", true, aPath, "An .npy, .npy.gz or .npy.zst file of the buffer's type and shape, or with `type` of that type and of as many bytes.", "out.npy"},
			{"type", false, oneWord(typeNames()...), "The type as which the buffer's bytes are compared. Default: the buffer's.", "f16"},
			{"atol", false, shape{"a number from 0 on", map[string]any{"type": "number", "minimum": 0}}, "How far each element may be off.", "1e-3"},
			{"rtol", false, shape{"a number from 0 on", map[string]any{"type": "number", "minimum": 0}}, "The same as a part of the expected value; both add up.", "1e-2"},
			{"ulp", false, integerFrom(0, math.MaxInt64), "How many floating-point numbers may lie between.", "2"}}},
		{name: "accepted", title: "An accepted finding", keys: []formKey{
			{"finding", true, aName, "Its kind; `muster explain` lists them.", "proxy-war"},
			{"at", true, aName, "A file, or file:line, as in the finding.", "\"gemm.cu:118\""},
			{"reason", true, aName, "Why it is meant.", "the copy is over by then"}}},
	}
}

func elementNames() []string {
	var names []string
	for e := ElementU8; int(e) < len(elementTypes); e++ {
		names = append(names, e.String())
	}
	return names
}

// Schema returns a JSON Schema (draft 2020-12) of launch files. What it refuses, Parse refuses.
// Parse also refuses what a schema cannot state: names that nothing has, numbers that do not
// fit together, files that are not there.
func Schema() []byte {
	defs := map[string]any{}
	for _, f := range forms() {
		defs[f.name] = f.schema()
	}
	anyOf := func(names ...string) map[string]any {
		var list []any
		for _, n := range names {
			list = append(list, map[string]any{"$ref": "#/$defs/" + n})
		}
		return map[string]any{"anyOf": list}
	}
	name := map[string]any{"type": "string"}
	defs["launch"] = anyOf("entry", "fillEntry", "copyEntry")
	for _, n := range []string{"argument", "part"} {
		defs[n] = anyOf("addressKeys", n+"Keys")
		defs[n] = map[string]any{"anyOf": append([]any{name, nothing.schema}, defs[n].(map[string]any)["anyOf"].([]any)...)}
	}
	defs["address"] = map[string]any{"anyOf": []any{name, map[string]any{"$ref": "#/$defs/addressKeys"}}}
	defs["value"] = map[string]any{"anyOf": []any{aNumber.schema, name, nothing.schema, map[string]any{"$ref": "#/$defs/addressKeys"}, map[string]any{"$ref": "#/$defs/tensormap"}}}
	all := anyOf("file", "sequence")
	all["$schema"], all["title"], all["$defs"] = "https://json-schema.org/draft/2020-12/schema", "A launch file of muster", defs
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return append(text, '\n')
}

func (f *form) schema() map[string]any {
	s := map[string]any{"type": "object", "title": f.title, "additionalProperties": false}
	if f.more.schema != nil {
		s["additionalProperties"] = f.more.schema
	}
	if f.least > 0 {
		s["minProperties"], s["maxProperties"] = f.least, f.most
	}
	for _, k := range f.oneOf {
		one, _ := s["oneOf"].([]any)
		s["oneOf"] = append(one, map[string]any{"required": []any{k}})
	}
	properties, required := map[string]any{}, []any{}
	for _, k := range f.keys {
		p := map[string]any{"description": k.text}
		for name, v := range k.shape.schema {
			p[name] = v
		}
		properties[k.name] = p
		if k.required {
			required = append(required, k.name)
		}
	}
	if len(properties) > 0 {
		s["properties"] = properties
	}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// Reference returns the reference of launch files, in Markdown.
func Reference() string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(preface, "~", "`"))
	for _, f := range forms() {
		fmt.Fprintf(&b, "\n## %s\n", f.title)
		if f.text != "" {
			fmt.Fprintf(&b, "\n%s\n", f.text)
		}
		if f.more.schema != nil {
			fmt.Fprintf(&b, "\nEach value is %s.\n", f.more.words)
		}
		if len(f.keys) == 0 {
			continue
		}
		b.WriteString("\n| key | | what it is | what it means | example |\n|---|---|---|---|---|\n")
		keys := f.keys
		switch f.name {
		case "file":
			keys = keys[:len(keys)-len(launchForm())]
		case "sequence":
			keys = keys[len(keys)-1:]
		}
		for i := 0; i < len(keys); i++ {
			k, names := keys[i], "`"+keys[i].name+"`"
			// Keys of one meaning, as the types of scalars, are one row.
			for i+1 < len(keys) && keys[i+1].text == k.text {
				i++
				names += ", `" + keys[i].name + "`"
			}
			needed := ""
			if k.required {
				needed = "needed"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | `%s` |\n", names, needed, k.shape.words, k.text, k.name+": "+k.example)
		}
	}
	return b.String()
}

const preface = `# Launch files

A launch file says what to run, in YAML or JSON. Keys that nothing knows, keys that come twice, and numbers outside of their range are errors with their line. Paths are relative to the file. Every key of a file of one launch is also a flag of the command (~muster check --help~). A file in which ~???~ stands for a value, as ~muster init~ and ~muster import~ write it for what only the author knows, is refused by the names of what is not filled in, there or by flags.

~~~yaml
# yaml-language-server: $schema=launch.schema.json
ptx: ring.ptx
grid: 4
block: 128
buffers:
  in:  {type: f32, shape: [4, 128], fill: {random: {seed: 1}}}
  out: {type: f32, shape: [4, 128]}
args: [in, out, {s32: 128}]
expect:
  out: {file: out.npy, rtol: 1e-5}
~~~

Two launches, of which the second may begin before the first has ended:

~~~yaml
buffers:
  a: {type: u32, shape: [256], fill: zeros}
  b: {type: u32, shape: [256]}
launches:
- {fill: {to: b, bytes: 1024}, stream: main}
- {ptx: k.ptx, kernel: produce, stream: main, grid: 2, block: 128, args: [a]}
- {ptx: k.ptx, kernel: consume, stream: main, dependent: true, grid: 2, block: 128, args: [a, b]}
~~~

Launches that do not overlap are checked one after the other, each with the memory that one run of those before left. Where these leave other memory in another schedule, and that may matter, the verdict is ~incomplete~ ([schedules.md](schedules.md)). Of dependent launches two things are assumed: ~ld.global.nc~ behind ~griddepcontrol.wait~ reads what the launches before wrote, as on an H200, although the ISA asks that what it reads stays as it is while the kernel runs; and a CTA that ends without ~griddepcontrol.launch_dependents~ lets its dependents begin like one that executes it as its last instruction, so that what a fence released before its end is known to them.

[launch.schema.json](launch.schema.json) says the same as a JSON Schema, by which editors complete keys and show what they mean: the first line of the first example names it (~muster explain launch --schema > launch.schema.json~ writes it). This page and the schema are made by ~go generate ./launch~; how memory is laid out and what fills give is in the documentation of package ~launch~.
`
