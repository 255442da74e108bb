// Puts the page together: reads its data, makes its parts, and wires controls and keys.

import { checksum, unpack } from "./bytes.js";
import { Code } from "./code.js";
import { Detail } from "./detail.js";
import { filter, help } from "./dialogs.js";
import { byId, clip, count, counted, el } from "./dom.js";
import { listen } from "./keys.js";
import { Lanes } from "./lanes.js";
import { Run, first } from "./model.js";
import { RULER } from "./paint.js";
import { parting } from "./part.js";
import { Search } from "./search.js";
import { Shown } from "./state.js";
import { Story } from "./story.js";
import { Tabs } from "./tabs.js";
import { Theme } from "./theme.js";
import { groups } from "./why.js";
import { stepBrief, stepWords } from "./words.js";

/** Steps in sight at the start, around the finding's places. */
const AROUND = 24;

/** Reads the data. */
async function load() {
  // A file that lost a byte on its way is not shown as if it were whole.
  if (!document.styleSheets.length) throw new Error("its style is damaged");
  if (checksum(byId("about").textContent) !== Number(byId("about").dataset.sum)) throw new Error("its data is damaged");
  const about = JSON.parse(byId("about").textContent), bytes = await unpack(byId("blob").textContent);
  byId("about").remove();
  byId("blob").remove();
  const utf8 = new TextDecoder(), text = ([at, n]) => utf8.decode(bytes.subarray(at, at + n));
  for (const t of about.texts) t.text = text(t.text) + (t.cut ? "\n… the rest is too long for this page" : "");
  const runs = about.runs.map((info) => new Run({ ...info, tracks: JSON.parse(text(info.tracks)) }, bytes, JSON.parse(text(info.strings))));
  for (const r of runs) await r.load((done) => (byId("words").textContent = `Reading ${r.info.name || "the run"}: ${Math.round(done * 100)} %`));
  return { about, runs };
}

/** The bar at the top. */
function heading(about, shown) {
  const { report } = about, badge = byId("verdict");
  badge.textContent = report.verdict;
  badge.classList.add(report.verdict);
  byId("launch").textContent = clip(report.launch.file || report.launch.ptx || report.launch.kernel, 80);
  byId("launch").title = clip(`${report.launch.kernel}: ${report.summary}`, 500);
  document.title = `${clip(report.launch.kernel || "launch", 60)}: muster view`;
  const pick = byId("finding");
  report.findings.forEach((f, i) => pick.append(el("option", { value: i }, clip(`${i + 1}. ${f.id}`, 90))));
  byId("pick").hidden = report.findings.length === 0;
  shown.finding = Math.max(0, report.findings.findIndex((f) => shown.runs.some((r) => r.info.finding === f.id)));
  pick.value = String(shown.finding);
  pick.addEventListener("change", () => {
    shown.finding = Number(pick.value);
    const i = shown.runs.findIndex((r) => r.info.finding === report.findings[shown.finding].id);
    if (i >= 0) shown.activate(i);
    shown.changed("finding");
    if (i >= 0) place(shown, 1, 0);
  });
}

/** Steps that are worth a jump: the finding's places, or else the story's. */
function places(run) {
  const list = run.info.sites.length ? run.info.sites : run.info.words ?? [];
  return [...new Set(list.map((s) => s.step))].sort((a, b) => a - b);
}

/** Goes to the next place from a step on, or the one before, around the ends. */
function place(shown, by, from = shown.step) {
  const list = places(shown.run);
  if (!list.length) return shown.say("this run has no place of a finding");
  const next = by > 0 ? list.find((s) => s > from) ?? list[0] : list.findLast((s) => s < from) ?? list[list.length - 1];
  shown.go(next);
}

/** Goes to the next step at which a phase of an mbarrier begins, or the one before. */
function phase(shown, by) {
  const { run, step } = shown, m = run.marks;
  let best = by > 0 ? Infinity : -Infinity;
  for (const t of run.tracks) {
    if (t.kind !== "mbar" || !t.lanes[0]) continue;
    const lane = t.lanes[0], i = first(lane.length, (k) => (by > 0 ? m.from[lane[k]] > step : m.from[lane[k]] >= step)) + (by > 0 ? 0 : -1);
    if (i >= 0 && i < lane.length) best = by > 0 ? Math.min(best, m.from[lane[i]]) : Math.max(best, m.from[lane[i]]);
  }
  if (Number.isFinite(best)) shown.go(best);
  else shown.say(by > 0 ? "no phase begins later" : "no phase begins earlier");
}

/** Goes to the event before or after in the selection's lane. */
function along(shown, by) {
  const { run, slice } = shown, m = run.marks;
  if (slice < 0) return;
  const lane = run.tracks[m.track[slice]].lanes[m.depth[slice]] ?? [], i = lane.indexOf(slice) + by;
  if (i >= 0 && i < lane.length) shown.select(lane[i]);
}

/** Plays steps one after the other. */
function player(shown) {
  const button = byId("play"), speed = byId("speed");
  let on = false, last = 0;
  const frame = (now) => {
    if (!on) return;
    const due = Math.floor(((now - last) / 1000) * Number(speed.value));
    if (due > 0) {
      last = now;
      shown.go(shown.step + due);
      if (shown.step >= shown.run.steps) return set(false);
    }
    requestAnimationFrame(frame);
  };
  const set = (play) => {
    on = play;
    button.textContent = on ? "Pause" : "Play";
    button.setAttribute("aria-pressed", String(on));
    if (!on) return;
    if (shown.step >= shown.run.steps) shown.go(0);
    last = performance.now();
    requestAnimationFrame(frame);
  };
  button.addEventListener("click", () => set(!on));
  return () => set(!on);
}

/** The divider between lanes and code, for pointer and keys. */
function divider() {
  const e = byId("split"), main = byId("main");
  let width = 0;
  const set = (w) => {
    width = Math.max(220, Math.min(w, main.clientWidth - 320));
    main.style.setProperty("--code", `${width}px`);
    e.setAttribute("aria-valuenow", String(Math.round(width)));
  };
  set(Math.min(760, main.clientWidth * 0.4));
  e.addEventListener("pointerdown", (down) => {
    e.setPointerCapture(down.pointerId);
    const move = (m) => set(main.getBoundingClientRect().right - m.clientX);
    e.addEventListener("pointermove", move);
    e.addEventListener("lostpointercapture", () => e.removeEventListener("pointermove", move), { once: true });
  });
  e.addEventListener("keydown", (k) => {
    const by = { ArrowLeft: 24, ArrowRight: -24 }[k.key];
    if (!by) return;
    k.preventDefault();
    set(width + by);
  });
}

/** Wires controls and keys to what they do. */
function wire(shown, lanes, tabs) {
  const step = byId("step"), play = player(shown), dialog = byId("dialog");
  const acts = {
    first: () => shown.go(0), back: () => shown.go(shown.step - 1), forth: () => shown.go(shown.step + 1), last: () => shown.go(shown.run.steps),
    "place-prev": () => place(shown, -1), "place-next": () => place(shown, 1), "zoom-out": () => shown.zoom(1.6), "zoom-in": () => shown.zoom(1 / 1.6, zoomAt(shown)),
    fit: () => shown.fit(), help: () => help(dialog), tracks: () => filter(dialog, lanes[shown.active]), part: () => parted(shown, lanes[0].part),
  };
  for (const [id, act] of Object.entries(acts)) byId(id).addEventListener("click", act);
  step.addEventListener("change", () => shown.go(Number(step.value)));
  byId("arrows").addEventListener("change", (e) => {
    shown.arrows = e.target.checked;
    shown.changed("layout");
  });
  const tabKeys = Object.fromEntries(["event", "barriers", "registers", "memory", "table", "waits"].map((t, i) => [String(i + 1), () => tabs.open(t)]));
  listen({
    ...tabKeys, w: acts["zoom-in"], s: acts["zoom-out"], a: () => shown.pan(-0.2), d: () => shown.pan(0.2), f: acts.fit, ArrowLeft: acts.back, ArrowRight: acts.forth,
    ShiftArrowLeft: () => phase(shown, -1), ShiftArrowRight: () => phase(shown, 1), Home: acts.first, End: acts.last, " ": play, n: acts["place-next"], p: acts["place-prev"],
    m: () => shown.slice >= 0 && shown.setMark(shown.slice),
    "[": () => along(shown, -1), "]": () => along(shown, 1), "/": () => byId("query").focus(), t: acts.tracks, "?": acts.help,
    Escape: () => {
      shown.slice = -1;
      shown.changed("select");
    },
  });
}

/** Zooming in keeps the step where it is, if it is in sight. */
function zoomAt(shown) {
  const at = shown.step - 0.5;
  return at >= shown.from && at <= shown.to ? at : undefined;
}

/** Shows the number and words of the step whenever it changes. */
function follow(shown) {
  shown.listen((changes) => {
    if (changes.has("step") || changes.has("run")) {
      byId("step").value = String(shown.step);
      byId("step").max = String(shown.run.steps);
      byId("total").textContent = `of ${count(shown.run.steps)}`;
      byId("words").textContent = byId("words").title = stepWords(shown.run, shown.step);
      if (!changes.has("note")) shown.note = "";
    }
    byId("note").textContent = byId("note").title = shown.note;
  });
}

/** Goes to where two runs part, and says what each does there. */
function parted(shown, at) {
  shown.go(at);
  const [a, b] = shown.runs.map((r) => (at > r.steps ? "it has ended" : stepBrief(r, at)));
  shown.say(`here ${a}; in the other run ${b}`);
}

/** Two runs: where they part. */
function compare(shown, lanes) {
  if (shown.runs.length < 2) return;
  const at = parting(shown.runs[0], shown.runs[1]), button = byId("part");
  button.hidden = false;
  button.disabled = at < 0;
  button.textContent = at < 0 ? "The runs are the same" : `They part at step ${count(at)}`;
  for (const l of lanes) l.part = at;
}

async function main() {
  // What the browser says of broken gzip or JSON is no help to a reader.
  const { about, runs } = await load().catch((e) => {
    throw new Error(/damaged/.test(e.message) ? e.message : `its data is damaged (${e.message})`);
  });
  const shown = new Shown(runs), theme = new Theme(byId("theme"), () => shown.changed("theme"));
  heading(about, shown);
  byId("lanes").replaceChildren();
  const lanes = runs.map((_, i) => new Lanes(byId("lanes"), shown, theme, i));
  divider();
  new Story(byId("story"), shown, about);
  const details = runs.map((r) => new Detail(r));
  new Code(byId("code"), shown, about, details);
  const tabs = new Tabs(byId("tabs"), byId("panel"), shown, details, about, () => lanes[shown.active].layout.hidden);
  new Search({ form: byId("search"), query: byId("query"), hits: byId("hits"), previous: byId("hit-prev"), next: byId("hit-next") }, shown);
  follow(shown);
  compare(shown, lanes);
  wire(shown, lanes, tabs);
  begin(shown);
  narrow(shown, lanes, about.report);
  performance.mark("ready");
  document.documentElement.dataset.ready = "true";
}

/** The tracks that the finding is about: its places, what they touch, the way between them, and one warp of each group that waits. */
function concerned(shown, run, report) {
  const keep = new Set(), m = run.marks, of = (t) => keep.add(t), at = (step) => {
    for (const e of run.eventsAt(step)) if (e.how !== "ends" || ["mbar", "barrier"].includes(run.tracks[m.track[e.slice]].kind)) of(run.tracks[m.track[e.slice]]);
    for (const t of run.tracks) if (t.counter && t.parent && run.valueAt(t, step) !== run.valueAt(t, step - 1)) of(t.parent);
  };
  for (const s of run.info.sites) {
    if (run.byId.has(s.track)) of(run.byId.get(s.track));
    at(s.step);
  }
  for (const x of run.way ?? []) {
    of(run.tracks[m.track[x.slice]]);
    for (const y of run.meetings(x.slice)) if (run.byId.has(y.where)) of(run.byId.get(y.where));
  }
  if (run.edge) for (const e of [run.edge.from, run.edge.to]) if (e.slice >= 0) of(run.tracks[m.track[e.slice]]);
  for (const g of groups(report.findings[shown.finding]?.waiting ?? []).slice(0, 8)) {
    const t = run.tracks.find((x) => x.kind === "warp" && x.rank === g.warps[0] && x.parent?.name === g.cta);
    if (t) of(t);
  }
  return keep;
}

/** Leaves the rows that the finding is about, if not all have room; a button shows the others. */
function narrow(shown, lanes, report) {
  const button = byId("all-rows"), count = () => lanes[shown.active].layout.hidden.size;
  for (const l of lanes) {
    if (!l.run.info.sites.length || l.layout.height <= l.scroll.clientHeight - RULER) continue;
    l.layout.only(concerned(shown, l.run, report), l.scroll.clientHeight - RULER);
    l.relaid();
  }
  const show = () => {
    button.hidden = count() === 0;
    button.textContent = `All rows (${counted(count(), "is hidden", "are hidden")})`;
  };
  button.addEventListener("click", () => {
    lanes[shown.active].layout.hidden.clear();
    lanes[shown.active].layout.make();
    lanes[shown.active].relaid();
  });
  shown.listen((changes) => {
    if (changes.has("layout") || changes.has("run")) show();
  });
  show();
}

/** Begins at the finding: its first place, with all of them in sight if they are near. */
function begin(shown) {
  const i = Math.max(0, shown.runs.findIndex((r) => r.info.sites.length));
  shown.active = i;
  const list = places(shown.run), { cut } = shown.run.info;
  if (!list.length || shown.run.steps <= AROUND) shown.fit();
  else {
    const a = list[0], b = list[list.length - 1], near = b - a < 20 * AROUND ? b : a;
    const margin = Math.max(AROUND / 2, (near - a) * 0.15);
    shown.see(a - margin, near + margin);
  }
  // The step that shows it: the later place, or that of a wait that was lapped. Without a
  // finding it begins at the beginning; a run that is cut, where it is.
  const { edge } = shown.run, last = shown.run.info.sites.length ? list[list.length - 1] : cut ? shown.run.steps : 0, shows = edge && shown.run.lap(edge.from.step) ? edge.from.step : last;
  shown.go(shows);
}

main().catch((e) => {
  (byId("words") ?? document.body).textContent = `This page cannot be shown: ${e.message}`;
  document.documentElement.dataset.ready = "failed";
});
