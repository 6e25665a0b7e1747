"""The names that a kernel declares."""

from mdh.ir.expr import Var, walk
from mdh.ir.kernel import Alloc, Atomic, For, Kernel, Let
from mdh.ir.walk import expressions, statements


def declared(kernel: Kernel) -> list[str]:
    """Parameters, then what the body declares and names, in order; a name may occur more than once."""
    out = [b.name for b in kernel.buffers] + [name for name, _ in kernel.scalars]
    for s in statements(kernel.body):
        match s:
            case Alloc(buf, _):
                out.append(buf.name)
            case Let(name, _, _):
                out.append(name)
            case For():
                out.append(s.var)
            case Atomic() if s.result is not None:
                out.append(s.result)
            case _:
                pass
        out.extend(n.name for e in expressions(s) for n in walk(e) if isinstance(n, Var))
    return out
