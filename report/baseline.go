package report

import (
	"encoding/json"
	"fmt"
	"io"
)

// A Baseline is the findings that are known, of a name for the reader.
type Baseline struct {
	Name   string
	prints map[string]bool
}

// ReadBaseline takes the fingerprints out of what an earlier check wrote, as JSON or as
// SARIF.
func ReadBaseline(r io.Reader, name string) (*Baseline, error) {
	var doc any
	d := json.NewDecoder(io.LimitReader(r, maxBaseline))
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("want what 'muster check --format json' or '--format sarif' wrote: %w", err)
	}
	if top, ok := doc.(map[string]any); !ok || top["runs"] == nil && top["findings"] == nil && top["stages"] == nil && top["files"] == nil {
		return nil, fmt.Errorf("want what 'muster check --format json' or '--format sarif' wrote: there are no findings")
	}
	b := &Baseline{name, map[string]bool{}}
	b.collect(doc)
	return b, nil
}

// maxBaseline bounds the bytes of a baseline.
const maxBaseline = 256 << 20

func (b *Baseline) collect(doc any) {
	switch v := doc.(type) {
	case []any:
		for _, e := range v {
			b.collect(e)
		}
	case map[string]any:
		for name, e := range v {
			if text, ok := e.(string); ok && (name == "fingerprint" || name == "muster/v1") {
				b.prints[text] = true
				continue
			}
			b.collect(e)
		}
	}
}

// Known marks the findings that a baseline has as accepted. Those that it has and the report
// has not are no news: another launch may have them. Without a baseline, it does nothing.
func (r *Report) Known(b *Baseline) {
	if b == nil {
		return
	}
	r.fingerprint()
	r.compared = true
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Accepted == "" && b.prints[f.Fingerprint] {
			f.Accepted, f.known = "known, in "+b.Name, true
		}
	}
}
