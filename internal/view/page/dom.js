// Small helpers to build the document. Data becomes text (textContent) and nothing else: a
// kernel's name with markup in it stays a name.

/**
 * Makes an element. Attributes that are functions listen to that event.
 * @param {string} tag its name, with classes after dots: "button.link"
 * @param {Object<string, *>} [attributes]
 * @param {...(Node|string|number|null)} children
 * @returns {HTMLElement}
 */
export function el(tag, attributes, ...children) {
  const [name, ...classes] = tag.split(".");
  const e = document.createElement(name);
  if (classes.length) e.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") e.addEventListener(key, value);
    else if (value === true) e.setAttribute(key, "");
    else if (value !== false && value != null) e.setAttribute(key, String(value));
  }
  for (const c of children) if (c != null) e.append(typeof c === "number" ? String(c) : c);
  return e;
}

/** @param {string} id @returns {*} */
export function byId(id) {
  return document.getElementById(id);
}

/** A button that looks like a link. @param {string} text @param {() => void} act @param {string} [label] */
export function link(text, act, label) {
  return el("button.link", { type: "button", click: act, "aria-label": label }, text);
}

/** Cuts a text that is too long to show; the rest is counted. @param {string} s @param {number} most */
export function clip(s, most) {
  return s.length <= most ? s : `${s.slice(0, most)}… (${(s.length - most).toLocaleString("en")} more characters)`;
}

/** @param {number} n */
export function count(n) {
  return n.toLocaleString("en");
}

/** @param {number} n @param {string} one @param {string} [many] */
export function counted(n, one, many) {
  return `${count(n)} ${n === 1 ? one : many ?? `${one}s`}`;
}

/** Numbers as ranges: "0-3, 5". @param {number[]} list */
export function ranges(list) {
  const out = [];
  for (const n of [...new Set(list)].sort((a, b) => a - b)) {
    const last = out[out.length - 1];
    if (last && last[1] === n - 1) last[1] = n;
    else out.push([n, n]);
  }
  return out.map(([a, b]) => (a === b ? a : `${a}-${b}`)).join(", ");
}
