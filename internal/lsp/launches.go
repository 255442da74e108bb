package lsp

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"muster/internal/yaml"
	"muster/launch"
)

// This file finds the launch files that speak of a document.

// launchKey is what makes a YAML or JSON document a launch file: other files in a folder are
// not the server's business.
var launchKey = regexp.MustCompile(`(?m)(^|[{,])\s*["']?(ptx|launches)["']?\s*:`)

// isLaunch reports whether a document is a launch file.
func isLaunch(t *text) bool {
	switch filepath.Ext(t.path) {
	case ".yaml", ".yml", ".json":
		return len(t.src) <= maxLaunch && launchKey.MatchString(t.src)
	}
	return false
}

// Bounds of what is looked through for launch files.
const (
	maxLaunch      = 4 << 20
	mostCandidates = 256
	mostOfOne      = 8 // launch files that are checked for one document
)

// readLaunch reads a launch file, from its document if that is open.
func (v *view) readLaunch(path string) (*launch.File, error) {
	t := v.text(path)
	if t == nil {
		return yaml.ReadFile(path) // and its error
	}
	return yaml.ReadText(path, []byte(t.src))
}

// launchesOf lists the launch files that name one of some files as their PTX, or have it linked
// or compiled: those of the settings, and those in the files' folders, one with the name of
// the file first.
func (v *view) launchesOf(files []string) []string {
	candidates := v.named()
	dirs := map[string]bool{}
	for _, f := range files {
		if dir := filepath.Dir(f); !dirs[dir] {
			dirs[dir] = true
			candidates = append(candidates, launchFiles(dir, f)...)
		}
	}
	var list []string
	for _, c := range candidates {
		if len(list) == mostOfOne || slices.Contains(list, c) {
			continue
		}
		if t := v.text(c); t == nil || !isLaunch(t) {
			continue
		}
		f, err := v.readLaunch(c)
		if err != nil {
			continue // it says so where it is open
		}
		if slices.ContainsFunc(modulesOf(f), func(m string) bool { return slices.Contains(files, m) }) {
			list = append(list, c)
		}
	}
	return list
}

// named lists the launch files of the settings; a path is relative to the workspace.
func (v *view) named() []string {
	var list []string
	for _, c := range v.set.Launch {
		if !filepath.IsAbs(c) && len(v.roots) > 0 {
			c = filepath.Join(v.roots[0], c)
		}
		list = append(list, absolute(c))
	}
	return list
}

// launchFiles lists what may be launch files in a folder, those that share a file's name
// first.
func launchFiles(dir, file string) []string {
	entries, _ := os.ReadDir(dir)
	stem := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	var list []string
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".yaml", ".yml", ".json":
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	slices.SortStableFunc(list, func(a, b string) int { return boolInt(stemOf(b) == stem) - boolInt(stemOf(a) == stem) })
	return list[:min(len(list), mostCandidates)]
}

func stemOf(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// modulesOf lists the absolute paths of all PTX, or source, that a launch file names.
func modulesOf(f *launch.File) []string {
	var list []string
	for i := range f.Launches {
		if f.Launches[i].Builtin != launch.NoBuiltin {
			continue
		}
		for _, m := range f.Launches[i].Modules() {
			if abs, err := filepath.Abs(m); err == nil {
				list = append(list, abs)
			}
		}
	}
	return list
}
