package muster

import (
	"path/filepath"
	"slices"

	"muster/internal/files"
	"muster/internal/view"
)

// This file gives a view the texts that it shows beside a run.

// viewTexts adds the PTX of all modules, and the sources that it names and that can be read.
func (l *Launch) viewTexts(doc *view.Document) {
	p := l.config.Program
	locs := map[string]map[int][3]any{}
	var sources []string
	for pc := range int32(p.Len()) {
		line := int(p.Pos(pc).Line)
		if line == 0 {
			continue
		}
		file, at := l.resolver.File(pc), [3]any{line, "", 0}
		if src := p.Source(pc); len(src) > 0 {
			s := src[len(src)-1]
			at[1], at[2] = s.File, s.Line
			if !slices.Contains(sources, s.File) {
				sources = append(sources, s.File)
			}
		}
		if locs[file] == nil {
			locs[file] = map[int][3]any{}
		}
		locs[file][line] = at
	}
	for _, t := range l.texts() {
		doc.AddText(t.file, "ptx", t.text, located(locs[t.file]))
	}
	dirs := l.folders()
	for i, name := range sources {
		if i == mostSources {
			break
		}
		if data, ok := readSource(name, dirs); ok {
			doc.AddText(name, "source", data, nil)
		}
	}
}

// located lists places by line, without those that say what the one before says.
func located(by map[int][3]any) (list [][3]any) {
	lines := make([]int, 0, len(by))
	for line := range by {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	for _, line := range lines {
		at := by[line]
		if n := len(list); n > 0 && list[n-1][1] == at[1] && list[n-1][2] == at[2] || n == 0 && at[2] == 0 {
			continue
		}
		list = append(list, at)
	}
	return list
}

type ptxText struct {
	file string
	text []byte
}

// texts lists the texts of all modules, each once, under the names that places have.
func (l *Launch) texts() (list []ptxText) {
	add := func(file string, text []byte) {
		if text != nil && !slices.ContainsFunc(list, func(t ptxText) bool { return t.file == file }) {
			list = append(list, ptxText{file, text})
		}
	}
	for _, src := range l.sources {
		for _, u := range src.module.Units {
			add(u.Name, []byte(u.Text))
		}
		switch {
		case src.module.Units != nil:
		case len(l.sources) == 1:
			add(l.resolver.PTX, src.text)
		default:
			add(src.module.Name, src.text)
		}
	}
	return list
}

// mostSources bounds the files that a view shows, and mostSource the bytes of one.
const (
	mostSources = 64
	mostSource  = 4 << 20
)

// sourceKinds are the extensions of files that a view reads. PTX names any file, and a page is
// handed on: it is not to take along what is no source.
var sourceKinds = []string{".cu", ".cuh", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".c", ".cc", ".cpp", ".cxx", ".py", ".go", ".rs", ".jl", ".mojo", ".ptx", ".cl"}

// folders are where sources may lie that are named without a folder of the root.
func (l *Launch) folders() (list []string) {
	for _, name := range append([]string{l.file.Name}, l.resolver.PTX) {
		if dir := filepath.Dir(name); name != "" && !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	return append(list, ".")
}

func readSource(name string, dirs []string) ([]byte, bool) {
	if !slices.Contains(sourceKinds, filepath.Ext(name)) {
		return nil, false
	}
	if filepath.IsAbs(name) {
		dirs = []string{""}
	}
	for _, dir := range dirs {
		full, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		if err != nil || !slices.Contains(sourceKinds, filepath.Ext(full)) { // a link to what is no source
			continue
		}
		if data, err := files.Read(full, mostSource); err == nil && !slices.Contains(data, 0) {
			return data, true
		}
	}
	return nil, false
}
