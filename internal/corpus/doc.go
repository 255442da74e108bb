// Package corpus has kernels whose CTAs talk to each other, written the way the field writes
// them: semaphores of split-K and stream-K, locks, tickets, grid barriers, last blocks,
// look-back, rings, sums of floating-point numbers by atomics, elections, and Dekker's kind.
// All are right but those marked wrong. Each stands in testdata as CUDA C++ with the PTX
// that nvcc 13.0 (V13.0.88) made of it by
//
//	nvcc -ptx -O3 -arch=sm_90a
//
// Lines that begin with //! before a kernel say how it is launched and what it leaves:
//
//	//! NAME KIND GRIDxBLOCK small GRIDxBLOCK [cooperative] [wrong]
//	//! arg NAME TYPE ELEMENTS CONTENT      a buffer and its content: a fill, or numbers
//	//! val NUMBER                          a parameter of 32 bits
//	//! want NAME ELEMENTS                  what the buffer holds in the end
//	//! near NAME ELEMENTS                  but for rounding
//	//! sorted NAME ELEMENTS                in some order
//
// Elements are numbers, and up and down for counting; each may be followed by *COUNT. The small
// size is for wrong twins: kernels in which one fence, order, scope or volatile is left out.
//
// The tests check the kernels and their twins:
//
//	go test ./internal/corpus -run TestRight -corpus.all -v
//	go test ./internal/corpus -run TestTwins -corpus.all -v
package corpus
