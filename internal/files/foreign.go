package files

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

// What a file is wanted as.
const (
	AsLaunch = "a launch file"
	AsPTX    = "PTX"
	AsScript = "a script"
	AsImport = "a program, a fat binary or a log"
)

// A Foreign is the error of a file that is something else than what it is given for.
type Foreign struct {
	Name string
	What string // what it is
	Want string // one of As…
	Do   string // what to do instead
}

func (e *Foreign) Error() string { return e.Name + ": " + e.Msg() }

// Msg is the error without the file's name.
func (e *Foreign) Msg() string { return fmt.Sprintf("this is %s, not %s: %s", e.What, e.Want, e.Do) }

// headSize is how much of a file tells what it is.
const headSize = 16 << 10

// Head reads the first bytes of a regular file, for Binary; nothing if that fails.
func Head(name string) []byte {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, _ := io.ReadAll(io.LimitReader(f, headSize))
	return data
}

const (
	takeOut = "muster import %s takes the PTX out of it"
	unpack  = "decompress it first"
	noPTX   = "PTX is needed, so build with -gencode arch=compute_90a,code=[sm_90a,compute_90a], and muster import takes it out of the program"
)

// Binary recognizes a file that is no text by its first bytes; nil if it is none of those
// known.
func Binary(name, want string, data []byte) *Foreign {
	what, do := binary(data)
	if what == "" {
		return nil
	}
	if want == AsImport && do == takeOut {
		return nil
	}
	return foreign(name, want, what, do)
}

func foreign(name, want, what, do string) *Foreign {
	named := name
	if name == "-" {
		named = "FILE"
	}
	return &Foreign{Name: name, What: what, Want: want, Do: strings.ReplaceAll(do, "%s", named)}
}

func binary(data []byte) (what, do string) {
	for _, m := range []struct{ magic, what, do string }{
		{"\x50\xed\x55\xba", "a fat binary", takeOut}, // package fatbin
		{"!<arch>\n", "an archive of object files", "ar x %s takes it apart, and muster import the PTX out of each object; or import the program that it is linked to"},
		{"\x1f\x8b", "compressed by gzip", unpack},
		{"\x28\xb5\x2f\xfd", "compressed by Zstandard", unpack},
		{"\xfd7zXZ\x00", "compressed by xz", unpack},
		{"BZh", "compressed by bzip2", unpack},
		{"PK\x03\x04", "a zip archive", "unpack it first; of a wheel, muster import takes the PTX out of each library"},
		{"\x93NUMPY", "an array of NumPy", "a launch file names it, as in buffers: {in: {type: f32, fill: {file: %s}}}"},
		{"BC\xc0\xde", "LLVM bitcode", "llc -mcpu=sm_90a makes PTX of it"},
		{"MZ", "a program or a library of Windows", noPTX},
		{"\xcf\xfa\xed\xfe", "a program or a library of macOS", noPTX},
	} {
		// A text may begin with letters as few as these.
		if bytes.HasPrefix(data, []byte(m.magic)) && (m.magic != "BZh" && m.magic != "MZ" || !isText(data)) {
			return m.what, m.do
		}
	}
	if bytes.HasPrefix(data, []byte("\x7fELF")) {
		return elf(data)
	}
	return "", ""
}

// elf says which kind an ELF file is of: e_type and e_machine are its words at bytes 16 and 18
// (System V ABI, "ELF Header"); 190 is EM_CUDA.
func elf(data []byte) (what, do string) {
	if len(data) < 20 {
		return "the begin of an ELF file", takeOut
	}
	word := func(at int) int {
		if data[5] == 2 { // big-endian
			return int(data[at])<<8 | int(data[at+1])
		}
		return int(data[at+1])<<8 | int(data[at])
	}
	if word(18) == 190 {
		return "a cubin, machine code of a GPU", noPTX
	}
	switch word(16) {
	case 1:
		return "an ELF object file", takeOut
	case 2:
		return "an executable", takeOut
	case 3:
		return "an executable or a shared library", takeOut
	}
	return "an ELF file", takeOut
}

func isText(data []byte) bool {
	return bytes.IndexFunc(data[:min(len(data), 512)], func(r rune) bool { return r == 0 || r == '\ufffd' }) < 0
}

// Texts that are given for PTX or a launch file, by what they begin with or contain. The
// first that matches tells; a launch file and PTX come first, since their comments may say
// anything.
var texts = []struct {
	is   *regexp.Regexp
	as   string // the want that it is right for
	what string
	do   string
}{
	{regexp.MustCompile(`(?m)^\s*[{"]*(ptx|grid|launches)"?\s*:`), AsLaunch, "a launch file", "muster check %s checks it"},
	{regexp.MustCompile(`(?m)^\s*\.(version\s+\d|target\s+sm_)`), AsPTX, "PTX", "muster check takes it under a name that ends in .ptx, with --grid and --block"},
	{regexp.MustCompile(`(?m)^\s*init\s+\w+\s+\d+\s*$`), AsScript, "a script of barrier operations", "muster barrier %s plays it"},
	{regexp.MustCompile(`^\s*\{"(event_type|metadata|payload)"`), AsImport, "a log of tritonparse", "muster import %s takes its kernels and launches"},
	{regexp.MustCompile(`(?m)^\s*(tt\.func|module\b.*\{|#loc|#(blocked|shared|mma)\d* = #tt)`), "", "MLIR, as Triton keeps it", "the .ptx beside it in Triton's cache is what is checked, and muster import takes it from that folder"},
	{regexp.MustCompile(`(?m)^(; ModuleID|source_filename = |target (datalayout|triple) = )`), "", "LLVM IR", "llc -mcpu=sm_90a makes PTX of it"},
	{regexp.MustCompile(`(?m)^\s*(code for sm_\d|\.headerflags|Function : \S|/\*[0-9a-f]{4}\*/)`), "", "a listing of machine code (SASS)", noPTX},
	{regexp.MustCompile(`(?m)^\s*(@triton\.jit|import (torch|triton|jax|cuda|numpy)\b|from \w[\w.]* import |def \w+\()`), "", "a Python program", "muster capture -- python %s records its launches"},
	{regexp.MustCompile(`__global__|(?m)^\s*(#include\b|extern "C"|using namespace|int main\()`), "", "a C++ source", "nvcc -ptx -lineinfo -arch=sm_90a %s makes PTX of it; muster check does so itself where its name ends in .cu and nvcc is found"},
}

// Instead returns the error of reading data: err, or a Foreign that names what the file is if
// that is known. A text is looked at only now, since its comments may say anything.
func Instead(name, want string, data []byte, err error) error {
	if err == nil {
		return nil
	}
	if f := Binary(name, want, data); f != nil {
		return f
	}
	if what, _ := binary(data); what != "" {
		return err // what is wanted, with a mistake in it
	}
	if f := text(name, want, data); f != nil {
		return f
	}
	return err
}

// text recognizes a text; nil if it is none of those known, or the one wanted.
func text(name, want string, data []byte) *Foreign {
	data = data[:min(len(data), headSize)]
	for _, t := range texts {
		if t.is.Match(data) {
			if t.as == want {
				return nil
			}
			return foreign(name, want, t.what, t.do)
		}
	}
	return nil
}
