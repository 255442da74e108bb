// Where two runs of one launch part: the first step in which they do not do the same.

/** What a step is, in words that both runs share. @param {import("./model.js").Run} run @param {number} step */
function step(run, n) {
  const s = run.stepSlice(n);
  if (s < 0) return run.eventsAt(n).map((e) => `${run.path(run.tracks[run.marks.track[e.slice]])} ${e.how} ${run.strings[run.marks.name[e.slice]]}`).sort().join("; ");
  const m = run.marks, place = run.place(s);
  return `${run.path(run.tracks[m.track[s]])}: ${run.strings[m.name[s]]} ${place?.file}:${place?.line}`;
}

/** @param {import("./model.js").Run} a @param {import("./model.js").Run} b @returns {number} the step, or -1 if one is all of the other */
export function parting(a, b) {
  const both = Math.min(a.steps, b.steps);
  for (let n = 1; n <= both; n++) if (a.stepSlice(n) >= 0 !== b.stepSlice(n) >= 0 || step(a, n) !== step(b, n)) return n;
  return a.steps === b.steps ? -1 : both + 1;
}
