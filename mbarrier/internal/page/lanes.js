// The lanes: a row for each goroutine and each barrier, and the steps of a window from left to right.

const ROW = 26, RULER = 26, MOST_ROWS = 400;
const SIGNS = { made: "N", arrives: "A", bytes: "+", drops: "D", leaves: "L", waits: "W", passes: "P", resumes: "R", "gives up": "G", tests: "?", panics: "!", breaks: "!" };

class Lanes {
  /** @param {HTMLElement} box @param {*} m @param {HTMLInputElement} only */
  constructor(box, m, only) {
    Object.assign(this, { box, m, only });
    this.names = el("div.lane-names");
    this.track = el("div.track");
    box.replaceChildren(this.names, this.track);
    only.addEventListener("change", () => this.show());
    m.listen(() => this.show());
    new ResizeObserver(() => this.width !== this.track.clientWidth && this.show()).observe(this.track);
    this.show();
  }

  /** The rows: goroutines and barriers. */
  rows() {
    const { m } = this, only = this.only.checked, owe = new Set(m.debts.map((d) => d.goroutine));
    const rows = [];
    m.barriers.forEach((b, i) => { if (!only || b.waiting > 0) rows.push({ kind: "barrier", index: i }); });
    m.goroutines.forEach((g, i) => { if (!only || g.waits || owe.has(i)) rows.push({ kind: "goroutine", index: i }); });
    // Those with something to see in the window come first if there are too many.
    if (rows.length <= MOST_ROWS) return rows;
    return rows.slice(0, MOST_ROWS);
  }

  show() {
    const { m, track } = this;
    this.width = track.clientWidth;
    const all = this.rows(), w = Math.max(this.width, 100), from = m.from, to = m.to, px = w / (to - from + 2);
    const height = all.length * ROW;
    this.x = (step) => (step - from + 1) * px;
    const y = new Map(all.map((r, i) => [`${r.kind} ${r.index}`, i * ROW]));
    this.names.replaceChildren(el("div.lane-name.head", {}, "barriers, goroutines"), ...all.map((r) => this.name(r)));
    const ruler = svg("svg.ruler", { width: w, height: RULER - 1, "aria-hidden": "true" });
    const picture = svg("svg", { width: w, height: Math.max(height, 1), role: "presentation", click: (e) => this.click(e, px) });
    const every = [1, 2, 5, 10, 20, 50, 100].find((n) => n * px >= 34) ?? 200;
    for (let s = Math.ceil(from / every) * every; s <= to; s += every) if (s > 0) ruler.append(svg("text", { x: this.x(s), y: 17, "text-anchor": "middle" }, count(s)));
    if (m.history.length) picture.append(svg("rect.now", { x: this.x(m.step) - Math.max(px, 4) / 2, y: 0, width: Math.max(px, 4), height }));
    for (let i = 1; i <= all.length; i++) picture.append(svg("line.rule", { x1: 0, x2: w, y1: i * ROW - 0.5, y2: i * ROW - 0.5 }));
    for (const r of all) {
      if (r.kind === "barrier") this.phases(picture, r.index, y.get(`barrier ${r.index}`), px, w);
      else this.waits(picture, r.index, y.get(`goroutine ${r.index}`), px, w);
    }
    const shown = m.history.slice(lower(m.history, from), lower(m.history, to + 1));
    if (px > 8) for (const s of shown) for (const r of m.wakes.get(s.step) ?? []) this.wake(picture, s, r, y);
    for (const s of shown) this.mark(picture, s, y.get(`goroutine ${s.goroutine}`), px);
    const more = m.barriers.length + m.goroutines.length - all.length;
    track.replaceChildren(ruler, picture, more > 0 && !this.only.checked ? el("p.quiet", {}, `${counted(more, "more row")}`) : "");
  }

  name(r) {
    const { m } = this, own = m.picked(r.kind, r.index) ? ".picked" : "";
    if (r.kind === "barrier") {
      const b = m.barriers[r.index];
      return el(`div.lane-name.barrier-lane${own}`, { title: clean(b.name) }, el("span.name", {}, clip(clean(b.name), 60)), el("span.quiet", {}, `of ${b.expected}`));
    }
    const g = m.goroutines[r.index];
    return el(`div.lane-name${g.waits && m.held(r.index) ? ".stuck" : ""}${own}`, { title: clean(g.name) }, el("span.name", {}, clip(clean(g.name), 60)), el("span.quiet", {}, g.state));
  }

  /** The phases of a barrier, with what is pending after each change. */
  phases(picture, b, y, px, w) {
    const { m } = this, all = m.changes[b], x = (s) => Math.min(Math.max(this.x(s), 0), w);
    if (!all.length) return;
    let i = Math.max(lower(all, m.from) - 1, 0);
    let start = all[i].kind === "made" ? all[i].step : m.from - 1, state = all[i].after;
    const segment = (end) => {
      const left = x(start), wide = x(end) - left, text = `phase ${state.phase}`;
      if (wide <= 0) return;
      picture.append(svg(`rect.${state.phase % 2 ? "p1" : "p0"}`, { x: left, y: y + 4, width: Math.max(wide - 1, 1), height: ROW - 9, rx: 2 }, svg("title", {}, `${clean(m.barriers[b].name)}: ${text}`)));
      for (const c of inside) {
        const cx = x(c.step), text = String(c.after.pending) + (c.after.tx ? ` · ${c.after.tx} B` : "");
        if (px > 15 && cx > left + 50) picture.append(svg("text.phase", { x: cx, y: y + 16, "text-anchor": "middle" }, text));
      }
      if (wide > 6.4 * text.length + 10) picture.append(svg("text.phase", { x: left + 6, y: y + 16 }, text));
      else if (wide > 7 * String(state.phase).length + 7) picture.append(svg("text.phase", { x: left + 4, y: y + 16 }, String(state.phase)));
    };
    let inside = [];
    for (i++; i < all.length && all[i].step <= m.to; i++) {
      if (all[i].after.phase === state.phase) { inside.push(all[i]); continue; }
      segment(all[i].step);
      start = all[i].step;
      state = all[i].after;
      inside = [];
    }
    segment(m.to + 1);
  }

  /** The waits of a goroutine: from the step in which it began to the one in which it ended, or to the end. */
  waits(picture, g, y, px, w) {
    const { m } = this, x = (s) => Math.min(Math.max(this.x(s), 0), w);
    const bar = (begin, end, barrier, phase, stuck) => {
      const left = x(begin), wide = x(end) - left;
      if (wide <= 0) return;
      const text = `waits for phase ${phase} of ${barrierName(m, barrier)}`, skip = begin < m.from ? 4 : Math.min(px, 18) / 2 + 3;
      picture.append(svg(`rect.wait-bar${stuck ? ".stuck" : ""}`, { x: left, y: y + 5, width: wide, height: ROW - 11, rx: 3 }, svg("title", {}, text)));
      const room = Math.floor((wide - skip) / 6.4);
      if (room > 9) picture.append(svg(`text.wait-text${stuck ? ".stuck" : ""}`, { x: left + skip + 2, y: y + 17 }, clip(text, room)));
    };
    for (const s of m.steps[g]) if (s.began && s.step >= m.from && s.began <= m.to) bar(s.began, s.step, s.barrier, s.phase, false);
    const v = m.goroutines[g].waits;
    if (v && v.since <= m.to) bar(v.since, m.to + 1, v.barrier, v.phase, m.held(g));
  }

  mark(picture, s, y, px) {
    if (y == null) return;
    const { m } = this, wide = Math.min(Math.max(px - 2, 3), 18), x = this.x(s.step);
    const kind = s.kind.replace(" ", "-"), sign = s.kind === "bytes" && s.bytes < 0 ? "−" : SIGNS[s.kind];
    const e = svg(`g.mark.k-${kind}${s.completes && wide > 8 ? ".completes" : ""}${s.step === m.step ? ".picked" : ""}`, { click: (k) => { k.stopPropagation(); m.go(s.step); } });
    e.append(svg("title", {}, `step ${s.step}: ${sentence(m, s)}`), svg("rect", { x: x - wide / 2, y: y + 4, width: wide, height: ROW - 9, rx: 3 }));
    if (wide > 10) e.append(svg("text", { x, y: y + 17 }, sign));
    picture.append(e);
  }

  /** An arrow from the step that completes a phase to the goroutine that goes on. */
  wake(picture, s, r, y) {
    const a = y.get(`goroutine ${s.goroutine}`), b = y.get(`goroutine ${r.goroutine}`);
    if (a == null || b == null || a === b || r.step > this.m.to) return;
    const x1 = this.x(s.step), x2 = this.x(r.step), down = b > a, y1 = down ? a + ROW - 5 : a + 4, y2 = down ? b + 3 : b + ROW - 4, d = down ? -5 : 5;
    picture.append(svg("path.wakes", { d: `M${x1} ${y1} C${x1} ${(y1 + y2) / 2} ${x2} ${(y1 + y2) / 2} ${x2} ${y2} m-3 ${d} l3 ${-d} l3 ${d}` }));
  }

  /** A click beside the marks goes to the step there. */
  click(e, px) {
    const { m } = this, box = e.currentTarget.getBoundingClientRect();
    m.go(Math.min(Math.max(Math.round((e.clientX - box.left) / px - 1 + m.from), m.first), m.last));
  }
}

/** The first index of sorted steps that is not before a step. */
function lower(all, step) {
  let a = 0, b = all.length;
  while (a < b) {
    const mid = (a + b) >> 1;
    if (all[mid].step < step) a = mid + 1;
    else b = mid;
  }
  return a;
}
