// Holds files.js to Node's own file system: the same calls, in any order, give the same
// answers and leave the same files. argv: the folder of the site, an empty folder, a seed.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [site, folder, seed] = process.argv.slice(2);
const { Files, mostBytes } = await import(pathToFileURL(`${site}/files.js`));

let state = Number(seed);
const draw = n => {
  state = (state * 1103515245 + 12345) % 2147483648;
  return Math.floor(state / 65536) % n;
};
const one = list => list[draw(list.length)];

const disk = new Files(() => {}, () => {});
const mine = disk.api();
const flags = Object.fromEntries(["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND", "O_EXCL"].map(n => [n, [mine.constants[n], fs.constants[n]]]));
const names = ["a", "b", "d", "d/a", "d/e", "d/e/f", "d/../a", "./b", "none/x"];
const opened = []; // pairs of file descriptors

// both makes one call here and there, and compares what they say.
let calls = 0;
function both(what, ours, theirs) {
  const ask = f => {
    try {
      return { value: f() };
    } catch (err) {
      if (err.code === undefined) throw err;
      return { code: err.code };
    }
  };
  const a = ask(ours), b = ask(theirs);
  calls++;
  const show = x => x.code ?? JSON.stringify(x.value ?? null);
  if (what[0] === "open" && a.code === undefined && b.code === undefined) {
    opened.push([a.value, b.value]);
    return;
  }
  if (show(a) !== show(b)) throw new Error(`call ${calls}, ${what.join(" ")}: ${show(a)}, and Node has ${show(b)}`);
}

// call calls an asynchronous function of ours, which answers at once.
function call(name, ...args) {
  let answer;
  mine[name](...args, (err, value) => { answer = { err, value }; });
  if (answer === undefined) throw new Error(`${name} does not answer at once`);
  if (answer.err !== null) throw answer.err;
  return answer.value;
}

const there = name => path.join(folder, name);
for (let i = 0; i < 4000; i++) {
  const name = one(names), other = one(names);
  switch (draw(11)) {
    case 0: {
      const chosen = Object.keys(flags).filter(() => draw(3) === 0).filter((f, _, all) => !(f === "O_RDWR" && all.includes("O_WRONLY")));
      if (opened.length > 20) break;
      if (!chosen.some(f => f === "O_RDWR" || f === "O_WRONLY") && chosen.includes("O_TRUNC")) break; // not defined
      const [ours, theirs] = [0, 1].map(k => chosen.reduce((all, f) => all | flags[f][k], 0));
      both(["open", name, ...chosen], () => call("open", name, ours, 0o666), () => fs.openSync(there(name), theirs, 0o666));
      break;
    }
    case 1: {
      const pair = opened.splice(draw(opened.length), 1)[0];
      if (pair) both(["close"], () => call("close", pair[0]), () => fs.closeSync(pair[1]));
      break;
    }
    case 2:
    case 3: {
      const pair = one(opened), bytes = Uint8Array.from({ length: 1 + draw(50) }, () => draw(256)), at = draw(2) === 0 ? null : draw(100);
      // A place means nothing to Linux where a file is appended to, and POSIX has another rule.
      if (pair && !(at !== null && disk.open.get(pair[0]).appends)) both(["write", bytes.length, at], () => call("write", pair[0], bytes, 0, bytes.length, at), () => fs.writeSync(pair[1], bytes, 0, bytes.length, at));
      break;
    }
    case 4: {
      const pair = one(opened), at = draw(2) === 0 ? null : draw(100), n = 1 + draw(59);
      const read = f => {
        const into = new Uint8Array(60);
        return [f(into), ...into];
      };
      if (pair) both(["read", n, at], () => read(b => call("read", pair[0], b, 0, n, at)), () => read(b => fs.readSync(pair[1], b, 0, n, at)));
      break;
    }
    case 5:
      both(["mkdir", name], () => call("mkdir", name, 0o777), () => fs.mkdirSync(there(name)));
      break;
    case 6:
      both(["unlink", name], () => call("unlink", name), () => fs.unlinkSync(there(name)));
      break;
    case 7:
      both(["rmdir", name], () => call("rmdir", name), () => fs.rmdirSync(there(name)));
      break;
    case 8:
      both(["rename", name, other], () => call("rename", name, other), () => fs.renameSync(there(name), there(other)));
      break;
    case 9:
      both(["readdir", name], () => call("readdir", name).sort(), () => fs.readdirSync(there(name)).sort());
      break;
    case 10: {
      const about = s => [s.isDirectory(), s.isDirectory() ? 0 : s.size];
      both(["stat", name], () => about(call("stat", name)), () => about(fs.statSync(there(name))));
      break;
    }
  }
}

// Bounds: neither bytes nor files without end.
const fd = call("open", "large", mine.constants.O_WRONLY | mine.constants.O_CREAT, 0o666);
for (const [what, ask] of Object.entries({
  bytes: () => call("ftruncate", fd, mostBytes + 1),
  files: () => {
    for (let i = 0; ; i++) call("mkdir", `folder${i}`, 0o777);
  },
})) {
  try {
    ask();
    throw new Error(`${what} without a bound`);
  } catch (err) {
    if (err.code !== "ENOSPC") throw err;
  }
}
console.log(`${calls} calls`);
