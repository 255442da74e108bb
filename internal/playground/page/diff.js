// What differs between a wrong kernel and its right twin, line by line.

import { el, link } from "./dom.js";

/** A larger table is not made: what lies between common ends counts as changed. */
const LARGEST = 4_000_000, AROUND = 3;

/** A line without the remark by which the catalogue points at a place. @param {string} line */
const code = (line) => line.replace(/\s*\/\/ <- here$/, "");

/**
 * Pairs up equal lines.
 * @param {string[]} a @param {string[]} b
 * @returns {[number, number][]} a line of a and of b, from 0; -1 where the other has none
 */
export function compare(a, b) {
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const out = [], n = a.length - head - tail, m = b.length - head - tail;
  for (let i = 0; i < head; i++) out.push([i, i]);
  let i = 0, j = 0;
  if (n * m <= LARGEST) {
    const w = m + 1, common = new Uint16Array((n + 1) * w);
    for (let x = n - 1; x >= 0; x--) for (let y = m - 1; y >= 0; y--) common[x * w + y] = a[head + x] === b[head + y] ? common[(x + 1) * w + y + 1] + 1 : Math.max(common[(x + 1) * w + y], common[x * w + y + 1]);
    while (i < n && j < m) {
      if (a[head + i] === b[head + j]) out.push([head + i++, head + j++]);
      else if (common[(i + 1) * w + j] >= common[i * w + j + 1]) out.push([head + i++, -1]);
      else out.push([-1, head + j++]);
    }
  }
  while (i < n) out.push([head + i++, -1]);
  while (j < m) out.push([-1, head + j++]);
  for (let k = tail; k > 0; k--) out.push([a.length - k, b.length - k]);
  return out;
}

/**
 * The difference as nodes: what changed, with some lines around it.
 * @param {string} left @param {string} right @param {string} names what they are @param {(line: number) => void} jump @param {boolean} first the left one is in the editor, not the right
 */
export function show(left, right, names, jump, first) {
  const number = (n, open) => (n < 0 ? "" : open ? link(String(n + 1), () => jump(n + 1), `Go to line ${n + 1}`) : n + 1);
  const a = left.split("\n"), b = right.split("\n"), pairs = compare(a.map(code), b.map(code)), near = new Set();
  pairs.forEach(([x, y], k) => {
    if (x < 0 || y < 0) for (let d = -AROUND; d <= AROUND; d++) near.add(k + d);
  });
  if (near.size === 0) return [el("p", {}, `${names}: no line differs.`)];
  const grid = el("div.diff", { role: "group", "aria-label": names });
  let skipped = 0, made = 0;
  const gap = () => skipped && grid.append(el("div.gap", {}, `${skipped} equal ${skipped === 1 ? "line" : "lines"}`));
  pairs.forEach(([x, y], k) => {
    if (!near.has(k) || ++made > 3000) return void skipped++;
    gap();
    skipped = 0;
    const kind = y < 0 ? ".minus" : x < 0 ? ".plus" : "", sign = y < 0 ? "− " : x < 0 ? "+ " : "  ";
    grid.append(el(`span.n${kind}`, {}, number(x, first)), el(`span.n${kind}`, {}, number(y, !first)), el(`span${kind}`, {}, sign + (x < 0 ? b[y] : a[x]).slice(0, 2000)));
  });
  gap();
  return [el("p", {}, names), grid];
}
