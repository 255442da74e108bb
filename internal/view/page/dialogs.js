// The two dialogs: help, with keys and colours, and the filter of rows.

import { clip, el } from "./dom.js";
import { FAMILIES } from "./family.js";
import { KEYS } from "./keys.js";

const COLOURS = [
  ...FAMILIES, ["wait", "a wait: hatched"], ["stage-0", "asynchronous operation: source not read"], ["stage-1", "its source read"], ["stage-2", "written, not signalled"],
  ["phase-0", "phase of even parity"], ["phase-1", "phase of odd parity"], ["counter", "counter: pending arrivals, bytes"], ["finding", "the finding"],
];

/** So many rows can be filtered; of a larger launch, those that come first. */
const MOST = 2000;

/** @param {HTMLDialogElement} dialog @param {string} title @param {...Node} children */
function open(dialog, title, ...children) {
  const close = el("button", { type: "button", click: () => dialog.close() }, "Close");
  dialog.replaceChildren(el("div.dialog-head", {}, el("h2", { id: "dialog-title" }, title), close), ...children);
  dialog.showModal();
}

/** @param {HTMLDialogElement} dialog */
export function help(dialog) {
  const keys = el("dl.facts"), colours = el("ul.plain.colours");
  for (const [k, what] of KEYS) keys.append(el("dt", {}, el("kbd", {}, k)), el("dd", {}, what));
  for (const [name, what] of COLOURS) {
    const chip = el("span.chip", { "aria-hidden": "true" });
    chip.style.background = `var(--${name})`;
    colours.append(el("li", {}, chip, what));
  }
  open(dialog, "Help",
    el("p", {}, "Time runs from left to right by steps of the schedule: the order of what happened, and no time of a card. Step n lasts from n − 1 to n. Drag the lanes to move, turn the wheel with Ctrl to zoom, click an event to select it. Arrows lead from what issues an operation to the operation, and from what completes a phase to the wait that it ends."),
    el("div.columns", {}, el("section", {}, el("h3", {}, "Keys"), keys), el("section", {}, el("h3", {}, "Colours"), colours)));
}

/**
 * The filter: which CTAs, warps and barriers have rows.
 * @param {HTMLDialogElement} dialog @param {import("./lanes.js").Lanes} lanes of the active run
 */
export function filter(dialog, lanes) {
  const { run, layout } = lanes, list = el("ul.plain.filter"), boxes = [];
  const only = /** @type {*} */ (el("input", { type: "search", "aria-label": "Rows whose names have these letters", placeholder: "warp 0, mbarrier full …", input: () => show() }));
  const tracks = new Set(run.tracks.filter((t) => ["cta", "warp", "mbar", "barrier", "buffer", "columns"].includes(t.kind)).slice(0, MOST));
  const ordered = run.roots.flatMap(function walk(t) { return [t, ...t.children.flatMap(walk)]; }).filter((t) => tracks.has(t));
  for (const t of ordered) {
    const box = /** @type {*} */ (el("input", { type: "checkbox", checked: !layout.hidden.has(t.index), change: () => set([t], box.checked) }));
    const item = el("li", {}, el("label.check", {}, box, ` ${clip(t.name, 200)}`));
    item.style.paddingLeft = t.parent ? "1.5em" : "0";
    boxes.push({ t, box, item });
    list.append(item);
  }
  const set = (some, on) => {
    for (const t of some) on ? layout.show(t) : layout.hidden.add(t.index);
    layout.make();
    for (const b of boxes) b.box.checked = !layout.hidden.has(b.t.index);
    lanes.relaid();
  };
  const matching = () => boxes.filter((b) => !b.item.hidden && b.t.kind !== "cta").map((b) => b.t);
  const show = () => {
    const text = only.value.trim().toLowerCase();
    for (const b of boxes) b.item.hidden = !run.path(b.t).toLowerCase().includes(text);
  };
  const alone = () => {
    const keep = new Set(matching());
    for (const b of boxes) if (b.t.kind !== "cta") keep.has(b.t) ? layout.show(b.t) : layout.hidden.add(b.t.index);
    set([], true);
  };
  // The warps of the finding's places, and all that is no warp.
  const ofFinding = () => {
    const keep = new Set();
    for (const s of run.info.sites) for (let t = run.byId.get(s.track); t; t = t.parent) keep.add(t);
    for (const b of boxes) b.t.kind !== "warp" || keep.has(b.t) ? layout.show(b.t) : layout.hidden.add(b.t.index);
    set([], true);
  };
  const fold = (on) => {
    layout.foldAll(on);
    lanes.relaid();
  };
  const button = (text, act) => el("button", { type: "button", click: act }, text);
  open(dialog, "Rows", el("div.row", {}, only, button("Only these", alone), button("All", () => set(boxes.map((b) => b.t), true)), run.info.sites.length ? button("The finding’s warps", ofFinding) : null, button("Fold CTAs", () => fold(true)), button("Unfold", () => fold(false))), list);
}
