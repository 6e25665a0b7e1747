"""A Program: what the C says, as a list of multi-dimensional homomorphisms over named buffers.

Source of the formalism: Rasch, "(De/Re)-Composition of Data-Parallel Computations via MDHs", TOPLAS 46(3),
2024, section 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from math import inf, isnan, nan, prod

from mdh.diagnostics import Diagnostic
from mdh.ir.carried import Carried, OnePass
from mdh.ir.dtype import I32, DType, integer_range
from mdh.ir.expr import Binary, Cast, Const, Expr, Load, Select, walk
from mdh.ir.open_size import OpenExtent, OpenSize
from mdh.ir.statement import PlacedStatement
from mdh.ir.syntax import Function
from mdh.ir.turns import Turns
from mdh.source import Source, Span

Condition = tuple[Expr, bool]
"""An expression, and whether it must be true or must be false."""


class DimKind(StrEnum):
    """The combine operator's class: concatenation, point-wise reduction, prefix sum."""

    CC = "cc"
    PW = "pw"
    PS = "ps"


@dataclass(frozen=True, slots=True)
class Dim:
    """A loop of the nest, normalised: `name` runs over 0 <= name < extent.

    The C loop variable is start + step * name; index functions and scalar functions are already written in
    terms of the normalised variable. Names are unique in the stage. open: the extent as a function of open
    sizes; `extent` is then its largest value.
    """

    name: str
    extent: int
    kind: DimKind
    start: int = 0
    step: int = 1
    span: Span | None = field(default=None, compare=False, repr=False)
    open: OpenExtent | None = field(default=None, repr=False)

    def at(self, number: int) -> int:
        """C's loop variable in an iteration."""
        return self.start + self.step * number


@dataclass(frozen=True, slots=True)
class Operator:
    """The point-wise operator of all pw and ps dimensions of a result; associative and commutative (TOPLAS,
    Lemma 1).

    name: + * min max & | ^ && || argmin argmax. For argmin and argmax the state is (key, payload…); ties go
    to the `first` or the `last` point in C's order.

    min and max with `nan=False` are C's comparisons. Of equal values they keep the `first` or the `last`. If
    a NaN makes the comparison false, they keep the state (`x > m ? x : m`), or with `takes` the new value (`m
    > x ? m : x`). With `nan=True` they are fmin and fmax.

    ordered: with --strict-fp, for + and * of floats and for min and max by comparison, the start comes first
    and the points join it one after another. rounded: the type that the state is rounded to each time.
    """

    name: str
    tie: str = "first"
    nan: bool = False
    ordered: bool = False
    rounded: DType | None = None
    takes: bool = False

    def identity(self, t: DType) -> Const:
        """The identity element of the operator, in type `t`."""
        low, high = (-inf, inf) if t.is_float else integer_range(t)
        ones = -1 if t.kind == "int" else high
        value = {"+": 0, "*": 1, "&": ones, "|": 0, "^": 0, "&&": 1, "||": 0,
                 "max": low, "min": high, "argmax": low, "argmin": high}[self.name]  # fmt: skip
        return Const(float(value) if t.is_float else int(value), t)


def has_neutral(op: Operator, types: Sequence[DType]) -> bool:
    """Whether to combine any value with the identity leaves it as it is. `5 || 0` is 1, and `m > x ? m : x`
    is x where m is NaN."""
    return op.name not in ("&&", "||") and not (op.takes and any(t.is_float for t in types))


def component(number: int) -> str:
    """The name by which an epilogue reads finished component `number` of its result. No C name is like it."""
    return f"acc.{number}"


@dataclass(frozen=True, slots=True)
class Output:
    """An array element that is written for each combined result.

    `value` is the epilogue: an expression over `Var(component(0), t)`, `Var(component(1), t)`… (the result's
    finished components, in their accumulator type), loads and dimensions. For a map (`op` None) component 0
    is the value itself.

    `index` depends on cc and ps dimensions only. The index of a scattered output (a histogram) also holds a
    `Load` and may depend on pw dimensions.
    """

    buffer: str
    index: tuple[Expr, ...]
    value: Expr
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Result:
    """One combined value per point of the cc dimensions: a scalar, or the record of an argmin or argmax.

    values[c]: the scalar function of component c. starts[c]: a value that is combined once, as if it came
    first in C's order, or None for the operator's identity. It is an expression over cc dimensions that may
    load any buffer, outputs included: `C[i][j] +=` starts from Load C[i][j]. types[c]: the type in which the
    component is combined. exclusive: a prefix sum stores the prefix before the point.
    """

    op: Operator | None
    values: tuple[Expr, ...]
    starts: tuple[Expr | None, ...]
    types: tuple[DType, ...]
    outputs: tuple[Output, ...]
    exclusive: bool = False


def combined_where(e: Expr, op: Operator | None, t: DType) -> tuple[tuple[Condition, ...], Expr]:
    """The conditions under which `e` changes the state that it is combined with, and `e`'s value under them.

    If a condition fails, `e` is the identity of `op` in type `t`. For example, `if (c) H[k[i]] += x` is
    combined as `c ? x : 0`, and C reads k[i] only if c holds.
    """
    if op is None or op.takes or op.name in ("&&", "||"):
        # a neutral operand may still change the other one: 5 && 1 is 1, and NaN > m ? NaN : m is m
        return (), e
    return _unless(e, nan if op.nan and t.is_float else op.identity(t).value, ())


def _unless(e: Expr, neutral: int | float, casts: tuple[DType, ...]) -> tuple[tuple[Condition, ...], Expr]:
    """The recursion of `combined_where`. casts: the types that `e` is converted to, in order, before it is
    combined."""
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
class LocalValue:
    """A local of the loop body: `name` holds `value` at each point. Later lets and values use Var(name)."""

    name: str
    value: Expr
    dtype: DType


@dataclass(frozen=True)
class Stage:
    """One MDH: md_hom over `dims` (outermost C loop first), its scalar functions, views and epilogues."""

    name: str
    dims: tuple[Dim, ...]
    lets: tuple[LocalValue, ...]
    results: tuple[Result, ...]
    span: Span | None = field(default=None, compare=False, repr=False)
    host: OnePass | None = None
    """The stages that are reduced together with this one, which computes them."""
    carried: Carried | None = None
    """That this stage is reduced together with its host."""
    aside: frozenset[str] = frozenset()
    """Arrays that it reads or writes for the sake of the pass. Steps have no entries for them."""
    idle: tuple[Expr, ...] = ()
    """Loads that the pass spares the stage. Its steps have entries for them."""

    @cached_property
    def scattered(self) -> bool:
        """Whether the output's index is data, as in a histogram."""
        return any(
            isinstance(n, Load) for r in self.results for o in r.outputs for i in o.index for n in walk(i)
        )

    def expressions(self) -> tuple[Expr, ...]:
        """Every expression: lets, values, starts, output indices, epilogues, and those of its pass."""
        out: list[Expr] = [let.value for let in self.lets]
        for r in self.results:
            out.extend(r.values)
            out.extend(s for s in r.starts if s is not None)
            for o in r.outputs:
                out.extend(o.index)
                out.append(o.value)
        passing = () if self.host is None else self.host.expressions()
        return (*out, *passing, *self.idle)

    @cached_property
    def written(self) -> frozenset[str]:
        return frozenset(o.buffer for r in self.results for o in r.outputs)

    @cached_property
    def read(self) -> frozenset[str]:
        """The buffers that the stage loads, updated ones included."""
        return frozenset(n.buffer for e in self.expressions() for n in walk(e) if isinstance(n, Load))


@dataclass(frozen=True, slots=True)
class Buffer:
    """An array: a parameter of the C function, a constant array (`values`), or a temporary (`temp`) of the
    function or of mdh."""

    name: str
    dtype: DType
    shape: tuple[int, ...]
    temp: bool = False
    const: bool = False
    flat: bool = False
    """The C declares a plain pointer, and `shape` was derived from its subscripts (row major)."""
    span: Span | None = field(default=None, compare=False, repr=False)
    reach: int = field(default=0, compare=False, repr=False)
    """For a plain pointer, the number of elements up to the last one that the C may touch. Its last row may
    be shorter than the others."""
    open: tuple[OpenExtent | None, ...] = field(default=(), repr=False)
    """The extents that are functions of open sizes, by dimension; `shape` then has their largest values.
    Empty if there are none."""
    values: tuple[int | float, ...] | None = None
    """The elements of a constant array in row-major order. Such an array is no parameter: kernels have its
    elements in their text."""

    def takes(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of this shape fits the parameter. An array for a plain pointer may be longer."""
        if shape == self.shape or not self.flat or prod(shape) < prod(self.shape):
            return shape == self.shape
        return len(shape) == 1 or len(self.shape) == 1 or shape[1:] == self.shape[1:]

    def short(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of this shape has all elements that the C touches, but a shorter last row."""
        return self.flat and len(shape) == 1 and 0 < self.reach <= shape[0] < prod(self.shape)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar parameter. size: its bound value, if the C uses it in a loop bound or subscript. open: the
    range of an open size; `size` is then its largest value."""

    name: str
    dtype: DType
    size: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    open: OpenSize | None = field(default=None, repr=False)


ROUNDINGS = ("tf32",)
"""What a schedule may do to numbers if the user allows it. tf32: factors of f32 are rounded to 11 significant
bits before they are multiplied."""
CALLS = "libraries"
"""Lets default schedules and the tuner call libraries; a schedule that names one needs no consent."""
CONSENTS = (*ROUNDINGS, CALLS)


@dataclass(frozen=True)
class Program:
    """A C function: parameters in C's order (names of buffers or scalars), buffers, and stages in order.

    constants: integer macros that the C was read with; schedules may name them.
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
    """The statements and the stages that carry them out, for the proof that the stages keep the text's order.
    """
    allowed: tuple[str, ...] = ()
    """What the user lets schedules do, of CONSENTS, in order."""
    remarks: tuple[Diagnostic, ...] = field(default=(), compare=False, repr=False)
    """Warnings of the front end."""
    loops: tuple[Turns, ...] = ()
    """The loops around stages."""

    @cached_property
    def turns(self) -> dict[str, int]:
        """How often the loops around stages run, by their variables."""
        return {x.var: x.trips for x in self.loops}

    @cached_property
    def levels(self) -> dict[str, int]:
        """Those of `turns` that are units and loops of the kernel around the only stage."""
        return {x.var: x.trips for x in self.loops if x.level}

    @cached_property
    def numbers(self) -> tuple[Scalar, ...]:
        """What kernels may take as numbers: the scalar parameters, and the turns of loops around stages."""
        return (*self.scalars, *(Scalar(x.var, I32) for x in self.loops))

    @cached_property
    def buffer_of(self) -> dict[str, Buffer]:
        return {b.name: b for b in self.buffers}

    @cached_property
    def scalar_of(self) -> dict[str, Scalar]:
        return {s.name: s for s in self.scalars}

    @cached_property
    def looks_up(self) -> bool:
        """Whether an element of a constant array is a subscript."""
        constants = {b.name for b in self.buffers if b.values is not None}
        found = (n for s in self.stages for e in s.expressions() for n in walk(e) if isinstance(n, Load))
        inner = (n for x in found for i in x.index for n in walk(i) if isinstance(n, Load))
        return bool(constants) and any(n.buffer in constants for n in inner)

    @cached_property
    def opens(self) -> tuple[OpenSize, ...]:
        """The sizes that each call binds, in C's order."""
        return tuple(s.open for s in self.scalars if s.open is not None)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The values of the parameters that are sizes."""
        return {s.name: s.size for s in self.scalars if s.size is not None}

    @cached_property
    def size_constants(self) -> dict[str, Expr]:
        """The same as constants, to be substituted into index functions."""
        return {s.name: Const(s.size, s.dtype) for s in self.scalars if s.size is not None}

    @cached_property
    def buffer_order(self) -> tuple[str, ...]:
        """Array parameters in C's order, constant arrays, then temporaries in order of creation."""
        constants = tuple(b.name for b in self.buffers if b.values is not None)
        temps = tuple(b.name for b in self.buffers if b.temp)
        return tuple(p for p in self.params if p in self.buffer_of) + constants + temps

    def inputs(self, stage: Stage) -> tuple[str, ...]:
        """Input entries of a schedule step: buffers read and not written, in parameter order."""
        used = stage.read - stage.written - stage.aside
        return tuple(b for b in self.buffer_order if b in used)

    def outputs(self, stage: Stage) -> tuple[str, ...]:
        """Output entries of a schedule step: buffers written, in parameter order."""
        return tuple(b for b in self.buffer_order if b in stage.written - stage.aside)

    def has_integer(self, *ops: str) -> bool:
        """Whether the program divides or shifts integers (`ops`: / % << >>) by something other than a
        constant."""
        by = (
            n.right
            for s in self.stages
            for e in s.expressions()
            for n in walk(e)
            if isinstance(n, Binary) and n.op in ops
        )
        return any(not x.dtype.is_float and not isinstance(x, Const) for x in by)
