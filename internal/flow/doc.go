// Package flow analyses the text of a program, without a run: control flow, live
// registers, dominators, what values of buffers and matrices can reach, what depends
// on the schedule, which tests of a barrier are waits, and which loops poll memory.
//
// A Program is made of functions (Func), a function of uses: a Use says what one
// instruction does with registers. The decoder of package machine makes them as it
// decodes. The analysis learns most about an instruction from the syntax (ptx.Inst,
// and its Effect). The decoder adds what it alone knows:
//
//   - the registers that operands name, each as a Reg;
//   - Plain: the instruction touches registers and local memory alone, and goes on;
//   - Launched: a load reads what belongs to the launch;
//   - Clock: an operand shows time, or where the CTA runs;
//   - Compares: a comparison compares a register with one other operand, and
//     combines the result with nothing;
//   - Test: which tests of an mbarrier name one barrier and one phase;
//   - Target and Table: where a branch leads.
//
// Each result is computed at its first use, and holds for every run of every launch of
// the kernel; only ReachesIf is told of one launch.
package flow
