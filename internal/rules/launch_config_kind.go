package rules

var launchConfig = register(Kind{
	Name:     "launch-config",
	Severity: Error,
	Title:    "a launch that the target refuses, or other than the kernel declares",
	Section:  "11.4",
	Text: `The launch asks for more than the target has, or for another shape than the kernel
was compiled for: more shared memory than a CTA can have (227 KiB, 232,448 bytes,
on sm_90), more registers than 64 K a CTA or 255 a thread, a cluster beyond 8 CTAs
(16 with the non-portable attribute: a warning), a cluster on a target without
clusters, a block other than .reqntid or larger than .maxntid, a cluster other
than .reqnctapercluster, none where .explicitcluster wants one (ISA 11.4, 11.7).
The driver refuses such a launch, and a program that does not look at the error
goes on with the old contents of its buffers.

Mend the launch, or the directives of the kernel.`,
})
