"""Array parameters that are constants, in functions of `ir.syntax`: they become constants of the file.

Patterns (`--const-pattern`) say which elements may differ from zero. The parameter then holds these elements
alone, in row-major order, and each access `C[j][k]` becomes `C_there[j][k] ? C[C_at[j][k]] : 0`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mdh.frontend.bound import BoundText
from mdh.frontend.constant_arrays import (
    ConstantArray,
    Nested,
    check_shape,
    check_type,
    number_text,
    refused,
)
from mdh.frontend.heading import Heading
from mdh.frontend.types import C_TYPES
from mdh.ir import syntax as c
from mdh.ir.dtype import DType
from mdh.source import Span
from mdh.wording import meant

_KINDS = {" ".join(t.words): kind for kind, t in C_TYPES.items()}


def with_constants(function: c.Function, sizes: Mapping[str, int], text: BoundText) -> c.Function:
    """The function with constants in the place of the parameters that `text` has arrays for. sizes: values of
    its parameters. Raises Failed C127 for names that are no array parameters, and for arrays of another type
    or shape."""
    given = text.arrays
    if not given:
        return function
    arrays = {p.name: p for p in function.parameters if p.extents}
    unknown = next((name for name in given if name not in arrays), None)
    if unknown is not None:
        known = ", ".join(arrays)
        hint = meant(unknown, arrays, cutoff=0.5, otherwise=f"arrays: {known}")
        raise refused(f"`{function.name}` has no array parameter `{unknown}`", hint, unknown)
    start = Span(text.source, 0, 1)
    constants = tuple(_constant(arrays[n], a, sizes, start, cropped=text.cropped) for n, a in given.items())
    left = tuple(p for p in function.parameters if p.name not in given)
    return replace(function, parameters=left, constants=(*function.constants, *constants))


def without_constants(heading: Heading, given: Mapping[str, ConstantArray]) -> Heading:
    """The parameters of the calls."""
    if not given:
        return heading
    shapes = {n: s for n, s in heading.shapes.items() if n not in given}
    return replace(heading, parameters=tuple(p for p in heading.parameters if p not in given), shapes=shapes)


def _constant(
    p: c.Declaration, given: ConstantArray, sizes: Mapping[str, int], start: Span, *, cropped: bool
) -> c.Declaration:
    kind, place = _KINDS[" ".join(p.type.words)], p.span or start
    check_type(p.name, given, kind, place)
    extents = tuple(_extent(e, sizes) for e in p.extents if e is not None)
    if not cropped:
        check_shape(p.name, given, extents, place)
    return replace(p, initial=_values(given.elements, kind, cropped=cropped))


def _extent(e: c.Expression, sizes: Mapping[str, int]) -> int:
    """The value of an extent, which is made of numbers and sizes."""
    match e:
        case c.Number(text):
            return int(text)
        case c.Name(name, _):
            return sizes[name]
        case c.Infix("+" | "-" | "*" | "/" as op, left, right):
            a, b = _extent(left, sizes), _extent(right, sizes)
            return {"+": a + b, "-": a - b, "*": a * b, "/": a // b if b else 0}[op]
        case _:
            raise AssertionError(f"no extent: {e}")


def _values(elements: Nested, kind: DType, *, cropped: bool) -> c.Values:
    items = (_values(x, kind, cropped=cropped) if isinstance(x, list) else element(x, kind) for x in elements)
    return c.Values(tuple(items), cropped)


def element(value: float, kind: DType) -> c.Expression:
    """A number as an expression of C, which has no negative literals."""
    if not kind.is_float and value == -(2**63):
        return c.Infix("-", c.Prefix("-", c.Number(number_text(2**63 - 1, kind))), c.Number("1"))
    text = number_text(value, kind)
    return c.Prefix("-", c.Number(text)) if str(value)[0] == "-" else c.Number(text)


def flattened(values: c.Values, shape: tuple[int, ...]) -> Iterator[c.Expression]:
    """The elements of an array of this shape in row-major order."""
    for item in values.kept(shape[0]):
        if isinstance(item, c.Values):
            yield from flattened(item, shape[1:])
        else:
            yield item
