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

// build identifies this build of muster, since only the same build may resume a
// state: by its version or, if it was built from files that have none, by a digest of
// the program. Another build may number choices otherwise, or see what this one does
// not.
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

// versionIn returns the version of this module in a program, empty if it does not
// identify the sources.
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
