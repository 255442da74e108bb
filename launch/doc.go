// Package launch describes one run of a kernel: the PTX, the number of threads, the
// contents of global memory, the arguments, and the expected results. A launch file
// states all this; this package reads it, plans the memory, and encodes the kernel's
// parameters.
//
// # From text to bytes
//
//	text ─ParseJSON─┐
//	tree ─Parse─────┼→ File ─Layout→ Layout ─EncodeParams→ ParamBlock
//	flags ─FromFlags┘                   └────Compare→ Comparison
//
// The package reads JSON itself. The command reads YAML and builds the same tree of
// positioned nodes, so that errors have their line in both formats. Files are strict: an
// unknown key, a duplicate, or a number outside its type's range is an error, never a
// default.
//
// A File holds a list of launches over one memory: one, given by the file's flat keys, or
// those of the key `launches` (sequence.go has its form, and what orders them).
//
// The PTX is one module or a list of them (Launch.Link), which ptx.Link makes one of.
//
// # Memory
//
// Global memory is one 64-bit address space. Layout gives every buffer a base address:
// the one the file states, else the next free one from FirstBase up, a multiple of 256 as
// cudaMalloc promises (or of the key `align`). Before and after a buffer whose base was
// not stated lie at least GuardGap bytes outside all buffers, so that an index past the
// end hits no other buffer. The plan depends only on the file: the same file has the same
// addresses everywhere.
//
// A buffer is initialized entirely or not at all; without `fill` and `values` it is
// uninitialized, like memory from cudaMalloc.
//
// # Fills
//
// Element i, counted in C order, is: for iota, i; for mod n, i mod n; for random, see
// Random. Integers keep the low bits, floats round to nearest even, so that a float too
// large for its type becomes infinity (NaN in e4m3, which has no infinity). NaN is
// NumPy's quiet NaN (0x7fc00000 for f32), not the 0x7fffffff that PTX instructions
// produce: in a dump, an unwritten element differs from a computed NaN.
//
// # Parameters
//
// Arguments match the kernel's parameters in order, each with exactly the parameter's
// size. The parts of a struct lie in sequence, each at its natural alignment (scalars and
// pointers at their size, tensor maps at 64); padding at the end must be written, and
// `pad` and `bytes` have alignment 1.
//
// # Tensor maps
//
// A map is 128 bytes, wherever it lies: those that the driver's encoders would write for
// the address of its buffer. A map that the driver refuses (a box over 256, a stride that
// is no multiple of 16) is not bad input but a defect of the launch: its bytes stay zero,
// and its PlacedMap gives the reason. Maps given as raw bytes are not checked.
//
// # Variables of the module
//
// `variables` says what .global and .const variables hold when the kernel starts, __device__,
// __constant__ and __managed__ ones among them: contents as of a buffer, or a struct as of an
// argument, pointers into buffers included. They begin the variable; the rest of it keeps its
// initializer, or is zeros. A fill without a shape covers the whole variable. `base` says at
// which address the variable lies, where arguments or buffers hold pointers to it.
//
// # Cooperative launches
//
// With `cooperative: true` the driver starts all CTAs together, or refuses the launch. The
// special registers %envreg1 and %envreg2 then hold the upper and the lower half of the
// address of the grid's workspace, eight bytes of zeros in global memory, whose second word
// is the barrier of cooperative groups' grid.sync.
//
// # Registers
//
// `registers` says how many registers a thread has at entry, as the compiler printed it;
// setmaxnreg starts from there. Without it the kernel's own bounds decide. ptxas leaves every
// setmaxnreg out of a kernel that has no bound, whatever it then is compiled to: such a bound
// is .maxnreg, or .minnctapersm beside .maxntid or .reqntid, or, in a kernel with neither of
// these two, the option -maxrregcount, which is `maxrregcount` here.
//
// # What is not here
//
// Other packages check that the kernel exists, that findings have valid names, and that
// the launch fits on one SM.
package launch
