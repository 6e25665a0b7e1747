// A stage with its controls, and how they hang together.

const DATA = JSON.parse(document.getElementById("data").textContent);

const SCOPES = {
  part: "the part of this step", CLU: "a cluster", BLK: "a block", WGP: "a warp group", WRP: "a warp",
  THR: "a thread", VEC: "a lane",
};

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
      const figure = section.querySelector(`[data-picture="${n}"]`);
      return new ArrayPicture(this, figure, array, rank > 1 ? [rank - 1, rank - 2] : [0, null]);
    })];
    this.who = section.querySelector(".who");
    const onClick = (which, then) =>
      section.querySelectorAll(which).forEach(b => b.addEventListener("click", () => then(b.dataset)));
    onClick("[data-go]", data => this.go(this.step + Number(data.go)));
    onClick("button.step", data => this.go(Number(data.step)));
    section.querySelectorAll("button.step").forEach(b => hot(b.parentNode, `${number}.${b.dataset.step}`));
    this.controls(section.querySelector(".controls"));
    this.go(this.first());
  }

  /** Where the page begins: at the step that was refused, if there is one. */
  first() { return Math.max(0, this.stage.steps.findIndex(step => step.bad)); }

  controls(bar) {
    const scopes = ["part", ...this.stage.layers];
    const options = scopes.map(s => [s, SCOPES[s] || s]);
    choose(bar, "show", options, this.scope, s => { this.scope = s; this.light(); });
    const frames = [["zoom", "the step's parent tile"], ["whole", "everything"]];
    choose(bar, "frame", frames, "zoom", s => { this.zoom = s === "zoom"; this.draw(); });
    this.pictures.forEach(picture => {
      const names = picture.names();
      if (names.length < 3) return;
      const place = picture.figure.querySelector(".axes");
      const options = names.map((name, d) => [String(d), name]);
      ["across", "down"].forEach((word, n) => choose(place, word, options, String(picture.dims[n]), v => {
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
      const selects = picture.figure.querySelectorAll(".axes select");
      selects.forEach((node, n) => { node.value = String(picture.dims[n]); });
    }
    this.sliders();
  }

  /** One slider for each dimension that the iteration space's picture does not show. */
  sliders() {
    this.slots.replaceChildren();
    this.stage.dims.forEach((dim, d) => {
      if (this.space.dims.includes(d) || dim.extent < 2) return;
      const label = el("label", {}, this.slots, `${dim.name} `);
      const range = { type: "range", min: 0, max: dim.extent - 1, step: 1, "data-dim": d };
      const input = el("input", range, label);
      input.value = this.kept[d];
      el("span", { class: "value" }, label, String(this.kept[d]));
      input.addEventListener("input", () => {
        const at = [...this.kept];
        at[d] = Number(input.value);
        this.hover(at, true);
      });
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
      li.querySelector("button")?.setAttribute("aria-current", n === this.step ? "step" : "false");
    });
    document.querySelectorAll(".code .l.on").forEach(l => l.classList.remove("on"));
    const mine = document.querySelectorAll(`.code .l[data-s="${this.number}.${this.step}"]`);
    mine.forEach(l => l.classList.add("on"));
    document.querySelectorAll(".mini").forEach(b =>
      b.setAttribute("aria-current", b.dataset.mini === `${this.number}.${this.step}` ? "step" : "false"));
    const said = this.section.querySelector(".steplist .on button").textContent;
    this.section.querySelector(".now").textContent = said;
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
      this.slots.querySelectorAll("input").forEach(input => {
        input.value = input.nextSibling.textContent = at[input.dataset.dim];
      });
      this.draw();
    } else if (moved && !this.zoom) this.draw(); else this.light();
  }

  windowKey(at) {
    const outer = (dim, e) => digitsOf(dim, e).filter((_, k) => dim.digits[k].step < this.step);
    return this.stage.dims.map((dim, d) => outer(dim, at[d])).join();
  }

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
      picture.path(rects, "lit", picture.svg.querySelector(".unit, .box"), 2.4);
      const spot = picture.path(picture.sets(point), "spot");
      const { width, height } = spot.getBBox();
      spot.classList.toggle("tiny", width < 4 || height < 4);
    }
    this.tell();
  }

  tell() {
    const { units, thread } = unitsOf(this.stage, this.at);
    const { dims, threads, warp } = this.stage;
    const place = dims.map((dim, d) => `${dim.name} = ${dim.start + dim.step * this.at[d]}`).join(", ");
    const who = units.map(([name, n]) => `${name} ${n}`).join(", ");
    const lane = warp ? `thread ${thread}: lane ${thread % warp} of warp ${Math.floor(thread / warp)}` : "";
    const tid = threads > 1 ? lane : "";
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

/** The lines of a step stand out while `node` is pointed at. */
function hot(node, key) {
  const lines = document.querySelectorAll(`.code .l[data-s="${key}"]`);
  const light = on => lines.forEach(line => line.classList.toggle("hot", on));
  node.addEventListener("pointerenter", () => light(true));
  node.addEventListener("pointerleave", () => light(false));
}

let current = null;
// a stage that a library computes has no picture
const views = DATA.stages.map((stage, n) => stage && new View(n, document.getElementById(`stage-${n}`)));
const opened = views.find(Boolean);
opened?.go(opened.first());
document.querySelectorAll(".code .l[data-s]").forEach(line => line.addEventListener("click", () => {
  const [n, s] = line.dataset.s.split(".").map(Number);
  views[n].go(s);
}));
document.querySelectorAll(".minis").forEach(node => { node.hidden = false; });
document.querySelectorAll(".mini").forEach(button => {
  const key = button.dataset.mini, [n, s] = key.split(".").map(Number);
  hot(button, key);
  button.addEventListener("click", () => {
    views[n].go(s);
    const line = document.querySelector(`.code .l[data-s="${key}"]`), code = document.querySelector(".code");
    if (line) code.scrollTo({ top: line.offsetTop - code.clientHeight / 3 });
  });
});
document.querySelectorAll(".code .l[data-s]").forEach(line => {
  const mini = document.querySelector(`.mini[data-mini="${line.dataset.s}"]`);
  line.addEventListener("pointerenter", () => mini?.classList.add("hot"));
  line.addEventListener("pointerleave", () => mini?.classList.remove("hot"));
});
const rows = document.querySelectorAll(".beside .code .l");
document.querySelectorAll(".asm .l[data-n]").forEach(line => {
  const light = on => rows[line.dataset.n - 1]?.classList.toggle("hot", on);
  line.addEventListener("pointerenter", () => light(true));
  line.addEventListener("pointerleave", () => light(false));
});
document.addEventListener("keydown", event => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (way && current) { event.preventDefault(); current.go(current.step + way); }
});
window.mdhPage = { views, touched, fixedFor, digitsOf, runs, image };
