// Puts the playground together: its parts, its controls and keys, and what each run is.

import { Answer } from "./answer.js";
import * as dialogs from "./dialogs.js";
import { byId, clip } from "./dom.js";
import { Engine, Stopped } from "./engine.js";
import { Library, isItem, stateOf } from "./library.js";
import { bare } from "./script.js";
import { decode, encode } from "./share.js";
import { limitTime, split } from "./state.js";
import { Theme } from "./theme.js";
import { Workspace } from "./workspace.js";

const EMPTY = () => ({ files: [{ name: "kernel.ptx", text: "" }], entry: "kernel.ptx", flags: "", item: "", open: "kernel.ptx" });

/** Says a line in the footer. @param {string} text @param {boolean} [bad] */
function say(text, bad = false) {
  byId("words").textContent = clip(text, 400);
  byId("words").title = clip(text, 2000);
  byId("words").classList.toggle("bad", bad);
}

const engine = new Engine((text) => (engine.running ? say(text) : undefined));
const library = new Library((item) => choose(item));
const work = new Workspace({ edited: () => edited(), opened: () => opened(), loaded: () => loaded(), say });
const answer = new Answer(work, library, { explain: (kind) => explain(kind), step: (id) => step(id), template: () => template(), choose: (item) => choose(item) });
/** What the reader had changed before something else was opened over it; the last is brought back first. @type {import("./state.js").State[]} */
const before = [];
/** So many of them are held. */
const HELD = 10;

const isScript = () => /\.txt$/i.test(work.entry);

function edited() {
  if (location.hash) address(""); // it names what was opened, which is not what is here any more
  answer.outdated();
  answer.mark();
}

/** Another file is open, or another is run. */
function opened() {
  const script = isScript();
  byId("verb").textContent = script ? "barrier" : "check";
  byId("check").textContent = script ? "Play" : "Check";
  for (const id of ["flags", "run", "step"]) byId(id).hidden = script;
  const ptx = work.current.name.endsWith(".ptx");
  byId("format").disabled = byId("template").disabled = !ptx;
  if (answer.script !== script || !answer.buttons) answer.mode(script);
  answer.mark();
}

/** Other files are here. */
function loaded() {
  const item = library.item(work.item), about = byId("about");
  answer.clear();
  answer.tab = isScript() ? "barrier" : "findings";
  answer.mode(isScript());
  about.hidden = !item?.text;
  about.textContent = item?.text ? clip(item.text, 1200) : "";
  library.mark(work.item);
}

/** Takes a state; what the reader had changed can be brought back. @param {import("./state.js").State} state */
function take(state) {
  if (engine.running) engine.stop();
  if (work.touched && before.push(mine()) > HELD) before.shift();
  byId("back").hidden = before.length === 0;
  work.load(state);
}

/** What is here, to be held. @returns {import("./state.js").State} */
function mine() {
  const state = work.state;
  return { ...state, files: state.files.map((f) => ({ ...f })) };
}

/** Brings back what was held last; what it takes the place of is held behind the others. */
function back() {
  const state = before.pop();
  if (!state) return;
  if (engine.running) engine.stop();
  if (work.touched) before.unshift(mine());
  byId("back").hidden = before.length === 0;
  work.load(state);
  work.change();
}

/** @param {import("./library.js").Item} item */
function choose(item) {
  take(stateOf(item));
  address(`#item=${encodeURIComponent(item.id)}`);
  say(isScript() ? "Ctrl Enter plays the script." : "Ctrl Enter checks the kernel.");
}

/** @param {string} fragment */
function address(fragment) {
  try {
    history.replaceState(null, "", fragment || location.pathname + location.search);
  } catch {
    // a browser may refuse an address as long as this: then it stays as it was
  }
}

/** The state that the address has. */
async function read() {
  const fragment = location.hash;
  if (fragment.length < 2) return false;
  try {
    const m = /^#item=([\w%./-]{1,300})$/.exec(fragment);
    if (m) {
      const item = library.item(decodeURIComponent(m[1]));
      if (!item) throw new Error("the library has nothing of that name");
      choose(item);
    } else {
      take(await decode(fragment));
      say("Opened from a link. Nothing has run: look, then check.");
    }
    return true;
  } catch (e) {
    say(`This link cannot be opened: ${e.message}.`, true);
    return false;
  }
}

/** The files as the command gets them. */
function files() {
  return Object.fromEntries(work.state.files.map((f) => [f.name, f.bytes ?? f.text]));
}

/**
 * Runs the command; says what it is at, and what goes wrong.
 * @param {string} what in words @param {string[]} args @param {Object<string, string|Uint8Array>} input @param {string[]} [keep]
 */
async function command(what, args, input, keep) {
  if (engine.running) {
    say("A run is under way: Escape stops it.");
    return undefined;
  }
  const limit = limitTime(args) ?? limitTime(["--limit-time", byId("limit-time").value]), began = performance.now();
  busy(true, what);
  const clock = setInterval(() => byId("words").dataset.line === undefined && say(`${what} ${Math.round((performance.now() - began) / 1000)} s`), 1000);
  const late = setTimeout(() => engine.stop(), Math.min((limit * 1.1 + 5) * 1000, 2 ** 31 - 1)); // the command minds its limit; this is for when it cannot
  try {
    const result = await engine.run(args, input, keep, (line) => {
      byId("words").dataset.line = "";
      say(line);
    });
    say(`${what.replace(/…$/, "")}: done in ${((performance.now() - began) / 1000).toFixed(2)} s.`);
    return result;
  } catch (e) {
    if (e instanceof Stopped) say(`Stopped after ${((performance.now() - began) / 1000).toFixed(1)} s: nothing is decided.`);
    else say(`The command failed: ${clip(e.message, 300)}`, true);
    return undefined;
  } finally {
    clearInterval(clock);
    clearTimeout(late);
    busy(false);
  }
}

/** @param {boolean} on @param {string} [what] */
function busy(on, what = "") {
  for (const id of ["check", "run", "step", "format", "template"]) byId(id).disabled = on;
  byId("stop").disabled = !on;
  byId("words").classList.toggle("busy", on);
  delete byId("words").dataset.line;
  document.documentElement.dataset.busy = String(on);
  if (on) say(what);
  else opened();
}

/** Entry, flags and limits as arguments; undefined if the flags cannot be read. */
function launch() {
  try {
    const flags = split(byId("flags").value), has = (f) => flags.some((a) => a === f || a.startsWith(`${f}=`));
    const limits = ["time", "memory"].flatMap((l) => (has(`--limit-${l}`) ? [] : [`--limit-${l}`, byId(`limit-${l}`).value]));
    return [work.entry, ...flags, ...limits];
  } catch (e) {
    say(`${e.message[0].toUpperCase()}${e.message.slice(1)}.`, true);
    return undefined;
  }
}

async function check() {
  if (isScript()) return play();
  const args = launch();
  if (!args) return;
  const r = await command(`Checking ${work.entry}…`, ["check", ...args, "--format", "json", "--report", "text=report.txt"], files(), ["report.txt"]);
  if (!r) return;
  answer.clear();
  answer.report = text(r.files["report.txt"]) || `${r.stdout}${r.stderr}`;
  try {
    answer.answer = JSON.parse(r.stdout);
  } catch {
    answer.answer = undefined; // flags that it does not know, another format: its words are shown
  }
  if (answer.answer === null || typeof answer.answer !== "object") answer.answer = undefined;
  answer.open(answer.answer ? "findings" : "report");
  answer.mark();
  show();
  if (answer.answer) say(`${answer.answer.summary ?? `bad input: ${answer.answer.error?.text ?? ""}`} (${(r.ms / 1000).toFixed(2)} s)`);
  else say(last(r.stderr) || (r.stdout ? "What the command said is below Report." : "The command said nothing."), r.exit !== 0);
}

/** Brings what was said into sight: the first marked line, and where the parts lie below each other the results. */
function show() {
  const line = Math.min(...work.editor.marks.keys());
  if (Number.isFinite(line)) work.editor.reveal(line);
  if (innerWidth <= 900) byId("command").scrollIntoView({ block: "start" });
}

async function play() {
  const script = bare(work.state.files.find((f) => f.name === work.entry)?.text ?? "");
  const r = await command(`Playing ${work.entry}…`, ["barrier", work.entry], { [work.entry]: script });
  if (!r) return;
  answer.clear();
  answer.report = `${r.stdout}${r.stderr}`;
  const place = /(?:^|\/)[^/]*:(\d+):(\d+): (.*)$/m.exec(r.stderr);
  if (r.exit === 2 || !r.stdout) {
    if (place) answer.answer = { verdict: "error", error: { file: work.entry, line: Number(place[1]), col: Number(place[2]), text: place[3] } };
    answer.open("report");
    answer.mark();
    say(r.stderr ? last(r.stderr) : "The script has no command.", r.exit !== 0);
    return;
  }
  answer.played(script, r.stdout);
  show();
}

async function run() {
  const args = launch();
  if (!args) return;
  const r = await command(`Running ${work.entry}…`, ["run", ...args], files());
  if (!r) return;
  answer.report = `${r.stdout}${r.stderr}`;
  answer.stale = false;
  answer.open("report");
}

/** @param {string} [finding] its id; else the first */
async function step(finding) {
  const args = launch();
  if (!args) return;
  const r = await command(`Recording a run of ${work.entry}…`, ["view", ...args, ...(finding ? ["--finding", finding] : []), "--html", "page.html"], files(), ["page.html"]);
  if (!r) return;
  const html = text(r.files["page.html"]);
  if (html) return answer.showRun(html);
  answer.report = `${r.stdout}${r.stderr}`;
  answer.open("report");
  say(last(r.stderr) || "There is no run to show.", true);
}

/** @param {string} kind */
async function explain(kind) {
  if (!/^[\w-]{1,60}$/.test(kind)) return;
  const r = await command(`Explaining ${kind}…`, ["explain", kind], {});
  if (!r) return;
  answer.kind = kind;
  answer.words = r.stdout || r.stderr;
  answer.open("explain");
  byId("kind").focus();
}

async function format() {
  const f = work.current;
  work.commit();
  const r = await command(`Formatting ${f.name}…`, ["fmt", f.name], { [f.name]: f.bytes ?? f.text });
  if (!r) return;
  if (r.exit !== 0 || !r.stdout) return failed(r, f.name);
  work.open(f.name);
  work.editor.set(r.stdout);
  work.edit();
  if (r.stderr) say(last(r.stderr));
}

async function template() {
  const f = work.current.name.endsWith(".ptx") ? work.current : work.files.find((x) => x.name.endsWith(".ptx"));
  if (!f) return say("There is no PTX to make a launch file for.", true);
  work.commit();
  const r = await command(`Reading the parameters of ${f.name}…`, ["init", f.name], { [f.name]: f.text });
  if (!r) return;
  if (r.exit !== 0 || !r.stdout) return failed(r, f.name);
  let name = f.name.replace(/\.ptx$/, ".yaml");
  for (let i = 2; work.bad(name); i++) name = f.name.replace(/\.ptx$/, `-${i}.yaml`);
  work.entry = name;
  work.put({ name, text: r.stdout });
  const line = r.stdout.split("\n").findIndex((l) => l.includes("???")) + 1;
  work.editor.goto(Math.max(1, line));
  say(line ? "Fill in what only you know: each ???." : "The launch file is made.");
}

/** A command that refuses its input: its line is said, and marked. @param {{stderr: string, stdout: string}} r @param {string} file */
function failed(r, file) {
  const line = last(r.stderr) || "the command said nothing", place = /:(\d+):(\d+): (.*)$/.exec(line);
  answer.clear();
  answer.report = r.stderr;
  if (place) answer.answer = { verdict: "error", error: { file, line: Number(place[1]), col: Number(place[2]), text: place[3] } };
  answer.open(place ? "findings" : "report");
  answer.mark();
  say(line, true);
}

/** What the command said last; the text and the mark below it show the place that it names. @param {string} stderr */
function last(stderr) {
  const lines = stderr.trim().split("\n");
  return lines.findLast((l) => l.startsWith("muster: ")) ?? lines.at(-1);
}

/** @param {Uint8Array|undefined} bytes */
const text = (bytes) => (bytes ? new TextDecoder().decode(bytes) : "");

async function share() {
  try {
    const fragment = isItem(work.state, library.item(work.item)) ? `#item=${encodeURIComponent(work.item)}` : await encode(work.state);
    address(fragment);
    dialogs.share(`${location.href.split("#")[0]}${fragment}`, say);
  } catch (e) {
    say(`There is no link: ${e.message}.`, true);
  }
}

/** The next marked line, around the end. @param {number} by */
function nextMark(by) {
  const lines = [...work.editor.marks.keys()].sort((a, b) => a - b), at = work.editor.caret().line + 1;
  if (!lines.length) return say("No line is marked.");
  const line = by > 0 ? lines.find((l) => l > at) ?? lines[0] : lines.findLast((l) => l < at) ?? lines.at(-1);
  work.editor.goto(line);
  say(`Line ${line}: ${work.editor.marks.get(line).text}`);
}

/** The divider between editor and answers, for pointer and keys. */
function divider() {
  const e = byId("split"), main = byId("main");
  let part = 46;
  const set = (p) => {
    part = Math.max(20, Math.min(p, 75));
    main.style.setProperty("--answer", `${part}%`);
    e.setAttribute("aria-valuenow", String(Math.round(part)));
  };
  set(part);
  e.addEventListener("pointerdown", (down) => {
    e.setPointerCapture(down.pointerId);
    const move = (m) => set((100 * (main.getBoundingClientRect().right - m.clientX)) / main.clientWidth);
    e.addEventListener("pointermove", move);
    e.addEventListener("lostpointercapture", () => e.removeEventListener("pointermove", move), { once: true });
  });
  e.addEventListener("keydown", (k) => {
    const by = { ArrowLeft: 2, ArrowRight: -2 }[k.key];
    if (!by) return;
    k.preventDefault();
    set(part + by);
  });
}

function wire() {
  const on = (id, act) => byId(id).addEventListener("click", act);
  byId("command").addEventListener("submit", (e) => {
    e.preventDefault();
    if (!engine.running) check();
  });
  on("run", run);
  on("step", () => step());
  on("stop", () => engine.stop());
  on("format", format);
  on("template", template);
  on("share", share);
  on("help", () => dialogs.help());
  on("shelf", () => {
    const hidden = byId("main").classList.toggle("no-library");
    byId("shelf").setAttribute("aria-expanded", String(!hidden));
    if (!hidden && innerWidth <= 900) byId("library").scrollIntoView({ block: "start" });
  });
  on("empty", () => {
    take(EMPTY());
    address("");
    say("Paste PTX, or drop files here.");
    work.editor.area.focus();
  });
  on("back", back);
  document.querySelector(".skip").addEventListener("click", (e) => {
    e.preventDefault(); // the address is that of a state
    work.editor.area.focus();
  });
  on("new", async () => {
    const name = await dialogs.ask("New file", "launch.yaml", (n) => work.bad(n));
    if (name) work.put({ name, text: "" });
  });
  on("rename", async () => {
    const name = await dialogs.ask("Rename", work.current.name, (n) => work.bad(n, work.current));
    if (name && name !== work.current.name) work.rename(name);
  });
  on("remove", () => work.remove());
  on("upload", () => byId("pick").click());
  byId("pick").addEventListener("change", async () => {
    await work.take([...byId("pick").files]);
    byId("pick").value = "";
  });
  document.addEventListener("keydown", key);
  addEventListener("hashchange", read);
  addEventListener("pagehide", () => work.keep());
}

/** @param {KeyboardEvent} e */
function key(e) {
  if (e.defaultPrevented || byId("dialog").open) return;
  const field = /** @type {Element} */ (e.target).closest("input, select, textarea");
  if ((e.ctrlKey || e.metaKey) && e.key === "Enter") check();
  else if (e.key === "Escape" && engine.running) engine.stop();
  else if (e.key === "Escape" && byId("main").classList.contains("wide")) {
    byId("main").classList.remove("wide");
    answer.open("findings");
    byId("tab-findings").focus();
  } else if (e.key === "F8") nextMark(e.shiftKey ? -1 : 1);
  else if (e.key === "/" && !field) byId("query").focus();
  else if (e.key === "?" && !field) byId("help").click();
  else return;
  e.preventDefault();
}

async function main() {
  new Theme(byId("theme"), () => {});
  divider();
  wire();
  if (innerWidth <= 900) byId("shelf").click();
  const kept = work.kept();
  work.load(kept ?? EMPTY());
  work.touched = kept !== undefined; // nothing else is kept than what the reader changed
  say("");
  try {
    await library.load();
  } catch (e) {
    say(`${e.message[0].toUpperCase()}${e.message.slice(1)}.`, true);
  }
  loaded();
  if (!(await read()) && !kept && library.groups[0]?.items[0]) {
    const bad = byId("words").classList.contains("bad");
    work.load(stateOf(library.groups[0].items[0]));
    if (!bad) say("Ctrl Enter plays the script.");
  }
  document.documentElement.dataset.ready = "true";
  engine.load().catch((e) => say(clip(e.message, 300), true));
}

main().catch((e) => {
  say(`This page cannot be shown: ${e.message}`, true);
  document.documentElement.dataset.ready = "failed";
});
