// What the page shows now: the step, the time in sight, the selection. Whoever changes it
// says so here; whoever shows it is told once a frame.

import { brief, way } from "./way.js";

/** @typedef {"step"|"range"|"select"|"layout"|"theme"|"search"|"finding"|"run"|"note"} Change */

export class Shown {
  /** @param {import("./model.js").Run[]} runs */
  constructor(runs) {
    this.runs = runs;
    this.active = 0; // which of them the code and the tabs show
    this.step = 0;
    this.from = 0; // of the time in sight, in steps
    this.to = Math.max(1, ...runs.map((r) => r.steps));
    this.slice = -1; // selected, of the active run
    this.arrows = true;
    this.finding = 0; // index in the report
    this.mark = -1; // a slice that others are compared with, of the active run
    /** @type {import("./way.js").Link[]} */
    this.way = []; // from the marked slice to the selected one, or back
    /** @type {{run: number, slice: number}[]} */
    this.found = []; // what the search found
    this.note = ""; // what the page has to say beside the step
    this.listeners = [];
    this.changes = new Set();
  }

  get run() {
    return this.runs[this.active];
  }

  get longest() {
    return Math.max(1, ...this.runs.map((r) => r.steps));
  }

  /** @param {(changes: Set<Change>) => void} tell */
  listen(tell) {
    this.listeners.push(tell);
  }

  /** @param {...Change} changes */
  changed(...changes) {
    if (this.changes.size === 0) requestAnimationFrame(() => this.tell());
    for (const c of changes) this.changes.add(c);
  }

  tell() {
    const changes = this.changes;
    this.changes = new Set();
    for (const f of this.listeners) f(changes);
  }

  /** Goes to a step, and brings it in sight. @param {number} step */
  go(step) {
    this.step = Math.max(0, Math.min(Math.round(step) || 0, this.run.steps));
    this.slice = this.run.stepEvent(this.step);
    this.compare();
    this.reveal(this.step - 1, this.step);
    this.changed("step", "select");
  }

  /**
   * Goes to the step that wrote a value; says so if there is none, or it is not known. Of a
   * register the data has changes alone: a later step may have written the same.
   * @param {{step: number, from: number}} found as Detail.origin gives it @param {string} what @param {boolean} changed
   */
  origin(found, what, changed = false) {
    if (found.step) {
      this.go(found.step);
      this.say(changed ? `${what} has this value since step ${found.step}` : `step ${found.step} wrote ${what}`);
    } else this.say(found.from <= 1 ? `no step ${changed ? "changed" : "wrote"} ${what}: it is so from the start` : `${what} has its value from before step ${found.from}, where this page’s states begin`);
  }

  /** Marks an event, to be compared with others. @param {number} slice or -1 */
  setMark(slice) {
    this.mark = slice;
    this.compare();
    this.changed("select");
  }

  /** Looks for the way between the marked event and the selected one. */
  compare() {
    const { run, mark, slice } = this;
    this.way = [];
    this.far = false; // too much lies between them
    if (mark < 0 || slice < 0 || mark === slice) return;
    const found = run.marks.from[mark] < run.marks.from[slice] ? way(run, mark, slice) : way(run, slice, mark) ?? way(run, mark, slice);
    this.far = found === undefined;
    if (found) this.way = brief(found);
  }

  /** @param {string} note */
  say(note) {
    this.note = note;
    this.changed("note");
  }

  /** Selects a slice, and goes to the step in which it begins. @param {number} slice @param {number} [step] another one */
  select(slice, step) {
    const m = this.run.marks;
    this.step = Math.max(0, Math.min(step ?? m.from[slice] + (m.to[slice] > m.from[slice] ? 1 : 0), this.run.steps));
    this.slice = slice;
    this.compare();
    this.reveal(this.step - 1, this.step);
    this.changed("step", "select");
  }

  /** @param {number} index of a run */
  activate(index) {
    if (index === this.active) return;
    this.active = index;
    this.slice = this.mark = -1;
    this.way = [];
    this.step = Math.min(this.step, this.run.steps);
    this.changed("run", "step", "select");
  }

  /** Moves the time in sight, if need be, so that a stretch lies in it. @param {number} a @param {number} b */
  reveal(a, b) {
    const width = this.to - this.from;
    if (a >= this.from + width * 0.02 && b <= this.to - width * 0.02) return;
    if (b - a > width * 0.9) return this.see(a - (b - a) * 0.2, b + (b - a) * 0.2);
    if (a < this.from || b > this.to) {
      const mid = (a + b) / 2;
      return this.see(mid - width / 2, mid + width / 2);
    }
  }

  /** Sets the time in sight. @param {number} from @param {number} to */
  see(from, to) {
    const all = this.longest, margin = Math.max(0.5, all * 0.02);
    const width = Math.min(Math.max(to - from, 4), all + 2 * margin);
    const mid = (from + to) / 2;
    const start = Math.max(-margin, Math.min(mid - width / 2, all + margin - width));
    if (start === this.from && start + width === this.to) return;
    this.from = start;
    this.to = start + width;
    this.changed("range");
  }

  /** @param {number} factor above 1 to see more @param {number} [at] the time that stays where it is */
  zoom(factor, at = (this.from + this.to) / 2) {
    this.see(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  /** @param {number} part of the width */
  pan(part) {
    const by = (this.to - this.from) * part;
    this.see(this.from + by, this.to + by);
  }

  fit() {
    this.see(0, this.longest);
  }
}
