"""Random softmaxes, attentions and variances, and schedules that reduce them in one pass (`online`).

Programs differ in what is reduced, how its state begins and is written, where the exponentials and the
division stand, conditions, shapes and types. Schedules differ in tiles, orders, units, places and layouts.
"""

from dataclasses import dataclass, field, replace
from random import Random

from mdh.checker.inner import view_inside
from mdh.checker.inner_places import Inner, misplaced
from mdh.checker.online import Part, PassError, part_of, with_online
from mdh.checker.run import check_stage
from mdh.checker.subject import Draft
from mdh.ir.inner import InnerError
from mdh.ir.program import DimKind, Program, Stage
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.schedule.model import Online, Schedule, Section, Within
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from tests.support.random_schedules import steps_of

STARTS = ("-INFINITY", "-FLT_MAX", "FIRST", "-10")


@dataclass
class RandomOnline:
    """host: the stage that computes the others. companions: those that are reduced with it. readers: what
    each stage is computed in. sizes: of dimensions."""

    rng: Random
    host: str = ""
    companions: list[str] = field(default_factory=list)
    readers: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    text: str = ""

    def chance(self, p: float) -> bool:
        return self.rng.random() < p


def random_online(seed: int) -> RandomOnline:
    d = RandomOnline(Random(f"online {seed}"))
    n, m, w = d.rng.randint(3, 12), d.rng.randint(3, 21), d.rng.randint(1, 9)
    d.sizes = {"i": n, "j": m, "d": w, "k": d.rng.randint(1, 5)}
    (_variance if d.chance(0.2) else _softmax)(d)
    return d


def _nest(d: RandomOnline, dims: str, target: str, start: str, update: str, last: str = "") -> str:
    """A reduction: loops over its kept dimensions, then those over the others."""
    kept = [v for v in dims if f"[{v}]" in target]
    loops = "".join(f"  for (int {v} = 0; {v} < {d.sizes[v]}; {v}++)\n" for v in kept)
    inner = "".join(f"    for (int {v} = 0; {v} < {d.sizes[v]}; {v}++)\n" for v in dims if v not in kept)
    return f"{loops}  {{\n    {target} = {start};\n{inner}      {update}\n    {last}\n  }}\n"


def _variance(d: RandomOnline) -> None:
    t = d.rng.choice(("float", "float", "double"))
    n, m = d.sizes["i"], d.sizes["j"]
    mean, last = "mean[i]", f"mean[i] = mean[i] / {m};"
    if d.chance(0.3):
        last = d.rng.choice(("", "mean[i] = mean[i] * 0.125f;"))
    far = f"(A[i][j] - {mean})"
    d.host, d.companions, d.readers = "var", ["mean"], {"mean": "var"}
    weight = "2 * " if d.chance(0.3) else ""
    body = _nest(d, "ij", mean, d.rng.choice(("0", "0", "1")), "mean[i] += A[i][j];", last)
    done = f"var[i] = var[i] / {m};" if d.chance(0.5) else ""
    body += _nest(d, "ij", "var[i]", d.rng.choice(("0", "0", "3")), f"var[i] += {weight}{far} * {far};", done)
    if d.chance(0.5):
        own, out = f"  {t} mean[{n}], var[{n}];\n", f"{t} Y[{n}][{m}]"
        body += f"  for (int i = 0; i < {n}; i++)\n    for (int j = 0; j < {m}; j++)\n"
        body += f"      Y[i][j] = {far} + var[i];\n"
    else:
        own, out = f"  {t} mean[{n}];\n", f"{t} var[{n}]"
    d.text = f"#include <math.h>\nvoid online(const {t} A[{n}][{m}], {out}) {{\n{own}{body}}}\n"


def _softmax(d: RandomOnline) -> None:
    """`top` is the maximum of scores, `total` the sum of their exponentials, O a sum with weights V, or what
    reads `top` and `total`."""
    t = d.rng.choice(("float", "float", "float", "double"))
    f = "f" if t == "float" else ""
    n, m, w = (d.sizes[v] for v in "ijd")
    scored, sharp = d.chance(0.5), d.chance(0.25)
    score = "S[i][j]" if scored else "A[i][j]"
    weight = d.rng.choice(("", "", " * 0.5f", " * 2"))
    lowest = d.chance(0.2) and not sharp
    causal = d.chance(0.2)
    first = score.replace("[j]", "[0]") + weight
    body, temps = "", list[str]()
    if scored:
        mask = d.chance(0.3)
        done = "S[i][j] = j < i ? -INFINITY : S[i][j];" if mask else ""
        body += _nest(d, "ijk", "S[i][j]", "0", "S[i][j] += Q[i][k] * K[j][k];", done)
        temps.append(f"S[{n}][{m}]")
    when = "if (j <= i) " if causal else ""
    start, less = d.rng.choice(STARTS), "<" if lowest else ">"
    start = start.replace("FIRST", first).replace("-", "" if lowest else "-", 1 if start != "FIRST" else 0)
    if causal and start == first:
        start = "INFINITY" if lowest else "-INFINITY"
    new, old = f"{score}{weight}", "top[i]"
    update = d.rng.choice(
        (f"f{'min' if lowest else 'max'}{f}({old}, {new})", f"{new} {less} {old} ? {new} : {old}",
         f"{old} {less} {new} ? {old} : {new}")
    )  # fmt: skip
    body += _nest(d, "ij", old, start, f"{when}top[i] = {update};")
    temps.append(f"top[{n}]")
    power = f"top[i] - {new}" if lowest else f"{new} - top[i]"
    fn = d.rng.choice(("exp", "exp", "exp2")) + f
    value = f"{fn}({f'3 * ({power})' if sharp else power})"
    mapped = d.chance(0.5) and not causal
    normalised = mapped and d.chance(0.4)
    d.companions = ["top", "total"]
    kind = d.rng.choice(("product", "product", "rows"))
    total = _nest(d, "ij", "total[i]", "0", f"{when}total[i] += VALUE;")
    each = f"  for (int i = 0; i < {n}; i++)\n    for (int j = 0; j < {m}; j++)\n      "
    if kind == "rows":
        d.host, d.companions = "total", ["top"]
        d.readers = {"top": "total"} | ({"S": "total"} if scored else {})
        temps.append(f"total[{n}]")
        body += total.replace("VALUE", value) + each + f"O[i][j] = {new} - top[i] + total[i];\n"
        out = f"{t} O[{n}][{m}]"
    else:
        out = f"{t} O[{n}][{w}]"
        temps.append(f"total[{n}]")
        d.host = "O"
        if mapped:
            temps.append(f"P[{n}][{m}]")
            over = " / total[i]" if normalised else ""
            nest = each + f"P[i][j] = {value}{over};\n"
            own = total.replace("VALUE", value if normalised else "P[i][j]")
            body += own + nest if normalised else nest + own
            d.readers = {"top": "P", "total": "P" if normalised else "O", "P": "O"}
            d.readers |= {"S": "P"} if scored else {}
            term, done = "P[i][j] * V[j][d]", "" if normalised else "O[i][d] = O[i][d] / total[i];"
        else:
            body += total.replace("VALUE", value)
            d.readers = {"top": "O", "total": "O"} | ({"S": "O"} if scored else {})
            inside = d.chance(0.4)
            term = f"{value}{' / total[i]' if inside else ''} * V[j][d]"
            done = "" if inside else "O[i][d] = O[i][d] / total[i];"
        start = d.rng.choice(("0", "0", "2"))
        body += _nest(d, "idj", "O[i][d]", start, f"{when}O[i][d] += {term};", done)
    params = [f"const {t} Q[{n}][{d.sizes['k']}]", f"const {t} K[{m}][{d.sizes['k']}]"] if scored else []
    params += [] if scored else [f"const {t} A[{n}][{m}]"]
    params += [f"const {t} V[{m}][{w}]"] if kind != "rows" else []
    text = "#include <float.h>\n#include <math.h>\n"
    d.text = f"{text}void online({', '.join([*params, out])}) {{\n  {t} {', '.join(temps)};\n{body}}}\n"


# -- schedules ---------------------------------------------------------------------------------

PASS = 2
"""The host's step in whose body the parts are computed."""


def online_schedule(d: RandomOnline, program: Program, machine: Machine, target: str, seed: int) -> str:
    """The text of this seed's schedule. Stages without steps have those of the default."""
    rng = Random(f"online schedule {seed}")
    seen = LANGUAGES[target].seen(machine)
    sections = {n: Section(n, (), how=Within(r, PASS if r == d.host else 1)) for n, r in d.readers.items()}
    sections[d.host] = Section(d.host, (), how=Online(tuple(d.companions)))
    whole = with_online(program, sections).program
    stages = {s.name: s for s in whole.stages}
    drawing = _Drawing(rng, whole, seen, target, sections, stages)
    host = stages[d.host]
    sections[d.host] = _section(d.host, _host(drawing, host), sections[d.host])
    drawing.fill(d, whole, host, d.host, None, 0)
    said = tuple(sections[s.name] for s in program.stages if s.name in sections and sections[s.name].steps)
    return print_schedule(Schedule(said))


def _section(name: str, lines: list[str], before: Section) -> Section:
    text = "\n".join([f"stage {name} {{", *lines, "}"])
    (section,) = parse_schedule(Source("drawn.mdh", text)).sections
    return replace(section, how=before.how)


@dataclass
class _Drawing:
    rng: Random
    program: Program
    machine: Machine
    target: str
    sections: dict[str, Section]
    stages: dict[str, Stage]

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def place(self, buffer: str, rank: int) -> str:
        """The entry of an array that a stage inside fills."""
        order = list(range(1, rank + 1))
        if self.chance(0.3):
            self.rng.shuffle(order)
        region = "RM" if self.chance(0.15) else "SM"
        return f"{buffer}:{region}[{','.join(map(str, order))}]"

    def entries(self, view: Program, stage: Stage, inside: set[str]) -> str:
        """The inputs of the step at which stages are computed; others are sometimes copied there."""
        out = []
        for b in view.inputs(stage):
            rank = len(view.buffer_of[b].shape)
            copied = self.chance(0.2) and not view.buffer_of[b].temp
            out.append(self.place(b, rank) if b in inside or copied else "^")
        return ", ".join(out)

    def split(self, view: Program, stage: Stage, threads: int) -> Section:
        """Steps that only say whether threads split the stage: that decides what is around its box."""
        cut, n = ", ".join("^" for _ in stage.dims), len(stage.dims)
        cores = ", ".join("THR.x" if d == n - 1 and threads > 1 else "^" for d in range(n))
        groups = (", ".join("^" for _ in f(stage)) for f in (view.inputs, view.outputs))
        lines = [f"(de-)comp( {cut} ) ( {' ; '.join(groups)} ) ( {cores} )"]
        return _section(stage.name, lines, self.sections[stage.name])

    def fill(
        self, d: RandomOnline, view: Program, stage: Stage, name: str, part: Part | None, threads: int
    ) -> None:
        """Draws the steps of the stages that are computed in one."""
        draft = Draft(view, stage, self.sections[name].steps, self.machine, self.target, False)
        plan, _ = check_stage(draft, self.sections[name])
        if plan is None:
            return
        cpu = self.machine.kind == "cpu"
        if part is None:
            threads = plan.threads
            try:
                part = part_of(plan, PASS, cpu=cpu)
            except PassError:
                return
        for inner in [s for s in self.program.stages if d.readers.get(s.name) == name]:
            how = self.sections[inner.name].how
            assert isinstance(how, Within)
            wanted = self.rng.choice((threads, threads, threads, 1, max(1, threads // 2)))
            split = self.split(view, inner, wanted)
            one = Inner(inner, split, how, draft, plan)
            if any(misplaced(one)):
                continue
            try:
                seen = view_inside(one, cpu=cpu, part=part)
            except InnerError:
                continue
            lines = steps_of(self.rng, seen.program, seen.stage, self.machine, inner=True, threads=wanted)
            drawn = _section(inner.name, lines, self.sections[inner.name])
            mine = {b for s in self.program.stages if d.readers.get(s.name) == inner.name for b in s.written}
            if mine:
                dims = ", ".join("^" for _ in inner.dims)
                outer = (
                    f"(de-)comp( {dims} ) ( {self.entries(seen.program, seen.stage, mine)} ; ^ ) ( {dims} )"
                )
                first = _section(inner.name, [outer], drawn).steps
                drawn = replace(drawn, steps=(*first, *(replace(x, label=None) for x in drawn.steps)))
            self.sections[inner.name] = drawn
            if mine:
                self.fill(d, seen.program, seen.stage, inner.name, part, threads)


def _host(g: _Drawing, stage: Stage) -> list[str]:
    """Blocks over kept dimensions, the loop of the pass, then threads, loops and vectors."""
    rng, cpu = g.rng, g.machine.kind == "cpu"
    tiles = [d.extent for d in stage.dims]
    kept = [n for n, d in enumerate(stage.dims) if d.kind is DimKind.CC]
    inputs, outputs = g.program.inputs(stage), g.program.outputs(stage)
    inside = {b for n in g.sections for b in g.stages[n].written}
    nothing = f"( {', '.join('^' for _ in inputs)} ; {', '.join('^' for _ in outputs)} )"
    held = f"{outputs[0]}:RM[{','.join(str(n + 1) for n in range(len(kept)))}]"

    def step(chosen: dict[int, tuple[int, str]], memory: str) -> str:
        for n, (tile, _) in chosen.items():
            tiles[n] = tile
        cut = ", ".join(str(chosen[n][0]) if n in chosen else "^" for n in range(len(tiles)))
        cores = ", ".join(chosen[n][1] if n in chosen else "^" for n in range(len(tiles)))
        return f"(de-)comp( {cut} ) {memory} ( {cores} )"

    def tile(n: int, most: int = 99) -> int:
        return rng.randint(-(-tiles[n] // most), tiles[n])

    j = len(tiles) - 1
    blocks = {0: (tile(0), "BLK.x")}
    if j > 1 and g.chance(0.2):
        blocks[1] = (tile(1), "BLK.y")
    lines = [step(blocks, nothing)]
    at = f"( {g.entries(g.program, stage, inside)} ; {held if g.chance(0.9) else '^'} )"
    lines.append(step({j: (rng.choice((tile(j), max(1, tiles[j] // 3), 1, tiles[j])), "FOR.1")}, at))
    if not cpu:
        axes = dict(zip(rng.sample(range(j + 1), rng.choice((1, 1, 2))), ("THR.x", "THR.y"), strict=False))
        lines.append(step({n: (tile(n, 8), core) for n, core in axes.items()}, nothing))
    for _ in range(rng.choice((0, 1, 1, 2))):
        axes = dict(zip(rng.sample(range(j + 1), rng.choice((1, 2))), ("FOR.1", "FOR.2"), strict=False))
        lines.append(step({n: (tile(n), core) for n, core in axes.items()}, nothing))
    if cpu and g.chance(0.3) and tiles[j] in (2, 4, 8):
        lines.append(step({j: (1, "VEC.x")}, nothing))
    return lines
