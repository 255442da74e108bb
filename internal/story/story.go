// Package story tells a run so that a person can follow it: numbered steps,
// who did what to which barrier and bytes, and each barrier's ledger after a
// step that touched it.
//
// A run is a list of choices (explore.Record); a step is one of them: one
// visible operation of a split, one milestone of an asynchronous operation, or
// the start of a cluster. Most steps of a run have nothing to do with what is
// to be explained. A Scout goes along once and notes which steps touch the
// barriers and bytes of a finding, and which synchronize the warps involved; a
// second run, of the same choices, is told, with the other steps folded into
// stretches. That both runs made the same events is checked, and is the check
// that a replay is a replay.
//
// For a race, what is told lies between the two accesses: the first, all that
// the two warps did to be ordered, the second. For what hangs or faults it is
// all that happened to the barriers in question, and the end. Where that is
// still too much, the middle is folded.
//
// A story knows no rules: what is wrong, the finding says.
package story
