// Registers and memory at a step, where the data has them: a full state at the start of a
// window of steps, and what each step changes. And the other way round: which step wrote a
// value.

import { Reader } from "./bytes.js";

/**
 * @typedef {{kind: "register", cta: number, warp: number, name: string, type: string, mask: number, values: bigint[]}} Register
 * @typedef {{kind: "memory", name: string, cta: number, offset: number, size: number, bytes: Uint8Array|null}} Memory cta is -1 for global memory; bytes null: uninitialized
 * @typedef {{kind: "word", track: number, phase: number, pending: number, expected: number, tx: number}} Word
 * @typedef {{kind: "lanes", cta: number, warp: number, mask: number, file: number, line: number}} LanesAt
 * @typedef {{kind: "local", cta: number, warp: number, mask: number, name: string, offset: number, size: number, bytes: Uint8Array[]|null}} Local bytes of each lane of the mask; null: not initialized, or its function has returned
 * @typedef {Register|Memory|Word|LanesAt|Local} Change
 */

/** Steps between states that are kept, so that a jump replays few. */
const KEEP = 256;

/** So many windows are looked through for what wrote a value. */
const MOST_WINDOWS = 64;

/** @param {Reader} r @param {string[]} strings @returns {Change} */
function change(r, strings) {
  const kind = r.byte();
  switch (kind) {
    case 1: {
      const cta = r.u(), warp = r.u(), name = strings[r.u()], type = strings[r.u()], mask = r.u(), values = [];
      // Without a type the lanes have the register no more.
      for (let l = 0; type && l < 32; l++) if ((mask >>> l) & 1) values.push(r.big());
      return { kind: "register", cta, warp, name, type, mask, values };
    }
    case 2:
    case 5: {
      const name = strings[r.u()], cta = r.u() - 1, offset = r.u(), size = r.u();
      return { kind: "memory", name, cta, offset, size, bytes: kind === 2 ? r.take(size) : null };
    }
    case 3:
      return { kind: "word", track: r.u(), phase: r.u(), pending: r.u(), expected: r.u(), tx: r.z() };
    case 4:
      return { kind: "lanes", cta: r.u(), warp: r.u(), mask: r.u(), file: r.u(), line: r.u() };
    case 6:
    case 7: {
      const cta = r.u(), warp = r.u(), mask = r.u(), name = strings[r.u()], offset = r.u(), size = r.u(), bytes = [];
      for (let l = 0; kind === 6 && l < 32; l++) if ((mask >>> l) & 1) bytes.push(r.take(size));
      return { kind: "local", cta, warp, mask, name, offset, size, bytes: kind === 6 ? bytes : null };
    }
  }
  throw new Error(`the data has a change of kind ${kind}`);
}

/** The machine's state, as far as the window tells. */
class State {
  constructor() {
    /** @type {Map<string, {cta: number, warp: number, name: string, type: string, values: (bigint|null)[]}>} */
    this.registers = new Map();
    /** @type {Map<string, {name: string, cta: number, pages: Map<number, Uint8Array>}>} pages of 64 bytes, with a second half that says which of them are written */
    this.memory = new Map();
    /** @type {Map<string, {name: string, cta: number, warp: number, lanes: Map<number, Uint8Array>[]}>} variables of local memory, by warp: pages of each lane */
    this.locals = new Map();
    /** @type {Map<number, Word>} */
    this.words = new Map();
    /** @type {Map<string, LanesAt[]>} */
    this.lanes = new Map();
  }

  copy() {
    const s = new State();
    for (const [k, v] of this.registers) s.registers.set(k, { ...v, values: v.values.slice() });
    const pages = (all) => new Map([...all].map(([p, b]) => [p, b.slice()]));
    for (const [k, v] of this.memory) s.memory.set(k, { ...v, pages: pages(v.pages) });
    for (const [k, v] of this.locals) s.locals.set(k, { ...v, lanes: v.lanes.map(pages) });
    s.words = new Map(this.words);
    for (const [k, v] of this.lanes) s.lanes.set(k, v.slice());
    return s;
  }

  /** @param {Change} c */
  apply(c) {
    switch (c.kind) {
      case "register": return this.register(c);
      case "memory": return this.write(c);
      case "local": return this.local(c);
      case "word": return void this.words.set(c.track, c);
    }
    const key = `${c.cta}/${c.warp}`, others = (this.lanes.get(key) ?? []).map((x) => ({ ...x, mask: x.mask & ~c.mask })).filter((x) => x.mask);
    this.lanes.set(key, [...others, c]);
  }

  /** @param {Register} c */
  register(c) {
    const key = `${c.cta}/${c.warp}/${c.name}`;
    let r = this.registers.get(key);
    if (!r) this.registers.set(key, (r = { cta: c.cta, warp: c.warp, name: c.name, type: c.type, values: Array(32).fill(c.type ? 0n : null) }));
    if (c.type) r.type = c.type;
    for (let l = 0, i = 0; l < 32; l++) if ((c.mask >>> l) & 1) r.values[l] = c.type ? c.values[i++] : null;
    if (r.values.every((v) => v === null)) this.registers.delete(key);
  }

  /** @param {Memory} c */
  write(c) {
    const key = `${c.cta}/${c.name}`;
    let m = this.memory.get(key);
    if (!m) this.memory.set(key, (m = { name: c.name, cta: c.cta, pages: new Map() }));
    put(m.pages, c.offset, c.size, c.bytes);
  }

  /** @param {Local} c */
  local(c) {
    const key = `${c.cta}/${c.warp}/${c.name}`;
    let v = this.locals.get(key);
    if (!v) this.locals.set(key, (v = { name: c.name, cta: c.cta, warp: c.warp, lanes: Array.from({ length: 32 }, () => new Map()) }));
    for (let l = 0, i = 0; l < 32; l++) if ((c.mask >>> l) & 1) put(v.lanes[l], c.offset, c.size, c.bytes && c.bytes[i++]);
  }
}

/** Writes bytes into pages; null: they are not initialized. @param {Map<number, Uint8Array>} pages @param {number} offset @param {number} size @param {Uint8Array|null} bytes */
function put(pages, offset, size, bytes) {
  for (let i = 0; i < size; i++) {
    const at = offset + i, p = Math.floor(at / 64);
    let page = pages.get(p);
    if (!page) pages.set(p, (page = new Uint8Array(128)));
    page[at % 64] = bytes ? bytes[i] : 0;
    page[64 + (at % 64)] = bytes ? 1 : 0;
  }
}

/** A Window is a stretch of steps of which the data has the states. */
class Window {
  /** @param {number} from @param {number} to behind its last step @param {Uint8Array} bytes @param {number} at @param {number} end @param {string[]} strings */
  constructor(from, to, bytes, at, end, strings) {
    this.from = from;
    this.to = to;
    this.strings = strings;
    const r = new Reader(bytes, at, end), key = new State();
    for (let n = r.u(); n > 0; n--) key.apply(change(r, strings));
    this.kept = new Map([[from - 1, key]]);
    this.bytes = bytes;
    this.end = end;
    this.starts = [];
    for (let s = from; s < to; s++) {
      this.starts.push(r.at);
      for (let n = r.u(); n > 0; n--) change(r, strings);
    }
  }

  /** What a step changes. @param {number} step @returns {Change[]} */
  changes(step) {
    const r = new Reader(this.bytes, this.starts[step - this.from], this.end), list = [];
    for (let n = r.u(); n > 0; n--) list.push(change(r, this.strings));
    return list;
  }

  /** The state after a step. @param {number} step @returns {State} */
  state(step) {
    let at = step;
    while (!this.kept.has(at)) at--;
    if (at === step) return this.kept.get(at);
    const s = this.kept.get(at).copy();
    for (let i = at + 1; i <= step; i++) {
      for (const c of this.changes(i)) s.apply(c);
      if ((i - this.from) % KEEP === 0 && !this.kept.has(i)) this.kept.set(i, s.copy());
    }
    return s;
  }

  /** The last step up to one whose change passes a test, or 0. @param {number} step @param {(c: Change) => boolean} test */
  origin(step, test) {
    for (let s = step; s >= this.from; s--) if (this.changes(s).some(test)) return s;
    return 0;
  }
}

export class Detail {
  /** @param {import("./model.js").Run} run */
  constructor(run) {
    this.run = run;
    this.windows = [];
    this.asked = new Map();
    this.ranges = run.info.detail ?? [];
  }

  /**
   * The window that has a step: at once if it is here, later if the server has it, null if
   * nobody does.
   * @param {number} step @returns {Window|null|Promise<Window|null>}
   */
  window(step) {
    const here = this.windows.find((w) => w.from - 1 <= step && step < w.to);
    if (here) return here;
    const r = this.ranges.find(([from, to]) => from - 1 <= step && step < to);
    if (r) {
      const w = new Window(r[0], r[1], this.run.bytes, r[2], r[2] + r[3], this.run.strings);
      this.windows.push(w);
      return w;
    }
    return this.run.info.live ? this.fetch(Math.max(step, 1)) : null;
  }

  /**
   * The last step up to one whose change passes a test, through as many windows as there are.
   * @param {number} step @param {(c: Change) => boolean} test
   * @returns {Promise<{step: number, from: number}>} step 0: there is none from a step on
   */
  async origin(step, test) {
    let from = step + 1;
    for (let n = 0; n < MOST_WINDOWS && from > 1; n++) {
      const at = from - 1, w = this.windows.find((x) => x.from <= at && at < x.to) ?? (await this.window(at));
      if (!w || w.from > at) break;
      const found = w.origin(at, test);
      if (found) return { step: found, from: w.from };
      from = w.from;
    }
    return { step: 0, from };
  }

  /** Asks the server that served the page. @param {number} step */
  fetch(step) {
    let asked = this.asked.get(step);
    if (!asked) {
      asked = (async () => {
        const answer = await fetch(this.run.info.live + step);
        if (!answer.ok) return null;
        const bytes = new Uint8Array(await answer.arrayBuffer()), r = new Reader(bytes), from = r.u(), to = r.u();
        const w = new Window(from, to, bytes, r.at, bytes.length, this.run.strings);
        this.windows.push(w);
        return w;
      })().catch(() => null);
      this.asked.set(step, asked);
    }
    return asked;
  }

  /** Where the data has states, in words. */
  get extent() {
    if (this.ranges.length === 0) return "This page has no registers and memory.";
    const list = this.ranges.slice(0, 6).map(([a, b]) => `${a}–${b - 1}`).join(", ");
    return `This page has registers and memory of steps ${list}${this.ranges.length > 6 ? " and others" : ""}.`;
  }
}
