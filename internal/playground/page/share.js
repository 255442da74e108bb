// A state as a link: JSON, deflate, base64url, behind the #. The fragment never leaves the
// browser. A link comes from anybody: its size is bounded before and while it is unpacked, and
// what it holds goes through unpack of state.js.

import { fromBase64, pack, toBase64, unpack } from "./state.js";

/** Letters of a fragment, and bytes that it may unpack to. */
const LONGEST = 2_000_000, LARGEST = 24 << 20;

/** @param {ReadableStream} stream @param {number} most */
async function collect(stream, most) {
  const parts = [], reader = stream.getReader();
  let size = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      reader.cancel().catch(() => {});
      throw new Error("it unpacks to more than this page takes");
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** The fragment of a state; an error if it is too long for a link. @param {import("./state.js").State} state */
export async function encode(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(pack(state)));
  const packed = await collect(new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw")), LARGEST);
  const text = `#s=${toBase64(packed).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "")}`;
  if (text.length > LONGEST || bytes.length > LARGEST) throw new Error("these files are too large for a link");
  return text;
}

/** The state of a fragment; an error of one line if it has none. @param {string} fragment */
export async function decode(fragment) {
  if (fragment.length > LONGEST) throw new Error("it is too long");
  const m = /^#s=([A-Za-z0-9_-]+)$/.exec(fragment);
  if (!m) throw new Error("it has letters that no link of this page has");
  let bytes;
  try {
    const packed = fromBase64(m[1].replace(/-/g, "+").replace(/_/g, "/"));
    bytes = await collect(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")), LARGEST);
  } catch (e) {
    throw e.message.startsWith("it ") ? e : new Error("it is damaged");
  }
  let data;
  try {
    data = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error("it is damaged");
  }
  return unpack(data);
}
