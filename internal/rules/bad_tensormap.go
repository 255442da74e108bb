package rules

import (
	"fmt"

	"muster/internal/machine"
)

var badTensormap = register(Kind{
	Name:     "bad-tensormap",
	Severity: Error,
	Title:    "a tensor map that the driver would refuse, or a copy that its map does not allow",
	Section:  "5.5, 9.7.9.25.5",
	Text: `A tensor map says where a tensor lies and which box of it a copy moves. The driver
refuses to encode many: an address or stride that is no multiple of 16 bytes, a
box side over 256 or wider than its swizzle, an inner row that is no multiple of 16
bytes, element strides over 8, more than five dimensions
(cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col). A box larger than its tensor
is allowed: what is outside is filled, or left out of a store.

An instruction must fit its map: as many coordinates as dimensions, im2col mode
for im2col maps, coordinates whose first byte is a multiple of 16, in im2col mode
coordinates inside the bounding box, none below zero in a store. The map lies in global
or constant memory or in a parameter, not in shared memory. And 128 bytes that no encoder wrote are no map: one that was built or
changed on the device has to be complete.`,
})

func (j *Judge) mapFault(s *machine.Stop) {
	f := Finding{
		Headline: fmt.Sprintf("%s: lane %d of warp %d of CTA %d: %s", j.at(s.PC), s.Lane, s.Warp, s.CTA, s.Msg),
		Sites:    []Site{stopSite("copies through a tensor map", s)},
		Missing:  "the map, or the copy through it, is not one that the card performs",
		Fix:      "compare the instruction's dimensions, mode and coordinates with the map of the launch file, or with what the kernel wrote to it",
	}
	j.add(badTensormap, f)
}
