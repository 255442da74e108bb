// The files that the reader has: tabs above the editor, which file is run, and what is kept.

import { byId, clip, count, el } from "./dom.js";
import { Editor } from "./editor.js";
import { MOST, badName, clash, file, pack, unpack } from "./state.js";

const KEY = "muster-playground", KEPT = 2_000_000;

export class Workspace {
  /** @param {{edited: () => void, opened: () => void, loaded: () => void, say: (text: string, bad?: boolean) => void}} tell */
  constructor(tell) {
    this.tell = tell;
    this.editor = new Editor(byId("editor"), () => this.edit(), (line) => this.editor.goto(line));
    this.files = [];
    this.touched = false; // the reader has changed something
    this.unkept = false; // and the browser's store does not have it yet
    byId("files").addEventListener("keydown", (e) => this.key(e));
    byId("entry").addEventListener("change", () => {
      this.entry = byId("entry").value;
      this.change();
      this.tell.opened();
    });
    byId("flags").addEventListener("input", () => this.change());
    this.drops();
  }

  /** @param {import("./state.js").State} s */
  load(s) {
    this.keep();
    Object.assign(this, { files: s.files, entry: s.entry, item: s.item, current: undefined });
    byId("flags").value = s.flags;
    this.touched = false;
    this.open(s.open);
    this.tell.loaded();
  }

  /** @returns {import("./state.js").State} */
  get state() {
    this.commit();
    return { files: this.files, entry: this.entry, flags: byId("flags").value, item: this.item, open: this.current.name };
  }

  /** @param {string} name the last part of its path, or all of it */
  find(name) {
    const last = String(name).split("/").pop();
    return this.files.find((f) => f.name === name) ?? this.files.find((f) => f.name.split("/").pop() === last);
  }

  /** Takes over what the editor holds. */
  commit() {
    if (this.dirty && this.current) this.current.text = this.editor.text;
    this.dirty = false;
  }

  edit() {
    this.dirty = true;
    this.change();
  }

  /** Something has changed: it is kept, a little later. */
  change() {
    this.touched = this.unkept = true;
    this.tell.edited();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.keep(), 800);
  }

  keep() {
    if (!this.unkept || !this.current) return;
    this.unkept = false;
    try {
      const text = JSON.stringify(pack(this.state));
      if (text.length <= KEPT) localStorage.setItem(KEY, text);
      else localStorage.removeItem(KEY);
    } catch {
      // no store, or it is full: then nothing is kept
    }
  }

  /** What was kept, if it can be read. @returns {import("./state.js").State|undefined} */
  kept() {
    try {
      const text = localStorage.getItem(KEY);
      return text && text.length <= KEPT ? unpack(JSON.parse(text)) : undefined;
    } catch {
      return undefined;
    }
  }

  /** @param {string} name */
  open(name) {
    const f = this.find(name) ?? this.files[0];
    if (f !== this.current) {
      this.commit();
      this.current = f;
      this.editor.open(f.text, f.name, Boolean(f.bytes), f.bytes ? `No text (UTF-8): ${count(f.bytes.length)} bytes, which are run as they are.` : "");
    }
    this.tabs();
    this.tell.opened();
  }

  tabs() {
    byId("files").replaceChildren(...this.files.map((f, i) => el("button", { type: "button", role: "tab", id: `file-${i}`, "aria-controls": "editor", "aria-selected": String(f === this.current), tabindex: f === this.current ? "0" : "-1", title: clip(f.name, 200), click: () => this.open(f.name) }, clip(f.name, 60))));
    byId("editor").setAttribute("aria-labelledby", `file-${this.files.indexOf(this.current)}`);
    const entries = this.files.filter((f) => !f.bytes && /\.(ya?ml|json|ptx|txt)$/i.test(f.name));
    byId("entry").replaceChildren(...(entries.length ? entries : this.files).map((f) => el("option", { value: f.name }, clip(f.name, 60))));
    if (!this.find(this.entry)) this.entry = (entries[0] ?? this.files[0]).name;
    byId("entry").value = this.entry;
    byId("remove").disabled = this.files.length < 2;
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!by) return;
    e.preventDefault();
    const i = (this.files.indexOf(this.current) + by + this.files.length) % this.files.length;
    this.open(this.files[i].name);
    byId(`file-${i}`).focus();
  }

  /** Why a file cannot have this name, or "". @param {string} name @param {*} [own] the file that has it */
  bad(name, own) {
    return badName(name) || clash(name, this.files.filter((f) => f !== own).map((f) => f.name));
  }

  /** Adds a file, or replaces the text of that name. @param {import("./state.js").File} f */
  put(f) {
    const had = this.files.find((x) => x.name === f.name);
    if (!had && this.files.length >= MOST.files) throw new Error(`there are ${MOST.files} files at most`);
    this.commit();
    if (had) this.files[this.files.indexOf(had)] = f;
    else this.files.push(f);
    if (had === this.current) this.current = undefined;
    this.open(f.name);
    this.change();
  }

  /** @param {string} name */
  rename(name) {
    if (this.entry === this.current.name) this.entry = name;
    this.current.name = name;
    this.editor.ptx = name.endsWith(".ptx");
    this.tabs();
    this.change();
    this.tell.opened();
  }

  remove() {
    if (this.files.length < 2) return;
    const i = this.files.indexOf(this.current);
    this.dirty = false;
    this.files.splice(i, 1);
    this.current = undefined;
    this.open(this.files[Math.max(0, i - 1)].name);
    this.change();
  }

  /** Takes files of the reader's machine. @param {File[]} list */
  async take(list) {
    const only = this.files.length === 1 && this.files[0].text === "" && !this.files[0].bytes && !this.dirty ? this.files[0] : undefined;
    let took = 0;
    for (const f of list) {
      try {
        const bad = this.bad(f.name, this.files.find((x) => x.name === f.name)); // one of that name is replaced
        if (bad) throw new Error(bad);
        if (f.size > MOST.file) throw new Error(`it has ${count(f.size)} bytes; ${count(MOST.file)} are taken`);
        const bytes = new Uint8Array(await f.arrayBuffer());
        this.put(file(f.name, bytes));
        took++;
      } catch (e) {
        this.tell.say(`${clip(f.name, 80)} is not taken: ${e.message}`, true);
      }
    }
    if (took && only && this.files.length > 1) {
      this.files.splice(this.files.indexOf(only), 1);
      this.tabs();
      this.tell.opened();
    }
    const first = this.files.find((f) => /\.ya?ml$/i.test(f.name));
    if (took && first && list.some((f) => f.name === first.name)) {
      this.entry = first.name;
      this.tabs();
      this.tell.opened();
    }
    return took;
  }

  drops() {
    const place = byId("editor");
    for (const kind of ["dragover", "drop", "dragleave"])
      document.addEventListener(kind, (/** @type {DragEvent} */ e) => {
        if (!e.dataTransfer?.types.includes("Files")) return;
        e.preventDefault();
        place.classList.toggle("over", kind === "dragover");
        if (kind === "drop") this.take([...e.dataTransfer.files]);
      });
  }
}
