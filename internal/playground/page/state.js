// What the reader has: files, which of them is run, with which flags. It comes from a library
// item, a link, the browser's own store or the reader's hands; whatever comes from outside is
// held to these bounds before anything looks at it.

/** Bounds of what is taken in. */
export const MOST = { files: 40, name: 120, file: 32 << 20, all: 48 << 20, flags: 4000 };

/** @typedef {{name: string, text: string, bytes?: Uint8Array}} File a file; bytes if it is no text */
/** @typedef {{files: File[], entry: string, flags: string, item: string, open: string}} State */

/** Says why a name cannot be a file's, or "". @param {*} name */
export function badName(name) {
  if (typeof name !== "string" || name.trim() === "") return "a file needs a name";
  if (name.length > MOST.name) return `a file's name has at most ${MOST.name} letters`;
  if (/[\u0000-\u001f\u007f\u2028\u2029\u202a-\u202e\u2066-\u2069\\]/.test(name)) return "a file's name has a character that none may have";
  if (name.startsWith("-")) return "a file's name cannot begin with -";
  if (name.startsWith("/") || name.split("/").some((part) => part === "" || part === "." || part === "..")) return "a file's name cannot lead out of its folder";
  return name === "report.txt" || name === "page.html" ? `${name} is what the command writes` : "";
}

/** Says why a file cannot stand beside others, or "". @param {string} name @param {string[]} others */
export function clash(name, others) {
  if (others.includes(name)) return "there is a file of that name";
  return others.some((o) => o.startsWith(`${name}/`) || name.startsWith(`${o}/`)) ? "a file and a folder cannot have one name" : "";
}

/** The time that a command may take by its arguments, in seconds; undefined if they do not say. @param {string[]} args @returns {number|undefined} */
export function limitTime(args) {
  const unit = { h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, "µs": 1e-6, ns: 1e-9 };
  let seconds;
  args.forEach((a, i) => {
    const text = a === "--limit-time" ? args[i + 1] ?? "" : a.startsWith("--limit-time=") ? a.slice(13) : "";
    if (/^([\d.]+(h|ms|m|us|µs|ns|s))+$/.test(text)) seconds = [...text.matchAll(/([\d.]+)(h|ms|m|us|µs|ns|s)/g)].reduce((n, [, x, u]) => n + Number(x) * unit[u], 0);
  });
  return seconds;
}

/** Flags as a shell splits them. @param {string} text @returns {string[]} */
export function split(text) {
  const out = [];
  let word = "", quote = "", open = false;
  for (const c of text) {
    if (quote) {
      if (c === quote) quote = "";
      else word += c;
    } else if (c === "'" || c === '"') [quote, open] = [c, true];
    else if (/\s/.test(c)) {
      if (open) out.push(word);
      [word, open] = ["", false];
    } else [word, open] = [word + c, true];
  }
  if (quote) throw new Error(`the flags have a ${quote} that nothing closes`);
  if (open) out.push(word);
  return out;
}

/** The flags as one line that split takes apart again. @param {string[]} args */
export function join(args) {
  return args.map((a) => (/^[\w@%+=:,.\/[\]-]+$/.test(a) ? a : a.includes("'") ? `"${a}"` : `'${a}'`)).join(" ");
}

/** Bytes from base64, or an error. @param {string} s */
export function fromBase64(s) {
  let raw;
  try {
    raw = atob(s);
  } catch {
    throw new Error("a file is not in base64");
  }
  return Uint8Array.from(raw, (c) => c.charCodeAt(0));
}

/** @param {Uint8Array} bytes */
export function toBase64(bytes) {
  let s = "";
  for (let i = 0; i < bytes.length; i += 0x8000) s += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(s);
}

/** A file of bytes: its text if they are UTF-8 without NUL. @param {string} name @param {Uint8Array} bytes @returns {File} */
export function file(name, bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return { name, text: text.replace(/\r\n?/g, "\n") };
  } catch {
    // no text: kept as it is
  }
  return { name, text: "", bytes };
}

/** The state as plain data. @param {State} s */
export function pack(s) {
  return { v: 1, files: s.files.map((f) => (f.bytes ? [f.name, toBase64(f.bytes), 1] : [f.name, f.text])), entry: s.entry, flags: s.flags, open: s.open, item: s.item };
}

/** Plain data as a state, or an error of one line. @param {*} data @returns {State} */
export function unpack(data) {
  if (data === null || typeof data !== "object" || data.v !== 1 || !Array.isArray(data.files)) throw new Error("it is not of this page");
  if (data.files.length === 0 || data.files.length > MOST.files) throw new Error(`it has ${data.files.length} files; 1 to ${MOST.files} are taken`);
  let all = 0;
  const seen = new Set();
  const files = data.files.map((f) => {
    if (!Array.isArray(f) || typeof f[1] !== "string") throw new Error("a file of it is none");
    const bad = badName(f[0]) || (seen.has(f[0]) ? "two files have one name" : clash(f[0], [...seen]));
    if (bad) throw new Error(bad);
    seen.add(f[0]);
    all += f[1].length;
    if (f[1].length > MOST.file || all > MOST.all) throw new Error("it is too large");
    return f[2] === 1 ? { name: f[0], text: "", bytes: fromBase64(f[1]) } : { name: f[0], text: f[1] };
  });
  const word = (x, most) => (typeof x === "string" && x.length <= most ? x : "");
  const known = (x) => (seen.has(x) ? x : files[0].name);
  return { files, entry: known(data.entry), flags: word(data.flags, MOST.flags).replace(/[\r\n]/g, " "), open: known(data.open ?? data.entry), item: word(data.item, 200) };
}
