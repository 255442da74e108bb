package files

import (
	"strings"
	"testing"
)

// elfHead is the begin of an ELF file of a type for a machine, little-endian.
func elfHead(typ, machine byte) string {
	return "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + string([]byte{typ, 0, machine, 0}) + strings.Repeat("\x00", 40)
}

func TestForeign(t *testing.T) {
	const wrong = "cannot be read"
	for _, tt := range []struct{ data, want, is string }{
		{elfHead(1, 62), AsLaunch, "an ELF object file"},
		{elfHead(2, 62), AsPTX, "an executable, not PTX: muster import a.bin takes"},
		{elfHead(3, 62), AsPTX, "an executable or a shared library"},
		{elfHead(4, 62), AsPTX, "an ELF file"},
		{elfHead(2, 190), AsPTX, "a cubin"},
		{"\x7fELF", AsPTX, "the begin of an ELF file"},
		{"\x50\xed\x55\xba\x01\x00\x10\x00", AsLaunch, "a fat binary"},
		{"!<arch>\n/               0  ", AsLaunch, "an archive of object files"},
		{"\x1f\x8b\x08", AsPTX, "compressed by gzip"},
		{"\x28\xb5\x2f\xfd\x00", AsPTX, "compressed by Zstandard"},
		{"\xfd7zXZ\x00", AsPTX, "compressed by xz"},
		{"BZh9\x00\x01", AsPTX, "compressed by bzip2"},
		{"PK\x03\x04\x00", AsLaunch, "a zip archive"},
		{"\x93NUMPY\x01\x00", AsLaunch, "an array of NumPy"},
		{"BC\xc0\xde5", AsPTX, "LLVM bitcode"},
		{"MZ\x90\x00\x03", AsPTX, "of Windows"},
		{"\xcf\xfa\xed\xfe\x07", AsPTX, "of macOS"},
		{"ptx: k.ptx\ngrid: 1\n", AsPTX, "a launch file, not PTX: muster check a.bin"},
		{`{"ptx": "k.ptx", "grid": 1}`, AsPTX, "a launch file"},
		{"// of k\n.version 8.0\n.target sm_90a\n", AsLaunch, "PTX, not a launch file"},
		{"init bar 2\narrive bar\n", AsPTX, "a script of barrier operations"},
		{`{"event_type": "compilation"}`, AsLaunch, "a log of tritonparse"},
		{"#loc = loc(unknown)\nmodule {\n  tt.func public @k() {\n", AsPTX, "MLIR"},
		{"; ModuleID = 'k'\nsource_filename = \"k\"\n", AsPTX, "LLVM IR"},
		{"\n\tcode for sm_90a\n\t\tFunction : k\n", AsPTX, "a listing of machine code"},
		{"import triton\n\n@triton.jit\ndef k(x):\n", AsLaunch, "a Python program"},
		{"#include <cuda.h>\n__global__ void k() {}\n", AsPTX, "a C++ source"},
		// The right thing with a mistake, and what is not known, keep the error as it is.
		{"ptx: k.ptx\n# of __global__ void k\ngrid: [\n", AsLaunch, wrong},
		{"// __global__ void k\n.version 8.0\n.target sm_90a\n.entry {\n", AsPTX, wrong},
		{"init bar 2\narrives bar\n", AsScript, wrong},
		{"BZh is a word, MZ another", AsPTX, wrong},
		{"", AsPTX, wrong},
		{"a b c", AsLaunch, wrong},
		{elfHead(3, 62), AsImport, wrong},
	} {
		err := Instead("a.bin", tt.want, []byte(tt.data), errorString(wrong))
		if !strings.Contains(err.Error(), tt.is) {
			t.Errorf("%q as %s: %v, want %s", tt.data, tt.want, err, tt.is)
		}
		if strings.ContainsAny(err.Error(), "\n%") {
			t.Errorf("%q: %v", tt.data, err)
		}
	}
	if err := Instead("a", AsPTX, []byte(elfHead(1, 62)), nil); err != nil {
		t.Errorf("without an error: %v", err)
	}
}

type errorString string

func (e errorString) Error() string { return string(e) }
