// The tab of registers: a warp's at the step. A click on a value goes to the step that gave it
// to the register.

import { clip, count, el, link } from "./dom.js";
import { TYPES, value } from "./values.js";

/** So many warps can be picked; others by going to a step of theirs. */
const MOST = 512;

/** The warp that takes the step, or took the last one before. @param {import("./model.js").Run} run @param {number} step */
function warpOf(run, step) {
  for (let s = step; s > 0 && s > step - 2000; s--) {
    const slice = run.stepSlice(s);
    if (slice >= 0) return run.tracks[run.marks.track[slice]];
  }
  return run.tracks.find((t) => t.kind === "warp");
}

export class Registers {
  /** @param {import("./state.js").Shown} shown @param {import("./detail.js").Detail[]} details @param {() => void} again */
  constructor(shown, details, again) {
    this.shown = shown;
    this.details = details;
    this.again = again;
    this.pinned = "";
    this.filter = "";
    this.as = ""; // a type; "" for the declared one
  }

  /** @param {*} w the window of the detail @returns {Node[]} */
  show(w) {
    const { run, step } = this.shown, state = w.state(step);
    const warps = run.tracks.filter((t) => t.kind === "warp"), now = warpOf(run, step);
    const track = warps.find((t) => String(t.id) === this.pinned) ?? now;
    if (!track) return [el("p.quiet", {}, "The run has no warp.")];
    const cta = track.parent.rank - 1, warp = track.rank;
    const pick = /** @type {*} */ (el("select", { change: () => { this.pinned = pick.value; this.again(); } }, el("option", { value: "" }, "the step’s warp"), ...warps.slice(0, MOST).map((t) => el("option", { value: t.id, selected: String(t.id) === this.pinned }, run.path(t)))));
    const only = /** @type {*} */ (el("input", { type: "search", placeholder: "%r", "aria-label": "Show registers with these letters", value: this.filter, change: () => { this.filter = only.value; this.again(); } }));
    const as = /** @type {*} */ (el("select", { change: () => { this.as = as.value; this.again(); } }, el("option", { value: "" }, "declared"), ...TYPES.map((t) => el("option", { value: t, selected: t === this.as }, t))));
    const list = [...state.registers.values()].filter((r) => r.cta === cta && r.warp === warp && r.name.includes(this.filter));
    const changed = new Set(step >= w.from ? w.changes(step).filter((c) => c.kind === "register" && c.cta === cta && c.warp === warp).map((c) => c.name) : []);
    list.sort((a, b) => Number(changed.has(b.name)) - Number(changed.has(a.name)) || a.name.localeCompare(b.name, "en", { numeric: true }));
    const head = el("div.row", {}, el("label.pick", {}, "Warp ", pick), el("label.pick", {}, "Names with ", only), el("label.pick", {}, "as ", as), el("span.quiet", {}, `${run.path(track)} after step ${count(step)}: ${list.length} registers that are not 0; a click goes to the step since which a value is so`));
    const body = el("tbody");
    for (const r of list.slice(0, 400)) body.append(this.row(r, changed.has(r.name)));
    return [head, el("table.registers", {}, el("thead", {}, el("tr", {}, ...["register", "type", "values by lane"].map((h) => el("th", { scope: "col" }, h)))), body)];
  }

  row(r, changed) {
    const groups = [];
    r.values.forEach((v, lane) => {
      const last = groups[groups.length - 1];
      if (last && last.v === v) last.to = lane;
      else groups.push({ v, from: lane, to: lane });
    });
    const shown = groups.length > 8 ? el("details", {}, el("summary", {}, `${groups.slice(0, 6).map((g) => (g.v === null ? "·" : this.text(g.v, r))).join(", ")} … (${groups.length} groups of lanes)`), this.values(groups, r)) : this.values(groups, r);
    return el(changed ? "tr.changed" : "tr", {}, el("th", { scope: "row" }, el("code", {}, clip(r.name, 100))), el("td", {}, r.type), el("td", {}, shown));
  }

  values(groups, r) {
    return el("span.values", {}, ...groups.filter((g) => g.v !== null).map((g) => {
      const lanes = g.from === 0 && g.to === 31 ? "all" : g.from === g.to ? String(g.from) : `${g.from}–${g.to}`;
      return el("span.value", {}, el("small", {}, lanes), " ", link(this.text(g.v, r), () => this.origin(r, g.from), `${r.name} of lanes ${lanes}: ${this.text(g.v, r)}. Go to the step since which it is so`));
    }));
  }

  /** A value, as its declared type or as the chosen one. @param {bigint} bits @param {{type: string}} r */
  text(bits, r) {
    return value(bits, r.type === "pred" ? r.type : this.as || r.type);
  }

  async origin(r, lane) {
    const test = (c) => c.kind === "register" && c.cta === r.cta && c.warp === r.warp && c.name === r.name && ((c.mask >>> lane) & 1) === 1;
    this.shown.origin(await this.details[this.shown.active].origin(this.shown.step, test), `${r.name} of lane ${lane}`, true);
  }
}
