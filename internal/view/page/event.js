// The tab of the selected event: its facts, who completed it, and what its arrows lead to.

import { clip, counted, el, link } from "./dom.js";
import { told } from "./way.js";
import { stepWords } from "./words.js";

const WORDS = {
  completed_by: "completed by", completed_in_step: "completed in step", barrier: "mbarrier", until: "waits for",
  instruction: "instruction", lanes: "lanes", arrivals: "arrivals", bytes: "bytes", reads: "reads", writes: "writes", operation: "operation", group: "group", ended: "ended", phase: "phase",
};

/** @param {import("./state.js").Shown} shown @returns {Node[]} */
export function eventTab(shown) {
  const { run, step } = shown, slice = shown.slice >= 0 ? shown.slice : run.stepEvent(step), out = [];
  if (slice >= 0) out.push(facts(shown, slice));
  const events = run.eventsAt(step).filter((e) => e.slice !== slice).slice(0, 100);
  // Events that read alike, as the copies of a warp's lanes do, are one line.
  const list = el("ul.plain"), alike = new Map();
  for (const e of events) {
    const f = run.facts(e.slice), text = `${run.path(f.track)}: ${{ takes: "", begins: "begins ", ends: "ends " }[e.how]}`, key = `${text}${f.name}`;
    if (alike.has(key)) alike.get(key).n++;
    else alike.set(key, { n: 1, text, name: f.name, slice: e.slice });
  }
  for (const x of alike.values()) list.append(el("li", {}, x.text, link(clip(x.name, 200), () => shown.select(x.slice, step)), x.n > 1 ? ` × ${x.n}` : null));
  out.push(el("div.card", {}, el("h3", {}, step === 0 ? "Before the first step" : `In step ${step}`), events.length ? list : el("p.quiet", {}, step === 0 ? "Nothing has happened." : "nothing else begins or ends")));
  for (const r of shown.runs) if (r !== run) out.push(el("div.card", {}, el("h3", {}, `The other run, ${clip(r.info.name || r.info.schedule, 60)}`), el("p", {}, stepWords(r, Math.min(step, r.steps)))));
  if (slice >= 0) out.push(compared(shown, slice));
  return out;
}

/** Who completed the generation of a named barrier that a wait ends with, or null. @param {import("./model.js").Run} run @param {number} slice */
function opens(run, slice) {
  const m = run.marks, warp = run.tracks[m.track[slice]].parent, after = warp?.lanes[0]?.find((s) => m.from[s] >= m.to[slice]);
  const x = after === undefined ? undefined : run.meetings(after).find((y) => y.how === "passes"), t = x && run.byId.get(x.where);
  const g = t?.lanes[0]?.find((s) => run.strings[m.name[s]] === `generation ${x.phase}`);
  return g === undefined ? null : { step: m.to[g], by: String(run.facts(g).args.find((a) => a.name === "ended_by")?.value ?? "") };
}

/** What leads from the marked event to this one, or back. @param {import("./state.js").Shown} shown @param {number} slice */
function compared(shown, slice) {
  const { run, mark } = shown, set = el("button", { type: "button", click: () => shown.setMark(slice) }, "Mark this event (m)");
  const head = el("h3", {}, "What orders two events");
  if (mark < 0) return el("div.card", {}, head, el("p.quiet", {}, "Mark one event, then select another."), set);
  const f = run.facts(mark), marked = link(`step ${run.stepOf(mark)}, ${clip(f.name, 100)} of ${run.path(f.track)}`, () => shown.select(mark));
  if (mark === slice) return el("div.card", {}, head, el("p", {}, "This event is marked: select another."), el("button", { type: "button", click: () => shown.setMark(-1) }, "Mark nothing"));
  const list = shown.way.length ? told(run, shown.way) : [];
  const words = list.length ? el("ol.way", {}, ...list.slice(0, 40).map((x) => el("li", {}, link(`step ${x.step}`, () => shown.go(x.step)), ` ${clip(x.text, 300)}`))) : el("p", {}, shown.far ? "Too much lies between the two for this page to look for a way." : "No barrier, mbarrier or program leads from the one to the other. Flags in memory and waits for groups are not followed.");
  return el("div.card", {}, head, el("p", {}, "Marked: ", marked), words, set);
}

/** @param {import("./state.js").Shown} shown @param {number} slice */
function facts(shown, slice) {
  const { run } = shown, f = run.facts(slice), rows = el("dl.facts");
  const add = (name, ...value) => rows.append(el("dt", {}, name), el("dd", {}, ...value));
  add("where", run.path(f.track));
  add("steps", f.end - f.start <= 1 ? String(f.end) : "", f.end - f.start > 1 ? link(String(f.start + 1), () => shown.select(slice)) : null, f.end - f.start > 1 ? " to " : null, f.end - f.start > 1 ? link(String(f.end), () => shown.select(slice, f.end), `Go to step ${f.end}, with which it ends`) : null);
  if (f.place) add("line", `${clip(f.place.file, 200)}:${f.place.line}`);
  const meets = run.meetings(slice);
  for (const x of meets) {
    const t = run.byId.get(x.where), phase = Array.from(t?.lanes[0] ?? []).find((p) => run.strings[run.marks.name[p]] === `${t.kind === "mbar" ? "phase" : "generation"} ${x.phase}`);
    add("meets", run.meetingWords(x), phase === undefined ? null : " ", phase === undefined ? null : link(`steps ${run.marks.from[phase] + 1} to ${run.marks.to[phase]}`, () => shown.select(phase), `Select it: ${run.meetingWords(x)}`));
  }
  const opened = f.category === "wait" && !f.args.some((a) => a.name === "completed_by") ? opens(run, slice) : null;
  if (opened) add("completed by", `${clip(opened.by, 300)}, `, link(`step ${opened.step}`, () => shown.go(opened.step)));
  for (const a of f.args) {
    if (a.name === "of_phase" || meets.some((x) => x.how === a.name)) continue;
    const value = clip(String(a.value), 1000);
    if (a.name === "completed_in_step") add(WORDS[a.name], link(value, () => shown.go(Number(a.value))));
    else if (a.name === "ended_by" && f.end > 0) add("ended by", `${value}, `, link(`step ${f.end}`, () => shown.go(f.end), `Go to step ${f.end}: ${value}`));
    else add(WORDS[a.name] ?? a.name.replaceAll("_", " "), value);
  }
  for (const [title, list, side] of [["orders", f.from, "target"], ["after", f.to, "source"]]) {
    const known = list.filter((a) => run.marks.leaves[a] && run.marks.ends[a]);
    if (!known.length) continue;
    const alike = new Map();
    for (const a of known) {
      const other = run.arrowEnds(a)[side], o = run.facts(other), text = `${clip(o.name, 100)} of ${run.path(o.track)}`, at = alike.get(text);
      if (at) at.n++;
      else alike.set(text, { n: 1, other, end: side === "source" ? o.end : undefined });
    }
    const lines = [...alike], links = lines.slice(0, 20).flatMap(([text, x]) => [link(text, () => shown.select(x.other, x.end)), x.n > 1 ? ` × ${x.n}` : "", el("br")]);
    add(title, ...links, lines.length > 20 ? counted(lines.length - 20, "more", "more") : null);
  }
  return el("div.card.wide", {}, el("h3", {}, clip(f.name, 300)), rows);
}
