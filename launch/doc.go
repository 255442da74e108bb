// Package launch describes one run of a kernel: which PTX, how many threads,
// what lies in global memory, what the kernel is given, what it must leave
// behind. A launch file writes that down; this package reads it, plans the
// memory, and encodes the kernel's parameters.
//
// # From text to bytes
//
//	text ─ParseJSON─┐
//	tree ─Parse─────┼→ File ─Layout→ Layout ─EncodeParams→ ParamBlock
//	flags ─FromFlags┘                   └────Compare→ Comparison
//
// The package reads JSON itself. YAML is a matter for the command, which
// builds the same tree of positioned nodes; so that an error has its line
// whichever way it came. Files are strict: an unknown key, a duplicate, a
// number out of its type's range is an error, never a default.
//
// A File holds a list of launches over one memory. The file format has room
// for one today: its flat keys are that launch.
//
// # Memory
//
// Global memory is one 64-bit address space. Layout gives every buffer a base
// address: the one the file states, else the next free one from FirstBase up,
// a multiple of 256 as cudaMalloc promises (or of what `align` asks). At least
// GuardGap bytes that belong to no buffer lie before and after a buffer whose
// base was not stated, so that an index past the end hits nothing. The plan
// depends on the file alone: the same file has the same addresses everywhere.
//
// A buffer is either initialized as a whole or not at all; without `fill` and
// `values` it is not, as memory from cudaMalloc is not.
//
// # Fills
//
// Element i, counted in C order, is: for iota, i; for mod n, i mod n; for
// random, see Random. Integers keep the low bits, floats round to nearest even,
// so that a float too large for its type becomes infinity (NaN in e4m3, which
// has no infinity). NaN is NumPy's quiet NaN (0x7fc00000 for f32), not the
// 0x7fffffff that PTX instructions produce: in a dump, an element that nobody
// wrote can be told from one that was computed.
//
// # Parameters
//
// Arguments are matched to the kernel's parameters in order, each of exactly
// the parameter's size. The parts of a struct lie one after the other, each at
// its natural alignment (scalars and pointers at their size, tensor maps at
// 64); padding at the end must be written, `pad` and `bytes` align to nothing.
//
// # Tensor maps
//
// A map is 128 bytes, wherever it lies: those that the driver's encoders would
// make of it for the address of its buffer. A map that the driver refuses (a
// box over 256, a stride that is no multiple of 16) is no bad input but a
// defect of the launch: its bytes stay zero, and its PlacedMap says why. Maps
// given as raw bytes are not looked at.
//
// # What is not here
//
// Whether a kernel of that name exists, what a finding may be called and what
// one SM can hold is for other packages to say.
package launch
