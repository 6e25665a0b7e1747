// Trials that can be sorted, and brushed: a range of a hole or of the time selects trials in all charts.

/** What the reader chose, by run: it outlives a page that is redrawn. ranges: axis -> [from, to], as texts. */
const kept = new Map();

function el(name, attributes, parent, words = "") {
  const node = document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => node.setAttribute(key, value));
  node.textContent = words;
  parent.append(node);
  return node;
}

class Trials {
  constructor(run, section, choice) {
    this.run = run; this.section = section; this.choice = choice;
    this.rows = [...section.querySelectorAll("tbody tr")];
    this.body = section.querySelector("tbody");
    this.marks = new Map();
    run.querySelectorAll("[data-t]").forEach(node => {
      const found = this.marks.get(node.dataset.t) || [];
      this.marks.set(node.dataset.t, [...found, node]);
    });
    this.axes = [...section.querySelectorAll(".strip")].map((strip, n) => ({
      n, strip, name: strip.dataset.name,
      values: JSON.parse(strip.dataset.values), places: JSON.parse(strip.dataset.places),
    }));
    section.querySelectorAll(".js").forEach(node => { node.hidden = false; });
    this.heads();
    this.axes.forEach(axis => this.brush(axis));
    this.controls(section.querySelector(".ranges"));
    this.pointing();
    if (choice.sort) this.sort(...choice.sort);
    this.select();
  }

  // -- sorting -----------------------------------------------------------------------------------------

  heads() {
    this.columns = [...this.section.querySelectorAll("thead th")];
    this.columns.forEach((th, n) => {
      const words = th.textContent;
      th.textContent = "";
      el("button", { type: "button" }, th, words).addEventListener("click", () => {
        const again = th.getAttribute("aria-sort") === "ascending";
        this.sort(words, again ? -1 : 1);
      });
      th.dataset.name = words;
      if (n === 1) th.setAttribute("aria-sort", "ascending");
    });
  }

  sort(name, way) {
    const at = this.columns.findIndex(th => th.dataset.name === name);
    if (at < 0) return;
    this.choice.sort = [name, way];
    this.columns.forEach((th, n) => {
      if (n === at) th.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
      else th.removeAttribute("aria-sort");
    });
    const key = row => { const cell = row.cells[at]; return cell.dataset.k ?? cell.textContent; };
    const keyed = this.rows.map(row => [key(row), row]);
    keyed.sort(([a, x], [b, y]) => {
      // what has no value is last, whichever way
      if (!a !== !b) return a ? -1 : 1;
      const apart = a !== "" && b !== "" && !isNaN(a) && !isNaN(b) ? a - b : a < b ? -1 : a > b ? 1 : 0;
      return way * apart || x.dataset.t - y.dataset.t;
    });
    this.body.append(...keyed.map(([, row]) => row));
  }

  // -- ranges ------------------------------------------------------------------------------------------

  /** A range is dragged along the axis; a click where none is dragged ends it. */
  brush(axis) {
    const svg = axis.strip.ownerSVGElement;
    const at = event => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).y;
    let from = null;
    axis.strip.addEventListener("pointerdown", event => {
      from = at(event);
      axis.strip.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    axis.strip.addEventListener("pointermove", event => {
      if (from !== null) this.between(axis, from, at(event));
    });
    const end = event => {
      if (from === null) return;
      if (Math.abs(at(event) - from) < 4) this.range(axis, null);
      from = null;
    };
    axis.strip.addEventListener("pointerup", end);
    axis.strip.addEventListener("pointercancel", () => { from = null; });
  }

  between(axis, one, other) {
    const [low, high] = [Math.min(one, other), Math.max(one, other)];
    const inside = axis.places.map((y, n) => [y, n]).filter(([y]) => low - 5 <= y && y <= high + 5).map(([, n]) => n);
    if (inside.length) this.range(axis, [axis.values[Math.min(...inside)], axis.values[Math.max(...inside)]]);
  }

  range(axis, ends) {
    if (ends) this.choice.ranges.set(axis.name, ends); else this.choice.ranges.delete(axis.name);
    this.select();
  }

  /** The same by lists, for keys and fingers. */
  controls(bar) {
    if (!this.axes.length) { bar.hidden = true; return; }
    const list = (words, name) => el("select", { "data-choose": name }, el("label", {}, bar, words));
    const [hole, from, to] = [list("range of ", "hole"), list("from ", "from"), list("to ", "to")];
    this.axes.forEach(axis => el("option", { value: axis.name }, hole, axis.name));
    const first = this.axes.find(axis => axis.name === this.choice.hole) || this.axes[0];
    hole.value = first.name;
    const chosen = () => this.axes.find(axis => axis.name === hole.value);
    this.show = () => {
      const axis = chosen(), range = this.choice.ranges.get(axis.name);
      [[from, 0], [to, axis.values.length - 1]].forEach(([node, other], side) => {
        node.replaceChildren();
        axis.values.forEach((value, n) => el("option", { value: n }, node, value));
        node.value = range ? axis.values.indexOf(range[side]) : other;
        if (node.selectedIndex < 0) node.value = other;
      });
    };
    const change = () => {
      const axis = chosen(), ends = [Number(from.value), Number(to.value)].sort((a, b) => a - b);
      this.range(axis, ends.map(n => axis.values[n]));
    };
    hole.addEventListener("change", () => { this.choice.hole = hole.value; this.show(); });
    from.addEventListener("change", change);
    to.addEventListener("change", change);
    el("button", { type: "button", class: "all" }, bar, "all trials").addEventListener("click", () => {
      this.choice.ranges.clear();
      this.select();
    });
  }

  /** [low, high] in heights of an axis; null if there is no range, or none of its values is left. */
  ends(axis) {
    const range = this.choice.ranges.get(axis.name);
    if (!range) return null;
    const heights = range.map(value => axis.places[axis.values.indexOf(value)]);
    if (heights.some(y => y === undefined)) return null;
    return [Math.min(...heights) - 0.6, Math.max(...heights) + 0.6];
  }

  select() {
    const limits = this.axes.map(axis => this.ends(axis));
    const any = limits.some(Boolean);
    const times = [];
    let count = 0;
    for (const row of this.rows) {
      const y = row.dataset.y.split(" ");
      const inside = limits.every((ends, n) => !ends || (y[n] !== "-" && ends[0] <= y[n] && y[n] <= ends[1]));
      if (inside) { count++; if (row.dataset.s) times.push([Number(row.dataset.s), row.cells[1].textContent]); }
      this.marks.get(row.dataset.t).forEach(node => node.classList.toggle("out", !inside));
    }
    times.sort((a, b) => a[0] - b[0]);
    const said = times.length ? `: best ${times[0][1]}, median ${times[times.length >> 1][1]}` : "";
    this.section.querySelector(".selected").textContent =
      any ? `${count} of ${this.rows.length} trials are in the range${said}` : `${count} trials${said}`;
    this.axes.forEach((axis, n) => this.drawRange(axis, limits[n]));
    this.show?.();
  }

  drawRange(axis, ends) {
    axis.mark?.remove();
    if (!ends) return;
    axis.mark = document.createElementNS(axis.strip.namespaceURI, "rect");
    const place = { class: "range", x: axis.strip.getAttribute("x"), width: axis.strip.getAttribute("width"),
                    y: ends[0] - 5, height: ends[1] - ends[0] + 10, rx: 3 };
    Object.entries(place).forEach(([key, value]) => axis.mark.setAttribute(key, value));
    axis.strip.before(axis.mark);
  }

  // -- pointing ----------------------------------------------------------------------------------------

  /** A trial that is pointed at stands out everywhere. */
  pointing() {
    this.marks.forEach(nodes => nodes.forEach(node => {
      const near = on => nodes.forEach(other => other.classList.toggle("near", on));
      node.addEventListener("pointerenter", () => near(true));
      node.addEventListener("pointerleave", () => near(false));
    }));
  }
}

function begin(run, name) {
  const section = run.querySelector(".trials");
  if (!section) return null;
  if (!kept.has(name)) kept.set(name, { ranges: new Map(), sort: null, hole: null });
  return new Trials(run, section, kept.get(name));
}

window.mdhTrials = { begin, kept };
document.querySelectorAll("[data-run]").forEach(run => begin(run, run.dataset.run));
