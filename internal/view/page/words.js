// A step in words, for the line at the foot and for screen readers.

import { clip, count } from "./dom.js";

/** How the run ends, or why the page ends before it. @param {*} info of the run */
export function endWords(info) {
  if (info.cut) return info.steps ? `this page ends before the run: ${info.cut}` : `no run is shown: ${info.cut}`;
  return info.end ? `the run ends: ${info.end}` : "";
}

/** What a CTA is called, by its number in the data: as its row is. @param {import("./model.js").Run} run @param {number} cta */
export function ctaName(run, cta) {
  run.ctaNames ??= new Map(run.tracks.filter((t) => t.kind === "cta").map((t) => [t.rank - 1, t.name]));
  return run.ctaNames.get(cta) ?? `CTA ${cta}`;
}

/** What a place's CTA is called, as its row is. @param {*} site */
export function siteCTA(site) {
  return `${site.launch ? `${site.launch}, ` : ""}CTA (${(site.cta ?? []).join(",")})`;
}

/** @param {import("./model.js").Run} run @param {number} step @returns {string} */
export function stepWords(run, step) {
  const end = step === run.steps ? endWords(run.info) : "";
  if (step === 0) return clip(`Before the first step${end && `; ${end}`}`, 500);
  const s = run.stepSlice(step);
  const said = [];
  if (s >= 0) {
    const f = run.facts(s);
    said.push(`${run.path(f.track)}: ${f.name}${f.place ? ` at ${f.place.file.split("/").pop()}:${f.place.line}` : ""}`);
  }
  for (const e of run.eventsAt(step)) {
    if (e.slice === s || e.how === "takes" || said.length > 4) continue;
    const f = run.facts(e.slice);
    if (f.category !== "wait" || e.how === "ends") said.push(`${f.name} ${e.how} (${run.path(f.track)})`);
  }
  const what = clip(said.join("; ") || "no warp goes on", 500);
  return `Step ${count(step)} of ${count(run.steps)}: ${what}${end && clip(`; ${end}`, 500)}`;
}

/** What a step does, in few words. @param {import("./model.js").Run} run @param {number} step @returns {string} */
export function stepBrief(run, step) {
  const slice = run.stepEvent(step), f = slice >= 0 ? run.facts(slice) : null;
  return f ? clip(`${run.path(f.track)}: ${f.name.split(".").slice(0, 3).join(".")}${f.place ? ` at line ${f.place.line}` : ""}`, 120) : "no warp goes on";
}
