// The report, and what the parts of the page agree on: the step, what is picked, and the window of steps.

class Model {
  /** @param {*} report */
  constructor(report) {
    Object.assign(this, report);
    this.listeners = [];
    this.first = this.history.length ? this.history[0].step : 0;
    this.last = this.history.length ? this.history[this.history.length - 1].step : 0;
    this.byStep = new Map(this.history.map((s, i) => [s.step, i]));
    this.ends = new Map(); // of waits, by the step in which they began
    this.wakes = new Map(); // by the step that completes a phase: the steps that it wakes
    const completed = new Map();
    this.steps = this.goroutines.map(() => []);
    this.changes = this.barriers.map(() => []);
    for (const s of this.history) {
      if (s.goroutine >= 0) this.steps[s.goroutine].push(s);
      if (s.kind === "made" || s.arrivals || s.bytes || s.drops) this.changes[s.barrier].push(s);
      if (s.completes) completed.set(`${s.barrier} ${s.phase}`, s);
      if (!s.began) continue;
      this.ends.set(s.began, s);
      const by = completed.get(`${s.barrier} ${s.phase}`);
      if (by && s.kind === "resumes") this.wakes.set(by.step, [...(this.wakes.get(by.step) ?? []), s]);
    }
    this.debtsOf = this.barriers.map(() => []);
    for (const d of this.debts) this.debtsOf[d.barrier].push(d);
    this.step = this.last;
    this.fit();
  }

  /** Whether a goroutine waits for its barrier's present phase. */
  held(g) {
    const w = this.goroutines[g].waits;
    return w != null && this.barriers[w.barrier].phase === w.phase;
  }

  /** The step, or the nearest before it that is there. @returns {*} null if there is none */
  at(step) {
    const i = this.byStep.get(step);
    return i == null ? null : this.history[i];
  }

  listen(f) {
    this.listeners.push(f);
  }

  tell(what) {
    for (const f of this.listeners) f(what);
  }

  /** @param {number} step */
  go(step) {
    if (!this.history.length) return;
    let i = this.byStep.get(step);
    if (i == null) { // one that was left out: the next that is there
      i = this.history.findIndex((s) => s.step >= step);
      if (i < 0) i = this.history.length - 1;
    }
    this.step = this.history[i].step;
    this.pick = null;
    if (this.step < this.from || this.step > this.to) this.window(this.to - this.from, this.step);
    this.tell("step");
  }

  /** By so many steps that are there. */
  by(n) {
    const i = this.byStep.get(this.step);
    if (i != null) this.go(this.history[Math.min(Math.max(i + n, 0), this.history.length - 1)].step);
  }

  /** To the next or last step of the goroutine of this one. */
  same(n) {
    const now = this.at(this.step);
    if (!now || now.goroutine < 0) return;
    const all = this.steps[now.goroutine];
    const next = all[all.indexOf(now) + n];
    if (next) this.go(next.step);
  }

  /** @param {"goroutine"|"barrier"} kind @param {number} index */
  choose(kind, index) {
    this.pick = { kind, index };
    this.tell("pick");
  }

  picked(kind, index) {
    const now = this.at(this.step);
    if (this.pick) return this.pick.kind === kind && this.pick.index === index;
    return now != null && now[kind] === index;
  }

  /** Shows so many steps around one. */
  window(size, around) {
    const all = this.last - this.first;
    size = Math.max(Math.min(size, 400, all), Math.min(8, all));
    this.from = Math.round(Math.min(Math.max(around - size / 2, this.first), this.last - size));
    this.to = this.from + size;
  }

  zoom(factor) {
    this.window(Math.round((this.to - this.from) * factor), this.step);
    this.tell("window");
  }

  fit() {
    this.window(this.last - this.first > 60 && this.from == null ? 60 : this.last - this.first, this.step);
    this.tell("window");
  }
}
