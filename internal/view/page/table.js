// The tab of what is in sight: the lanes' events as a table of the document, for who cannot
// see the canvas, and for who wants to read. It has the first few hundred; the time in sight
// is its window.

import { clip, count, el, link } from "./dom.js";
import { first } from "./model.js";

const MOST = 200;

/** @param {import("./state.js").Shown} shown @param {Set<number>} hidden @returns {Node[]} */
export function tableTab(shown, hidden) {
  const { run, from, to } = shown, m = run.marks, list = [];
  let all = 0;
  for (const t of run.tracks) {
    if (hidden.has(t.index) || t.kind === "schedule") continue;
    for (const lane of t.lanes) {
      const a = run.after(lane, from), b = first(lane.length, (i) => m.from[lane[i]] >= to);
      all += b - a;
      for (let i = a; i < Math.min(b, a + MOST); i++) list.push(lane[i]);
    }
  }
  list.sort((a, b) => m.from[a] - m.from[b] || m.track[a] - m.track[b]);
  const body = el("tbody");
  for (const s of list.slice(0, MOST)) {
    const f = run.facts(s), by = f.args.find((a) => a.name === "ended_by" || a.name === "completed_by");
    const row = el(s === shown.slice ? "tr.changed" : "tr", { tabindex: "0", "data-slice": s, keydown: (e) => { if (e.key === "Enter" && e.target === row) shown.select(s); } },
      el("td.number", {}, f.end - f.start > 1 ? `${count(f.start + 1)}–${count(f.end)}` : count(f.end)), el("th", { scope: "row" }, run.path(f.track)), el("td", {}, link(clip(f.name, 200), () => shown.select(s))),
      el("td", {}, f.place ? `${clip(f.place.file.split("/").pop(), 80)}:${f.place.line}` : ""), el("td", {}, by ? clip(String(by.value), 200) : ""));
    body.append(row);
  }
  const what = all > MOST ? `the first ${count(MOST)} of ${count(all)} events in sight: zoom in to see fewer` : `${count(all)} events in sight`;
  return [el("table", {}, el("caption", {}, `Steps ${count(Math.max(1, Math.floor(from) + 1))} to ${count(Math.min(run.steps, Math.ceil(to)))}: ${what}`),
    el("thead", {}, el("tr", {}, ...["steps", "row", "event", "line", "ended by"].map((h) => el("th", { scope: "col" }, h)))), body)];
}
