// Package ptx reads, writes and describes PTX, the text that NVIDIA's
// compilers emit for their GPUs.
//
// It has three parts, in this order:
//
// Parse turns text into a Module, a tree with one node kind per construct (ast.go). The
// tree has the content of the text without its layout: constant expressions are folded by
// the ISA's rules (section 4.5), numbers are bits, comments and spacing are dropped,
// lists such as ".reg .b32 a, b;" are one node per variable. Names are not resolved: the
// runner of a module checks that registers exist, labels are in scope, and operand types
// agree. Every node that an error can name has its position.
//
// Print turns the tree into text again, in one canonical layout, from the tree alone.
// Parsing its output gives the same tree, except for positions.
//
// The instruction table (table.go gives the notation; the rows are in table_*.go)
// describes the instruction set: one Form per row, with modifiers, operands and their
// roles, the memory it accesses with proxy and scope, its completion mechanism, its
// effect on a barrier, and other properties for analyses (Effect). Parse gives every
// instruction its row. An instruction that matches none, of a newer ISA or mistyped,
// still parses, with a nil Form: Validate reports it with the nearest row.
//
// A match is by name, modifiers and the shape of the operands: their number, and which
// are addresses, vectors, lists, immediates. Types of registers do not matter. Modifiers
// may be in the ISA's order or in another that ptxas accepts. Where the table gives the
// length of a vector, that is checked; fragments of matrix instructions, and coordinates
// of tensors and textures, are left open. A row does not state: ranges of immediates, the
// few pairs of types that exclude .sat of an integer conversion, and architectures of a
// form beyond the minimum.
//
// The table's agreement with NVIDIA's assembler is measured: testdata/ptxas.txt has the
// verdict of ptxas on some 11,000 instructions made from the table, correct and incorrect
// ones, and the lines where the two differ. Instructions of PTX 9.1 and 9.2, and the
// fragments of mma and tcgen05, follow the ISA's text only; those of wmma follow what an
// H100 and its ptxas answered (internal/machine/testdata/card/wmma).
//
// Link makes one module of several by the linking directives. Such a module has Units, and
// each position says which of them it is in.
//
// # Limits
//
// Text of 64 MiB, blocks and expressions nested 256 deep, ranges of 2^20 registers,
// arrays of 2^40 bytes: exceeding one gives a single error. Parse never panics, takes
// time linear in the text, and memory within a constant factor of it. It reads some 50 to
// 100 MB a second.
//
// Not supported: preprocessor lines, @@DWARF lines and banks of constant memory (all
// removed since PTX 2.x), and directives unknown to the ISA that do not end in a
// semicolon.
package ptx
