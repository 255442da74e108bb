package skeleton_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/skeleton"
	"muster/internal/yaml"
	"muster/launch"
	"muster/ptx"
)

// skeletonOf writes the launch file of the kernel of a text, with a path for its PTX.
func skeletonOf(t *testing.T, path, kernel string) string {
	t.Helper()
	m, err := ptx.Parse("k.ptx", []byte(".version 8.6\n.target sm_90a\n.address_size 64\n"+kernel))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, it := range m.Items {
		if f, ok := it.(*ptx.Func); ok && f.Entry {
			if err := skeleton.Write(&b, path, m, f); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b.String()
}

// TestNames: what is no plain string in YAML is quoted, wherever it stands, and what is no name of a buffer is none.
func TestNames(t *testing.T) {
	text := skeletonOf(t, "a\n\x1b\tb's 'c' #d.ptx", `.visible .entry null(.param .u64 null, .param .u64 true, .param .u64 y, .param .u64 p4, .param .u64 $p)
{
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [null];
	ld.param.u64 %rd2, [true];
	ld.param.u64 %rd3, [y];
	ld.param.u64 %rd4, [p4];
	ld.param.u64 %rd5, [$p];
	st.global.u32 [%rd1], 1;
	st.global.u32 [%rd2], 1;
	st.global.u32 [%rd3], 1;
	st.global.u32 [%rd4], 1;
	st.global.u32 [%rd5], 1;
	ret;
}
`)
	if strings.ContainsAny(text, "\x1b\t") {
		t.Errorf("control characters in\n%q", text)
	}
	name := filepath.Join(t.TempDir(), "k.yaml")
	if err := os.WriteFile(name, []byte(strings.ReplaceAll(text, launch.Unfilled, "1")), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := yaml.ReadFile(name)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	l := &f.Launches[0]
	if l.Kernel != "null" || filepath.Base(l.PTX) != "a\n\x1b\tb's 'c' #d.ptx" || len(f.Buffers) != 5 {
		t.Errorf("kernel %q, PTX %q, %d buffers", l.Kernel, l.PTX, len(f.Buffers))
	}
	for i, want := range []string{"p0", "true", "y", "p4", "p4_"} {
		if f.Buffers[i].Name != want || l.Args[i].Ptr == nil || l.Args[i].Ptr.Buffer != want {
			t.Errorf("buffer %q, argument %v, want %s", f.Buffers[i].Name, l.Args[i], want)
		}
	}
}

// TestDeclared: what a kernel declares is in its launch file, or why no card takes it.
func TestDeclared(t *testing.T) {
	for _, c := range []struct{ declares, grid, block string }{
		{".reqnctapercluster 2, 3", "grid: ???                                # how many CTAs: [x, y, z], multiples of the cluster's, [2, 3]", "block: ??? "},
		{".explicitcluster .reqnctapercluster 3, 5, 7", "clusters [3, 5, 7], and no card takes more than 16 CTAs in one", "block: ??? "},
		{".reqntid 32, 2", "grid: ???  ", "block: [32, 2]\n"},
		{".reqntid 2048", "grid: ???  ", "block: 2048                              # .reqntid: no card takes it; a CTA has 1 to 1024 threads\n"},
		{".reqntid 0", "grid: ???  ", "block: 0                                 # .reqntid: no card takes it"},
		{".maxntid 256", "grid: ???  ", "block: 256                               # threads of a CTA: at most these (.maxntid)\n"},
		{".maxntid 1024, 1024, 64", "grid: ???  ", "block: ???                               # threads of a CTA: [x, y, z], at most [1024, 1024, 64] (.maxntid), and 1024 in all\n"},
	} {
		text := skeletonOf(t, "k.ptx", ".visible .entry k(.param .u32 n) "+c.declares+" { ret; }\n")
		if !strings.Contains(text, c.grid) || !strings.Contains(text, "\n"+c.block) {
			t.Errorf("%s: want %q and %q in\n%s", c.declares, c.grid, c.block, text)
		}
	}
}
