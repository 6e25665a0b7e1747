"""Random programs of several stages, most of them maps whose results later stages read.

Arrays of the function's own are filled whole before anything reads them. Then they may be overwritten in
part, under conditions, in place, or in turns of a loop. Readers shift, reverse, stride, transpose and gather.
They are maps, reductions, prefix sums or histograms.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from mdh.ir.inlining import InliningError
from mdh.ir.program import Program
from mdh.poly.inlining import inlined

FLOATS = ("float", "float", "float", "double", "_Float16")
INTEGERS = ("int", "int", "int64_t", "unsigned", "int8_t", "uint8_t", "int16_t")
LEAST = 3
"""The least extent of an array: values of the index array are below it."""
Shape = tuple[int, ...]


@dataclass
class RandomStages:
    """The C, its inputs' limits by name (`below`), and the state of the generator. whole: arrays that have
    been filled, which may be read."""

    rng: Random
    floats: bool
    types: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    whole: list[str] = field(default_factory=list)
    temps: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    nests: list[str] = field(default_factory=list)
    turn: str = ""
    text: str = ""

    @property
    def below(self) -> Mapping[str, int]:
        return {"I": LEAST}

    def chance(self, p: float) -> bool:
        return self.rng.random() < p


def random_stages(seed: int) -> RandomStages:
    d = RandomStages(Random(f"stages {seed}"), False)
    d.floats = d.chance(0.65)
    for name in "AB":
        declare(d, name, _shape(d))
    d.types["I"], d.shapes["I"] = "int", (12,)
    d.inputs, d.whole = ("A", "B"), ["A", "B"]
    for n in range(d.rng.choice((1, 2, 2, 3, 3))):
        _map(d, _new(d, f"T{n}"), whole=True)
        if d.chance(0.35):
            _map(d, f"T{n}", whole=d.chance(0.3))
        if d.chance(0.3):
            reader(d, f"O{n}")
    if d.chance(0.25):
        _in_turns(d)
    reader(d, "O")
    finish(d)
    return d


def _shape(d: RandomStages, most: int = 9) -> Shape:
    return tuple(d.rng.randint(LEAST, most) for _ in range(d.rng.choice((1, 1, 2, 2))))


def declare(d: RandomStages, name: str, shape: Shape) -> str:
    d.types[name], d.shapes[name] = d.rng.choice(FLOATS if d.floats else INTEGERS), shape
    return name


def _new(d: RandomStages, name: str) -> str:
    """A new array, most often of the function's own."""
    declare(d, name, _shape(d))
    (d.temps if d.chance(0.8) else d.outputs).append(name)
    return name


def _map(d: RandomStages, target: str, *, whole: bool) -> None:
    """A nest that writes the target, all of it or a part."""
    shape = d.shapes[target]
    names = "ij"[: len(shape)]
    extents, index = dict[str, int](), []
    for k, name in enumerate(names):
        if whole:
            extents[name] = shape[k]
            index.append(name if d.chance(0.8) else f"{shape[k] - 1} - {name}")
        else:
            extents[name] = d.rng.randint(1, shape[k])
            index.append(_subscript(d, {name: extents[name]}, shape[k], must=name))
    access = target + "".join(f"[{i}]" for i in index)
    sources = [*d.whole, *([target] if target in d.whole else [])]
    value = _value(d, extents, sources, own=access if target in d.whole else "")
    guard = "" if whole else _guard(d, extents)
    _nest(d, extents, f"{guard}{access} = {_as(d, target, value)};")
    if target not in d.whole:
        d.whole.append(target)


def _guard(d: RandomStages, extents: Mapping[str, int]) -> str:
    if d.chance(0.5):
        return ""
    name = d.rng.choice(list(extents))
    if d.chance(0.6):
        return f"if ({name} {d.rng.choice(('<', '>=', '!=', '=='))} {d.rng.randrange(extents[name] + 1)}) "
    return f"if ({_read(d, extents, d.rng.choice(d.inputs))} > 1) "


def reader(d: RandomStages, name: str, most: int = 9) -> None:
    """A nest that writes an output of its own. most: the largest extent."""
    kind = d.rng.choice(("map", "map", "map", "reduce", "reduce", "scan", "count"))
    if kind == "map":
        declare(d, name, _shape(d, most))
        d.outputs.append(name)
        _map(d, name, whole=True)
        return
    declare(d, name, (d.rng.randint(LEAST, most),))
    d.outputs.append(name)
    {"count": _count, "scan": _scan, "reduce": _reduce}[kind](d, name, d.shapes[name][0])
    d.whole.append(name)


def _count(d: RandomStages, name: str, n: int) -> None:
    """A histogram."""
    extents = {"i": d.rng.randint(2, 12)}
    value = _as(d, name, _value(d, extents, d.whole))
    _nest(d, {"i": n}, f"{name}[i] = 0;")
    _nest(d, extents, f"{name}[I[i]] += {value};")


def _scan(d: RandomStages, name: str, n: int) -> None:
    value = _as(d, name, _value(d, {"i": n}, d.whole))
    loop = f"for (int i = 1; i < {n}; i++)"
    d.nests.append(f"  {name}[0] = 1;\n  {loop}\n    {name}[i] = {name}[i - 1] + {value};\n")


def _reduce(d: RandomStages, name: str, n: int) -> None:
    outer, extents = {"i": n}, {"i": n, "j": d.rng.randint(2, 9)}
    value, start = (_as(d, name, _value(d, e, d.whole)) for e in (extents, outer))
    own, last = f"{name}[i]", ""
    update = f"{own} += {value};"
    if d.chance(0.3):
        update = f"{own} = {own} > {value} ? {own} : {value};"
    if d.chance(0.3):
        last = f"    {own} = {own} * 2 + {_read(d, outer, d.rng.choice(d.whole))};\n"
    d.nests.append(
        f"  for (int i = 0; i < {n}; i++) {{\n    {own} = {start};\n"
        f"    for (int j = 0; j < {extents['j']}; j++)\n      {update}\n{last}  }}\n"
    )


def _in_turns(d: RandomStages) -> None:
    """Two or three maps in a loop around them."""
    before, d.nests, d.turn = d.nests, [], "t"
    names = [n for n in d.whole if n not in d.inputs]
    for _ in range(d.rng.choice((2, 2, 3))):
        if d.chance(0.5):
            _map(d, d.rng.choice(names), whole=d.chance(0.7))
        else:
            _map(d, _new(d, f"U{len(d.types)}"), whole=True)
    d.nests = [*before, in_loop(d, d.nests)]
    d.turn = ""


def in_loop(d: RandomStages, nests: list[str]) -> str:
    """A loop of a few turns around nests."""
    inside = "".join(nests).replace("\n  ", "\n    ").rstrip(" ")
    return f"  for (int t = 0; t < {d.rng.choice((1, 2, 3))}; t++) {{\n  {inside}  }}\n"


def _nest(d: RandomStages, extents: Mapping[str, int], statement: str) -> None:
    lines = [
        f"{'  ' * (k + 1)}for (int {name} = 0; {name} < {extent}; {name}++)\n"
        for k, (name, extent) in enumerate(extents.items())
    ]
    d.nests.append("".join(lines) + f"{'  ' * (len(lines) + 1)}{statement}\n")


def _as(d: RandomStages, name: str, value: str) -> str:
    return value if d.chance(0.7) else f"({d.types[name]})({value})"


def _value(d: RandomStages, extents: Mapping[str, int], sources: list[str], own: str = "") -> str:
    """An expression over one to three reads. own: the element that is written, which may be read too."""
    some = [
        d.rng.choice(sources if d.chance(0.3) else sources[-3:]) for _ in range(d.rng.choice((1, 2, 2, 3)))
    ]
    terms = [_read(d, extents, name) for name in some]
    if own and d.chance(0.4):
        terms.append(own)
    if d.chance(0.25):
        terms.append(d.rng.choice([*extents, *([d.turn] if d.turn else []), "3", "1"]))
    out = terms[0]
    for term in terms[1:]:
        match d.rng.randint(0, 6):
            case 0:
                out = f"({out}) * {term}"
            case 1:
                out = f"({out} > {term} ? {out} : {term})"
            case 2:
                name = d.rng.choice(list(extents))
                out = f"({name} < {d.rng.randrange(extents[name] + 1)} ? {out} : {term})"
            case 3:
                out = f"{out} - {term}"
            case _:
                out = f"{out} + {term}"
    return f"-({out})" if d.chance(0.1) else out


def _read(d: RandomStages, extents: Mapping[str, int], name: str) -> str:
    return name + "".join(f"[{_subscript(d, extents, n)}]" for n in d.shapes[name])


def _subscript(d: RandomStages, extents: Mapping[str, int], n: int, must: str = "") -> str:
    """A subscript inside 0 … n - 1."""
    fitting = [name for name, e in extents.items() if e <= n]
    if must or (fitting and d.chance(0.9)):
        name = must or d.rng.choice(fitting)
        extent = extents[name]
        if 2 * (extent - 1) < n and d.chance(0.2):
            return f"2 * {name} + {d.rng.randrange(n - 2 * (extent - 1))}"
        move = d.rng.randint(0, n - extent)
        return f"{n - 1 - move} - {name}" if d.chance(0.25) else f"{name} + {move}" if move else name
    name = d.rng.choice(list(extents))
    return f"I[{name}]" if extents[name] <= d.shapes["I"][0] and d.chance(0.6) else str(d.rng.randrange(n))


def finish(d: RandomStages) -> None:
    def declared(name: str) -> str:
        return f"{d.types[name]} {name}{''.join(f'[{n}]' for n in d.shapes[name])}"

    params = [f"const {declared(n)}" for n in (*d.inputs, "I")] + [declared(n) for n in d.outputs]
    own = "".join(f"  {declared(n)};\n" for n in d.temps)
    body = "".join(d.nests)
    d.text = f"#include <stdint.h>\nvoid stages({', '.join(params)}) {{\n{own}{body}}}\n"


def some_inline(program: Program, rng: Random, share: float = 0.6) -> tuple[str, ...]:
    """Stages that may be inline together, some of those that may."""
    names: list[str] = []
    for stage in reversed(program.stages):
        if rng.random() < share:
            try:
                inlined(program, {*names, stage.name})
            except InliningError:
                continue
            names.append(stage.name)
    return tuple(names)
