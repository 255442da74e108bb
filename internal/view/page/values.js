// Writes raw bits as what their type says.

/** Types that bits may be read as. */
export const TYPES = ["u8", "b16", "f16", "bf16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"];

/** Bytes of a type. @param {string} type */
export function sizeOf(type) {
  return Number(/\d+$/.exec(type)?.[0] ?? 32) / 8;
}

const view = new DataView(new ArrayBuffer(8));

/** @param {bigint} bits @param {string} type of PTX: "f32", "u64", "pred", "b16" … */
export function value(bits, type) {
  view.setBigUint64(0, BigInt.asUintN(64, bits));
  switch (type) {
    case "pred": return bits ? "true" : "false";
    case "f32": return float(view.getFloat32(4));
    case "f64": return float(view.getFloat64(0));
    case "f16": return float(half(Number(bits & 0xffffn), 5, 10));
    case "bf16": return float(half(Number(bits & 0xffffn), 8, 7));
  }
  const width = Number(/\d+$/.exec(type)?.[0] ?? 64);
  if (type.startsWith("s")) return BigInt.asIntN(width, bits).toString();
  if (type.startsWith("u")) return bits.toString();
  return bits < 4096n ? bits.toString() : `0x${bits.toString(16)}`;
}

/** @param {number} v */
function float(v) {
  return Object.is(v, -0) ? "-0" : String(Number(v.toPrecision(7)));
}

/** A float of 16 bits. @param {number} bits @param {number} e bits of its exponent @param {number} m of its fraction */
function half(bits, e, m) {
  const sign = bits >> 15 ? -1 : 1, exponent = (bits >> m) & ((1 << e) - 1), fraction = (bits & ((1 << m) - 1)) / (1 << m), bias = (1 << (e - 1)) - 1;
  if (exponent === (1 << e) - 1) return fraction ? NaN : sign * Infinity;
  return exponent === 0 ? sign * fraction * 2 ** (1 - bias) : sign * (1 + fraction) * 2 ** (exponent - bias);
}

/** Bits of an element of memory, lowest byte first. @param {Uint8Array} bytes @param {number} at @param {number} n */
export function bitsAt(bytes, at, n) {
  let v = 0n;
  for (let i = n - 1; i >= 0; i--) v = (v << 8n) | BigInt(bytes[at + i]);
  return v;
}
