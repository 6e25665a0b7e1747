"""Random schedules for a program and a kind of machine: mostly legal, some of them not.

A schedule is text, so that a test exercises the parser too. What is drawn: steps, tiles that need not divide,
core layers and axes, staged inputs and held outputs with layouts and pads, cyclic distribution, pipelines,
unrolling, orders of loops, blocks and labels, how split reductions combine, and stages that are inline.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from mdh.hardware import Layer, Space
from mdh.ir.fusion import Group, fused, fusible
from mdh.ir.program import DimKind, Program, Stage
from mdh.machine import Machine
from mdh.poly.inlining import inlined
from tests.support.random_stages import some_inline

AXES = "xyz"


@dataclass
class Draft:
    """The steps of one stage as they are drawn; `tiles` are those of the last step."""

    rng: Random
    program: Program
    stage: Stage
    cpu: bool
    tiles: list[int] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    blocked: bool = False
    threaded: bool = False
    staged: set[tuple[str, str]] = field(default_factory=set)
    held: set[str] = field(default_factory=set)
    inner: bool = False
    threads: int = 0

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.program.inputs(self.stage)

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.program.outputs(self.stage)

    def reduces(self, dim: int) -> bool:
        return self.stage.dims[dim].kind is not DimKind.CC


def random_schedule(program: Program, machine: Machine, seed: int) -> str:
    """The schedule of this seed: one section a stage, named where the program has several."""
    rng = Random(f"schedule {seed}")
    out = _headers(program, machine, Random(f"headers {seed}"))
    several = len(program.stages) > 1
    program, names, lines = _inline(program, Random(f"inline {seed}")) if several else (program, (), [])
    out += lines
    for stage in program.stages:
        if several and (rng.random() < 0.15 or f"stage {stage.name} inline" in lines):
            continue
        groups = _groups(program, stage, Random(f"fuse {seed} {stage.name}"))
        view = fused(program, stage, groups) if groups else program
        seen = view.stages[0] if groups else stage
        body = [*(f"fuse {', '.join(g)}" for g in groups), *steps_of(rng, view, seen, machine)]
        named = several or rng.random() < 0.1
        how = " inline" if stage.name in names else ""
        out += [f"stage {stage.name}{how} {{", *("  " + s for s in body), "}"] if named else body
    return "\n".join(out) + "\n"


def _inline(program: Program, rng: Random) -> tuple[Program, tuple[str, ...], list[str]]:
    """The program with some stages in their readers, their names, and the lines of those without steps."""
    names = some_inline(program, rng, 0.4)
    computed = inlined(program, names).program if names else program
    kernels = {s.name for s in computed.stages}
    lines = [f"stage {n} inline" for n in names if n not in kernels or rng.random() < 0.5]
    return computed, names, lines


def steps_of(
    rng: Random, program: Program, stage: Stage, machine: Machine, *, inner: bool = False, threads: int = 0
) -> list[str]:
    """Random steps of one stage, with labels or without. inner: it is a part of another one's kernel.
    threads: so many split it, if that can be."""
    d = Draft(rng, program, stage, machine.kind == "cpu", inner=inner, threads=threads)
    return _labelled(rng, _steps(d))


def _groups(program: Program, stage: Stage, rng: Random) -> tuple[Group, ...]:
    """Some of the dimensions that can be one."""
    return tuple(g for g in fusible(program, stage) if rng.random() < 0.5)


def _headers(program: Program, machine: Machine, rng: Random) -> list[str]:
    """Header lines `for` and `small` for this program or another one; drawn apart from the steps."""
    sizes = {**program.sizes, **dict(program.constants)}
    own = " ".join(f"{name}={rng.randint(1, 99)}" for name in sizes)
    on = f" on {machine.name}" if rng.random() < 0.5 else ""
    lines = [f"for {rng.choice((program.name + ' ', ''))}{own}{on}"] if own and rng.random() < 0.5 else []
    return [*lines, f"small another_program N=4{on}"] if rng.random() < 0.2 else lines


def _steps(d: Draft) -> list[str]:
    rng = d.rng
    d.tiles = [x.extent for x in d.stage.dims]
    if d.chance(0.05):
        _sequential(d)
    if d.inner:
        d.blocked = True
    elif d.chance(0.93):
        _core(d, Layer.BLK, most=8 if not d.cpu else 12)
        d.blocked = True
    for _ in range(rng.choice((0, 1, 1, 2))):
        _sequential(d)
    if not d.cpu:
        _threads(d)
        for _ in range(rng.choice((0, 1, 1, 2))):
            _sequential(d)
    if d.chance(0.6 if d.cpu else 0.15):
        _vector(d)
    if d.chance(0.1):
        _sequential(d)
    if not d.steps:
        _sequential(d)
    return d.steps


def _threads(d: Draft) -> None:
    """Threads of a block, 64 at most; or warps, and exactly 32 lanes below them."""
    if d.inner:
        d.threaded = True
        if (below := _exactly(d)) is not None:
            _emit(d, below, _axes(d, Layer.THR, below))
        return
    if d.chance(0.3):
        lanes = _lanes(d)
        if lanes is not None:
            warps, below = lanes
            d.threaded = True
            _emit(d, warps, _axes(d, Layer.WRP, warps))
            _emit(d, below, _axes(d, Layer.THR, below))
            return
    d.threaded = True
    _core(d, Layer.THR, most=64)


def _exactly(d: Draft) -> list[int] | None:
    """Tiles whose parts have the product `threads`."""
    for _ in range(60):
        below, left = list(d.tiles), d.threads
        for n in d.rng.sample(range(len(below)), len(below)):
            parts = d.rng.choice([p for p in range(1, left + 1) if left % p == 0 and p <= below[n]])
            tile = -(-below[n] // parts)
            if -(-below[n] // tile) == parts:
                below[n], left = tile, left // parts
        if left == 1 and sum(a != b for a, b in zip(below, d.tiles, strict=True)) <= 3:
            return below
    return None


def _lanes(d: Draft) -> tuple[list[int], list[int]] | None:
    """Tiles of a warp step and of the lanes' step whose parts have the product 32 exactly."""
    rng = d.rng
    for _ in range(20):
        warp = [rng.choice((t, t, -(-t // 2))) for t in d.tiles]
        splits = [1] * len(warp)
        for _ in range(5):
            splits[rng.randrange(len(splits))] *= 2
        if sum(p > 1 for p in splits) > 3 or sum(a != b for a, b in zip(warp, d.tiles, strict=True)) > 3:
            continue
        lane = [-(-t // p) for t, p in zip(warp, splits, strict=True)]
        if all(-(-t // x) == p for t, x, p in zip(warp, lane, splits, strict=True)):
            return warp, lane
    return None


def _core(d: Draft, layer: str, most: int) -> None:
    """A step that hands parts of up to three dimensions to units of `layer`, `most` units at most."""
    rng = d.rng
    dims = [n for n in range(len(d.tiles)) if d.tiles[n] > 1 and (not d.reduces(n) or d.chance(0.45))]
    rng.shuffle(dims)
    below, left = list(d.tiles), most
    for n in dims[: rng.randint(1, 3)]:
        below[n] = _tile(rng, d.tiles[n], left)
        left //= -(-d.tiles[n] // below[n])
    _emit(d, below, _axes(d, layer, below))


def _axes(d: Draft, layer: str, below: Sequence[int]) -> list[str]:
    """Core entries: distinct axes for the dimensions that `below` splits, `^` elsewhere."""
    rng, axes = d.rng, list(AXES)
    if d.chance(0.4):
        rng.shuffle(axes)
    out = []
    for n, tile in enumerate(below):
        split = tile < d.tiles[n]
        if not split and (not axes or d.chance(0.85)):
            out.append("^")
            continue
        if not axes:
            out.append("^")
            continue
        entry = f"{layer}.{axes.pop(0)}"
        if layer in (Layer.THR, Layer.WRP) and split and d.chance(0.25):
            divisors = [x for x in (1, 2, 4, 8) if tile % x == 0 and x < tile]
            if divisors:
                entry += f"@cyclic({rng.choice(divisors)})"
        out.append(entry)
    return out


def _sequential(d: Draft) -> None:
    rng = d.rng
    below = [t if d.chance(0.45) else _tile(rng, t) for t in d.tiles]
    split = [n for n in range(len(below)) if below[n] < d.tiles[n]]
    cores = ["^"] * len(below)
    if d.chance(0.6):
        order = list(split)
        rng.shuffle(order)
        for number, n in enumerate(order, 1):
            cores[n] = f"FOR.{number}"
    attrs = ""
    if split and d.chance(0.2):
        attrs += rng.choice((" @unroll", " @unroll(2)", " @unroll(4)"))
    _emit(d, below, cores, attrs, sequential=bool(split))


def _vector(d: Draft) -> None:
    """One dimension in vector lanes: its tile is first cut to the lanes where it is not yet."""
    rng = d.rng
    lanes = rng.choice((4, 8, 8, 16)) if d.cpu else rng.choice((2, 4))
    dims = [n for n, t in enumerate(d.tiles) if t >= lanes and (not d.reduces(n) or d.chance(0.4))]
    if not dims:
        return
    n = rng.choice(dims)
    if d.tiles[n] != lanes:
        below = list(d.tiles)
        below[n] = lanes
        _emit(d, below, ["^"] * len(below), sequential=True)
    below = [1 if m == n else t for m, t in enumerate(d.tiles)]
    _emit(d, below, ["VEC.x" if m == n else "^" for m in range(len(below))])


def _emit(d: Draft, below: list[int], cores: list[str], attrs: str = "", *, sequential: bool = False) -> None:
    rng = d.rng
    before = len(d.staged)
    inputs = [_input(d, b) for b in d.inputs]
    staged = len(d.staged) > before
    outputs = [_output(d, b, cores, below) for b in d.outputs]
    tiles = ["^" if t == p and d.chance(0.8) else str(t) for t, p in zip(below, d.tiles, strict=True)]
    if staged and sequential and d.chance(0.4):
        attrs += f" @stages({rng.choice((2, 2, 3))})"
    if any(c.startswith(Layer.BLK) for c in cores):
        if {"BLK.x", "BLK.y"} <= set(cores) and d.chance(0.3):
            attrs += rng.choice((" @order(grouped(2))", " @order(grouped(4))", " @order(hilbert)"))
        if d.chance(0.1):
            attrs += rng.choice((" @persistent@occupancy(2)", " @persistent"))
    word = rng.choice(("(de-)comp", "(de-)comp", "(de/re)-comp"))
    first = ", ".join(inputs)
    d.steps.append(
        f"{word}( {', '.join(tiles)} ) ( {first} ; {', '.join(outputs)} ) ( {', '.join(cores)} ){attrs}"
    )
    d.tiles = below


def _input(d: Draft, buffer: str) -> str:
    if not d.blocked and d.chance(0.97):
        return "^"
    region = Space.RM if (d.threaded or d.cpu) and d.chance(0.4) else Space.SM
    if (buffer, region) in d.staged or not d.chance(0.22):
        return "^"
    d.staged.add((buffer, region))
    entry = f"{buffer}:{region}[{_layout(d, buffer)}]"
    if region == Space.SM:
        if len(d.program.buffer_of[buffer].shape) > 1 and d.chance(0.25):
            entry += f"@pad({d.rng.choice((1, 2, 4))})"
        if not d.cpu and d.chance(0.15):
            entry += d.rng.choice(("@copy(plain)", "@copy(async else plain)", "@copy(plain, vec=2)"))
    if d.chance(0.02):
        entry += d.rng.choice(("@cache(stream)", "@window", "@window", "@window"))
    return entry


def _output(d: Draft, buffer: str, cores: Sequence[str], below: Sequence[int]) -> str:
    rng = d.rng
    entry = "^"
    if d.blocked and buffer not in d.held and d.chance(0.35):
        d.held.add(buffer)
        region = Space.SM if d.chance(0.15) else Space.RM
        entry = f"{buffer}:{region}[{_layout(d, buffer)}]"
    for n, core in enumerate(cores):
        if (
            core[0] not in "^F"
            and below[n] < d.tiles[n]
            and d.stage.dims[n].kind is DimKind.PW
            and d.chance(0.4)
        ):
            methods = {
                Layer.BLK: ("kernel", "atomic", "ticket"),
                Layer.THR: ("shared", "shuffle"),
                Layer.WRP: ("shared",),
            }
            entry += f"@combine({rng.choice(methods.get(core[:3], ('shared',)))})"
            break
    if d.chance(0.01):
        entry += rng.choice(("@cache(stream)", "@store(plain, vec=2)"))
    return entry


def _layout(d: Draft, buffer: str) -> str:
    rank = len(d.program.buffer_of[buffer].shape)
    order = list(range(1, rank + 1))
    if d.chance(0.4):
        d.rng.shuffle(order)
    return ",".join(map(str, order))


def _tile(rng: Random, parent: int, most: int = 1 << 30) -> int:
    """A tile of `parent`, in `most` parts at most: a divisor, a power of two, or any size."""
    match rng.randint(0, 2):
        case 0:
            values = [t for t in range(1, parent + 1) if parent % t == 0]
        case 1:
            values = [1 << n for n in range(parent.bit_length())]
        case _:
            values = list(range(1, parent + 1))
    legal = [t for t in values if -(-parent // t) <= most]
    return rng.choice(legal or [parent])


def _labelled(rng: Random, steps: list[str]) -> list[str]:
    """No labels, labels in text order, or two neighbouring steps exchanged in code order."""
    kind = rng.random()
    if kind < 0.5:
        return steps
    labels = list(range(1, len(steps) + 1))
    if kind < 0.75 and len(steps) > 2:
        n = rng.randrange(1, len(steps) - 1)
        labels[n], labels[n + 1] = labels[n + 1], labels[n]
    return [f"{label}: {step}" for label, step in zip(labels, steps, strict=True)]
