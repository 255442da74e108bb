package skeleton_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"muster/internal/entry"
	"muster/internal/skeleton"
	"muster/internal/yaml"
	"muster/launch"
	"muster/ptx"
)

var update = flag.Bool("update", false, "write the golden files")

// kernels returns a module and its kernels.
func kernels(t *testing.T, path string) (m *ptx.Module, list []*ptx.Func) {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err = ptx.Parse(path, src)
	if err != nil {
		return nil, nil // a wrong module, on purpose
	}
	for _, it := range m.Items {
		if f, ok := it.(*ptx.Func); ok && f.Entry && f.Body != nil {
			list = append(list, f)
		}
	}
	return m, list
}

// TestWrite holds the launch file of each kernel of testdata to what was read and found
// right.
func TestWrite(t *testing.T) {
	files, err := filepath.Glob("testdata/*.ptx")
	if err != nil || len(files) == 0 {
		t.Fatal("no kernels", err)
	}
	for _, path := range files {
		m, list := kernels(t, path)
		for _, f := range list {
			var b bytes.Buffer
			if err := skeleton.Write(&b, filepath.Base(path), m, f); err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(path, ".ptx") + "." + f.Name + ".yaml"
			if *update {
				if err := os.WriteFile(golden, b.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%s: got\n%s\nwant\n%s", golden, b.Bytes(), want)
			}
		}
	}
}

// TestRead reads what is written for every kernel of the examples, and lays out its
// arguments.
func TestRead(t *testing.T) {
	files, err := filepath.Glob("../../examples/*/*.ptx")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d modules, %v", len(files), err)
	}
	dir := t.TempDir()
	n := 0
	for _, path := range files {
		m, list := kernels(t, path)
		for _, f := range list {
			name := filepath.Join(dir, "k.yaml")
			var b bytes.Buffer
			if err := skeleton.Write(&b, "k.ptx", m, f); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			file, err := yaml.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := file.Validate(); err == nil || !strings.Contains(err.Error(), "not filled in: grid") {
				t.Errorf("%s, %s, as it is: %v", path, f.Name, err)
			}
			filled := bytes.ReplaceAll(b.Bytes(), []byte(launch.Unfilled), []byte("1"))
			if err := os.WriteFile(name, filled, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := readable(name, f); err != nil {
				t.Errorf("%s, %s: %v\n%s", path, f.Name, err, b.Bytes())
			}
			n++
		}
	}
	if n < 90 {
		t.Errorf("only %d kernels", n)
	}
}

func readable(name string, f *ptx.Func) error {
	file, err := yaml.ReadFile(name)
	if err != nil {
		return err
	}
	params, err := entry.Params(f)
	if err != nil {
		return err
	}
	l, err := file.Layout(0)
	if err != nil {
		return err
	}
	if len(file.Launches[0].Args) != len(f.Params) {
		return fmt.Errorf("%d arguments, %d parameters", len(file.Launches[0].Args), len(f.Params))
	}
	_, err = l.EncodeParams(&file.Launches[0], params)
	return err
}
