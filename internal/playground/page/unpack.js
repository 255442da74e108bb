// The program's bytes, out of the form in which they are shipped: pack.go says what that is,
// and why.

const magic = "musterw1";
const [rest, sizes, locals, ops, blocks, labels, tables, calls, vars, globals, reads, writes, ints, longs, floats, others, streams] = Array(17).keys();

// form[op] is which streams the numbers after an operation are in, and fixed[op] how many
// bytes of floats follow; alignment is that of loads and stores.
const form = Array.from({ length: 256 }, () => []);
const set = (from, to, ...list) => { for (let op = from; op <= to; op++) form[op] = list; };
set(0x02, 0x04, blocks);
set(0x0c, 0x0d, labels);
set(0x10, 0x10, calls);
set(0x11, 0x11, others, others);
set(0x20, 0x22, vars);
set(0x23, 0x24, globals);
set(0x28, 0x35, reads);
set(0x36, 0x3e, writes);
set(0x3f, 0x40, others);
set(0x41, 0x41, ints);
set(0x42, 0x42, longs);
const alignment = [2, 3, 2, 3, 0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 2, 3, 2, 3, 0, 1, 0, 1, 2];
const more = { 8: 2, 9: 1, 10: 2, 11: 1, 12: 2, 13: 1, 14: 2, 15: 1, 16: 1, 17: 1 };

// unpack returns the module of packed bytes, and bytes of another kind as they are.
export function unpack(packed) {
  if (packed.length < 8 || String.fromCharCode(...packed.subarray(0, 8)) !== magic) return packed;
  const numbers = new DataView(packed.buffer, packed.byteOffset);
  const head = i => numbers.getUint32(8 + 4 * i, true);
  const out = new Uint8Array(head(0)), begin = head(1), bodies = head(2);
  const places = new Int32Array(streams);
  let start = 8 + 4 * (3 + streams);
  for (let i = 0; i < streams; i++) {
    places[i] = start;
    start += head(3 + i);
  }
  let at = 0;

  // number copies a number of a stream, and returns it as far as 31 bits hold it.
  const number = stream => {
    let p = places[stream], value = 0, shift = 0, b;
    do {
      b = packed[p++];
      out[at++] = b;
      if (shift < 28) value |= (b & 0x7f) << shift;
      shift += 7;
    } while (b >= 0x80);
    places[stream] = p;
    return value;
  };
  const bytes = (stream, n) => {
    out.set(packed.subarray(places[stream], places[stream] + n), at);
    places[stream] += n;
    at += n;
  };

  bytes(rest, begin);
  for (let i = 0; i < bodies; i++) {
    const size = number(sizes), end = at + size;
    for (let n = number(locals); n > 0; n--) {
      number(locals);
      bytes(locals, 1);
    }
    while (at < end) {
      const op = packed[places[ops]++];
      out[at++] = op;
      if (op >= 0x28 && op <= 0x3e) out[at++] = alignment[op - 0x28];
      const list = form[op];
      for (let k = 0; k < list.length; k++) number(list[k]);
      if (op === 0x0e) {
        for (let n = number(tables) + 1; n > 0; n--) number(tables);
      } else if (op === 0x43 || op === 0x44) {
        bytes(floats, op === 0x43 ? 4 : 8);
      } else if (op === 0xfc) {
        for (let n = more[number(others)] ?? 0; n > 0; n--) number(others);
      }
    }
  }
  bytes(rest, out.length - at);
  return out;
}
