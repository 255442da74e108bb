// Package profile adds up what the steps of a run went into: by warp and role, by instruction, by
// what is waited for, by CTA; and what copies, matrix products and the slots of rings came to. It
// takes a run as a report.Tracer and keeps sums alone, so that it grows with the kernel and the
// number of CTAs, and not with the run.
package profile
