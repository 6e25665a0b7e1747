"""What a stage reads of constant arrays: the dimensions along which their elements change."""

from math import prod

from mdh.ir.expr import Load, Var, walk
from mdh.ir.program import Program, Stage

MOST_COPIES = 32_768
"""The most copies of a loop's body that loops over constant arrays are unrolled to. Most are of zeros."""
MOST_LEFT = 8_192
"""The most of them that default schedules leave: 16 bytes each, they are as large as instruction caches."""


def constant_dims(program: Program, stage: Stage) -> frozenset[str]:
    """The dimensions that the subscripts of constant arrays name. Empty if the stage reads none, or if such a
    subscript is data."""
    found = [
        n for e in stage.expressions() for n in walk(e) if isinstance(n, Load) and is_constant(program, n)
    ]
    index = [n for x in found for e in x.index for n in walk(e)]
    if any(isinstance(n, Load) for n in index):
        return frozenset()
    return frozenset(n.name for n in index if isinstance(n, Var)) & {d.name for d in stage.dims}


def is_constant(program: Program, load: Load) -> bool:
    buffer = program.buffer_of.get(load.buffer)
    return buffer is not None and buffer.values is not None


def copies_left(program: Program, stage: Stage) -> int:
    """About how many copies of the innermost body are left when the loops over constant arrays are unrolled
    and zeros left out."""
    dims = constant_dims(program, stage)
    points = prod(d.extent for d in stage.dims if d.name in dims)
    if program.strict_fp:
        return points
    read = {
        n.buffer
        for e in stage.expressions()
        for n in walk(e)
        if isinstance(n, Load) and is_constant(program, n)
    }
    values = [v for b in read if (v := program.buffer_of[b].values) is not None]
    shares = (sum(x != 0 for x in v) / len(v) for v in values)
    return round(points * min(shares, default=1.0))
