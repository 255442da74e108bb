// The page: it reads the report and puts its parts together.

const KEYS = [
  ["← →", "one step back, one step on"], ["Home End", "first and last step"], ["p n", "the step before and the next of the same goroutine"],
  ["+ −", "zoom"], ["f", "fit all steps, 400 at most"], ["w", "only who waits or owes"], ["1 2 3 4", "tabs"], ["t", "theme"], ["?", "this help"],
];
const HELP = [
  ["arrives", "barrier", "A", "arrives"], ["bytes", "async", "+", "announces bytes; − lands them"], ["drops", "barrier", "D", "arrives and leaves for good (L: in a later phase)"],
  ["waits", "other", "W", "begins to wait"], ["resumes", "fence", "R", "goes on (P: need not wait)"], ["gives up", "other", "G", "gives up its wait"],
  ["tests", "memory", "?", "asks whether a phase is complete"], ["panics", "finding", "!", "panics"], ["made", "other", "N", "makes a barrier"],
];
const FIRST_WORDS = 12;

function story(m) {
  byId("test").textContent = clip(clean(m.test), 120);
  document.title = `mbarriers of ${clip(clean(m.test), 80)}`;
  const stuck = m.failure.startsWith("deadlock");
  const badge = byId("badge");
  badge.textContent = stuck ? "stuck" : m.failure ? "failed" : "ended well";
  badge.classList.add(m.failure ? "bad" : "good");
  const [headline, ...rest] = m.words;
  byId("headline").replaceChildren(...linked(m, headline ?? ""));
  const hints = new Set(m.notes.map((n) => n.text)), said = byId("said");
  const items = rest.map((text) => el(`li${/^(They wait for each other|Goroutine .* waits for itself)/.test(text) ? ".circle" : hints.has(text) ? ".hint" : ""}`, {}, ...linked(m, text)));
  said.replaceChildren(...items.slice(0, FIRST_WORDS));
  const more = byId("more");
  if (items.length > FIRST_WORDS) {
    more.hidden = false;
    more.textContent = counted(items.length - FIRST_WORDS, "more sentence");
    more.addEventListener("click", () => { said.append(...items.slice(FIRST_WORDS)); more.hidden = true; });
  }
}

function theme(button) {
  const choices = ["auto", "light", "dark"];
  let choice = 0;
  const choose = (i) => {
    choice = i % choices.length;
    if (choice === 0) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choices[choice];
    button.textContent = ["◐", "☀", "☾"][choice];
    button.title = `Theme: ${choices[choice]}`;
    button.setAttribute("aria-label", button.title);
  };
  button.addEventListener("click", () => choose(choice + 1));
  choose(0);
}

function help(dialog) {
  const close = el("button", { type: "button", click: () => dialog.close() }, "Close");
  const keys = el("dl.facts"), signs = el("ul.plain");
  for (const [k, what] of KEYS) keys.append(el("dt", {}, el("kbd", {}, k)), el("dd", {}, what));
  for (const [, color, sign, what] of HELP) {
    const s = el("span.sign", { "aria-hidden": "true" }, sign);
    s.style.background = `var(--${color})`;
    signs.append(el("li", {}, s, what));
  }
  dialog.replaceChildren(el("div.dialog-head", {}, el("h2", { id: "dialog-title" }, "Help"), close),
    el("p", {}, "A step is one operation at a barrier; steps are in their order, and their distance is no time. Arrows above lead from who waits to the barrier, and on to who still has to arrive there: solid where the history or a pipeline shows it, dashed where it is a guess, red in a circle. In the lanes a barrier shows its phases and, after each change, how many arrivals are pending; an arrow leads from the step that completes a phase to who goes on. A red bar is a wait that never ends."),
    el("div.columns", {}, el("section", {}, el("h3", {}, "Keys"), keys), el("section", {}, el("h3", {}, "Signs"), signs, el("p", {}, "A frame: the step completes its phase."))));
  dialog.showModal();
}

function controls(m, tabs) {
  const step = byId("step");
  byId("total").textContent = `of ${count(m.steps_total)}`;
  step.min = String(m.first);
  step.max = String(m.last);
  const acts = {
    first: () => m.go(m.first), back: () => m.by(-1), forth: () => m.by(1), last: () => m.go(m.last),
    "same-prev": () => m.same(-1), "same-next": () => m.same(1), "zoom-out": () => m.zoom(2), "zoom-in": () => m.zoom(0.5), fit: () => m.fit(), help: () => help(byId("dialog")),
  };
  for (const [id, act] of Object.entries(acts)) byId(id).addEventListener("click", act);
  step.addEventListener("change", () => m.go(Number(step.value)));
  const only = byId("only");
  const keys = {
    ArrowLeft: acts.back, ArrowRight: acts.forth, Home: acts.first, End: acts.last, p: acts["same-prev"], n: acts["same-next"], "+": acts["zoom-in"], "=": acts["zoom-in"], "-": acts["zoom-out"],
    f: acts.fit, w: () => only.click(), t: () => byId("theme").click(), "?": acts.help,
  };
  TABS.forEach(([id], i) => { keys[String(i + 1)] = () => tabs.open(id); });
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || byId("dialog").open || e.target === step) return;
    const act = Object.hasOwn(keys, e.key) ? keys[e.key] : null;
    if (!act) return;
    if (e.target.closest?.("#panel, #graph") && (e.key.startsWith("Arrow") || e.key === "Home" || e.key === "End")) return; // they scroll there
    e.preventDefault();
    act();
  });
  const tell = () => {
    const s = m.at(m.step), i = m.byStep.get(m.step);
    step.value = String(m.step);
    byId("words").textContent = m.pick ? pickWords(m) : s ? `Step ${count(s.step)}: ${sentence(m, s)}.` : "No step was kept.";
    for (const id of ["first", "back"]) byId(id).disabled = !s || i === 0;
    for (const id of ["forth", "last"]) byId(id).disabled = !s || i === m.history.length - 1;
    const own = s && s.goroutine >= 0 ? m.steps[s.goroutine] : [];
    byId("same-prev").disabled = own.indexOf(s) <= 0;
    byId("same-next").disabled = !own.length || own.indexOf(s) === own.length - 1;
    byId("zoom-in").disabled = m.to - m.from <= 8;
    byId("zoom-out").disabled = byId("fit").disabled = m.to - m.from >= Math.min(m.last - m.first, 400);
    step.disabled = !s;
  };
  m.listen(tell);
  tell();
}

function pickWords(m) {
  const { kind, index } = m.pick;
  return nodeWords(m, kind === "goroutine" ? { kind, index, group: m.goroutines[index].group } : { kind, index }).label;
}

function note(m) {
  const parts = [];
  if (m.left.steps) parts.push(`${counted(m.left.steps, "step")}`);
  if (m.left.goroutines) parts.push(`${counted(m.left.goroutines, "goroutine")}`);
  if (m.left.barriers) parts.push(`${counted(m.left.barriers, "barrier")}`);
  byId("note").textContent = parts.length ? `not in this page: ${parts.join(", ")}` : "";
}

try {
  const report = JSON.parse(byId("report").textContent);
  report.steps_total = report.steps;
  const m = new Model(report);
  story(m);
  note(m);
  theme(byId("theme"));
  showGraph(byId("graph"), m);
  const tabs = new Tabs(byId("tabs"), byId("panel"), m);
  new Lanes(byId("lanes"), m, byId("only"));
  controls(m, tabs);
  document.documentElement.dataset.ready = "true";
} catch (e) {
  byId("words").textContent = `This page cannot be shown: ${e instanceof Error ? e.message : e}`;
  document.documentElement.dataset.ready = "failed";
}
