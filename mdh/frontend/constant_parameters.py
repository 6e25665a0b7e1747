"""Array parameters that are constants, in functions of `ir.syntax`: they become constants of the file.

Patterns (`--const-pattern`) say which elements may differ from zero. The parameter then holds these elements
alone, in row-major order, and each access `C[j][k]` becomes `C_there[j][k] ? C[C_at[j][k]] : 0`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mdh.frontend.bound import BoundText
from mdh.frontend.constant_arrays import (
    AT,
    THERE,
    ConstantArray,
    Nested,
    check_shape,
    check_type,
    no_array,
    number_text,
    packed,
)
from mdh.frontend.heading import Heading
from mdh.frontend.types import C_TYPES
from mdh.ir import syntax as c
from mdh.ir.dtype import DType
from mdh.source import Span

INT = c.CType(("int",))
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
        raise no_array(unknown, arrays, function.name)
    start = Span(text.source, 0, 1)
    constants = list(function.constants)
    parameters = {p.name: p for p in function.parameters}
    body = function.body
    for name, array in given.items():
        p = arrays[name]
        if not array.pattern:
            constants.append(_constant(p, array, sizes, start, cropped=text.cropped))
            del parameters[name]
            continue
        for suffix, table in zip((THERE, AT), packed(array), strict=True):
            one = _constant(replace(p, type=INT), table, sizes, start, cropped=text.cropped)
            constants.append(replace(one, name=name + suffix))
        parameters[name] = replace(p, extents=(c.Number(str(max(1, sum(packed(array)[0].flat)))),))
        body = _read_packed(body, name)
    return replace(function, parameters=tuple(parameters.values()), constants=tuple(constants), body=body)


def _read_packed(block: c.Block, name: str) -> c.Block:
    """`C_there[j][k] ? C[C_at[j][k]] : 0` in the place of every element that is read."""

    def value(e: c.Expression) -> c.Expression:
        match e:
            case c.Element(array, subscripts, span) if array == name:
                inner = tuple(map(value, subscripts))
                at = c.Element(name, (c.Element(name + AT, inner, span),), span)
                return c.Conditional(c.Element(name + THERE, inner, span), at, c.Number("0"))
            case c.Element():
                return replace(e, subscripts=tuple(map(value, e.subscripts)))
            case c.Prefix() | c.Conversion():
                return replace(e, operand=value(e.operand))
            case c.Infix():
                return replace(e, left=value(e.left), right=value(e.right))
            case c.Conditional():
                return c.Conditional(value(e.cond), value(e.then), value(e.other))
            case c.Invocation():
                return replace(e, arguments=tuple(map(value, e.arguments)))
            case _:
                return e

    def statement(s: c.Statement) -> c.Statement:
        match s:
            case c.Block():
                return c.Block(tuple(map(statement, s.body)))
            case c.ForStatement():
                return replace(s, body=statement(s.body))
            case c.Assignment():
                return replace(s, value=value(s.value))
            case _:
                return s

    return c.Block(tuple(map(statement, block.body)))


def without_constants(heading: Heading, given: Mapping[str, ConstantArray]) -> Heading:
    """The parameters of the calls."""
    gone = {n for n, a in given.items() if not a.pattern}
    shapes = {n: s for n, s in heading.shapes.items() if n not in given}
    shapes |= {n: (None,) for n in given if n not in gone}
    parameters, order = (tuple(p for p in ps if p not in gone) for ps in (heading.parameters, heading.order))
    return replace(heading, parameters=parameters, order=order, shapes=shapes)


def _constant(
    p: c.Declaration, given: ConstantArray, sizes: Mapping[str, int], start: Span, *, cropped: bool
) -> c.Declaration:
    kind, place = _KINDS[" ".join(p.type.words)], p.span or start
    check_type(p.name, given, kind, place)
    extents = tuple(_extent(e, sizes) for e in p.extents if e is not None)
    if not cropped:
        check_shape(p.name, given, extents, place)
    # sizes are parameters, which a declaration in front of the function cannot name
    counts = tuple(c.Number(str(n)) for n in extents)
    return replace(p, extents=counts, initial=_values(given.elements, kind, cropped=cropped))


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
