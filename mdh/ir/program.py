"""A Program: what the C says, as a list of Multi-Dimensional Homomorphisms over named buffers.

Source of the formalism: Rasch, "(De/Re)-Composition of Data-Parallel Computations via MDHs",
TOPLAS 46(3), 2024, section 2.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from math import inf, isnan, nan, prod

from mdh.ir.dtype import DType, integer_range
from mdh.ir.expr import Binary, Cast, Const, Expr, Load, Select, walk
from mdh.ir.statement import PlacedStatement
from mdh.ir.syntax import Function
from mdh.source import Source, Span

Condition = tuple[Expr, bool]
"""An expression, and whether it has to hold or to fail."""


class DimKind(StrEnum):
    """The combine operator's class: concatenation, point-wise reduction, prefix sum."""

    CC = "cc"
    PW = "pw"
    PS = "ps"


@dataclass(frozen=True, slots=True)
class Dim:
    """A loop of the nest, normalised: `name` runs over 0 <= name < extent.

    The C loop variable is start + step * name; index functions and scalar functions are already written in
    terms of the normalised variable. Names are unique in the stage.
    """

    name: str
    extent: int
    kind: DimKind
    start: int = 0
    step: int = 1
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Operator:
    """The point-wise operator of all pw/ps dims of a result: associative and commutative (TOPLAS Lemma 1).

    `name`: + * min max & | ^ && || argmin argmax. For argmin/argmax the state is (key, payload…); ties go to
    the `first` or the `last` point in C's order. `min`/`max` with `nan=False` are C's comparisons: of equal
    values the `first` or the `last` one is kept, and where the comparison is false because of a NaN, the
    state (`x > m ? x : m`), or with `takes` the new value (`m > x ? m : x`). With `nan=True` they are
    fmin/fmax. `ordered` (with --strict-fp, floats' + and *, and min and max by comparison): the start comes
    first and one point after another joins it; `rounded`: the state is rounded to this type each time.
    """

    name: str
    tie: str = "first"
    nan: bool = False
    ordered: bool = False
    rounded: DType | None = None
    takes: bool = False

    def identity(self, t: DType) -> Const:
        """The element that leaves all numbers as they are, in type t."""
        low, high = (-inf, inf) if t.is_float else integer_range(t)
        ones = -1 if t.kind == "int" else high
        value = {"+": 0, "*": 1, "&": ones, "|": 0, "^": 0, "&&": 1, "||": 0,
                 "max": low, "min": high, "argmax": low, "argmin": high}[self.name]  # fmt: skip
        return Const(float(value) if t.is_float else int(value), t)


def component(number: int) -> str:
    """The name by which an epilogue reads a finished component of its result; no name in C is like it."""
    return f"acc.{number}"


@dataclass(frozen=True, slots=True)
class Output:
    """One array element written per combined result.

    `value` is the epilogue: an expression over `Var(component(0), t)`, `Var(component(1), t)`… (the result's
    finished components, in their accumulator type), loads and dims; for a map (`op` None) component 0 is the
    value itself.
    `index` depends on cc and ps dims only, save for a scattered output (histogram), whose index holds a
    `Load` and may depend on pw dims.
    """

    buffer: str
    index: tuple[Expr, ...]
    value: Expr
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Result:
    """One combined value (a scalar, or the record of an argmin/argmax) per point of the cc dims.

    values[c]: the scalar function of component c. starts[c]: what it is combined with once, as if it came
    first in C's order: an expression over cc dims that may load any buffer, the outputs included
    (`C[i][j] +=` starts from Load C[i][j]; `beta*C[i][j]` likewise), or None for the operator's identity.
    types[c]: the type the component is combined in. For ps, `exclusive` stores the prefix before the point.
    """

    op: Operator | None
    values: tuple[Expr, ...]
    starts: tuple[Expr | None, ...]
    types: tuple[DType, ...]
    outputs: tuple[Output, ...]
    exclusive: bool = False


def combined_where(e: Expr, op: Operator | None, t: DType) -> tuple[tuple[Condition, ...], Expr]:
    """The conditions under which `e` changes what it is combined with, and the value of `e` under them.

    Where a condition fails, `e` is the identity of `op` in type t. `if (c) H[k[i]] += x` is combined as
    `c ? x : 0`, and C reads k[i] only where c holds.
    """
    if op is None or op.takes or op.name in ("&&", "||"):
        # 5 && 1 is 1, and NaN > m ? NaN : m is m
        return (), e
    return _unless(e, nan if op.nan and t.is_float else op.identity(t).value, ())


def _unless(e: Expr, neutral: int | float, casts: tuple[DType, ...]) -> tuple[tuple[Condition, ...], Expr]:
    """`combined_where`. casts: the types that `e` is converted to in turn before it is combined."""
    match e:
        case Cast(arg, dtype):
            conditions, inner = _unless(arg, neutral, (dtype, *casts))
            return conditions, Cast(inner, dtype) if conditions else e
        case Select(cond, then, other):
            for side, skipped, holds in ((then, other, True), (other, then, False)):
                if isinstance(skipped, Const) and _is_number(_converted(skipped.value, casts), neutral):
                    conditions, inner = _unless(side, neutral, casts)
                    return ((cond, holds), *conditions), inner
    return (), e


def _converted(value: int | float, casts: tuple[DType, ...]) -> int | float | None:
    for t in casts:
        if t.is_float:
            value = float(value)
        elif isinstance(value, int):
            least, _ = integer_range(t)
            value = (value - least) % 2**t.bits + least
        else:
            return None
    return value


def _is_number(value: int | float | None, other: int | float) -> bool:
    return value == other or (value is not None and isnan(value) and isnan(other))


@dataclass(frozen=True, slots=True)
class Let:
    """A local of the loop body: `name` holds `value` at each point; later lets and values use Var(name)."""

    name: str
    value: Expr
    dtype: DType


@dataclass(frozen=True)
class Stage:
    """One MDH: md_hom over `dims` (outermost C loop first), its scalar functions, views and epilogues."""

    name: str
    dims: tuple[Dim, ...]
    lets: tuple[Let, ...]
    results: tuple[Result, ...]
    span: Span | None = field(default=None, compare=False, repr=False)

    @cached_property
    def scattered(self) -> bool:
        """True for a histogram: the output's index is data."""
        return any(
            isinstance(n, Load) for r in self.results for o in r.outputs for i in o.index for n in walk(i)
        )

    def expressions(self) -> tuple[Expr, ...]:
        """Every expression of the stage: lets, values, starts, output indices and epilogues."""
        out: list[Expr] = [let.value for let in self.lets]
        for r in self.results:
            out.extend(r.values)
            out.extend(s for s in r.starts if s is not None)
            for o in r.outputs:
                out.extend(o.index)
                out.append(o.value)
        return tuple(out)

    @cached_property
    def written(self) -> frozenset[str]:
        return frozenset(o.buffer for r in self.results for o in r.outputs)

    @cached_property
    def read(self) -> frozenset[str]:
        """Buffers the stage loads, the updated ones included."""
        return frozenset(n.buffer for e in self.expressions() for n in walk(e) if isinstance(n, Load))


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array: a parameter of the C function, or a temporary of mdh's or of the function's (`temp`)."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    temp: bool = False
    const: bool = False
    flat: bool = False
    """The C declares a plain pointer; `shape` was delinearised from its subscripts (row major)."""
    span: Span | None = field(default=None, compare=False, repr=False)
    reach: int = field(default=0, compare=False, repr=False)
    """Elements of a plain pointer up to the last one that the C may touch; its last row may be shorter."""

    def takes(self, shape: tuple[int, ...]) -> bool:
        """An array of this shape holds the parameter; that of a plain pointer may go on behind it."""
        if shape == self.shape or not self.flat or prod(shape) < prod(self.shape):
            return shape == self.shape
        return len(shape) == 1 or len(self.shape) == 1 or shape[1:] == self.shape[1:]

    def short(self, shape: tuple[int, ...]) -> bool:
        """An array of this shape has all elements that the C touches, but not the rest of the last row."""
        return self.flat and len(shape) == 1 and 0 < self.reach <= shape[0] < prod(self.shape)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar parameter. `size` is its bound value when the C uses it in a bound or subscript."""

    name: str
    dtype: DType
    size: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Program:
    """A C function: parameters in C's order (names of buffers or scalars), buffers, stages in order.

    constants: macros that the C was read with and that are whole numbers; schedules may name them.
    """

    name: str
    params: tuple[str, ...]
    buffers: tuple[Buffer, ...]
    scalars: tuple[Scalar, ...]
    stages: tuple[Stage, ...]
    strict_fp: bool = False
    constants: tuple[tuple[str, int], ...] = field(default=(), compare=False, repr=False)
    source: Source | None = field(default=None, compare=False, repr=False)
    syntax: Function | None = field(default=None, compare=False, repr=False)
    """The function as it is written, for the interpreter that judges results."""
    statements: tuple[PlacedStatement, ...] = field(default=(), compare=False, repr=False)
    """What the stages carry out, for the proof that they keep the order of the text."""

    @cached_property
    def buffer_of(self) -> dict[str, Buffer]:
        return {b.name: b for b in self.buffers}

    @cached_property
    def scalar_of(self) -> dict[str, Scalar]:
        return {s.name: s for s in self.scalars}

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Values of the parameters that are sizes."""
        return {s.name: s.size for s in self.scalars if s.size is not None}

    @cached_property
    def size_constants(self) -> dict[str, Expr]:
        """The same as expressions, to be put into index functions."""
        return {s.name: Const(s.size, s.dtype) for s in self.scalars if s.size is not None}

    @cached_property
    def buffer_order(self) -> tuple[str, ...]:
        """Array parameters in C's order, then temporaries in order of creation."""
        temps = tuple(b.name for b in self.buffers if b.temp)
        return tuple(p for p in self.params if p in self.buffer_of) + temps

    def inputs(self, stage: Stage) -> tuple[str, ...]:
        """Input entries of a schedule step: buffers read and not written, in parameter order."""
        return tuple(b for b in self.buffer_order if b in stage.read and b not in stage.written)

    def outputs(self, stage: Stage) -> tuple[str, ...]:
        """Output entries of a schedule step: buffers written, in parameter order."""
        return tuple(b for b in self.buffer_order if b in stage.written)

    def has_integer(self, *ops: str) -> bool:
        """Integers are divided or shifted (`ops`: / % << >>) by what is no constant."""
        by = (
            n.right
            for s in self.stages
            for e in s.expressions()
            for n in walk(e)
            if isinstance(n, Binary) and n.op in ops
        )
        return any(not x.dtype.is_float and not isinstance(x, Const) for x in by)
