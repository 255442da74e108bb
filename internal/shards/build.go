package shards

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

// build names the muster that runs, for what only the same one can go on with: by
// its version, or where it was built from files that have none, by a digest of the
// program. Another may number choices otherwise, or see what this one does not.
var build = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	if v := versionIn(info); v != "" {
		return v
	}
	h := sha256.New()
	if name, err := os.Executable(); err == nil {
		if f, err := os.Open(name); err == nil {
			defer f.Close()
			if _, err := io.Copy(h, f); err == nil {
				return hex.EncodeToString(h.Sum(nil)[:8])
			}
		}
	}
	fmt.Fprint(h, info)
	return hex.EncodeToString(h.Sum(nil)[:8])
})

// versionIn is the version of this module in a program, empty if that does not say
// what it was built from.
func versionIn(info *debug.BuildInfo) string {
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path != "muster" {
			continue
		}
		for m.Replace != nil {
			m = m.Replace
		}
		if m.Version != "(devel)" && !strings.Contains(m.Version, "+") { // +dirty
			return m.Version
		}
	}
	return ""
}
