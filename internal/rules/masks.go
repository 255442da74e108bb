package rules

import (
	"fmt"
	"math/bits"
)

// laneNames names the lanes of a mask: "lane 3", "lanes 0 to 15", "12 lanes (0x10fff)".
func laneNames(mask uint32) string {
	n, first := bits.OnesCount32(mask), lowestLane(mask)
	switch {
	case n == 1:
		return fmt.Sprintf("lane %d", first)
	case n > 1 && mask>>first&(mask>>first+1) == 0:
		return fmt.Sprintf("lanes %d to %d", first, first+n-1)
	}
	return fmt.Sprintf("%d lanes (%#x)", n, mask)
}

func isOrAre(mask uint32) string {
	if bits.OnesCount32(mask) == 1 {
		return "is"
	}
	return "are"
}
