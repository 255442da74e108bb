// Small helpers to build the document. Data becomes text and nothing else.

/**
 * Makes an element. Attributes that are functions listen to that event.
 * @param {string} tag its name, with classes after dots: "button.link"
 * @param {Object<string, *>} [attributes]
 * @param {...(Node|string|number|null)} children
 * @returns {HTMLElement}
 */
function el(tag, attributes, ...children) {
  return fill(document.createElement(tag.split(".")[0]), tag, attributes, children);
}

/** The same for SVG. @returns {SVGElement} */
function svg(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag.split(".")[0]), tag, attributes, children);
}

function fill(e, tag, attributes, children) {
  const classes = tag.split(".").slice(1);
  if (classes.length) e.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") e.addEventListener(key, value);
    else if (value === true) e.setAttribute(key, "");
    else if (value !== false && value != null) e.setAttribute(key, String(value));
  }
  for (const c of children) if (c != null) e.append(typeof c === "number" ? String(c) : c);
  return e;
}

/** @param {string} id @returns {*} */
function byId(id) {
  return document.getElementById(id);
}

/** A button that looks like a link. @param {string} text @param {() => void} act @param {string} [label] */
function link(text, act, label) {
  return el("button.link", { type: "button", click: act, "aria-label": label }, text);
}

/** A name, without letters that would do something: controls, and those that turn the line. @param {string} s */
function clean(s) {
  return s.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u00b7");
}

/** Cuts a text that is too long to show. @param {string} s @param {number} most */
function clip(s, most) {
  const letters = Array.from(s.slice(0, 4 * most));
  return letters.length <= most ? letters.join("") : letters.slice(0, most - 1).join("") + "…";
}

/** @param {number} n */
function count(n) {
  return n.toLocaleString("en");
}

/** @param {number} n @param {string} one @param {string} [many] */
function counted(n, one, many) {
  return `${count(n)} ${n === 1 ? one : many ?? `${one}s`}`;
}
