// Package story tells a run so that a person can follow it: numbered steps,
// which agent did what to which barrier and bytes, and each barrier's ledger
// after a step that touched it.
//
// A run is a list of choices (explore.Record); a step is one of them: one
// visible operation of a split, one milestone of an asynchronous operation, or
// the start of a cluster. Most steps of a run have nothing to do with what is
// to be explained. A Scout observes the run once and records which steps touch
// the barriers and bytes of a finding, and which synchronize the warps involved;
// a second run, of the same choices, is told, with the other steps folded into
// stretches. Both runs must have the same events: this checks that the replay is
// one.
//
// For a race, the story tells the first access, the synchronization of the two
// warps up to the second, and the second. For a hang or a fault it tells all
// operations on the barriers in question, and the end. If that is still too long,
// the middle is folded.
//
// A story knows no rules: the finding says what is wrong.
package story
