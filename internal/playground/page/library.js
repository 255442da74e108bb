// The library: what kernels.json has, by groups. A kind of finding is one row, with its wrong
// and its right kernel.

import { byId, clip, el } from "./dom.js";
import { file, fromBase64, join, pack } from "./state.js";
import { tidy } from "./script.js";

/** @typedef {{id: string, name: string, text: string, wrong?: boolean, kind?: string, severity?: string, expect?: string, launch?: string, files: Object<string, *>, args?: string[]}} Item */

export class Library {
  /** @param {(item: Item) => void} choose */
  constructor(choose) {
    Object.assign(this, { choose, groups: [], rows: [] });
    byId("query").addEventListener("input", () => this.filter());
    byId("query").addEventListener("keydown", (e) => {
      if (e.key !== "Enter" || e.ctrlKey || e.metaKey) return;
      e.preventDefault();
      this.rows.find((r) => !r.e.hidden)?.e.querySelector("button").click();
    });
  }

  async load() {
    const response = await fetch("kernels.json");
    if (!response.ok) throw new Error(`the library cannot be loaded: the host answers ${response.status}`);
    const data = await response.json();
    this.groups = data.groups;
    byId("shelves").replaceChildren(...this.groups.map((g, i) => this.shelf(g, i === 0)));
  }

  /** @param {string} id @returns {Item|undefined} */
  item(id) {
    return this.groups.flatMap((g) => g.items).find((i) => i.id === id);
  }

  /** The other kernel of a kind. @param {Item} item */
  twin(item) {
    const other = item.id.endsWith("/wrong") ? item.id.replace(/wrong$/, "right") : item.id.endsWith("/right") ? item.id.replace(/right$/, "wrong") : "";
    return other ? this.item(other) : undefined;
  }

  /** Names of all kinds. */
  get kinds() {
    return [...new Set(this.groups.flatMap((g) => g.items).map((i) => i.kind).filter(Boolean))].sort();
  }

  shelf(group, open) {
    const list = el("ul.items");
    for (const item of group.items) {
      const pair = this.twin(item);
      if (pair && !item.wrong) continue;
      const what = pair ? item.kind : item.name;
      const tone = item.severity ?? (item.wrong ? "error" : "clean");
      const row = el("li.item", { title: clip(item.text ?? "", 400) }, this.button(item, el("span.title", {}, el(`span.dot${/^[a-z]+$/.test(tone) ? `.${tone}` : ""}`, { "aria-hidden": "true" }), el("span", {}, clip(what, 120))), pair ? `${what}: wrong kernel` : what));
      if (pair) row.append(this.button(item, "wrong", `${what}: wrong kernel`, ".twin"), this.button(pair, "right", `${what}: right kernel`, ".twin"));
      this.rows.push({ e: row, ids: pair ? [item.id, pair.id] : [item.id], text: `${what} ${item.name} ${item.text ?? ""}`.toLowerCase(), group: list });
      list.append(row);
    }
    return el("details.shelf", { open }, el("summary", {}, `${clip(group.name, 60)} `, el("span.quiet", {}, list.childElementCount)), group.text ? el("p", {}, clip(group.text, 300)) : null, list);
  }

  button(item, content, label, kind = "") {
    return el(`button${kind}`, { type: "button", "data-id": item.id, "aria-label": label, tabindex: kind && item.wrong ? "-1" : null, click: () => this.choose(item) }, content);
  }

  /** Shows which item is open. @param {string} id */
  mark(id) {
    for (const r of this.rows) {
      r.ids.includes(id) ? (r.e.dataset.on = "") : delete r.e.dataset.on;
      for (const b of r.e.querySelectorAll("button")) b.dataset.id === id ? b.setAttribute("aria-current", "true") : b.removeAttribute("aria-current");
      if (r.ids.includes(id)) {
        const shelf = r.e.closest("details");
        shelf.open = true;
        r.e.scrollIntoView({ block: "nearest" });
      }
    }
  }

  filter() {
    const words = byId("query").value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const r of this.rows) r.e.hidden = !words.every((w) => r.text.includes(w));
    for (const shelf of byId("shelves").children) {
      const some = [...shelf.querySelectorAll(".item")].some((e) => !e.hidden);
      shelf.hidden = !some;
      if (words.length && some) shelf.open = true;
    }
  }
}

/** The flags of an item's command line, behind the command and what it runs. @param {Item} item */
function flags(item) {
  const args = item.args ?? [];
  return args.slice(/^(check|barrier|run)$/.test(args[0]) ? 1 : 0).filter((a, i) => i > 0 || a !== item.launch);
}

/** The files of an item. @param {Item} item @returns {import("./state.js").File[]} */
function files(item) {
  return Object.entries(item.files).map(([name, x]) => {
    if (typeof x !== "string") return file(name, fromBase64(x.base64));
    return { name, text: name.endsWith(".txt") ? tidy(x) : x };
  });
}

/** An item as a state. @param {Item} item @returns {import("./state.js").State} */
export function stateOf(item) {
  const list = files(item), entry = item.launch || list[0].name;
  const code = list.find((f) => f.name.endsWith(".ptx"));
  return { files: list, entry, flags: join(flags(item)), item: item.id, open: code?.name ?? entry };
}

/** Whether a state is an item as the library has it, whichever file is open. @param {import("./state.js").State} state @param {Item|undefined} item */
export function isItem(state, item) {
  const data = (s) => JSON.stringify(pack({ ...s, open: "" }));
  return item !== undefined && data(state) === data(stateOf(item));
}
