// Package campaign compares the machine's scalar instructions with an NVIDIA
// H200, bit for bit.
//
// Cases makes, from the instruction table, one short kernel for every
// combination of modifiers of every scalar row, and programs for what needs
// more than one instruction: loads and stores, atomics, what lanes of a warp
// do together, barriers, control flow. Each thread loads its operands from one
// buffer, so that the assembler cannot fold them, executes the instruction and
// stores all that it wrote to another. Operands come from a generator seeded by the
// case's name (values.go): edge values of the type, random bits, values near
// others of the same thread. So the golden data (testdata/golden.gz) holds
// outputs alone, with a fingerprint of kernel and inputs that tells when they
// are stale. It holds the whole output of the first 256 threads and a hash for
// each further 256; for approximate functions, all.
//
// Rows that cannot be compared are in leftOut, each with its reason. Rows that
// the assembler does not take for sm_90a are tried all the same: its refusals
// are part of the golden data.
//
// Loads, stores and atomics have more combinations of modifiers than can be run,
// most of them cache policies and orderings that one thread cannot see: of them the
// cases cover every pair, and every type with every space, vector length and
// operation.
//
// Not covered: what depends on several threads' timing (that is the order
// package's), asynchronous operations, mbarriers (golden data of their own in
// package mbarrier).
//
// MatrixCases does the same for the matrix instructions of a warp: ldmatrix,
// stmatrix, movmatrix and mma (matrix.go, matrix_values.go), with
// testdata/matrix.gz.
package campaign
