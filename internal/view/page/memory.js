// The tab of memory: what the run's variables and buffers hold at the step. A click on an
// element goes to the step that wrote it. Local memory has a row for each lane.

import { clip, count, el, link } from "./dom.js";
import { TYPES, bitsAt, sizeOf, value } from "./values.js";
import { ctaName, siteCTA } from "./words.js";

const ROWS = 64, ACROSS = 8;

/** So many variables can be picked; others by going to a step that writes one. */
const MOST = 1000;

/** An own key for each memory and each variable of local memory. */
const keyOf = (c) => (c.kind === "local" ? `local/${c.cta}/${c.warp}/${c.name}` : `${c.cta}/${c.name}`);

/** The type by which an instruction of PTX accesses elements of a size, or "". @param {string|undefined} text @param {number} elem */
function typeOf(text, elem) {
  const type = /^(?:@!?%?\w+\s+)?[\w.:]+\.(\w+)\s/.exec(text ?? "")?.[1] ?? "";
  return TYPES.includes(type) && (!elem || sizeOf(type) === elem) ? type : "";
}

/** The key of a place's memory. @param {import("./model.js").Run} run @param {*} site */
function placeKey(run, site) {
  const { space, name, cta } = site.memory, of = siteCTA({ ...site, cta: cta ?? site.cta });
  return keyOf({ kind: "memory", cta: space === "global" ? -1 : (run.tracks.find((t) => t.kind === "cta" && t.name === of)?.rank ?? 0) - 1, name });
}

export class Memory {
  /** @param {import("./state.js").Shown} shown @param {import("./detail.js").Detail[]} details @param {*} about the page's data @param {() => void} again */
  constructor(shown, details, about, again) {
    this.shown = shown;
    this.details = details;
    this.report = about.report;
    this.known = new Map((about.memories ?? []).map((m) => [m.space === "local" ? `local ${m.name}` : m.name, m]));
    this.again = again;
    this.picked = "";
    this.offset = 0;
    this.as = ""; // a type; "" for the memory's own
  }

  /** @param {*} w the window of the detail @returns {Node[]} */
  show(w) {
    const { run, step } = this.shown, state = w.state(step), changes = step >= w.from ? w.changes(step).filter((c) => c.kind === "memory" || c.kind === "local") : [];
    const all = new Map([...[...state.memory].sort(byName), ...[...state.locals].map(([k, v]) => [`local/${k}`, v]).sort(byName)]);
    if (!all.size) return [el("p.quiet", {}, "No memory that these steps touch is written yet.")];
    const keys = [...all.keys()];
    const place = this.report.findings[this.shown.finding]?.sites.find((s) => s.memory && all.has(placeKey(run, s))), site = place?.memory, of = site && placeKey(run, place);
    const first = changes.find((c) => c.kind === "memory") ?? changes[0], auto = first ? keyOf(first) : of ?? keys[0];
    const key = all.has(this.picked) ? this.picked : auto, m = all.get(key), local = Boolean(m.lanes), about = this.known.get(local ? `local ${m.name}` : m.name) ?? {};
    this.found = key === of ? site : null;
    const own = about.type || (this.found && typeOf(place.ptx?.text, about.elem)) || `b${(about.elem > 0 && about.elem <= 8 ? about.elem : 4) * 8}`, type = this.as || own, size = sizeOf(type);
    const touched = this.picked !== "" ? this.offset : first?.offset ?? (auto === of ? site.offset : 0), from = local ? touched - (touched % size) : touched;
    const shown = keys.length > MOST ? [...new Set([...keys.slice(0, MOST), key])] : keys;
    const pick = /** @type {*} */ (el("select", { change: () => { this.picked = pick.value; this.offset = 0; this.again(); } }, el("option", { value: "" }, "the step’s, or the finding’s"), ...shown.map((k) => el("option", { value: k, selected: k === this.picked }, clip(title(run, all.get(k)), 100)))));
    const as = /** @type {*} */ (el("select", { change: () => { this.as = as.value; this.again(); } }, el("option", { value: "" }, own), ...TYPES.map((t) => el("option", { value: t, selected: t === this.as }, t))));
    const at = /** @type {*} */ (el("input", { type: "number", min: 0, step: size, value: from, "aria-label": "First byte", change: () => { this.offset = Math.max(0, Math.floor(Number(at.value)) || 0); this.picked = key; this.again(); } }));
    const head = el("div.row", {}, el("label.pick", {}, "Memory ", pick), el("label.pick", {}, "from byte ", at), el("label.pick", {}, "as ", as), el("span.quiet", {}, `${clip(title(run, m), 200)} after step ${count(step)}, ${about.space ?? ""} memory; a click goes to the step that wrote one`));
    const of1 = changes.filter((c) => keyOf(c) === key);
    return [head, local ? this.lanes(m, size, type, from, of1) : this.table(m, size, type, from, of1)];
  }

  table(m, size, type, offset, changes) {
    const per = size * ACROSS, pages = [...m.pages.keys()].sort((a, b) => a - b), body = el("tbody");
    let rows = 0, last = -1;
    for (const p of pages) {
      for (let at = p * 64; at < p * 64 + 64 && rows < ROWS; at += per) {
        if (at + per <= offset) continue;
        const page = m.pages.get(p), line = at - p * 64;
        if (!page.subarray(64 + line, 64 + Math.min(line + per, 64)).some(Boolean)) continue;
        if (last >= 0 && at !== last) body.append(el("tr", {}, el("td.quiet", { colspan: ACROSS + 1 }, "…")));
        body.append(this.row(m, page, line, at, size, type, changes));
        last = at + per;
        rows++;
      }
    }
    if (!rows) return el("p.quiet", {}, "Nothing there is written, or the steps do not touch it. What an mbarrier counts is in the tab Barriers.");
    return el("table.memory", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "byte"), ...Array.from({ length: ACROSS }, (_, i) => el("th", { scope: "col" }, `+${i * size}`)))), body);
  }

  row(m, page, line, at, size, type, changes) {
    const cells = [];
    for (let i = 0; i < ACROSS && line + (i + 1) * size <= 64; i++) cells.push(this.cell(m, page, line + i * size, at + i * size, size, type, changes, -1));
    return el("tr", {}, el("th", { scope: "row" }, String(at)), ...cells);
  }

  /** A variable of local memory: a row for each lane that has some of it. */
  lanes(m, size, type, offset, changes) {
    const body = el("tbody");
    m.lanes.forEach((pages, lane) => {
      const cells = [];
      for (let i = 0; i < ACROSS; i++) {
        const o = offset + i * size, page = pages.get(Math.floor(o / 64));
        cells.push(page ? this.cell(m, page, o % 64, o, size, type, changes, lane) : el("td.number", {}, "·"));
      }
      if (cells.some((c) => c.textContent !== "·")) body.append(el("tr", {}, el("th", { scope: "row" }, `lane ${lane}`), ...cells));
    });
    if (!body.childElementCount) return el("p.quiet", {}, "Nothing there is written in any lane.");
    return el("table.memory", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "byte"), ...Array.from({ length: ACROSS }, (_, i) => el("th", { scope: "col" }, String(offset + i * size))))), body);
  }

  /** An element. @param {number} k where it lies in its page @param {number} o and in the variable @param {number} lane -1 of memory that lanes share */
  cell(m, page, k, o, size, type, changes, lane) {
    const written = page.subarray(64 + k, 64 + k + size).every(Boolean), now = changes.some((c) => touches(c, o, size, lane));
    const text = written ? value(bitsAt(page, k, size), type) : "·", name = `${m.name}+${o}${lane >= 0 ? ` of lane ${lane}` : ""}`;
    const found = lane < 0 && this.found && this.found.offset < o + size && o < this.found.offset + this.found.bytes;
    return el(`td.number${now ? ".changed" : ""}${found ? ".found" : ""}`, found ? { title: "of the finding" } : {}, written ? link(text, () => this.origin(m, o, size, lane, name), `${name}: ${text}. Go to the step that wrote it`) : text);
  }

  async origin(m, offset, size, lane, name) {
    const key = keyOf({ ...m, kind: lane >= 0 ? "local" : "memory" });
    const test = (c) => (c.kind === "memory" || c.kind === "local") && keyOf(c) === key && touches(c, offset, size, lane);
    this.shown.origin(await this.details[this.shown.active].origin(this.shown.step, test), name);
  }
}

/** Whether a change is of an element's bytes. */
function touches(c, offset, size, lane) {
  return c.offset < offset + size && offset < c.offset + c.size && (lane < 0 || ((c.mask >>> lane) & 1) === 1);
}

/** @param {[string, *]} a @param {[string, *]} b */
function byName(a, b) {
  return a[0].localeCompare(b[0], "en", { numeric: true });
}

/** What a memory or a variable is called. @param {import("./model.js").Run} run @param {*} m */
function title(run, m) {
  if (m.lanes) return `${m.name}, local of ${ctaName(run, m.cta)} warp ${m.warp}`;
  return `${m.name}${m.cta >= 0 ? ` of ${ctaName(run, m.cta)}` : ""}`;
}
