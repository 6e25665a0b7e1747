"""The reverse mode for one expression: what a change of its value means for each element that it reads.

Conditions are kept apart from values. A term under conditions may read elements that lie inside of their
arrays only where these hold.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mdh.frontend.typing_rules import binary, convert, unary
from mdh.gradient.assignments import GradientAssignment
from mdh.gradient.functions import partials
from mdh.ir.dtype import NARROW, DType, accumulator
from mdh.ir.expr import Binary, Call, Cast, Const, Expr, Load, Select, Unary, Var, walk
from mdh.ir.program import Condition


class NoRuleError(Exception):
    """An expression has a part whose derivative is not known; the message says which, in words."""


@dataclass(frozen=True, slots=True)
class GradientTerm:
    """`value` is added to the gradient of the element `load`, where all of `conds` hold."""

    load: Load
    value: Expr
    conds: tuple[Condition, ...] = ()


def terms_of(e: Expr, seed: Expr, conds: tuple[Condition, ...] = ()) -> list[GradientTerm]:
    """The terms of `e` for a gradient `seed` of its value; seeds of narrow floats are f32. Raises
    NoRuleError."""
    return list(_terms(e, seed, conds))


def _terms(e: Expr, seed: Expr, conds: tuple[Condition, ...]) -> Iterator[GradientTerm]:
    if not e.dtype.is_float or (isinstance(seed, Const) and seed.value == 0):
        return
    match e:
        case Const() | Var():
            return
        case Load():
            yield GradientTerm(e, seed, conds)
        case Cast(arg):
            yield from _terms(arg, _as(seed, arg.dtype), conds)
        case Unary("-", arg):
            yield from _terms(arg, unary("-", seed), conds)
        case Binary():
            yield from _of_binary(e, seed, conds)
        case Select(cond, then, other):
            yield from _terms(then, seed, (*conds, (cond, True)))
            yield from _terms(other, seed, (*conds, (cond, False)))
        case Call():
            yield from _of_call(e, seed, conds)
        case _:
            raise NoRuleError(f"the operator `{e.op}` has no derivative")


def _of_binary(e: Binary, seed: Expr, conds: tuple[Condition, ...]) -> Iterator[GradientTerm]:
    left, right = e.left, e.right
    match e.op:
        case "+":
            yield from _terms(left, seed, conds)
            yield from _terms(right, seed, conds)
        case "-":
            yield from _terms(left, seed, conds)
            yield from _terms(right, unary("-", seed), conds)
        case "*":
            yield from _terms(left, product(seed, right), conds)
            yield from _terms(right, product(seed, left), conds)
        case "/":
            yield from _terms(left, binary("/", seed, right), conds)
            if reads(right):
                by_right = binary("/", product(seed, e), right)
                yield from _terms(right, unary("-", by_right), conds)
        case _:
            raise NoRuleError(f"the operator `{e.op}` has no derivative")


def _of_call(e: Call, seed: Expr, conds: tuple[Condition, ...]) -> Iterator[GradientTerm]:
    by_argument = partials(e)
    if by_argument is None:
        raise NoRuleError(f"the function `{e.fn}` has no derivative here")
    for arg, by in zip(e.args, by_argument, strict=True):
        if by is not None and reads(arg):
            yield from _terms(arg, product(seed, by), conds)


def reads(e: Expr) -> bool:
    """Whether a gradient can flow into the expression at all."""
    match e:
        case Load():
            return e.dtype.is_float
        case Cast(arg) | Unary(_, arg):
            return reads(arg)
        case Binary(_, left, right):
            return e.dtype.is_float and (reads(left) or reads(right))
        case Select(_, then, other):
            return reads(then) or reads(other)
        case Call():
            return any(reads(a) for a in e.args)
        case _:
            return False


def reproducible(e: Expr, maps: Mapping[str, GradientAssignment]) -> bool:
    """Whether every kernel that computes the value gets the same bits. maps: those that a kernel may compute
    where it reads them.

    Compilers may contract products and sums (fma), and functions have more than one implementation. All else
    is rounded in one way.
    """
    left, seen, ops = [e], set[str](), set[str]()
    while left:
        for n in walk(left.pop()):
            if isinstance(n, Call) and n.fn not in _EXACT:
                return False
            if isinstance(n, Binary) and n.dtype.is_float:
                ops.add("+" if n.op == "-" else n.op)
            if isinstance(n, Load) and n.buffer not in seen:
                seen.add(n.buffer)
                left += _values(n.buffer, maps)
    return not ops >= {"+", "*"}


def _values(name: str, maps: Mapping[str, GradientAssignment]) -> list[Expr]:
    """What an array is computed of, with the elements that a later map leaves as they are."""
    found = list[Expr]()
    while name in maps:
        found.append(maps[name].value)
        name = maps[name].before or ""
    return found


_EXACT = frozenset(("fabs", "fmax", "fmin", "floor", "ceil", "round", "trunc", "rint", "copysign", "abs"))


def product(a: Expr, b: Expr) -> Expr:
    """a * b, without factors of 1."""
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Const) and one.value == 1:
            return other
    return binary("*", a, b)


def _as(seed: Expr, t: DType) -> Expr:
    """A seed for an expression of type t. Those of narrow floats stay f32, so that nothing is rounded before
    the sum is known."""
    if t in NARROW:
        t = accumulator(t)
    return convert(seed, t) if t.is_float else seed
