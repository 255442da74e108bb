package diag

import (
	"fmt"
	"strings"
)

// Nearest returns the known word that a reader most likely meant: one that differs in case
// alone, else the one with the fewest mistakes of typing; "" if none is near.
func Nearest(got string, known []string) string {
	const tooLong = 64
	if len(got) > tooLong {
		return ""
	}
	best, bestDist := "", 1+max(1, len(got)/3)
	for _, k := range known {
		// A word of which no letter is left is another one.
		if d := editDistance(strings.ToLower(got), strings.ToLower(k)); d < bestDist && d < max(len(got), len(k)) {
			best, bestDist = k, d
		}
	}
	return best
}

// NearestSymbol is Nearest for symbols, which may be mangled: a function's own name is near
// to its symbol.
func NearestSymbol(got string, known []string) string {
	for _, k := range known {
		rest, ok := strings.CutPrefix(k, "_Z")
		if name, _, plain := lengthName(rest); ok && plain && name == got || got != k && ShortName(k) == got {
			return k
		}
	}
	return Nearest(got, known)
}

// Meant asks whether a word was meant; "" for none.
func Meant(word string) string {
	if word == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", word)
}

// editDistance counts insertions, deletions, substitutions and transpositions of
// neighbours.
func editDistance(a, b string) int {
	var before, prev, cur []int
	prev = make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur = make([]int, len(b)+1)
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev = prev, cur
	}
	return prev[len(b)]
}
