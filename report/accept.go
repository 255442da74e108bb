package report

import (
	"fmt"
	"path"
	"strings"
)

// An Accept takes findings out of the verdict.
type Accept struct {
	Kind   string
	At     string // file or file:line, of any place of the finding
	Reason string
	Where  string // of the entry itself, for notices
}

// Accept marks the findings that an entry meets. An entry that meets none is
// a notice: the code it spoke of has gone, or its line has moved.
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
			r.Notices = append(r.Notices, fmt.Sprintf("%s: no finding %s at %s to accept", a.Where, a.Kind, a.At))
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

// is compares with file or file:line. A file may be written with fewer
// leading folders than the report has.
func (p *Place) is(place string) bool {
	for _, full := range []string{p.File, p.String()} {
		if full == place || strings.HasSuffix(path.Clean("/"+full), path.Clean("/"+place)) {
			return true
		}
	}
	return false
}
