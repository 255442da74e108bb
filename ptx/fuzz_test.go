package ptx_test

import (
	"os"
	"testing"

	"muster/ptx"
)

// FuzzParse checks that no text makes Parse panic, and that what parses
// prints and parses to the same tree.
func FuzzParse(f *testing.F) {
	for _, file := range ptxFiles(f) {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(src) < 1<<15 { // long seeds slow the fuzzer down
			f.Add(src)
		}
	}
	f.Add([]byte(scale))
	for _, form := range ptx.Forms() {
		f.Add([]byte(head + ".func f()\n{\n" + form.Example() + "\n}\n"))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := ptx.Parse("fuzz", src)
		if err != nil {
			_ = err.(*ptx.Error).Detail()
			return
		}
		roundTrip(t, m)
		ptx.Validate(m)
	})
}
