// The tab of memory: what the run's variables and buffers hold at the step. A click on an
// element goes to the step that wrote it.

import { clip, count, el, link } from "./dom.js";
import { TYPES, bitsAt, sizeOf, value } from "./values.js";

const ROWS = 64, ACROSS = 8;

/** The type by which an instruction of PTX accesses elements of a size, or "". @param {string|undefined} text @param {number} elem */
function typeOf(text, elem) {
  const type = /^(?:@!?%?\w+\s+)?[\w.:]+\.(\w+)\s/.exec(text ?? "")?.[1] ?? "";
  return TYPES.includes(type) && (!elem || sizeOf(type) === elem) ? type : "";
}

/** The key of a place's memory, as states have it. @param {*} memory of a site @param {number[]} grid */
function keyOf(memory, grid) {
  const [x, y, z] = memory.cta ?? [0, 0, 0], [gx, gy] = grid ?? [1, 1, 1];
  return `${memory.space === "global" ? -1 : x + gx * (y + gy * z)}/${memory.name}`;
}

export class Memory {
  /** @param {import("./state.js").Shown} shown @param {import("./detail.js").Detail[]} details @param {*} about the page's data @param {() => void} again */
  constructor(shown, details, about, again) {
    this.shown = shown;
    this.details = details;
    this.report = about.report;
    this.known = new Map((about.memories ?? []).map((m) => [m.name, m]));
    this.again = again;
    this.picked = "";
    this.offset = 0;
    this.as = ""; // a type; "" for the memory's own
  }

  /** @param {*} w the window of the detail @returns {Node[]} */
  show(w) {
    const { step } = this.shown, state = w.state(step), changes = step >= w.from ? w.changes(step).filter((c) => c.kind === "memory") : [];
    const keys = [...state.memory.keys()].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    if (!keys.length) return [el("p.quiet", {}, "No memory that these steps touch is written yet.")];
    const place = this.report.findings[this.shown.finding]?.sites.find((s) => s.memory && state.memory.has(keyOf(s.memory, this.report.launch.grid))), site = place?.memory, of = site && keyOf(site, this.report.launch.grid);
    const auto = changes.length ? `${changes[0].cta}/${changes[0].name}` : of ?? keys[0];
    const key = state.memory.has(this.picked) ? this.picked : auto, m = state.memory.get(key), about = this.known.get(m.name) ?? {};
    const touched = this.picked !== "" ? this.offset : changes[0]?.offset ?? (auto === of ? site.offset : 0);
    const title = (k) => { const x = state.memory.get(k); return `${x.name}${x.cta >= 0 ? ` of CTA ${x.cta}` : ""}`; };
    const pick = /** @type {*} */ (el("select", { change: () => { this.picked = pick.value; this.offset = 0; this.again(); } }, el("option", { value: "" }, "the step’s, or the finding’s"), ...keys.map((k) => el("option", { value: k, selected: k === this.picked }, clip(title(k), 100)))));
    const used = key === of ? typeOf(place.ptx?.text, about.elem) : "";
    const own = about.type || used || `b${(about.elem > 0 && about.elem <= 8 ? about.elem : 4) * 8}`, type = this.as || own, size = sizeOf(type);
    const as = /** @type {*} */ (el("select", { change: () => { this.as = as.value; this.again(); } }, el("option", { value: "" }, own), ...TYPES.map((t) => el("option", { value: t, selected: t === this.as }, t))));
    const at = /** @type {*} */ (el("input", { type: "number", min: 0, step: size, value: touched, "aria-label": "First byte", change: () => { this.offset = Math.max(0, Number(at.value) || 0); this.picked = key; this.again(); } }));
    const head = el("div.row", {}, el("label.pick", {}, "Memory ", pick), el("label.pick", {}, "from byte ", at), el("label.pick", {}, "as ", as), el("span.quiet", {}, `${clip(title(key), 200)} after step ${count(step)}, ${about.space ?? ""} memory; a click goes to the step that wrote one`));
    return [head, this.table(m, size, type, touched, changes, key === of ? site : null)];
  }

  table(m, size, type, offset, changes, site) {
    const per = size * ACROSS, pages = [...m.pages.keys()].sort((a, b) => a - b), body = el("tbody");
    let rows = 0, last = -1;
    for (const p of pages) {
      for (let at = p * 64; at < p * 64 + 64 && rows < ROWS; at += per) {
        if (at + per <= offset) continue;
        const page = m.pages.get(p), line = at - p * 64;
        if (!page.subarray(64 + line, 64 + Math.min(line + per, 64)).some(Boolean)) continue;
        if (last >= 0 && at !== last) body.append(el("tr", {}, el("td.quiet", { colspan: ACROSS + 1 }, "…")));
        body.append(this.row(m, page, line, at, size, type, changes, site));
        last = at + per;
        rows++;
      }
    }
    if (!rows) return el("p.quiet", {}, "Nothing there is written, or the steps do not touch it. What an mbarrier counts is in the tab Barriers.");
    return el("table.memory", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "byte"), ...Array.from({ length: ACROSS }, (_, i) => el("th", { scope: "col" }, `+${i * size}`)))), body);
  }

  row(m, page, line, at, size, type, changes, site) {
    const cells = [];
    for (let i = 0; i < ACROSS && line + (i + 1) * size <= 64; i++) {
      const k = line + i * size, o = at + i * size, written = page.subarray(64 + k, 64 + k + size).every(Boolean);
      const now = changes.some((c) => c.name === m.name && c.cta === m.cta && c.offset < o + size && o < c.offset + c.size);
      const text = written ? value(bitsAt(page, k, size), type) : "·";
      const found = site && site.offset < o + size && o < site.offset + site.bytes;
      cells.push(el(`td.number${now ? ".changed" : ""}${found ? ".found" : ""}`, found ? { title: "of the finding" } : {}, written ? link(text, () => this.origin(m, o, size), `${m.name}+${o}: ${text}. Go to the step that wrote it`) : text));
    }
    return el("tr", {}, el("th", { scope: "row" }, String(at)), ...cells);
  }

  async origin(m, offset, size) {
    const test = (c) => c.kind === "memory" && c.name === m.name && c.cta === m.cta && c.offset < offset + size && offset < c.offset + c.size;
    this.shown.origin(await this.details[this.shown.active].origin(this.shown.step, test), `${m.name}+${offset}`);
  }
}
