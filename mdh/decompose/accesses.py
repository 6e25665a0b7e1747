"""The accesses of a stage as affine functions of its dimensions, which are named by position."""

from mdh.ir.affine import Affine, from_expr
from mdh.ir.expr import Expr, Var, loads, substitute
from mdh.ir.program import Program, Stage

Linear = tuple[Affine, ...]
"""An index function for each dimension of a buffer, without constants."""


def affine_index(program: Program, stage: Stage, index: tuple[Expr, ...]) -> tuple[Affine, ...] | None:
    """The indices as affine functions of the stage's dimensions; None if one is data (a gather)."""
    names: dict[str, Expr] = {d.name: Var(str(n)) for n, d in enumerate(stage.dims)}
    out = []
    for e in index:
        function = from_expr(substitute(substitute(e, program.size_constants), names))
        if function is None or any(not name.isdecimal() for name in function.names):
            return None
        out.append(function)
    return tuple(out)


def access_groups(program: Program, stage: Stage, buffer: str) -> dict[Linear, list[tuple[int, ...]]]:
    """The affine loads of a buffer: each distinct linear part, with the constants of its loads."""
    groups: dict[Linear, list[tuple[int, ...]]] = {}
    for e in stage.expressions():
        for load in loads(e):
            index = affine_index(program, stage, load.index) if load.buffer == buffer else None
            if index is not None:
                linear = tuple(Affine(f.terms) for f in index)
                groups.setdefault(linear, []).append(tuple(f.const for f in index))
    return groups
