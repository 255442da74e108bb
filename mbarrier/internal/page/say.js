// What the page says in words.

/** @param {*} m @param {number} g */
function goroutineName(m, g) {
  return g < 0 ? "a goroutine that was not kept" : `"${clip(clean(m.goroutines[g].name), 60)}"`;
}

function barrierName(m, b) {
  return `"${clip(clean(m.barriers[b].name), 60)}"`;
}

/** "file:line". */
function placeName(m, p) {
  if (p < 0) return "an unknown place";
  const { file, line } = m.places[p];
  return clip(clean(`${file.slice(file.lastIndexOf("/") + 1)}:${line}`), 80);
}

function phaseName(phase) {
  return phase < 0 ? "the phase before the first" : `phase ${phase}`;
}

function ledger(s) {
  return `phase ${s.phase} (parity ${((s.phase % 2) + 2) % 2}): pending ${s.pending} of ${s.expected}, tx ${s.tx}`;
}

/** A step in a sentence. @param {*} m @param {*} s */
function sentence(m, s) {
  const who = goroutineName(m, s.goroutine), at = barrierName(m, s.barrier), phase = phaseName(s.phase);
  const done = s.completes ? ", which completes it" : "";
  switch (s.kind) {
    case "made": return `${who} makes ${at}, which expects ${counted(s.after.expected, "arrival")} in each phase`;
    case "arrives": return `${who} arrives at ${at}${s.arrivals > 1 ? `, ${count(s.arrivals)} times,` : ""} in ${phase}${s.bytes > 0 ? ` and announces ${counted(s.bytes, "byte")}` : ""}${done}`;
    case "drops": return `${who} arrives at ${at} in ${phase} and leaves for good${done}`;
    case "leaves": return `${who} is to leave ${at} in ${phase}, which has not begun`;
    case "bytes": return s.bytes >= 0 ? `${who} announces ${counted(s.bytes, "byte")} at ${at} in ${phase}${done}` : `${who} lands ${counted(-s.bytes, "byte")} at ${at} in ${phase}${done}`;
    case "waits": return `${who} waits for ${phase} of ${at}`;
    case "passes": return `${who} need not wait: ${phase} of ${at} is complete`;
    case "resumes": return `${who} goes on: ${phase} of ${at} is complete`;
    case "gives up": return `${who} gives up its wait for ${phase} of ${at}`;
    case "tests": return `${who} asks${s.times > 1 ? ` ${count(s.times)} times` : ""} whether ${phase} of ${at} is complete: ${s.true ? "it is" : "it is not"}`;
    case "panics": return `${who} panics at ${at}`;
    case "breaks": return `the completion function of ${at} does not return to ${who}`;
  }
  return `${who}: ${s.kind}`;
}

/** What a barrier still needs. */
function missing(b) {
  const parts = [];
  if (b.pending > 0) parts.push(`${count(b.pending)} of ${counted(b.expected, "arrival")} missing`);
  if (b.tx > 0) parts.push(`${counted(b.tx, "byte")} not landed`);
  if (b.tx < 0) parts.push(`${counted(-b.tx, "byte")} not announced`);
  return parts.join(", ") || "nothing missing";
}

const KNOWN = { history: "by its history", role: "by its role", sibling: "by goroutines like it", rest: "a guess", nothing: "" };

/** A text in which "step 12" becomes a link to it. @param {*} m @param {string} text @returns {(Node|string)[]} */
function linked(m, text) {
  const parts = [];
  let end = 0;
  for (const f of text.matchAll(/\bstep (\d{1,12})\b/g)) {
    const step = Number(f[1]);
    if (!m.byStep.has(step)) continue;
    parts.push(text.slice(end, f.index), link(f[0], () => m.go(step)));
    end = f.index + f[0].length;
  }
  return [...parts, text.slice(end)];
}
