// The editor: a textarea, with line numbers, marks and colours beside and behind it. A text of
// megabytes makes a textarea slow, so of a long one only a stretch of lines is in it, which
// follows the reader; everything else stays an array of lines.

import { count, el } from "./dom.js";
import { even, spans } from "./paint.js";

const LINE = 18, GUTTER = 56;
/** A text beyond these is shown in stretches of so many lines, and letters. */
const SMALL = { lines: 4000, letters: 200_000 }, STRETCH = { lines: 1500, letters: 120_000 };
/** A longer line is shown cut, and its file cannot be edited here; of more lines, the first. */
const LONGEST = 20_000, SHOWN = 2000, HIGHEST = 1_000_000;
/** So near to its end, the stretch moves on with the caret. */
const NEAR = 60;

/** How wide a line is at most, in letters. */
const wide = (line) => (even(line) ? line.length + 3 * (line.split("\t").length - 1) : 2 * line.length);

export class Editor {
  /** @param {HTMLElement} place @param {() => void} edited @param {(line: number) => void} marked a mark was clicked */
  constructor(place, edited, marked) {
    Object.assign(this, { place, edited, marked, lines: [""], from: 0, ptx: false, marks: new Map(), current: 0, all: false });
    this.note = el("p.note-line", { hidden: true });
    this.numbers = el("div");
    this.paint = el("div.paint", { "aria-hidden": "true" });
    this.area = /** @type {HTMLTextAreaElement} */ (el("textarea", { id: "text", wrap: "off", spellcheck: "false", autocapitalize: "off", autocomplete: "off", "aria-label": "Text" }));
    this.sheet = el("div.sheet", {}, el("div.gutter", { "aria-hidden": "true" }, this.numbers), this.paint, this.area);
    place.append(this.note, this.sheet);
    this.probe();
    place.addEventListener("scroll", () => this.later());
    new ResizeObserver(() => this.lay()).observe(place);
    this.area.addEventListener("input", () => this.input());
    this.area.addEventListener("keydown", (e) => this.key(e));
    this.area.addEventListener("paste", (e) => this.paste(e));
    this.area.addEventListener("beforeinput", (e) => this.before(/** @type {InputEvent} */ (e)));
    for (const kind of ["copy", "cut"]) this.area.addEventListener(kind, (e) => this.copy(/** @type {ClipboardEvent} */ (e)));
    document.addEventListener("selectionchange", () => document.activeElement === this.area && this.moved());
  }

  /** Measures a letter. */
  probe() {
    const e = el("span", {}, "0".repeat(100));
    this.paint.append(e);
    this.letter = e.getBoundingClientRect().width / 100 || 7.3;
    e.remove();
  }

  get text() {
    return this.lines.join("\n");
  }

  /**
   * Shows a text.
   * @param {string} text @param {string} name what it is called @param {boolean} [fixed] it cannot be edited
   * @param {string} [why] what to say above it
   */
  open(text, name, fixed = false, why = "") {
    this.lines = text.split("\n");
    this.ptx = name.endsWith(".ptx");
    const long = this.lines.some((l) => l.length > LONGEST), high = this.lines.length > HIGHEST;
    this.fixed = fixed || long || high;
    this.cut = this.fixed && long;
    this.note.textContent = why || (long ? "A line is too long to edit here; it is shown cut, and run whole." : high ? `Of ${count(this.lines.length)} lines the first ${count(HIGHEST)} are shown; all are run.` : "");
    this.note.hidden = !this.note.textContent;
    this.area.readOnly = this.fixed;
    this.area.setAttribute("aria-label", `Text of ${name}`);
    this.marks = new Map();
    this.current = 0;
    this.all = false;
    this.load(0);
    this.place.scrollTo(0, 0);
    this.area.setSelectionRange(0, 0);
    this.later();
  }

  /** How many lines can be shown. */
  get height() {
    return Math.min(this.lines.length, HIGHEST);
  }

  get windowed() {
    return this.height > this.shown;
  }

  /** Puts lines from about `line` on into the textarea. @param {number} line */
  load(line) {
    const { lines, height } = this;
    let from = Math.max(0, Math.min(line, height - STRETCH.lines)), size = 0, to = from;
    const small = height <= SMALL.lines && lines.reduce((n, l) => n + l.length, 0) <= SMALL.letters;
    if (small) [from, to] = [0, height];
    else for (; to < height && to < from + STRETCH.lines && size < STRETCH.letters; to++) size += Math.min(lines[to].length, SHOWN);
    this.from = from;
    this.shown = to - from;
    const part = lines.slice(from, to);
    this.area.value = (this.cut ? part.map((l) => (l.length > SHOWN ? `${l.slice(0, SHOWN)}… ${count(l.length - SHOWN)} more` : l)) : part).join("\n");
    this.lay();
  }

  /** Sizes and places the textarea. */
  lay() {
    let letters = 0;
    for (let i = this.from; i < this.from + this.shown; i++) letters = Math.max(letters, Math.min(wide(this.lines[i]), SHOWN * 2 + 40));
    const width = Math.max(this.place.clientWidth - GUTTER, Math.ceil(letters * this.letter) + 40), { style } = this.area;
    style.top = `${this.from * LINE}px`;
    style.height = `${Math.max(this.shown * LINE, this.windowed ? 0 : this.place.clientHeight - 8)}px`;
    style.width = `${width}px`;
    this.sheet.style.width = `${width + GUTTER}px`;
    this.sheet.style.height = `${this.height * LINE}px`;
    this.later();
  }

  /** The lines in sight: the first, and the one behind the last. */
  sight() {
    const a = Math.max(0, Math.floor(this.place.scrollTop / LINE) - 2);
    return [Math.min(a, this.height - 1), Math.min(this.height, a + Math.ceil(this.place.clientHeight / LINE) + 4)];
  }

  later() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.draw();
    });
  }

  draw() {
    const [a, b] = this.sight();
    if (this.windowed && ((a < this.from && this.from > 0) || (b > this.from + this.shown && this.from + this.shown < this.height))) this.follow(Math.floor((a + b) / 2));
    const numbers = [], rows = [];
    let plain = false;
    for (let i = a; i < b; i++) {
      const mark = this.marks.get(i + 1), line = this.lines[i] ?? "";
      numbers.push(el(`span${mark ? `.${mark.severity}` : ""}`, mark ? { title: mark.text, click: () => this.marked(i + 1) } : {}, i + 1));
      plain ||= !even(line);
      const row = el("div", {}, ...(plain ? [""] : spans(line, this.ptx)));
      if (i + 1 === this.current) row.classList.add("current");
      else if (mark?.severity === "error") row.classList.add("error");
      rows.push(row);
    }
    this.place.classList.toggle("plain", plain);
    this.numbers.replaceChildren(...numbers);
    this.paint.replaceChildren(...rows);
    this.numbers.style.top = this.paint.style.top = `${a * LINE}px`;
    this.paint.style.minWidth = `${this.sheet.offsetWidth - GUTTER - 8}px`;
  }

  /** Moves the stretch so that a line is in its middle; the caret stays where it is, if it can. @param {number} line */
  follow(line) {
    const caret = this.caret();
    this.load(line - STRETCH.lines / 2);
    const at = caret.line - this.from;
    if (at >= 0 && at < this.shown) this.put(caret.line, caret.column);
    else this.put(line, 0);
  }

  /** Where the selection ends, in lines from 0. */
  caret() {
    const before = this.area.value.slice(0, this.area.selectionEnd), line = before.split("\n").length - 1;
    return { line: this.from + line, column: before.length - (before.lastIndexOf("\n") + 1) };
  }

  /** Puts the caret into a line of the stretch. @param {number} line @param {number} column */
  put(line, column) {
    const rows = this.area.value.split("\n"), at = Math.max(0, Math.min(line - this.from, rows.length - 1));
    let offset = 0;
    for (let i = 0; i < at; i++) offset += rows[i].length + 1;
    offset += Math.min(column, rows[at].length);
    this.area.setSelectionRange(offset, offset);
  }

  moved() {
    const { selectionStart: a, selectionEnd: b, value } = this.area;
    if (a !== 0 || b !== value.length) this.all = false;
    if (!this.windowed || a !== b) return;
    const { line } = this.caret(), top = this.place.scrollTop;
    if ((line < this.from + NEAR && this.from > 0) || (line >= this.from + this.shown - NEAR && this.from + this.shown < this.height)) {
      this.follow(line);
      this.place.scrollTop = top;
    }
  }

  input() {
    if (this.fixed) return;
    const was = this.shown, part = this.area.value.split("\n");
    if (was < SMALL.lines && part.length < SMALL.lines) this.lines.splice(this.from, was, ...part);
    else this.lines = [...this.lines.slice(0, this.from), ...part, ...this.lines.slice(this.from + was)];
    this.shown = part.length;
    this.all = false;
    this.current = 0;
    if (part.length !== was) this.marks = new Map();
    if (part.length > 2 * SMALL.lines || this.area.value.length > 2 * SMALL.letters) this.set(this.text);
    this.lay();
    this.edited();
  }

  /** Takes another text for the same file. @param {string} text @param {number} [line] where the caret goes */
  set(text, line = this.caret().line) {
    this.lines = text.split("\n");
    this.load(line - STRETCH.lines / 2);
    this.put(line, 0);
    this.reveal(line + 1);
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "a" && this.windowed) this.all = true;
    if (e.ctrlKey || e.metaKey || e.altKey) {
      if (this.windowed && !e.shiftKey && (e.key === "Home" || e.key === "End")) {
        e.preventDefault();
        this.goto(e.key === "Home" ? 1 : this.height, 1, false);
      }
      return;
    }
    const page = { PageDown: 1, PageUp: -1 }[e.key];
    if (page && !e.shiftKey) {
      e.preventDefault();
      const { line, column } = this.caret(), by = Math.max(1, Math.floor(this.place.clientHeight / LINE) - 2);
      this.goto(Math.max(1, Math.min(line + 1 + page * by, this.height)), column + 1, false);
    }
  }

  /** A new line begins as the one before it does. @param {InputEvent} e */
  before(e) {
    this.replaceAll();
    if (e.inputType !== "insertLineBreak" || this.fixed) return;
    const start = this.area.value.slice(0, this.area.selectionStart), indent = /[\t ]*/.exec(start.slice(start.lastIndexOf("\n") + 1))[0];
    if (!indent) return;
    e.preventDefault();
    document.execCommand("insertText", false, `\n${indent}`); // the one way that can be undone
  }

  /** A long text goes past the textarea. @param {ClipboardEvent} e */
  paste(e) {
    const text = e.clipboardData?.getData("text/plain").replace(/\r\n?/g, "\n") ?? "";
    if (this.fixed || text.length <= SMALL.letters) return;
    e.preventDefault();
    this.replaceAll();
    const { selectionStart: a, selectionEnd: b, value } = this.area, line = this.from + value.slice(0, a).split("\n").length - 1;
    const part = `${value.slice(0, a)}${text}${value.slice(b)}`;
    const lines = [...this.lines.slice(0, this.from), ...part.split("\n"), ...this.lines.slice(this.from + this.shown)];
    this.marks = new Map();
    this.set(lines.join("\n"), line);
    this.edited();
  }

  /** What is selected is all of the text, not only the stretch: what comes takes its place. */
  replaceAll() {
    if (!this.all || this.fixed) return;
    this.lines = this.lines.slice(this.from, this.from + this.shown);
    this.from = 0;
    this.all = false;
    this.lay();
  }

  /** @param {ClipboardEvent} e */
  copy(e) {
    if (!this.all || !e.clipboardData) return;
    e.clipboardData.setData("text/plain", this.text);
    e.preventDefault();
    if (e.type !== "cut" || this.fixed) return;
    this.set("", 0);
    this.edited();
  }

  /** Scrolls a line into sight. @param {number} line from 1 */
  reveal(line) {
    const y = (line - 1) * LINE, { scrollTop: top, clientHeight: room } = this.place;
    if (y < top + LINE || y > top + room - 3 * LINE) this.place.scrollTop = Math.max(0, y - room / 2.5);
    this.later();
  }

  /** Goes to a line. @param {number} line from 1 @param {number} [column] from 1 @param {boolean} [mark] as the current one */
  goto(line, column = 1, mark = true) {
    if (line < 1 || line > this.height) return;
    if (this.windowed) this.load(line - 1 - STRETCH.lines / 2);
    this.put(line - 1, column - 1);
    if (mark) this.current = line;
    this.area.focus({ preventScroll: true });
    this.reveal(line);
  }

  /** Marks the line that is current, without the focus. @param {number} line */
  stand(line) {
    this.current = line;
    if (line) this.reveal(line);
    else this.later();
  }

  /** @param {Map<number, {severity: string, text: string}>} marks by line */
  mark(marks) {
    this.marks = marks;
    this.later();
  }
}
