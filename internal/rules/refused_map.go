package rules

import "fmt"

// RefusedMap is the finding for a map that the driver refuses to encode: which
// map it is ("argument 2"), where the launch file has it, and why.
func RefusedMap(which, at, why string) Finding {
	return Finding{
		Kind: badTensormap.Name, Severity: Error, Count: 1,
		Headline: fmt.Sprintf("%s: the driver refuses the tensor map of %s: %s", at, which, why),
		Sites:    []Site{{Role: "tensor map of " + which, PC: 0, CTA: -1, Warp: -1}},
		Missing:  "there is no such map: the encoder returns CUDA_ERROR_INVALID_VALUE and leaves what was there",
		Fix:      "change the map in the launch; a program has to look at what the encoder returns",
	}
}
