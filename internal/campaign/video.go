package campaign

import (
	"fmt"
	"strings"

	"muster/ptx"
)

var scalarParts = []string{"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"}

// videos makes the cases of the scalar video rows: every combination of
// modifiers, once on whole registers and several times on parts of them.
func videos(f *ptx.Form) (list []Case) {
	for _, ch := range product(f) {
		s := newSource(f.Name + ch.mods())
		for variant := range 4 {
			sel := make([]string, 3)
			if variant > 0 {
				sel[1], sel[2] = scalarParts[s.n(7)], scalarParts[s.n(7)]
			}
			merge := variant == 2 && ch.get(f, "op2") == "" && f.Op != "vmad"
			if merge {
				sel[0] = scalarParts[1+s.n(6)]
			}
			p := newProgram(f.Name)
			var minusA, minusC string // of vmad
			if f.Op == "vmad" && variant > 1 && ch.get(f, "po") == "" {
				if s.n(2) == 0 {
					minusA = "-"
				} else {
					minusC = "-"
				}
			}
			k := kind("u32")
			if f.Op == "vshl" || f.Op == "vshr" {
				k = position
			}
			ops := []string{p.result("u32") + sel[0], minusA + p.in("u32", "u32") + sel[1], p.in(k, "u32") + sel[2]}
			if merge || f.Op == "vmad" || ch.get(f, "op2") != "" {
				ops = append(ops, minusC+p.in("u32", "u32"))
			}
			p.emit("%s%s %s;", f.Op, ch.mods(), strings.Join(ops, ", "))
			text := f.Op + ch.mods() + " d" + sel[0] + ", " + minusA + "a" + sel[1] + ", b" + sel[2] + minusC
			list = append(list, p.finish(text))
		}
	}
	return list
}

// simdVideos makes the cases of the SIMD video rows.
func simdVideos(f *ptx.Form) (list []Case) {
	n := 2
	letter := "h"
	if strings.HasSuffix(f.Op, "4") {
		n, letter = 4, "b"
	}
	for _, ch := range product(f) {
		s := newSource(f.Name + ch.mods())
		for variant := range 3 {
			sel := make([]string, 3)
			if variant > 0 {
				sel[0] = "." + letter + simdMask(s, n)
				for i := 1; i < 3; i++ {
					sel[i] = "." + letter
					for range n {
						sel[i] += fmt.Sprint(s.n(2 * n))
					}
				}
			}
			p := newProgram(f.Name)
			ops := []string{p.result("u32") + sel[0], p.in("b32", "b32") + sel[1], p.in("b32", "b32") + sel[2], p.in("u32", "u32")}
			p.emit("%s%s %s;", f.Op, ch.mods(), strings.Join(ops, ", "))
			list = append(list, p.finish(fmt.Sprintf("%s%s d%s, a%s, b%s, c", f.Op, ch.mods(), sel[0], sel[1], sel[2])))
		}
	}
	return list
}

// simdMask writes a destination mask, highest part first.
func simdMask(s *source, n int) (text string) {
	m := 1 + s.n(1<<n-1)
	for i := n - 1; i >= 0; i-- {
		if m>>i&1 == 1 {
			text += fmt.Sprint(i)
		}
	}
	return text
}
