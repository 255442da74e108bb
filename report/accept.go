package report

import (
	"fmt"
	"path"
	"strings"
)

// An Accept excludes findings from the verdict.
type Accept struct {
	Kind   string
	At     string // file or file:line, of any place of the finding
	Reason string
	Where  string // place of the entry itself, for notices
}

// Accept marks the findings that match an entry. An entry that matches none gives a
// notice: its code is gone, or its line has moved.
func (r *Report) Accept(list []Accept) {
	for _, a := range list {
		met := false
		for i := range r.Findings {
			f := &r.Findings[i]
			if f.Kind == a.Kind && f.at(a.At) {
				met = true
				if f.Accepted == "" {
					f.Accepted = a.Reason
				}
			}
		}
		if !met {
			r.Notices = append(r.Notices, fmt.Sprintf("%s: no finding %s at %s%s", a.Where, a.Kind, a.At, toAccept))
		}
	}
}

func (f *Finding) at(place string) bool {
	for i := range f.Sites {
		s := &f.Sites[i]
		if s.PTX != nil && s.PTX.is(place) {
			return true
		}
		for _, p := range s.Source {
			if p.is(place) {
				return true
			}
		}
	}
	return false
}

// is matches a place against file or file:line. The file may omit leading folders of the
// report's path.
func (p *Place) is(place string) bool {
	for _, full := range []string{p.File, p.String()} {
		if full == place || strings.HasSuffix(path.Clean("/"+full), path.Clean("/"+place)) {
			return true
		}
	}
	return false
}

// Unaccepted reports whether a notice is about an entry that matched no finding.
func Unaccepted(notice string) bool { return strings.HasSuffix(notice, toAccept) }

const toAccept = " to accept"
