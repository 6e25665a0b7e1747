"""Calls of vector functions that a runtime gets wrong become calls of functions of ours."""

from dataclasses import replace

from mdh.ir.dtype import F32, NARROW
from mdh.ir.expr import Call, Expr, map_children
from mdh.ir.kernel import Alloc, Kernel, Stmt
from mdh.ir.walk import map_expressions, statements, with_bodies
from mdh.target.clike import lanes_of
from mdh.target.dialect import PrintScope
from mdh.target.signature import scope_of


def lane_calls(kernel: Kernel, wrong: frozenset[str]) -> Kernel:
    """wrong: as `sin_f32x8`; such a call gets that name, which `opencl_helpers` defines."""
    if not wrong:
        return kernel
    held = (s.buf for s in statements(kernel.body) if isinstance(s, Alloc))
    scope = scope_of(kernel, {}).with_buffers(*held)
    body = _body(kernel.body, scope, wrong)
    return kernel if body == kernel.body else replace(kernel, body=body)


def _body(body: tuple[Stmt, ...], scope: PrintScope, wrong: frozenset[str]) -> tuple[Stmt, ...]:
    return tuple(
        with_bodies(
            map_expressions(s, lambda e: _expression(e, scope, wrong)), lambda b: _body(b, scope, wrong)
        )
        for s in body
    )


def _expression(e: Expr, scope: PrintScope, wrong: frozenset[str]) -> Expr:
    out = map_children(e, lambda c: _expression(c, scope, wrong))
    if isinstance(e, Call) and isinstance(out, Call) and e.dtype.is_float and (n := lanes_of(e, scope)) > 1:
        held = F32 if e.dtype in NARROW else e.dtype
        name = f"{e.fn}_{held.name}x{n}"
        return replace(out, fn=name) if name in wrong else out
    return out
