// The command, as a shell has it: arguments and files in, a status, output and files out. It
// is fetched and compiled once; each run has a Worker, which Stop ends.

import { load } from "./program.js";

/** A run that was stopped. */
export class Stopped extends Error {}

export class Engine {
  /** @param {(text: string) => void} say how far loading has come */
  constructor(say) {
    this.say = say;
    this.count = 0;
    this.running = null;
  }

  /** Loads the command; a load that failed is tried again. */
  load() {
    this.module ??= load((part) => this.say(part < 1 ? `Loading the command: ${Math.round(100 * part)} %` : "Compiling the command…")).catch((e) => {
      this.module = undefined;
      throw e;
    });
    return this.module;
  }

  /**
   * Runs the command.
   * @param {string[]} args @param {Object<string, string|Uint8Array>} files @param {string[]} [keep] files to bring back
   * @param {(line: string) => void} [progress] lines of standard error as they come
   * @returns {Promise<{exit: number, stdout: string, stderr: string, files: Object<string, Uint8Array>, ms: number}>}
   */
  async run(args, files, keep = [], progress = () => {}) {
    if (this.running) throw new Error("a run is under way");
    const id = ++this.count;
    /** @type {*} */
    const job = (this.running = { id });
    try {
      const module = await Promise.race([this.load(), new Promise((_, no) => (job.stop = no))]);
      return await new Promise((yes, no) => {
        job.stop = no;
        this.worker ??= new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
        const out = { stdout: [], stderr: [] };
        this.worker.onmessage = ({ data }) => {
          if (data.id !== id) return;
          if (data.stream) {
            out[data.stream].push(data.text);
            if (data.stream === "stderr") progress(data.text.trim().split(/[\r\n]/).pop());
          } else if (data.crash) no(new Error(data.crash));
          else yes({ exit: data.exit, stdout: out.stdout.join(""), stderr: out.stderr.join(""), files: data.files ?? {}, ms: data.ms });
        };
        this.worker.onerror = (e) => {
          e.preventDefault();
          no(new Error(e.message || "the worker cannot be loaded"));
        };
        this.worker.postMessage({ id, module, args, files, keep });
      });
    } catch (e) {
      this.end(); // what it holds may be broken, or still runs
      throw e;
    } finally {
      if (this.running === job) this.running = null;
    }
  }

  end() {
    this.worker?.terminate();
    this.worker = undefined;
  }

  /** Ends the run. */
  stop() {
    this.running?.stop?.(new Stopped("stopped"));
  }
}
