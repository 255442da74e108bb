// The finding in words: what is wrong, where, what is missing, what mends it, and the steps
// that lead to it.

import { clip, counted, el, link } from "./dom.js";
import { hangs, mended, order, why } from "./why.js";
import { endWords } from "./words.js";

/** So many gaps are listed. */
const MOST_GAPS = 5;

/** An instruction, cut to its beginning; all of it stands in the listing. @param {string} text */
const short = (text) => (text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`), LONGEST = 72;

export class Story {
  /** @param {HTMLElement} place @param {import("./state.js").Shown} shown @param {*} about the page's data */
  constructor(place, shown, about) {
    this.place = place;
    this.shown = shown;
    this.report = about.report;
    this.kinds = about.kinds ?? {};
    shown.listen((changes) => {
      if (changes.has("finding") || changes.has("run")) this.show();
      if (changes.has("step")) this.now();
    });
    this.show();
  }

  /** The run that shows the finding at hand, or undefined. */
  get run() {
    const f = this.report.findings[this.shown.finding];
    return this.shown.runs.find((r) => (f ? r.info.finding === f.id : true));
  }

  show() {
    const f = this.report.findings[this.shown.finding];
    this.place.replaceChildren(...(f ? this.finding(f) : this.clean()));
    this.now();
  }

  clean() {
    const run = this.shown.run.info, words = [el("p.headline", {}, this.report.verdict === "clean" ? "No finding: this is one run of the launch." : "No finding in what was checked.")];
    words.push(el("p", {}, clip(this.report.summary, 2000)));
    if (run.cut) words.push(this.cut(run));
    const gaps = this.report.gaps ?? [];
    for (const g of gaps.slice(0, MOST_GAPS)) words.push(this.gap(g));
    if (gaps.length > MOST_GAPS) words.push(el("p.quiet", {}, `${counted(gaps.length - MOST_GAPS, "gap")} more: muster check lists them`));
    if (run.steps === 0 && !run.cut) words.push(el("p", {}, "The run has no steps."));
    return [el("div.said", {}, ...words), this.steps(run)];
  }

  /** What the check leaves open, where, and what would decide it. @param {*} g */
  gap(g) {
    const p = g.place, at = p ? [" at ", el("code", {}, clip(p.text, 300)), ` ${clip(p.file.split("/").pop(), 200)}:${p.line}`] : [];
    return el("p.missing", {}, el("b", {}, "not decided "), clip(g.what ?? "", 1000), ...at, g.needs ? el("span.quiet", {}, ` needs ${clip(g.needs, 1000)}`) : null);
  }

  /** That the page ends before the run does, and why. @param {*} info */
  cut(info) {
    return el("p.missing", {}, el("b", {}, "cut "), clip(endWords(info), 1000));
  }

  /** @param {*} f the finding */
  finding(f) {
    const run = this.run, info = run?.info, kind = Object.hasOwn(this.kinds, f.kind) ? this.kinds[f.kind] : undefined, edge = kind?.edge ?? 0, said = el("div.said", { tabindex: "0", role: "group", "aria-label": "The finding" });
    said.append(el("p.headline", {}, el("span.kind", { title: kind?.title }, clip(f.kind, 200)), f.severity === "error" ? " " : ` (${clip(f.severity, 100)}) `, clip(f.headline, 2000)));
    if (f.accepted) said.append(el("p.accepted", {}, el("b", {}, "accepted "), clip(f.accepted, 1000)));
    if (info?.cut) said.append(this.cut(info));
    const sites = el("ol.sites", {});
    f.sites.forEach((s, i) => sites.append(this.site(s, i, info)));
    said.append(sites);
    if (f.missing) said.append(el("p.missing", {}, el("b", {}, "missing "), clip(f.missing, 2000)));
    const found = run ? order(this.shown, run, f, edge) : { nodes: [], links: [] };
    for (const r of this.shown.runs) if (r !== run) r.edge = r.way = null;
    if (run) run.way = found.links;
    said.append(...found.nodes);
    if (f.fix) said.append(el("p.fix", {}, el("b", {}, "fix "), clip(f.fix, 2000)));
    said.append(...mended(f, run?.edge));
    for (const t of (f.ledger ?? []).slice(0, 4)) said.append(el("p", {}, el("b", {}, "barrier "), clip(t, 1000)));
    said.append(...hangs(f));
    for (const t of (f.stands ?? []).slice(0, 8)) said.append(el("p.stands", {}, el("b", {}, "stands "), clip(t, 1000)));
    said.append(...why(kind && { name: f.kind, ...kind }));
    const more = [...(f.ledger ?? []).slice(4), ...(f.stands ?? []).slice(8), ...(f.notes ?? [])];
    if (more.length) said.append(el("details", {}, el("summary", {}, counted(more.length, "more fact")), el("ul", {}, ...more.slice(0, 200).map((t) => el("li", {}, clip(t, 1000))))));
    if (f.schedule) said.append(el("p.quiet", {}, `seen in ${f.seen} of ${counted(this.report.schedules.length, "schedule")}, first in ${clip(f.schedule, 200)}; PTX ISA ${f.section}`));
    else said.append(el("p.quiet", {}, `PTX ISA ${f.section}`));
    if (!info) said.append(el("p.missing", {}, "This page shows the run of another finding. To see this one’s: ", el("code", {}, clip(f.replay.replace("muster replay", "muster view"), 500))));
    return [said, this.steps(info)];
  }

  site(site, i, info) {
    const steps = (info?.sites ?? []).filter((x) => x.site === i).map((x) => x.step), line = el("li", {}, el("b.role", {}, site.role), " ");
    const where = [site.operation, site.launch, site.cta && `CTA (${site.cta.join(",")})`, site.warp >= 0 && (site.ptx || site.lanes) && `warp ${site.warp}`, site.lanes && `${/[-,]/.test(site.lanes) ? "lanes" : "lane"} ${site.lanes}`].filter(Boolean).join(", ");
    if (site.ptx) line.append(el("code", { title: clip(site.ptx.text, 2000) }, short(site.ptx.text)), ` line ${site.ptx.line}`);
    const source = site.source?.[site.source.length - 1];
    if (source) line.append(` · ${clip(source.file, 200)}:${source.line}`);
    line.append(el("span.quiet", {}, ` ${clip([where, site.memory?.text].filter(Boolean).join(", "), 500)} `));
    const all = [...new Set(steps)];
    all.forEach((n, k) => line.append(all.length === 2 ? el("span.quiet", {}, k === 0 ? "first " : " last ") : " ", link(`step ${n}`, () => this.shown.go(n), `Go to step ${n}: ${site.role}`)));
    return line;
  }

  /** The steps in words, as links. @param {*} info of the run, or undefined */
  steps(info) {
    const words = info?.words ?? [];
    this.links = [];
    if (!words.length) return el("div.steps", {});
    const list = el("ol.words", {});
    for (const w of words) {
      const lap = w.first && w.first < w.step ? null : this.run?.lap(w.step);
      const b = el(w.site != null ? "button.word.site" : "button.word", { type: "button", click: () => this.shown.go(w.step) }, el("span.number", {}, w.first && w.first < w.step ? `${w.first}–${w.step}` : w.step), " ", el("span", {}, clip(w.text, 600), lap ? el("span.late", {}, `: too late, it slept for phase ${lap.slept}`) : null));
      this.links.push({ step: w.step, b });
      list.append(el("li", {}, b));
    }
    const end = info.cut ? "" : info.end;
    if (end) list.append(el("li", {}, el("button.word", { type: "button", click: () => this.shown.go(info.steps) }, el("span.number", {}, "end"), " ", el("span", {}, clip(end, 300)))));
    return el("div.steps", {}, el("h2", {}, "How it comes to it"), list);
  }

  /** Marks the step in words at which the page stands. */
  now() {
    let last = null;
    for (const x of this.links ?? []) {
      x.b.removeAttribute("aria-current");
      if (x.step <= this.shown.step) last = x;
    }
    if (!last) return;
    last.b.setAttribute("aria-current", "step");
    const box = last.b.closest(".steps"), top = last.b.offsetTop; // of the box, which is positioned
    if (top < box.scrollTop || top + last.b.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = Math.max(0, top - box.clientHeight / 2);
  }
}
