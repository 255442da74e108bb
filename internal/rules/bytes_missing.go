package rules

var bytesMissing = register(Kind{
	Name:     "bytes-missing",
	Severity: Error,
	Title:    "a phase expects more bytes than its copies bring",
	Section:  "9.7.13.15.5",
	Text: `All arrivals of a phase are in, its tx-count is above zero, and no copy is under
way that would lower it. The tx-count must be set to the total of the copies
that report to the phase (ISA 9.7.13.15.5): expect-tx adds what is announced,
each copy takes away the bytes that it has written, and the phase ends at zero
only. On an H200 the kernel hangs.

Typical are the bytes of a whole box or tile where only the part inside the
array is loaded; the size in elements taken for bytes, or the reverse; a copy
left out under a condition, its expect_tx not; and a multicast, whose bytes are
reported on each destination CTA to that CTA's own mbarrier, expected on one.

Mend it by expecting what is really copied, on the CTA where it lands.`,
})
