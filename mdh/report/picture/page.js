"use strict";
// Draws which elements of the iteration space and of every array a unit works on. The data are digits: the
// index of a dimension is the sum of weight * digit, largest weight first, as the kernel computes it.
(() => {
  const DATA = JSON.parse(document.getElementById("data").textContent);
  const NS = "http://www.w3.org/2000/svg";
  const CELLS = 64;      // cells of a picture along one side; finer parts are drawn in groups
  const FINE = 1000;     // what is smaller than this share of a picture is drawn whole
  const RECTS = 4000;    // rectangles of a highlight; a larger set is drawn coarser

  // -- one dimension -------------------------------------------------------------------------------------

  /** The digits of element e. */
  function digitsOf(dim, e) {
    return dim.digits.map(d => { const v = Math.floor(e / d.weight); e -= v * d.weight; return v; });
  }

  function add(out, from, to) {
    const last = out[out.length - 1];
    if (last && last[1] >= from) last[1] = Math.max(last[1], to); else out.push([from, to]);
  }

  /** Runs [from, to) of elements in [lo, hi) whose digits are `fixed` (null: any); blocks below `res`
   *  elements that hold one of them count whole. */
  function runs(dim, fixed, lo, hi, res) {
    const out = [], last = fixed.reduce((m, f, k) => f === null ? m : k, -1);
    (function go(k, base, end) {
      if (base >= hi || end <= lo || base >= end) return;
      if (k > last || end - base < res) { add(out, Math.max(base, lo), Math.min(end, hi)); return; }
      const d = dim.digits[k], one = fixed[k] !== null;
      const first = one ? fixed[k] : Math.max(0, Math.floor((lo - base) / d.weight));
      const stop = one ? fixed[k] + 1 : Math.min(d.parts, Math.ceil((hi - base) / d.weight));
      for (let v = first; v < stop; v++)
        go(k + 1, base + v * d.weight, Math.min(end, base + (v + 1) * d.weight));
    })(0, 0, dim.extent);
    return out;
  }

  /** [first, behind the last] of the elements whose digits are `fixed`, without listing them. */
  function span(dim, fixed) {
    const last = fixed.reduce((m, f, k) => f === null ? m : k, -1);
    function end(k, base, stop, up) {
      if (base >= stop) return null;
      if (k > last) return up ? stop : base;
      const w = dim.digits[k].weight;
      const top = Math.min(dim.digits[k].parts, Math.ceil((stop - base) / w)) - 1;
      const values = fixed[k] !== null ? [fixed[k]] : up ? [top, top - 1] : [0];
      for (const v of values) {
        const found = v < 0 ? null : end(k + 1, base + v * w, Math.min(stop, base + (v + 1) * w), up);
        if (found !== null) return found;
      }
      return null;
    }
    const lo = end(0, 0, dim.extent, false), hi = end(0, 0, dim.extent, true);
    return lo === null || hi === null ? [0, 0] : [lo, hi];
  }

  const hull = list => list.length ? [list[0][0], list[list.length - 1][1]] : [0, 0];

  /** The number of the part or unit that element e belongs to at step s. */
  function partOf(dim, s, e) {
    const values = digitsOf(dim, e);
    return dim.digits.reduce((n, d, k) => d.step === s ? n + values[k] * d.piece : n, 0);
  }

  /** [lo, hi) cut where the part of step s changes: {from, to, part, mine}; mine: in the parent of `at`. */
  function cells(dim, s, lo, hi, at) {
    const here = digitsOf(dim, at);
    let fine = -1;
    dim.digits.forEach((d, k) => { if (d.step <= s) fine = k; });
    const cut = dim.digits.some(d => d.step === s);
    let size = !cut || fine < 0 ? hi - lo : dim.digits[fine].weight, group = 1;
    if ((hi - lo) / size > CELLS) group = Math.ceil((hi - lo) / size / CELLS);
    size *= group;
    const out = [];
    const start = cut ? Math.floor(lo / size) * size : lo;
    for (let from = start; from < hi; from += size) {
      const e = Math.max(from, lo), own = digitsOf(dim, e);
      const mine = dim.digits.every((d, k) => d.step >= s || own[k] === here[k]);
      out.push({ from: e, to: Math.min(from + size, hi), part: cut ? partOf(dim, s, e) : 0, mine, group });
    }
    return out;
  }

  // -- arrays --------------------------------------------------------------------------------------------

  /** Intervals of offset + sum of factor * x, x in sets[dim]; those of one point a piece while few. */
  function sums(index, sets) {
    let out = [[index.offset, index.offset + 1]];
    for (const t of index.terms) {
      const scaled = [];
      for (const [a, b] of sets[t.dim]) {
        if (Math.abs(t.factor) === 1 || b - a > 512) {
          const ends = [t.factor * a, t.factor * (b - 1)].sort((x, y) => x - y);
          scaled.push([ends[0], ends[1] + 1]);
        } else for (let x = a; x < b; x++) scaled.push([t.factor * x, t.factor * x + 1]);
      }
      let both = [];
      if (out.length * scaled.length > RECTS) {
        scaled.sort((x, y) => x[0] - y[0]);
        const [p, q] = [hull(out), hull(scaled)];
        both = [[p[0] + q[0], p[1] + q[1] - 1]];
      } else for (const p of out) for (const q of scaled) both.push([p[0] + q[0], p[1] + q[1] - 1]);
      both.sort((x, y) => x[0] - y[0]);
      out = [];
      for (const [a, b] of both) add(out, a, b);
    }
    return out;
  }

  const clip = (list, lo, hi) =>
    list.map(([a, b]) => [Math.max(a, lo), Math.min(b, hi)]).filter(([a, b]) => a < b);

  /** Rectangles [x0, x1, y0, y1] that an access touches in dims (x, y) of an array, along all others. */
  function image(stage, array, touch, dims, sets) {
    const index = dims.map(k => k === null ? { offset: 0, terms: [] } : touch.index[k]);
    if (index.some((f, n) => f === null && dims[n] !== null)) {
      const whole = dims.map((k, n) => k !== null && index[n] === null);
      const lists = index.map((f, n) => whole[n] ? [[0, array.shape[dims[n]]]] : sums(f, sets));
      return product(lists[0], lists[1]);
    }
    const both = index[0].terms.filter(t => index[1].terms.some(u => u.dim === t.dim)).map(t => t.dim);
    const out = [];
    (function go(n, some) {
      if (out.length > RECTS) return;
      if (n === both.length) { out.push(...product(sums(index[0], some), sums(index[1], some))); return; }
      for (const [a, b] of some[both[n]])
        if (b - a > 1024) go(n + 1, some); else for (let x = a; x < b; x++) go(n + 1, some.map((set, d) => d === both[n] ? [[x, x + 1]] : set));
    })(0, sets);
    return out;
  }

  function product(xs, ys) {
    const out = [];
    for (const [a, b] of xs) for (const [c, d] of ys) out.push([a, b, c, d]);
    return out;
  }

  // -- who -----------------------------------------------------------------------------------------------

  /** fixed digits of every dimension for what is highlighted: a part of the step, or all of a unit's work. */
  function fixedFor(stage, at, step, scope) {
    const outer = scope === "part" ? [] : stage.layers.slice(0, stage.layers.indexOf(scope) + 1);
    return stage.dims.map((dim, d) => digitsOf(dim, at[d]).map((v, k) => {
      const digit = dim.digits[k];
      return (scope === "part" ? digit.step <= step : outer.includes(digit.layer)) ? v : null;
    }));
  }

  const setsOf = (stage, fixed, res) =>
    stage.dims.map((dim, d) => runs(dim, fixed[d], 0, dim.extent, res ? dim.extent / res : 0));

  /** Coordinates of the units that work on point `at`: [["BLK.y", 3], …], and the linear thread. */
  function unitsOf(stage, at) {
    const units = new Map();
    let thread = 0;
    stage.dims.forEach((dim, d) => digitsOf(dim, at[d]).forEach((v, k) => {
      const digit = dim.digits[k];
      if (!digit.layer) return;
      const name = `${digit.layer}.${digit.axis}`;
      units.set(name, (units.get(name) || 0) + v * digit.piece);
      thread += v * digit.threads;
    }));
    const order = [...units].sort((a, b) =>
      stage.layers.indexOf(a[0].slice(0, 3)) - stage.layers.indexOf(b[0].slice(0, 3)) || (a[0] < b[0] ? 1 : -1));
    return { units: order, thread };
  }

  /** Every element of every array that the points with these digits touch, as index tuples: for tests. */
  function touched(stage, fixed) {
    const sets = setsOf(stage, fixed, 0).map(list => list.flatMap(([a, b]) =>
      Array.from({ length: b - a }, (_, n) => a + n)));
    const out = {};
    for (const array of stage.arrays) for (const touch of array.touches) {
      const found = out[`${array.name} ${touch.store ? "out" : "in"}`] ||= new Set();
      (function go(d, point) {
        if (d < sets.length) { for (const x of sets[d]) go(d + 1, [...point, x]); return; }
        found.add(touch.index.map(f => f === null ? "data" :
          f.terms.reduce((n, t) => n + t.factor * point[t.dim], f.offset)).join());
      })(0, []);
    }
    return Object.fromEntries(Object.entries(out).map(([name, set]) => [name, [...set].sort()]));
  }

  // -- drawing -------------------------------------------------------------------------------------------

  function el(name, attributes, parent, words) {
    const node = document.createElementNS(name === "div" || name === "label" || name === "select" ||
      name === "option" || name === "input" || name === "button" || name === "span"
      ? "http://www.w3.org/1999/xhtml" : NS, name);
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

    px(e) { return PAD + (e - this.x[0]) / (this.x[1] - this.x[0]) * this.w; }
    py(e) { return PAD + (e - this.y[0]) / (this.y[1] - this.y[0]) * this.h; }

    /** Rectangles as one path in front of `before`, none smaller than `least` pixels. */
    path(rects, kind, before = null, least = 0.6) {
      const f = n => n.toFixed(1);
      let d = "";
      for (const [a, b, c, e] of rects) {
        const x0 = this.px(Math.max(a, this.x[0])), x1 = this.px(Math.min(b, this.x[1]));
        const y0 = this.py(Math.max(c, this.y[0])), y1 = this.py(Math.min(e, this.y[1]));
        if (x1 > x0 && y1 > y0) d += `M${f(x0)} ${f(y0)}H${f(Math.max(x1, x0 + least))}V${f(Math.max(y1, y0 + least))}H${f(x0)}z`;
      }
      const node = el("path", { d, class: kind });
      this.svg.insertBefore(node, before);
      return node;
    }
  }
  const PAD = 2;

  /** The two of `count` dimensions to show: first those that `first` says, then those that `then` says, then
   *  the last ones; the outer one down, the inner one across. */
  function twoOf(count, first, then) {
    const rank = k => (first(k) ? 0 : then(k) ? 1 : 2);
    const best = Array.from({ length: count }, (_, k) => k).sort((a, b) => rank(a) - rank(b) || b - a).slice(0, 2);
    return best.length < 2 ? [best[0], null] : [Math.max(...best), Math.min(...best)];
  }

  class Space extends Picture {
    names() { return this.view.stage.dims.map(d => d.name); }

    choose(split) {
      const dims = this.view.stage.dims;
      if (dims.length > 2) this.dims = twoOf(dims.length, k => split[k], k => dims[k].extent > 1 && dims[k].kind === "cc");
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
      this.note.textContent = [names.join(", "), ...group, ...(this.stretched ? ["not to scale"] : [])].join("; ");
    }

    /** For every dimension that matters: from, to, and how fine its elements can be told apart. */
    limits() {
      const out = [];
      this.dims.forEach((d, n) => { if (d !== null) { const [a, b] = n ? this.y : this.x; out[d] = [a, b, (b - a) / FINE]; } });
      return out;
    }

    sets(sets) {
      const [dx, dy] = this.dims;
      return product(sets[dx], dy === null ? [[0, 1]] : sets[dy]);
    }

    point(p, keep) {
      const at = [...this.view.at];
      this.dims.forEach((d, n) => { if (d !== null) at[d] = Math.min(p[n], this.view.stage.dims[d].extent - 1); });
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
    names() { return this.array.shape.map((_, k) => `[${wordsOf(this.view.stage, this.array.touches[0].index[k])}]`); }

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
        const found = this.array.touches.flatMap(t => t.index[k] === null ? [[0, this.array.shape[k]]] : sums(t.index[k], whole));
        const lo = Math.max(0, Math.min(...found.map(f => f[0]))), hi = Math.min(this.array.shape[k], Math.max(...found.map(f => f[1])));
        return this.view.zoom ? [lo, Math.max(hi, lo + 1)] : [0, this.array.shape[k]];
      });
      this.window(ends[0], ends[1]);
      const lists = this.dims.map((k, n) => this.cellsOf(k, n ? this.y : this.x, step, at));
      paintCells(this, lists[0], lists[1], this.view.kind());
      for (const box of this.view.boxes(this.array)) {
        const rects = this.array.touches.filter(t => t.store === box.output || box.output).flatMap(t => image(stage, this.array, t, this.dims, box.sets));
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
      this.note.textContent = [shown.join(""), ...(data ? ["some subscripts are data: drawn whole"] : []), ...(this.stretched ? ["not to scale"] : [])].join("; ");
      this.figure.classList.toggle("data", data);
    }

    /** The parts of a step along one dim of the array, where all accesses use one dimension alone there. */
    cellsOf(k, range, step, at) {
      const plain = [{ from: range[0], to: range[1], part: 0, mine: true, group: 1 }];
      if (k === null) return plain;
      const [first, ...rest] = this.array.touches.map(t => t.index[k]);
      const same = first && first.terms.length === 1 && first.terms[0].factor === 1 &&
        rest.every(f => f && f.terms.length === 1 && f.terms[0].dim === first.terms[0].dim && f.terms[0].factor === 1 && f.offset === first.offset);
      if (!same) return plain;
      const d = first.terms[0].dim, o = first.offset;
      const found = cells(this.view.stage.dims[d], step, Math.max(0, range[0] - o), Math.min(this.view.stage.dims[d].extent, range[1] - o), at[d]);
      return found.map(c => ({ ...c, from: c.from + o, to: c.to + o }));
    }

    /** The points whose subscripts can lie in the window. */
    limits() {
      const { dims } = this.view.stage, out = [];
      for (const touch of this.array.touches) this.dims.forEach((k, n) => {
        const f = k === null ? null : touch.index[k], [a, b] = n ? this.y : this.x;
        for (const t of f ? f.terms : []) {
          const others = f.terms.filter(u => u !== t).map(u => u.factor * (dims[u.dim].extent - 1));
          const least = others.reduce((m, v) => m + Math.min(v, 0), f.offset), most = others.reduce((m, v) => m + Math.max(v, 0), f.offset);
          const ends = [(a - most) / t.factor, (b - 1 - least) / t.factor].sort((x, y) => x - y);
          const [lo, hi, res] = out[t.dim] || [dims[t.dim].extent, 0, Infinity];
          out[t.dim] = [Math.min(lo, Math.max(0, Math.floor(ends[0]))),
                        Math.max(hi, Math.min(dims[t.dim].extent, Math.ceil(ends[1]) + 1)),
                        Math.min(res, (b - a) / FINE / Math.abs(t.factor))];
        }
      });
      return out;
    }

    sets(sets) { return this.array.touches.flatMap(t => image(this.view.stage, this.array, t, this.dims, sets)); }

    /** The point nearest to the present one that touches the element. */
    point(p, keep) {
      const stage = this.view.stage;
      for (const touch of [...this.array.touches].reverse()) {
        const at = [...this.view.at];
        const hit = this.dims.every((k, n) => k === null || (touch.index[k] && reach(stage, touch.index[k], p[n], at)));
        if (hit && this.dims.every((k, n) => k === null || value(touch.index[k], at) === p[n])) { this.view.hover(at, keep); return; }
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
    const parts = f.terms.map(t => [t.factor, `${Math.abs(t.factor) === 1 ? "" : Math.abs(t.factor)}${stage.dims[t.dim].name}`]);
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
      const words = xs.length > 1 && ys.length > 1 ? `${y.part},${x.part}` : `${xs.length > 1 ? x.part : y.part}`;
      el("text", { x: (picture.px(x.from) + picture.px(x.to)) / 2, y: (picture.py(y.from) + picture.py(y.to)) / 2 + 4,
                   "text-anchor": "middle", class: "unit" }, picture.svg, words);
    }
  }

  // -- a stage -------------------------------------------------------------------------------------------

  class View {
    constructor(number, section) {
      this.number = number; this.section = section; this.stage = DATA.stages[number];
      this.step = 0; this.scope = "part"; this.zoom = true;
      this.kept = this.stage.dims.map(() => 0); this.at = [...this.kept];
      section.querySelectorAll(".js").forEach(node => { node.hidden = false; });
      const last = this.stage.dims.length - 1;
      this.space = new Space(this, section.querySelector('[data-picture="space"]'), last ? [1, 0] : [0, null]);
      this.pictures = [this.space, ...this.stage.arrays.map((array, n) => {
        const rank = array.shape.length;
        return new ArrayPicture(this, section.querySelector(`[data-picture="${n}"]`), array, rank > 1 ? [rank - 1, rank - 2] : [0, null]);
      })];
      this.who = section.querySelector(".who");
      section.querySelectorAll("[data-go]").forEach(b => b.addEventListener("click", () => this.go(this.step + Number(b.dataset.go))));
      section.querySelectorAll("button.step").forEach(b => b.addEventListener("click", () => this.go(Number(b.dataset.step))));
      this.controls(section.querySelector(".controls"));
      this.go(0);
    }

    controls(bar) {
      const scopes = ["part", ...this.stage.layers];
      const names = { part: "the part of this step", BLK: "a block", CLU: "a cluster", WGP: "a warp group", WRP: "a warp", THR: "a thread", VEC: "a lane" };
      choose(bar, "show", scopes.map(s => [s, names[s] || s]), this.scope, s => { this.scope = s; this.light(); });
      choose(bar, "frame", [["zoom", "the step's parent tile"], ["whole", "everything"]], "zoom", s => { this.zoom = s === "zoom"; this.draw(); });
      this.pictures.forEach(picture => {
        const names = picture.names();
        if (names.length < 3) return;
        const place = picture.figure.querySelector(".axes");
        [["across", 0], ["down", 1]].forEach(([word, n]) => choose(place, word, names.map((name, d) => [String(d), name]), String(picture.dims[n]), v => {
          const other = picture.dims[1 - n];
          if (Number(v) === other) picture.dims[1 - n] = picture.dims[n];
          picture.dims[n] = Number(v);
          picture.chosen = true;
          this.follow(); this.draw();
        }));
      });
      this.slots = el("div", { class: "sliders" }, bar);
    }

    /** Shows the dimensions that the step splits, in pictures for which none were chosen. */
    follow() {
      const split = this.stage.dims.map(dim => dim.digits.some(d => d.step === this.step));
      for (const picture of this.pictures) {
        if (!picture.chosen) picture.choose(split);
        picture.figure.querySelectorAll(".axes select").forEach((node, n) => { node.value = String(picture.dims[n]); });
      }
      this.sliders();
    }

    /** One slider for each dimension that the iteration space's picture does not show. */
    sliders() {
      this.slots.replaceChildren();
      this.stage.dims.forEach((dim, d) => {
        if (this.space.dims.includes(d) || dim.extent < 2) return;
        const label = el("label", {}, this.slots, `${dim.name} `);
        const input = el("input", { type: "range", min: 0, max: dim.extent - 1, step: 1, "data-dim": d }, label);
        input.value = this.kept[d];
        el("span", { class: "value" }, label, String(this.kept[d]));
        input.addEventListener("input", () => { const at = [...this.kept]; at[d] = Number(input.value); this.hover(at, true); });
      });
    }

    kind() {
      const layer = this.stage.steps[this.step].layers[0];
      return layer ? layer.toLowerCase() : "loop";
    }

    go(step) {
      const count = this.stage.steps.length;
      this.step = Math.min(count - 1, Math.max(0, step));
      this.section.querySelector(".count").textContent = `step ${this.step + 1} of ${count}`;
      this.section.querySelectorAll(".steplist > li").forEach((li, n) => {
        li.classList.toggle("on", n === this.step);
        li.querySelector("button").setAttribute("aria-current", n === this.step ? "step" : "false");
      });
      document.querySelectorAll(".code .l.on").forEach(l => l.classList.remove("on"));
      document.querySelectorAll(`.code .l[data-s="${this.number}.${this.step}"]`).forEach(l => l.classList.add("on"));
      this.section.querySelector(".now").textContent = this.section.querySelector(".steplist .on button").textContent;
      current = this;
      this.follow();
      this.draw();
    }

    windowDigits() {
      return this.stage.dims.map((dim, d) => digitsOf(dim, this.kept[d]).map((v, k) =>
        this.zoom && dim.digits[k].step < this.step ? v : null));
    }

    /** What is held of the array at this step: where its region's digits run and the others stand still. */
    boxes(array) {
      return this.stage.held.filter(h => h.buffer === array.name && h.step <= this.step).map(h => ({
        ...h, sets: this.stage.dims.map((dim, d) => [span(dim, digitsOf(dim, this.at[d]).map((v, k) =>
          h.free.includes(dim.digits[k].var) ? null : v))]),
      }));
    }

    draw() { this.pictures.forEach(p => p.grid()); this.light(); }

    hover(at, keep) {
      const moved = this.windowKey(at) !== this.windowKey(this.at);
      this.at = at;
      if (keep) {
        this.kept = [...at];
        this.slots.querySelectorAll("input").forEach(i => { i.value = at[i.dataset.dim]; i.nextSibling.textContent = at[i.dataset.dim]; });
        this.draw();
      } else if (moved && !this.zoom) this.draw(); else this.light();
    }

    windowKey(at) { return this.stage.dims.map((dim, d) => digitsOf(dim, at[d]).filter((_, k) => dim.digits[k].step < this.step)).join(); }

    leave() { this.at = [...this.kept]; if (this.zoom) this.light(); else this.draw(); }

    light() {
      const fixed = fixedFor(this.stage, this.at, this.step, this.scope);
      const point = this.stage.dims.map((_, d) => [[this.at[d], this.at[d] + 1]]);
      for (const picture of this.pictures) {
        picture.svg.querySelectorAll(".lit, .spot").forEach(node => node.remove());
        let rects = [];
        for (const coarser of [1, 4, 16, 64]) {
          const limits = picture.limits();
          rects = picture.sets(this.stage.dims.map((dim, d) => {
            const [lo, hi, res] = limits[d] || [0, dim.extent, dim.extent];
            return runs(dim, fixed[d], lo, hi, res * coarser);
          }));
          if (rects.length <= RECTS) break;
        }
        const before = picture.svg.querySelector(".unit, .box");
        picture.path(picture.sets(point), "spot", before, 3.4);
        picture.path(rects, "lit", before, 2.4);
      }
      this.tell();
    }

    tell() {
      const { units, thread } = unitsOf(this.stage, this.at);
      const place = this.stage.dims.map((dim, d) => `${dim.name} = ${dim.start + dim.step * this.at[d]}`).join(", ");
      const who = units.map(([name, n]) => `${name} ${n}`).join(", ");
      const tid = this.stage.threads > 1 && this.stage.warp ? `thread ${thread}: lane ${thread % this.stage.warp} of warp ${Math.floor(thread / this.stage.warp)}` : "";
      const arrays = this.stage.arrays.map(array => array.name + array.touches.slice(0, 1).map(t =>
        t.index.map(f => `[${f === null ? "…" : value(f, this.at)}]`).join(""))).join(", ");
      this.who.textContent = [place, who || "one unit does all", tid, arrays].filter(Boolean).join(" · ");
    }
  }

  function choose(bar, name, options, value, then) {
    const label = el("label", {}, bar, `${name} `), select = el("select", { "data-choose": name }, label);
    options.forEach(([v, words]) => el("option", { value: v }, select, words));
    select.value = value;
    select.addEventListener("change", () => then(select.value));
  }

  let current = null;
  const views = DATA.stages.map((_, n) => new View(n, document.getElementById(`stage-${n}`)));
  views[0].go(0);
  document.querySelectorAll(".code .l[data-s]").forEach(line => line.addEventListener("click", () => {
    const [n, s] = line.dataset.s.split(".").map(Number);
    views[n].go(s);
  }));
  document.addEventListener("keydown", event => {
    if (event.altKey || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (way && current) { event.preventDefault(); current.go(current.step + way); }
  });
  window.mdhPage = { views, touched, fixedFor, digitsOf, runs, image };
})();
