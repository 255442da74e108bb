// The lanes of a run: names of rows as buttons in the document, and a canvas beside them.
// Rows scroll as any element does; time is dragged, zoomed by the wheel with Ctrl, and
// driven by keys.

import { clip, el } from "./dom.js";
import { Layout } from "./layout.js";
import { Painter, RULER } from "./paint.js";

/** How far the pointer may move for a press to be a click, in pixels. */
const STILL = 4;

export class Lanes {
  /** @param {HTMLElement} place @param {import("./state.js").Shown} shown @param {import("./theme.js").Theme} theme @param {number} index of the run */
  constructor(place, shown, theme, index) {
    this.shown = shown;
    this.theme = theme;
    this.index = index;
    this.run = shown.runs[index];
    this.layout = new Layout(this.run);
    this.canvas = /** @type {HTMLCanvasElement} */ (el("canvas", { "aria-hidden": "true" }));
    this.names = el("div.names", { role: "group", "aria-label": `Rows of ${this.run.info.name || "the run"}` });
    this.space = el("div.space", {}, el("div.corner", {}, this.run.info.name || this.run.info.schedule), this.names, this.canvas);
    this.scroll = el("div.scroll", { tabindex: "0", role: "group", "aria-label": `Lanes of ${this.run.info.name || this.run.info.schedule}. Tab “In sight” lists the same events.` }, this.space);
    place.append(this.scroll);
    this.painter = new Painter(/** @type {*} */ (this.canvas.getContext("2d", { alpha: false })), this.run);
    this.part = -1;
    this.found = null;
    this.scroll.addEventListener("scroll", () => this.shown.changed("layout"));
    this.scroll.addEventListener("focus", () => shown.activate(index));
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.scroll);
    this.resize();
    shown.listen((changes) => {
      if (changes.has("search")) this.found = shown.found.length ? Uint32Array.from(shown.found.filter((f) => f.run === index).map((f) => f.slice)) : null;
      if (changes.has("select") && shown.active === index && shown.slice >= 0) this.bring(shown.slice);
      this.draw();
    });
  }

  resize() {
    const ratio = devicePixelRatio || 1;
    this.left = this.names.offsetWidth;
    this.width = Math.max(60, this.scroll.clientWidth - this.left);
    this.height = this.scroll.clientHeight;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.painter.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.draw();
  }

  draw() {
    const { shown, layout } = this, active = shown.active === this.index;
    this.space.style.height = `${Math.max(layout.height + RULER + 8, this.height)}px`;
    this.painter.draw({
      width: this.width, height: this.height, from: shown.from, to: shown.to, top: this.scroll.scrollTop, layout, colors: this.theme.colors,
      step: Math.min(shown.step, this.run.steps), slice: active ? shown.slice : -1, arrows: shown.arrows, part: this.part, found: this.found,
      findings: this.run.info.sites.length > 0, missing: this.run.edge ?? null, way: (active && shown.way.length ? shown.way : this.run.way) ?? [], marked: active ? shown.mark : -1,
    });
    this.scroll.classList.toggle("active", active && shown.runs.length > 1);
    this.label();
  }

  /** Shows the names of the rows in sight. They are made anew only if others are in sight. */
  label() {
    const { layout } = this, top = this.scroll.scrollTop, rows = [], start = layout.indexAt(top);
    for (let i = start; i < layout.rows.length && layout.rows[i].y < top + this.height; i++) rows.push(layout.rows[i]);
    const same = this.labelled?.length === rows.length && rows.every((r, i) => r === this.labelled[i]);
    if (same) return;
    const had = this.names.contains(document.activeElement) ? document.activeElement.dataset.track : undefined;
    this.labelled = rows;
    this.names.replaceChildren(...rows.map((r, i) => this.name(r, layout.rows[start + i - 1])));
    if (had !== undefined) this.names.querySelector(`[data-track="${Number(had)}"]`)?.focus();
  }

  /** @param {import("./layout.js").Row} row @param {import("./layout.js").Row|undefined} before */
  name(row, before) {
    const t = row.tracks[0], again = before && before.name === row.name && before.level === row.level && row.tracks.length === 1 && !row.parent;
    const text = row.tracks.length > 1 ? `${t.name} × ${row.tracks.length}` : again ? "″" : t.name;
    const title = [this.run.path(t), t.text, t.unit && `in ${t.unit}`].filter(Boolean).join("\n");
    const inner = row.parent
      ? el("button.row-name", { type: "button", title, "aria-expanded": String(row.open), "data-track": t.index, click: () => this.toggle(row) }, el("span.twist", { "aria-hidden": "true" }, row.open ? "▾" : "▸"), text)
      : el("span.row-name", { title }, text);
    const e = el(`div.name.${row.kind}`, {}, inner);
    e.style.top = `${row.y + RULER}px`;
    e.style.height = `${row.height}px`;
    e.style.paddingLeft = `${8 + row.level * 12}px`;
    return e;
  }

  toggle(row) {
    this.layout.toggle(row);
    this.relaid();
  }

  relaid() {
    this.labelled = undefined;
    this.shown.changed("layout");
  }

  /** Scrolls to the row of a slice, and opens what it lies in. @param {number} slice */
  bring(slice) {
    const track = this.run.tracks[this.run.marks.track[slice]];
    if (this.layout.open(track)) this.labelled = undefined;
    const row = this.layout.rowOf[track.index];
    if (!row) return;
    const top = this.scroll.scrollTop, room = this.scroll.clientHeight - RULER;
    this.space.style.height = `${Math.max(this.layout.height + RULER + 8, this.height)}px`;
    if (row.y < top) this.scroll.scrollTop = Math.max(0, row.y - 8);
    else if (row.y + row.height > top + room) this.scroll.scrollTop = row.y + row.height - room + 8;
  }

  /** @param {number} x of the canvas */
  time(x) {
    return this.shown.from + (x / this.width) * (this.shown.to - this.shown.from);
  }

  listen() {
    const c = this.canvas, s = this.shown;
    let down = null;
    c.addEventListener("pointerdown", (e) => {
      if (e.button !== 0) return;
      c.setPointerCapture(e.pointerId);
      down = { x: e.clientX, y: e.clientY, from: s.from, to: s.to, top: this.scroll.scrollTop, ruler: e.offsetY < RULER, moved: false };
    });
    c.addEventListener("pointermove", (e) => {
      if (!down) return void (c.title = this.hint(e.offsetX, e.offsetY));
      const dx = e.clientX - down.x, dy = e.clientY - down.y;
      down.moved ||= Math.hypot(dx, dy) > STILL;
      if (!down.moved) return;
      if (down.ruler) return s.go(Math.floor(this.time(e.offsetX)) + 1);
      const by = (-dx / this.width) * (down.to - down.from);
      s.see(down.from + by, down.to + by);
      if (e.pointerType === "mouse") this.scroll.scrollTop = down.top - dy;
    });
    const up = (e) => {
      if (down && !down.moved && e.type === "pointerup") this.click(e.offsetX, e.offsetY);
      down = null;
    };
    c.addEventListener("pointerup", up);
    c.addEventListener("pointercancel", up);
    this.scroll.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
  }

  /** @param {WheelEvent} e */
  wheel(e) {
    const s = this.shown;
    if (e.ctrlKey || e.metaKey) {
      e.preventDefault();
      s.zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY / 200))), this.time(e.clientX - this.canvas.getBoundingClientRect().left));
    } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      e.preventDefault();
      s.pan((e.deltaX || e.deltaY) / this.width);
    }
  }

  /** What lies at a point, for a pointer that rests there. */
  hint(x, y) {
    const slice = y < RULER ? -1 : this.pick(this.time(x), y - RULER + this.scroll.scrollTop);
    if (slice < 0) return "";
    const f = this.run.facts(slice), lines = [`${clip(f.name, 200)}, ${f.end - f.start > 1 ? `steps ${f.start + 1} to ${f.end}` : `step ${f.end}`}`, clip(this.run.path(f.track), 200)];
    if (f.place) lines.push(`${clip(f.place.file, 200)}:${f.place.line}`);
    return [...lines, ...this.run.meetings(slice).map((x) => this.run.meetingWords(x))].join("\n");
  }

  click(x, y) {
    const s = this.shown, time = this.time(x);
    s.activate(this.index);
    if (y < RULER) return s.go(Math.floor(time) + 1);
    const slice = this.pick(time, y - RULER + this.scroll.scrollTop);
    if (slice >= 0) s.select(slice, this.run.marks.to[slice] - this.run.marks.from[slice] > 1 ? Math.floor(time) + 1 : undefined);
    else s.go(Math.floor(time) + 1);
  }

  /** The slice at a time and height, or -1: the outermost of its track, and of stages the operation. */
  pick(time, y) {
    const row = this.layout.rowAt(y);
    if (!row) return -1;
    const within = (t) => {
      const b = this.layout.strip(row, t);
      return y >= b.y && y < b.y + b.height;
    };
    const track = row.tracks.find(within) ?? row.tracks[0], lane = track.lanes[0];
    if (!lane) return -1;
    const at = this.run.at(lane, time);
    if (at >= 0) return at;
    // A slice narrower than a few pixels is hard to hit: the nearest will do.
    const near = (3 / this.width) * (this.shown.to - this.shown.from), i = this.run.after(lane, time - near);
    return i < lane.length && this.run.marks.from[lane[i]] <= time + near ? lane[i] : -1;
  }
}
