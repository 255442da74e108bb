// Which rows the lanes have, and where: the tree of tracks, less what is folded or filtered.

/**
 * @typedef {Object} Row
 * @property {import("./model.js").Track[]} tracks one, or several of one name as strips of a row
 * @property {number} y
 * @property {number} height
 * @property {number} level how deep it lies in the tree
 * @property {string} kind
 * @property {string} name
 * @property {boolean} parent it can be folded
 * @property {boolean} open
 */

const HEIGHTS = { cta: 24, warp: 22, wait: 15, op: 24, mbar: 22, counter: 22, buffer: 18, barrier: 18, columns: 18 };

/** So many tracks of one name become strips of one row. */
const BUNDLE = 3;

/** So many tracks are shown unfolded at the start; of more, those of the finding. */
const ALL_OPEN = 60;

/** So many rows beside the finding's are tried for room; of a run of more tracks, none. */
const TRIED = 64, MOST_TRACKS = 20000;

/** Layout says what of one run's tracks is open and shown. */
export class Layout {
  /** @param {import("./model.js").Run} run */
  constructor(run) {
    this.run = run;
    /** @type {Set<number>} tracks that are folded */
    this.folded = new Set();
    /** @type {Set<number>} tracks that are filtered out */
    this.hidden = new Set();
    /** @type {Set<number>} the first tracks of bundles that are opened */
    this.spread = new Set();
    this.begin();
    this.make();
  }

  /** Folds what a first look need not show: of a large launch, all but the finding's tracks. */
  begin() {
    if (this.run.tracks.length <= ALL_OPEN) return;
    const open = new Set();
    for (const s of this.run.info.sites) for (let t = this.run.byId.get(s.track); t; t = t.parent) open.add(t);
    if (open.size === 0) open.add(this.run.roots.find((t) => t.kind === "cta"));
    const few = this.run.tracks.filter((t) => t.parent && open.has(t.parent)).length <= ALL_OPEN;
    for (const t of this.run.tracks) if (t.children.length && !open.has(t) && !(few && t.parent && open.has(t.parent) && t.kind === "warp")) this.folded.add(t.index);
  }

  make() {
    /** @type {Row[]} */
    this.rows = [];
    /** @type {(Row|undefined)[]} the row of each track; of one that is folded, that of what it lies in; of one that is filtered out, none */
    this.rowOf = [];
    let y = 0;
    const add = (tracks, level, bundled) => {
      const t = tracks[0], strips = bundled ? Math.min(tracks.length, 12) : 1;
      const height = bundled ? Math.max(HEIGHTS[t.kind] ?? 22, strips * 4 + 4) : HEIGHTS[t.kind] ?? 22;
      const row = { tracks, y, height, level, kind: t.kind, name: t.name, parent: bundled || t.children.length > 0, open: !bundled && !this.folded.has(t.index) };
      y += height;
      this.rows.push(row);
      return row;
    };
    const walk = (list, level) => {
      for (let i = 0; i < list.length; i++) {
        const t = list[i];
        if (t.kind === "schedule") continue;
        let n = 1;
        while (i + n < list.length && list[i + n].name === t.name && !list[i + n].children.length && !t.children.length) n++;
        const tracks = list.slice(i, i + n);
        i += n - 1;
        if (this.hidden.has(t.index)) continue; // it has no row, nor has what lies in it
        if (n >= BUNDLE && !this.spread.has(t.index)) {
          const row = add(tracks, level, true);
          for (const x of tracks) this.into(x, row);
        } else {
          for (const x of tracks) {
            const row = add([x], level, false);
            if (n >= BUNDLE && x === t) row.parent = row.open = true;
            this.rowOf[x.index] = row;
            if (row.open) walk(x.children, level + 1);
            else for (const c of x.children) this.into(c, row);
          }
        }
      }
    };
    walk(this.run.roots, 0);
    this.height = y;
  }

  /** Says that a track, and what lies in it, has no row but an outer one. */
  into(track, row) {
    this.rowOf[track.index] = row;
    for (const c of track.children) this.into(c, row);
  }

  /** @param {Row} row */
  toggle(row) {
    const i = row.tracks[0].index, bundle = row.tracks.length >= BUNDLE || this.spread.has(i);
    const set = bundle ? this.spread : this.folded;
    if (!set.delete(i)) set.add(i);
    this.make();
  }

  /**
   * Leaves rows for some tracks, and hides the other warps, barriers and buffers; CTAs of which
   * none is left too. Where there is room, others of their CTAs stay.
   * @param {Set<import("./model.js").Track>} keep @param {number} room in pixels
   */
  only(keep, room) {
    const kept = new Set();
    for (const k of keep) for (let t = k; t; t = t.parent) kept.add(t);
    for (const t of this.run.tracks) {
      if (["cta", "warp", "mbar", "barrier", "buffer", "columns"].includes(t.kind) && !kept.has(t)) this.hidden.add(t.index);
      else if (t.kind === "mbar" && kept.has(t)) this.folded.delete(t.index);
    }
    this.make();
    const others = this.run.tracks.filter((t) => this.hidden.has(t.index) && t.parent && kept.has(t.parent)).sort((a, b) => a.rank - b.rank);
    for (const t of this.run.tracks.length > MOST_TRACKS ? [] : others.slice(0, TRIED)) {
      this.hidden.delete(t.index);
      this.make();
      if (this.height > room) this.hidden.add(t.index);
    }
    this.make();
  }

  /** Folds all CTAs, or opens them. @param {boolean} fold */
  foldAll(fold) {
    for (const t of this.run.tracks) {
      if (!t.children.length) continue;
      if (fold && t.kind === "cta") this.folded.add(t.index);
      else if (!fold) this.folded.delete(t.index);
    }
    this.make();
  }

  /** Filters a track out no more, nor what it lies in. @param {import("./model.js").Track} track */
  show(track) {
    for (let t = track; t; t = t.parent) this.hidden.delete(t.index);
  }

  /** Shows a track: opens what it lies in. @param {import("./model.js").Track} track */
  open(track) {
    let change = this.hidden.delete(track.index);
    for (let t = track.parent; t; t = t.parent) {
      if (this.folded.delete(t.index)) change = true;
      if (this.hidden.delete(t.index)) change = true;
    }
    if (change) this.make();
    return change;
  }

  /** The row at a height, or undefined. @param {number} y */
  rowAt(y) {
    return this.rows[this.indexAt(y)];
  }

  /** The index of the first row that ends below a height. @param {number} y */
  indexAt(y) {
    let low = 0, high = this.rows.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (this.rows[mid].y + this.rows[mid].height > y) high = mid;
      else low = mid + 1;
    }
    return low;
  }

  /** Where a track lies in its row: its strip's upper edge and height. @param {Row} row @param {import("./model.js").Track} track */
  strip(row, track) {
    const n = row.tracks.length;
    if (n === 1 || !row.tracks.includes(track)) return { y: row.y + 2, height: row.height - 4 };
    const height = (row.height - 4) / n;
    return { y: row.y + 2 + row.tracks.indexOf(track) * height, height };
  }
}
