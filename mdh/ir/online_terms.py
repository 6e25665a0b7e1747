"""Terms of sums that are reduced in one pass: products with `exp(s_j - t)`, with u, and with others.

A term is read through the maps that the same kernel computes, as a function of what is carried.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mdh.ir.affine import Affine, from_expr
from mdh.ir.clauses import exact_clauses
from mdh.ir.dtype import I32, DType
from mdh.ir.expr import (
    Binary,
    Call,
    Cast,
    Const,
    Expr,
    Load,
    Unary,
    Var,
    loads,
    map_children,
    substitute,
)
from mdh.ir.online_witness import normal, witness
from mdh.ir.program import Condition, DimKind, Program, Result, Stage, combined_where, component

EXPONENTIALS = ("exp", "exp2")
Index = tuple[Expr, ...]
Sum = dict[Expr | None, float]
"""The coefficients of summands; None: the constant."""


class OnlineError(Exception):
    """Reductions cannot be in one pass; the text says why, and `stage` where. witness: two terms whose ratios
    differ."""

    def __init__(self, why: str, stage: Stage, witness: tuple[tuple[str, float], ...] = ()) -> None:
        super().__init__(why)
        self.stage = stage
        self.witness = witness


@dataclass(frozen=True, slots=True)
class Exponent:
    """A factor `fn(weight * (s_j - t))` of a term, where t = `of[index]` is the extremum of s_j."""

    of: str
    index: Index
    fn: str
    weight: float
    dtype: DType


@dataclass(frozen=True, slots=True)
class Square:
    """A term `weight * (x_j - m) * (x_j - m)`, where m = `of[index]` is a function of the sum of x_j."""

    of: str
    index: Index
    weight: float


@dataclass(frozen=True, slots=True)
class OnlineTerm:
    """What a term has of the results that are carried. factors: (array, index, 1 or -1 for a divisor). dtype:
    of the sum."""

    dtype: DType
    exponents: tuple[Exponent, ...] = ()
    factors: tuple[tuple[str, Index, int], ...] = ()
    square: Square | None = None


@dataclass(frozen=True)
class _TermReader:
    """companions, maps: by their arrays."""

    program: Program
    stage: Stage
    result: Result
    companions: Mapping[str, Stage]
    maps: Mapping[str, Stage]
    conditions: tuple[Condition, ...] = ()

    def carried(self, e: Expr) -> list[Load]:
        return [x for x in loads(e) if x.buffer in self.companions]


def read_term(
    program: Program, stage: Stage, r: Result, companions: Mapping[str, Stage], maps: Mapping[str, Stage]
) -> OnlineTerm:
    """What a result's terms have of the companions' results. Raises OnlineError."""
    late = [*(s for s in r.starts if s is not None), *(o.value for o in r.outputs)]
    for x in (x for e in late for x in loads(e) if x.buffer in maps):
        raise OnlineError(f"it reads `{x.buffer}` when its sum is complete", stage)
    term = OnlineTerm(r.types[0])
    given = _TermReader(program, stage, r, companions, maps)
    lets: dict[str, Expr] = {}
    for let in stage.lets:
        lets[let.name] = substitute(let.value, lets)
    values = [_expanded(given, substitute(v, lets)) for v in r.values]
    if not any(given.carried(v) for v in values):
        return term
    if r.op is None or r.op.name != "+" or r.op.rounded is not None or not r.types[0].is_float:
        raise OnlineError("its terms read what is carried, and it is no sum of floats", stage)
    conditions, value = combined_where(values[0], r.op, r.types[0])
    if any(given.carried(c) for c, _ in conditions):
        raise OnlineError("conditions read what is carried", stage)
    reader = _TermReader(program, stage, r, companions, maps, conditions)
    square = _square(reader, value)
    if square is not None:
        _kept(reader, square.index)
        return OnlineTerm(r.types[0], square=square)
    exponents: list[Exponent] = []
    factors: list[tuple[str, Index, int]] = []
    for f, power in _factors(value):
        if not (found := reader.carried(f)):
            continue
        if isinstance(f, Load):
            factors.append((f.buffer, f.index, power))
        elif isinstance(f, Call) and f.fn in EXPONENTIALS and len(set(map(normal, found))) == 1:
            exponents.append(_exponent(reader, value, f, found[0], power))
        else:
            raise _varies(reader, value, found[0])
    for index in (*(e.index for e in exponents), *(index for _, index, _ in factors)):
        _kept(reader, index)
    if exponents and not _nonempty(reader):
        raise OnlineError("its conditions may hold for no term at all", stage)
    return OnlineTerm(r.types[0], tuple(exponents), tuple(factors))


def cast(e: Expr, t: DType) -> Expr:
    return e if e.dtype == t else Cast(e, t)


def _kept(reader: _TermReader, index: Index) -> None:
    """The element that is carried is the same for all terms of a sum, and one for each of its results."""
    stage = reader.stage
    reduced = {d.name for d in stage.dims if d.kind is not DimKind.CC}
    used = {v.name for i in index for v in _variables(i)}
    stored = {v.name for i in reader.result.outputs[0].index for v in _variables(i)}
    if used & reduced or not used <= stored:
        raise OnlineError("an element that is carried is not one for each of its results", stage)


def _variables(e: Expr) -> list[Var]:
    form = from_expr(e)
    return [] if form is None else [Var(n) for n in form.names]


# -- through maps ------------------------------------------------------------------------------


def _expanded(reader: _TermReader, e: Expr) -> Expr:
    """The expression with the values of maps in place of their elements."""
    e = map_children(e, lambda c: _expanded(reader, c))
    if not isinstance(e, Load) or e.buffer not in reader.maps:
        return e
    stage = reader.maps[e.buffer]
    written = [(r, o) for r in stage.results for o in r.outputs if o.buffer == e.buffer]
    ((r, o),) = written[:1]
    names = [i.name for i in o.index if isinstance(i, Var)]
    if len(written) > 1 or len(set(names)) < len(o.index) or e.buffer in stage.read:
        raise OnlineError(f"`{e.buffer}`, which it reads, is no map of one value for each element", stage)
    at: dict[str, Expr] = dict(zip(names, e.index, strict=True))
    for let in stage.lets:
        at[let.name] = substitute(let.value, at)
    value = substitute(o.value, {**at, component(0): substitute(r.values[0], at)})
    return _expanded(reader, cast(value, e.dtype))


# -- products and sums -------------------------------------------------------------------------


def _factors(e: Expr, power: int = 1) -> list[tuple[Expr, int]]:
    """The factors (1) and divisors (-1) of a product of floats."""
    match e:
        case Cast(arg, dtype) if dtype.is_float and dtype.bits >= 32 and arg.dtype.is_float:
            return _factors(arg, power)
        case Unary("-", arg, _):
            return [(Const(-1.0, arg.dtype), 1), *_factors(arg, power)]
        case Binary("*", left, right, dtype) if dtype.is_float:
            return [*_factors(left, power), *_factors(right, power)]
        case Binary("/", left, right, dtype) if dtype.is_float:
            return [*_factors(left, power), *_factors(right, -power)]
        case _:
            return [(e, power)]


def summands(e: Expr) -> Sum:
    """The summands of a sum of floats, each with its coefficient."""
    out: Sum = {}
    _add(e, 1.0, out)
    return {k: c for k, c in out.items() if c != 0 or k is None}


def _add(e: Expr, weight: float, out: Sum) -> None:
    match e:
        case Cast(arg, dtype) if dtype.is_float and dtype.bits >= 32 and arg.dtype.is_float:
            _add(arg, weight, out)
        case Unary("-", arg, _):
            _add(arg, -weight, out)
        case Binary("+" | "-" as op, left, right, dtype) if dtype.is_float:
            _add(left, weight, out)
            _add(right, weight if op == "+" else -weight, out)
        case Binary("*", Const(value, _), arg, dtype) if dtype.is_float:
            _add(arg, weight * value, out)
        case Binary("*" | "/" as op, arg, Const(value, _), dtype) if dtype.is_float and value:
            _add(arg, weight * value if op == "*" else weight / value, out)
        case Const(value, _):
            out[None] = out.get(None, 0.0) + weight * value
        case _:
            key = normal(e)
            out[key] = out.get(key, 0.0) + weight


def _exponent(reader: _TermReader, value: Expr, f: Call, t: Load, power: int) -> Exponent:
    """The factor of an exponential: its exponent is a multiple of what the extremum is of, less that."""
    found = {k: c * power for k, c in summands(f.args[0]).items()}
    of = reader.companions[t.buffer]
    r = of.results[0]
    weight = -found.pop(normal(t), 0.0)
    if any(k is not None and reader.carried(k) for k in found) or not weight:
        raise _varies(reader, value, t)
    assert r.op is not None
    sign = {"max": 1, "min": -1}.get(r.op.name, 0)
    conditions, mine = combined_where(r.values[0], r.op, r.types[0])
    at = _renamed(reader, of, t)
    wanted = {k: c * weight for k, c in summands(substitute(mine, at)).items()}
    if weight * sign <= 0 or not _alike(found, wanted):
        what = "maximum" if weight > 0 else "minimum"
        raise OnlineError(f"`{t.buffer}` is not the {what} of what stands with it in `{f.fn}`", reader.stage)
    given = tuple((substitute(c, at), holds) for c, holds in conditions)
    if not _follows(reader, given):
        raise OnlineError(f"it has terms that `{t.buffer}` leaves out", reader.stage)
    return Exponent(t.buffer, t.index, f.fn, weight, f.dtype)


def _square(reader: _TermReader, value: Expr) -> Square | None:
    """The term as the square of a distance from a mean."""
    factors = _factors(value)
    weights = [f.value**p for f, p in factors if isinstance(f, Const)]
    rest: list[tuple[Expr, int]] = [(f, p) for f, p in factors if not isinstance(f, Const)]
    if len(rest) == 1 and isinstance(rest[0][0], Call) and rest[0][0].fn == "pow":
        base, power = rest[0][0].args
        rest = [(base, 1)] * 2 if isinstance(power, Const) and power.value == 2 else []
    if len(rest) != 2 or any(p < 0 for _, p in rest) or summands(rest[0][0]) != summands(rest[1][0]):
        return None
    carried = list(dict.fromkeys(map(normal, reader.carried(rest[0][0]))))
    if len(carried) != 1 or not isinstance(m := carried[0], Load) or reader.conditions:
        return None
    of, found = reader.companions[m.buffer], summands(rest[0][0])
    sign = -found.pop(m, 0.0)
    r = of.results[0]
    conditions, mine = combined_where(r.values[0], r.op, r.types[0])
    wanted = {k: c * sign for k, c in summands(substitute(mine, _renamed(reader, of, m))).items()}
    if abs(sign) != 1 or r.op is None or r.op.name != "+" or conditions or not _alike(found, wanted):
        return None
    return Square(m.buffer, m.index, math.prod(weights))


def _varies(reader: _TermReader, value: Expr, t: Load) -> OnlineError:
    """That the factor of a term depends on the term, with two terms if numbers show it."""
    found = witness(value, t)
    if not found:
        why = (
            f"what its terms are multiplied by when `{t.buffer}` changes is not known to be the same for all"
        )
        return OnlineError(why, reader.stage)
    shown = dict(found)
    terms = []
    for n in ("first", "second"):
        read = [(k, v) for k, v in found if k.endswith(f" of the {n} term") and not k.startswith("factor")]
        at = ", ".join(f"`{k.split()[0]}` is {v:g}" for k, v in read)
        terms.append(f"by {shown[f'factor of the {n} term']:.6g} where {at}")
    moved = f"when `{t.buffer}` goes from {found[0][1]:g} to {found[1][1]:g}"
    return OnlineError(f"terms change differently: {moved}, {' and '.join(terms)}", reader.stage, found)


def _renamed(reader: _TermReader, of: Stage, t: Load) -> dict[str, Expr]:
    """The companion's dimensions as those of the stage that reads an element of it."""
    out: dict[str, Expr] = {}
    for i, e in zip(of.results[0].outputs[0].index, t.index, strict=True):
        assert isinstance(i, Var)
        out[i.name] = e
    own, mine = ([d.name for d in s.dims if d.kind is DimKind.PW] for s in (of, reader.stage))
    out.update((a, Var(b, I32)) for a, b in zip(own, mine, strict=False))
    out.update((d.name, Const(0, I32)) for d in of.dims if d.name not in out)
    return out


def _alike(a: Sum, b: Sum) -> bool:
    a, b = ({k: c for k, c in x.items() if c} for x in (a, b))
    return a.keys() == b.keys() and all(math.isclose(c, b[k], rel_tol=1e-6) for k, c in a.items())


# -- conditions --------------------------------------------------------------------------------


def _follows(reader: _TermReader, given: tuple[Condition, ...]) -> bool:
    """Whether conditions hold for all terms."""
    same = {(normal(c), holds) for c, holds in reader.conditions}
    mine = _clause(reader, reader.conditions) or frozenset()
    for c, holds in given:
        clause = _clause(reader, ((c, holds),))
        if (normal(c), holds) not in same and (clause is None or not clause <= mine):
            return False
    return True


def _clause(reader: _TermReader, conditions: Sequence[Condition]) -> frozenset[Affine] | None:
    """The affine functions that are >= 0 exactly where all of the conditions hold; None: there are none."""
    ranges = {d.name: d.extent for d in reader.stage.dims} | reader.program.turns
    constants = reader.program.size_constants
    each = ((substitute(c, constants), holds) for c, holds in conditions)
    found = exact_clauses(tuple(c if holds else Unary("!", c, I32) for c, holds in each), ranges)
    return None if found is None or len(found) != 1 else frozenset(found[0])


def _nonempty(reader: _TermReader) -> bool:
    """Whether the first or the last term is one, whatever the result."""
    if not reader.conditions:
        return True
    clause = _clause(reader, reader.conditions)
    if clause is None:
        return False
    dims = reader.stage.dims
    ranges = {d.name: (0, d.extent - 1) for d in dims} | {
        x.var: (0, x.trips - 1) for x in reader.program.loops
    }
    for end in (lambda n: 0, lambda n: n - 1):
        at = {d.name: Affine((), end(d.extent)) for d in dims if d.kind is DimKind.PW}
        if all(f.substitute(at).bounds(ranges)[0] >= 0 for f in clause):
            return True
    return False
