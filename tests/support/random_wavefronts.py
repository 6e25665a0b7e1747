"""Random programs whose iterations depend on their neighbours, and schedules that run them as wavefronts.

Sweeps in place and from one array to another, in a loop of time steps: with neighbours in rows before and
behind, with borders, conditions, sums of rows, loops downwards. Some have no wavefronts.
"""

from dataclasses import dataclass
from random import Random

from mdh.ir.wavefronts import Wavefronts
from mdh.machine import Machine

KINDS = ("float", "double", "double", "int", "int64_t")


@dataclass
class RandomSweeps:
    rng: Random
    kind: str
    rows: int
    columns: int
    turns: int
    flat: bool
    text: str = ""

    def chance(self, p: float) -> bool:
        return self.rng.random() < p


def random_sweeps(seed: int) -> RandomSweeps:
    """The program of this seed."""
    rng = Random(f"wavefronts {seed}")
    d = RandomSweeps(
        rng,
        rng.choice(KINDS),
        rng.choice((4, 5, 7, 9, 12)),
        rng.choice((3, 4, 6, 9)),
        rng.choice((2, 3, 5, 8, 11)),
        rng.random() < 0.15,
    )
    down = d.chance(0.25)
    nests = [_nest(d, down) for _ in range(rng.choice((1, 1, 1, 2, 2, 3)))]
    inside = "\n".join(f"    {line}" for nest in nests for line in nest)
    m = "" if d.flat else f"[{d.columns}]"
    params = ", ".join(f"{d.kind} {a}[{d.rows}]{m}" for a in "ABC")
    d.text = (
        f"#include <stdint.h>\nvoid sweeps({params}, {d.kind} S[{d.rows}]) {{\n"
        f"  for (int t = 0; t < {d.turns}; t++) {{\n{inside}\n  }}\n}}\n"
    )
    return d


def _nest(d: RandomSweeps, down: bool) -> list[str]:
    low, high = d.rng.choice((1, 1, 2)), d.rng.choice((1, 1, 2))
    rows = _loop("i", low, d.rows - high, down)
    if d.flat:
        return [f"{rows} {_line(d)}"]
    if d.chance(0.1):
        return [f"{rows} for (int j = 0; j < {d.columns}; j++) S[i] += A[i][j];"]
    columns = _loop("j", 1, d.columns - 1, d.chance(0.2))
    lines = [_line(d) for _ in range(d.rng.choice((1, 1, 1, 2)))]
    if d.chance(0.15):
        cond = d.rng.choice(("i + j < 9", "j != i", "t > 0", "(i + t) % 2 == 0", "j <= t", "i > t"))
        lines = [f"if ({cond}) {lines[0]}", *lines[1:]]
    return [f"{rows} {columns} {{ {' '.join(lines)} }}"]


def _loop(name: str, low: int, end: int, down: bool) -> str:
    if down:
        return f"for (int {name} = {end - 1}; {name} >= {low}; {name}--)"
    return f"for (int {name} = {low}; {name} < {end}; {name}++)"


def _line(d: RandomSweeps) -> str:
    target = d.rng.choice("AAB")
    terms = [
        _element(d, d.rng.choice((target, target, "A", "B", "C"))) for _ in range(d.rng.choice((2, 3, 4)))
    ]
    if d.chance(0.1):
        terms.append("S[i]")
    total = " + ".join(terms)
    if d.kind in ("float", "double"):
        value = f"({total}) / {len(terms) + d.rng.choice((0, 1))}"
    else:
        value = f"({total}) & 1023"
    return f"{_at(d, target, 'i', 'j')} = {value};"


def _element(d: RandomSweeps, name: str) -> str:
    return _at(d, name, _moved(d, "i"), _moved(d, "j"))


def _moved(d: RandomSweeps, counter: str) -> str:
    return d.rng.choice((counter, counter, f"{counter} - 1", f"{counter} + 1"))


def _at(d: RandomSweeps, name: str, i: str, j: str) -> str:
    return f"{name}[{i}]" if d.flat else f"{name}[{i}][{j}]"


def front_schedule(fronts: tuple[Wavefronts, ...], machine: Machine, seed: int) -> str | None:
    """A random schedule of wavefronts; None if the program has none."""
    rng = Random(f"fronts {seed}")
    sections = [_section(rng, w, machine) for w in fronts]
    return "\n".join(sections) if sections else None


def _section(rng: Random, w: Wavefronts, machine: Machine) -> str:
    steps, size = [], w.trips
    if rng.random() < 0.5:
        size = rng.randint(1, size)
        steps.append(f"(de-)comp( {size}, ^ ) ( FOR.1, ^ )")
    factor = w.factor + rng.choice((0, 0, 0, 1, 2))
    skew = f"FOR.1@skew({w.counters[0]}{'' if factor == 1 else f', {factor}'})"
    threads = machine.kind != "cpu" and rng.random() < 0.6
    tile = rng.randint(1, size)
    steps.append(f"(de-)comp( {tile}, 1 ) ( BLK.{rng.choice('xxy')}, {skew} )")
    if threads:
        steps.append(f"(de-)comp( {rng.randint(1, tile)}, ^ ) ( THR.x, ^ )")
    told = rng.random() < 0.5
    body = "\n".join(f"    {f'{n}: ' if told else ''}{s}" for n, s in enumerate(steps, start=1))
    return f"loop {w.name}( {', '.join(w.counters)} ) {{\n{body}\n}}"
