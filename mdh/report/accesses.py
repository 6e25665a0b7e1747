"""Footprints: how much of a buffer a stage touches while some of its loops run."""

from dataclasses import dataclass

from mdh.ir.affine import Affine, from_expr
from mdh.ir.expr import Expr, loads
from mdh.ir.layout import Levels
from mdh.ir.program import Program, Stage


@dataclass(frozen=True, slots=True)
class Access:
    """One load or store of the scalar function; index None in a dim where it is data (gather, scatter)."""

    buffer: str
    index: tuple[Affine | None, ...]
    store: bool


def accesses_of(stage: Stage) -> tuple[Access, ...]:
    """Distinct accesses; loads first, in the order of the text."""
    found: dict[Access, None] = {}
    for e in stage.expressions():
        for load in loads(e):
            found.setdefault(_access(load.buffer, load.index, False))
    for result in stage.results:
        for output in result.outputs:
            found.setdefault(_access(output.buffer, output.index, True))
    return tuple(found)


def _access(buffer: str, index: tuple[Expr, ...], store: bool) -> Access:
    return Access(buffer, tuple(None if any(True for _ in loads(i)) else from_expr(i) for i in index), store)


def box(
    program: Program,
    stage: Stage,
    levels: Levels,
    buffer: str,
    inside: frozenset[str],
    *,
    store: bool = False,
) -> tuple[int, ...]:
    """Extents of the bounding box of the accesses to `buffer` while the levels of `inside` run.

    A dim that is indexed by data counts whole; nothing exceeds the buffer.
    """
    shape = program.buffer_of[buffer].shape
    mine = [a for a in accesses_of(stage) if a.buffer == buffer and a.store == store]
    if not mine:
        return tuple(0 for _ in shape)
    return tuple(min(n, _extent(stage, levels, mine, k, n, inside)) for k, n in enumerate(shape))


def _extent(
    stage: Stage, levels: Levels, mine: list[Access], k: int, whole: int, inside: frozenset[str]
) -> int:
    """Extent of dim k: the spread of the constants plus what the inside levels add.

    An image with holes (strided, cyclic) counts its points: copies are packed then.
    """
    functions = [a.index[k] for a in mine if k < len(a.index)]
    known = [f for f in functions if f is not None]
    number = {d.name: i for i, d in enumerate(stage.dims)}
    if len(known) < len(functions) or not known or not all(f.names <= number.keys() for f in known):
        return whole
    lows, highs = [], []
    for f in known:
        spans = [c * levels.span(number[name], inside) for name, c in f.terms]
        lows.append(f.const + sum(s for s in spans if s < 0))
        highs.append(f.const + sum(s for s in spans if s > 0))
    extent = max(highs) - min(lows) + 1
    if len(set(known)) > 1:
        return extent
    points = 1
    for name in known[0].names:
        for level in levels.by_dim[number[name]]:
            points *= level.parts if level.var in inside else 1
    return min(extent, points)
