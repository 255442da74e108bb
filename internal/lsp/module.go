package lsp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"muster/internal/machine"
	"muster/ptx"
)

// A module is what the text of a PTX document says.
type module struct {
	text *text
	mod  *ptx.Module // nil if it does not parse
	err  *ptx.Error  // why it does not

	index func() *index
}

// parse reads a text as PTX.
func parse(t *text) *module {
	m := &module{text: t}
	mod, err := ptx.Parse(t.name(), []byte(t.src))
	switch {
	case err == nil:
		m.mod = mod
	case !errors.As(err, &m.err):
		panic("BUG: an error of ptx.Parse of another type: " + err.Error())
	}
	m.index = sync.OnceValue(func() *index { return newIndex(t, m.mod) })
	return m
}

// name is how messages name a document.
func (t *text) name() string {
	if t.path != "" {
		return t.path
	}
	return t.uri
}

// maxProblems bounds what is said of one document.
const maxProblems = 500

// problems lists what is wrong with the text by itself: that it does not parse, has an
// instruction of no row, breaks what ptxas would refuse, or does not decode. It ends early,
// and returns false, when ctx does.
func (m *module) problems(ctx context.Context) ([]Diagnostic, bool) {
	if m.err != nil {
		return []Diagnostic{m.problem(m.err.Pos, severityError, "syntax", m.err.Msg)}, true
	}
	var list []Diagnostic
	for _, e := range ptx.Validate(m.mod) {
		list = append(list, m.problem(e.Pos, severityWarning, "unknown-instruction", e.Msg))
	}
	bad := false
	for _, check := range []func(*ptx.Module) []*ptx.Error{ptx.CheckTarget, ptx.CheckNames, ptx.CheckOperands} {
		if ctx.Err() != nil {
			return nil, false
		}
		for _, e := range check(m.mod) {
			list, bad = append(list, m.problem(e.Pos, severityError, "decode", e.Msg)), true
		}
	}
	if !bad {
		for _, k := range machine.Kernels(m.mod) {
			if ctx.Err() != nil {
				return nil, false
			}
			list = m.decode(list, k)
		}
	}
	return bounded(list), true
}

// decode adds what keeps a kernel from being decoded. The module is looked at without its
// other kernels, so that one of many costs no more than its share.
func (m *module) decode(list []Diagnostic, kernel string) []Diagnostic {
	alone := *m.mod
	alone.Items = nil
	for _, it := range m.mod.Items {
		if f, ok := it.(*ptx.Func); !ok || !f.Entry || f.Name == kernel {
			alone.Items = append(alone.Items, it)
		}
	}
	_, err := machine.Decode(&alone, kernel)
	var d *machine.DecodeError
	switch {
	case errors.As(err, &d):
		return append(list, m.problem(d.Pos, severityError, "decode", d.Msg))
	case err != nil:
		return append(list, m.problem(ptx.Pos{Line: 1, Col: 1}, severityError, "decode", err.Error()))
	}
	return list
}

func (m *module) problem(pos ptx.Pos, severity int, code, msg string) Diagnostic {
	return Diagnostic{Range: m.text.rest(int(pos.Line), int(pos.Col)), Severity: severity, Code: code, Source: "muster", Message: msg}
}

// bounded cuts a long list, and says so.
func bounded(list []Diagnostic) []Diagnostic {
	list = distinct(list)
	if len(list) <= maxProblems {
		return list
	}
	left := len(list) - maxProblems
	list = list[:maxProblems]
	return append(list, Diagnostic{Severity: severityInformation, Source: "muster", Code: "more", Message: fmt.Sprintf("%d more are not shown here", left)})
}

// distinct drops what is said twice of one place.
func distinct(list []Diagnostic) []Diagnostic {
	type key struct {
		at         Range
		code, text string
	}
	seen := map[key]bool{}
	out := make([]Diagnostic, 0, len(list))
	for _, d := range list {
		k := key{d.Range, d.Code, d.Message}
		if !seen[k] {
			seen[k] = true
			out = append(out, d)
		}
	}
	return out
}
