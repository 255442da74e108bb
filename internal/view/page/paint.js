// Draws rows of a run on a canvas. It draws what is in sight and no more: where several
// slices share a column of pixels it draws columns, so that a frame costs what the screen
// is wide, not what the run is long.

import { family } from "./family.js";
import { first } from "./model.js";

const FONT = "11px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const STAGES = { "source not read": "stage-0", "source read": "stage-1", "written, not signalled": "stage-2" };

/** More arrows than this in sight are a tangle: then only the selection's are drawn. */
const MOST_ARROWS = 150;

export const RULER = 24;

/** A Painter draws one run. */
export class Painter {
  /** @param {CanvasRenderingContext2D} ctx @param {import("./model.js").Run} run */
  constructor(ctx, run) {
    this.ctx = ctx;
    this.run = run;
    ctx.font = FONT;
    this.letter = ctx.measureText("0").width || 6.6;
    /** The colour of each string as a slice's name, by its category. */
    this.hues = run.strings.map((s) => family(s));
    this.stages = run.strings.map((s) => STAGES[s] ?? "op");
    this.parity = run.strings.map((s) => (/^(phase|generation) \d*[13579]$/.test(s) ? "phase-1" : "phase-0"));
    this.kinds = run.strings.map((s) => (["step", "wait", "operation", "stage", "phase", "generation", "access", "finding", "run"].includes(s) ? s : "operation"));
  }

  /** The custom property that a slice is filled with. @param {number} slice */
  hue(slice) {
    const m = this.run.marks, name = m.name[slice];
    switch (this.kinds[m.category[slice]]) {
      case "step": return this.hues[name];
      case "wait": return "wait";
      case "stage": return this.stages[name];
      case "phase":
      case "generation": return this.parity[name];
      case "access": return "memory";
      case "run": return "run";
      case "finding": return "finding";
    }
    return "op";
  }

  /**
   * @param {Object} view
   * @param {number} view.width @param {number} view.height of the canvas, in CSS pixels
   * @param {number} view.from @param {number} view.to the time in sight
   * @param {number} view.top how far the rows are scrolled
   * @param {import("./layout.js").Layout} view.layout
   * @param {Object<string, string>} view.colors
   * @param {number} view.step @param {number} view.slice the selected one, or -1
   * @param {boolean} view.arrows
   * @param {boolean} view.findings draw the finding's places
   * @param {*} view.missing where the order that is missing leads from and to, or null
   * @param {import("./way.js").Link[]} view.way to draw
   * @param {number} view.marked the slice that is marked, or -1
   * @param {number} view.part where the runs part, or -1
   * @param {Uint32Array|null} view.found slices that the search found, sorted
   */
  draw(view) {
    this.v = view;
    this.scale = view.width / (view.to - view.from);
    const { ctx } = this, { layout, top, height, width, colors } = view;
    ctx.font = FONT;
    ctx.textBaseline = "middle";
    ctx.fillStyle = colors.ground;
    ctx.fillRect(0, 0, width, height);
    this.cursor();
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, RULER, width, height - RULER);
    ctx.clip();
    ctx.translate(0, RULER - top);
    for (let i = layout.indexAt(top); i < layout.rows.length && layout.rows[i].y < top + height; i++) this.row(layout.rows[i]);
    if (view.found?.length) this.marked(view.found);
    this.arrows();
    if (view.way?.length) this.way(view.way);
    if (view.slice >= 0) this.outline(view.slice, colors.focus, 2);
    if (view.marked >= 0) this.outline(view.marked, colors.good, 2);
    if (view.findings) this.finding();
    ctx.restore();
    if (this.run.info.cut) this.cut();
    this.ruler();
  }

  /** The end of a run of which the page shows no more: behind it, lanes are unknown, not empty. */
  cut() {
    const { width, height, colors } = this.v, x = this.x(this.run.steps), text = this.run.steps ? "cut: the run goes on" : "no run";
    if (x > width + 2) return;
    const left = Math.max(x, 0);
    this.ctx.fillStyle = colors.wait;
    this.ctx.fillRect(left, RULER, width - left, height - RULER);
    this.hatch(left, RULER, width - left, height - RULER);
    this.ctx.fillStyle = colors.finding;
    this.ctx.fillRect(x - 2, 0, 2, height);
    this.tag(text, Math.max(x - text.length * this.letter / 2 - 10, 0), height - 12);
  }

  x(time) {
    return (time - this.v.from) * this.scale;
  }

  row(row) {
    const { ctx } = this, { colors, width, layout } = this.v;
    ctx.fillStyle = colors.line;
    ctx.fillRect(0, row.y + row.height - 1, width, 1);
    for (const t of row.tracks) {
      const { y, height } = layout.strip(row, t);
      if (t.counter) this.counter(t, y, height);
      const split = t.kind === "op" && t.lanes.length > 1 && row.tracks.length === 1;
      t.lanes.forEach((lane, depth) => {
        if (depth === 0) this.lane(lane, y, split ? height - 6 : height);
        else if (split) this.lane(lane, y + height - 5, 5);
      });
      this.instants(t, y, height);
    }
  }

  /** Draws a lane's slices. @param {Int32Array} lane @param {number} y @param {number} height */
  lane(lane, y, height) {
    const { run } = this, { from, to, width } = this.v, m = run.marks;
    const a = run.after(lane, from);
    let b = first(lane.length, (i) => m.from[lane[i]] >= to);
    if (b - a > width) return this.columns(lane, a, y, height);
    const { ctx } = this, { colors } = this.v;
    for (let i = a; i < b; i++) {
      const s = lane[i], x = this.x(m.from[s]), right = this.x(m.to[s]);
      const left = Math.max(x, -2), w = Math.max(Math.min(right, width + 2) - left - (right - x > 3 ? 1 : 0), 1);
      const hue = this.hue(s);
      ctx.fillStyle = colors[hue];
      ctx.fillRect(left, y, w, height);
      if (hue === "wait" && w > 6) this.hatch(left, y, w, height);
      if (w > this.letter * 3 && height >= 11) this.label(run.strings[m.name[s]], left, w, y + height / 2, hue);
    }
  }

  /** A wait is hatched: nothing is done in it. */
  hatch(x, y, w, h) {
    const { ctx } = this;
    ctx.save();
    ctx.beginPath();
    ctx.rect(x, y, w, h);
    ctx.clip();
    ctx.strokeStyle = this.v.colors.ground;
    ctx.globalAlpha = 0.35;
    ctx.beginPath();
    for (let i = x - h - (x % 8); i < x + w; i += 8) {
      ctx.moveTo(i, y + h);
      ctx.lineTo(i + h, y);
    }
    ctx.stroke();
    ctx.restore();
  }

  label(text, x, w, y, hue) {
    const room = Math.floor((w - 6) / this.letter);
    if (room < Math.min(4, text.length)) return;
    const { ctx } = this;
    ctx.fillStyle = hue === "run" || hue === "wait" ? this.v.colors.ink : this.v.colors["on-fill"];
    ctx.fillText(text.length <= room ? text : `${text.slice(0, room - 1)}…`, x + 3, y + 0.5);
  }

  /** Draws a lane with many slices a pixel: a column is as strong as it is full. */
  columns(lane, a, y, height) {
    const { ctx, run } = this, { from, width, colors } = this.v, m = run.marks, per = 1 / this.scale;
    let i = a, start = 0, fill = "", strength = 0;
    const flush = (x) => {
      if (fill) {
        ctx.globalAlpha = strength;
        ctx.fillStyle = fill;
        ctx.fillRect(start, y, x - start, height);
      }
    };
    for (let x = 0; x < width; x++) {
      const t = from + x * per, end = t + per;
      i = gallop(lane, i, (s) => m.to[s] > t);
      let color = "", alpha = 0;
      if (i < lane.length && m.from[lane[i]] < end) {
        const j = gallop(lane, i, (s) => m.from[s] >= end);
        const full = Math.min(1, ((j - i) * this.usual(lane, i, j)) / per);
        color = colors[this.hue(lane[i])];
        alpha = 0.4 + Math.round(full * 5) * 0.12;
      }
      if (color !== fill || alpha !== strength) {
        flush(x);
        start = x;
        fill = color;
        strength = alpha;
      }
    }
    flush(width);
    ctx.globalAlpha = 1;
  }

  /** How long slices of a lane are, as three of them tell. @param {Int32Array} lane @param {number} i @param {number} j behind the last */
  usual(lane, i, j) {
    const m = this.run.marks, length = (k) => m.to[lane[k]] - m.from[lane[k]];
    return (length(i) + length((i + j) >> 1) + length(j - 1)) / 3;
  }

  /** Draws a counter: how high its values stand, of the most that they reach. */
  counter(track, y, height) {
    const { ctx, run } = this, { from, to, width, colors } = this.v, most = Math.max(track.most, 1);
    const n = track.last - track.first;
    const rise = (v) => (Math.max(v, 0) / most) * (height - 2);
    let i = track.first + first(n, (k) => run.times[track.first + k] > from) - 1;
    const end = track.first + first(n, (k) => run.times[track.first + k] >= to);
    ctx.fillStyle = colors.counter;
    if (end - i <= width) {
      for (; i < end; i++) {
        if (i < track.first) continue;
        const x = Math.max(this.x(run.times[i]), 0), right = i + 1 < track.last ? Math.min(this.x(run.times[i + 1]), width) : width;
        const h = rise(run.values[i]);
        ctx.globalAlpha = 0.45;
        ctx.fillRect(x, y + height - h, right - x, h);
        ctx.globalAlpha = 1;
        ctx.fillRect(x, y + height - h - 1, right - x, 1.5);
        if (right - x > this.letter * (String(run.values[i]).length + 1)) {
          this.number(run.values[i], x + 3, y + height / 2);
          ctx.fillStyle = colors.counter;
        }
      }
      return;
    }
    const per = 1 / this.scale;
    i = Math.max(i, track.first);
    for (let x = 0; x < width; x++) {
      const until = from + (x + 1) * per;
      const j = track.first + first(n, (k) => run.times[track.first + k] >= until);
      const h = rise(j > i ? run.largest(i, j) : run.values[Math.max(j - 1, track.first)]);
      ctx.globalAlpha = 0.6;
      ctx.fillRect(x, y + height - h - 1, 1, h + 1);
      i = j;
    }
    ctx.globalAlpha = 1;
  }

  /** Writes a value, readable over the edge of its area. */
  number(value, x, y) {
    const { ctx } = this, { colors } = this.v;
    ctx.lineJoin = "round";
    ctx.lineWidth = 3;
    ctx.strokeStyle = colors.ground;
    ctx.strokeText(String(value), x, y);
    ctx.fillStyle = colors.ink;
    ctx.fillText(String(value), x, y);
  }

  instants(track, y, height) {
    const m = this.run.marks, { ctx } = this, { from, to, colors, width } = this.v, list = track.instants;
    const a = first(list.length, (i) => m.from[list[i]] >= from), b = first(list.length, (i) => m.from[list[i]] > to);
    ctx.fillStyle = colors.finding;
    for (let i = a, n = 0; i < b && n < width; i++, n++) ctx.fillRect(this.x(m.from[list[i]]) - 1, y, 2, height);
  }

  /** Where a slice is drawn, or null if its track has no row. @param {number} slice */
  box(slice) {
    const { layout } = this.v, m = this.run.marks, track = this.run.tracks[m.track[slice]], row = layout.rowOf[track.index];
    if (!row) return null;
    const { y, height } = layout.strip(row, track);
    return { x: this.x(m.from[slice]), right: this.x(m.to[slice]), y, height };
  }

  outline(slice, color, width) {
    const b = this.box(slice);
    if (!b) return;
    const { ctx } = this, x = Math.max(b.x, -4), right = Math.min(b.right, this.v.width + 4);
    ctx.strokeStyle = color;
    ctx.lineWidth = width;
    ctx.strokeRect(x, b.y - 1, Math.max(right - x, 2), b.height + 2);
  }

  /** Underlines what the search found. @param {Uint32Array} found */
  marked(found) {
    const m = this.run.marks, { from, to, colors, width } = this.v;
    const a = first(found.length, (i) => m.from[found[i]] >= from - 1);
    let last = -2;
    for (let i = a, n = 0; i < found.length && m.from[found[i]] < to && n < width * 2; i++, n++) {
      const b = this.box(found[i]);
      if (!b || (b.x - last < 0.5 && n > width)) continue;
      last = b.x;
      this.ctx.fillStyle = colors.focus;
      this.ctx.fillRect(b.x, b.y + b.height - 2, Math.max(b.right - b.x - 1, 2), 3);
    }
  }

  /** Arrows in sight: of the selection always, of all if they are few. */
  arrows() {
    const { run } = this, { from, to, slice, arrows, colors } = this.v;
    const chosen = new Set();
    if (slice >= 0) {
      const f = run.facts(slice);
      for (const a of [...f.from, ...f.to]) if (run.marks.leaves[a] && run.marks.ends[a]) chosen.add(a);
    }
    if (arrows) {
      for (let side = 0; side < 2; side++) {
        const list = run.arrowsBy[side], times = run.arrowTimes[side];
        const a = first(list.length, (i) => times[list[i]] >= from), b = first(list.length, (i) => times[list[i]] > to);
        if (b - a > MOST_ARROWS) continue;
        for (let i = a; i < b; i++) if (!chosen.has(list[i]) && (side === 0 || times0(run, list[i]) < from)) this.arrow(list[i], colors.arrow, 1, 0.55);
      }
    }
    for (const a of chosen) this.arrow(a, colors.focus, 2, 1);
  }

  arrow(id, color, width, alpha) {
    const e = this.run.arrowEnds(id), a = this.box(e.source), b = this.box(e.target);
    if (!a || !b || (a.y === b.y && e.leaves === e.ends)) return;
    const down = b.y > a.y;
    this.curve(this.x(e.leaves), down ? a.y + a.height : a.y, this.x(e.ends), down ? b.y : b.y + b.height, color, width, alpha, []);
  }

  curve(x1, y1, x2, y2, color, width, alpha, dash) {
    const { ctx } = this, bend = Math.max(8, Math.abs(y2 - y1) / 3) * (y2 > y1 ? 1 : -1);
    ctx.globalAlpha = alpha;
    ctx.strokeStyle = ctx.fillStyle = color;
    ctx.lineWidth = width;
    ctx.setLineDash(dash);
    ctx.beginPath();
    ctx.moveTo(x1, y1);
    ctx.bezierCurveTo(x1, y1 + bend, x2, y2 - bend, x2, y2);
    ctx.stroke();
    ctx.setLineDash([]);
    const d = (3 + width) * (y2 > y1 ? -1 : 1);
    ctx.beginPath();
    ctx.moveTo(x2, y2);
    ctx.lineTo(x2 - 3 - width / 2, y2 + d);
    ctx.lineTo(x2 + 3 + width / 2, y2 + d);
    ctx.fill();
    ctx.globalAlpha = 1;
  }

  /** The finding's places, with the edge that is missing between the first two. */
  finding() {
    const { run, ctx, v: view } = this, { layout, colors, width } = view;
    const boxes = run.info.sites.map((s, i) => {
      const track = run.byId.get(s.track), row = track && layout.rowOf[track.index];
      if (!row) return null;
      const { y, height } = layout.strip(row, track);
      return { x: this.x(s.step - 1), right: this.x(s.step), y, height, role: s.role, step: s.step, site: s.site ?? i };
    });
    // The order that is missing, from where it should lead; a count that is wrong has none.
    const m = view.missing, [a, b] = m ? [m.from, m.to].map((e) => boxes.find((p) => p && p.step === e.step && p.site === e.site) ?? this.at(e.slice, e.step)) : [];
    if (a && b) {
      const across = a.y === b.y;
      const x1 = (a.x + a.right) / 2, x2 = (b.x + b.right) / 2;
      if (across) this.over(x1, x2, a.y);
      else this.curve(x1, b.y > a.y ? a.y + a.height : a.y, x2, b.y > a.y ? b.y : b.y + b.height, colors.finding, 2, 1, [6, 4]);
      this.tag("missing", (x1 + x2) / 2, across ? a.y - 8 : (a.y + a.height + b.y) / 2);
    }
    for (const p of boxes) {
      if (!p || p.right < -50 || p.x > width + 50) continue;
      ctx.strokeStyle = colors.finding;
      ctx.lineWidth = 2;
      const w = Math.max(p.right - p.x, 3);
      ctx.strokeRect(p.x + (p.right - p.x - w) / 2, p.y - 1, w, p.height + 2);
      this.badge(p);
    }
  }

  /** Where a step of an event is drawn, or null. */
  at(slice, step) {
    const b = slice >= 0 ? this.box(slice) : null;
    return b && { ...b, x: this.x(step - 1), right: this.x(step) };
  }

  /** A way from one event to another, meeting by meeting. @param {import("./way.js").Link[]} way */
  way(way) {
    const { colors } = this.v, m = this.run.marks;
    for (let i = 1; i < way.length; i++) {
      const s = way[i - 1].slice, a = this.box(s), b = this.box(way[i].slice);
      if (!a || !b) continue;
      const late = way[i].how === "meets" ? m.to[s] : m.from[s] + 1, x1 = this.x(late) - this.scale / 2, x2 = this.x(m.from[way[i].slice]) + this.scale / 2;
      if (a.y === b.y) this.along(x1, x2, a.y + a.height, colors.good);
      else this.curve(x1, b.y > a.y ? a.y + a.height : a.y, x2, b.y > a.y ? b.y : b.y + b.height, colors.good, 2, 1, []);
    }
  }

  /** An edge below two places of one row. */
  along(x1, x2, y, color) {
    const { ctx } = this;
    ctx.strokeStyle = color;
    ctx.lineWidth = 2;
    ctx.beginPath();
    ctx.moveTo(x1, y);
    ctx.bezierCurveTo(x1, y + 10, x2, y + 10, x2, y);
    ctx.stroke();
  }

  /** A dashed edge between two places of one row. */
  over(x1, x2, y) {
    const { ctx } = this;
    ctx.strokeStyle = this.v.colors.finding;
    ctx.lineWidth = 2;
    ctx.setLineDash([6, 4]);
    ctx.beginPath();
    ctx.moveTo(x1, y);
    ctx.bezierCurveTo(x1, y - 14, x2, y - 14, x2, y);
    ctx.stroke();
    ctx.setLineDash([]);
  }

  /** A place's number; with its role where the page stands at its step, so that names cover little. */
  badge(p) {
    const now = this.v.step === p.step, text = now ? `${p.site + 1} ${p.role}` : String(p.site + 1), half = (text.length * this.letter + 8) / 2;
    this.tag(text, now ? p.right + 4 + half : p.x - 4 - half, p.y + p.height / 2);
  }

  /** A label of the finding, around a point. */
  tag(text, x, y) {
    const { ctx } = this, { colors, width } = this.v, w = text.length * this.letter + 8;
    let left = x - w / 2;
    if (left + w > width && left < width) left = width - w;
    ctx.fillStyle = colors.finding;
    ctx.beginPath();
    ctx.roundRect(left, y - 8, w, 16, 3);
    ctx.fill();
    ctx.fillStyle = colors.ground;
    ctx.fillText(text, left + 4, y + 0.5);
  }

  /** The step: a band from its begin to its end. */
  cursor() {
    const { ctx } = this, { step, colors, height, part } = this.v;
    const x = this.x(step - 1), right = this.x(step);
    ctx.fillStyle = colors.band;
    ctx.fillRect(x, 0, Math.max(right - x, 1.5), height);
    if (part >= 0) {
      ctx.fillStyle = colors.finding;
      ctx.fillRect(this.x(part - 1) - 1, 0, 2, height);
    }
  }

  ruler() {
    const { ctx } = this, { from, to, width, colors, step } = this.v;
    ctx.fillStyle = colors.ground;
    ctx.fillRect(0, 0, width, RULER);
    ctx.fillStyle = colors.line;
    ctx.fillRect(0, RULER - 1, width, 1);
    const unit = tick((to - from) / (width / 90));
    ctx.fillStyle = colors.quiet;
    for (let t = Math.max(0, Math.ceil(from / unit) * unit); t <= to; t += unit) {
      const x = this.x(t);
      ctx.fillRect(x, RULER - 6, 1, 5);
      ctx.fillText(t.toLocaleString("en"), x + 3, RULER / 2 - 1);
    }
    const x = this.x(step), text = `step ${step.toLocaleString("en")}`, w = text.length * this.letter + 8;
    if (x < -1 || x > width + this.scale) return;
    const left = Math.max(0, Math.min(x - this.scale / 2 - w / 2, width - w));
    ctx.fillStyle = colors.focus;
    ctx.fillRect(left, 2, w, RULER - 6);
    ctx.fillStyle = colors.ground;
    ctx.fillText(text, left + 4, RULER / 2 - 0.5);
    ctx.fillStyle = colors.focus;
    ctx.fillRect(this.x(step - 1), RULER - 3, Math.max(this.scale, 2), 3);
  }
}

/** When an arrow leaves. */
function times0(run, arrow) {
  return run.arrowTimes[0][arrow];
}

/** A round number of steps, at least so many. @param {number} least */
function tick(least) {
  const ten = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  for (const f of [1, 2, 5]) if (f * ten >= least) return Math.max(1, f * ten);
  return 10 * ten;
}

/** The first index from i on whose slice passes a test: far ones cost little more than near ones. */
function gallop(lane, i, test) {
  let low = i, by = 1;
  while (low < lane.length && !test(lane[low])) {
    if (low + by >= lane.length || test(lane[low + by])) {
      let high = Math.min(low + by, lane.length);
      low++;
      while (low < high) {
        const mid = (low + high) >> 1;
        if (test(lane[mid])) high = mid;
        else low = mid + 1;
      }
      return low;
    }
    low += by;
    by *= 2;
  }
  return low;
}
