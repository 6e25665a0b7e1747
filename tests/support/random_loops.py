"""Random programs with loops around inner ones that must run in turns, and schedules that share them.

Sweeps along one loop of a nest, forwards and backwards, through arrays or locals, with borders, maps and sums
beside them: as in implicit steps of a heat equation. Some have iterations that depend on one another after
all, so that nothing may be shared.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from mdh.ir.parallel_loop import ParallelLoop
from mdh.ir.program import Program, Stage
from mdh.machine import Machine
from mdh.poly.parallel_loops import parallel_loops
from tests.support.random_schedules import steps_of

FLOATS = ("float", "float", "double")
INTEGERS = ("int", "int", "unsigned", "int64_t")


# -- programs ----------------------------------------------------------------------------------


@dataclass
class RandomLoops:
    """steps: whether the nests stand in a loop of t."""

    rng: Random
    kind: str
    rows: int
    columns: int
    lines: list[str] = field(default_factory=list)
    locals_: int = 0
    steps: bool = False
    text: str = ""

    def chance(self, p: float) -> bool:
        return self.rng.random() < p


def random_loops(seed: int) -> RandomLoops:
    """The program of this seed."""
    rng = Random(f"loops {seed}")
    kind = rng.choice(FLOATS if rng.random() < 0.7 else INTEGERS)
    d = RandomLoops(rng, kind, rng.choice((2, 3, 5, 7, 9, 13, 18)), rng.choice((2, 3, 4, 6, 9)))
    d.steps = d.chance(0.4)
    body = [line for _ in range(rng.choice((1, 1, 2, 3))) for line in _nest(d)]
    if d.steps:
        body = ["for (int t = 0; t < 3; t++) {", *body, "}"]
    n, m = d.rows, d.columns
    shapes = {"A": (n, m), "B": (m, n), "C": (n, m), "U": (m, n), "V": (n, m)}
    given = [f"{kind} {a}[{x}][{y}]" for a, (x, y) in shapes.items()]
    given = [f"const {p}" if p[len(kind) + 1] in "UV" else p for p in given]
    params = ", ".join([*given, f"{kind} S[{n}]", f"const {kind} w[{m}]"])
    text = "\n  ".join(body)
    d.text = f"#include <stdint.h>\nvoid loops({params}) {{\n  {text}\n}}\n"
    return d


def _nest(d: RandomLoops) -> list[str]:
    """A loop of i whose body has sweeps along j, and more."""
    low = d.rng.choice((0, 0, 0, 1)) if d.rows > 2 else 0
    parts = [_sweep(d) if d.chance(0.6) else _filter(d)]
    while d.chance(0.5) and len(parts) < 4:
        parts.append(d.rng.choice((_sweep, _sweep, _border, _sum, _map, _filter))(d))
    d.rng.shuffle(parts)
    inside = [f"  {line}" for part in parts for line in part]
    down = d.chance(0.15)
    head = (
        f"for (int i = {d.rows - 1}; i >= {low}; i--) {{"
        if down
        else f"for (int i = {low}; i < {d.rows}; i++) {{"
    )
    return [head, *inside, "}"]


def _sweep(d: RandomLoops) -> list[str]:
    """Elements from those before them along j."""
    name = d.rng.choice("ABC")
    far = 2 if d.columns > 3 and d.chance(0.15) else 1
    down = d.chance(0.35)
    before = _at(name, f"j {'+' if down else '-'} {far}")
    value = _joined(d, before, _value(d, name))
    if d.chance(0.08) and d.rows > 2:
        # iterations depend on one another
        other = _at(name, "j", "(i > 0 ? i - 1 : 0)")
        value = _joined(d, other, value)
    line = f"{_at(name, 'j')} = {value};"
    if d.chance(0.15):
        line = f"if ({d.rng.choice(('j != i', 'j <= i', 'j > i'))}) {line}"
    more = [
        f"{_at(other, 'j')} = {_joined(d, _at(name, 'j'), _value(d, other))};" for other in _others(d, name)
    ]
    lines = [line, *more]
    if d.chance(0.2):
        d.rng.shuffle(lines)
    if down:
        head = f"for (int j = {d.columns - 1 - far}; j >= 0; j--)"
    else:
        head = f"for (int j = {far}; j < {d.columns}; j++)"
    if d.steps and d.chance(0.3):
        # fewer turns in the first steps, or in the last ones
        end = (
            d.rng.choice((f"{far} + t", f"{d.columns - far} - t")) if far + 2 < d.columns else str(d.columns)
        )
        head = f"for (int j = {far}; j < {end}; j++)"
        lines = [x.replace("[j + ", "[j - ") for x in lines]
    return [head + " {", *(f"  {x}" for x in lines), "}"]


def _filter(d: RandomLoops) -> list[str]:
    """A sweep that keeps its last values in locals."""
    name = d.rng.choice("ABC")
    d.locals_ += 1
    p, q = f"p{d.locals_}", f"q{d.locals_}"
    head = (
        f"for (int j = {d.columns - 1}; j >= 0; j--)"
        if d.chance(0.4)
        else f"for (int j = 0; j < {d.columns}; j++)"
    )
    at = _at(name, "j")
    return [
        f"{d.kind} {p} = {d.rng.choice((0, 1))}, {q} = 0;",
        head + " {",
        f"  {at} = {_joined(d, p, _value(d, name))};",
        f"  {q} = {p};",
        f"  {p} = {at} - {q} / 2;",
        "}",
    ]


def _border(d: RandomLoops) -> list[str]:
    name = d.rng.choice("ABC")
    return [
        f"{_at(name, d.rng.choice(('0', str(d.columns - 1))))} = {d.rng.choice(('1', _at('V', '0'), 'i'))};"
    ]


def _sum(d: RandomLoops) -> list[str]:
    term = f"{_at(d.rng.choice('ABCV'), 'j')} {'*' if d.kind in FLOATS else '&'} w[j]"
    start = [f"S[i] = {d.rng.choice(('0', _at('V', '1 % ' + str(d.columns))))};"] if d.chance(0.5) else []
    return [*start, f"for (int j = 0; j < {d.columns}; j++) S[i] += {term};"]


def _map(d: RandomLoops) -> list[str]:
    name = d.rng.choice("ABC")
    own = _joined(d, _at(name, "j"), _value(d, name))
    return [f"for (int j = 0; j < {d.columns}; j++) {_at(name, 'j')} = {own};"]


def _others(d: RandomLoops, name: str) -> Sequence[str]:
    return d.rng.sample([x for x in "ABC" if x != name], d.rng.choice((0, 0, 1)))


def _at(name: str, j: str, i: str = "i") -> str:
    """An element of an array: B and U have their rows along j."""
    return f"{name}[{j}][{i}]" if name in "BU" else f"{name}[{i}][{j}]"


def _value(d: RandomLoops, own: str) -> str:
    """What does not stand in `own`."""
    found = [_at(x, "j") for x in "ABCUV" if x != own]
    found += [_at("U", "j", f"({d.rows} - 1 - i)"), "w[j]", "S[i]", "(i + 2 * j)", "2"]
    return d.rng.choice(found)


def _joined(d: RandomLoops, one: str, other: str) -> str:
    """A value of two that no sum or prefix sum computes, and that stays small."""
    if d.kind in FLOATS:
        return d.rng.choice((f"{other} - {one} / 2", f"({one} + {other}) / 3", f"{one} * 0.25f - {other}"))
    return d.rng.choice(
        (f"({one} ^ {other}) - 3", f"({one} & 63) * 3 - ({other} & 7)", f"{other} - ({one} >> 1)")
    )


# -- schedules ---------------------------------------------------------------------------------


def loops_schedule(program: Program, machine: Machine, seed: int) -> str | None:
    """A schedule in which units share some of the program's loops; None if it has none."""
    rng = Random(f"shared {seed}")
    loops = parallel_loops(program)
    chosen = [x for x in loops if rng.random() < 0.85]
    if not chosen:
        return None
    out: list[str] = []
    sizes: dict[str, tuple[ParallelLoop, int]] = {}
    for x in chosen:
        size, steps = _shared(rng, x, machine)
        out += [f"loop {x.name}( {x.counter} ) {{", *(f"  {s}" for s in steps), "}"]
        sizes |= dict.fromkeys(x.stages, (x, size))
    for stage in program.stages:
        if stage.name not in sizes or rng.random() < 0.25:
            continue
        part = _part(stage, *sizes[stage.name])
        steps = steps_of(rng, program, part, machine, inner=True, threads=1) if rng.random() < 0.8 else []
        out += [f"stage {stage.name} {{", *(f"  {s}" for s in steps), "}"]
    return "\n".join(out) + "\n"


def _shared(rng: Random, loop: ParallelLoop, machine: Machine) -> tuple[int, list[str]]:
    """The iterations of a unit, and the steps of a loop."""
    size = loop.extent
    layers = (
        ["BLK"]
        if machine.kind == "cpu"
        else [["BLK"], ["THR"], ["BLK", "THR"], ["BLK", "THR"]][rng.randrange(4)]
    )
    told = rng.random() < 0.5
    steps = []
    for n, layer in enumerate(layers, 1):
        size = rng.randint(max(1, -(-size // 32)), size)
        steps.append(f"{f'{n}: ' if told else ''}(de-)comp( {size} ) ( {layer}.{rng.choice('xxyz')} )")
    return size, steps


def _part(stage: Stage, loop: ParallelLoop, size: int) -> Stage:
    name = loop.dim_of[stage.name]
    return replace(stage, dims=tuple(replace(x, extent=size) if x.name == name else x for x in stage.dims))
