package yaml

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster/launch"
)

// sequence has every key of files of several launches.
const sequence = `
version: 1
assume: [vector-atomic]
accept: [{finding: race-launches, at: k.ptx, reason: meant}]
variables: {v: {type: u8, shape: [4], fill: ones, base: 0x7f0000000000}, w: {base: 0x7f0000001000, struct: [{bytes: p.bin}]}}
buffers: {a: {type: u32, shape: [64], fill: {file: a.npy}}, b: {type: u8, shape: [64]}}
expect: {b: {file: b.npy, type: f16, ulp: 3}}
launches:
- {fill: {to: a, value: 3, bytes: 64}, name: first, stream: s, after: []}
- {copy: {to: {ptr: b, offset: 4}, from: a, bytes: 8}, stream: s, after: [first], name: second}
- {name: third, stream: s, dependent: true, ptx: k.ptx, kernel: k, grid: 1, block: [32, 2], cluster: [1], preferred-cluster: 1, shared: 0, registers: 24, maxrregcount: 255, cooperative: false, co-resident: 2, args: [a]}
- {ptx: k.ptx, grid: [2], block: 32, after: [{name: third, programmatic: true}, first]}
`

// schemaFiles are launch files: those of the project, and two that have every key.
func schemaFiles(t *testing.T) map[string]any {
	t.Helper()
	files := map[string]any{}
	add := func(name string, data []byte) {
		root, err := parse(name, data)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = generic(root)
	}
	dir := t.TempDir()
	text, err := os.ReadFile(every(t))
	if err != nil {
		t.Fatal(err)
	}
	add(filepath.Join(dir, "every.yaml"), text)
	add(filepath.Join(dir, "sequence.yaml"), []byte(sequence))
	err = filepath.WalkDir("../..", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (strings.HasPrefix(e.Name(), ".") && e.Name() != ".." || e.Name() == "script") {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".yaml" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err == nil && (strings.Contains(string(data), "grid:") || strings.Contains(string(data), "launches:")) {
			add(path, bytes.ReplaceAll(data, []byte(launch.Unfilled), []byte("1")))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// generic is a tree as encoding/json would read it, with numbers as they are written.
func generic(n *launch.Node) any {
	switch n.Kind {
	case launch.NullNode:
		return nil
	case launch.BoolNode:
		return n.Text == "true"
	case launch.IntNode:
		if v, ok := new(big.Int).SetString(n.Text, 0); ok {
			return json.Number(v.String())
		}
		return json.Number(n.Text)
	case launch.FloatNode:
		return json.Number(n.Text)
	case launch.SeqNode:
		list := []any{}
		for _, item := range n.Items {
			list = append(list, generic(item))
		}
		return list
	case launch.MapNode:
		m := map[string]any{}
		for _, e := range n.Entries {
			m[e.Key] = generic(e.Value)
		}
		return m
	}
	return n.Text
}

// A schema judges values by a JSON Schema, as far as launch.Schema uses its words.
type schema struct {
	root map[string]any
	used map[string]bool // "form.key" of each key that a value had
}

func newSchema(t *testing.T) *schema {
	s := &schema{used: map[string]bool{}}
	d := json.NewDecoder(strings.NewReader(string(launch.Schema())))
	d.UseNumber()
	if err := d.Decode(&s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

// ok reports whether a value fits; where names the form.
func (s *schema) ok(v any, by map[string]any, where string) bool {
	for word, arg := range by {
		if !s.word(v, word, arg, by, where) {
			return false
		}
	}
	return true
}

func (s *schema) word(v any, word string, arg any, by map[string]any, where string) bool {
	number := func() *big.Rat {
		n, ok := v.(json.Number)
		if !ok {
			return nil
		}
		r, _ := new(big.Rat).SetString(n.String())
		return r
	}
	atLeast := func(n int) bool {
		limit, _ := arg.(json.Number).Int64()
		return int64(n) >= limit
	}
	atMost := func(n int) bool {
		limit, _ := arg.(json.Number).Int64()
		return int64(n) <= limit
	}
	switch word {
	case "$schema", "title", "description", "$defs":
		return true
	case "$ref":
		name := strings.TrimPrefix(arg.(string), "#/$defs/")
		return s.ok(v, s.root["$defs"].(map[string]any)[name].(map[string]any), name)
	case "anyOf":
		return slices.ContainsFunc(arg.([]any), func(o any) bool { return s.ok(v, o.(map[string]any), where) })
	case "oneOf":
		n := 0
		for _, o := range arg.([]any) {
			if s.ok(v, o.(map[string]any), where) {
				n++
			}
		}
		return n == 1
	case "const":
		return reflect.DeepEqual(v, arg)
	case "enum":
		return slices.Contains(arg.([]any), v)
	case "type":
		switch arg {
		case "null":
			return v == nil
		case "integer":
			r := number()
			return r != nil && r.IsInt()
		case "number":
			return number() != nil
		}
		want := map[string]reflect.Kind{"string": reflect.String, "boolean": reflect.Bool, "array": reflect.Slice, "object": reflect.Map}[arg.(string)]
		_, isNumber := v.(json.Number)
		return v != nil && !isNumber && reflect.TypeOf(v).Kind() == want
	case "minimum", "maximum":
		limit, _ := new(big.Rat).SetString(arg.(json.Number).String())
		r := number()
		return r == nil || word == "minimum" && r.Cmp(limit) >= 0 || word == "maximum" && r.Cmp(limit) <= 0
	case "minLength":
		text, ok := v.(string)
		return !ok || atLeast(len(text))
	case "pattern":
		text, ok := v.(string)
		return !ok || regexp.MustCompile(arg.(string)).MatchString(text)
	case "minItems", "maxItems", "items":
		list, ok := v.([]any)
		switch {
		case !ok:
			return true
		case word == "minItems":
			return atLeast(len(list))
		case word == "maxItems":
			return atMost(len(list))
		}
		return !slices.ContainsFunc(list, func(item any) bool { return !s.ok(item, arg.(map[string]any), where) })
	}
	m, ok := v.(map[string]any)
	if !ok {
		return true
	}
	properties, _ := by["properties"].(map[string]any)
	switch word {
	case "minProperties":
		return atLeast(len(m))
	case "maxProperties":
		return atMost(len(m))
	case "required":
		return !slices.ContainsFunc(arg.([]any), func(k any) bool { _, ok := m[k.(string)]; return !ok })
	case "properties":
		for k, item := range m {
			if p, ok := properties[k].(map[string]any); ok {
				if !s.ok(item, p, where) {
					return false
				}
				s.used[where+"."+k] = true
			}
		}
		return true
	case "additionalProperties":
		for k, item := range m {
			if properties[k] == nil && (arg == false || !s.ok(item, arg.(map[string]any), where)) {
				return false
			}
		}
		return true
	}
	panic("the schema says " + word)
}

// TestSchema: the schema takes the launch files that there are, and these use all of its keys.
func TestSchema(t *testing.T) {
	s := newSchema(t)
	files := schemaFiles(t)
	if len(files) < 100 {
		t.Errorf("there are %d launch files", len(files))
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !s.ok(files[name], s.root, "") {
			t.Errorf("%s does not fit the schema", name)
		}
	}
	for form, def := range s.root["$defs"].(map[string]any) {
		properties, _ := def.(map[string]any)["properties"].(map[string]any)
		for key := range properties {
			typed := (form == "argumentKeys" || form == "partKeys") && len(key) <= 4 && strings.ContainsAny(key, "0123456789")
			if !s.used[form+"."+key] && !typed {
				t.Errorf("no launch file has the key %s of %s", key, form)
			}
		}
	}
}

// structural are the errors that the schema sees, too.
var structural = regexp.MustCompile(`unknown key|needs the key|is a list|is a mapping|is a string|is an integer, not|is true or false|a fill has one key|has one key|unknown type|unknown swizzle|unknown interleave|version .* is not known|no assumption is called`)

// notSeen are those of them where another key decides what a value may be.
var notSeen = regexp.MustCompile(`a tensor map is a mapping`)

// TestSchemaReader: a file with one thing changed is read only if the schema takes it, and
// what the reader refuses by its form, the schema refuses.
func TestSchemaReader(t *testing.T) {
	s := newSchema(t)
	files := schemaFiles(t)
	names := slices.Sorted(maps.Keys(files))
	read, refused, changed := 0, 0, 0
	for i, name := range names {
		// The files with all keys wholly, of the others some.
		every := 1
		if strings.HasPrefix(name, "..") {
			every = 61
		}
		change(files[name], func() {
			changed++
			if changed%every != 0 {
				return
			}
			text, err := json.Marshal(files[name])
			if err != nil {
				t.Fatal(err)
			}
			_, err = launch.ParseJSON("f.json", text)
			fits := s.ok(files[name], s.root, "")
			switch {
			case err == nil:
				read++
				if !fits {
					t.Errorf("%s is read, and does not fit the schema", text)
				}
			case fits && structural.MatchString(err.Error()) && !notSeen.MatchString(err.Error()):
				t.Errorf("%v, and it fits the schema: %s", err, text)
			default:
				refused++
			}
		})
		if t.Failed() {
			t.Fatalf("after %d of %d files", i, len(names))
		}
	}
	t.Logf("%d changed files: %d read, %d refused", changed, read, refused)
	if read < 100 || refused < 1000 {
		t.Error("too few changes tell anything")
	}
}

// change does all changes to a tree, one at a time, and undoes each after judge.
func change(root any, judge func()) {
	others := []any{nil, true, json.Number("-1"), json.Number("0"), json.Number("3"), json.Number("1000000000000"), json.Number("1.5"), "x", "", "0x10", []any{}, []any{json.Number("1")}, []any{"a"}, map[string]any{}, map[string]any{"zz": json.Number("1")}}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for i, item := range v {
				if i > 3 {
					break
				}
				for _, o := range others {
					v[i] = o
					judge()
				}
				v[i] = item
				walk(item)
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				item := v[k]
				for _, o := range others {
					v[k] = o
					judge()
				}
				delete(v, k)
				judge()
				v[k+"z"] = item
				judge()
				delete(v, k+"z")
				v[k] = item
				walk(item)
			}
			v["zz"] = nil
			judge()
			delete(v, "zz")
		}
	}
	walk(root)
}

// TestSchemaKeys: what the reader says is known in each mapping is what the schema knows.
func TestSchemaKeys(t *testing.T) {
	places := map[string]string{
		"file":           `%s`,
		"sequence":       `{"zzzzqqqq": 1, "launches": []}`,
		"entry":          `{"launches": [%s]}`,
		"fillEntry":      `{"launches": [{"zzzzqqqq": 1, "fill": {}}]}`,
		"copyEntry":      `{"launches": [{"zzzzqqqq": 1, "copy": {}}]}`,
		"fillKeys":       `{"launches": [{"fill": %s}]}`,
		"copyKeys":       `{"launches": [{"copy": %s}]}`,
		"edge":           `{"launches": [{"after": [%s]}]}`,
		"buffer":         `{"buffers": {"b": %s}}`,
		"fill":           `{"buffers": {"b": {"type": "u8", "fill": %s}}}`,
		"random":         `{"buffers": {"b": {"type": "u8", "fill": {"random": %s}}}}`,
		"variable":       `{"variables": {"b": %s}}`,
		"structVariable": `{"variables": {"b": {"zzzzqqqq": 1, "struct": []}}}`,
		"argumentKeys":   `{"args": [%s]}`,
		"partKeys":       `{"args": [{"struct": [%s]}]}`,
		"addressKeys":    `{"args": [{"zzzzqqqq": 1, "ptr": "b"}]}`,
		"tensormap":      `{"args": [{"tensormap": %s}]}`,
		"im2col":         `{"args": [{"tensormap": {"im2col": %s}}]}`,
		"expectation":    `{"expect": {"b": %s}}`,
		"accepted":       `{"accept": [%s]}`,
	}
	for form, def := range newSchema(t).root["$defs"].(map[string]any) {
		properties, _ := def.(map[string]any)["properties"].(map[string]any)
		if properties == nil {
			continue
		}
		place := places[form]
		if place == "" {
			t.Errorf("no place is known for %s", form)
			continue
		}
		if strings.Contains(place, "%s") {
			place = fmt.Sprintf(place, `{"zzzzqqqq": 1}`)
		}
		_, err := launch.ParseJSON("f.json", []byte(place))
		if err == nil {
			t.Errorf("%s: %s is read", form, place)
			continue
		}
		_, known, ok := strings.Cut(err.Error(), "known here: ")
		got := strings.Split(known, ", ")
		got = slices.DeleteFunc(got, func(k string) bool { return k == "ptr" && form != "addressKeys" })
		slices.Sort(got)
		if want := slices.Sorted(maps.Keys(properties)); !ok || !slices.Equal(got, want) {
			t.Errorf("%s: the reader knows %q, the schema %q: %v", form, got, want, err)
		}
	}
}

// TestReference: the examples of the reference are read.
func TestReference(t *testing.T) {
	text := launch.Reference()
	whole := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(text, -1)
	if len(whole) < 2 {
		t.Error("there are no examples")
	}
	for _, m := range whole {
		root, err := parse("x.yaml", []byte(m[1]))
		if err == nil {
			_, err = launch.Parse("x.yaml", root)
		}
		if err != nil {
			t.Errorf("%v\n%s", err, m[1])
		}
	}
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)`.*`([^`]*)` \\|$").FindAllStringSubmatch(text, -1)
	if len(rows) < 60 {
		t.Errorf("%d keys have an example", len(rows))
	}
	for _, m := range rows {
		if root, err := parse("x.yaml", []byte(m[2])); err != nil || len(root.Entries) != 1 || root.Entries[0].Key != m[1] {
			t.Errorf("%s: %v", m[2], err)
		}
	}
}
