// A script's barriers, drawn: phase, pending arrivals, bytes, who waits and what is under way,
// and how they move from command to command.

import { clip, count, el } from "./dom.js";
import { MOST, steps } from "./script.js";

/** So many arrivals are drawn one by one, and so many steps have a column. */
const SLOTS = 40, COLUMNS = 120, CARDS = MOST.barriers, LISTED = 2000;

export class Stage {
  /** @param {HTMLElement} place @param {(line: number) => void} stand marks a line of the script @param {(kind: string) => void} explain */
  constructor(place, stand, explain) {
    Object.assign(this, { place, stand, explain, at: 0, steps: [] });
  }

  /** @param {string} text @param {string} output */
  show(text, output) {
    const all = steps(text, output);
    this.steps = all.slice(0, MOST.steps);
    this.at = 0;
    if (this.steps.length === 0) return this.place.replaceChildren(el("p", {}, "The script has no command."));
    const n = this.steps.length, button = (id, text, label, act) => el("button", { type: "button", id, "aria-label": label, click: act }, text);
    this.range = /** @type {HTMLInputElement} */ (el("input", { type: "range", id: "at", min: 0, max: n - 1, value: 0, "aria-label": "Command", input: () => this.go(Number(this.range.value)) }));
    this.number = el("span.quiet");
    this.playing = /** @type {HTMLButtonElement} */ (el("button", { type: "button", id: "play", click: () => this.play() }, "Play"));
    this.said = el("div.said", { role: "status", "aria-live": "polite" });
    this.cards = el("div.cards");
    this.history = el("table.history");
    this.rows = this.steps.slice(0, LISTED).map((s, i) => el(`button${s.bad ? ".bad" : ""}`, { type: "button", click: () => this.go(i) }, el("span.n", {}, i + 1), el("code", {}, clip(s.text, 200))));
    this.place.replaceChildren(
      all.length > this.steps.length ? el("p.quiet", {}, `The first ${count(MOST.steps)} commands are drawn; all are below Output.`) : "",
      el("div.steps-bar", {}, button("to-first", "|◀", "First command", () => this.go(0)), button("to-back", "◀", "One command back", () => this.go(this.at - 1)), button("to-forth", "▶", "One command on", () => this.go(this.at + 1)), button("to-last", "▶|", "Last command", () => this.go(n - 1)), this.playing, this.range, this.number),
      this.said, this.cards, this.history, el("ol.list", { "aria-label": "Commands" }, ...this.rows.map((r) => el("li", {}, r))));
    this.widest = 1;
    for (const s of this.steps) for (const b of s.barriers.values()) this.widest = Math.max(this.widest, Math.abs(b.tx));
    this.columns();
    this.go(0);
  }

  /** @param {number} i */
  go(i) {
    if (!this.steps.length) return;
    this.at = Math.max(0, Math.min(i, this.steps.length - 1));
    const s = this.steps[this.at];
    this.range.value = String(this.at);
    this.range.setAttribute("aria-valuetext", `${this.at + 1}: ${s.text}`);
    this.number.textContent = `${this.at + 1} of ${this.steps.length}`;
    this.said.replaceChildren(s.remark ? el("p.remark", {}, s.remark) : "", el("code", {}, clip(s.text, 300)), ...s.said.map((l) => this.line(l)));
    this.draw(s);
    this.rows.forEach((r, k) => (k === this.at ? r.setAttribute("aria-current", "step") : r.removeAttribute("aria-current")));
    for (const c of this.history.querySelectorAll("td[data-step]")) Number(c.dataset.step) === this.at ? c.setAttribute("aria-current", "step") : c.removeAttribute("aria-current");
    this.stand(s.line);
  }

  /** A line of output; the name of a finding explains itself. @param {string} l */
  line(l) {
    const m = /^(\s*(?:error|warning)\[)([\w-]+)(\].*)$/.exec(l);
    if (m) return el("p.error", {}, m[1].trim(), el("button.link", { type: "button", click: () => this.explain(m[2]) }, m[2]), m[3]);
    return el(`p${/wakes$|phase \d+ is complete$/.test(l) ? ".wakes" : l.startsWith("  the launch ends") ? ".error" : ""}`, {}, clip(l.trim(), 400));
  }

  /** The cards stay from step to step, so that what changes moves. @param {import("./script.js").Step} s */
  draw(s) {
    const list = [...s.barriers.values()].slice(0, CARDS);
    const had = new Map([...this.cards.children].map((c) => [c.dataset.name, c]));
    const cards = list.map((b) => this.card(had.get(b.name) ?? this.blank(b.name), b, s));
    if (cards.length !== this.cards.childElementCount || cards.some((c, i) => c !== this.cards.children[i])) this.cards.replaceChildren(...cards);
  }

  blank(name) {
    const gauge = (what, part) => el("div.gauge", {}, el("span", {}, what), part, el("span"));
    return el("section.card", { "data-name": name, "aria-label": `mbarrier ${clip(name, 80)}` }, el("h3", {}, el("span", {}, clip(name, 80)), el("span.phase")), gauge("arrivals", el("div.slots", { "aria-hidden": "true" })), gauge("tx-count", el("div.bytes", { "aria-hidden": "true" }, el("i"))), el("div.chips"), el("code.word"));
  }

  /** @param {HTMLElement} card @param {import("./script.js").Barrier} b @param {import("./script.js").Step} s */
  card(card, b, s) {
    const [head, arrivals, bytes, chips, word] = card.children, phase = head.querySelector(".phase"), slots = arrivals.children[1], bar = bytes.querySelector("i");
    card.classList.toggle("touched", s.touched.has(b.name));
    card.classList.toggle("gone", b.gone);
    phase.textContent = b.gone ? "no barrier" : `phase ${b.phase}, parity ${b.parity}`;
    phase.classList.toggle("odd", b.parity === 1);
    const drawn = Math.min(b.expected, SLOTS);
    while (slots.childElementCount > drawn) slots.lastElementChild.remove();
    while (slots.childElementCount < drawn) slots.append(el("span.slot"));
    const come = b.expected - b.pending;
    [...slots.children].forEach((c, i) => c.classList.toggle("in", i < (b.expected <= SLOTS ? come : Math.floor((come / b.expected) * SLOTS))));
    arrivals.children[2].textContent = `${b.pending.toLocaleString("en")} of ${b.expected.toLocaleString("en")} due`;
    const part = (Math.abs(b.tx) / this.widest) * 50;
    bar.style.left = `${b.tx < 0 ? 50 - part : 50}%`;
    bar.style.width = `${part}%`;
    bar.classList.toggle("under", b.tx < 0);
    bytes.children[2].textContent = `${b.tx.toLocaleString("en")} B`;
    const here = (what) => what.endsWith(` of ${b.name}`);
    chips.replaceChildren(...[...s.waits].filter(([, what]) => here(what)).map(([who, what]) => el("span.chip.sleeps", {}, `${clip(who, 40)} waits for ${what.replace(/ of .*/, "")}`)), ...this.flights(b, s));
    word.textContent = b.word;
    return card;
  }

  /** The copies under way to a barrier. */
  flights(b, s) {
    return [...s.flights].filter(([name]) => this.steps.slice(0, this.at + 1).findLast((x) => x.text.includes(` ${name}:`))?.text.replace(/ noinc$/, "").endsWith(` ${b.name}`)).map(([name, what]) => el("span.chip.flight", {}, `${clip(name, 40)}: ${what}`));
  }

  /** Each barrier's phases over the commands. */
  columns() {
    const n = Math.min(this.steps.length, COLUMNS), names = [...new Set(this.steps.flatMap((s) => [...s.barriers.keys()]))].slice(0, CARDS);
    this.history.hidden = names.length === 0;
    this.history.replaceChildren(el("caption", {}, `Phases, command by command${this.steps.length > COLUMNS ? `, the first ${COLUMNS}` : ""}`), el("tbody", {}, ...names.map((name) => {
      let last = -1;
      return el("tr", {}, el("th", { scope: "row", title: clip(name, 80) }, clip(name, 80)), ...this.steps.slice(0, n).map((s, i) => {
        const b = s.barriers.get(name), live = b && !b.gone, fresh = live && b.phase !== last;
        if (live) last = b.phase;
        return el("td", { "data-step": i }, el(`button${live ? `.p${b.parity}` : ""}${s.bad && s.touched.has(name) ? ".bad" : ""}`, { type: "button", tabindex: "-1", "aria-label": `Command ${i + 1}: ${live ? `${name} in phase ${b.phase}` : "no barrier"}`, click: () => this.go(i) }, fresh ? String(b.phase) : ""));
      }));
    })));
  }

  play() {
    if (this.timer) return this.pause();
    if (this.at >= this.steps.length - 1) this.go(0);
    this.playing.textContent = "Pause";
    this.timer = setInterval(() => {
      this.go(this.at + 1);
      if (this.at >= this.steps.length - 1) this.pause();
    }, 1100);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = undefined;
    if (this.playing) this.playing.textContent = "Play";
  }
}
