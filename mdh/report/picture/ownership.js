// Which elements a unit works on. The index of a dimension is the sum of weight * digit, largest weight
// first, as the kernel computes it; all sets of elements follow from that.

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
      if (b - a > 1024) go(n + 1, some);
      else for (let x = a; x < b; x++) go(n + 1, some.map((set, d) => (d === both[n] ? [[x, x + 1]] : set)));
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
  const depth = name => stage.layers.indexOf(name.slice(0, 3));
  const order = [...units].sort(([a], [b]) => depth(a) - depth(b) || (a < b ? 1 : -1));
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
