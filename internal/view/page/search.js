// Search: events by name, row or line ("warp 1", "wgmma", "ring.ptx:84"), or a step by its
// number.

import { count } from "./dom.js";

export class Search {
  /** @param {{form: HTMLFormElement, query: HTMLInputElement, hits: HTMLElement, previous: HTMLElement, next: HTMLElement}} parts @param {import("./state.js").Shown} shown */
  constructor(parts, shown) {
    this.parts = parts;
    this.shown = shown;
    this.at = -1;
    parts.query.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.look(), 120);
    });
    parts.form.addEventListener("submit", (e) => {
      e.preventDefault();
      this.enter();
    });
    parts.query.addEventListener("keydown", (e) => {
      if (e.key === "Enter" && e.shiftKey) {
        e.preventDefault();
        this.move(-1);
      }
    });
    parts.previous.addEventListener("click", () => this.move(-1));
    parts.next.addEventListener("click", () => this.move(1));
  }

  enter() {
    clearTimeout(this.timer);
    const text = this.parts.query.value.trim();
    if (/^\d+$/.test(text)) return this.shown.go(Number(text));
    if (text !== this.text) this.look();
    this.move(1);
  }

  look() {
    const { shown } = this;
    this.text = this.parts.query.value.trim();
    this.at = -1;
    shown.found = this.text === "" || /^\d+$/.test(this.text) ? [] : this.matches(this.text.toLowerCase());
    this.say();
    shown.changed("search");
  }

  /** @param {string} text in lower case */
  matches(text) {
    const index = this.shown.active, run = this.shown.run, m = run.marks, has = (s) => s.toLowerCase().includes(text);
    const named = run.strings.map(has), tracks = run.tracks.map((t) => has(run.path(t)));
    const [, file, line] = /^(.*\S):(\d+)$/.exec(text) ?? [];
    const files = run.strings.map((s) => file !== undefined && s.toLowerCase().endsWith(file)), n = Number(line), list = [];
    for (let i = 0; i < m.from.length; i++) {
      if (named[m.name[i]] || tracks[m.track[i]] || (m.line[i] === n && m.file[i] && files[m.file[i] - 1])) list.push(i);
    }
    list.sort((a, b) => m.from[a] - m.from[b] || a - b);
    return list.map((slice) => ({ run: index, slice }));
  }

  /** @param {number} by 1 for the next match, -1 for the previous; the first is the next one from the step on */
  move(by) {
    const { found, step, run } = this.shown;
    if (!found.length) return this.say();
    if (this.at < 0) {
      const i = found.findIndex((f) => run.marks.from[f.slice] + 1 >= step);
      this.at = by > 0 ? Math.max(i, 0) : (i < 0 ? found.length : i) - 1;
    } else this.at += by;
    this.at = (this.at + found.length) % found.length;
    this.shown.activate(found[this.at].run);
    this.shown.select(found[this.at].slice);
    this.say();
  }

  say() {
    const n = this.shown.found.length;
    this.parts.hits.textContent = !this.text || /^\d+$/.test(this.text) ? "" : this.at >= 0 ? `${count(this.at + 1)} of ${count(n)}` : `${count(n)} found`;
  }
}
