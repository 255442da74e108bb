// The program: fetched, unpacked and compiled once. What comes of it can be posted to a worker.

import { unpack } from "./unpack.js";

// load returns the module of the program that lies beside this file. told takes how much of it
// is there, from 0 to 1, while it is fetched.
export async function load(told = () => {}) {
  const name = "muster.bin";
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) throw new Error(`${name}: the host answers ${answer.status}`);
  const packed = await gather(answer, told);
  return WebAssembly.compile(unpack(await gunzip(packed)));
}

// gather reads an answer to its end.
async function gather(answer, told) {
  const whole = Number(answer.headers.get("Content-Length"));
  const reader = answer.body.getReader();
  const parts = [];
  let n = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    n += value.length;
    if (whole > 0) told(Math.min(1, n / whole));
  }
  return new Blob(parts);
}

// gunzip returns what a blob holds: a host may have unpacked it already.
async function gunzip(blob) {
  const head = new Uint8Array(await blob.slice(0, 2).arrayBuffer());
  if (head[0] === 0x1f && head[1] === 0x8b) {
    const stream = blob.stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }
  return new Uint8Array(await blob.arrayBuffer());
}
