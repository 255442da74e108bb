// Decodes the stream of marks of a run once, into typed arrays: one column a property. A run
// of a million steps has millions of marks; as objects they would not fit. What a mark has
// beside (arrows, arguments) stays in the bytes and is read when it is shown.

import { Reader } from "./bytes.js";

const BEGIN = 0, END = 1, INSTANT = 2, VALUE = 3, ARROWS = 16, ARGS = 32, PLACE = 64;

/** A Column is a typed array that grows. */
class Column {
  /** @param {*} type of the array */
  constructor(type) {
    this.type = type;
    this.array = new type(1024);
    this.length = 0;
  }

  push(v) {
    if (this.length === this.array.length) this.grow(this.length + 1);
    this.array[this.length++] = v;
  }

  /** Sets the value at an index, wherever it is. */
  set(i, v) {
    if (i >= this.array.length) this.grow(i + 1);
    this.array[i] = v;
    if (i >= this.length) this.length = i + 1;
  }

  grow(n) {
    const wider = new this.type(Math.max(n, this.array.length * 2));
    wider.set(this.array);
    this.array = wider;
  }

  done() {
    return this.array.subarray(0, this.length);
  }
}

/**
 * @typedef {Object} Marks
 * @property {Int32Array} from of each slice, in steps; a slice of no length is an instant
 * @property {Int32Array} to
 * @property {Int32Array} track index of its track
 * @property {Int32Array} name index of a string
 * @property {Int32Array} category index of a string
 * @property {Uint8Array} depth how many slices of its track it lies in
 * @property {Int32Array} file index of a string plus 1; 0 for none
 * @property {Int32Array} line
 * @property {Float64Array} more where its arrows and arguments lie in the bytes; 0 for none
 * @property {Uint8Array} flags which of both it has
 * @property {Int32Array} leaves the slice that each arrow leaves, plus 1, by the arrow's number
 * @property {Int32Array} ends the slice at which it ends, plus 1
 * @property {Int32Array} counter index of the track of each value
 * @property {Int32Array} time of each value
 * @property {Float64Array} value
 */

/** Skips arguments or arrows. @param {Reader} r @param {number} flags */
function skip(r, flags) {
  if (flags & ARROWS) for (let side = 0; side < 2; side++) for (let n = r.u(); n > 0; n--) r.u();
  if (flags & ARGS) for (let n = r.u(); n > 0; n--) if (r.u(), r.u() === 0) r.z();
}

/**
 * Decodes marks. It lets the browser breathe from time to time, and says how far it is.
 * @param {Uint8Array} bytes all of the data
 * @param {number} at where the run's marks lie in it
 * @param {number} length
 * @param {Map<number, number>} index of tracks, by their ids
 * @param {number} steps of the run: what is open then ends then
 * @param {(done: number) => void} progress
 * @returns {Promise<Marks>}
 */
export async function decode(bytes, at, length, index, steps, progress) {
  const c = {
    from: new Column(Int32Array), to: new Column(Int32Array), track: new Column(Int32Array), name: new Column(Int32Array),
    category: new Column(Int32Array), depth: new Column(Uint8Array), file: new Column(Int32Array), line: new Column(Int32Array),
    more: new Column(Float64Array), flags: new Column(Uint8Array), leaves: new Column(Int32Array), ends: new Column(Int32Array),
    counter: new Column(Int32Array), time: new Column(Int32Array), value: new Column(Float64Array),
  };
  const open = Array.from({ length: index.size }, () => /** @type {number[]} */ ([]));
  const r = new Reader(bytes, at, at + length);
  let id = 0, time = 0;
  let pause = at + (8 << 20);
  while (r.at < r.end) {
    if (r.at > pause) {
      progress((r.at - at) / length);
      await new Promise((resume) => setTimeout(resume));
      pause = r.at + (8 << 20);
    }
    const kind = r.byte(), what = kind & 15;
    id += r.z();
    time += r.z();
    const track = index.get(id);
    if (track === undefined || what > VALUE) throw new Error(`the data has a mark of kind ${kind} on track ${id}`);
    if (what === VALUE) {
      c.counter.push(track);
      c.time.push(time);
      c.value.push(r.z());
      skip(r, kind);
      continue;
    }
    if (what === END) {
      const i = open[track].pop();
      if (i !== undefined) c.to.array[i] = time;
      continue;
    }
    const i = c.from.length;
    c.from.push(time);
    c.to.push(what === INSTANT ? time : steps);
    c.track.push(track);
    c.depth.push(Math.min(open[track].length, 255));
    c.name.push(r.u());
    c.category.push(r.u());
    const place = kind & PLACE;
    c.file.push(place ? r.u() + 1 : 0);
    c.line.push(place ? r.u() : 0);
    c.flags.push(kind & (ARROWS | ARGS));
    c.more.push(kind & (ARROWS | ARGS) ? r.at : 0);
    if (kind & ARROWS) {
      for (let n = r.u(); n > 0; n--) c.leaves.set(r.u(), i + 1);
      for (let n = r.u(); n > 0; n--) c.ends.set(r.u(), i + 1);
    }
    skip(r, kind & ARGS);
    if (what === BEGIN) open[track].push(i);
  }
  return /** @type {Marks} */ (Object.fromEntries(Object.entries(c).map(([k, v]) => [k, v.done()])));
}

/**
 * Reads a slice's arrows and arguments.
 * @param {Uint8Array} bytes @param {Marks} marks @param {number} slice @param {string[]} strings
 * @returns {{from: number[], to: number[], args: {name: string, value: string|number}[]}}
 */
export function more(bytes, marks, slice, strings) {
  const found = { from: [], to: [], args: [] };
  const flags = marks.flags[slice];
  if (!flags) return found;
  const r = new Reader(bytes, marks.more[slice]);
  if (flags & ARROWS) for (const side of [found.from, found.to]) for (let n = r.u(); n > 0; n--) side.push(r.u());
  if (flags & ARGS) {
    for (let n = r.u(); n > 0; n--) {
      const name = strings[r.u()], t = r.u();
      found.args.push({ name, value: t === 0 ? r.z() : strings[t - 1] });
    }
  }
  return found;
}
