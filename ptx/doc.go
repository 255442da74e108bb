// Package ptx reads, writes and describes PTX, the text that NVIDIA's
// compilers emit for their GPUs.
//
// It has three parts, in this order:
//
// Parse turns text into a Module, a tree with one node kind a construct
// (ast.go). The tree is what the text says and nothing of how it was laid
// out: constant expressions are folded by the ISA's rules (section 4.5),
// numbers are their bits, comments and spacing are gone, lists such as
// ".reg .b32 a, b;" are one node a variable. Names are not resolved: that a
// register exists, that a label is in scope, that operand types agree is for
// who runs the module to say. Every node that can be at fault has its place.
//
// Print turns the tree into text again, in one canonical layout, from the
// tree alone. Parsing what it wrote gives the same tree, but for places.
//
// The instruction table (table.go says how a row reads; the rows are in
// table_*.go) describes the instruction set: one Form a row, with modifiers,
// operands and their roles, the memory it touches and by which proxy and
// scope, how it completes, what it does to a barrier, and what else an analysis
// asks (Effect). Parse gives every instruction the row it matches. One that
// matches none, of a newer ISA or mistyped, parses all the same and is carried
// along with a nil Form: Validate reports it, next to the nearest row.
//
// A match is by name, modifiers and the shape of the operands: how many, and
// which are addresses, vectors, lists, immediates. Types of registers take no
// part in it. Modifiers stand in the ISA's order or in another that ptxas
// takes too. Where the table says how many elements a vector has, that is
// checked; fragments of matrix instructions, and coordinates of tensors and
// textures, are left open. What a row does not say: ranges of immediates,
// the few pairs of types that exclude .sat of an integer conversion, and for
// which architectures beside the least a form exists.
//
// How near the table comes to NVIDIA's assembler is measured: testdata/ptxas.txt
// has what ptxas said of some 11,000 instructions made from the table, right
// ones and wrong ones, and the lines where the two differ. Instructions of
// PTX 9.1 and 9.2, and the fragments of mma, wmma and tcgen05, are by the ISA's
// text alone.
//
// # Limits
//
// Text of 64 MiB, blocks and expressions nested 256 deep, ranges of 2^20
// registers, arrays of 2^40 bytes: beyond them is one clear error. Parse
// never panics, takes time linear in the text, and memory within a constant
// factor of it. It reads some 50 to 100 MB a second.
//
// Not taken: preprocessor lines, @@DWARF lines and banks of constant memory
// (all gone since PTX 2.x), and directives that the ISA does not have and
// that do not end in a semicolon.
package ptx
