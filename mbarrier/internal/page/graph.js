// The graph of who waits for whom.

const NODE = { width: 196, height: 44, gapX: 96, gapY: 18 };

/** @param {HTMLElement} box @param {*} m */
function showGraph(box, m) {
  const graph = graphOf(m);
  if (!graph.nodes.length) {
    box.replaceChildren(el("p.quiet", {}, "Nobody waits."));
    return;
  }
  const size = place(graph), stepX = NODE.width + NODE.gapX, stepY = NODE.height + NODE.gapY;
  // What is too wide folds once, and goes back to the left below: a circle closes there.
  const folds = size.columns > 5 && size.columns * stepX > box.clientWidth, columns = folds ? Math.ceil(size.columns / 2) : size.columns;
  const body = size.rows * stepY;
  for (const n of graph.nodes) {
    n.below = folds && n.column >= columns;
    n.left = 6 + (n.below ? 2 * columns - 1 - n.column : n.column) * stepX;
    n.top = 6 + n.y * stepY + (n.below ? body + 26 : 0);
  }
  const backs = folds ? 0 : graph.arrows.filter((a) => a.back).length;
  const width = columns * stepX - NODE.gapX + 12, height = folds ? 2 * body + 30 : body + (backs ? 30 + 16 * Math.min(backs, 6) : 4);
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "presentation" });
  const texts = [];
  let back = 0;
  for (const a of [...graph.arrows].sort((p, q) => (p.round ? 1 : 0) - (q.round ? 1 : 0))) {
    const round = a.round ? ".round" : "", [path, head, x, y] = folds ? direct(a) : a.back ? under(a, body + 18 + 16 * Math.min(back++, 5)) : onward(a);
    picture.append(svg(`path.arrow${round}${a.guess ? ".guess" : ""}`, { d: path }), svg(`path.head${round}`, { d: head }));
    const wide = a.text.length * 6.2 + 6;
    texts.push(svg("rect.behind", { x: x - wide / 2, y: y - 11, width: wide, height: 14 }), svg(`text.on-arrow${round}`, { x, y }, a.text));
  }
  picture.append(...texts);
  for (const n of graph.nodes) picture.append(nodeOf(m, n));
  box.replaceChildren(picture, graph.left ? el("p.quiet", {}, `${counted(graph.left, "more arrow leads", "more arrows lead")} to what is not drawn: the tables below have it.`) : "");
  const mark = () => {
    for (const e of picture.querySelectorAll(".node")) e.classList.toggle("picked", m.pick != null && e.dataset.key === `${m.pick.kind} ${m.pick.kind === "goroutine" ? m.goroutines[m.pick.index].group : m.pick.index}`);
  };
  m.listen((what) => what !== "window" && mark());
}

/** An arrow to a column further right: its path, its head, and where its text stands. */
function onward({ from, to }) {
  const x1 = from.left + NODE.width, y1 = from.top + NODE.height / 2, x2 = to.left, y2 = to.top + NODE.height / 2, mid = x2 - NODE.gapX / 2;
  const path = to.column === from.column + 1 || y1 === y2 ? `M${x1} ${y1} C${x1 + 40} ${y1} ${x2 - 48} ${y2} ${x2 - 8} ${y2}` : `M${x1} ${y1} C${x1 + 40} ${y1} ${x1 + 30} ${y2} ${mid - 30} ${y2} L${x2 - 8} ${y2}`;
  return [path, `M${x2} ${y2} l-9 -5 v10 z`, (x1 + x2) / 2 - 2, (y1 + y2) / 2 + 4];
}

/** An arrow back, below all nodes. */
function under({ from, to }, deep) {
  const apart = from === to ? 40 : 0, p = from.left + NODE.width / 2 + apart, q = to.left + NODE.width / 2 - apart, y1 = from.top + NODE.height, y2 = to.top + NODE.height, turn = Math.sign(q - p) * 26;
  return [`M${p} ${y1} C${p} ${deep} ${p} ${deep} ${p + turn} ${deep} L${q - turn} ${deep} C${q} ${deep} ${q} ${deep} ${q} ${y2 + 8}`, `M${q} ${y2} l-5 9 h10 z`, (p + q) / 2, deep + 4];
}

/** An arrow of a folded graph: between the sides that face each other. */
function direct({ from, to }) {
  const dx = to.left - from.left, dy = to.top - from.top;
  if (Math.abs(dx) < NODE.width) {
    const s = dy < 0 ? -1 : 1, x1 = from.left + NODE.width / 2, x2 = to.left + NODE.width / 2, y1 = from.top + (s > 0 ? NODE.height : 0), y2 = to.top + (s > 0 ? 0 : NODE.height);
    return [`M${x1} ${y1} L${x2} ${y2 - 8 * s}`, `M${x2} ${y2} l-5 ${-9 * s} h10 z`, (x1 + x2) / 2, (y1 + y2) / 2 + 4];
  }
  const s = dx < 0 ? -1 : 1, x1 = from.left + (s > 0 ? NODE.width : 0), x2 = to.left + (s > 0 ? 0 : NODE.width), y1 = from.top + NODE.height / 2, y2 = to.top + NODE.height / 2;
  return [`M${x1} ${y1} C${x1 + 40 * s} ${y1} ${x2 - 48 * s} ${y2} ${x2 - 8 * s} ${y2}`, `M${x2} ${y2} l${-9 * s} -5 v10 z`, (x1 + x2) / 2 - 2 * s, (y1 + y2) / 2 + 4];
}

function nodeOf(m, n) {
  const { title, sub, label } = nodeWords(m, n);
  const act = () => n.kind !== "nobody" && m.choose(n.kind, n.index);
  const key = `${n.kind} ${n.kind === "goroutine" ? n.group : n.index}`;
  const gone = n.kind === "nobody" || (n.kind === "goroutine" && m.goroutines[n.index].state === "ended");
  const e = svg(`g.node${n.round ? ".round" : ""}${gone ? ".gone" : ""}`, {
    transform: `translate(${n.left} ${n.top})`, tabindex: n.kind === "nobody" ? null : 0, role: n.kind === "nobody" ? "img" : "button", "aria-label": label, "data-key": key,
    click: act, keydown: (k) => { if (k.key === "Enter" || k.key === " ") { k.preventDefault(); act(); } },
  });
  e.append(svg("title", {}, label), svg("rect.box", { width: NODE.width, height: NODE.height, rx: n.kind === "barrier" ? 2 : 14 }));
  if (n.kind === "barrier") e.append(svg("rect.stripe", { x: 1, y: 1, width: 5, height: NODE.height - 2 }));
  e.append(svg("text.title", { x: 14, y: 18 }, clip(title, 24)), svg("text.sub", { x: 14, y: 34 }, clip(sub, 30)));
  return e;
}

function nodeWords(m, n) {
  if (n.kind === "nobody") return { title: "nobody known", sub: `who would bring the ${n.what}`, label: `Nobody is known who would bring the ${n.what} that ${barrierName(m, n.index)} waits for` };
  if (n.kind === "barrier") {
    const b = m.barriers[n.index], sub = missing(b), owes = m.debtsOf[n.index].filter((d) => d.goroutine >= 0).slice(0, 3).map((d) => goroutineName(m, d.goroutine)).join(", ");
    return { title: clean(b.name), sub, label: `Barrier ${barrierName(m, n.index)}, phase ${b.phase}: ${sub}. ${owes ? `From ${owes}.` : ""}` };
  }
  const g = m.goroutines[n.index], group = m.groups[n.group];
  const title = group.count > 1 ? `${count(group.count)} × ${clean(group.name)}` : clean(g.name);
  const sub = g.state === "ended" ? "has ended" : g.waits ? `waits at ${placeName(m, g.waits.place)}` : `${g.state === "runs" ? "runs" : clean(g.blocked ?? "blocked")} at ${placeName(m, g.at)}`;
  const waits = g.waits ? `, for phase ${g.waits.phase} of ${barrierName(m, g.waits.barrier)}, since step ${g.waits.since}` : "";
  return { title, sub, label: `${group.count > 1 ? `${count(group.count)} goroutines` : "Goroutine"} ${goroutineName(m, n.index)}: ${sub}${waits}${n.round ? ", in a circle" : ""}` };
}
