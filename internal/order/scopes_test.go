package order_test

import (
	"fmt"
	"strings"

	"muster/internal/order"
)

// The scripts of testdata/scopes.txt, with the two synchronizing operations to
// be filled in.
var scopeScripts = map[string]string{
	"marrive": `
c0.w0.0: init s 1024
c0.w0: carrive gen=0
c1.w0: carrive gen=0
c0.w0: cwait gen=0
c1.w0: cwait gen=0
c1.w0.0: st g 0
c1.w0.0: marrive s0 1024 phase=0 REL
c0.w0.0: mwait s 1024 phase=0 ACQ
c0.w0.0: ld g 0`,
	"flag": `
c0.w0.0: st g 0
c0.w0.0: st g 4096 REL
c1.w0.0: ld g 4096 ACQ
c1.w0.0: ld g 0`,
	"near": `
w0.0: st s 0
w0.0: st s 4096 REL
w1.0: ld s 4096 ACQ
w1.0: ld s 0`,
}

// scopePairs runs a script once for each line 'REL ACQ' and prints what is unordered
// between them.
func scopePairs(cfg order.Config, script, pairs string) (string, error) {
	var out strings.Builder
	for _, l := range strings.Split(pairs, "\n") {
		rel, acq, _ := strings.Cut(l, " ")
		text := strings.NewReplacer("REL", rel, "ACQ", acq, "default", "").Replace(scopeScripts[script])
		text = strings.ReplaceAll(strings.ReplaceAll(text, "default", ""), "weak", "")
		s := newScript(cfg)
		if err := s.play(strings.Split(text, "\n"), 0); err != nil {
			return "", err
		}
		var found []string
		for _, c := range s.tr.Conflicts() {
			found = append(found, fmt.Sprintf("race at %s:%d: %s", memText(c.Span.Mem), c.Span.Addr, whyText(c.Why)))
		}
		for _, f := range s.tr.FactList() {
			found = append(found, factNames[f.Kind])
		}
		if found == nil {
			found = []string{"ordered"}
		}
		fmt.Fprintf(&out, "%-32s %s\n", l, strings.Join(found, "; "))
	}
	return out.String(), nil
}
