// Command gen writes the JSON Schema of what 'muster check --format json' writes: the types
// of package report, with their comments.
package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"muster/report"
)

func main() {
	log.SetFlags(0)
	s := schema{defs: map[string]any{}, comments: comments(".")}
	top := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "What muster check --format json writes",
		"description": "A report; for a file of several launches that do not all overlap, a sequence of them; for several files, what is said of each; " +
			"and in place of all, for bad input and other errors, a failed check. Within one version, fields are added, never renamed, removed or given another meaning.",
		"oneOf": []any{s.of(reflect.TypeFor[report.Report]()), s.of(reflect.TypeFor[report.Sequence]()), s.of(reflect.TypeFor[report.Files]()), s.of(reflect.TypeFor[report.Failed]())},
		"$defs": s.defs,
	}
	text, err := json.MarshalIndent(top, "", "  ")
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("../docs/report.schema.json", append(text, '\n'), 0o644); err != nil {
		log.Fatal(err)
	}
}

// comments maps types, as Report, and fields, as Report.Launch, to their comments.
func comments(dir string) map[string]string {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		log.Fatal(err)
	}
	text := map[string]string{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			log.Fatal(err)
		}
		for _, d := range f.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE {
				continue
			}
			for _, spec := range decl.Specs {
				t := spec.(*ast.TypeSpec)
				text[t.Name.Name] = words(decl.Doc, t.Doc)
				if fields, ok := t.Type.(*ast.StructType); ok {
					for _, x := range fields.Fields.List {
						for _, n := range x.Names {
							text[t.Name.Name+"."+n.Name] = words(x.Doc, x.Comment)
						}
					}
				}
			}
		}
	}
	return text
}

func words(groups ...*ast.CommentGroup) string {
	var all []string
	for _, g := range groups {
		if g != nil {
			all = append(all, strings.Fields(g.Text())...)
		}
	}
	return strings.Join(all, " ")
}

// A schema collects the definitions of types.
type schema struct {
	defs     map[string]any
	comments map[string]string
}

var enums = map[reflect.Type][]any{
	reflect.TypeFor[report.Verdict]():  {report.Clean, report.Findings, report.Incomplete, report.Error},
	reflect.TypeFor[report.Severity](): {report.SevError, report.SevWarning, report.SevNote},
}

// of returns the schema of a type.
func (s *schema) of(t reflect.Type) map[string]any {
	if list, ok := enums[t]; ok {
		return map[string]any{"enum": list}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.Slice:
		return map[string]any{"type": "array", "items": s.of(t.Elem())}
	case reflect.Array:
		return map[string]any{"type": "array", "items": s.of(t.Elem()), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Interface: // Stage.Report
		return s.of(reflect.TypeFor[report.Report]())
	case reflect.Struct:
		if _, ok := s.defs[t.Name()]; !ok {
			s.defs[t.Name()] = nil // of a type within itself
			s.defs[t.Name()] = s.object(t)
		}
		return map[string]any{"$ref": "#/$defs/" + t.Name()}
	}
	if t.ConvertibleTo(reflect.TypeFor[uint64]()) {
		n := map[string]any{"type": "integer"}
		if t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64 {
			n["minimum"] = 0
		}
		return n
	}
	log.Fatalf("no schema for %s", t)
	return nil
}

func (s *schema) object(t reflect.Type) map[string]any {
	properties, required := map[string]any{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			log.Fatalf("%s.%s has no name in JSON", t, f.Name)
		}
		p := s.of(f.Type)
		if about := s.comments[t.Name()+"."+f.Name]; about != "" {
			p["description"] = about
		}
		properties[name] = p
		if rest != "omitempty" {
			required = append(required, name)
		}
	}
	slices.Sort(required)
	return map[string]any{"type": "object", "description": s.comments[t.Name()], "properties": properties, "required": required}
}
