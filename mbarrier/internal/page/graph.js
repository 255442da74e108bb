// The graph of who waits for whom.

const NODE = { width: 196, height: 44, gapX: 96, gapY: 18 };

/** @param {HTMLElement} box @param {*} m */
function showGraph(box, m) {
  const graph = graphOf(m);
  if (!graph.nodes.length) {
    box.replaceChildren(el("p.quiet", {}, "Nobody waits."));
    return;
  }
  const size = place(graph);
  const backs = graph.arrows.filter((a) => a.back).length;
  const width = size.columns * (NODE.width + NODE.gapX) - NODE.gapX + 12, body = size.rows * (NODE.height + NODE.gapY), height = body + (backs ? 30 + 16 * Math.min(backs, 6) : 4);
  const picture = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "presentation" });
  const x = (n) => 6 + n.column * (NODE.width + NODE.gapX), y = (n) => 6 + n.y * (NODE.height + NODE.gapY);
  let back = 0;
  const texts = [];
  for (const a of [...graph.arrows].sort((p, q) => (p.round ? 1 : 0) - (q.round ? 1 : 0))) {
    const classes = (a.round ? ".round" : "") + (a.guess ? ".guess" : "");
    let path, tx, ty, head;
    if (a.back) {
      const deep = body + 8 + 16 * Math.min(back++, 5), x1 = x(a.from) + NODE.width / 2, x2 = x(a.to) + NODE.width / 2, y1 = y(a.from) + NODE.height, y2 = y(a.to) + NODE.height;
      const [p, q] = a.from === a.to ? [x1 + 40, x2 - 40] : [x1, x2];
      path = `M${p} ${y1} C${p} ${deep + 10} ${p} ${deep + 10} ${p + Math.sign(q - p) * 26} ${deep + 10} L${q - Math.sign(q - p) * 26} ${deep + 10} C${q} ${deep + 10} ${q} ${deep + 10} ${q} ${y2 + 8}`;
      head = `M${q} ${y2} l-5 9 h10 z`;
      [tx, ty] = [(p + q) / 2, deep + 14];
    } else {
      const x1 = x(a.from) + NODE.width, y1 = y(a.from) + NODE.height / 2, x2 = x(a.to), y2 = y(a.to) + NODE.height / 2, mid = x2 - NODE.gapX / 2;
      path = a.to.column === a.from.column + 1 || y1 === y2 ? `M${x1} ${y1} C${x1 + 40} ${y1} ${x2 - 48} ${y2} ${x2 - 8} ${y2}` : `M${x1} ${y1} C${x1 + 40} ${y1} ${x1 + 30} ${y2} ${mid - 30} ${y2} L${x2 - 8} ${y2}`;
      head = `M${x2} ${y2} l-9 -5 v10 z`;
      [tx, ty] = [(x1 + x2) / 2 - 2, (y1 + y2) / 2 + 4];
    }
    picture.append(svg(`path.arrow${classes}`, { d: path }), svg(`path.head${a.round ? ".round" : ""}`, { d: head }));
    const wide = a.text.length * 6.2 + 6;
    texts.push(svg("rect.behind", { x: tx - wide / 2, y: ty - 11, width: wide, height: 14 }), svg(`text.on-arrow${a.round ? ".round" : ""}`, { x: tx, y: ty }, a.text));
  }
  picture.append(...texts);
  for (const n of graph.nodes) picture.append(nodeOf(m, n, x(n), y(n)));
  box.replaceChildren(picture, graph.left ? el("p.quiet", {}, `${counted(graph.left, "more arrow leads", "more arrows lead")} to what is not drawn: the tables below have it.`) : "");
  m.listen((what) => what !== "window" && mark());
  const mark = () => {
    for (const e of picture.querySelectorAll(".node")) e.classList.toggle("picked", m.pick != null && e.dataset.key === `${m.pick.kind} ${m.pick.kind === "goroutine" ? m.goroutines[m.pick.index].group : m.pick.index}`);
  };
}

function nodeOf(m, n, x, y) {
  const { title, sub, label } = nodeWords(m, n);
  const act = () => n.kind !== "nobody" && m.choose(n.kind, n.index);
  const key = `${n.kind} ${n.kind === "goroutine" ? n.group : n.index}`;
  const gone = n.kind === "nobody" || (n.kind === "goroutine" && m.goroutines[n.index].state === "ended");
  const e = svg(`g.node${n.round ? ".round" : ""}${gone ? ".gone" : ""}`, {
    transform: `translate(${x} ${y})`, tabindex: n.kind === "nobody" ? null : 0, role: n.kind === "nobody" ? "img" : "button", "aria-label": label, "data-key": key,
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
