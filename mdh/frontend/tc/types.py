"""The types and functions of Tensor Comprehensions, in terms of C.

A value has the common type of the tensors and scalars that it is made of, by C's conversions. Literals have
none of their own: `0.5 * A(i)` is a float where A holds floats. A function without the suffix `f` computes in
the type of its arguments.
"""

from collections.abc import Mapping

from mdh.diagnostics import Failed, fail
from mdh.frontend.tc.syntax import (
    Application,
    BinaryOperation,
    Expression,
    ExtentOf,
    Literal,
    NameUse,
    Negation,
    Ternary,
)
from mdh.frontend.tc.tokens import integer, is_float_text
from mdh.frontend.token_stream import Word
from mdh.frontend.types import TYPES
from mdh.frontend.typing_rules import FUNCTIONS
from mdh.ir.dtype import F32, I32, I64, NARROW, DType, common, promote_integer
from mdh.ir.expr import COMPARISONS
from mdh.source import Span
from mdh.wording import meant

TYPE, FUNCTION, KIND = "T101", "T106", "T112"
ANY_FLOAT = DType("literal", "float", 0)
"""The type of a value that is made only of float literals such as `0.5`. It becomes the float type of the
other operand. If there is none, it becomes `float`."""
INTEGER = frozenset(("%", "&", "|", "^", "<<", ">>"))
"""Operators that take integers alone."""
_CHOICES = {"min": "fmin", "max": "fmax", "abs": "fabs"}
"""Functions that take integers or floats, with the functions of math.h that compute them for floats."""
_MADE = {"rsqrt": 1, "exp10": 1}
"""Functions that math.h lacks, with their numbers of arguments: `1 / sqrt(x)` and `pow(10, x)`."""
KNOWN = {**FUNCTIONS, **_MADE}
"""The functions of floats, with their numbers of arguments."""


def type_of(word: Word) -> DType:
    """The type that a word names. Raises Failed T101."""
    found = TYPES.get(word.text)
    if found is None:
        hint = meant(word.text, TYPES, cutoff=0.6, otherwise=f"types: {', '.join(TYPES)}")
        raise fail(TYPE, f"`{word.text}` is no type", word.span, help=hint)
    return found


def is_function(name: str) -> bool:
    return name in _CHOICES or name in TYPES or base_of(name) is not None


def base_of(name: str) -> str | None:
    """The function of floats without the suffix; None if there is none."""
    if name in KNOWN:
        return name
    short = name.removesuffix("f")
    return short if short in KNOWN and short != name else None


def cast_of(name: str) -> DType | None:
    """The type that `float(x)` converts to."""
    return TYPES.get(name)


def float_form(name: str) -> str | None:
    """The function of math.h that `min`, `max` or `abs` is for floats."""
    return _CHOICES.get(name)


def unknown_function(name: str, span: Span, tensors: list[str]) -> Failed:
    """T106 for a name that is neither a function nor a tensor."""
    known = [*KNOWN, *_CHOICES]
    hint = meant(
        name,
        [*tensors, *known],
        cutoff=0.75,
        otherwise=f"functions: {', '.join(sorted(known))}; casts: float(x)",
    )
    return fail(FUNCTION, f"`{name}` is neither a tensor nor a function that mdh has", span, help=hint)


class Typing:
    """The types of names: `tensors` of elements, None if not known yet; `scalars` of parameters."""

    def __init__(self, tensors: Mapping[str, DType | None], scalars: Mapping[str, DType]) -> None:
        self.tensors, self.scalars = tensors, scalars
        self._known: dict[int, DType | None] = {}

    def of(self, e: Expression) -> DType | None:
        """The type of a value. Of literals alone it is None if they are integers, else ANY_FLOAT. Raises
        Failed T112."""
        if id(e) not in self._known:
            self._known[id(e)] = self._of(e)
        return self._known[id(e)]

    def _of(self, e: Expression) -> DType | None:
        match e:
            case Literal():
                if is_float_literal(e):
                    return ANY_FLOAT
                return I64 if integer(e.text) >= 2**31 else None
            case NameUse(name, _):
                return self.scalars.get(name, I32)
            case ExtentOf():
                return I32
            case Application():
                return self._application(e)
            case Negation(op, operand, span):
                inner = self.of(operand)
                if op == "~" and inner is not None and inner.is_float:
                    raise fail(KIND, "`~` needs an integer", span)
                return I32 if op == "!" else _promoted(inner)
            case BinaryOperation(op, left, right, span):
                both = self.joined(self.of(left), self.of(right))
                if op in INTEGER and both is not None and both.is_float:
                    hint = "fmod(x, y) is for floats" if op == "%" else ""
                    raise fail(KIND, f"`{op}` needs integers", span, help=hint)
                return I32 if op in COMPARISONS else _promoted(both)
            case Ternary(cond, then, other):
                self.of(cond)
                return _promoted(self.joined(self.of(then), self.of(other)))

    def arguments(self, e: Application) -> DType | None:
        """The common type of the arguments of a function."""
        found: DType | None = None
        for a in e.arguments:
            found = self.joined(found, self.of(a))
        return found

    def _application(self, e: Application) -> DType | None:
        if e.name in self.tensors:
            return self.tensors[e.name]
        cast = cast_of(e.name)
        if cast is not None:
            return cast
        found = self.arguments(e)
        if e.name in _CHOICES and (found is None or not found.is_float):
            return _promoted(found)
        single = base_of(e.name) != e.name and e.name not in _CHOICES
        return F32 if single or found is None or not found.is_float else found

    @staticmethod
    def joined(a: DType | None, b: DType | None) -> DType | None:
        """The common type by C's conversions. Literals take the other type, if it is one for them."""
        if a is None or b is None:
            return a or b
        if ANY_FLOAT in (a, b):
            other = b if a == ANY_FLOAT else a
            return other if other.is_float else F32
        return common(a, b)

    def stored(self, e: Expression) -> DType:
        """The type of a tensor that holds the value: of literals alone, `int` or `float`."""
        found = self.of(e) or I32
        return F32 if found == ANY_FLOAT else found


def _promoted(t: DType | None) -> DType | None:
    return t if t is None else promote_integer(t)


def taken(t: DType | None, wanted: DType | None) -> DType | None:
    """The type in which a value of type t is computed. Literals alone take the type that is wanted of them,
    if it is one for them."""
    if t is None or (t == ANY_FLOAT and wanted is not None and wanted.is_float):
        t = wanted
    return F32 if t in NARROW or t == ANY_FLOAT else t


def is_float_literal(x: Literal) -> bool:
    return is_float_text(x.text)
