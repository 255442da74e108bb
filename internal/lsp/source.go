package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"muster/ptx"
)

// This file maps instructions to the lines that they were compiled from, by .loc, and back.

// A sourcePlace is a line of source; col is 0 if it is not known.
type sourcePlace struct {
	file      string // as .file has it
	line, col int
}

// sources are the places that an instruction comes from: the innermost, then that which it was
// inlined at.
func (x *index) sources(i int) []sourcePlace {
	l := x.insts[i].loc
	if l == nil || l.Line == 0 {
		return nil
	}
	list := []sourcePlace{{x.files[l.File], l.Line, l.Col}}
	if l.Inlined {
		list = append(list, sourcePlace{x.files[l.AtFile], l.AtLine, l.AtCol})
	}
	return list
}

// sourceFile finds the file that .file names in a module: its name is absolute, or relative to
// the PTX or to a folder of the workspace, or that of an open document. It is empty if there
// is none.
func (v *view) sourceFile(ptxPath, name string) string {
	if name == "" {
		return ""
	}
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		return v.existing(name)
	}
	for _, dir := range append([]string{filepath.Dir(ptxPath)}, v.roots...) {
		if dir == "" {
			continue
		}
		if found := v.existing(filepath.Join(dir, name)); found != "" {
			return found
		}
	}
	return v.openFile(name)
}

// openFile is the only open document of a name without a folder, as package kernel writes the
// names of Go files; empty if there is none, or more than one. A Go file must import that
// package.
func (v *view) openFile(name string) string {
	found := ""
	for _, t := range v.docs {
		if filepath.Base(t.path) != name || filepath.Ext(name) == ".go" && !strings.Contains(t.src, `muster/kernel"`) {
			continue
		}
		if found != "" {
			return ""
		}
		found = t.path
	}
	return found
}

func (v *view) existing(path string) string {
	path = filepath.Clean(path)
	if v.docs[path] != nil {
		return path
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// sourceLocation is the outermost place of an instruction in a file that is there.
func (v *view) sourceLocation(x *index, i int) (Location, bool) {
	for _, p := range slices.Backward(x.sources(i)) {
		if path := v.sourceFile(x.text.path, p.file); path != "" {
			return v.location(path, p.line, p.col), true
		}
	}
	return Location{}, false
}

// location is a place in a file, to the end of what stands on its line.
func (v *view) location(path string, line, col int) Location {
	t := v.text(path)
	if t == nil {
		at := Position{Line: uint32(max(line-1, 0))}
		return Location{v.uri(path), Range{at, at}}
	}
	return Location{t.uri, t.rest(line, col)}
}

// from lists the instructions that come from a line of source, whether or not inlined.
func (v *view) from(x *index, source string, line int) []int {
	is := map[int]bool{}
	for n, file := range x.files {
		is[n] = filepath.Base(file) == filepath.Base(source) && v.sourceFile(x.text.path, file) == source
	}
	var list []int
	for i := range x.insts {
		if l := x.insts[i].loc; l != nil && (is[l.File] && l.Line == line || l.Inlined && is[l.AtFile] && l.AtLine == line) {
			list = append(list, i)
		}
	}
	return list
}

// Bounds of what is looked through for a source file.
const (
	mostModules     = 64
	mostModuleBytes = 128 << 20
)

// compiled lists the PTX that names a source file: open documents, what checks read,
// what the settings' launch files name, and what lies beside the source.
func (v *view) compiled(source string) []*text {
	var names []string
	for _, t := range v.docs {
		if t.ptx && t.path != "" {
			names = append(names, t.path)
		}
	}
	for _, r := range v.results {
		for path := range r.read {
			if filepath.Ext(path) == ".ptx" {
				names = append(names, path)
			}
		}
	}
	for _, l := range v.named() {
		if f, err := v.readLaunch(l); err == nil {
			names = append(names, modulesOf(f)...)
		}
	}
	entries, _ := os.ReadDir(filepath.Dir(source))
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".ptx" {
			names = append(names, filepath.Join(filepath.Dir(source), e.Name()))
		}
	}
	slices.Sort(names)
	stem := strings.TrimSuffix(source, filepath.Ext(source)) + ".ptx"
	slices.SortStableFunc(names, func(a, b string) int { return boolInt(b == stem) - boolInt(a == stem) })
	var list []*text
	size := 0
	for _, path := range slices.Compact(names) {
		t := v.text(path)
		if t == nil || !strings.Contains(t.src, filepath.Base(source)) {
			continue
		}
		if size += len(t.src); len(list) == mostModules || size > mostModuleBytes {
			break
		}
		if t.names(v, source) {
			list = append(list, t)
		}
	}
	return list
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// names reports whether a module has a .file of a source file.
func (t *text) names(v *view, source string) bool {
	mod := t.module().mod
	if mod == nil {
		return false
	}
	for _, it := range mod.Items {
		if f, ok := it.(*ptx.File); ok && filepath.Base(f.Name) == filepath.Base(source) && v.sourceFile(t.path, f.Name) == source {
			return true
		}
	}
	return false
}
