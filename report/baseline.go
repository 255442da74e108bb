package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// A Baseline is the findings that are known, of a name for the reader.
type Baseline struct {
	Name   string
	prints map[string]bool
}

// ReadBaseline takes the fingerprints out of what earlier checks wrote, as JSON or as SARIF:
// of one document, or of several one after the other. It keeps nothing else in memory.
func ReadBaseline(r io.Reader, name string) (*Baseline, error) {
	b := &Baseline{name, map[string]bool{}}
	limited := &io.LimitedReader{R: r, N: maxBaseline + 1}
	buffered := bufio.NewReader(limited)
	if mark, _ := buffered.Peek(3); string(mark) == "\ufeff" {
		buffered.Discard(3)
	}
	d := baselineReader{Decoder: json.NewDecoder(buffered), to: b}
	err := d.read()
	switch {
	case limited.N <= 0:
		return nil, fmt.Errorf("more than %d MiB, which is all that is read of a baseline", maxBaseline>>20)
	case err != nil:
		return nil, fmt.Errorf("want what 'muster check --format json' or '--format sarif' wrote: %w", err)
	}
	return b, nil
}

const (
	maxBaseline      = 256 << 20 // bytes of a baseline
	maxBaselineDepth = 100       // lists and objects in one another; a report has some ten
)

// A baselineReader goes through documents, token by token.
type baselineReader struct {
	*json.Decoder
	to    *Baseline
	depth []bool // of lists and objects that are open, which are objects
	key   string // of the object's value that follows; empty if a key follows
	lists bool   // the document has a list that reports have
}

// read reads all documents.
func (d *baselineReader) read() error {
	for n := 0; ; {
		t, err := d.Token()
		switch {
		case err == io.EOF && len(d.depth) == 0 && n > 0:
			return nil
		case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("it is empty, or ends in the middle")
		case err != nil:
			if wrong := (*json.SyntaxError)(nil); errors.As(err, &wrong) {
				return fmt.Errorf("it is not JSON at byte %d", wrong.Offset)
			}
			return err
		}
		if err := d.take(t); err != nil {
			return err
		}
		if len(d.depth) == 0 {
			if n++; !d.lists {
				return errors.New("there are no findings")
			}
			d.lists = false
		}
	}
}

// take takes one token.
func (d *baselineReader) take(t json.Token) error {
	n := len(d.depth)
	switch v := t.(type) {
	case json.Delim:
		if v == '}' || v == ']' {
			d.depth, d.key = d.depth[:n-1], ""
			return nil
		}
		if n == maxBaselineDepth {
			return errors.New("it is nested too deep")
		}
		if n == 1 && v == '[' && slices.Contains([]string{"runs:", "findings:", "stages:", "files:"}, d.key) {
			d.lists = true
		}
		d.depth, d.key = append(d.depth, v == '{'), ""
		return nil
	case string:
		if n > 0 && d.depth[n-1] && d.key == "" {
			d.key = v + ":" // an empty key is one, too
			return nil
		}
		if d.key == "fingerprint:" || d.key == "muster/v1:" {
			d.to.prints[v] = true
		}
	}
	d.key = ""
	return nil
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
