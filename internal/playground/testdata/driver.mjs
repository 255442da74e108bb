// Runs worker.js in a thread of Node for the tests in Go: a request a line comes in, each
// message of the worker goes out as a line. {"terminate": true} ends the worker, and another
// stands in its place; {"usage": true} asks for the microseconds of the processor that all of
// it took. argv: the folder of the site.
import { Worker } from "node:worker_threads";
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { pathToFileURL } from "node:url";

const site = process.argv[2];
const { unpack } = await import(pathToFileURL(`${site}/unpack.js`));
const module = await WebAssembly.compile(unpack(new Uint8Array(gunzipSync(readFileSync(`${site}/muster.bin`)))));

// What a worker of a browser has under the name self, Node has elsewhere.
const shim = `
import { parentPort } from "node:worker_threads";
globalThis.self = globalThis;
globalThis.postMessage = (message, transfer) => parentPort.postMessage(message, transfer);
await import(${JSON.stringify(String(pathToFileURL(`${site}/worker.js`)))});
parentPort.on("message", data => self.onmessage({ data }));
`;
let worker;
function begin() {
  worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(shim)}`));
  worker.on("message", m => {
    for (const name in m.files) m.files[name] = Buffer.from(m.files[name]).toString("base64");
    console.log(JSON.stringify(m));
  });
  worker.on("error", err => console.log(JSON.stringify({ crash: `the worker itself broke: ${err.message}` })));
}
begin();

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.usage) {
    const { user, system } = process.cpuUsage();
    console.log(JSON.stringify({ usage: user + system }));
    continue;
  }
  if (request.terminate) {
    await worker.terminate();
    begin();
    console.log(JSON.stringify({ terminated: true }));
    continue;
  }
  for (const name in request.files) {
    const file = request.files[name];
    if (typeof file !== "string") request.files[name] = new Uint8Array(Buffer.from(file.base64, "base64"));
  }
  worker.postMessage({ ...request, module });
}
await worker.terminate();
