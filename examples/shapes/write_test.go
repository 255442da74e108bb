package shapes_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"muster/examples/shapes"
)

var write = flag.String("shapes", "", "write the shapes, and with -mistake their twin, into folders of this one, for the command muster")
var mistake = flag.String("mistake", "", "the twin to write")

// TestWrite writes launches to look at: PTX, launch file and arrays.
func TestWrite(t *testing.T) {
	if *write == "" {
		t.Skip("no -shapes")
	}
	for _, s := range shapes.All() {
		w, err := s.Make(*mistake)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(*write, s.Name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Call.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
}
