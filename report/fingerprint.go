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
// are numbered by their lines of PTX, those of one ID alike.
func (r *Report) fingerprint() {
	alike := map[string][]*Finding{}
	for i := range r.Findings {
		f := &r.Findings[i]
		what := r.Launch.Kernel + "\n" + f.identity()
		alike[what] = append(alike[what], f)
	}
	for what, list := range alike {
		slices.SortStableFunc(list, func(f, g *Finding) int { return slices.Compare(f.lines(), g.lines()) })
		n := 0
		for i, f := range list {
			if i == 0 || f.ID != list[i-1].ID {
				n++
			}
			sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d", what, n))
			f.Fingerprint = hex.EncodeToString(sum[:8])
		}
	}
}

// lines are those of the finding's places in PTX.
func (f *Finding) lines() (list []int) {
	for i := range f.Sites {
		if at := f.Sites[i].PTX; at != nil {
			list = append(list, at.Line, at.Col)
		}
	}
	return list
}

// identity is what a finding keeps when lines are added above it, when the compiler takes
// other registers, and when another schedule or another thread shows it: its kind, the
// instructions of its places and those around them, their files and functions, and the names
// of what it is about. Synchronization that is added right beside it makes it another one:
// of two places that do the same, it may be what tells them apart.
func (f *Finding) identity() string {
	var b strings.Builder
	b.WriteString(f.Kind)
	for i := range f.Sites {
		s := &f.Sites[i]
		fmt.Fprintf(&b, "\n%s %s %s", s.Role, s.opcode(), s.Around)
		if s.PTX != nil {
			fmt.Fprintf(&b, " %s", path.Base(s.PTX.File))
		}
		for _, p := range s.Source {
			fmt.Fprintf(&b, " %s %s", path.Base(p.File), p.Func)
		}
		if s.Memory != nil {
			fmt.Fprintf(&b, " %s %s", s.Memory.Space, s.Memory.Name)
		}
	}
	return b.String()
}
