// Where the nodes of the graph stand: in columns, so that each arrow leads to the right, but those that close a
// circle.

const MOST_NODES = 40;

/** The graph's nodes and arrows. @param {*} m */
function graphOf(m) {
  const nodes = new Map(), arrows = [];
  let left = 0;
  const node = (key, make) => {
    if (!nodes.has(key)) {
      if (nodes.size >= MOST_NODES) { left++; return null; }
      nodes.set(key, { key, ...make() });
    }
    return nodes.get(key);
  };
  const group = (n) => node(`g${n}`, () => ({ kind: "goroutine", group: n, index: m.groups[n].first }));
  const barrier = (b) => node(`b${b}`, () => ({ kind: "barrier", index: b }));
  const waiting = new Map(); // by group and barrier
  const order = [...m.circles.flatMap((c) => c.goroutines), ...m.goroutines.keys()];
  for (const g of order) {
    if (!m.held(g)) continue;
    const { barrier: b, phase } = m.goroutines[g].waits, n = m.goroutines[g].group, key = `${n} ${b}`;
    if (waiting.has(key)) continue;
    waiting.set(key, true);
    const from = group(n), to = barrier(b);
    if (from && to) arrows.push({ from, to, text: `phase ${phase}`, guess: false });
  }
  const seen = new Set();
  for (const d of m.debts) {
    const from = nodes.get(`b${d.barrier}`);
    if (!from) continue;
    const to = d.goroutine < 0 ? node(`n${d.barrier}${d.what}`, () => ({ kind: "nobody", index: d.barrier, what: d.what })) : group(m.goroutines[d.goroutine].group);
    if (!to || seen.has(`${from.key} ${to.key} ${d.what}`)) continue;
    seen.add(`${from.key} ${to.key} ${d.what}`);
    const bytes = d.what === "bytes";
    arrows.push({ from, to, guess: d.known === "rest" || d.known === "nothing", text: d.goroutine < 0 ? (bytes ? "bytes" : "arrival") : d.known === "rest" ? "may owe" : bytes ? "owes bytes" : "owes" });
  }
  for (const c of m.circles) {
    c.goroutines.forEach((g, i) => {
      const from = nodes.get(`g${m.goroutines[g].group}`), at = nodes.get(`b${c.barriers[i]}`), to = nodes.get(`g${m.goroutines[c.goroutines[(i + 1) % c.goroutines.length]].group}`);
      for (const n of [from, at]) if (n) n.round = true;
      for (const a of arrows) if ((a.from === from && a.to === at) || (a.from === at && a.to === to)) a.round = true;
    });
  }
  return { nodes: [...nodes.values()], arrows, left };
}

/** Gives each node a column and a row. @param {{nodes: *[], arrows: *[]}} graph */
function place(graph) {
  const { nodes, arrows } = graph;
  const out = new Map(nodes.map((n) => [n, []])), into = new Map(nodes.map((n) => [n, 0]));
  for (const a of arrows) { out.get(a.from).push(a); into.set(a.to, into.get(a.to) + 1); }
  const state = new Map();
  const sorted = [];
  const visit = (n) => {
    state.set(n, 1);
    for (const a of out.get(n)) {
      if (state.get(a.to) === 1) a.back = true;
      else if (!state.has(a.to)) visit(a.to);
    }
    state.set(n, 2);
    sorted.unshift(n);
  };
  for (const n of [...nodes.filter((n) => into.get(n) === 0), ...nodes]) if (!state.has(n)) visit(n);
  for (const n of nodes) n.column = 0;
  for (const n of sorted) for (const a of out.get(n)) if (!a.back) a.to.column = Math.max(a.to.column, n.column + 1);
  const rows = [];
  for (const n of sorted) {
    rows[n.column] ??= 0;
    n.row = rows[n.column]++;
  }
  // Nodes move to the middle of those that lead to them, where there is room.
  const tall = Math.max(1, ...rows.filter((r) => r));
  for (const n of sorted) n.y = n.row + (tall - rows[n.column]) / 2;
  return { columns: rows.length, rows: tall };
}
