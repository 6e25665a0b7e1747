"""Shapes of results as functions of sizes that may be symbols: anything that Python can add and multiply."""

from collections.abc import Mapping
from typing import Any

from mdh.ir import syntax as c
from mdh.operators.form import Form

Shape = tuple[Any, ...]


def symbolic_shape(form: Form, result: str, sizes: Mapping[str, Any]) -> Shape | None:
    """The shape of a result, made of the given sizes by arithmetic alone. None where the text does not
    declare it in that way."""
    names = form.extents[result]
    if names and all(n is not None and n in sizes for n in names):
        return tuple(sizes[n] for n in names if n is not None)
    if form.syntax is None:
        return None
    declared = next(p for p in form.syntax.parameters if p.name == result)
    known = {**_constants(form.syntax), **sizes}
    # a plain pointer declares none
    values = [None if e is None else _value(e, known) for e in declared.extents]
    return None if not values or None in values else tuple(values)


def _constants(f: c.Function) -> dict[str, Any]:
    """The integers that the file names: `const int N = 64;`."""
    out: dict[str, Any] = {}
    for d in f.constants:
        if not d.extents and isinstance(d.initial, c.Number | c.Infix | c.Name):
            value = _value(d.initial, out)
            if value is not None:
                out[d.name] = value
    return out


def _value(e: c.Expression, known: Mapping[str, Any]) -> Any:
    """The value of an extent; None if it is more than sums, differences and products."""
    match e:
        case c.Number(text) if text.isdigit() and (text == "0" or text[0] != "0"):
            return int(text)
        case c.Name(name):
            return known.get(name)
        case c.Infix(("+" | "-" | "*") as op, left, right):
            a, b = _value(left, known), _value(right, known)
            if a is None or b is None:
                return None
            return a + b if op == "+" else a - b if op == "-" else a * b
        case _:
            return None
