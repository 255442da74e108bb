package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
)

// fingerprint sets Finding.Fingerprint of all findings. Findings that it cannot tell apart
// are numbered in the order of the report, those of one ID alike.
func (r *Report) fingerprint() {
	seen := map[string][]string{}
	for i := range r.Findings {
		f := &r.Findings[i]
		what := r.Launch.Kernel + "\n" + f.identity()
		n := slices.Index(seen[what], f.ID)
		if n < 0 {
			n, seen[what] = len(seen[what]), append(seen[what], f.ID)
		}
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d", what, n+1))
		f.Fingerprint = hex.EncodeToString(sum[:8])
	}
}

// identity is what a finding keeps when lines are added above it, when the compiler takes
// other registers, and when another schedule or another thread shows it: its kind, the
// instructions, files and functions of its places, and the names of what it is about.
func (f *Finding) identity() string {
	var b strings.Builder
	b.WriteString(f.Kind)
	for i := range f.Sites {
		s := &f.Sites[i]
		fmt.Fprintf(&b, "\n%s %s", s.Role, s.opcode())
		for _, p := range s.Source {
			fmt.Fprintf(&b, " %s", path.Base(p.File))
		}
		if s.Memory != nil {
			fmt.Fprintf(&b, " %s %s", s.Memory.Space, s.Memory.Name)
		}
	}
	return b.String()
}
