"""Random programs whose dimensions are often neighbours in all arrays, and groups of them to fuse.

The dimensions fall into groups. An array has the dimensions of some groups, each group side by side. Then
some things are changed: an index is moved, a row is longer than its loop, dimensions are exchanged, left out
or used as values. So many of the groups that are asked for may be fused, and many may not.
"""

from dataclasses import dataclass, field
from math import prod
from random import Random

from mdh.decompose.accesses import accesses_of
from mdh.ir.program import DimKind, Program, Stage

TYPES = ("float", "float", "double", "int")
OPS = ("+", "+", "+", "max")
CHANGES = (
    "longer",
    "moved",
    "first longer",
    "first moved",
    "exchanged",
    "without",
    "apart",
    "strided",
    "window",
)


@dataclass
class RandomFusion:
    """The C and, by the names of stages, groups to fuse there. used: dimensions whose values are used."""

    rng: Random
    extents: dict[str, int] = field(default_factory=dict)
    groups: list[list[str]] = field(default_factory=list)
    reduced: list[list[str]] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    arrays: dict[str, list[int]] = field(default_factory=dict)
    calm: bool = False
    text: str = ""

    def chance(self, p: float) -> bool:
        return self.rng.random() < p


def random_fusion(seed: int) -> RandomFusion:
    d = RandomFusion(Random(f"fusion {seed}"))
    d.calm = d.chance(0.5)
    names = iter("abcdefghi")
    sizes = [d.rng.choice((1, 2, 2, 3)) for _ in range(d.rng.choice((1, 2, 2, 3)))]
    for count in sizes:
        group = [next(names) for _ in range(count)]
        d.extents.update((n, d.rng.choice((1, 2, 3, 4, 5, 7, 8))) for n in group)
        while prod(d.extents.values()) > 4000:
            largest = max(d.extents, key=lambda n: d.extents[n])
            d.extents[largest] = -(-d.extents[largest] // 2)
        (d.reduced if d.groups and d.chance(0.45) else d.groups).append(group)
    kind = d.rng.choice(TYPES)
    loops = [n for g in (*d.groups, *d.reduced) for n in g]
    if d.reduced and d.chance(0.3):
        d.rng.shuffle(loops)
    elif d.chance(0.2):
        at = d.rng.randrange(len(loops))
        loops.insert(d.rng.randrange(len(loops)), loops.pop(at))
    inputs = "ABC"[: d.rng.choice((1, 2, 2, 3))]
    factors = [_read(d, x, [*d.groups, *d.reduced], must=d.reduced if x == "A" else []) for x in inputs]
    out = _access(d, "O", d.rng.sample(d.groups, len(d.groups)))
    if not d.calm and d.chance(0.1):
        name = d.rng.choice(loops)
        d.used.add(name)
        factors.append(f"({kind}){name}")
    update = _update(d, out, " * ".join(factors))
    second = [
        f"    {'  ' * n}for (int {x}{x} = 0; {x}{x} < {d.extents[x]}; {x}{x}++)"
        for n, x in enumerate(_flat(d))
    ]
    later = ""
    if d.chance(0.4):
        copy = _access(d, "P", d.groups)
        stage = f"{copy} = {out} + {factors[0] if not _reduces(d, factors[0]) else '1'};"
        later = "\n".join([*second, "      " + _doubled(d, stage)])
    nest = "\n".join(f"    for (int {x} = 0; {x} < {d.extents[x]}; {x}++)" for x in loops)
    shapes = {x: "".join(f"[{n}]" for n in shape) for x, shape in d.arrays.items()}
    # what the first nest computes may stay inside of the function
    inner = later and not d.reduced and d.chance(0.5)
    local = f"    {kind} O{shapes.pop('O')};\n" if inner else ""
    params = ", ".join(f"{'' if x in 'OP' else 'const '}{kind} {x}{s}" for x, s in sorted(shapes.items()))
    d.text = f"void fusion({params}) {{\n{local}{nest}\n      {update}\n{later}\n}}\n"
    return d


def _flat(d: RandomFusion) -> list[str]:
    return [n for g in d.groups for n in g]


def _reduces(d: RandomFusion, factor: str) -> bool:
    return any(c in factor for g in d.reduced for c in g)


def _doubled(d: RandomFusion, text: str) -> str:
    """The statement with the loop variables of the second nest."""
    return "".join(c * 2 if c in d.extents else c for c in text)


def _update(d: RandomFusion, out: str, value: str) -> str:
    if not d.reduced:
        return f"{out} = {value};"
    if d.rng.choice(OPS) == "+":
        return f"{out} += {value};"
    return f"{out} = {value} > {out} ? {value} : {out};"


def _read(d: RandomFusion, name: str, groups: list[list[str]], must: list[list[str]]) -> str:
    chosen = [g for g in groups if g in must or d.chance(0.7)] or [groups[0]]
    return _access(d, name, d.rng.sample(chosen, len(chosen)))


def _access(d: RandomFusion, name: str, groups: list[list[str]]) -> str:
    """An access of a new array with the dimensions of these groups, changed where `d` is not calm."""
    out = name in "OP"
    order = [n for g in groups for n in g]
    index, shape = list(order), [d.extents[n] for n in order]
    for _ in range(0 if d.calm else d.rng.choice((0, 1, 1, 2))):
        at, change = d.rng.randrange(len(index)), d.rng.choice(CHANGES)
        first = order.index(d.rng.choice(groups)[0])
        match change:
            case "longer" | "first longer":
                shape[at if change == "longer" else first] += d.rng.choice((1, 2))
            case "moved" | "first moved":
                place = at if change == "moved" else first
                index[place], shape[place] = f"{index[place]} + 1", shape[place] + 1
            case "exchanged" if at:
                index[at - 1 : at + 1] = index[at - 1 : at + 1][::-1]
                shape[at - 1 : at + 1] = shape[at - 1 : at + 1][::-1]
            case "without" if not out and len(index) > 1:
                del index[at], shape[at]
                order = order[:at] + order[at + 1 :]
                return name + _kept(d, name, index, shape)
            case "apart":
                index.append(index.pop(at))
                shape.append(shape.pop(at))
            case "strided":
                index[at], shape[at] = f"2 * ({index[at]})", 2 * shape[at]
            case "window" if not out and d.reduced:
                other = d.rng.choice(d.reduced)[0]
                if other not in index[first]:
                    index[first] = f"{index[first]} + {other}"
                    shape[first] += d.extents[other] - 1
            case _:
                pass
    return name + _kept(d, name, index, shape)


def _kept(d: RandomFusion, name: str, index: list[str], shape: list[int]) -> str:
    d.arrays[name] = shape
    return "".join(f"[{i}]" for i in index)


def asked(d: RandomFusion, stage: Stage, rng: Random) -> list[tuple[str, ...]]:
    """Groups to ask for: those of the program or parts of them, or any dimensions."""
    known = [x.name for x in stage.dims]
    whole = [[n for n in known if n[0] in g] for g in (*d.groups, *d.reduced)]
    whole = [sorted(g, key=lambda n: n[0]) for g in whole if len(g) > 1]
    if len(known) > 1 and rng.random() < 0.25:
        return [tuple(rng.sample(known, rng.randint(2, min(3, len(known)))))]
    chosen = [g for g in whole if rng.random() < 0.8]
    return [tuple(g[:2] if rng.random() < 0.15 else g) for g in chosen]


def mistaken(d: RandomFusion, program: Program, stage: Stage, group: tuple[str, ...]) -> bool:
    """Whether a group is surely no single dimension: its elements do not lie one behind the other, it mixes
    kinds or changes the order of a sum, or a value is used. Told from addresses, not as mdh does."""
    place = {x.name: n for n, x in enumerate(stage.dims)}
    dims = [stage.dims[place[n]] for n in group]
    if len({x.kind for x in dims}) > 1:
        return True
    if dims[0].kind is DimKind.PW and [place[n] for n in group] != sorted(place[n] for n in group):
        return True
    long = [x for x in dims if x.extent > 1]
    if len(long) > 1 and any(x.name[0] in d.used for x in long):
        return True
    for access in accesses_of(program, stage):
        shape = program.buffer_of[access.buffer].shape
        paces = []
        for x in long:
            terms = enumerate(f for f in access.index if f is not None)
            paces.append(sum(f.coefficient(str(place[x.name])) * prod(shape[k + 1 :]) for k, f in terms))
        inner = [prod(x.extent for x in long[n + 1 :]) for n in range(len(long))]
        if paces and any(paces) and paces != [paces[-1] * n for n in inner]:
            return True
    return False
