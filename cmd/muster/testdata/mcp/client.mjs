// Drives muster mcp by the TypeScript SDK: client.mjs MUSTER EXAMPLES. It prints "ok" at last,
// or what went wrong, and then exits with status 1.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { pathToFileURL } from "node:url";
import { tmpdir } from "node:os";
import { readFileSync } from "node:fs";

const [muster, examples] = process.argv.slice(2);
const client = new Client({ name: "test", version: "1" }, { capabilities: { roots: {} } });
client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: pathToFileURL(examples).href }] }));
await client.connect(new StdioClientTransport({ command: muster, args: ["mcp"], cwd: tmpdir() }));
assert.equal(client.getServerVersion().name, "muster");

const { tools } = await client.listTools(); // the client compiles the schemas of all answers
const names = tools.map((t) => t.name).sort();
assert.deepEqual(names, ["barrier", "check", "cost", "explain", "init", "mutate", "reduce", "replay", "run"]);

async function call(name, args, options) {
  const r = await client.callTool({ name, arguments: args }, undefined, options);
  return { text: r.content[0].text, data: r.structuredContent, failed: r.isError === true };
}

// By a root of the client: the server's own folder has no such file.
let r = await call("check", { launch: "ring/ring.yaml" });
assert.match(r.text, /^clean: all schedules/);
assert.equal(r.data.verdict, "clean");

const ptx = readFileSync(`${examples}/ring/broken_parity.ptx`, "utf8");
const fields = { grid: "1", block: "160", buffers: ["in=f32[16384]:iota", "out=f32[128]:nan"], args: ["in", "out", "s32:64"] };
const messages = [];
r = await call("check", { ptx_text: ptx, ...fields }, { onprogress: (p) => messages.push(p.message) });
assert.match(r.text, /^findings: /);
assert.ok(messages.length > 0, "no progress");
const finding = r.data.findings[0];
r = await call("replay", { ptx_text: ptx, ...fields, finding: finding.id, schedule: finding.schedule });
assert.match(r.text, /is there again/);
r = await call("cost", { launch: "ring/ring.yaml" });
assert.equal(r.data.verdict, "clean");
r = await call("explain", { topic: finding.kind });
assert.ok(r.text.startsWith(finding.kind));
r = await call("barrier", { script: "init full 1\nproducer: arrive full\n" });
assert.match(r.text, /phase 1 \(parity 1\)/);
for (const args of [{ ptx_text: "hello", grid: "1", block: "1" }, { launch: "nowhere.yaml" }, { lunch: 1 }]) {
  r = await call("check", args);
  assert.ok(r.failed, JSON.stringify(args));
}

// Several at once, one of them cancelled.
const spin = `.version 8.0
.target sm_90
.address_size 64
.visible .entry spin(.param .u64 out)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
LOOP:
	atom.global.add.u32 %r1, [%rd1], 1;
	bra LOOP;
}
`;
const stop = new AbortController();
const long = call("check", { ptx_text: spin, grid: "2", block: "32", buffers: ["out=u32[1]:zeros"], args: ["out"], seconds: 600 },
  { signal: stop.signal, onprogress: () => stop.abort("enough") });
const others = Promise.all([1, 2, 3].map(() => call("check", { launch: "ring/ring.yaml" })));
await assert.rejects(long);
for (const other of await others) {
  assert.match(other.text, /^clean/);
}
await client.close();
console.log("ok");
