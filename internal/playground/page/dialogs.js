// The dialogs: help, a question for a name, and a link to share.

import { byId, count, el } from "./dom.js";

const KEYS = [
  ["Ctrl Enter", "check, or play a script"], ["Escape", "stop the run; leave the wide view"], ["F8, Shift F8", "the next, previous marked line"], ["/", "search the library"],
  ["Tab", "the next control, out of the editor too"], ["← →", "between tabs"], ["?", "this help"],
];

/** @param {string} title @param {...Node} children */
export function open(title, ...children) {
  const dialog = byId("dialog"), close = el("button", { type: "button", click: () => dialog.close() }, "Close");
  dialog.replaceChildren(el("div.dialog-head", {}, el("h2", { id: "dialog-title" }, title), close), ...children);
  dialog.showModal();
  return dialog;
}

export function help() {
  const keys = el("dl.facts");
  for (const [k, what] of KEYS) keys.append(el("dt", {}, el("kbd", {}, k)), el("dd", {}, what));
  const p = (text) => el("p", {}, text);
  open("Muster in this browser",
    p("Muster runs PTX kernels for Hopper and Blackwell on a model of the machine, and proves that what threads and asynchronous copies share is ordered, or shows what is missing between which two lines. Here the command itself runs, compiled to WebAssembly: no GPU, no server, and nothing that you type leaves this page."),
    p("Check looks for findings in every schedule. Run executes and compares with what the launch file expects. Step shows the run in a page: lanes, barriers, registers and memory, step by step. Scripts of barrier operations are played command by command."),
    p("A launch file says what to run: the PTX, the grid, buffers and arguments. ‘Launch file’ makes one from the kernel’s parameters, with ??? where only you know; or say it by flags, as --grid 1 --block 128 --buffer 'in=f32[64]:iota' --arg in."),
    el("h3", {}, "Keys"), keys, p("A kernel larger than the limits of time and memory below is for the command on a machine: there it has all cores, and is several times as fast."));
}

/** Asks for a name. @param {string} title @param {string} value @param {(name: string) => string} bad why a name will not do @returns {Promise<string>} "" if none is given */
export function ask(title, value, bad) {
  return new Promise((yes) => {
    const why = el("p", { role: "alert" }), field = /** @type {HTMLInputElement} */ (el("input", { id: "name", value, autocomplete: "off", spellcheck: "false" }));
    let given = "";
    const form = el("form", { submit: (/** @type {Event} */ e) => {
      e.preventDefault();
      why.textContent = bad(field.value.trim());
      if (why.textContent) return;
      given = field.value.trim();
      dialog.close();
    } }, el("label", {}, "Name ", field), why, el("div.row", {}, el("button.primary", { type: "submit" }, "OK")));
    const dialog = open(title, form);
    dialog.addEventListener("close", () => yes(given), { once: true });
    field.focus();
    field.setSelectionRange(0, value.lastIndexOf(".") > 0 ? value.lastIndexOf(".") : value.length);
  });
}

/** @param {string} url @param {(text: string) => void} say */
export function share(url, say) {
  const field = /** @type {HTMLInputElement} */ (el("input", { id: "link", readonly: true, value: url, "aria-label": "Link" }));
  const copy = async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(url);
      say("The link is copied.");
    } catch {
      say("The browser lets no page copy here: the link is selected, Ctrl C copies it.");
    }
  };
  open("A link to what is here", el("p", {}, "The files, flags and the open tab are in the link itself, behind the #, which no server sees. Who opens it sees them; nothing runs before a click."), field, el("div.row", {}, el("button.primary", { type: "button", id: "copy", click: copy }, "Copy"), el("span.quiet", {}, `${count(url.length)} letters${url.length > 8000 ? "; some programs cut links of that length" : ""}`)));
  field.select();
}
