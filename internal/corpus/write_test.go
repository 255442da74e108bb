package corpus

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster"
	"muster/internal/mutate"
	"muster/launch"
	"muster/ptx"
)

var write = flag.String("corpus.write", "", "write every kernel that leaves what is known, and its twins, to this folder, for a card")

// TestWrite writes the kernels and their twins as text that testdata/card/card.cu reads: one file
// of PTX for each, and a list of launches.
func TestWrite(t *testing.T) {
	if *write == "" {
		t.Skip("-corpus.write is not given")
	}
	out, err := os.Create(filepath.Join(*write, "list"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w := bufio.NewWriter(out)
	defer w.Flush()
	for _, k := range kernels(t) {
		if len(k.Wants) == 0 {
			continue
		}
		f := file(t, &k, k.Size)
		mod, _, err := muster.ReadModule(f)
		if err != nil {
			t.Fatal(err)
		}
		put := func(id string, m *ptx.Module) {
			only := *m
			only.Items = nil
			for _, it := range m.Items {
				if g, ok := it.(*ptx.Func); !ok || !g.Entry || g.Name == k.Name {
					only.Items = append(only.Items, it)
				}
			}
			name := k.Name + "-" + strings.NewReplacer("@", "-", ":", "-").Replace(id) + ".ptx"
			var text strings.Builder
			if err := only.Print(&text); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(*write, name), []byte(text.String()), 0o666); err != nil {
				t.Fatal(err)
			}
			describe(t, w, &k, f, name)
		}
		put("right", mod)
		for _, m := range mutate.List(mod, k.Name) {
			if !weakens(m) || k.Wrong {
				continue
			}
			if twin, ok := mutate.Apply(mod, m); ok {
				put(m.ID, twin)
			}
		}
	}
}

// describe writes one launch.
func describe(t *testing.T, w *bufio.Writer, k *Kernel, f *launch.File, name string) {
	l, err := f.Layout(1 << 30)
	if err != nil {
		t.Fatal(err)
	}
	cooperative := 0
	if k.Cooperative {
		cooperative = 1
	}
	fmt.Fprintf(w, "kernel %s %s %s %d %d %d\n", name, k.Kind, k.Name, k.Size.Grid, k.Size.Block, cooperative)
	number := map[string]int{}
	for i, b := range l.Buffers {
		number[f.Buffers[i].Name] = i
		fmt.Fprintf(w, "buf %d %x\n", len(b.Data), b.Data)
	}
	for _, a := range k.args {
		var v int
		if _, err := fmt.Sscanf(a, `{"u32": %d}`, &v); err == nil {
			fmt.Fprintf(w, "val %d\n", v)
		} else {
			fmt.Fprintf(w, "ptr %d\n", number[strings.Trim(a, `"`)])
		}
	}
	for _, x := range k.Wants {
		fmt.Fprintf(w, "%s %d %s %d", x.How, number[x.Buffer], f.Buffer(x.Buffer).Type, len(x.Values))
		for _, v := range x.Values {
			fmt.Fprintf(w, " %v", v)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "end")
}
