// What leads from one event of a run to another: the order of a warp's program, what issues an
// operation, and where they meet: an mbarrier's phase, a named barrier's generation, a
// cluster's barrier. A way is no proof that the memory model orders the two: a relaxed
// operation, a scope that is too narrow or a proxy may stand on it. Flags in memory and waits
// for groups are not followed.

import { first } from "./model.js";

/** So many events are looked at; between places that are farther apart no way is looked for. */
const MOST = 200000;

/** What comes before, by what comes behind it. */
const BEFORE = { finds_complete: "arrives_at", passes: "comes_to", passes_cluster: "arrives_at_cluster" };

/** Lanes as a mask: "0,2-31". @param {*} text */
function maskOf(text) {
  let mask = 0;
  for (const part of String(text).split(",")) {
    const [from, to = from] = part.split("-").map(Number);
    for (let l = from; l <= to; l++) mask |= 1 << l;
  }
  return mask;
}

/**
 * The lanes of a step as a mask, and with after those that pass a bar.warp.sync behind it.
 * @param {import("./model.js").Run} run @param {number} slice @param {boolean} after
 */
function lanesOf(run, slice, after) {
  let own = ~0, synced = 0;
  for (const a of run.facts(slice).args) {
    if (a.name === "lanes") own = maskOf(a.value);
    else if (a.name === "syncs_lanes" && after) synced = maskOf(a.value);
  }
  return own | synced;
}

/** @typedef {{slice: number, how: string}} Link an event, and how the one before it leads there */

/** Who arrives where, between two times; null if too much happens between them. @param {import("./model.js").Run} run @param {number} a @param {number} b */
function arrivals(run, a, b) {
  const m = run.marks, by = new Map();
  let left = MOST;
  for (const t of run.tracks) {
    if ((t.kind !== "warp" && t.kind !== "op") || !t.lanes[0]) continue;
    const lane = t.lanes[0];
    for (let i = first(lane.length, (k) => m.to[lane[k]] > a); i < lane.length && m.from[lane[i]] < b; i++) {
      if (--left < 0) return null;
      for (const x of run.meetings(lane[i])) {
        const key = `${x.how} ${x.where} ${x.phase}`;
        if (!by.has(key)) by.set(key, []);
        by.get(key).push(lane[i]);
      }
    }
  }
  return by;
}

/**
 * The way from one event to another with the fewest meetings; null if there is none, undefined
 * if too much lies between them to look.
 * @param {import("./model.js").Run} run @param {number} a @param {number} b slices
 * @returns {Link[]|null|undefined} from a to b; the first has no how
 */
export function way(run, a, b) {
  const m = run.marks, begin = m.from[a];
  if (a === b || m.to[b] <= begin) return null;
  const by = arrivals(run, begin, m.to[b]);
  if (!by) return undefined;
  /** @type {Map<number, {next: number, how: string}>} what each event leads to */
  const to = new Map([[b, { next: -1, how: "" }]]);
  // Events of one number of meetings after the other; those of the next wait in later, since a
  // program's order may lead to them with fewer.
  let now = [b], later = [];
  const visit = (slice, next, how) => {
    if (to.has(slice) || (m.from[slice] < begin && slice !== a) || to.size > MOST) return;
    to.set(slice, { next, how });
    now.push(slice);
  };
  while (now.length && !to.has(a)) {
    while (now.length && !to.has(a)) {
      const s = now.pop(), track = run.tracks[m.track[s]], lane = track.lanes[0];
      if (track.kind === "warp") {
        // The last step of each lane: the lanes of a warp do not order each other.
        let left = lanesOf(run, s, s !== b);
        for (let i = first(lane.length, (k) => m.from[lane[k]] >= m.from[s]) - 1; left && i >= 0 && m.from[lane[i]] >= begin; i--) {
          const both = left & lanesOf(run, lane[i], true);
          if (both) visit(lane[i], s, "program");
          left &= ~both;
        }
      }
      for (const e of run.facts(s).to) {
        const source = m.leaves[e] - 1;
        // An operation comes behind what issues it; a wait behind what completes its phase.
        if (source >= 0 && track.kind === "op") visit(source, s, "issues");
        else if (source >= 0) later.push([source, s]);
      }
      if (track.kind === "op") continue;
      for (const x of run.meetings(s)) {
        const before = BEFORE[x.how];
        if (before) for (const source of by.get(`${before} ${x.where} ${x.phase}`) ?? []) if (m.to[source] <= m.to[s]) later.push([source, s]);
      }
    }
    const list = later;
    later = [];
    for (const [slice, next] of list) visit(slice, next, "meets");
  }
  if (!to.has(a)) return to.size > MOST ? undefined : null;
  const list = [{ slice: a, how: "" }];
  for (let s = a; s !== b; s = to.get(s).next) list.push({ slice: to.get(s).next, how: to.get(s).how });
  return list;
}

/** A way without the steps of a program that lead from one meeting to the next. @param {Link[]} list */
export function brief(list) {
  return list.filter((x, i) => i === 0 || i === list.length - 1 || x.how !== "program" || list[i + 1].how !== "program");
}

/** What an event meets, in words. @param {import("./model.js").Run} run @param {number} slice @param {boolean} behind */
function meets(run, slice, behind) {
  const x = run.meetings(slice).find((y) => (y.how in BEFORE) === behind);
  return x ? ` ${run.meetingWords(x)}` : "";
}

/** Each event of a way, in words. @param {import("./model.js").Run} run @param {Link[]} list as brief gives it @returns {{slice: number, step: number, text: string}[]} */
export function told(run, list) {
  return list.map((x, i) => {
    const f = run.facts(x.slice), behind = x.how === "meets", on = list[i + 1]?.how === "meets";
    const lanes = f.args.find((a) => a.name === "lanes"), text = `${run.path(f.track)}${lanes ? `, ${/[-,]/.test(String(lanes.value)) ? "lanes" : "lane"} ${lanes.value}` : ""}: ${f.name}${behind || on ? meets(run, x.slice, behind) : ""}`;
    return { slice: x.slice, step: run.stepOf(x.slice), text, how: x.how };
  });
}
