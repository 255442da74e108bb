package main

import (
	"fmt"
	"strings"

	"muster/internal/diag"
	"muster/internal/rules"
	"muster/launch"
)

// kindsLike returns the kinds that a word names: the one of that name, in any case and with any
// of - _ and blanks between its parts; else those that begin so, else those with such a part.
func kindsLike(word string) []*rules.Kind {
	word = strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(strings.TrimSpace(word)))
	if k := rules.Lookup(word); k != nil {
		return []*rules.Kind{k}
	}
	if word = strings.TrimSuffix(word, "-"); word == "" {
		return nil
	}
	var begin, within []*rules.Kind
	for _, k := range rules.Kinds() {
		switch {
		case strings.HasPrefix(k.Name, word):
			begin = append(begin, k)
		case strings.Contains("-"+k.Name, "-"+word):
			within = append(within, k)
		}
	}
	if len(begin) > 0 {
		return begin
	}
	return within
}

// unknownKind is the error about a kind that is none; more are names that would do, too.
func unknownKind(name string, more ...string) error {
	for _, k := range rules.Kinds() {
		more = append(more, k.Name)
	}
	near := diag.Meant(diag.Nearest(name, more))
	if first, _, ok := strings.Cut(name, "-"); ok && near == "" { // half of it may be right
		var list []string
		for _, k := range kindsLike(first) {
			list = append(list, k.Name)
		}
		if len(list) > 0 {
			near = "; there are " + diag.Several(list)
		}
	}
	return fmt.Errorf("no finding is called %q%s; 'muster explain' lists them", brief(name), near)
}

// checkFindingID refuses an ID whose kind is none: no run could show it.
func checkFindingID(id string) error {
	kind, _, _ := strings.Cut(id, "@")
	if id == "" || rules.Lookup(kind) != nil {
		return nil
	}
	return fmt.Errorf("--finding %s: %w", brief(id), unknownKind(kind))
}

// checkAccepted refuses what a launch accepts if it is no finding.
func checkAccepted(f *launch.File) error {
	for _, a := range f.Accept {
		if rules.Lookup(a.Finding) == nil {
			err := unknownKind(a.Finding)
			return &launch.Error{Pos: a.Pos, Msg: err.Error(), Err: err}
		}
	}
	return nil
}
