// A run, as the page asks about it: its tracks as a tree, and for each the slices in order,
// so that every question is a binary search.

import { decode, more } from "./decode.js";

/**
 * @typedef {Object} Track
 * @property {number} index
 * @property {number} id
 * @property {string} name
 * @property {string} text what it shows, in a sentence
 * @property {string} kind "cta", "warp", "wait", "op", "mbar", "counter", "schedule"
 * @property {boolean} counter
 * @property {string} unit
 * @property {number} rank
 * @property {Track|null} parent
 * @property {Track[]} children
 * @property {Int32Array[]} lanes its slices by depth, each in order of time
 * @property {Int32Array} instants
 * @property {number} first of its values, in values' order (a counter's)
 * @property {number} last behind the last of them
 */

/** The first index of a sorted list at which a test holds. @param {number} n @param {(i: number) => boolean} test */
export function first(n, test) {
  let low = 0, high = n;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (test(mid)) high = mid;
    else low = mid + 1;
  }
  return low;
}

/** Blocks of values of which the largest is kept, so that a far view need not read all. */
const BLOCK = 64;

export class Run {
  /** @param {*} info of the page's data @param {Uint8Array} bytes @param {string[]} strings that the marks' indices name */
  constructor(info, bytes, strings) {
    this.info = info;
    this.bytes = bytes;
    this.steps = info.steps;
    this.strings = strings;
    /** @type {Track[]} */
    this.tracks = info.tracks.map((t, index) => ({ text: "", unit: "", rank: 0, counter: false, ...t, index, kind: t.kind || (t.counter ? "counter" : "op"), parent: null, children: [], lanes: [], instants: new Int32Array(0), first: 0, last: 0 }));
    this.byId = new Map(this.tracks.map((t) => [t.id, t]));
    /** @type {Track[]} */
    this.roots = [];
    for (const t of this.tracks) {
      t.parent = this.byId.get(info.tracks[t.index].parent) ?? null;
      (t.parent?.children ?? this.roots).push(t);
    }
    const order = (a, b) => a.rank - b.rank || a.id - b.id;
    this.roots.sort(order);
    for (const t of this.tracks) t.children.sort(order);
  }

  /** @param {(done: number) => void} progress */
  async load(progress) {
    const index = new Map(this.tracks.map((t) => [t.id, t.index]));
    this.marks = await decode(this.bytes, this.info.marks[0], this.info.marks[1], index, this.steps, progress);
    this.sortSlices();
    this.sortValues();
    this.sortArrows();
  }

  /** Sorts slices into the lanes of their tracks, and steps by their numbers. */
  sortSlices() {
    const m = this.marks, n = m.from.length;
    const step = this.strings.indexOf("step");
    /** The slice of each step that a warp takes, plus 1; 0 for others. */
    this.stepSlices = new Int32Array(this.steps + 2);
    const lists = this.tracks.map(() => ({ lanes: [], instants: [] }));
    const sizes = this.tracks.map(() => []);
    for (let i = 0; i < n; i++) {
      const s = sizes[m.track[i]], d = m.to[i] > m.from[i] ? m.depth[i] + 1 : 0;
      s[d] = (s[d] ?? 0) + 1;
    }
    for (const t of this.tracks) {
      const s = sizes[t.index];
      t.instants = new Int32Array(s[0] ?? 0);
      for (let d = 1; d < s.length; d++) t.lanes.push(new Int32Array(s[d] ?? 0));
      lists[t.index] = { lanes: t.lanes.map(() => 0), instants: 0 };
    }
    for (let i = 0; i < n; i++) {
      const t = this.tracks[m.track[i]], at = lists[m.track[i]];
      if (m.to[i] > m.from[i]) t.lanes[m.depth[i]][at.lanes[m.depth[i]]++] = i;
      else t.instants[at.instants++] = i;
      if (m.category[i] === step && m.from[i] >= 0 && m.from[i] < this.steps) this.stepSlices[m.from[i] + 1] = i + 1;
    }
    for (const t of this.tracks) for (const list of [...t.lanes, t.instants]) sortBy(list, m.from);
  }

  /** Sorts values by track and time. */
  sortValues() {
    const { counter, time, value } = this.marks, n = counter.length;
    const at = new Int32Array(this.tracks.length + 1);
    for (let i = 0; i < n; i++) at[counter[i] + 1]++;
    for (let i = 0; i < this.tracks.length; i++) at[i + 1] += at[i];
    for (const t of this.tracks) {
      t.first = at[t.index];
      t.last = at[t.index + 1];
    }
    this.times = new Int32Array(n);
    this.values = new Float64Array(n);
    const next = at.slice();
    for (let i = 0; i < n; i++) {
      const k = next[counter[i]]++;
      this.times[k] = time[i];
      this.values[k] = value[i];
    }
    this.blocks = new Float64Array(Math.ceil(n / BLOCK)).fill(-Infinity);
    for (let i = 0; i < n; i++) this.blocks[(i / BLOCK) | 0] = Math.max(this.blocks[(i / BLOCK) | 0], this.values[i]);
    for (const t of this.tracks) t.most = t.counter ? this.largest(t.first, t.last) : 0;
  }

  /** Sorts arrows that have both ends by when they leave, and by when they end. */
  sortArrows() {
    const { leaves, ends } = this.marks;
    const list = [];
    for (let i = 0; i < Math.min(leaves.length, ends.length); i++) if (leaves[i] && ends[i]) list.push(i);
    this.arrowTimes = [new Float64Array(leaves.length), new Float64Array(leaves.length)];
    for (const a of list) {
      const e = this.arrowEnds(a);
      this.arrowTimes[0][a] = e.leaves;
      this.arrowTimes[1][a] = e.ends;
    }
    this.arrowsBy = this.arrowTimes.map((times) => Int32Array.from(list).sort((a, b) => times[a] - times[b]));
  }

  /**
   * Where an arrow leaves and ends. One from a step leaves within it; one from an operation
   * when the operation ends.
   * @param {number} arrow
   */
  arrowEnds(arrow) {
    const m = this.marks, source = m.leaves[arrow] - 1, target = m.ends[arrow] - 1;
    const short = m.to[source] - m.from[source] <= 1;
    const leaves = short ? m.from[source] + 0.5 : m.to[source];
    const ends = m.to[target] - m.from[target] <= 1 ? m.from[target] + 0.5 : Math.max(m.from[target], Math.min(leaves, m.to[target]));
    return { source, target, leaves, ends };
  }

  /** The largest value among some. @param {number} a @param {number} b behind the last */
  largest(a, b) {
    let most = -Infinity;
    while (a < b && a % BLOCK) most = Math.max(most, this.values[a++]);
    while (a + BLOCK <= b) {
      most = Math.max(most, this.blocks[a / BLOCK]);
      a += BLOCK;
    }
    while (a < b) most = Math.max(most, this.values[a++]);
    return most;
  }

  /** The index in a lane of the first slice that ends after a time. @param {Int32Array} lane @param {number} time */
  after(lane, time) {
    const to = this.marks.to;
    return first(lane.length, (i) => to[lane[i]] > time);
  }

  /** The slice of a lane at a time, or -1. @param {Int32Array} lane @param {number} time */
  at(lane, time) {
    const i = this.after(lane, time);
    return i < lane.length && this.marks.from[lane[i]] <= time ? lane[i] : -1;
  }

  /** A counter's value after a step, or null before its first. @param {Track} track @param {number} step */
  valueAt(track, step) {
    const i = track.first + first(track.last - track.first, (k) => this.times[track.first + k] > step) - 1;
    return i < track.first ? null : this.values[i];
  }

  /** The step slice of a step, or -1. @param {number} step */
  stepSlice(step) {
    return (this.stepSlices[step] ?? 0) - 1;
  }

  /**
   * What stands for a step: what its warp does, or else an operation that it brings on, or
   * whatever begins or ends with it; -1 for nothing.
   * @param {number} step
   */
  stepEvent(step) {
    const s = this.stepSlice(step);
    if (s >= 0 || step === 0) return s;
    const m = this.marks, events = this.eventsAt(step).map((e) => e.slice), of = (slice) => this.tracks[m.track[slice]];
    const slice = events.find((x) => of(x).kind === "op") ?? events[0];
    if (slice === undefined) return -1;
    // A stage of an operation stands for the operation.
    return m.depth[slice] > 0 ? this.at(of(slice).lanes[0], step - 0.5) : slice;
  }

  /** @param {number} slice */
  facts(slice) {
    const m = this.marks;
    return { ...more(this.bytes, m, slice, this.strings), name: this.strings[m.name[slice]] ?? "", category: this.strings[m.category[slice]] ?? "", track: this.tracks[m.track[slice]], start: m.from[slice], end: m.to[slice], place: this.place(slice) };
  }

  /**
   * Where a slice meets others: at which phase of which mbarrier, which generation of which
   * barrier. of_phase stands behind each of these arguments.
   * @param {number} slice @returns {{how: string, where: number, phase: number}[]}
   */
  meetings(slice) {
    const { args } = more(this.bytes, this.marks, slice, this.strings), list = [];
    args.forEach((a, i) => {
      if (args[i + 1]?.name === "of_phase") list.push({ how: a.name, where: Number(a.value), phase: Number(args[i + 1].value) });
    });
    return list;
  }

  /** @param {{how: string, where: number, phase: number}} x of meetings */
  meetingWords(x) {
    const t = this.byId.get(x.where), name = t?.name ?? "an mbarrier";
    switch (x.how) {
      case "arrives_at": return `arrives at phase ${x.phase} of ${name}`;
      case "finds_complete": return x.phase < 0 ? `finds ${name} fresh, which passes` : `finds phase ${x.phase} of ${name} complete`;
      case "comes_to": return `comes to generation ${x.phase} of ${name}`;
      case "passes": return `passes generation ${x.phase} of ${name}`;
      case "arrives_at_cluster": return "arrives at the cluster’s barrier";
    }
    return "passes the cluster’s barrier";
  }

  /** The step that stands for a slice: its only one, or that with which it begins. @param {number} slice */
  stepOf(slice) {
    return this.marks.from[slice] + 1;
  }

  /**
   * The event of a place of the finding: what the warp does, or the operation.
   * @param {{step: number, track: number}} site
   */
  siteSlice(site) {
    const t = this.byId.get(site.track), at = t?.kind === "op" && t.lanes[0] ? this.at(t.lanes[0], site.step - 0.5) : -1;
    return at >= 0 ? at : this.stepEvent(site.step);
  }

  /**
   * The wait that a step of a warp ends, if it was lapped: the phase that it slept for and the
   * one that it finds, when it fell asleep, and when the one that it slept for and the next
   * were complete. Null if it was not.
   * @param {number} step
   */
  lap(step) {
    const s = this.stepSlice(step), warp = s >= 0 ? this.tracks[this.marks.track[s]] : null;
    const met = warp ? this.meetings(s).find((x) => x.how === "finds_complete") : undefined;
    if (!met) return null;
    for (const t of warp.children.filter((x) => x.kind === "wait" && x.lanes[0])) {
      const wait = this.at(t.lanes[0], step - 1.5);
      if (wait < 0 || this.marks.to[wait] !== step - 1) continue;
      const f = this.facts(wait);
      if (!f.args.some((a) => a.name === "ended" && String(a.value).startsWith("lapped"))) continue;
      const slept = Number(f.args.find((a) => a.name === "phase")?.value), bar = this.byId.get(met.where);
      const ends = (n) => {
        const p = Array.from(bar?.lanes[0] ?? []).findLast((x) => this.marks.from[x] < step && this.strings[this.marks.name[x]] === `phase ${n}`);
        return p === undefined ? 0 : this.marks.to[p];
      };
      return { warp, bar, slept, found: met.phase, from: f.start + 1, complete: ends(slept), next: ends(slept + 1), step };
    }
    return null;
  }

  /**
   * Where the finding's missing order would lead from and to: events of this run. Of a place's
   * steps the last one counts; of a wait that was lapped, the step that shows it and what
   * completed the phase that should have waited for it. Null if no order is missing.
   * @param {number} edge 1: from the place that comes first to the other, -1: from the second to the first
   * @returns {{from: {step: number, slice: number, site: number}, to: {step: number, slice: number, site: number}}|null}
   */
  missing(edge) {
    const of = (n) => this.info.sites.filter((s) => s.site === n), event = (s) => s && { step: s.step, site: s.site, slice: this.siteSlice(s) };
    if (!edge || !of(0).length || !of(1).length) return null;
    if (edge > 0) {
      const two = [event(of(0).at(-1)), event(of(1).at(-1))].sort((a, b) => a.step - b.step);
      return { from: two[0], to: two[1] };
    }
    const late = of(1).find((s) => this.lap(s.step)), next = late ? this.lap(late.step).next : 0;
    return { from: event(late ?? of(1).at(-1)), to: next ? { step: next, site: 0, slice: this.stepEvent(next) } : event(of(0).at(-1)) };
  }

  /** Where a slice's instruction stands, or null. @param {number} slice */
  place(slice) {
    const f = this.marks.file[slice];
    return f ? { file: this.strings[f - 1], line: this.marks.line[slice] } : null;
  }

  /** A track with those that it lies in: "CTA 0 · warp 1 · waits". @param {Track} track */
  path(track) {
    const names = [];
    for (let t = track; t; t = t.parent) names.unshift(t.name);
    return names.join(" · ");
  }

  /** What a step does: its slice, and what begins or ends with it elsewhere. @param {number} step */
  eventsAt(step) {
    const m = this.marks, list = [];
    for (const t of this.tracks) {
      for (const lane of t.lanes) {
        let i = first(lane.length, (k) => m.to[lane[k]] >= step);
        for (; i < lane.length && m.from[lane[i]] <= step; i++) {
          const s = lane[i];
          if (m.from[s] === step - 1 && m.to[s] === step) list.push({ slice: s, how: "takes" });
          else if (m.from[s] === step - 1) list.push({ slice: s, how: "begins" });
          else if (m.to[s] === step) list.push({ slice: s, how: "ends" });
        }
      }
    }
    return list;
  }
}

/** Sorts indices by a column, if they are not in order. @param {Int32Array} list @param {Int32Array} column */
function sortBy(list, column) {
  for (let i = 1; i < list.length; i++) if (column[list[i]] < column[list[i - 1]]) return void list.sort((a, b) => column[a] - column[b] || a - b);
}
