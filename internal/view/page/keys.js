// Keys, as in Perfetto where it has them. A key that a control needs (letters in a field,
// arrows in a list) stays its own.

/** The keys, for the help. @type {[string, string][]} */
export const KEYS = [
  ["w s", "zoom in, out"], ["a d", "move to the left, right"], ["f", "fit: all of the run"], ["← →", "one step back, on"],
  ["Shift ← →", "to the previous, next change of a phase"], ["Home End", "first, last step"], ["space", "play, pause"],
  ["n p", "next, previous place of the finding"], ["[ ]", "previous, next event of the selected row"], ["/", "search; Enter the next match, Shift Enter the one before"], ["t", "filter rows"],
  ["m", "mark the selected event: what orders it and another"], ["1 … 6", "tabs: event, barriers, registers, memory, in sight, waits"], ["Enter", "on a row of the table, or a line of code: go there"], ["Esc", "select nothing"], ["?", "this help"],
];

/** @param {Object<string, (e: KeyboardEvent) => void>} acts by key */
export function listen(acts) {
  document.addEventListener("keydown", (e) => {
    const at = /** @type {HTMLElement} */ (e.target);
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || document.querySelector("dialog[open]")) return;
    const field = at.closest("input, select, textarea");
    if (field && !(field instanceof HTMLInputElement && field.type === "checkbox")) {
      if (e.key === "Escape") field.blur();
      return;
    }
    if (e.key === " " && at.closest("button, summary, input")) return;
    if ((e.key === "Home" || e.key === "End") && at.closest(".panel, .story, .code-scroll")) return;
    const act = acts[e.shiftKey && e.key.startsWith("Arrow") ? `Shift${e.key}` : e.key.length === 1 ? e.key.toLowerCase() : e.key];
    if (!act) return;
    e.preventDefault();
    act(e);
  });
}
