// Colours of a line in the editor: PTX by its tokens, YAML and scripts by comments and numbers.

import { el } from "./dom.js";

const PTX = /(\/\/.*$)|(^\s*(?:@!?%\w+\s+)?)([a-z][\w]*(?:[.:]+[\w]+)*)|(%[\w.]+)|(\b(?:0[xXfFdD][0-9a-fA-F]+|\d+)\b)/g;
const OTHER = /(#.*$)|(^\s*)([\w.-]+(?=:)|[a-z_]+(?:\.[a-zA-Z_]+)*(?= ))|(\?\?\?)|(\b(?:0[xX][0-9a-fA-F]+|\d+)\b)/g;

/** Splits a line into spans. @param {string} line @param {boolean} ptx @returns {(Node|string)[]} */
export function spans(line, ptx) {
  const out = [];
  let at = 0;
  for (const m of line.matchAll(ptx ? PTX : OTHER)) {
    if (m.index > at) out.push(line.slice(at, m.index));
    if (m[3] !== undefined) {
      if (m[2]) out.push(m[2]);
      out.push(el("span.opcode", {}, m[3]));
    } else out.push(el(m[1] ? "span.comment" : m[4] ? "span.register" : "span.number", {}, m[0]));
    at = m.index + m[0].length;
  }
  out.push(line.slice(at));
  return out;
}

/** Whether a line can be painted over the textarea: of letters that all are as wide. @param {string} line */
export function even(line) {
  return line.length <= 2000 && /^[\t\x20-\x7e]*$/.test(line);
}
