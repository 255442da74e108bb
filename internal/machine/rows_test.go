package machine

import (
	"testing"

	"muster/ptx"
)

// TestEveryExampleDecodes: what the machine does not execute is not modelled, by name; it is
// never taken for bad input. Rows that PTX has removed decode as of their time.
func TestEveryExampleDecodes(t *testing.T) {
	for _, f := range ptx.Forms() {
		var err error
		for _, immediate := range []string{"1", "16", "24", "128", "0"} {
			if _, err = decodeExample(f, immediate); err == nil {
				break
			}
		}
		if err != nil && textureOperands[f.Class] == "" {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}

// textureOperands are the classes whose examples lack declarations.
var textureOperands = map[string]string{"texture": "textures, samplers and surfaces are no registers"}
