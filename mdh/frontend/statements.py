"""The statements of a text and their accesses, as the front ends of all input languages return them."""

from dataclasses import dataclass, field

from mdh.ir.affine import from_expr
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import Binary, Expr, Load, Var, children, loads, walk
from mdh.ir.statement import Held, LoopVar
from mdh.source import Span


@dataclass(frozen=True, slots=True)
class Array:
    """An array by name. shape: None for a plain pointer. temp: local to the function. values: of a constant
    array, in row-major order."""

    name: str
    dtype: DType
    shape: tuple[int, ...] | None
    const: bool
    temp: bool
    span: Span
    values: tuple[int | float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """One access in the text, made where all of `conds` hold. position: grows along the text."""

    load: Load
    loops: tuple[LoopVar, ...]
    span: Span
    conds: tuple[Expr, ...]
    write: bool
    position: int


@dataclass(frozen=True, slots=True)
class Assign:
    """target = value at every point of `loops` where all of `conds` (outermost first) hold.

    uses: its accesses in the text, with those of its conditions and its locals. held: loops of the program
    around `loops` (`frontend.repair`). Uses are made in the loops of the text, in its order, and name held
    ones by their turns. origin: its number in the text, None for one that the text does not have.
    """

    target: Load
    value: Expr
    conds: tuple[Expr, ...]
    loops: tuple[LoopVar, ...]
    span: Span
    uses: tuple[Use, ...]
    held: tuple[Held, ...] = ()
    origin: int | None = field(default=None, compare=False)

    @property
    def targets(self) -> tuple[Load, ...]:
        return (self.target,)

    @property
    def free(self) -> list[LoopVar]:
        """The loops that the target's subscripts do not name."""
        named = used_names(self.target.index)
        return [v for v in self.loops if v.name not in named]

    @property
    def cond(self) -> Expr | None:
        """All of `conds` as one condition."""
        whole: Expr | None = None
        for c in self.conds:
            whole = c if whole is None else Binary("&&", whole, c, I32)
        return whole


@dataclass(frozen=True, slots=True)
class Best:
    """`if (x > m) { m = x; p = e; … }`: targets[0] is the key, and the others are its payload."""

    op: str
    tie: str
    targets: tuple[Load, ...]
    values: tuple[Expr, ...]
    loops: tuple[LoopVar, ...]
    span: Span
    uses: tuple[Use, ...]
    loose: str = ""
    """Why the sign of a zero may differ from C."""
    held: tuple[Held, ...] = ()
    origin: int | None = field(default=None, compare=False)


Statement = Assign | Best


def turns_around(s: Statement) -> tuple[LoopVar, ...]:
    """The loops of the program around a statement, outermost first."""
    return tuple(h.turns for h in s.held)


def text_loops(s: Statement) -> tuple[LoopVar, ...]:
    """The loops around a statement in the text."""
    return next(u.loops for u in s.uses if u.write)


def in_text_order(s: Statement) -> bool:
    """Whether the loops of the program around the statement are its outermost loops in the text."""
    return text_loops(s) == (*(h.was for h in s.held), *s.loops)


@dataclass(frozen=True, slots=True)
class OperatorPragma:
    """`#pragma mdh( target : operators )`."""

    target: str
    operators: str
    span: Span


def used_names(index: tuple[Expr, ...]) -> set[str]:
    """The variables that subscripts name."""
    return {n.name for e in index for n in walk(e) if isinstance(n, Var)}


def gathers(index: tuple[Expr, ...]) -> bool:
    """Whether a subscript is data: whether one of the expressions reads an array."""
    return any(True for e in index for _ in loads(e))


def is_gather(e: Expr) -> bool:
    """Whether this is integer arithmetic of loaded integers, constants and affine functions of the loop
    variables."""
    if from_expr(e) is not None or isinstance(e, Load):
        return True
    inner = children(e)
    return not e.dtype.is_float and gathers(inner) and all(is_gather(c) for c in inner)


def conflict(a: Statement, b: Statement) -> bool:
    """Whether one of the two writes a buffer that the other reads or writes."""
    return conflicting(buffers_of(a), buffers_of(b))


Buffers = tuple[frozenset[str], frozenset[str]]
"""(buffers written, buffers read)."""


def buffers_of(s: Statement) -> Buffers:
    read = (s.value, *s.target.index, *s.conds) if isinstance(s, Assign) else s.values
    return frozenset(t.buffer for t in s.targets), frozenset(x.buffer for e in read for x in loads(e))


def conflicting(a: Buffers, b: Buffers) -> bool:
    """`conflict` for statements with these buffers."""
    (wa, ra), (wb, rb) = a, b
    return not (wa.isdisjoint(wb) and wa.isdisjoint(rb) and wb.isdisjoint(ra))


def may_meet(read: Load, written: Load) -> bool:
    """Whether the two may be one element. They are not if a subscript differs by a constant: both stand in
    the same iteration of the loops around them."""
    if read.buffer != written.buffer:
        return False
    pairs = ((from_expr(a), from_expr(b)) for a, b in zip(read.index, written.index, strict=True))
    apart = (a + b.scale(-1) for a, b in pairs if a is not None and b is not None)
    return not any(not d.terms and d.const for d in apart)
