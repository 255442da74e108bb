// Dark or light: as the system says, or as the reader chose. The lanes are drawn, so they
// need the style sheet's colours as values.

const CHOICES = ["auto", "light", "dark"];

/** Colours that the lanes are drawn with: custom properties of the style sheet. */
const NAMES = ["ground", "ink", "quiet", "line", "band", "focus", "finding", "good", "arrow", "memory", "barrier", "fence", "async", "other", "wait", "op", "stage-0", "stage-1", "stage-2", "phase-0", "phase-1", "counter", "run", "on-fill"];

export class Theme {
  /** @param {HTMLButtonElement} button @param {() => void} changed */
  constructor(button, changed) {
    this.button = button;
    this.changed = changed;
    this.choice = "auto";
    button.addEventListener("click", () => this.choose(CHOICES[(CHOICES.indexOf(this.choice) + 1) % CHOICES.length]));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.read());
    this.choose("auto");
  }

  /** @param {string} choice */
  choose(choice) {
    this.choice = choice;
    if (choice === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    this.button.textContent = { auto: "◐", light: "☀", dark: "☾" }[choice];
    this.button.setAttribute("aria-label", `Theme: ${choice}`);
    this.button.title = `Theme: ${choice}`;
    this.read();
  }

  read() {
    const style = getComputedStyle(document.documentElement);
    /** @type {Object<string, string>} */
    this.colors = Object.fromEntries(NAMES.map((n) => [n, style.getPropertyValue(`--${n}`).trim()]));
    this.changed();
  }
}
