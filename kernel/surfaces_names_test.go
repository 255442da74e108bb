package kernel_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pythonNames are the classes of a Python file whose public members are wanted.
type pythonNames struct {
	library, file string
	classes       map[string]string // from a class to its prefix in the tables; "" for functions of the file
	without       string            // names left out, as docs/tables/kernel.md says
}

var pythonSurfaces = []pythonNames{
	{"pyptx", "pyptx/pyptx/ptx.py", map[string]string{
		"": "", "_Mbarrier": "mbarrier.", "_BarrierArray": "BarrierArray.", "_BarrierSlot": "BarrierSlot.",
		"_DynamicBarrierSlot": "DynamicBarrierSlot.", "_Fence": "fence.", "_Bar": "bar.", "NamedBarrier": "NamedBarrier.",
		"_Cluster": "cluster.", "_Cp": "cp.", "_CpAsync": "cp.async_.", "_CpAsyncBulk": "cp.async_.bulk.",
		"_CpAsyncBulkTensor": "cp.async_.bulk.tensor.", "_TmaTensorOp": "tensor_Nd.", "_Wgmma": "wgmma.",
		"PipelineState": "PipelineState.", "_Tma": "tma.", "_Warp": "warp.", "_Mma": "mma.", "_Tcgen05": "tcgen05.", "_Cvta": "cvta.",
	}, "sreg loc file_ pragma var ctaid_x ctaid_y global_ptrs if_ else_ scope loop expr range_ raw selp pipe mov add ret bra label addr param sub mul mad shl shr setp cvt ld st and_ or_ xor_ not_"},
	{"Tilus", "tilus/python/tilus/lang/instructions/mbarrier.py", map[string]string{"BarrierInstructionGroup": "mbarrier."}, ""},
	{"Tilus", "tilus/python/tilus/lang/instructions/fence.py", map[string]string{"FenceInstructionGroup": "fence."}, ""},
	{"Tilus", "tilus/python/tilus/lang/instructions/tma.py", map[string]string{"TmaInstructionGroup": "tma."}, ""},
	{"Tilus", "tilus/python/tilus/lang/instructions/cluster.py", map[string]string{"BlockClusterInstructionGroup": "cluster."}, ""},
	{"Tilus", "tilus/python/tilus/lang/instructions/wgmma.py", map[string]string{"WgmmaInstructionGroup": "wgmma."}, ""},
	{"Tilus", "tilus/python/tilus/lang/instructions/atomic.py", map[string]string{"AtomicInstructionGroup": "atomic."}, ""},
	{"Tilus", "tilus/python/tilus/lang/instructions/clc.py", map[string]string{"ClusterLaunchControlInstructionGroup": "clc."}, ""},
	{"Tilus", "tilus/python/tilus/lang/instructions/tcgen05.py", map[string]string{"Tcgen05InstructionGroup": "tcgen05."}, ""},
	{"Tilus", "tilus/python/tilus/lang/classes/pipeline.py", map[string]string{"Pipeline": "Pipeline."}, ""},
	{"Tilus", "tilus/python/tilus/lang/instructions/root.py", map[string]string{"RootInstructionGroup": ""}, "assume static_assert register_tensor global_tensor shared_tensor global_view load_global store_global store_global_scatter store_shared_scatter load_shared store_shared free_shared reshape reshape_shared dot cast view squeeze unsqueeze flatten transpose abs exp exp2 log sin cos round square sqrt rsqrt clip repeat repeat_interleave sum max min any all scan cumsum cumprod add maximum where annotate_layout print_tensor printf assign fast_divmod randint4x randint rand randn"},
}

var (
	pyClassRE  = regexp.MustCompile(`^class (\w+)`)
	pyMemberRE = regexp.MustCompile(`^    (?:def )?([A-Za-z]\w*)(?:\(|(?:: \w+)? = )`)
	pyFuncRE   = regexp.MustCompile(`^def (\w+)\(`)
	cppFuncRE  = regexp.MustCompile(`static inline\s+[^;{(]*?\b([a-z][a-z_0-9]+)\s*\(`)
)

// names returns the public members, named as in the tables.
func (s pythonNames) names(text string) (out []string) {
	without := strings.Fields(s.without)
	add := func(class, name string) {
		if prefix, ok := s.classes[class]; ok && !slices.Contains(without, name) {
			out = append(out, prefix+name)
		}
	}
	class := ""
	for line := range strings.Lines(text) {
		if m := pyClassRE.FindStringSubmatch(line); m != nil {
			class = m[1]
		} else if m := pyFuncRE.FindStringSubmatch(line); m != nil {
			class = "-"
			if m[1][0] != '_' {
				add("", m[1])
			}
		} else if m := pyMemberRE.FindStringSubmatch(line); m != nil && class != "-" {
			add(class, m[1])
		}
	}
	return out
}

// TestSurfaceNames checks that docs/tables/kernel.md has every public name of the
// libraries. MUSTER_SURFACES is a folder with checkouts of them: pyptx, tilus and
// cccl.
func TestSurfaceNames(t *testing.T) {
	dir := os.Getenv("MUSTER_SURFACES")
	if dir == "" {
		t.Skip("MUSTER_SURFACES names no folder")
	}
	have := map[string]bool{}
	rows, _ := surfaces(t)
	for _, s := range rows {
		for _, m := range codeWords(s.members) {
			have[s.library+" "+m] = true
		}
	}
	found := 0
	look := func(library, name, file string) {
		found++
		if !have[library+" "+name] {
			t.Errorf("docs/tables/kernel.md has no row for %s of %s, in %s", name, library, file)
		}
	}
	read := func(file string) string {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, s := range pythonSurfaces {
		for _, name := range s.names(read(s.file)) {
			look(s.library, name, s.file)
		}
	}
	headers, err := filepath.Glob(filepath.Join(dir, "cccl/libcudacxx/include/cuda/__ptx/*/generated/*.h"))
	if err != nil || len(headers) == 0 {
		t.Fatalf("no headers of cuda::ptx: %v", err)
	}
	more, _ := filepath.Glob(filepath.Join(dir, "cccl/libcudacxx/include/cuda/__ptx/*/*.h"))
	for _, file := range append(headers, more...) {
		file, _ = filepath.Rel(dir, file)
		for _, m := range cppFuncRE.FindAllStringSubmatch(read(file), -1) {
			look("libcu++", m[1], file)
		}
	}
	t.Logf("%d declarations", found)
}
