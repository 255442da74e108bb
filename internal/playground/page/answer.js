// The answers: tabs beside the editor. Each shows what the command said last.

import { Stage } from "./barrier.js";
import * as diff from "./diff.js";
import { byId, clip, el, link } from "./dom.js";
import * as findings from "./findings.js";
import { spans } from "./paint.js";

const KERNEL = [["findings", "Findings"], ["report", "Report"], ["explain", "Explain"], ["diff", "Diff"], ["view", "Step"]], SCRIPT = [["barrier", "Barrier"], ["report", "Output"], ["explain", "Explain"]];

/** So much text is shown; the rest can be saved. */
const MOST = 400_000;

export class Answer {
  /** @param {import("./workspace.js").Workspace} work @param {import("./library.js").Library} library @param {{explain: (kind: string) => void, step: (id?: string) => void, template: () => void, choose: (item: *) => void}} acts */
  constructor(work, library, acts) {
    Object.assign(this, { work, library, acts, tab: "findings", script: false });
    this.panel = byId("panel");
    this.stageFor = el("div");
    this.stage = new Stage(this.stageFor, (line) => this.work.current?.name === this.of && this.work.editor.stand(line), acts.explain);
    byId("tabs").addEventListener("keydown", (e) => this.key(e));
    this.clear();
  }

  /** Forgets what was said. */
  clear() {
    Object.assign(this, { answer: undefined, report: "", html: "", kind: "", words: "", stale: false, output: undefined });
    this.stage.pause();
    this.frame = undefined;
    byId("main").classList.remove("wide");
  }

  /** Kernel or script, as what is run is. @param {boolean} script */
  mode(script) {
    this.script = script;
    const list = script ? SCRIPT : KERNEL;
    if (!list.some(([id]) => id === this.tab)) this.tab = list[0][0];
    this.buttons = list.map(([id, name]) => el("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": "panel", click: () => this.open(id) }, name));
    byId("tabs").replaceChildren(...this.buttons);
    this.open(this.tab);
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!by) return;
    e.preventDefault();
    const i = (this.buttons.findIndex((b) => b.getAttribute("aria-selected") === "true") + by + this.buttons.length) % this.buttons.length;
    this.buttons[i].click();
    this.buttons[i].focus();
  }

  /** @param {string} tab */
  open(tab) {
    this.tab = tab;
    for (const b of this.buttons) {
      const on = b.id === `tab-${tab}`;
      b.setAttribute("aria-selected", String(on));
      b.tabIndex = on ? 0 : -1;
    }
    this.panel.setAttribute("aria-labelledby", `tab-${tab}`);
    this.panel.classList.toggle("flush", tab === "view" && Boolean(this.html));
    if (tab !== "view") byId("main").classList.remove("wide");
    this.panel.replaceChildren(...(this.stale && tab !== "explain" && tab !== "diff" && this.said ? [el("p.quiet", {}, "Said of the text before your last edit.")] : []), ...this.make(tab));
    this.panel.scrollTop = 0;
  }

  /** @param {string} tab */
  make(tab) {
    const of = { findings: () => this.found(), report: () => this.reported(), explain: () => this.explained(), diff: () => this.differs(), view: () => this.stepped(), barrier: () => this.drawn() };
    return of[tab]();
  }

  /** Whether something was said at all. */
  get said() {
    return Boolean(this.answer || this.report || this.html || this.output !== undefined);
  }

  /** The text has changed since. */
  outdated() {
    if (this.stale || !this.said) return;
    this.stale = true;
    if (this.tab !== "explain" && this.tab !== "diff") this.open(this.tab);
  }

  /** @returns {import("./findings.js").Acts} */
  get places() {
    return { has: (f) => Boolean(this.work.find(findings.base(f))), jump: (f, line, col) => this.jump(f, line, col), explain: this.acts.explain, step: this.acts.step };
  }

  /** @param {string} f @param {number} line @param {number} [col] */
  jump(f, line, col = 1) {
    byId("main").classList.remove("wide");
    this.work.open(findings.base(f));
    this.work.editor.goto(line, col);
  }

  /** Marks the lines of the open file that the answer names. */
  mark() {
    this.work.editor.mark(this.answer && !this.stale ? findings.marks(this.answer, this.work.current.name) : new Map());
  }

  found() {
    if (this.answer) {
      const bare = this.answer.error && this.work.entry.endsWith(".ptx");
      return [...findings.show(this.answer, this.places), bare ? el("p", {}, "A bare .ptx needs to know what to launch: say it by flags, or ", link("make a launch file from the kernel’s parameters", this.acts.template), ".") : null].filter(Boolean);
    }
    if (this.report) return this.reported();
    return [el("p.lead", {}, "Check proves that what this kernel’s threads and copies share is ordered in every schedule, or names what is missing, between which lines. It is the command itself, in this browser."), el("p.quiet", {}, "Ctrl Enter checks, Escape stops.")];
  }

  reported() {
    if (!this.report) return [el("p.quiet", {}, "The command’s own words stand here after a run.")];
    const cut = this.report.length > MOST;
    return [el("pre", { id: "report" }, cut ? `${this.report.slice(0, MOST)}\n… ${this.report.length - MOST} more letters, which the saved file has` : this.report), el("p", {}, el("button", { type: "button", id: "save-report", click: () => save("report.txt", this.report) }, "Save"))];
  }

  explained() {
    const pick = /** @type {HTMLSelectElement} */ (el("select", { id: "kind", "aria-label": "What to explain", change: () => this.acts.explain(pick.value) }, el("option", { value: "" }, "choose a finding…"), ...[...this.library.kinds, "incomplete", "launch"].map((k) => el("option", { value: k }, k))));
    pick.value = this.kind;
    const item = this.library.groups.flatMap((g) => g.items).find((i) => i.kind === this.kind && i.wrong);
    const open = item && this.library.item(item.id) ? [el("button", { type: "button", click: () => this.acts.choose(item) }, "Open its wrong kernel")] : [];
    const text = this.words.split("\n");
    return [el("div.row.steps-bar", {}, pick, ...open), el("pre", { class: "code", id: "explained" }, ...text.slice(0, 2000).flatMap((l) => [...(l.startsWith("    ") ? [el("span", {}, ...spans(l, true))] : [l]), "\n"]))];
  }

  differs() {
    const item = this.library.item(this.work.item), twin = item && this.library.twin(item);
    if (!twin) return [el("p.quiet", {}, "What is here has no wrong or right twin in the library: each kind of the catalogue has.")];
    const name = item.files["wrong.ptx"] ? "wrong.ptx" : Object.keys(item.files).find((n) => n.endsWith(".ptx")), other = Object.keys(twin.files).find((n) => n.endsWith(".ptx"));
    this.work.commit();
    const own = this.work.find(name)?.text ?? item.files[name], theirs = String(twin.files[other]), jump = (line) => this.jump(name, line);
    const wrong = Boolean(item.wrong);
    return [...diff.show(wrong ? own : theirs, wrong ? theirs : own, `Wrong (−) and right (+) kernel of ${item.kind || twin.kind}${own === item.files[name] ? "" : ", with your changes"}`, jump, wrong), el("p", {}, el("button", { type: "button", click: () => this.acts.choose(twin) }, wrong ? "Open the right kernel" : "Open the wrong kernel"))];
  }

  stepped() {
    if (!this.html) return [el("p.lead", {}, "Step runs one schedule and shows it: a lane for each warp, copy and barrier, with registers and memory, step by step."), el("p", {}, el("button", { type: "button", id: "step-here", click: () => this.acts.step() }, "Step through the run"))];
    const main = byId("main"), wide = el("button", { type: "button", id: "widen", click: () => {
      main.classList.toggle("wide");
      label();
    } });
    const label = () => (wide.textContent = main.classList.contains("wide") ? "Back to the editor" : "Widen");
    label();
    // The page of a run is a page of its own, without an address: it can reach nothing of this one.
    this.frame ??= el("iframe", { id: "frame", title: "The run, step by step", sandbox: "allow-scripts", srcdoc: this.html, load: (/** @type {*} */ e) => (e.target.dataset.loaded = "true") });
    return [el("div.stage", {}, el("div.row", {}, wide, el("button", { type: "button", id: "save-page", click: () => save("run.html", this.html) }, "Save the page"), el("span.quiet", {}, "Tab leads into the page; ? there shows its keys")), this.frame)];
  }

  /** @param {string} html */
  showRun(html) {
    this.html = html;
    this.frame = undefined;
    this.open("view");
    byId("main").classList.add("wide");
    byId("widen").textContent = "Back to the editor";
    byId("widen").focus();
  }

  drawn() {
    if (this.output === undefined) return [el("p.lead", {}, "Play runs the script and draws each barrier after every command: the phase and its parity, arrivals that are due, bytes that are owed, who waits and who wakes."), el("p.quiet", {}, "Ctrl Enter plays. Change a line, and play again.")];
    return [this.stageFor];
  }

  /** @param {string} text the script @param {string} output what the command said */
  played(text, output) {
    this.output = output;
    this.of = this.work.entry;
    this.open("barrier");
    this.stage.show(text, output);
  }
}

/** Saves a text as a file. @param {string} name @param {string} text */
function save(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: name.endsWith(".html") ? "text/html" : "text/plain" }));
  el("a", { href: url, download: clip(name, 60) }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
