"""The names that a kernel declares."""

from mdh.ir.expr import Var, walk
from mdh.ir.kernel import Kernel
from mdh.ir.walk import declared_by, expressions, statements


def declared(kernel: Kernel) -> list[str]:
    """Parameters, then what the body declares and names, in order; a name may occur more than once."""
    out = [b.name for b in kernel.buffers] + [name for name, _ in kernel.scalars]
    for s in statements(kernel.body):
        name = declared_by(s)
        if name is not None:
            out.append(name)
        out.extend(n.name for e in expressions(s) for n in walk(e) if isinstance(n, Var))
    return out
