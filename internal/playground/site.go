// Package playground makes the site on which the command runs in a browser: static files
// that any host serves, of one folder and without a server's help. The command is compiled
// to WebAssembly by Go itself; the page runs it in a worker, on files in memory.
package playground

import (
	"bytes"
	"compress/gzip"
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
	for name, data := range map[string][]byte{"kernels.json": list, "muster.wasm.gz": packed, "wasm_exec.js": start} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return err
		}
	}
	return writePage(dir)
}

// Compile compiles the command to WebAssembly.
func Compile(root string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "muster-wasm-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "muster.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", out, "./cmd/muster")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build for js/wasm: %w\n%s", err, said)
	}
	return os.ReadFile(out)
}

// pack compresses the program as the page unpacks it, by DecompressionStream.
func pack(wasm []byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(wasm); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
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
