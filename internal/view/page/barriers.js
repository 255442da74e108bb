// The tab of barriers: what each mbarrier counts after the step, as its ledger.

import { clip, count, counted, el, link } from "./dom.js";

const MOST = 500;

/** @param {import("./state.js").Shown} shown @param {Set<number>} hidden tracks that are filtered out @returns {Node[]} */
export function barriersTab(shown, hidden) {
  const { run, step } = shown, bars = run.tracks.filter((t) => t.kind === "mbar" && !hidden.has(t.index));
  if (!bars.length) return [el("p.quiet", {}, "The run has no mbarrier up to here, or all are filtered out.")];
  const body = el("tbody");
  for (const t of bars.slice(0, MOST)) body.append(ledger(shown, t));
  const table = el("table", {}, el("caption", {}, step === 0 ? "mbarriers before the first step" : `mbarriers after step ${count(step)}`),
    el("thead", {}, el("tr", {}, ...["mbarrier", "phase", "pending arrivals", "tx-count", "begun in step", "ends in step", "ended by"].map((h) => el("th", { scope: "col" }, h)))), body);
  const out = run.tracks.filter((t) => t.kind === "mbar").length - bars.length;
  if (out > 0) table.append(el("tfoot", {}, el("tr", {}, el("td.quiet", { colspan: 7 }, `${counted(out, "mbarrier has", "mbarriers have")} no row in the lanes: “All rows” brings them back`))));
  return [table, bars.length > MOST ? el("p.quiet", {}, `${count(bars.length - MOST)} more: filter the rows to see them`) : el("span")];
}

/** The phase after a step, or -1; one that the end of the run leaves open is still that then. @param {import("./model.js").Run} run @param {Int32Array} lane @param {number} step */
function phaseAt(run, lane, step) {
  const slice = run.at(lane, step), last = lane[lane.length - 1];
  if (slice >= 0 || step < run.steps || last === undefined || run.marks.to[last] !== run.steps) return slice;
  return run.facts(last).args.some((a) => a.name === "ended_by" && a.value === "open at the end") ? last : -1;
}

/** @param {import("./state.js").Shown} shown @param {import("./model.js").Track} track */
function ledger(shown, track) {
  const { run, step } = shown, lane = track.lanes[0], slice = lane ? phaseAt(run, lane, step) : -1;
  const name = el("th", { scope: "row" }, run.path(track).replace(" · mbarrier ", " · "));
  if (slice < 0) {
    // After its last phase, or before it is initialized.
    const last = lane?.length && run.marks.to[lane[lane.length - 1]] <= step;
    return el("tr", {}, name, el("td.quiet", { colspan: 6 }, last ? "gone: invalidated, or its CTA has ended" : "not initialized yet"));
  }
  const f = run.facts(slice), by = f.args.find((a) => a.name === "ended_by")?.value;
  const counters = ["pending arrivals", "tx-count"].map((n) => {
    const c = track.children.find((x) => x.name === n), v = c ? run.valueAt(c, step) : null, before = c && step > 0 ? run.valueAt(c, step - 1) : v;
    return el(v !== before ? "td.number.changed" : "td.number", {}, v === null ? "" : count(v), v !== before && before !== null ? el("span.quiet", {}, ` from ${count(before)}`) : null);
  });
  const phase = el(f.start === step ? "td.changed" : "td", {}, link(f.name, () => shown.select(slice, step)));
  return el("tr", {}, name, phase, ...counters,
    el("td.number", {}, link(count(f.start), () => shown.go(f.start))), el("td.number", {}, link(count(f.end), () => shown.go(f.end))), el("td", {}, clip(String(by ?? ""), 300)));
}
