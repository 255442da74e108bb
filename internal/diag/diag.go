// Package diag has formatting shared by all messages: numbers, lanes and CTAs in words,
// clipping, wrapping, carets under an instruction.
package diag

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"muster/ptx"
)

// Plural counts things: "1 step", "1,024 steps".
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return Group(int64(n)) + " " + word + "s"
}

// Group writes a number with commas.
func Group(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Lanes formats a mask as 0-15,17.
func Lanes(mask uint32) string {
	var parts []string
	for mask != 0 {
		lo := bits.TrailingZeros32(mask)
		n := bits.TrailingZeros32(^(mask >> lo))
		mask &^= uint32(1<<n-1) << lo
		if n == 1 {
			parts = append(parts, fmt.Sprint(lo))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", lo, lo+n-1))
		}
	}
	return strings.Join(parts, ",")
}

// LaneMask parses the format of Lanes.
func LaneMask(text string) uint32 {
	mask := uint32(0)
	for _, part := range strings.Split(text, ",") {
		var lo, hi int
		switch n, _ := fmt.Sscanf(part, "%d-%d", &lo, &hi); n {
		case 0:
			continue
		case 1:
			hi = lo
		}
		for l := lo; l <= hi; l++ {
			mask |= 1 << l
		}
	}
	return mask
}

// CTA names a CTA by its index in the grid.
func CTA(c [3]uint32) string { return fmt.Sprintf("CTA (%d,%d,%d)", c[0], c[1], c[2]) }

// Clip cuts text to room characters around the caret.
func Clip(text string, caret, room int) (string, int) {
	if utf8.RuneCountInString(text) <= room {
		return text, caret
	}
	if caret > room/2 {
		text, caret = "…"+text[caret:], len("…")
	}
	if r := []rune(text); len(r) > room {
		text = string(r[:room-1]) + "…"
	}
	return text, caret
}

// Printable makes text of a kernel, as a name of a file or a message, one line that shows what
// it is: what is no printable character is written as Go writes it, so that it neither ends
// the line nor commands a terminal.
func Printable(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) < 0 {
		return text
	}
	quoted := strconv.Quote(text)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
}

// Carets underlines the instruction: guard and opcode.
func Carets(text string) string {
	n := strings.IndexByte(text+" ", ' ')
	if strings.HasPrefix(text, "@") {
		if m := strings.IndexByte(text[min(n+1, len(text)):]+" ", ' '); m > 0 {
			n += 1 + m
		}
	}
	return strings.Repeat("^", max(1, utf8.RuneCountInString(strings.TrimSuffix(text[:min(n, len(text))], ";"))))
}

// Wrap breaks text at blanks into lines of at most n characters, the first of
// at most first. A word that is longer stands alone.
func Wrap(text string, first, n int) []string {
	var lines []string
	cur, room := "", first
	for _, word := range strings.Fields(text) {
		switch {
		case cur == "":
			cur = word
		case utf8.RuneCountInString(cur)+1+utf8.RuneCountInString(word) <= room:
			cur += " " + word
		default:
			lines = append(lines, cur)
			cur, room = word, n
		}
	}
	return append(lines, cur)
}

// ShortName extracts a C++ variable's own name from its mangled one: slots from
// _ZZ4ringE5slots, buf from _ZN2ns3bufE. It returns any other name unchanged.
func ShortName(sym string) string {
	sym = ptx.Written(sym)
	rest, local := strings.CutPrefix(sym, "_ZZ")
	if local {
		i := strings.LastIndexByte(rest, 'E')
		for i > 0 {
			if name, tail, ok := lengthName(rest[i+1:]); ok && (tail == "" || tail[0] == '_') {
				return name
			}
			i = strings.LastIndexByte(rest[:i], 'E')
		}
		return sym
	}
	rest, nested := strings.CutPrefix(sym, "_ZN")
	if !nested {
		return sym
	}
	name := sym
	for rest != "" && rest != "E" {
		n, tail, ok := lengthName(rest)
		if !ok {
			return sym
		}
		name, rest = n, tail
	}
	return name
}

// lengthName cuts 5slots… into slots and what follows.
func lengthName(s string) (name, tail string, ok bool) {
	n, i := 0, 0
	for i < len(s) && i < 4 && s[i] >= '0' && s[i] <= '9' {
		n = n*10 + int(s[i]-'0')
		i++
	}
	if i == 0 || n == 0 || i+n > len(s) {
		return "", "", false
	}
	return s[i : i+n], s[i+n:], true
}

// Bytes is a number of bytes.
func Bytes(n uint64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// Several lists names, the first of them if there are many, and the begin of one that is long.
func Several(names []string) string {
	const most, longest = 8, 120
	var list []string
	for i, name := range names {
		if i == most && len(names) > most+1 {
			list = append(list, fmt.Sprintf("and %s more", Group(int64(len(names)-most))))
			break
		}
		if len(name) > longest {
			name = strings.ToValidUTF8(name[:longest], "") + "…"
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}
