"""The 8-bit floats of `mdh.h`: structs in C, which are stored, copied, and converted by functions."""

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.c.places import Places
from mdh.frontend.typing_rules import convert
from mdh.ir.dtype import EIGHTHS, F8E4M3, F8E5M2, F32, DType
from mdh.ir.expr import Expr

HIDDEN = {"__fp8_e4m3": F8E4M3, "__fp8_e5m2": F8E5M2}
"""What the header's types are called where it is not included: names that no program may use."""
TYPEDEFS = "".join(f" typedef {name} {name.removeprefix('__')};" for name in HIDDEN)
"""What including the header declares."""
_NAMES = {t: name.removeprefix("__") for name, t in HIDDEN.items()}
_TO_FLOAT = {f"{name}_to_float": t for t, name in _NAMES.items()}
_FROM_FLOAT = {f"{name}_from_float": t for t, name in _NAMES.items()}
CONVERSIONS = (*_TO_FLOAT, *_FROM_FLOAT)
"""The header's functions."""


def conversion(name: str, args: tuple[Expr, ...], node: c_ast.Node, places: Places) -> Expr:
    """A call of one of CONVERSIONS. Raises Failed C112, C114."""
    if len(args) != 1:
        raise fail("C112", f"`{name}` takes 1 argument, not {len(args)}", places.of(node, name),
                   help=f"write {name}(x)")  # fmt: skip
    source = _TO_FLOAT.get(name)
    if source is not None:
        return convert(stored(args[0], source, node, places), F32)
    return convert(convert(number(args[0], node, places), F32), _FROM_FLOAT[name])


def number(e: Expr, node: c_ast.Node, places: Places) -> Expr:
    """`e` where C takes a number. Raises Failed C114 for a struct."""
    if e.dtype not in EIGHTHS:
        return e
    name = _NAMES[e.dtype]
    raise fail("C114", f"a value of type {name} is a struct, which C computes nothing with", places.of(node),
               help=f"convert it: {name}_to_float(x)")  # fmt: skip


def stored(e: Expr, t: DType, node: c_ast.Node, places: Places) -> Expr:
    """`e` as C stores it in an object of type `t`. Raises Failed C114 if one of the two is a struct and the
    other is not of its type."""
    if e.dtype == t or not {e.dtype, t} & {*EIGHTHS}:
        return convert(e, t)
    if t not in EIGHTHS:
        return convert(number(e, node, places), t)
    name = _NAMES[t]
    given = (
        f"{name}_from_float({_NAMES[e.dtype]}_to_float(x))" if e.dtype in EIGHTHS else f"{name}_from_float(x)"
    )
    raise fail("C114", f"a value of type {name} is a struct, and what stands here is none of its values",
               places.of(node), help=f"convert it: {given}")  # fmt: skip
