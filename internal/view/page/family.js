// What an instruction is about, by its name: the colour of a step says it.

/** @typedef {"memory"|"barrier"|"fence"|"async"|"other"} Family */

/** In order: the first that fits. @type {[RegExp, Family][]} */
const RULES = [
  [/^(fence|membar)/, "fence"],
  [/^(mbarrier|barrier|bar\b|bar\.|griddepcontrol|clusterlaunchcontrol|setmaxnreg|elect|activemask)/, "barrier"],
  [/^cp\.async\.(mbarrier|wait|bulk\.wait|bulk\.commit|commit)/, "barrier"],
  [/^(wgmma|tcgen05)\.(fence|wait|commit)/, "barrier"],
  [/^(cp|wgmma|tcgen05|mma|wmma|red\.async|st\.async|prefetch|multimem)/, "async"],
  [/^(ld|st|atom|red|discard|applypriority)/, "memory"],
];

/** What the families are called, in the legend. @type {[Family, string][]} */
export const FAMILIES = [
  ["memory", "loads, stores, atomics"],
  ["barrier", "barriers and waits for groups"],
  ["fence", "fences"],
  ["async", "what issues asynchronous operations"],
  ["other", "other steps"],
];

/** @param {string} name of an instruction @returns {Family} */
export function family(name) {
  return RULES.find(([r]) => r.test(name))?.[1] ?? "other";
}
