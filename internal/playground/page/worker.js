// A worker that runs the command: one run at a time, each in an instance of its own, with its
// own memory and files. It ends with the run's exit status, or with one line if the program
// broke. What stops a run is the end of the worker.

import "./wasm_exec.js";
import { Files } from "./files.js";

// fatal is the exit status of the Go runtime when it gives up.
const fatal = 2;

self.onmessage = async event => {
  const { id } = event.data;
  const post = (message, transfer) => self.postMessage({ id, ...message }, transfer ?? []);
  try {
    await run(event.data, post);
  } catch (err) {
    post({ crash: oneLine(String(err?.message ?? err)) });
  }
};

async function run({ module, args, files, keep }, post) {
  const begun = performance.now();
  const out = { 1: stream("stdout", post), 2: stream("stderr", post) };
  let last = ""; // what the Go runtime said
  const decoder = new TextDecoder();
  const disk = new Files((fd, bytes) => out[fd](bytes), bytes => {
    if (last.length < 4096) last += decoder.decode(bytes, { stream: true });
  });
  for (const [name, data] of Object.entries(files ?? {})) disk.put(name, data);
  globalThis.fs = disk.api();
  globalThis.process = disk.process();
  globalThis.path = disk.path();

  const go = new Go();
  go.argv = ["muster", ...args];
  // Collecting garbage half as often is a tenth of the time of small checks; the command's
  // limit on memory holds all the same.
  go.env = { HOME: "/", TMPDIR: "/tmp", GOGC: "200" };
  let status;
  go.exit = code => {
    status = code;
    for (const timer of go._scheduledTimeouts.values()) clearTimeout(timer); // nobody is left to wake
  };
  const broke = new Promise((_, reject) => { self.onerror = event => { reject(event.error ?? event.message); return true; }; });
  const instance = await WebAssembly.instantiate(module, go.importObject);
  await Promise.race([go.run(instance), broke]);
  if (status === fatal && last !== "") throw new Error(last);

  const kept = {}, bytes = [];
  for (const name of keep ?? []) {
    const data = disk.get(name);
    if (data === undefined) continue;
    kept[name] = data;
    bytes.push(data.buffer);
  }
  post({ exit: status, files: kept, ms: Math.round(performance.now() - begun) }, bytes);
}

// stream returns what posts a stream's text as it comes, with no character cut in two.
function stream(name, post) {
  const decoder = new TextDecoder();
  return bytes => {
    const text = decoder.decode(bytes, { stream: true });
    if (text !== "") post({ stream: name, text });
  };
}

// oneLine says what broke the program: the first line that has words.
function oneLine(text) {
  const line = text.split("\n").map(l => l.trim()).find(l => l !== "") ?? "it broke without a word";
  const small = line.length > 300 ? line.slice(0, 300) + "…" : line;
  return /out of memory|cannot allocate/i.test(text) ? `muster: the browser's memory ran out (${small})` : `muster: the program broke: ${small}`;
}
