// Package yaml reads launch files in YAML, for commands: it converts text to the tree of
// positioned nodes that package launch reads, so that errors keep their lines. YAML
// features beyond JSON that a launch file does not need (tags, merge keys, several
// documents) are rejected; anchors and aliases are supported.
//
// It is separate from package launch because it has a dependency, and the library has
// none.
package yaml

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"muster/internal/files"
	"muster/launch"
)

// maxSize is in bytes. The parser's memory is some hundred times that; arrays belong into
// .npy files.
const maxSize = 4 << 20

// ReadFile reads a launch file: JSON if its name ends in .json, else YAML, which includes
// JSON. Errors in it are of type *launch.Error.
func ReadFile(name string) (*launch.File, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, &launch.Error{Pos: launch.Pos{File: name}, Msg: files.Cause(err).Error(), Err: err}
	case info.IsDir():
		return nil, &launch.Error{Pos: launch.Pos{File: name}, Msg: "this is a folder; name a launch file in it, or see muster import for a cache of Triton"}
	case !info.Mode().IsRegular():
		return nil, &launch.Error{Pos: launch.Pos{File: name}, Msg: "not a regular file"}
	}
	if e := files.Binary(name, files.AsLaunch, files.Head(name)); e != nil {
		return nil, foreign(e)
	}
	switch {
	case strings.HasSuffix(name, ".json"):
		return launch.ReadFile(name)
	case info.Size() > maxSize:
		return nil, &launch.Error{Pos: launch.Pos{File: name}, Msg: fmt.Sprintf("%d bytes of YAML; at most %d are read. Large arrays belong into .npy files", info.Size(), maxSize)}
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, &launch.Error{Pos: launch.Pos{File: name}, Msg: files.Cause(err).Error(), Err: err}
	}
	return ReadText(name, src)
}

// ReadText is ReadFile for a text that is not in its file, as in an editor.
func ReadText(name string, src []byte) (*launch.File, error) {
	switch {
	case strings.HasSuffix(name, ".json"):
		return launch.ParseJSON(name, src)
	case len(src) > maxSize:
		return nil, &launch.Error{Pos: launch.Pos{File: name}, Msg: fmt.Sprintf("%d bytes of YAML; at most %d are read. Large arrays belong into .npy files", len(src), maxSize)}
	}
	root, err := parse(name, src)
	var f *launch.File
	if err == nil {
		f, err = launch.Parse(name, root)
	}
	if err = files.Instead(name, files.AsLaunch, src, err); err != nil {
		return nil, foreign(err)
	}
	return f, nil
}

// foreign gives the error of a file that is something else the type of the others.
func foreign(err error) error {
	var e *files.Foreign
	if errors.As(err, &e) {
		return &launch.Error{Pos: launch.Pos{File: e.Name}, Msg: e.Msg(), Err: e}
	}
	return err
}

// Parse reads the tree of a launch file that is at hand as text. The name is for errors, of
// type *launch.Error.
func Parse(name string, src []byte) (*launch.Node, error) {
	if len(src) > maxSize {
		return nil, &launch.Error{Pos: launch.Pos{File: name}, Msg: fmt.Sprintf("%d bytes of YAML; at most %d are read. Large arrays belong into .npy files", len(src), maxSize)}
	}
	return parse(name, src)
}

// A reader builds the nodes of one file.
type reader struct {
	file    string
	lines   [][]byte
	anchors map[string]*launch.Node
}

func parse(name string, src []byte) (root *launch.Node, err error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	y := &reader{file: name, lines: bytes.Split(src, []byte("\n")), anchors: map[string]*launch.Node{}}
	if err := y.text(); err != nil {
		return nil, err
	}
	// The parser is third-party, and reads untrusted text.
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, &launch.Error{Pos: launch.Pos{File: name}, Msg: "the YAML parser gives up on this text; JSON in a file that ends in .json would do"}
		}
	}()
	tokens := lexer.Tokenize(string(src))
	if err := y.depth(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, y.syntax(err)
	}
	return y.document(file)
}

// text rejects files that are not text, before the parser sees them.
func (y *reader) text() error {
	for i, line := range y.lines {
		for col := 0; col < len(line); {
			r, n := utf8.DecodeRune(line[col:])
			if r == utf8.RuneError && n == 1 || r < ' ' && r != '\t' && r != '\r' {
				return y.errorAt(launch.Pos{Line: i + 1, Col: col + 1}, "byte %#02x: this is not a text file", line[col])
			}
			col += n
		}
	}
	return nil
}

// depth bounds the nesting, since the parser is recursive.
func (y *reader) depth(tokens token.Tokens) error {
	flow, entries, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			entries, line = 0, t.Position.Line
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType:
			entries++
		}
		// Each level of block nesting takes a column.
		if flow+entries > launch.MaxDepth || t.Position.Column > 1 && flow == 0 && y.indent(line) > 16*launch.MaxDepth {
			return y.errorAt(y.pos(t), "nested more than %d deep", launch.MaxDepth)
		}
	}
	return nil
}

func (y *reader) indent(line int) int {
	if line < 1 || line > len(y.lines) {
		return 0
	}
	l := y.lines[line-1]
	return len(l) - len(bytes.TrimLeft(l, " "))
}

// syntax adds the place to an error of the parser.
func (y *reader) syntax(err error) error {
	var at interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &at) && at.GetToken() != nil {
		return y.errorAt(y.pos(at.GetToken()), "%s", inWords(at.GetMessage()))
	}
	return y.errorAt(launch.Pos{}, "%s", inWords(err.Error()))
}

func (y *reader) errorAt(p launch.Pos, format string, args ...any) error {
	p.File = y.file
	return &launch.Error{Pos: p, Msg: fmt.Sprintf(format, args...)}
}

// pos converts the parser's columns from characters to bytes.
func (y *reader) pos(t *token.Token) launch.Pos {
	if t == nil || t.Position == nil {
		return launch.Pos{}
	}
	p := launch.Pos{Line: t.Position.Line, Col: t.Position.Column}
	if p.Line < 1 || p.Line > len(y.lines) {
		return p
	}
	line, chars := y.lines[p.Line-1], p.Col-1
	p.Col = 1
	for ; chars > 0 && p.Col <= len(line); chars-- {
		_, n := utf8.DecodeRune(line[p.Col-1:])
		p.Col += n
	}
	return p
}

func (y *reader) document(f *ast.File) (*launch.Node, error) {
	var body ast.Node
	for _, d := range f.Docs {
		if d.Body == nil || d.Body.Type() == ast.CommentType {
			continue
		}
		if body != nil {
			at := launch.Pos{}
			if n, err := y.node(d.Body); err == nil {
				at = n.Pos
			}
			return nil, y.errorAt(at, "a launch file is one document; a second begins here")
		}
		body = d.Body
	}
	if body == nil {
		return &launch.Node{Kind: launch.NullNode, Pos: launch.Pos{Line: 1, Col: 1}}, nil
	}
	return y.node(body)
}

// dotless matches a float with an exponent and no point, as JSON writers emit it; the
// parser reads an unquoted one as a string.
var dotless = regexp.MustCompile(`^[-+]?[0-9]+[eE][-+]?[0-9]+$`)

func (y *reader) node(n ast.Node) (*launch.Node, error) {
	scalar := func(k launch.NodeKind, text string) (*launch.Node, error) {
		return &launch.Node{Kind: k, Pos: y.pos(n.GetToken()), Text: text}, nil
	}
	switch n := n.(type) {
	case *ast.NullNode:
		return scalar(launch.NullNode, "null")
	case *ast.BoolNode:
		return scalar(launch.BoolNode, n.Token.Value)
	case *ast.IntegerNode:
		return scalar(launch.IntNode, n.Token.Value)
	case *ast.FloatNode:
		return scalar(launch.FloatNode, n.Token.Value)
	case *ast.InfinityNode:
		return scalar(launch.StringNode, n.Token.Value)
	case *ast.NanNode:
		return scalar(launch.StringNode, n.Token.Value)
	case *ast.StringNode:
		if n.Token.Type == token.StringType && dotless.MatchString(n.Value) {
			return scalar(launch.FloatNode, n.Value)
		}
		return scalar(launch.StringNode, n.Value)
	case *ast.LiteralNode:
		return scalar(launch.StringNode, n.Value.Value)
	case *ast.SequenceNode:
		return y.sequence(n)
	case *ast.MappingNode:
		return y.mapping(n.Start, n.Values)
	case *ast.MappingValueNode:
		return y.mapping(nil, []*ast.MappingValueNode{n})
	case *ast.AnchorNode:
		return y.anchor(n)
	case *ast.AliasNode:
		return y.alias(n)
	case nil:
		return &launch.Node{Kind: launch.NullNode}, nil
	}
	return nil, y.errorAt(y.pos(n.GetToken()), "a launch file has no use for %s", strings.ToLower(n.Type().String()))
}

func (y *reader) sequence(n *ast.SequenceNode) (*launch.Node, error) {
	out := &launch.Node{Kind: launch.SeqNode, Pos: y.pos(n.Start)}
	for _, v := range n.Values {
		item, err := y.node(v)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, item)
	}
	return out, nil
}

// mapping has the position of its brace or its first key.
func (y *reader) mapping(start *token.Token, values []*ast.MappingValueNode) (*launch.Node, error) {
	out := &launch.Node{Kind: launch.MapNode, Pos: y.pos(start)}
	for i, v := range values {
		key := v.Key.GetToken()
		if i == 0 && (start == nil || start.Type != token.MappingStartType) {
			out.Pos = y.pos(key)
		}
		if v.Key.IsMergeKey() {
			return nil, y.errorAt(y.pos(key), "a launch file has no merge keys")
		}
		if _, ok := v.Key.(ast.ScalarNode); !ok {
			return nil, y.errorAt(y.pos(key), "a key is a word")
		}
		value, err := y.node(v.Value)
		if err != nil {
			return nil, err
		}
		out.Entries = append(out.Entries, launch.Entry{Key: keyText(v.Key), Pos: y.pos(key), Value: value})
	}
	return out, nil
}

func keyText(k ast.MapKeyNode) string {
	if s, ok := k.(*ast.StringNode); ok {
		return s.Value
	}
	return k.GetToken().Value
}

func (y *reader) anchor(n *ast.AnchorNode) (*launch.Node, error) {
	v, err := y.node(n.Value)
	if err == nil {
		y.anchors[n.Name.GetToken().Value] = v
	}
	return v, err
}

func (y *reader) alias(n *ast.AliasNode) (*launch.Node, error) {
	name := n.Value.GetToken()
	if v := y.anchors[name.Value]; v != nil {
		return v, nil
	}
	return nil, y.errorAt(y.pos(name), "no anchor &%s stands before", name.Value)
}
