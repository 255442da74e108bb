// Reads the page's data: base64, gzip, and numbers in LEB128.

/**
 * Decodes the page's blob. A few megabytes at a time, so that no one string of all is made
 * twice.
 * @param {string} text base64 of gzip
 * @returns {Promise<Uint8Array>}
 */
export async function unpack(text) {
  const base64 = text.trim();
  if (base64 === "") return new Uint8Array(0);
  const part = 4 << 20;
  let at = 0;
  const packed = new ReadableStream({
    pull(controller) {
      if (at >= base64.length) return controller.close();
      const s = atob(base64.slice(at, at + part));
      at += part;
      const b = new Uint8Array(s.length);
      for (let i = 0; i < s.length; i++) b[i] = s.charCodeAt(i);
      controller.enqueue(b);
    },
  });
  const plain = packed.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

/** The CRC-32 of a text in UTF-8, as gzip has it. @param {string} text */
export function checksum(text) {
  const table = Uint32Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? (n >>> 1) ^ 0xedb88320 : n >>> 1;
    return n;
  });
  let sum = ~0;
  for (const b of new TextEncoder().encode(text)) sum = table[(sum ^ b) & 255] ^ (sum >>> 8);
  return ~sum >>> 0;
}

/** A Reader reads numbers from bytes, one after the other. */
export class Reader {
  /** @param {Uint8Array} bytes @param {number} at @param {number} end */
  constructor(bytes, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  byte() {
    if (this.at >= this.end) throw new Error("the data ends early");
    return this.bytes[this.at++];
  }

  /** An unsigned LEB128, exact up to 2^53. */
  u() {
    let v = 0, scale = 1;
    for (;;) {
      const b = this.byte();
      v += (b & 127) * scale;
      if (b < 128) return v;
      scale *= 128;
    }
  }

  /** A signed one, as zigzag. */
  z() {
    const v = this.u();
    return v % 2 ? -(v + 1) / 2 : v / 2;
  }

  /** An unsigned one of 64 bits. @returns {bigint} */
  big() {
    let v = 0n, shift = 0n;
    for (;;) {
      const b = this.byte();
      v |= BigInt(b & 127) << shift;
      if (b < 128) return v;
      shift += 7n;
    }
  }

  /** @param {number} n */
  take(n) {
    if (n > this.end - this.at) throw new Error("the data ends early");
    this.at += n;
    return this.bytes.subarray(this.at - n, this.at);
  }
}
