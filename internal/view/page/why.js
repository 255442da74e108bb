// Why the finding is one, in words: what leads from the one place to the other and does not
// suffice, what the fix would order, and what waits for ever.

import { clip, counted, el, link, ranges } from "./dom.js";
import { brief, told, way } from "./way.js";
import { siteCTA } from "./words.js";

/** Links of a way that are shown; of a longer one the ends. */
const MOST = 12;

/** Warps that wait for ever, by the line and by what they wait for. @param {*[]} waiting */
export function groups(waiting) {
  const all = new Map();
  for (const w of waiting) {
    const s = w.site, source = s.source?.[s.source.length - 1], line = source ? `${source.file}:${source.line}` : s.ptx ? `line ${s.ptx.line}` : "?";
    const key = `${s.launch ?? ""} ${(s.cta ?? []).join(",")} ${line} ${w.for} ${w.owed ?? ""}`;
    if (!all.has(key)) all.set(key, { cta: siteCTA(s), line, what: w.for, owed: w.owed, warps: [] });
    all.get(key).warps.push(s.warp);
  }
  return [...all.values()];
}

/** @param {{cta: string, line: string, what: string, owed?: string, warps: number[]}} g */
export function waitWords(g) {
  const one = g.warps.length === 1;
  return `${one ? "warp" : "warps"} ${ranges(g.warps)} of ${g.cta} ${one ? "waits" : "wait"} at ${g.line} for ${g.what}${g.owed ? `: ${g.owed}` : ""}`;
}

/** A place of the finding, as the picture numbers it. @param {*} f the finding @param {{site: number}} e */
const named = (f, e) => `${e.site + 1} (${clip(f.sites[e.site].role, 100)})`;

/**
 * What orders the two places, or does not.
 * @param {import("./state.js").Shown} shown @param {import("./model.js").Run} run @param {*} f the finding @param {number} edge
 * @returns {{nodes: Node[], links: import("./way.js").Link[]}}
 */
export function order(shown, run, f, edge) {
  const m = (run.edge = run.missing(edge));
  if (!m) return { nodes: [], links: [] };
  if (m.to.step < m.from.step) return { nodes: [el("p.order", {}, el("b", {}, "order "), ...back(shown, run, f, m))], links: [] };
  const found = way(run, m.from.slice, m.to.slice);
  if (found === undefined) return { nodes: [el("p.order", {}, el("b", {}, "order "), `too much lies between ${named(f, m.from)} and ${named(f, m.to)} for this page to look for a way`)], links: [] };
  if (!found) return { nodes: [el("p.order", {}, el("b", {}, "order "), `no barrier and no program leads from ${named(f, m.from)} to ${named(f, m.to)}. `, ...ends(shown, run, m))], links: [] };
  const links = brief(found), list = told(run, links);
  if (links.every((x) => x.how !== "meets")) {
    const by = run.path(run.tracks[run.marks.track[m.from.slice]]);
    if (f.kind === "race-lanes") return { nodes: [el("p.order", {}, el("b", {}, "order "), `${by} does ${named(f, m.from)} and ${named(f, m.to)} in different lanes, and its program orders those of each lane alone`)], links: [] };
    return { nodes: [el("p.order", {}, el("b", {}, "order "), `${by} does ${named(f, m.from)} before ${named(f, m.to)} in its program; that does not suffice`)], links };
  }
  const cut = list.length > MOST ? [...list.slice(0, MOST / 2), null, ...list.slice(-MOST / 2)] : list;
  const items = cut.map((x) => (x ? el("li", {}, link(`step ${x.step}`, () => shown.go(x.step)), ` ${clip(x.text, 300)}`) : el("li.quiet", {}, `${counted(list.length - MOST, "link")} more`)));
  return { nodes: [el("p.order", {}, el("b", {}, "order "), `a way leads from ${named(f, m.from)} to ${named(f, m.to)} in this run, and does not suffice:`), el("ol.way", {}, ...items)], links };
}

/** Of a missing order that leads back: how it came the other way round. */
function back(shown, run, f, m) {
  const lap = run.lap(m.from.step), at = (n) => link(`step ${n}`, () => shown.go(n));
  if (lap) {
    return [`${run.path(lap.warp)} sleeps for phase ${lap.slept} of ${lap.bar?.name ?? "the mbarrier"} from `, at(lap.from), lap.complete ? ` on. It is complete in ` : "", lap.complete ? at(lap.complete) : "",
      lap.next ? `, phase ${lap.slept + 1} in ` : "", lap.next ? at(lap.next) : "", `, and nothing makes that wait for the warp. When it looks, in `, at(lap.step), `, it finds phase ${lap.found} complete, of the same parity`];
  }
  return [`in this run ${named(f, m.to)}, in `, at(m.to.step), `, does not wait for ${named(f, m.from)}, in `, at(m.from.step), ": nothing leads from the one back to the other"];
}

/** Where both sides last meet anybody: after the one place, and before the other. */
function ends(shown, run, m) {
  const at = (n) => link(`step ${n}`, () => shown.go(n)), warp = (e) => {
    let t = run.tracks[run.marks.track[e.slice]];
    while (t && t.kind !== "warp") t = t.parent;
    return t;
  };
  const look = (e, by, comes) => {
    const t = warp(e), lane = t?.lanes[0] ?? [];
    const list = Array.from(lane).filter((s) => (by > 0 ? run.stepOf(s) >= e.step : run.stepOf(s) <= e.step) && (by > 0 ? run.stepOf(s) <= m.to.step : run.stepOf(s) >= m.from.step));
    if (by < 0) list.reverse();
    for (const s of list) {
      const x = run.meetings(s).find((y) => comes.includes(y.how));
      if (x) return { t, s, x };
    }
    return t ? { t } : null;
  };
  const tell = look(m.from, 1, ["arrives_at", "comes_to", "arrives_at_cluster"]), learn = look(m.to, -1, ["finds_complete", "passes", "passes_cluster"]);
  const out = [];
  if (tell) out.push(`After the one, ${run.path(tell.t)} ${tell.x ? run.meetingWords(tell.x) : "arrives nowhere before the other"}`, ...(tell.x ? [" in ", at(run.stepOf(tell.s))] : []));
  if (learn) out.push(`${tell ? "; before" : "Before"} the other, ${run.path(learn.t)} ${learn.x ? run.meetingWords(learn.x) : "passes nothing since the one"}`, ...(learn.x ? [" in ", at(run.stepOf(learn.s))] : []));
  return out;
}

/** What the fix would order. @param {*} f the finding @param {*} m where the missing order leads from and to, or null */
export function mended(f, m) {
  return m ? [el("p.mended", {}, el("b", {}, "with it "), `${named(f, m.from)} is ordered before ${named(f, m.to)}, in every schedule`)] : [];
}

/** Who waits for ever: in a sentence the first of them, and the others to be opened. @param {*} f the finding */
export function hangs(f) {
  const list = groups(f.waiting ?? []).sort((a, b) => Number(Boolean(a.owed)) - Number(Boolean(b.owed)));
  if (!list.length) return [];
  const p = el("p.hangs", {}, el("b", {}, "hangs "), `nothing can go on then: ${clip(waitWords(list[0]), 1000)}`);
  if (list.length === 1) return [p];
  return [p, el("details", {}, el("summary", {}, `${counted(list.length - 1, "other waits", "others wait")} too`), el("ul.hang-list", {}, ...list.slice(1, 50).map((g) => el("li", {}, clip(waitWords(g), 1000))), list.length > 50 ? el("li.quiet", {}, counted(list.length - 50, "more", "more")) : null))];
}

/** What the catalogue says of the kind: why, in a paragraph, and the rest to be opened. @param {*} kind */
export function why(kind) {
  if (!kind) return [];
  const [first, ...rest] = kind.text.split("\n\n").map((p) => p.replaceAll("\n", " "));
  return [el("p.why", {}, el("b", {}, "why "), clip(first, 3000)), rest.length ? el("details", {}, el("summary", {}, `More of ${kind.name}: ${clip(kind.title, 300)}`), ...rest.map((p) => el("p", {}, clip(p, 3000)))) : el("span")];
}
