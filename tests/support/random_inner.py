"""Random programs of two or three stages, and schedules that compute some of them where they are read.

Maps, stencils, sums and maxima of rows, and products read inputs and what stages before them have computed.
Schedules are drawn from outside in: the steps of the last stage first, then those of the boxes that it needs.
"""

from dataclasses import dataclass, field, replace
from random import Random

from mdh.checker.inner import view_inside
from mdh.checker.inner_places import Inner, misplaced
from mdh.checker.run import check_stage
from mdh.checker.subject import Draft
from mdh.hardware import Space
from mdh.ir.inner import InnerError
from mdh.ir.program import Program, Stage
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.schedule.model import BufferPlace, Caret, Mem, Schedule, Section, Within
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from tests.support.random_schedules import steps_of

FLOATS = ("float", "float", "double", "_Float16")
INTEGERS = ("int", "int", "int64_t", "uint8_t", "int16_t")
Shape = tuple[int, ...]


# -- programs ----------------------------------------------------------------------------------


@dataclass
class RandomInner:
    rng: Random
    floats: bool = True
    types: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    nests: list[str] = field(default_factory=list)
    text: str = ""

    def chance(self, p: float) -> bool:
        return self.rng.random() < p


def random_inner(seed: int) -> RandomInner:
    d = RandomInner(Random(f"inner {seed}"))
    d.floats = d.chance(0.6)
    for name in "AB":
        _declare(d, name, tuple(d.rng.randint(4, 14) for _ in range(2)))
    if d.chance(0.3):
        _rows(d)
    else:
        for n in range(d.rng.choice((1, 1, 2, 2, 3))):
            _stage(d, f"T{n}", last=False)
        _stage(d, "O", last=True)
    own = "".join(f"  {_declared(d, n)};\n" for n in d.made[:-1])
    params = f"const {_declared(d, 'A')}, const {_declared(d, 'B')}, {_declared(d, 'O')}"
    d.text = f"#include <stdint.h>\nvoid inner({params}) {{\n{own}{''.join(d.nests)}}}\n"
    return d


def _declare(d: RandomInner, name: str, shape: Shape) -> None:
    d.types[name], d.shapes[name] = d.rng.choice(FLOATS if d.floats else INTEGERS), shape


def _declared(d: RandomInner, name: str) -> str:
    return f"{d.types[name]} {name}{''.join(f'[{n}]' for n in d.shapes[name])}"


def _rows(d: RandomInner) -> None:
    """Sums or maxima of rows, each of which the next one may read, and a map that reads all."""
    m, n = d.shapes["A"]
    m -= (halo := d.rng.choice((0, 0, 1)))
    row = "A[i][j]" if d.chance(0.8) else "A[i][j] * A[i][j]"
    for k in range(d.rng.choice((1, 2, 2, 3))):
        _declare(d, f"T{k}", (m,))
        value = row
        for name in d.made:
            value += f" {d.rng.choice('+-')} {name}[i]" if d.chance(0.7) else ""
        update = f"T{k}[i] += {value};"
        if d.chance(0.3):
            update = f"T{k}[i] = T{k}[i] > {value} ? T{k}[i] : {value};"
        last = "T0[i] = T0[i] + 1;" if k == 0 and d.chance(0.4) else ""
        d.nests.append(
            f"  for (int i = 0; i < {m}; i++) {{\n    T{k}[i] = 0;\n"
            f"    for (int j = 0; j < {n}; j++) {update}\n    {last}\n  }}\n"
        )
        d.made.append(f"T{k}")
    _declare(d, "O", (m - halo, n))
    reads = "".join(f" {d.rng.choice('+-')} {x}[i{' + 1' * d.chance(0.4 * halo)}]" for x in d.made)
    loops = f"  for (int i = 0; i < {m - halo}; i++)\n    for (int j = 0; j < {n}; j++)"
    d.nests.append(f"{loops} O[i][j] = A[i][j]{reads};\n")
    d.made.append("O")


def _stage(d: RandomInner, name: str, *, last: bool) -> None:
    """A stage that reads one made before it, if there is one, and perhaps others."""
    first = d.rng.choice(d.made[-(2 if d.chance(0.3) else 1) :]) if d.made else d.rng.choice("AB")
    size = d.shapes[first]
    rank = d.rng.choice((1, 2, 2, 2))
    halo = d.rng.choice((0, 0, 1, 2))
    wide = [max(1, n - halo) for n in size]
    shape = tuple((wide[k] if k < len(wide) else d.rng.randint(2, 12)) for k in range(rank))
    if d.chance(0.2):
        shape = tuple(max(1, n - d.rng.randint(0, 3)) for n in shape)
    _declare(d, name, shape)
    names = "ij"[:rank]
    extents = dict(zip(names, shape, strict=True))
    target = name + "".join(
        f"[{n}]" if d.chance(0.9) else f"[{shape[k] - 1} - {n}]" for k, n in enumerate(names)
    )
    loops = "".join(f"  for (int {n} = 0; {n} < {e}; {n}++)\n" for n, e in extents.items())
    if d.chance(0.45):
        depth = d.rng.choice((3, 5, 8, 12))
        inside = {**extents, "k": depth}
        value = _value(d, inside, first)
        update = f"{target} += {value};"
        start = d.rng.choice(("0", "0", "1"))
        if d.chance(0.3):
            update, start = f"{target} = {target} > {value} ? {target} : {value};", "-9"
            start = "0" if "uint" in d.types[name] else start
        body = f"{{ {target} = {start};\n    for (int k = 0; k < {depth}; k++) {update}\n"
        if d.chance(0.3):
            other = _read(d, extents, d.rng.choice(("A", first)))
            body += f"    {target} = {target} * 2 + {other};\n"
        d.nests.append(f"{loops}  {body}  }}\n")
    else:
        d.nests.append(f"{loops}    {target} = {_value(d, extents, first)};\n")
    d.made.append(name)


def _value(d: RandomInner, extents: dict[str, int], first: str) -> str:
    out = _read(d, extents, first)
    for _ in range(d.rng.choice((0, 1, 1, 2))):
        name = first if d.chance(0.4) else d.rng.choice([*(d.made if d.chance(0.2) else []), "A", "B"])
        term = _read(d, extents, name)
        out = f"({out}) * {term}" if d.chance(0.3) else f"{out} {d.rng.choice('+-')} {term}"
    if d.chance(0.1):
        n = d.rng.choice(list(extents))
        out = f"({n} < {d.rng.randint(1, extents[n])} ? {out} : {_read(d, extents, 'A')})"
    return out


def _read(d: RandomInner, extents: dict[str, int], name: str) -> str:
    left = list(extents)
    return name + "".join(f"[{_subscript(d, extents, left, n)}]" for n in d.shapes[name])


def _subscript(d: RandomInner, extents: dict[str, int], left: list[str], n: int) -> str:
    fitting = [v for v in left if extents[v] <= n]
    if not fitting or d.chance(0.04):
        return str(d.rng.randrange(n))
    v = fitting[0] if d.chance(0.7) else d.rng.choice(fitting)
    left.remove(v)
    if 2 * (extents[v] - 1) < n and d.chance(0.05):
        return f"2 * {v}"
    move = d.rng.randint(0, n - extents[v])
    if d.chance(0.06):
        return f"{n - 1 - move} - {v}"
    return f"{v} + {move}" if move else v


# -- schedules ---------------------------------------------------------------------------------


def inner_schedule(program: Program, machine: Machine, target: str, seed: int) -> str | None:
    """The text of this seed's schedule; None if no stage can be inside of another one there."""
    rng = Random(f"inner schedule {seed}")
    seen = LANGUAGES[target].seen(machine)
    last = program.stages[-1]
    for _ in range(8):
        whole = _Drawing(rng, program, seen, target)
        whole.sections[last.name] = _steps(whole, program, last, last.name, inner=False, threads=0)
        whole.fill(program, last, last.name)
        if any(isinstance(s.how, Within) for s in whole.sections.values()):
            break
    else:
        return None
    names = [s.name for s in program.stages if s.name in whole.sections]
    return print_schedule(Schedule(tuple(whole.sections[n] for n in names)))


@dataclass
class _Drawing:
    rng: Random
    program: Program
    machine: Machine
    target: str
    sections: dict[str, Section] = field(default_factory=dict)

    def fill(self, view: Program, stage: Stage, name: str, threads: int = 0) -> None:
        """Puts stages that `stage` reads inside of it."""
        rng, arrays = self.rng, {b: s for s in self.program.stages for b in s.written}
        for buffer in [b for b in reversed(view.inputs(stage)) if b in arrays]:
            inner = arrays[buffer]
            if inner.name in self.sections or rng.random() < 0.1:
                continue
            section = self.sections[name]
            changed, label = _with_entry(rng, view, stage, section, buffer)
            draft = Draft(view, stage, changed.steps, self.machine, self.target, False)
            plan, _ = check_stage(draft, changed)
            if plan is None:
                continue
            how = Within(name, label)
            one = Inner(inner, Section(inner.name, ()), how, draft, plan)
            if any(misplaced(one)):
                continue
            try:
                seen = view_inside(one, cpu=self.machine.kind == "cpu")
            except InnerError:
                continue
            count = threads or plan.threads
            alone = one.copies(buffer)[0].tile.space is Space.RM
            wanted = rng.choice((1, count) if alone else (count, count, count, 1, max(1, count // 2)))
            drawn = _steps(self, seen.program, seen.stage, inner.name, inner=True, threads=wanted)
            self.sections[name] = changed
            self.sections[inner.name] = replace(drawn, how=how)
            if rng.random() < 0.85:
                self.fill(seen.program, seen.stage, inner.name, count)


def _steps(d: _Drawing, view: Program, stage: Stage, name: str, *, inner: bool, threads: int) -> Section:
    lines = steps_of(d.rng, view, stage, d.machine, inner=inner, threads=threads)
    text = "\n".join([f"stage {name} {{", *lines, "}"])
    (section,) = parse_schedule(Source("drawn.mdh", text)).sections
    return section


def _with_entry(
    rng: Random, view: Program, stage: Stage, section: Section, buffer: str
) -> tuple[Section, int]:
    """The section with the array at one of its steps, and the label of that step."""
    inputs = view.inputs(stage)
    steps = list(section.steps)
    entered = [zip(s.inputs, inputs, strict=True) for s in steps]
    known = [n for n, each in enumerate(entered) if any(_staged(e, b) for e, b in each)]
    # often where others are
    at = rng.choice(known) if known and rng.random() < 0.5 else rng.randrange(len(steps))
    region = Space.RM if rng.random() < 0.15 else Space.SM
    for n, step in enumerate(steps):
        entries = list(step.inputs)
        value = _entry(rng, view, buffer, region) if n == at else Caret()
        entries[inputs.index(buffer)] = Mem(value)
        if n == at and "A" in inputs and rng.random() < 0.3 and not entries[inputs.index("A")].attrs:
            entries[inputs.index("A")] = Mem(_entry(rng, view, "A", Space.SM))
        attrs = tuple(a for a in step.attrs if a.name != "stages") if n == at else step.attrs
        steps[n] = replace(step, inputs=tuple(entries), attrs=attrs)
    label = steps[at].label
    return replace(section, steps=tuple(steps)), at + 1 if label is None else label


def _staged(entry: Mem, buffer: str) -> bool:
    """Whether an entry stages an array that a stage makes."""
    return isinstance(entry.value, BufferPlace) and buffer.startswith("T")


def _entry(rng: Random, view: Program, buffer: str, region: Space) -> BufferPlace:
    order = list(range(1, len(view.buffer_of[buffer].shape) + 1))
    if rng.random() < 0.3:
        rng.shuffle(order)
    return BufferPlace(buffer, region, tuple(order))
