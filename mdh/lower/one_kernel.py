"""What kernels have together that become one: their arrays, and names that mean one thing each."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from mdh.ir.expr import Expr, Var, walk
from mdh.ir.kernel import Atomic, AwaitKernels, Buf, Comment, For, Kernel, Let, Stmt
from mdh.ir.names import fresh
from mdh.ir.walk import declared_by, expressions, rewritten, statements, substitute_in, with_buffers


def arrays_of(kernels: Sequence[Kernel]) -> tuple[tuple[Buf, ...], tuple[Buf, ...]]:
    """The buffers and the constant arrays of all kernels."""
    return _merged(b for k in kernels for b in k.buffers), _merged(b for k in kernels for b in k.constants)


def _merged(buffers: Iterable[Buf]) -> tuple[Buf, ...]:
    """Each array once, as all kernels use it."""
    out: dict[str, Buf] = {}
    for b in buffers:
        known = out.get(b.name, b)
        both = replace(b, readonly=b.readonly and known.readonly, volatile=b.volatile or known.volatile)
        out[b.name] = both
    return tuple(out.values())


def own_names(kernel: Kernel, names: set[str], *, awaits: bool = False) -> tuple[Stmt, ...]:
    """The body, with its declarations renamed so that none has a name in use. names: those in use; receives
    the new ones. awaits: whether it still awaits the kernels in front."""
    own = dict.fromkeys(n for s in statements(kernel.body) if (n := declared_by(s)) is not None)
    new = {n: fresh(n, names) for n in own}
    changed = {n: other for n, other in new.items() if n != other}
    body: tuple[Stmt, ...] = tuple(s for s in kernel.body if awaits or not isinstance(s, AwaitKernels))
    if changed:
        body = rewritten(body, lambda s: _with_names(with_buffers(s, changed), changed))
        body = substitute_in(body, _variables(body, changed))
    return (Comment(f"stage {kernel.stage}"), *body)


def _with_names(s: Stmt, names: Mapping[str, str]) -> Stmt:
    """The statement with other names for the variables that it declares itself."""
    match s:
        case Let():
            return replace(s, name=names.get(s.name, s.name))
        case For():
            return replace(s, var=names.get(s.var, s.var))
        case Atomic(result=result) if result is not None:
            return replace(s, result=names.get(result, result))
        case _:
            return s


def _variables(body: tuple[Stmt, ...], names: Mapping[str, str]) -> dict[str, Expr]:
    """What stands for each variable of another name: one of the same type."""
    found = (n for s in statements(body) for e in expressions(s) for n in walk(e) if isinstance(n, Var))
    types = {n.name: n.dtype for n in found}
    return {n: Var(names[n], t) for n, t in types.items() if n in names}
