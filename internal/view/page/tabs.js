// The tabs below the lanes. Only the tab in front is made, and again when what it shows
// changes; arrow keys move between tabs, as the pattern for tabs asks.

import { barriersTab } from "./barriers.js";
import { el } from "./dom.js";
import { eventTab } from "./event.js";
import { Memory } from "./memory.js";
import { Registers } from "./registers.js";
import { waitsTab } from "./stalls.js";
import { tableTab } from "./table.js";

const TABS = [["event", "Event"], ["barriers", "Barriers"], ["registers", "Registers"], ["memory", "Memory"], ["table", "In sight"], ["waits", "Waits"]];

export class Tabs {
  /** @param {HTMLElement} place @param {HTMLElement} panel @param {import("./state.js").Shown} shown @param {import("./detail.js").Detail[]} details @param {*} about the page's data @param {() => Set<number>} hidden tracks that are filtered out */
  constructor(place, panel, shown, details, about, hidden) {
    Object.assign(this, { panel, shown, details, hidden });
    this.registers = new Registers(shown, details, () => this.show());
    this.memory = new Memory(shown, details, about, () => this.show());
    this.buttons = TABS.map(([id, name]) => el("button", { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": "panel", click: () => this.open(id) }, name));
    place.append(...this.buttons);
    place.addEventListener("keydown", (e) => this.key(e));
    this.open("event");
    shown.listen((changes) => {
      const range = changes.has("range") || changes.has("layout");
      if (changes.has("step") || changes.has("select") || changes.has("run") || (range && (this.tab === "table" || this.tab === "barriers" || this.tab === "waits"))) this.later();
    });
  }

  /** Shows the tab again soon: while time is dragged the lanes come first. */
  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.show(), 60);
  }

  /** @param {string} tab */
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

  async show() {
    const { shown, tab } = this, turn = (this.turn = {});
    const hidden = this.hidden();
    let nodes;
    if (tab === "event") nodes = eventTab(shown);
    else if (tab === "barriers") nodes = barriersTab(shown, hidden);
    else if (tab === "waits") nodes = waitsTab(shown, hidden);
    else if (tab === "table") nodes = tableTab(shown, hidden);
    else nodes = await this.detail(tab);
    if (turn !== this.turn) return; // another step has come meanwhile
    const top = this.panel.scrollTop, focused = this.panel.contains(document.activeElement) ? [...this.panel.querySelectorAll("button, input, select")].indexOf(document.activeElement) : -1;
    this.panel.replaceChildren(...nodes);
    this.panel.scrollTop = top;
    if (focused >= 0) ([...this.panel.querySelectorAll("button, input, select")][focused] ?? this.panel).focus();
  }

  /** @param {string} tab */
  async detail(tab) {
    const detail = this.details[this.shown.active], step = this.shown.step;
    const w = await detail.window(step);
    if (!w) return [el("p", {}, `No registers and memory of step ${step}. ${detail.extent} `, el("code", {}, "muster view LAUNCH"), " without --html shows those of every step.")];
    return tab === "registers" ? this.registers.show(w) : this.memory.show(w);
  }
}
