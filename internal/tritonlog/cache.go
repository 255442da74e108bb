package tritonlog

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"muster/internal/files"
)

// Limits of a folder.
const (
	maxDepth   = 5 // below the folder: Inductor's cache has triton/0/HASH/FILE
	maxEntries = 1 << 20
	maxText    = 64 << 20 // bytes of PTX
	maxJSON    = 1 << 20
)

// ReadFolder reads a cache folder of Triton or of Inductor, or a parent of such folders.
// Symbolic links in it are not followed.
func ReadFolder(dir string) (*Log, error) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, &Error{dir, 0, files.Cause(err).Error()}
	}
	log := &Log{}
	entries, bytes, trace := 0, 0, ""
	err = filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, name)
		shown := filepath.Join(dir, rel)
		if err != nil {
			log.Errs = append(log.Errs, &Error{shown, 0, files.Cause(err).Error()})
			return nil
		}
		if entries++; entries > maxEntries {
			return &Error{dir, 0, fmt.Sprintf("more than %d files; name a folder of fewer", maxEntries)}
		}
		if e.IsDir() && strings.Count(rel, string(filepath.Separator)) >= maxDepth {
			return fs.SkipDir
		}
		if trace == "" && strings.Contains(e.Name(), ".ndjson") {
			trace = shown
		}
		if !e.Type().IsRegular() || filepath.Ext(name) != ".ptx" {
			return nil
		}
		if len(log.Kernels) == maxKernels {
			return &Error{dir, 0, fmt.Sprintf("more than %d kernels; name a folder of fewer", maxKernels)}
		}
		k, err := readKernel(name, shown)
		if err != nil {
			log.Errs = append(log.Errs, err)
		}
		if k == nil {
			return nil
		}
		if bytes += len(k.PTX); bytes > maxPTX {
			return &Error{dir, 0, fmt.Sprintf("more than %d MiB of PTX; name a folder of less", maxPTX>>20)}
		}
		log.Kernels = append(log.Kernels, k)
		return nil
	})
	switch {
	case err != nil || len(log.Kernels) > 0 || len(log.Errs) > 0:
	case trace != "":
		err = &Error{dir, 0, "no kernel's PTX in this folder; a log of tritonparse is imported by its name, as " + trace}
	default:
		err = &Error{dir, 0, "no kernel's PTX in this folder, and none in those below; Triton's cache is ~/.triton/cache, Inductor's /tmp/torchinductor_USER/triton"}
	}
	return log, err
}

// readKernel reads the PTX of a kernel, and what Triton keeps of it beside. A kernel that is
// returned with an error is known by its PTX alone.
func readKernel(name, shown string) (*Kernel, error) {
	text, err := files.Read(name, maxText)
	if err != nil {
		return nil, &Error{shown, 0, strings.TrimPrefix(err.Error(), name+": ")}
	}
	base := strings.TrimSuffix(filepath.Base(name), ".ptx")
	k := &Kernel{Name: base, Place: shown, PTX: text}
	beside := strings.TrimSuffix(name, ".ptx") + ".json"
	if info, err := os.Lstat(beside); err != nil || !info.Mode().IsRegular() {
		return k, nil
	}
	shown = strings.TrimSuffix(shown, ".ptx") + ".json"
	data, err := files.Read(beside, maxJSON)
	if err != nil {
		return k, &Error{shown, 0, strings.TrimPrefix(err.Error(), beside+": ")}
	}
	m := &metadata{}
	if err = decode(data, m); err == nil {
		err = m.check()
	}
	if err != nil {
		return k, &Error{shown, 0, strings.ReplaceAll(err.Error(), "the line ends", "the file ends")}
	}
	k.meta = m
	if m.Name != "" {
		k.Name = m.Name
	}
	return k, nil
}
