"""Which elements of an array accesses of several stages touch, as integer sets."""

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from mdh.ir.affine import Affine, from_expr
from mdh.ir.clauses import EVERYWHERE, Domain, exact_clauses
from mdh.ir.domain import changed_where, changing, holding
from mdh.ir.dtype import I32
from mdh.ir.expr import Expr, Unary, substitute
from mdh.ir.program import Condition, Program, Result, Stage, component
from mdh.poly.sets import affine_text, domain_text, least_point

Extents = dict[str, int]
"""The extents of dimensions, and the trips of loops around stages, by variable."""


@dataclass(frozen=True, slots=True)
class StageAccess:
    """Accesses of an array by the points of a stage in `domain`; they touch no other elements. dims: names
    and extents. index: None for a subscript that is data or not affine. exact: whether each point of the
    domain surely makes the access, in whatever turn of the loops around the stage."""

    dims: tuple[tuple[str, int], ...]
    index: tuple[Affine | None, ...]
    domain: Domain = EVERYWHERE
    exact: bool = False


def access_of(
    program: Program, stage: Stage, index: Sequence[Expr], conds: Sequence[Condition], extents: Extents
) -> StageAccess:
    """The access of `index` where all of `conds` hold."""
    functions = tuple(from_expr(substitute(e, program.size_constants)) for e in index)
    dims = tuple((d.name, d.extent) for d in stage.dims)
    known = exact_clauses(tuple(c if holds else Unary("!", c, I32) for c, holds in conds), extents)
    domain = holding(conds, extents) if known is None else known
    names = {n for f in functions if f is not None for n in f.names}
    names |= {n for clause in domain for f in clause for n in f.names}
    closed = {d.name for d in stage.dims if d.open is None}
    exact = known is not None and None not in functions and names <= closed == {n for n, _ in dims}
    return StageAccess(dims, functions, domain, exact)


def writes_of(program: Program, stage: Stage, buffer: str, extents: Extents) -> list[StageAccess]:
    """The accesses by which a stage changes elements of an array."""
    return [
        _write(program, stage, r, n, extents)
        for r in stage.results
        for n, o in enumerate(r.outputs)
        if o.buffer == buffer
    ]


def _write(program: Program, stage: Stage, r: Result, number: int, extents: Extents) -> StageAccess:
    o = r.outputs[number]
    if r.op is None:
        conds, _ = changing(substitute(o.value, {component(0): r.values[0]}), o)
        return access_of(program, stage, o.index, conds, extents)
    domain = changed_where(r, o, extents)
    found = access_of(program, stage, o.index, (), extents)
    return found if domain == EVERYWHERE else StageAccess(found.dims, found.index, domain)


def meet(accesses: Sequence[StageAccess]) -> bool:
    """Whether there is an element that all of the accesses may touch."""
    rank = len(accesses[0].index)
    terms = " and ".join(f"({_touched(a, n)})" for n, a in enumerate(accesses))
    # without bounds on the counters of loops around there may be no least one
    return not isl.Set(f"{{ [{_space(rank)}] : {terms} }}").is_empty()


def covered(accesses: Sequence[StageAccess], by: StageAccess) -> bool:
    """Whether `by` surely touches all elements that all of the accesses may touch."""
    if not by.exact:
        return False
    rank = len(by.index)
    terms = " and ".join(f"({_touched(a, n)})" for n, a in enumerate(accesses))
    common = isl.Set(f"{{ [{_space(rank)}] : {terms} }}")
    return bool(common.is_subset(isl.Set(f"{{ [{_space(rank)}] : {_touched(by, 0)} }}")))


def whole(shape: Sequence[int], accesses: Sequence[StageAccess]) -> bool:
    """Whether some accesses together surely touch all elements of an array of this shape."""
    sure = [a for a in accesses if a.exact]
    if not sure:
        return False
    terms = " or ".join(f"({_touched(a, n)})" for n, a in enumerate(sure))
    inside = " and ".join(f"0 <= e{k} < {n}" for k, n in enumerate(shape))
    space = _space(len(shape))
    return bool(isl.Set(f"{{ [{space}] : {inside} }}").is_subset(isl.Set(f"{{ [{space}] : {terms} }}")))


def possible(stage: Stage, domain: Domain, conds: Sequence[Condition], extents: Extents) -> bool:
    """Whether the conditions may all hold in a point of the stage in `domain`."""
    names = {d.name: f"x{k}" for k, d in enumerate(stage.dims)}
    terms = [f"0 <= {names[d.name]} < {d.extent}" for d in stage.dims]
    terms += [f"({domain_text(domain, names)})", f"({domain_text(holding(conds, extents), names)})"]
    return least_point(f"{{ [{', '.join(names.values())}] : {' and '.join(terms)} }}") is not None


def _space(rank: int) -> str:
    return ", ".join(f"e{k}" for k in range(rank))


def _touched(a: StageAccess, number: int) -> str:
    """That an access touches element e0, e1, … Names besides its dimensions are integers of any value."""
    names = {name: f"a{number}_{k}" for k, (name, _) in enumerate(a.dims)}
    used = [f for f in a.index if f is not None] + [f for clause in a.domain for f in clause]
    free = sorted({n for f in used for n in f.names} - names.keys())
    every = {**names, **{n: f"t{number}_{k}" for k, n in enumerate(free)}}
    terms = [f"0 <= {names[name]} < {extent}" for name, extent in a.dims]
    terms += [f"e{k} = {affine_text(f, every)}" for k, f in enumerate(a.index) if f is not None]
    terms.append(f"({domain_text(a.domain, every)})")
    return f"exists {', '.join(every.values())} : {' and '.join(terms)}"
