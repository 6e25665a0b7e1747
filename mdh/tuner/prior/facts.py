"""What the model has to know of a stage whatever its schedule is: accesses, operations, results. Kept a
stage."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod

from mdh.ir.affine import Affine, from_expr
from mdh.ir.expr import (
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Load,
    Select,
    Unary,
    children,
    loads,
    substitute,
    walk,
)
from mdh.ir.product_sum import summed_product
from mdh.ir.program import DimKind, Program, Stage

Terms = tuple[tuple[int, int], ...]
"""(dim, coefficient) of an affine index, constants left out."""

SLOW_CALLS = frozenset({"exp", "log", "sin", "cos", "tan", "pow", "tanh", "exp2", "log2", "erf", "atan"})
CALL_COST, ROOT_COST, DIVIDE_COST, PLAIN_COST = 20, 12, 8, 1
"""Instructions that a transcendental function, a root, a division and any other operation amount to."""


@dataclass(frozen=True, slots=True)
class Access:
    """Loads or stores of one buffer whose indices differ by constants alone.

    index: a tuple of terms for each dim of the buffer, None where it is data. spread: for each dim of the
    buffer, how far the constants lie apart. count: how many there are; rows: in how many rows of the buffer,
    which its last dim runs along. size: bytes an element.
    """

    buffer: str
    size: int
    shape: tuple[int, ...]
    index: tuple[Terms | None, ...]
    spread: tuple[int, ...]
    count: int
    store: bool
    rows: int = 1

    @property
    def gather(self) -> bool:
        return None in self.index

    @property
    def dims(self) -> frozenset[int]:
        return frozenset(d for terms in self.index if terms for d, _ in terms)


@dataclass(frozen=True, slots=True)
class Reduced:
    """One result. width: bytes of its state; op: the operator's name, None for a map. updated: it starts from
    what is in memory. outputs: names of the buffers that it writes."""

    op: str | None
    width: int
    updated: bool
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """fused: multiply-adds at a point; other: further instructions there; epilogue: instructions a finished
    result. bits: width of the widest value. points: of the iteration space; finished: results."""

    extents: tuple[int, ...]
    kinds: tuple[DimKind, ...]
    accesses: tuple[Access, ...]
    results: tuple[Reduced, ...]
    fused: int
    other: float
    epilogue: float
    value_bytes: int
    is_float: bool
    points: int
    finished: int
    scan: bool
    scattered: bool
    record: bool
    called: bool
    """Functions or conversions take part, whose vectors may be narrower."""


class _Same:
    """A key that is one object's identity: stages are compared and hashed by all that they hold, slowly."""

    __slots__ = ("program", "stage")

    def __init__(self, program: Program, stage: Stage) -> None:
        self.program, self.stage = program, stage

    def __hash__(self) -> int:
        return hash((id(self.program), id(self.stage)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.program is other.program and self.stage is other.stage


def facts_of(program: Program, stage: Stage) -> Facts:
    return _facts(_Same(program, stage))


@lru_cache(maxsize=256)
def _facts(key: _Same) -> Facts:
    program, stage = key.program, key.stage
    extents = tuple(d.extent for d in stage.dims)
    kinds = tuple(d.kind for d in stage.dims)
    fused, other = _point_cost(stage)
    finish = sum(_cost(o.value) for r in stage.results if r.op is not None for o in r.outputs)
    types = [t for r in stage.results for t in r.types]
    return Facts(
        extents=extents,
        kinds=kinds,
        accesses=tuple(_accesses(program, stage)),
        results=tuple(
            Reduced(
                r.op.name if r.op is not None else None,
                sum(t.bytes for t in r.types),
                any(s is not None and any(True for _ in loads(s)) for s in r.starts),
                tuple(o.buffer for o in r.outputs),
            )
            for r in stage.results
        ),
        fused=fused,
        other=other,
        epilogue=finish,
        value_bytes=max((t.bytes for t in types), default=4),
        is_float=any(t.is_float for t in types),
        points=prod(extents),
        finished=prod(n for n, k in zip(extents, kinds, strict=True) if k is not DimKind.PW),
        scan=DimKind.PS in kinds,
        scattered=stage.scattered,
        record=any(r.op is not None and r.op.name.startswith("arg") for r in stage.results),
        called=any(isinstance(n, Call | Cast) for e in stage.expressions() for n in walk(e)),
    )


def _point_cost(stage: Stage) -> tuple[int, float]:
    """(multiply-adds, other instructions) of a point: a sum of products takes its last product with it."""
    fused, other = 0, sum(_cost(let.value) for let in stage.lets)
    for r in stage.results:
        for value in r.values:
            cost = _cost(value)
            if summed_product(r.op, value) is not None:
                fused, cost = fused + 1, cost - PLAIN_COST
            elif r.op is not None:
                cost += PLAIN_COST
            other += cost
    return fused, other


def _cost(e: Expr) -> float:
    """Instructions of a value; subscripts are the address unit's."""
    match e:
        case Load():
            return 0.0
        case Binary("/" | "%", _, right, _):
            own = PLAIN_COST if isinstance(right, Const) else DIVIDE_COST
        case Call(fn, _, _):
            own = CALL_COST if fn in SLOW_CALLS else ROOT_COST if fn in ("sqrt", "rsqrt") else PLAIN_COST
        case Binary() | Unary() | Select():
            own = PLAIN_COST
        case _:
            own = 0
    return own + sum(_cost(c) for c in children(e))


def _accesses(program: Program, stage: Stage) -> Iterator[Access]:
    """Of the scalar functions, starts and epilogues; those that differ by constants alone as one."""
    found: dict[tuple[str, tuple[Terms | None, ...], bool], set[tuple[int, ...]]] = {}
    for e in stage.expressions():
        for load in loads(e):
            _note(program, stage, found, load.buffer, load.index, False)
    for r in stage.results:
        for o in r.outputs:
            _note(program, stage, found, o.buffer, o.index, True)
    for (name, index, store), constants in found.items():
        b = program.buffer_of[name]
        spread = tuple(max(c) - min(c) for c in zip(*constants, strict=True))
        rows = len({c[:-1] for c in constants})
        yield Access(name, b.dtype.bytes, b.shape, index, spread, len(constants), store, rows)


def _note(
    program: Program,
    stage: Stage,
    found: dict[tuple[str, tuple[Terms | None, ...], bool], set[tuple[int, ...]]],
    buffer: str,
    index: tuple[Expr, ...],
    store: bool,
) -> None:
    number = {d.name: i for i, d in enumerate(stage.dims)}
    terms: list[Terms | None] = []
    constants: list[int] = []
    for e in index:
        f: Affine | None = from_expr(substitute(e, program.size_constants))
        if f is None or not f.names <= number.keys():
            terms.append(None)
            constants.append(0)
        else:
            terms.append(tuple((number[n], c) for n, c in f.terms))
            constants.append(f.const)
    found.setdefault((buffer, tuple(terms), store), set()).add(tuple(constants))
