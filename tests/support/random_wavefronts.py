"""Random programs whose iterations depend on their neighbours, and schedules that run them as wavefronts.

Sweeps in place and from one array to another, in a loop of time steps: with neighbours in rows before and
behind, with borders, conditions, sums of rows, loops downwards. Some have no wavefronts.
"""

from dataclasses import dataclass
from random import Random

from mdh.ir.program import Program
from mdh.ir.wavefronts import Wavefronts
from mdh.machine import Machine
from mdh.poly.wavefronts import strips_of, wavefronts

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
    there_and_back = d.chance(0.35)
    count = 2 if there_and_back else rng.choice((1, 1, 1, 2, 2, 3))
    nests = [_nest(d, down, "AB"[n % 2] if there_and_back else "") for n in range(count)]
    inside = "\n".join(f"    {line}" for nest in nests for line in nest)
    m = "" if d.flat else f"[{d.columns}]"
    params = ", ".join(f"{d.kind} {a}[{d.rows}]{m}" for a in "ABC")
    d.text = (
        f"#include <stdint.h>\nvoid sweeps({params}, {d.kind} S[{d.rows}]) {{\n"
        f"  for (int t = 0; t < {d.turns}; t++) {{\n{inside}\n  }}\n}}\n"
    )
    return d


def _nest(d: RandomSweeps, down: bool, target: str) -> list[str]:
    """target: the array that is written from the other one; none: any."""
    low, high = d.rng.choice((1, 1, 2)), d.rng.choice((1, 1, 2))
    rows = _loop("i", low, d.rows - high, down)
    if d.flat:
        return [f"{rows} {_line(d, target)}"]
    if not target and d.chance(0.5):
        # each point awaits the one before it, and sweeps await one another
        near = ["A[i - 1][j]", "A[i][j - 1]", "A[i + 1][j]"]
        near += [_element(d, d.rng.choice("AAC")) for _ in range(d.rng.choice((0, 1, 2)))]
        d.rng.shuffle(near)
        total = " + ".join(near)
        value = f"({total}) / {len(near)}" if d.kind in ("float", "double") else f"({total}) & 1023"
        return [f"{rows} {_loop('j', 1, d.columns - 1, d.chance(0.2))} A[i][j] = {value};"]
    if not target and d.chance(0.1):
        return [f"{rows} for (int j = 0; j < {d.columns}; j++) S[i] += A[i][j];"]
    columns = _loop("j", 1, d.columns - 1, not target and d.chance(0.2))
    lines = [_line(d, target) for _ in range(d.rng.choice((1, 1, 1, 2)) if not target else 1)]
    if d.chance(0.15):
        cond = d.rng.choice(("i + j < 9", "j != i", "t > 0", "(i + t) % 2 == 0", "j <= t", "i > t"))
        lines = [f"if ({cond}) {lines[0]}", *lines[1:]]
    return [f"{rows} {columns} {{ {' '.join(lines)} }}"]


def _loop(name: str, low: int, end: int, down: bool) -> str:
    if down:
        return f"for (int {name} = {end - 1}; {name} >= {low}; {name}--)"
    return f"for (int {name} = {low}; {name} < {end}; {name}++)"


def _line(d: RandomSweeps, target: str) -> str:
    known = [{"A": "B", "B": "A"}[target], "C"] if target else []
    target = target or d.rng.choice("AAB")
    known = known or [target, target, "A", "B", "C"]
    terms = [_element(d, d.rng.choice(known)) for _ in range(d.rng.choice((2, 3, 4)))]
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


def front_schedule(program: Program, machine: Machine, seed: int) -> str | None:
    """A random schedule of wavefronts; None if the program has none."""
    rng = Random(f"fronts {seed}")
    sections = [_section(rng, program, w, machine) for w in wavefronts(program)]
    return "\n".join(sections) if sections else None


def _section(rng: Random, program: Program, w: Wavefronts, machine: Machine) -> str:
    counters = [d.name for d in program.stages[w.first].dims if d.name not in w.counters]
    along = [s for c in counters if (s := strips_of(program, w, c)) is not None]
    strips = rng.choice(along) if along and rng.random() < 0.7 else None
    steps: list[tuple[str, str]] = []
    size = w.trips
    if rng.random() < 0.5:
        size = rng.randint(1, size)
        steps.append((f"{size}, ^", "FOR.1, ^"))
    if strips is not None:
        lag = strips.factor + rng.choice((0, 0, 1))
        tile = rng.randint(1, strips.rows[0].trips)
        steps.append((f"^, ^, {tile}", f"^, ^, FOR.1{f'@skew({w.counters[0]}, {lag})' if lag else ''}"))
    factor = w.factor + rng.choice((0, 0, 0, 1, 2))
    skew = f"FOR.1@skew({w.counters[0]}{'' if factor == 1 else f', {factor}'})"
    threads = machine.kind != "cpu" and rng.random() < 0.6
    tile = rng.randint(1, size)
    steps.append((f"{tile}, 1", f"BLK.{rng.choice('xxy')}, {skew}"))
    if threads:
        steps.append((f"{rng.randint(1, tile)}, ^", "THR.x, ^"))
    told = rng.random() < 0.5
    lines = []
    for n, (tiles, cores) in enumerate(steps, start=1):
        rest = ", ^" if strips is not None and tiles.count(",") == 1 else ""
        lines.append(f"    {f'{n}: ' if told else ''}(de-)comp( {tiles}{rest} ) ( {cores}{rest} )")
    names = [*w.counters, *([strips.counters[1]] if strips is not None else [])]
    return f"loop {w.name}( {', '.join(names)} ) {{\n" + "\n".join(lines) + "\n}"
