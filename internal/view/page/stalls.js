// The tab of waits: where the warps' steps go while they do nothing, the longest first. Steps
// are no time of a card: a wait is long here if much else happens meanwhile.

import { clip, count, el, link } from "./dom.js";

const MOST = 200;

/** @param {import("./state.js").Shown} shown @param {Set<number>} hidden tracks that are filtered out @returns {Node[]} */
export function waitsTab(shown, hidden) {
  const { run } = shown, m = run.marks, by = new Map();
  for (const t of run.tracks) {
    if (t.kind !== "wait" || hidden.has(t.index) || hidden.has(t.parent?.index ?? -1)) continue;
    for (const s of t.lanes[0] ?? []) {
      const key = `${t.parent?.index} ${m.name[s]} ${m.line[s]}`, w = by.get(key) ?? { warp: t.parent ?? t, longest: s, steps: 0, times: 0 };
      w.steps += m.to[s] - m.from[s];
      w.times++;
      if (m.to[s] - m.from[s] > m.to[w.longest] - m.from[w.longest]) w.longest = s;
      by.set(key, w);
    }
  }
  const list = [...by.values()].sort((a, b) => b.steps - a.steps), body = el("tbody");
  if (!list.length) return [el("p.quiet", {}, "No warp waits in this run, or all are filtered out.")];
  for (const w of list.slice(0, MOST)) {
    const f = run.facts(w.longest), get = (n) => f.args.find((a) => a.name === n)?.value ?? "", ended = String(get("completed_by") || get("ended") || get("until"));
    body.append(el("tr", {}, el("th", { scope: "row" }, run.path(w.warp)), el("td", {}, link(clip(f.name, 200), () => shown.select(w.longest), `${f.name}: select the longest`)), el("td", {}, f.place ? `${clip(f.place.file.split("/").pop(), 80)}:${f.place.line}` : ""),
      el("td.number", {}, count(w.times)), el("td.number", {}, `${count(w.steps)} (${Math.round((100 * w.steps) / Math.max(run.steps, 1))} %)`), el("td.number", {}, link(`${count(f.start + 1)}–${count(f.end)}`, () => shown.select(w.longest))), el("td", {}, clip(ended, 200))));
  }
  return [el("table", {}, el("caption", {}, `Waits of ${count(run.steps)} steps, the longest first${list.length > MOST ? `: ${count(MOST)} of ${count(list.length)}` : ""}`),
    el("thead", {}, el("tr", {}, ...["warp", "waits for", "line", "times", "steps", "the longest", "completed by"].map((h) => el("th", { scope: "col" }, h)))), body)];
}
