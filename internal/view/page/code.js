// PTX and source side by side. Only the lines in sight are in the document, so a file of ten
// megabytes costs no more than one of a page; a line that is too long is cut, and says so.

import { clip, el, ranges } from "./dom.js";
import { first } from "./model.js";
import { ctaName } from "./words.js";

const LINE = 18, LONGEST = 400;
const TOKEN = /(\/\/.*$)|(^\s*(?:@!?%\w+\s+)?)([a-z][\w]*(?:[.:]+[\w]+)*)|(%[\w.]+)|(\b(?:0[xXfFdD][0-9a-fA-F]+|\d+)\b)/g;

/** Lines of PTX that execute nothing and say nothing of the kernel. */
const DEBUG = /^\s*(\.loc\b|\.file\b|\/\/ (begin|end) inline asm)/;

/** Splits a line of PTX into spans, for colours. @param {string} line */
function spans(line) {
  const out = [];
  let at = 0;
  for (const m of line.matchAll(TOKEN)) {
    if (m.index > at) out.push(line.slice(at, m.index));
    if (m[3] !== undefined) {
      if (m[2]) out.push(m[2]);
      out.push(el("span.opcode", {}, m[3]));
    } else out.push(el(m[1] ? "span.comment" : m[4] ? "span.register" : m[5] ? "span.number" : "span", {}, m[0]));
    at = m.index + m[0].length;
  }
  out.push(line.slice(at));
  return out;
}

/** A Listing shows one of the texts of a kind. */
class Listing {
  /** @param {string} title @param {*[]} texts @param {(file: string, line: number) => void} jump */
  constructor(title, texts, jump) {
    this.texts = texts;
    this.jump = jump;
    this.text = texts[0];
    this.current = this.caret = 0;
    this.marks = new Map();
    /** @type {Map<string, string>} which warps stand at a line */
    this.here = new Map();
    this.pick = /** @type {*} */ (el("select", { "aria-label": `${title} file`, change: () => this.open(this.pick.value, 0) }));
    for (const t of texts) this.pick.append(el("option", { value: t.file }, clip(t.file, 120)));
    this.lines = el("div.code-lines");
    this.space = el("div.code-space", {}, this.lines);
    this.scroll = el("div.code-scroll", { tabindex: "0", role: "group", "aria-label": `${title}. Arrow keys move a line, Enter goes to the next step that executes it.`, scroll: () => this.draw(), keydown: (e) => this.key(e) }, this.space);
    this.note = el("p.quiet.absent");
    this.root = el("div.listing", {}, el("div.listing-head", {}, el("h2", {}, title), this.pick), this.note, this.scroll);
    new ResizeObserver(() => this.draw()).observe(this.scroll);
    this.open(this.text?.file, 0);
  }

  /** Shows a file at a line; line 0 marks none. @param {string|undefined} file @param {number} line */
  open(file, line) {
    const text = this.texts.find((t) => t.file === file);
    if (text && (text !== this.text || !this.rows)) {
      this.text = text;
      this.rows = text.text.split("\n");
      this.pick.value = text.file;
      this.space.style.height = `${this.rows.length * LINE + 8}px`;
    }
    this.note.textContent = text ? "" : file ? `${clip(file, 200)}${line ? `:${line}` : ""} could not be read here` : "";
    this.note.hidden = Boolean(text) || !file;
    this.current = text ? line : 0;
    if (this.current) {
      this.caret = this.current;
      this.show(this.current);
    }
    this.draw();
  }

  /** Scrolls a line into sight. @param {number} line */
  show(line) {
    const y = (line - 1) * LINE, room = this.scroll.clientHeight;
    if (y < this.scroll.scrollTop + LINE || y > this.scroll.scrollTop + room - 3 * LINE) this.scroll.scrollTop = Math.max(0, y - room / 2.5);
  }

  draw() {
    if (!this.rows) return;
    const a = Math.max(0, Math.floor(this.scroll.scrollTop / LINE) - 2), b = Math.min(this.rows.length, a + Math.ceil(this.scroll.clientHeight / LINE) + 5);
    const list = [];
    for (let i = a; i < b; i++) list.push(this.line(i + 1));
    this.lines.style.top = `${a * LINE}px`;
    this.lines.replaceChildren(...list);
  }

  line(n) {
    const text = clip(this.rows[n - 1], LONGEST), site = this.marks.get(`${this.text.file}:${n}`);
    const ptx = this.text.kind === "ptx", e = el("div.code-line", { click: () => this.jump(this.text.file, n), title: "Go to the next step that executes this line" }, el("span.line-number", {}, n), el("span.code-text", {}, ...(ptx ? spans(text) : [text])));
    if (ptx && DEBUG.test(text)) e.classList.add("debug");
    if (n === this.current) {
      e.classList.add("current");
      e.setAttribute("aria-current", "true");
    }
    if (n === this.caret) e.classList.add("caret");
    if (site) {
      e.classList.add("at-site");
    }
    // Tags stand at the right edge of what is in sight, also of a line that is longer.
    const warps = this.here.get(`${this.text.file}:${n}`);
    if (site || warps) e.append(el("span.code-tags", {}, site ? el("span.site-tag", { title: "the finding’s place of this number" }, site) : null, site && warps ? " " : null, warps ? el("span.warps-here", { title: "stand here after the step" }, warps) : null));
    return e;
  }

  key(e) {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 }[e.key];
    if (!this.rows || e.ctrlKey || e.metaKey || e.altKey) return;
    if (by) this.caret = Math.max(1, Math.min(this.rows.length, (this.caret || this.current || 1) + by));
    else if (e.key === "Enter" && this.caret) return this.jump(this.text.file, this.caret);
    else return;
    e.preventDefault();
    e.stopPropagation();
    this.show(this.caret);
    this.draw();
  }
}

export class Code {
  /** @param {HTMLElement} place @param {import("./state.js").Shown} shown @param {*} about @param {import("./detail.js").Detail[]} details */
  constructor(place, shown, about, details) {
    this.shown = shown;
    this.details = details;
    this.texts = about.texts ?? [];
    const ptx = this.texts.filter((t) => t.kind === "ptx"), sources = this.texts.filter((t) => t.kind !== "ptx");
    this.ptx = new Listing("PTX", ptx, (file, line) => this.next(file, line));
    this.source = new Listing("Source", sources, (file, line) => this.nextSource(file, line));
    this.report = about.report;
    this.mark();
    place.append(this.ptx.root, this.source.root);
    const any = ptx.some((t) => t.loc?.length) || sources.length > 0;
    this.source.root.hidden = !any;
    place.classList.toggle("alone", !any);
    shown.listen((changes) => {
      if (changes.has("finding")) this.mark();
      if (changes.has("step") || changes.has("run")) this.stand();
      if (changes.has("step") || changes.has("select") || changes.has("run") || changes.has("finding")) this.show();
    });
  }

  /** Marks the lines of the finding's places. */
  mark() {
    for (const l of [this.ptx, this.source]) l.marks.clear();
    const add = (marks, p, text) => {
      const key = `${p.file}:${p.line}`;
      marks.set(key, marks.has(key) ? `${marks.get(key)}, ${text}` : text);
    };
    (this.report.findings[this.shown.finding]?.sites ?? []).forEach((s, i) => {
      const text = String(i + 1);
      if (s.ptx) add(this.ptx.marks, s.ptx, text);
      for (const p of s.source ?? []) add(this.source.marks, p, text);
    });
  }

  show() {
    const { run, slice, step } = this.shown, place = this.place(slice) ?? this.place(run.stepEvent(step));
    if (!place) {
      this.ptx.current = this.source.current = 0;
      this.ptx.draw();
      this.source.draw();
      return;
    }
    this.ptx.open(place.file, place.line);
    const loc = this.ptx.texts.find((t) => t.file === place.file)?.loc ?? [], i = first(loc.length, (k) => loc[k][0] > place.line) - 1;
    if (i >= 0 && loc[i][2] > 0) this.source.open(loc[i][1], loc[i][2]);
    else this.source.open(undefined, 0);
  }

  /** Notes at which lines the warps stand after the step, where the data tells. */
  async stand() {
    const { run, step, active } = this.shown;
    this.ptx.here.clear();
    const w = await this.details[active].window(step);
    if (!w || step !== this.shown.step || active !== this.shown.active) return;
    /** @type {Map<string, Map<number, number[]>>} warps by CTA, at each line */
    const at = new Map();
    for (const lanes of w.state(step).lanes.values()) {
      for (const x of lanes) {
        const key = `${this.texts[x.file]?.file}:${x.line}`, ctas = at.get(key) ?? new Map();
        ctas.set(x.cta, [...(ctas.get(x.cta) ?? []), x.warp]);
        at.set(key, ctas);
      }
    }
    for (const [key, ctas] of at) {
      const list = [...ctas].slice(0, 4).map(([cta, warps]) => `${ctas.size > 1 || cta > 0 ? `${ctaName(run, cta)} ` : ""}${warps.length > 1 ? "warps" : "warp"} ${ranges(warps)}`);
      this.ptx.here.set(key, `◂ ${list.join(", ")}${ctas.size > 4 ? ` and of ${ctas.size - 4} CTAs more` : ""}`);
    }
    this.ptx.draw();
  }

  /** Where a slice's instruction stands. @param {number} slice */
  place(slice) {
    return slice >= 0 ? this.shown.run.place(slice) : null;
  }

  /** Goes to the next step that executes a line of PTX, from the beginning if there is none later. */
  next(file, line) {
    this.jump((f, l) => f === file && l === line, `${file}:${line}`);
  }

  /** The same for a line of source: any instruction that is of it. */
  nextSource(file, line) {
    const sets = new Map();
    for (const t of this.ptx.texts) {
      const loc = t.loc ?? [];
      sets.set(t.file, (l) => {
        const i = first(loc.length, (k) => loc[k][0] > l) - 1;
        return i >= 0 && loc[i][1] === file && loc[i][2] === line;
      });
    }
    this.jump((f, l) => sets.get(f)?.(l) ?? false, `${file}:${line}`);
  }

  jump(test, name) {
    const { run, step } = this.shown;
    for (let i = 1; i <= run.steps; i++) {
      const n = ((step + i - 1) % run.steps) + 1, s = run.stepSlice(n), p = s >= 0 ? run.place(s) : null;
      if (p && test(p.file, p.line)) return this.shown.go(n);
    }
    this.shown.say(`no step of this run executes ${clip(name, 200)}`);
  }
}
