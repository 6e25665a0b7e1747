"""Random programs whose stages work on the same rows: sums, maxima and positions of rows, maps of them, and a
last stage that reads what the others make.

Rows have one or two dimensions, and one to three tell them apart. They are last in memory, first or between.
"""

from dataclasses import dataclass, field
from math import prod
from random import Random

LENGTHS = (1, 2, 3, 5, 8, 17, 24, 32, 33, 64, 100, 130)
LONG = (333, 516, 640, 1000)
FLOATS = ("float", "float", "float", "double", "_Float16")
INTEGERS = ("int", "int", "int64_t", "uint8_t", "int16_t")


@dataclass
class RandomRows:
    """kept, along: names and extents of the loops. order: the dimensions of A as they lie in memory. made:
    results of rows so far. whole: arrays like A that can be read."""

    rng: Random
    floats: bool = True
    kept: dict[str, int] = field(default_factory=dict)
    along: dict[str, int] = field(default_factory=dict)
    order: list[str] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    indices: dict[str, list[str]] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)
    whole: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    params: list[str] = field(default_factory=list)
    nests: list[str] = field(default_factory=list)
    text: str = ""

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    @property
    def extents(self) -> dict[str, int]:
        return {**self.kept, **self.along}


def random_rows(seed: int, *, most: int = 3000) -> RandomRows:
    """most: elements of the largest array."""
    d = RandomRows(Random(f"rows {seed}"))
    d.floats = d.chance(0.8)
    _extents(d, most)
    for name in ["A", *(["R"] if d.chance(0.3) else [])]:
        _declare(d, name, d.order, "const ")
        d.whole.append(name)
    if d.chance(0.3):
        _declare(d, "G", list(d.along), "const ")
    if d.chance(0.25):
        _mapped(d, "E0")
    for n in range(d.rng.choice((1, 1, 2, 2, 3))):
        _reduced(d, f"T{n}")
        if d.chance(0.15):
            _finished(d, f"S{n}")
        if d.chance(0.2):
            _mapped(d, f"E{n + 1}")
    _last(d)
    if d.chance(0.1):
        _other(d)
    own = "".join(f"  {_declared(d, n)};\n" for n in d.own)
    head = "#include <math.h>\n#include <stdint.h>\n"
    d.text = f"{head}void rows({', '.join(d.params)}) {{\n{own}{''.join(d.nests)}}}\n"
    return d


def _extents(d: RandomRows, most: int) -> None:
    for name in "bij"[-d.rng.choice((1, 1, 1, 2, 3)) :]:
        d.kept[name] = d.rng.choice((1, 2, 3, 4, 7, 9, 13, 40))
    two = d.chance(0.2)
    while True:
        for name in "kl" if two else "k":
            d.along[name] = d.rng.choice(LENGTHS[:8] if two else (*LENGTHS, *LENGTHS, *LONG))
        if prod(d.extents.values()) <= most:
            break
        name = max(d.kept, key=lambda n: d.kept[n])
        d.kept[name] = max(1, d.kept[name] // 2)
    d.order = [*d.kept, *d.along]
    if d.chance(0.25):
        d.order = [*d.along, *d.kept]
    elif d.chance(0.15):
        d.rng.shuffle(d.order)


def _declare(d: RandomRows, name: str, index: list[str], kind: str | None = None) -> None:
    """kind: of a parameter; None for an array of the function's own."""
    d.types[name] = d.rng.choice(FLOATS if d.floats else INTEGERS)
    d.indices[name] = index
    if kind is None:
        d.own.append(name)
    else:
        d.params.append(f"{kind}{_declared(d, name)}")


def _declared(d: RandomRows, name: str) -> str:
    return f"{d.types[name]} {name}{''.join(f'[{d.extents[n]}]' for n in d.indices[name])}"


def _at(d: RandomRows, name: str) -> str:
    return name + "".join(f"[{n}]" for n in d.indices[name])


def _loops(names: dict[str, int], indent: int = 2) -> str:
    lines = (
        f"{' ' * (indent + 2 * k)}for (int {n} = 0; {n} < {e}; {n}++)\n"
        for k, (n, e) in enumerate(names.items())
    )
    return "".join(lines)


def _value(d: RandomRows) -> str:
    """A value at a point of a row."""
    out = _at(d, d.rng.choice(d.whole[-2:]))
    for name in d.made:
        if d.chance(0.6):
            out += f" {d.rng.choice('+-')} {_at(d, name)}"
    if "G" in d.indices and d.chance(0.3):
        out = f"({out}) * {_at(d, 'G')}"
    if d.chance(0.25):
        out = f"({out}) * ({_at(d, d.rng.choice(d.whole))})"
    if d.floats and d.chance(0.25):
        return f"expf(-fabsf({out}))"
    if d.chance(0.1):
        n = d.rng.choice(list(d.along))
        out = f"({n} < {d.rng.randint(1, d.along[n])} ? {out} : {_at(d, 'A')})"
    return out


def _reduced(d: RandomRows, name: str) -> None:
    """A result of each row; sometimes the user gets it."""
    _declare(d, name, list(d.kept), "" if d.chance(0.12) else None)
    own, value = _at(d, name), _value(d)
    start, update = "0", f"{own} += {value};"
    if d.chance(0.35):
        update = f"{own} = {own} {d.rng.choice('<>')} {value} ? {own} : {value};"
        start = (
            "0" if "uint" in d.types[name] else d.rng.choice(("0", "-9", "-INFINITY" if d.floats else "-9"))
        )
    last = f"    {own} = {own} * 2 + 1;\n" if d.chance(0.2) else ""
    inside = f"{_loops(d.along, 6)}      {update}\n{last}"
    d.nests.append(f"{_loops(d.kept)}  {{\n    {own} = {start};\n{inside}  }}\n")
    d.made.append(name)


def _finished(d: RandomRows, name: str) -> None:
    """A map of the results of rows."""
    last = d.made[-1]
    _declare(d, name, list(d.kept))
    value = f"1 / ({_at(d, last)} * {_at(d, last)} + 3)" if d.floats else f"{_at(d, last)} % 5"
    d.nests.append(f"{_loops(d.kept)}    {_at(d, name)} = {value};\n")
    d.made[-1 if d.chance(0.5) else len(d.made) :] = [name]


def _mapped(d: RandomRows, name: str) -> None:
    """A map along rows that later stages read more than once. It may be all that reads the last result."""
    _declare(d, name, d.order)
    value = _value(d)
    if d.made and d.chance(0.5):
        value = f"{value} - {_at(d, d.made.pop())}"
    d.nests.append(f"{_loops({n: d.extents[n] for n in d.order})}    {_at(d, name)} = {value};\n")
    d.whole.append(name)


def _last(d: RandomRows) -> None:
    reads = "".join(f" {d.rng.choice('+-*')} {_at(d, x)}" for x in d.made)
    if d.chance(0.25):
        _declare(d, "O", list(d.kept), "")
        own = _at(d, "O")
        value = f"({_at(d, d.whole[-1])}{reads}) * {_at(d, d.whole[0])}"
        finish = f"    {own} = {own} + {_at(d, d.made[0])};\n" if d.made and d.chance(0.3) else ""
        inside = f"{_loops(d.along, 6)}      {own} += {value};\n{finish}"
        d.nests.append(f"{_loops(d.kept)}  {{\n    {own} = 0;\n{inside}  }}\n")
        return
    _declare(d, "O", d.order, "")
    value = f"{_at(d, d.whole[-1])}{reads}"
    if "G" in d.indices:
        value = f"({value}) * {_at(d, 'G')}"
    d.nests.append(f"{_loops({n: d.extents[n] for n in d.order})}    {_at(d, 'O')} = {value};\n")


def _other(d: RandomRows) -> None:
    """Another stage that reads a result of rows."""
    value = _at(d, d.rng.choice(d.made)) if d.made else "1"
    _declare(d, "P", list(d.kept), "")
    d.nests.append(f"{_loops(d.kept)}    {_at(d, 'P')} = {value} + 1;\n")
