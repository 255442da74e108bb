// The answer of a check, in words: the verdict, and each finding with its places. It shows the
// report as data (docs/report.schema.json), which comes from a program that read what anybody
// may have written: every part is text, and a part that is missing is left out.

import { clip, counted, el, link } from "./dom.js";

const list = (x) => (Array.isArray(x) ? x : []);
const RANK = ["error", "warning", "note"];

/** How many findings are shown in full, and how many of those who wait. */
const MOST = 60, WAITERS = 6;

/** The last part of a path. @param {*} path */
export const base = (path) => String(path ?? "").split("/").pop();

/** The reports in an answer: of several launches, one each. */
export function reports(answer) {
  return list(answer.stages).length ? answer.stages.flatMap((s) => reports(s.report ?? s)) : [answer];
}

/** The lines of a file that findings name, with the worst that is said of each. @param {*} answer @param {string} file */
export function marks(answer, file) {
  const out = new Map();
  const add = (line, severity, text) => {
    const had = out.get(line);
    if (!had || RANK.indexOf(severity) < RANK.indexOf(had.severity)) out.set(line, { severity, text });
  };
  for (const f of reports(answer).flatMap((r) => list(r.findings)))
    for (const s of list(f.sites)) for (const p of [s.ptx, ...list(s.source)]) if (p?.line && base(p.file) === base(file)) add(p.line, f.severity, `${f.kind}: ${clip(f.headline ?? "", 300)}`);
  const e = answer.error;
  if (e?.line && base(e.file) === base(file)) add(e.line, "error", clip(e.text ?? "", 300));
  return out;
}

/** @typedef {{has: (file: string) => boolean, jump: (file: string, line: number, col?: number) => void, explain: (kind: string) => void, step: (id: string) => void}} Acts */

/** A place as a link, if its file is open. @param {*} p @param {Acts} acts */
function place(p, acts) {
  const text = `${clip(base(p.file), 80)}:${p.line}`;
  return acts.has(p.file) ? link(text, () => acts.jump(p.file, p.line, p.col), `Go to ${text}`) : el("span", {}, text);
}

/** @param {*} s a site @param {Acts} acts */
function site(s, acts) {
  const who = [s.cta ? `CTA ${s.cta.join(",")}` : "", s.warp >= 0 ? `warp ${s.warp}` : "", s.lanes !== undefined ? `lanes ${clip(String(s.lanes), 60)}` : "", String(s.operation ?? ""), s.memory?.text ?? ""].filter(Boolean).join(", ");
  const source = list(s.source).at(-1);
  return el("div.site", {}, el("span", {}, `${clip(s.role ?? "", 60)} at `, s.ptx ? place(s.ptx, acts) : null), el("code", {}, clip(s.ptx?.text ?? "", 300)), el("small", {}, clip(who, 300), source?.line ? el("span", {}, "; source ", place(source, acts)) : null));
}

/** @param {[string, *][]} pairs */
function terms(pairs) {
  const out = el("dl.terms");
  for (const [name, what] of pairs) for (const w of Array.isArray(what) ? what : [what]) if (w) out.append(el("dt", {}, name), el("dd", {}, typeof w === "string" ? clip(w, 2000) : w));
  return out;
}

/** Who waits: warps that wait for the same at one line are one entry. @param {*[]} waits @param {Acts} acts */
function waiters(waits, acts) {
  const groups = new Map();
  for (const w of waits) {
    const key = JSON.stringify([w.site?.ptx?.file, w.site?.ptx?.line, w.site?.cta, w.for, w.owed]), had = groups.get(key);
    if (had) had.warps.push(w.site?.warp ?? "?");
    else groups.set(key, { ...w, warps: [w.site?.warp ?? "?"] });
  }
  const all = [...groups.values()], out = all.slice(0, WAITERS).map((w) => el("span", {}, `${w.warps.length > 1 ? "warps" : "warp"} ${clip(w.warps.join(", "), 200)} at `, w.site?.ptx ? place(w.site.ptx, acts) : "", ` for ${clip(w.for ?? "", 300)}`, w.owed ? `; ${clip(w.owed, 300)}` : ""));
  if (all.length > WAITERS) out.push(el("span", {}, `and ${all.length - WAITERS} more`));
  return out;
}

/** @param {*} f a finding @param {Acts} acts @param {boolean} wide it has a run to show */
function finding(f, acts, wide) {
  const owed = waiters(list(f.waiting), acts);
  return el("article", { class: `finding ${RANK.includes(f.severity) ? f.severity : "note"}` },
    el("h3", {}, el(`span.badge.${RANK.includes(f.severity) ? f.severity : "note"}`, {}, f.severity), link(clip(f.kind ?? "", 60), () => acts.explain(f.kind), `Explain ${clip(f.kind ?? "", 60)}`)),
    el("p", {}, clip(f.headline ?? "", 1000)), ...list(f.sites).map((s) => site(s, acts)),
    terms([["missing", f.missing], ["stands", list(f.stands)], ["fix", f.fix], ["ledger", list(f.ledger)], ["waits", owed], ["note", list(f.notes)], ["accepted", f.accepted], ["follows", f.follows]]),
    el("div.row", {}, wide ? el("button", { type: "button", click: () => acts.step(f.id) }, "Step through it") : null, el("span.quiet", {}, [f.count > 1 ? `${f.count} times in this schedule` : "", f.seen ? `seen in ${counted(f.seen, "schedule")}` : "", f.schedule ? `shown in ${clip(f.schedule, 60)}` : ""].filter(Boolean).join("; "))));
}

/** The last line, which the verdict's badge begins. @param {*} r */
function summary(r) {
  const text = String(r.summary ?? r.error?.text ?? "");
  return text.startsWith(`${r.verdict}: `) ? text.slice(r.verdict.length + 2) : text;
}

/** One report. @param {*} r @param {Acts} acts @param {boolean} wide */
function one(r, acts, wide) {
  const found = list(r.findings), out = [el("p.verdict", {}, el("span", { class: `badge ${/^\w+$/.test(r.verdict) ? r.verdict : ""}` }, r.verdict), el("span", {}, clip(summary(r), 1000)))];
  out.push(...found.slice(0, MOST).map((f) => finding(f, acts, wide)));
  if (found.length > MOST) out.push(el("p", {}, `and ${found.length - MOST} more, which the tab Report has`));
  const more = (name, items) => (items.length ? [el("h3", {}, name), el("ul.more", {}, ...items.slice(0, 40).map((x) => el("li", {}, x)))] : []);
  out.push(...more("Not covered", list(r.gaps).map((g) => clip(typeof g === "string" ? g : [g.place?.line ? `line ${g.place.line}` : "", g.what ?? ""].filter(Boolean).join(": "), 600))));
  out.push(...more("Why one run does not decide", list(r.proof?.reasons).map((x) => clip([x.condition, x.text].filter(Boolean).join(": "), 600))));
  out.push(...more("Assumed", list(r.assumptions).map((x) => clip(String(x), 600))), ...more("Notices", list(r.notices).map((x) => clip(typeof x === "string" ? x : x.text ?? "", 600))));
  return out;
}

/**
 * An answer as nodes.
 * @param {*} answer of check --format json @param {Acts} acts @returns {Node[]}
 */
export function show(answer, acts) {
  if (answer.error) {
    const { file, line, col, text } = answer.error;
    return [el("p.verdict", {}, el("span.badge.error", {}, "bad input"), el("span", {}, line ? place({ file, line, col }, acts) : clip(base(file), 200), `${file || line ? ": " : ""}${clip(text ?? "", 1000)}`)), el("p.quiet", {}, "The command stops at the first thing that it cannot read.")];
  }
  const all = reports(answer), single = all.length === 1;
  if (single) return one(all[0], acts, true);
  return [el("p.verdict", {}, el("span", { class: `badge ${/^\w+$/.test(answer.verdict) ? answer.verdict : ""}` }, answer.verdict), el("span", {}, clip(summary(answer), 1000))), ...all.flatMap((r, i) => [el("h3", {}, `Launch ${i + 1}: ${clip(r.launch?.kernel ?? "", 200)}`), ...one(r, acts, true)])];
}
