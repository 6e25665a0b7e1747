// Pictures of the iteration space and of arrays, drawn as SVG.

const NS = "http://www.w3.org/2000/svg";
const PAD = 2;

const SHAPES = ["path", "text", "title"];

function el(name, attributes, parent, words) {
  const node = SHAPES.includes(name) ? document.createElementNS(NS, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (words !== undefined) node.textContent = words;
  if (parent) parent.append(node);
  return node;
}

/** A picture: two axes of [lo, hi) each on a rectangle whose sides stand in the same scale where the ratio
 *  allows it. */
class Picture {
  constructor(view, figure, dims) {
    Object.assign(this, { view, figure, dims, svg: figure.querySelector("svg") });
    this.note = figure.querySelector(".range");
    this.svg.setAttribute("tabindex", "0");
    const here = event => {
      const box = this.svg.getBoundingClientRect(), k = this.width / box.width;
      const x = (event.clientX - box.left) * k - PAD, y = (event.clientY - box.top) * k - PAD;
      if (x < 0 || y < 0 || x >= this.w || y >= this.h) return null;
      return [Math.floor(this.x[0] + x / this.w * (this.x[1] - this.x[0])),
              Math.floor(this.y[0] + y / this.h * (this.y[1] - this.y[0]))];
    };
    this.svg.addEventListener("pointermove", e => { const p = here(e); if (p) this.point(p, false); });
    this.svg.addEventListener("pointerleave", () => view.leave());
    this.svg.addEventListener("click", e => { const p = here(e); if (p) this.point(p, true); });
    this.svg.addEventListener("keydown", e => this.key(e));
  }

  window(x, y) {
    this.x = x; this.y = y;
    const nx = Math.max(1, x[1] - x[0]), ny = Math.max(1, y[1] - y[0]);
    this.flat = this.dims[1] === null;
    const ratio = this.flat ? 0.12 : Math.min(1.1, Math.max(0.18, ny / nx));
    this.w = !this.flat && ny / nx > 1.1 ? Math.max(60, 330 * 1.1 * nx / ny) : 330;
    this.h = !this.flat && ny / nx > 1.1 ? 330 * 1.1 : 330 * ratio;
    this.stretched = !this.flat && Math.abs(this.h / this.w - ny / nx) > 0.02 * ny / nx;
    this.width = 330 + 2 * PAD;
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.h + 2 * PAD}`);
  }

  say(...words) {
    this.note.textContent = [...words, ...(this.stretched ? ["not to scale"] : [])].join("; ");
  }

  px(e) { return PAD + (e - this.x[0]) / (this.x[1] - this.x[0]) * this.w; }
  py(e) { return PAD + (e - this.y[0]) / (this.y[1] - this.y[0]) * this.h; }

  /** Rectangles as one path in front of `before`, none smaller than `least` pixels. */
  path(rects, kind, before = null, least = 0.6) {
    const f = n => n.toFixed(1);
    let d = "";
    for (const [a, b, c, e] of rects) {
      const x0 = this.px(Math.max(a, this.x[0])), x1 = this.px(Math.min(b, this.x[1]));
      const y0 = this.py(Math.max(c, this.y[0])), y1 = this.py(Math.min(e, this.y[1]));
      if (x1 <= x0 || y1 <= y0) continue;
      d += `M${f(x0)} ${f(y0)}H${f(Math.max(x1, x0 + least))}V${f(Math.max(y1, y0 + least))}H${f(x0)}z`;
    }
    const node = el("path", { d, class: kind });
    this.svg.insertBefore(node, before);
    return node;
  }
}
/** The two of `count` dimensions to show: first those that `first` says, then those that `then` says, then
 *  the last ones; the outer one down, the inner one across. */
function twoOf(count, first, then) {
  const rank = k => (first(k) ? 0 : then(k) ? 1 : 2);
  const all = Array.from({ length: count }, (_, k) => k);
  const best = all.sort((a, b) => rank(a) - rank(b) || b - a).slice(0, 2);
  return best.length < 2 ? [best[0], null] : [Math.max(...best), Math.min(...best)];
}

class Space extends Picture {
  names() { return this.view.stage.dims.map(d => d.name); }

  choose(split) {
    const dims = this.view.stage.dims;
    const wide = k => dims[k].extent > 1 && dims[k].kind === "cc";
    if (dims.length > 2) this.dims = twoOf(dims.length, k => split[k], wide);
  }

  grid() {
    const { stage, step, at } = this.view, [dx, dy] = this.dims;
    const fixed = this.view.windowDigits();
    const range = d => d === null ? [0, 1] : span(stage.dims[d], fixed[d]);
    this.window(range(dx), range(dy));
    const one = [{ from: 0, to: 1, part: 0, mine: true, group: 1 }];
    const xs = cells(stage.dims[dx], step, this.x[0], this.x[1], at[dx]);
    const ys = dy === null ? one : cells(stage.dims[dy], step, this.y[0], this.y[1], at[dy]);
    paintCells(this, xs, ys, this.view.kind());
    const names = [dx, dy].filter(d => d !== null).reverse().map(d =>
      `${rangeText(stage.dims[d], d === dx ? this.x : this.y)} ${d === dx ? "across" : "down"}`);
    const group = [["across", xs], ["down", ys]].filter(([, c]) => c[0].group > 1)
      .map(([way, c]) => `a cell is ${c[0].group} parts ${way}`);
    this.say(names.join(", "), ...group);
  }

  /** For every dimension that matters: from, to, and how fine its elements can be told apart. */
  limits() {
    const out = [];
    this.dims.forEach((d, n) => {
      const [a, b] = n ? this.y : this.x;
      if (d !== null) out[d] = [a, b, (b - a) / FINE];
    });
    return out;
  }

  sets(sets) {
    const [dx, dy] = this.dims;
    return product(sets[dx], dy === null ? [[0, 1]] : sets[dy]);
  }

  point(p, keep) {
    const at = [...this.view.at];
    const { dims } = this.view.stage;
    this.dims.forEach((d, n) => { if (d !== null) at[d] = Math.min(p[n], dims[d].extent - 1); });
    this.view.hover(at, keep);
  }

  key(event) {
    const way = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, -1], ArrowDown: [1, 1] }[event.key];
    const d = way && this.dims[way[0]];
    if (!way || d === null) return;
    event.preventDefault(); event.stopPropagation();
    const at = [...this.view.at], dim = this.view.stage.dims[d];
    const own = dim.digits.filter(g => g.step === this.view.step).map(g => g.weight);
    at[d] = Math.min(dim.extent - 1, Math.max(0, at[d] + way[1] * (own.length ? Math.min(...own) : 1)));
    this.view.hover(at, true);
  }
}

class ArrayPicture extends Picture {
  constructor(view, figure, array, dims) { super(view, figure, dims); this.array = array; }

  /** The subscripts, in the words of the first access. */
  names() {
    const { index } = this.array.touches[0];
    return index.map(f => `[${wordsOf(this.view.stage, f)}]`);
  }

  choose(split) {
    const { shape, touches } = this.array;
    if (shape.length < 3) return;
    const uses = k => touches.some(t => t.index[k] && t.index[k].terms.some(term => split[term.dim]));
    this.dims = twoOf(shape.length, k => shape[k] > 1 && uses(k), k => shape[k] > 1);
  }

  grid() {
    const { stage, step, at } = this.view, fixed = this.view.windowDigits();
    const whole = stage.dims.map((dim, d) => [span(dim, fixed[d])]);
    const ends = this.dims.map(k => {
      if (k === null) return [0, 1];
      const all = [0, this.array.shape[k]];
      if (!this.view.zoom) return all;
      const found = this.array.touches.flatMap(t => (t.index[k] === null ? [all] : sums(t.index[k], whole)));
      const lo = Math.max(0, Math.min(...found.map(f => f[0])));
      return [lo, Math.max(lo + 1, Math.min(all[1], Math.max(...found.map(f => f[1]))))];
    });
    this.window(ends[0], ends[1]);
    const lists = this.dims.map((k, n) => this.cellsOf(k, n ? this.y : this.x, step, at));
    paintCells(this, lists[0], lists[1], this.view.kind());
    for (const box of this.view.boxes(this.array)) {
      const mine = this.array.touches.filter(t => box.output || !t.store);
      const rects = mine.flatMap(t => image(stage, this.array, t, this.dims, box.sets));
      if (rects.length) {
        const b = [0, 1, 2, 3].map(n => (n % 2 ? Math.max : Math.min)(...rects.map(r => r[n])));
        const kind = box.region === "SM" ? "box" : "box fine";
        el("title", {}, this.path([b], kind), `${box.region} of step ${box.step + 1}`);
      }
    }
    const shown = this.dims.filter(k => k !== null).reverse().map(k => {
      const [a, b] = k === this.dims[0] ? this.x : this.y;
      return b - a > 1 ? `[${a}–${b - 1}]` : `[${a}]`;
    });
    const data = this.array.touches.some(t => t.index.some(f => f === null));
    this.say(shown.join(""), ...(data ? ["some subscripts are data: drawn whole"] : []));
    this.figure.classList.toggle("data", data);
  }

  /** The parts of a step along one dim of the array, where all accesses use one dimension alone there. */
  cellsOf(k, range, step, at) {
    const plain = [{ from: range[0], to: range[1], part: 0, mine: true, group: 1 }];
    if (k === null) return plain;
    const subscripts = this.array.touches.map(t => t.index[k]);
    const alone = f => f !== null && f.terms.length === 1 && f.terms[0].factor === 1;
    if (!subscripts.every(alone)) return plain;
    const [{ offset: o, terms: [{ dim: d }] }] = subscripts;
    if (subscripts.some(f => f.offset !== o || f.terms[0].dim !== d)) return plain;
    const dim = this.view.stage.dims[d];
    const found = cells(dim, step, Math.max(0, range[0] - o), Math.min(dim.extent, range[1] - o), at[d]);
    return found.map(c => ({ ...c, from: c.from + o, to: c.to + o }));
  }

  /** The points whose subscripts can lie in the window. */
  limits() {
    const { dims } = this.view.stage, out = [];
    for (const touch of this.array.touches) this.dims.forEach((k, n) => {
      const f = k === null ? null : touch.index[k], [a, b] = n ? this.y : this.x;
      for (const t of f ? f.terms : []) {
        const others = f.terms.filter(u => u !== t).map(u => u.factor * (dims[u.dim].extent - 1));
        const least = others.reduce((m, v) => m + Math.min(v, 0), f.offset);
        const most = others.reduce((m, v) => m + Math.max(v, 0), f.offset);
        const ends = [(a - most) / t.factor, (b - 1 - least) / t.factor].sort((x, y) => x - y);
        const [lo, hi, res] = out[t.dim] || [dims[t.dim].extent, 0, Infinity];
        out[t.dim] = [Math.min(lo, Math.max(0, Math.floor(ends[0]))),
                      Math.max(hi, Math.min(dims[t.dim].extent, Math.ceil(ends[1]) + 1)),
                      Math.min(res, (b - a) / FINE / Math.abs(t.factor))];
      }
    });
    return out;
  }

  sets(sets) {
    return this.array.touches.flatMap(t => image(this.view.stage, this.array, t, this.dims, sets));
  }

  /** The point nearest to the present one that touches the element. */
  point(p, keep) {
    const stage = this.view.stage;
    for (const touch of [...this.array.touches].reverse()) {
      const at = [...this.view.at];
      const asked = this.dims.map((k, n) => [k, p[n]]).filter(([k]) => k !== null);
      const hit = asked.every(([k, e]) => touch.index[k] && reach(stage, touch.index[k], e, at));
      if (hit && asked.every(([k, e]) => value(touch.index[k], at) === e)) return this.view.hover(at, keep);
    }
  }

  key() {}
}

const value = (f, at) => f.terms.reduce((n, t) => n + t.factor * at[t.dim], f.offset);

/** Changes `at` in one dimension, or from the largest factor on in several, so that f(at) = e. */
function reach(stage, f, e, at) {
  for (const t of [...f.terms].sort((a, b) => Math.abs(b.factor) - Math.abs(a.factor))) {
    const want = at[t.dim] + Math.trunc((e - value(f, at)) / t.factor);
    at[t.dim] = Math.min(stage.dims[t.dim].extent - 1, Math.max(0, want));
  }
  return value(f, at) === e;
}

/** `2p + r - 1`; dots where the subscript is data. */
function wordsOf(stage, f) {
  if (f === null) return "…";
  const factor = n => (Math.abs(n) === 1 ? "" : String(Math.abs(n)));
  const parts = f.terms.map(t => [t.factor, factor(t.factor) + stage.dims[t.dim].name]);
  if (f.offset || !parts.length) parts.push([f.offset, String(Math.abs(f.offset))]);
  return parts.map(([n, word], k) => (k ? (n < 0 ? " - " : " + ") : n < 0 ? "-" : "") + word).join("");
}

const rangeText = (dim, [a, b]) => `${dim.name} ${b - a > 1 ? `${a}–${b - 1}` : a} of ${dim.extent}`;

function paintCells(picture, xs, ys, kind) {
  picture.svg.replaceChildren();
  const tints = [[], [], []];
  for (const x of xs) for (const y of ys)
    tints[x.mine && y.mine ? (x.part + y.part) % 2 : 2].push([x.from, x.to, y.from, y.to]);
  picture.path([[picture.x[0], picture.x[1], picture.y[0], picture.y[1]]], "paper");
  picture.path(tints[0], `cell even ${kind}`);
  picture.path(tints[1], `cell odd ${kind}`);
  picture.path(tints[2], "cell other");
  const wide = picture.w / xs.length, high = picture.h / ys.length;
  if (xs.length + ys.length <= 2 || wide < 26 || high < 13) return;
  for (const x of xs) for (const y of ys) if (x.mine && y.mine && x.group === 1 && y.group === 1) {
    const words = [...(ys.length > 1 ? [y.part] : []), ...(xs.length > 1 ? [x.part] : [])].join();
    const middle = (picture.px(x.from) + picture.px(x.to)) / 2;
    const level = (picture.py(y.from) + picture.py(y.to)) / 2;
    el("text", { x: middle, y: level + 4, "text-anchor": "middle", class: "unit" }, picture.svg, words);
  }
}
