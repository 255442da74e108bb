package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"muster/ptx"
)

// documentSymbol lists what a PTX document declares: functions with their labels and shared
// variables, and variables of the module.
func documentSymbol(_ context.Context, v *view, params json.RawMessage) (any, error) {
	p, err := decode[documentParams](params)
	if err != nil {
		return nil, err
	}
	t, err := v.document(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	if !t.ptx {
		return []DocumentSymbol{}, nil
	}
	list := t.symbols()
	if v.flat {
		return flatten(t.uri, list), nil
	}
	return list, nil
}

// mostSymbols bounds an answer.
const mostSymbols = 20000

func (t *text) symbols() []DocumentSymbol {
	m := t.module()
	list := []DocumentSymbol{}
	if m.mod == nil {
		return list
	}
	x := m.index()
	for _, it := range m.mod.Items {
		if v, ok := it.(*ptx.Var); ok && len(list) < mostSymbols {
			list = append(list, x.variable(v))
		}
	}
	room := mostSymbols - len(list)
	for _, fn := range x.funcs {
		detail := "function"
		if fn.f.Entry {
			detail = "kernel"
		}
		s := DocumentSymbol{Name: fn.f.Name, Detail: detail, Kind: symbolFunction,
			Range: t.span(fn.from, fn.to), SelectionRange: t.span(fn.name, fn.name+len(fn.f.Name))}
		s.Children = x.inside(fn.f.Body, &room)
		list = append(list, s)
	}
	return list
}

// inside lists the labels and the variables of a block and those in it.
func (x *index) inside(b *ptx.Block, room *int) (list []DocumentSymbol) {
	for _, st := range b.Stmts {
		if *room <= 0 {
			return list
		}
		switch st := st.(type) {
		case *ptx.Label:
			*room--
			at := x.text.at(st.Pos)
			r := x.text.span(at, at+len(st.Name))
			list = append(list, DocumentSymbol{Name: st.Name, Detail: "label", Kind: symbolKey, Range: r, SelectionRange: r})
		case *ptx.Var:
			if st.Space != "reg" {
				*room--
				list = append(list, x.variable(st))
			}
		case *ptx.Block:
			list = append(list, x.inside(st, room)...)
		}
	}
	return list
}

func (x *index) variable(v *ptx.Var) DocumentSymbol {
	at := x.text.at(v.Pos)
	r := x.text.span(at, at+len(v.Name))
	return DocumentSymbol{Name: v.Name, Detail: strings.TrimSuffix(declared(v, ""), " "), Kind: symbolVariable, Range: r, SelectionRange: r}
}

func flatten(uri string, list []DocumentSymbol) []SymbolInformation {
	out := []SymbolInformation{}
	var add func(list []DocumentSymbol, in string)
	add = func(list []DocumentSymbol, in string) {
		for _, s := range list {
			out = append(out, SymbolInformation{Name: s.Name, Kind: s.Kind, Location: Location{uri, s.Range}, ContainerName: in})
			add(s.Children, s.Name)
		}
	}
	add(list, "")
	return out
}

// formatting prints PTX in one layout, as 'muster fmt' does. That drops comments, so a text
// that has some is refused unless a setting allows it: a key that formats must lose nothing.
func formatting(_ context.Context, v *view, params json.RawMessage) (any, error) {
	p, err := decode[documentParams](params)
	if err != nil {
		return nil, err
	}
	t, err := v.document(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	if !t.ptx {
		return []TextEdit{}, nil
	}
	m := t.module()
	if m.err != nil {
		return nil, errorf(requestFailed, "line %d: %s", m.err.Pos.Line, m.err.Msg)
	}
	if !v.set.FormatDropsComments && hasComment(t.src) {
		return nil, errorf(requestFailed, "formatting drops the comments of this text; the setting muster.formatDropsComments allows that")
	}
	var b bytes.Buffer
	if err := m.mod.Print(&b); err != nil {
		return nil, err
	}
	if b.String() == t.src {
		return []TextEdit{}, nil
	}
	return []TextEdit{{t.span(0, len(t.src)), b.String()}}, nil
}

// hasComment reports whether a text has a comment outside of strings.
func hasComment(src string) bool {
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '"':
			n := strings.IndexByte(src[i+1:], '"')
			if n < 0 {
				return false
			}
			i += n + 1
		case '/':
			if comment(src[i:]) > 0 {
				return true
			}
		}
	}
	return false
}
