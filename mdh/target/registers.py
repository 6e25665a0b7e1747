"""Declarations of register buffers, with their first values."""

from mdh.ir.expr import Const
from mdh.ir.kernel import Alloc
from mdh.target.clike import is_single
from mdh.target.dialect import Dialect, PrintScope
from mdh.target.names import fresh
from mdh.target.widest import access_bytes


def declaration(s: Alloc, scope: PrintScope, dialect: Dialect) -> list[str]:
    """`float acc[64] = {};`, `float sum = 0.0f;`, or a declaration and a loop for other values."""
    buf = s.buf
    name = scope.name(buf.name)
    align = access_bytes(buf, scope.lanes)
    lead = dialect.aligned(align) if buf.lanes == 1 and align > buf.dtype.bytes else ""
    head = f"{lead}{dialect.element_type(buf)} {name}"
    if is_single(buf):
        return [f"{head};" if s.init is None else f"{head} = {dialect.stored(buf, s.init, scope)};"]
    head += f"[{buf.elements}]"
    if s.init is None:
        return [f"{head};"]
    if isinstance(s.init, Const) and s.init.value == 0 and str(s.init.value)[0] != "-":
        zeros = dialect.zeros(buf)
        if zeros:
            return [f"{head} = {zeros};"]
    i = fresh("i", scope.names.values(), dialect.language)
    return [
        f"{head};",
        dialect.unroll(0, buf.elements),
        f"for (int {i} = 0; {i} < {buf.elements}; ++{i})",
        f"    {name}[{i}] = {dialect.stored(buf, s.init, scope)};",
    ]
