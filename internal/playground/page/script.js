// What `muster barrier` says of a script, as steps: after each command, every barrier's phase
// and debts, who waits, and which copies are under way. The numbers are the command's own
// words; nothing is computed here that it does not say.

/** @typedef {{name: string, word: string, phase: number, parity: number, pending: number, expected: number, tx: number, gone: boolean, step: number}} Barrier */
/** @typedef {{line: number, text: string, remark: string, said: string[], barriers: Map<string, Barrier>, waits: Map<string, string>, flights: Map<string, string>, touched: Set<string>, bad: boolean}} Step */

/** So much is drawn. Each step has all that is there at the time, so a script of thousands of barriers would take memory by their square. */
export const MOST = { steps: 20_000, barriers: 24, others: 64 };

/** @param {Map<string, *>} map @param {string} key @param {*} value @param {number} most */
const put = (map, key, value, most) => (map.has(key) || map.size < most) && map.set(key, value);

const LEDGER = /^(\S+) (0x[0-9a-f]{16})  phase (\d+) \(parity ([01])\): pending (\d+) of (\d+), tx (-?\d+)$/;
const GONE = /^(\S+) (0x[0-9a-f]{16})  is what memory holds; it is no barrier any more$/;

/**
 * A script without the output that it expects, line for line: what was below a line of four
 * dashes is blank, and each command has its own output then.
 * @param {string} text
 */
export function bare(text) {
  let output = false;
  return text.split("\n").map((l) => {
    if (l.trim() === "") output = false;
    else if (l.trim() === "----") output = true;
    return output ? "" : l;
  }).join("\n");
}

/** A script as one reads it first: without output, and with the blank lines that it left. @param {string} text */
export function tidy(text) {
  return `${bare(text).replace(/\n{3,}/g, "\n\n").replace(/\n+$/, "")}\n`.replace(/^([^#\n].*)\n\n(?=[^#\n])/gm, "$1\n");
}

/** The commands of a script: lines, from 1, with the comment above each. @param {string} text */
function commands(text) {
  const out = [];
  let remark = [], apart = true;
  bare(text).split("\n").forEach((l, i) => {
    const s = l.trim();
    if (s.startsWith("#")) {
      if (apart) remark = [];
      apart = false;
      remark.push(s.replace(/^#\s?/, ""));
    } else if (s) {
      out.push({ line: i + 1, text: s, remark: remark.join(" ") });
      [remark, apart] = [[], true];
    }
  });
  return out;
}

/** What changes by a line of output. @param {Step} step @param {string} line @param {number} n */
function apply(step, line, n) {
  const name = (m) => m[1];
  let m;
  if ((m = LEDGER.exec(line))) {
    put(step.barriers, m[1], { name: m[1], word: m[2], phase: Number(m[3]), parity: Number(m[4]), pending: Number(m[5]), expected: Number(m[6]), tx: Number(m[7]), gone: false, step: n }, MOST.barriers);
    step.touched.add(m[1]);
  } else if ((m = GONE.exec(line))) {
    const b = step.barriers.get(m[1]);
    if (b) step.barriers.set(m[1], { ...b, word: m[2], gone: true, step: n });
    step.touched.add(m[1]);
  } else if ((m = /^(\S+) (?:waits for|is suspended until) (phase \d+ of \S+)/.exec(line))) put(step.waits, name(m), m[2].replace(/,$/, ""), MOST.others);
  else if ((m = /^\s*(\S+) (?:wakes|passes|resumes)\b/.exec(line))) step.waits.delete(name(m));
  else if ((m = /^(\S+) is under way: (\d+) bytes$/.exec(line))) put(step.flights, m[1], `${Number(m[2]).toLocaleString("en")} bytes`, MOST.others);
  else if (line === "nothing is initialized, nobody waits") [step.barriers, step.waits, step.flights] = [new Map(), new Map(), new Map()];
  if (/^\s*(error|warning)\[/.test(line) || line.startsWith("  the launch ends here")) step.bad = true;
}

/**
 * The steps of a script; of a long one, one more than is drawn.
 * @param {string} text the script @param {string} output what the command printed
 * @returns {Step[]}
 */
export function steps(text, output) {
  const list = commands(text), out = [];
  const blank = () => ({ barriers: new Map(), waits: new Map(), flights: new Map() });
  let k = -1, open = false;
  for (const line of output.split("\n")) {
    if (line === "----") open = true;
    else if (line === "") open = false;
    else if (open) {
      out[k].said.push(line);
      apply(out[k], line, k);
    } else if (!line.startsWith("#")) {
      if (out.length > MOST.steps) break;
      const last = k >= 0 ? out[k] : blank(), c = list[++k];
      const own = c && c.text === line.trim();
      out.push({ line: own ? c.line : 0, text: line, remark: own ? c.remark : "", said: [], barriers: new Map(last.barriers), waits: new Map(last.waits), flights: new Map(last.flights), touched: new Set(), bad: false });
      const m = /^land (\S+)$/.exec(line.trim()), to = /^cp\.async (\S+): arrives on (\S+)/.exec(line.trim());
      if (m) out[k].flights.delete(m[1]);
      if (to) put(out[k].flights, to[1], "arrives when it lands", MOST.others);
    }
  }
  return out;
}
