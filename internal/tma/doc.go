// Package tma is the tensor map and the copy engine that reads it: the 128
// bytes that cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col write, what
// they refuse, and which bytes of global and shared memory a
// cp.async.bulk.tensor (ISA, section 9.7.9.25.5) touches, in pure functions.
//
// It knows nothing of time, order or barriers: [Map.Load] and [Map.Store] give
// the runs of bytes of one copy, [Map.Reduce] the arithmetic of a reduction,
// [Replace] a changed map, and the machine does the rest. What maps of sm_90 have
// is what an H200 does. What sm_100 adds has a section of its own below: swizzles with
// other atoms than 16 bytes, sub-byte types, gather4 and scatter4, im2col::w. No card was
// asked about it.
//
// # The 128 bytes
//
// One little-endian number of 1024 bits. Bits that are not named are zero, in
// every map that the driver wrote.
//
//	bits       field
//	0-56       global address; the low four are zero
//	64         mode: 0 tiled, 1 im2col
//	68-70      rank - 1
//	71-74      type: u8 0, u16 1, u32 2, s32 3, u64 4, s64 5, f16 6, f32 and
//	           tf32 7, f32.ftz and tf32.ftz 8, f64 9, bf16 10
//	75-76      interleave: 0 none, 1 16 bytes, 2 32 bytes
//	77-78      swizzle: 0 none, 1 32 bytes, 2 64, 3 128
//	79         fill: 0 zero, 1 NaN
//	80         1 for tf32 and tf32.ftz
//	81-82      L2 promotion: 0 none, 1 64 bytes, 2 128, 3 256
//	96-223     strides of dimensions 1 to 4 in units of 16 bytes, the low 32
//	           bits of each
//	224-239    their high 4 bits
//	256-415    dimensions 0 to 4, less one, 32 bits each
//	416-430    element strides 0 to 4, less one, 3 bits each
//	440-479    tiled: box 0 to 4, less one, 8 bits each
//	440-447    im2col: channels per pixel, less one
//	448-463    im2col: lower corner, two's complement: 16 bits for rank 3,
//	           twice 8 for rank 4, three times 5 for rank 5
//	464-479    im2col: upper corner, likewise
//	480-489    im2col: pixels per column, less one
//	512-543    bytes of a box: the element's times, for each dimension, box
//	           divided by element stride, rounded down; im2col: times channels
//	           times pixels
//	576-607    by swizzle: 16, 256, 512, 1024: the alignment in shared memory
//	           at which the pattern starts afresh
//
// Entries beyond the rank are zero. The card reads neither the bytes of a box
// nor the alignment, nor what has no name: [Decode] accepts what the driver
// writes, [Read] what the card accepts. Evidence: 79,574 maps encoded by driver
// 580.159.04 on an H200, every field alone over its range and 20,000 at random;
// the table and the rules of [Rule] account for each of them, bit for bit, and
// for each refusal. A sample stands in testdata/h200; see the README there.
//
// # The copy
//
// Without interleave the innermost row of a box is contiguous on both sides. In
// shared memory the next row follows it, or, if a swizzle is on and the row is
// shorter than the span of the swizzle, stands one span further. The innermost
// element stride does nothing; another one, s, makes ceil(box / s) steps.
//
// With interleave an element of dimension 0 is a whole slice of 16 or 32 bytes,
// whatever the type: dimension 0 is W, dimension rank-2 counts slices, a box
// takes one slice whatever its size says, and all element strides work.
//
// A swizzle exchanges 16-byte chunks by the bits of the shared address itself,
// not of the offset in the tile: bits 4 to 6 are XORed with bits 7 to 9 (128
// bytes), 4 and 5 with 7 and 8 (64), 4 with 7 (32).
//
// In im2col mode the copy walks pixels from the coordinates on, W first, each by
// its element stride; past the far edge of the bounding box (dimension - 1 +
// upper) a coordinate starts again at lower, and the next one steps. The offsets
// are added to the walk's position before the pixel is checked to be inside the
// tensor. They share 16 bits of the instruction: a W offset of 32 in a tensor of
// rank 5 is one of H.
//
// Loads round tf32 to nearest with ties to even ([Map.Convert]); the ftz types
// flush nothing. A store moves whole 16-byte granules of the innermost
// dimension: it writes past the end of a row that is no multiple of 16 bytes.
//
// # Faults
//
// What the card does not accept ends the launch. As an illegal instruction: a map that
// [Read] refuses, another rank or mode than the instruction's, coordinates that
// [Map.CheckLoad], [Map.CheckStore] and [Map.CheckReduce] refuse; a prefetch is judged as
// a load. As a misaligned address: a map that is not at a multiple of [Align], a box not
// of [BoxAlign] (whatever its swizzle), a tensor not of 16, with 32-byte interleave of
// 32. As an illegal address: a map in shared memory, a box beyond it. As a failed launch:
// a multicast to a CTA that the cluster does not have; one to no CTA at all does nothing.
// A multicast counts the bytes of the box on the barrier of each CTA of the mask.
//
// The driver accepts a dimension of more than 2^31, the card does not.
//
// # Reductions
//
// Each element is reduced separately, in the type of the map: integers wrap, add
// rounds to nearest, min and max of floats take the number where the other is
// NaN. Subnormals are kept except in the ftz types; tf32 is added as f32.
// Evidence: 33 reductions over all pairs of special values. The card has one that
// the ISA does not list, add of f64, and lacks some that it lists: and, or and
// xor of s64 (9.7.9.25.5.3).
//
// [Map.Load], [Map.Store], faults and mbarriers of another 2,877 cases stand
// beside the reductions in testdata/h200.
//
// # Blackwell
//
// The rules are those of the text: ISA 5.5.1.1, 5.5.3.4, 5.5.5, 5.5.7 and 9.7.10.28.5 in
// version 9.4, and the driver's manual on cuTensorMapEncodeTiled and
// cuTensorMapEncodeIm2colWide. Where the two differ the stricter one holds: the manual has
// 128B_ATOM_64B for 6-bit elements in stores only, and not for b4x16_p64. That a row of
// dimension 1 may stand alone, as .tile::gather4 needs, is the ISA's; which swizzles the
// wide modes have is the manual's.
//
// The bytes of such maps are not published, and a card of Hopper refuses to write them. The
// kinds are known from ptxas, which makes loads and stores of tensormap.replace: those for
// sm_100a and sm_103a are in testdata/replace.sass.
//
//	bits       field
//	71-74      type: b4x16 11, b4x16_p64 12, b6x16_p32 13
//	83-85      swizzle atomicity, as tensormap.replace numbers it
//	86         the high bit of the swizzle mode, whose low bits are 77 and 78: 96B is 4
//
// No instruction writes the mode, and what the wide modes are is an encoding of our own, in
// bits that maps of sm_90 leave zero; so are the places of a bounding box and of pixels in
// them, and bytes of a box and the alignment, which a card of Hopper does not read:
//
//	65-66      with bit 64: 1 im2col, 3 im2col::w, 7 im2col::w::128
//
// A map in which a bit from 64 to 95 is set that has no name ([Unnamed]) is in an encoding
// that this is not; the machine says so and stops.
//
// Elements of 4 and 6 bits: mbarriers count the packed bytes, as CUTLASS and TileLang
// expect of them, not the padded ones. What pads a group is undefined after a load.
//
// A swizzle works on shared addresses, as on an H200. 128B_ATOM_32B XORs bits 5 and 6 with
// 7 and 8, FLIP_8B also 3 with 7, ATOM_64B 6 with 7, and 96B 4 with 7; rows of less than 96
// bytes stand 96 apart. That these are the ISA's tables, which have no formula, is tested.
//
// In the wide modes H and D stay, W alone has a bounding box and an element stride, and
// past its far edge the walk goes on at the near edge of the next image. Where halo pixels
// lie in im2col::w::128 only a figure of the ISA shows: Map.pixelsAlongW says what is
// assumed, and why.
package tma
