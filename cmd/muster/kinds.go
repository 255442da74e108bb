package main

import (
	"fmt"
	"strings"

	"muster/internal/diag"
	"muster/internal/rules"
	"muster/launch"
)

// kindsLike returns the kinds that a word names: the one of that name, in any case, with any of
// - _ and blanks between its parts, and as reports write it (error[race-shared],
// race-shared@k.ptx:7); else those that begin so, those with such a part, those whose title has
// the word, and those of that severity.
func kindsLike(word string) []*rules.Kind {
	word = strings.ToLower(strings.TrimSpace(word))
	word, _, _ = strings.Cut(word, "@")
	if _, in, ok := strings.Cut(word, "["); ok {
		word, _, _ = strings.Cut(in, "]")
	}
	word = strings.TrimSuffix(strings.NewReplacer("_", "-", " ", "-").Replace(word), "-")
	if k := rules.Lookup(word); k != nil {
		return []*rules.Kind{k}
	}
	if word == "" {
		return nil
	}
	for _, is := range []func(*rules.Kind) bool{
		func(k *rules.Kind) bool { return strings.HasPrefix(k.Name, word) },
		func(k *rules.Kind) bool { return strings.Contains("-"+k.Name, "-"+word) },
		func(k *rules.Kind) bool {
			return len(word) > 2 && strings.Contains(" "+strings.ToLower(k.Title), " "+word)
		},
		func(k *rules.Kind) bool { return k.Severity.String() == word },
	} {
		var list []*rules.Kind
		for _, k := range rules.Kinds() {
			if is(k) {
				list = append(list, k)
			}
		}
		if len(list) > 0 {
			return list
		}
	}
	return nil
}

// unknownKind is the error about a kind that is none; more are names that would do, too.
func unknownKind(name string, more ...string) error {
	for _, k := range rules.Kinds() {
		more = append(more, k.Name)
	}
	near := diag.Meant(diag.Nearest(name, more))
	like := kindsLike(name)
	if len(like) == 0 { // half of it may be right
		first, _, _ := strings.Cut(name, "-")
		like = kindsLike(first)
	}
	if near == "" && len(like) > 0 {
		var list []string
		for _, k := range like {
			list = append(list, k.Name)
		}
		near = "; there are " + diag.Several(list)
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
