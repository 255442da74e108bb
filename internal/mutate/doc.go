// Package mutate tests what each synchronization instruction of a kernel is
// needed for: it deletes one, or weakens it, and checks the kernel again.
//
// List enumerates the mutations of a kernel: one place in the PTX, one change.
// Each has a name that stays the same as long as the text does, so that one
// can be asked for again. A mutant is valid PTX: what a deleted instruction would
// have written is still written if it is read, and a constant in a register is
// changed by an instruction put before its use.
//
// Run checks the kernel, then every mutant, under the same schedules. A mutant is
// found if it draws an error or a warning that the kernel does not draw, compared
// by kind and place. One that is not found is run again to compare memory at the
// end. If that differs from the kernel's in the same schedule, the checker has
// missed a defect, and the row says so. For the others Run looks for a reason why
// the instruction is not needed, of those that can be found mechanically:
//
//   - no thread of this launch executes the instruction;
//   - every thread of the launch is in the narrower scope already;
//   - another survivor does the same: either can be removed, but not both.
//
// # What it does not do
//
// One thing is wrong with a mutant, at one place in the text: an instruction
// that an unrolled loop has eight times is eight places. A loop that polls
// memory is weakened (its load loses its acquire) but not taken away. A release
// is moved up only past statements before it in the same statement list, and only
// if its operands can be computed there. Survival is a statement about the
// schedules that ran.
package mutate
