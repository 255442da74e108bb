// The tabs below the lanes: the step, the barriers, the goroutines, the steps in sight.

const TABS = [["step", "Step"], ["goroutines", "Goroutines"], ["barriers", "Barriers"], ["history", "Steps in sight"]];

class Tabs {
  /** @param {HTMLElement} place @param {HTMLElement} panel @param {*} m */
  constructor(place, panel, m) {
    Object.assign(this, { panel, m });
    this.buttons = TABS.map(([id, name]) => el("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": "panel", click: () => this.open(id) }, name));
    place.append(...this.buttons);
    place.addEventListener("keydown", (e) => this.key(e));
    m.listen((what) => {
      if (what === "pick") this.open(m.pick.kind === "goroutine" ? "goroutines" : "barriers");
      else if (what === "step" && this.tab !== "history") this.open("step");
      else this.show();
    });
    this.open("step");
  }

  open(tab) {
    this.tab = tab;
    this.buttons.forEach((b, i) => {
      const on = TABS[i][0] === tab;
      b.setAttribute("aria-selected", String(on));
      b.tabIndex = on ? 0 : -1;
    });
    this.panel.setAttribute("aria-labelledby", `tab-${tab}`);
    this.show();
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!by) return;
    const i = (TABS.findIndex(([id]) => id === this.tab) + by + TABS.length) % TABS.length;
    e.preventDefault();
    e.stopPropagation();
    this.open(TABS[i][0]);
    this.buttons[i].focus();
  }

  show() {
    const make = { step: () => this.step(), goroutines: () => this.goroutines(), barriers: () => this.barriers(), history: () => this.history() }[this.tab];
    const inside = this.panel.contains(document.activeElement) && document.activeElement !== this.panel;
    this.panel.replaceChildren(...make());
    if (inside) this.panel.focus();
    const own = this.panel.querySelector(".picked, .now");
    if (own) this.panel.scrollTop = Math.max(0, own.offsetTop - this.panel.clientHeight / 3);
  }

  /** The line of a place, as file:line and the text of the source. */
  place(p) {
    if (p == null || p < 0) return el("span.quiet", {}, "unknown");
    const { file, line, function: f, text } = this.m.places[p];
    return el("span", {}, el("code", {}, clip(clean(`${file}:${line}`), 200)), " ", el("span.quiet", {}, clip(clean(f), 100)), text ? el("div", {}, el("code", {}, clip(clean(text), 200))) : null);
  }

  to(step) {
    return this.m.byStep.has(step) ? link(`step ${count(step)}`, () => this.m.go(step)) : el("span", {}, `step ${count(step)}`);
  }

  step() {
    const { m } = this, s = m.at(m.step);
    if (!s) return [el("p", {}, "No step was kept.")];
    const facts = el("dl.facts"), add = (name, ...what) => facts.append(el("dt", {}, name), el("dd", {}, ...what));
    add("Step", `${count(s.step)} of ${count(m.steps_total)}`);
    add("What", `${sentence(m, s)}.`);
    add("Where", this.place(s.place));
    if (s.op) add("Call", el("code", {}, clip(clean(s.op), 100)));
    add("Goroutine", s.goroutine < 0 ? "not kept" : link(clip(clean(m.goroutines[s.goroutine].name), 80), () => m.choose("goroutine", s.goroutine)));
    add("Barrier after", link(clip(clean(m.barriers[s.barrier].name), 80), () => m.choose("barrier", s.barrier)), ` ${ledger(s.after)}`);
    if (s.began) add("Waited", "since ", this.to(s.began));
    if (s.kind === "waits") {
      const end = m.ends.get(s.step);
      add("Until", end ? this.to(end.step) : s.goroutine >= 0 && m.goroutines[s.goroutine].waits?.since === s.step ? el("span.bad", {}, "the end: it still waits") : "its end was not kept");
    }
    const woken = m.wakes.get(s.step) ?? [];
    if (woken.length) add("Wakes", ...woken.slice(0, 20).flatMap((r) => [goroutineName(m, r.goroutine), " in ", this.to(r.step), "; "]), woken.length > 20 ? `and ${count(woken.length - 20)} more` : "");
    if (s.text) add("Panic", clip(clean(s.text), 1000));
    return [facts];
  }

  table(caption, heads, rows) {
    return [el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, ...heads.map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, ...rows))];
  }

  goroutines() {
    const { m } = this, owes = new Map();
    m.debts.forEach((d) => d.goroutine >= 0 && owes.set(d.goroutine, [...(owes.get(d.goroutine) ?? []), d]));
    const rows = m.goroutines.map((g, i) => el(`tr${m.picked("goroutine", i) ? ".picked" : ""}`, {},
      el("th", { scope: "row" }, link(clip(clean(g.name), 60), () => m.choose("goroutine", i)), g.started >= 0 ? el("div.quiet", {}, `started at ${placeName(m, g.started)}`) : null),
      el("td", {}, g.waits ? el("span", { class: m.held(i) ? "bad" : "" }, `waits for phase ${g.waits.phase} of ${barrierName(m, g.waits.barrier)}`) : clip(clean(g.blocked || g.state), 60)),
      el("td", {}, g.waits ? this.to(g.waits.since) : ""),
      el("td", {}, g.state === "ended" ? el("span.quiet", {}, "ended") : this.place(g.waits ? g.waits.place : g.at)),
      el("td", {}, ...(owes.get(i) ?? []).slice(0, 5).map((d) => el("div", {}, `${d.known === "rest" ? "may owe" : "owes"} ${barrierName(m, d.barrier)} ${d.what === "bytes" ? "bytes" : "an arrival"}: `, ...linked(m, d.why)))),
      el("td", {}, ...g.last.filter((s) => m.byStep.has(s)).slice(-4).flatMap((s) => [link(count(s), () => m.go(s), `step ${s}`), " "])),
    ));
    const extra = m.left.goroutines ? `, and ${count(m.left.goroutines)} more that are not shown` : "";
    return this.table(`${counted(rows.length, "goroutine")}${extra}`, ["Goroutine", "State", "Since", "Where", "Owes", "Last steps"], rows);
  }

  barriers() {
    const { m } = this;
    const rows = m.barriers.map((b, i) => el(`tr${m.picked("barrier", i) ? ".picked" : ""}`, {},
      el("th", { scope: "row" }, link(clip(clean(b.name), 60), () => m.choose("barrier", i)), b.role ? el("div.quiet", {}, `${b.role} of a pipeline`) : null),
      el("td.number", {}, `${b.phase} (parity ${b.phase % 2})`), el("td.number", {}, `${b.pending} of ${b.expected}`), el("td.number", {}, count(b.tx)), el("td.number", { class: b.waiting ? "number bad" : "number" }, count(b.waiting)),
      el("td", {}, ...m.debtsOf[i].slice(0, 6).map((d) => el("div", {}, d.goroutine < 0 ? "nobody known: " : `${goroutineName(m, d.goroutine)} (${KNOWN[d.known]}): `, ...linked(m, d.why))), m.debtsOf[i].length > 6 ? el("div.quiet", {}, `and ${count(m.debtsOf[i].length - 6)} more`) : null),
      el("td", {}, this.place(b.made)),
    ));
    const extra = m.left.barriers ? `, and ${count(m.left.barriers)} more that are not shown` : "";
    return this.table(`${counted(rows.length, "barrier")}, as they stand at the end${extra}`, ["Barrier", "Phase", "Pending", "Bytes", "Waiting", "Who owes", "Made"], rows);
  }

  history() {
    const { m } = this, all = m.history.slice(lower(m.history, m.from), lower(m.history, m.to + 1));
    const rows = all.map((s) => el(`tr${s.step === m.step ? ".now" : ""}`, {},
      el("td.number", {}, link(count(s.step), () => m.go(s.step), `step ${s.step}`)), el("td", {}, sentence(m, s)), el("td", {}, el("code", {}, placeName(m, s.place))), el("td", {}, ledger(s.after))));
    return this.table(`Steps ${count(Math.max(m.from, m.first))} to ${count(m.to)}`, ["Step", "What", "Where", "The barrier after"], rows);
  }
}
