// Package playground makes the site on which the command runs in a browser: static files
// that any host serves, of one folder and without a server's help. The command is compiled
// to WebAssembly by Go itself; the page runs it in a worker, on files in memory.
package playground

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed page
var pages embed.FS

// Write makes the site in a folder, from the repository whose root is given, with the go
// command that is found. What the folder has under the same names is replaced.
func Write(root, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	kernels, err := Gather(root)
	if err != nil {
		return err
	}
	list, err := json.Marshal(kernels)
	if err != nil {
		return err
	}
	wasm, err := Compile(root)
	if err != nil {
		return err
	}
	packed, err := pack(wasm)
	if err != nil {
		return err
	}
	start, err := loader()
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"kernels.json": list, "muster.bin": packed, "wasm_exec.js": start} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return err
		}
	}
	return writePage(dir)
}

// inlined are the packages in which the compiler inlines calls, as it does everywhere else:
// a check spends its time there. In the others that is a tenth of the program's size, and no
// time that can be measured.
var inlined = []string{
	"runtime", "internal/runtime/...", "internal/abi", "internal/bytealg", "internal/chacha8rand", "sync", "sync/atomic", "internal/sync",
	"math", "math/bits", "slices", "maps", "cmp", "iter", "sort", "bytes", "strings", "unicode/utf8", "hash/maphash", "hash/fnv", "encoding/binary", "errors",
	"muster/internal/machine", "muster/internal/order", "muster/internal/num", "muster/mbarrier",
}

// Compile compiles the command to WebAssembly.
func Compile(root string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "muster-wasm-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "muster.wasm")
	args := []string{"build", "-trimpath", "-ldflags=-s -w", "-gcflags=all=-l"}
	for _, hot := range inlined {
		args = append(args, "-gcflags="+hot+"=")
	}
	cmd := exec.Command("go", append(args, "-o", out, "./cmd/muster")...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build for js/wasm: %w\n%s", err, said)
	}
	return os.ReadFile(out)
}

// loader is what starts a Go program in a browser, of the Go that compiles it.
func loader() ([]byte, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	goroot := strings.TrimSpace(string(out))
	data, err := os.ReadFile(filepath.Join(goroot, "lib/wasm/wasm_exec.js"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no lib/wasm/wasm_exec.js, which starts Go programs in a browser", goroot)
	}
	return data, err
}
