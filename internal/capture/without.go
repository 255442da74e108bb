package capture

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// This file is about code that was loaded without PTX: the way to get some, in the words of
// the tool that made the code.

// kernelsOf lists the kernels of machine code.
func kernelsOf(code []byte) (names []string) {
	f, err := elf.NewFile(bytes.NewReader(code))
	if err != nil {
		return nil
	}
	for _, s := range f.Sections {
		if k, ok := strings.CutPrefix(s.Name, ".nv.constant0."); ok { // its parameters
			names = append(names, k)
		}
	}
	return names
}

// maxByName bounds the kernels of an image that are looked for by name at once.
const maxByName = 64

// ofCode finds the PTX of machine code by the names of the kernels in it.
func (s *sources) ofCode(i *image, path string) (list []*module) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range i.kernels[:min(len(i.kernels), maxByName)] {
		if m := s.byName(path, k); m != nil && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// A surrounding is what can be seen of the program that loaded a kernel.
type surrounding struct {
	kernel     string
	from       string   // the file that the code is part of; "": it was made, or read, by the program
	libraries  []string // that the process has loaded: their paths
	capability int      // of the card
}

// librariesOf lists the libraries of a process.
func librariesOf(pid string) (list []string) {
	data, err := os.ReadFile("/proc/" + pid + "/maps")
	if err != nil {
		return nil
	}
	for _, line := range strings.Split(string(data), "\n") {
		if i := strings.IndexByte(line, '/'); i >= 0 {
			list = append(list, line[i:])
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (s *surrounding) has(parts ...string) bool {
	return slices.ContainsFunc(s.libraries, func(l string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(l, p) })
	})
}

// cuBLAS gives its kernels to the driver from memory: these are their names.
var ofCuBLAS = regexp.MustCompile(`^nvjet_|^cublas|_xmma_`)

// The libraries of NVIDIA that come as machine code alone.
var closed = regexp.MustCompile(`^lib(cublas(Lt)?|cudnn\w*|cufftw?|cusolver(Mg)?|cusparse(Lt)?|curand|nccl|npp\w+|nvjpeg|nvinfer\w*)\.so`)

// way says how to get the PTX of a kernel that was loaded without.
func (s *surrounding) way() string {
	suffix := ""
	if s.capability >= 90 {
		suffix = "a" // with the instructions that this architecture alone has
	}
	nvcc := fmt.Sprintf("-gencode arch=compute_%[1]d%[2]s,code=[sm_%[1]d%[2]s,compute_%[1]d%[2]s]", s.capability, suffix)
	base := filepath.Base(s.from)
	switch {
	case closed.MatchString(base):
		return "NVIDIA ships " + base + " so"
	case ofCuBLAS.MatchString(s.kernel):
		return "it is cuBLAS's, which NVIDIA ships so"
	case s.from != "" && s.has("libtorch"):
		return fmt.Sprintf("if it is yours, build it with TORCH_CUDA_ARCH_LIST='%d.%d%s+PTX' (nvcc %s), or name a folder with its PTX by --ptx", s.capability/10, s.capability%10, suffix, nvcc)
	case s.from != "":
		return "if it is yours, build it with nvcc " + nvcc + ", or name a folder with its PTX by --ptx"
	case strings.HasPrefix(s.kernel, "kernel_cutlass") || s.has("nvidia_cutlass_dsl", "cute_dsl"):
		return "CuTe DSL made it; run with CUTE_DSL_KEEP_PTX=1 CUTE_DSL_DUMP_DIR=DIR"
	case s.has("xla_cuda_plugin"):
		return "JAX made it, and dumped no PTX of it (of what a cache of compiled code has, it dumps none); name a folder with its PTX by --ptx"
	case strings.HasPrefix(s.kernel, "triton_"):
		return "torch.compile made it, and its cache has no PTX of it; run with TORCHINDUCTOR_FORCE_DISABLE_CACHES=1, or name the cache by TORCHINDUCTOR_CACHE_DIR"
	case s.has("libtriton"):
		return "if Triton made it, its cache has no PTX of it: run with TRITON_ALWAYS_COMPILE=1, or name the cache by TRITON_CACHE_DIR; if not, name a folder with its PTX by --ptx"
	case s.has("/cupy/", "/cupy_backends/"):
		return "CuPy had it in a cache; run with CUPY_CACHE_IN_MEMORY=1, and it compiles it anew"
	case s.has("libnvrtc"):
		return "if NVRTC made it, it was in an earlier run; have the program compile it in this one, or name a folder with its PTX by --ptx"
	}
	return "name a folder with its PTX by --ptx"
}

// around remembers what can be seen of a process while it is there. Images lie in a folder with
// its number.
func (s *sources) around(path string, there int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.surroundings[keyOf(path)]; ok {
		return
	}
	if s.as != 0 {
		there = s.as
	}
	s.surroundings[keyOf(path)] = surrounding{libraries: librariesOf(filepath.Base(filepath.Dir(path))), capability: there}
}

// why says why there is no PTX of a kernel of an image.
func (s *sources) why(path, kernel string) string {
	i := s.image(path)
	from, _ := os.ReadFile(path + ".from")
	around := s.surroundings[keyOf(path)]
	around.kernel, around.from = kernel, string(from)
	what := "it"
	if around.from != "" {
		what = filepath.Base(around.from)
	}
	switch {
	case i.err != nil:
		return oneLine(i.err.Error())
	case i.why != "":
		return oneLine(i.why)
	case i.archs != nil:
		return fmt.Sprintf("%s has machine code for %s and no PTX; %s", what, strings.Join(i.archs, ", "), around.way())
	case i.machine:
		return "it was loaded as machine code; " + around.way()
	}
	return "the PTX that it was loaded with does not have it"
}

// oneLine is a text for a line of its own.
func oneLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
