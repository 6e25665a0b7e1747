"""What a condition guards is read before it, where its place is inside the array whatever the condition says.

GCC 12 makes masked reads of `b[k] = c[k] ? a[k] : 0` where it turns an inner loop over k into vectors, and
where there are several vectors it gives all of them the first one's mask. A value that is read anyway needs
no mask. Places that depend on the condition (`i > 0 ? a[i - 1] : 0`) stay behind it.
"""

from collections.abc import Iterator
from dataclasses import replace

from mdh.hardware import Space
from mdh.ir.expr import Binary, Const, Expr, Load, Select, Var, children, map_children, walk
from mdh.ir.kernel import Alloc, Atomic, Comment, For, If, Kernel, Let, Stmt, Store, While
from mdh.ir.names import unused
from mdh.ir.ranges import Known, bounds
from mdh.ir.walk import expressions, map_expressions, statements
from mdh.target.clike import is_single, lanes_of
from mdh.target.dialect import PrintScope
from mdh.target.names import declared
from mdh.target.signature import scope_of

Place = tuple[str, tuple[Expr, ...]]
"""A buffer and the index of an element."""
REMARK = "read whatever the condition says: GCC 12 gives masked reads wrong masks"
"""Beside the first of a kernel's."""
UNSUNK = """
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("no-tree-sink")  // reads stay in front of the conditions
#endif
"""
"""Behind the headers: GCC would move a read that one side of a choice uses back under the condition."""


def reads_first(kernel: Kernel) -> Kernel:
    """The same kernel, in which reads under a condition come first as definitions of their own."""
    if not any(_chooses(e) for s in statements(kernel.body) for e in expressions(s)):
        return kernel
    rewriter = _ReadsFirstRewriter({*declared(kernel)})
    body = rewriter.body(kernel.body, scope_of(kernel, {}))
    return kernel if body == kernel.body else replace(kernel, body=body)


def _chooses(e: Expr) -> bool:
    """Whether conditions inside an expression decide what is read."""
    return any(isinstance(n, Select) or (isinstance(n, Binary) and n.op in ("&&", "||")) for n in walk(e))


class _ReadsFirstRewriter:
    """Walks a kernel once; `names` are those in use."""

    def __init__(self, names: set[str]) -> None:
        self.names = names
        self.said = False

    def body(self, body: tuple[Stmt, ...], scope: PrintScope) -> tuple[Stmt, ...]:
        out: list[Stmt] = []
        for s in body:
            if isinstance(s, Alloc):
                scope = scope.with_buffers(s.buf)
            out.extend(self.statement(s, scope))
            if isinstance(s, Let):
                scope = _knowing(scope, scope.known.after(s))
        return tuple(out)

    def statement(self, s: Stmt, scope: PrintScope) -> Iterator[Stmt]:
        match s:
            case For():
                yield replace(s, body=self.body(s.body, _knowing(scope, scope.known.within_loop(s))))
            case If():
                first, cond = self.split(s, scope)
                assert isinstance(cond, If)
                then = self.body(s.then, _knowing(scope, scope.known.where(s.cond)))
                yield from first
                yield replace(cond, then=then, orelse=self.body(s.orelse, scope))
            case While():
                # what it reads changes from turn to turn
                yield replace(s, body=self.body(s.body, scope))
            case Let() | Store() | Atomic() | Alloc():
                first, rest = self.split(s, scope)
                yield from first
                yield rest
            case _:
                yield s

    def split(self, s: Stmt, scope: PrintScope) -> tuple[tuple[Stmt, ...], Stmt]:
        """The definitions that come first, and the statement with their names."""
        if not any(map(_chooses, expressions(s))):
            return (), s
        lanes: dict[int, int] = {}
        certain = frozenset(p for e in expressions(s) for p in _always(e, scope, lanes)) | _written(s)
        found: dict[Load, Let] = {}

        def named(e: Expr, guarded: bool) -> Expr:
            match e:
                case Load() if guarded and e not in found and self.may(e, certain, scope):
                    name = unused(f"{e.buffer}_read", self.names)
                    self.names.add(name)
                    found[e] = Let(name, e, e.dtype)
            match e:
                case Load() if e in found and guarded:
                    return Var(found[e].name, e.dtype)
                case Select(cond, then, other, dtype) if lanes_of(e, scope, lanes) == 1:
                    return Select(named(cond, guarded), named(then, True), named(other, True), dtype)
                case Binary("&&" | "||" as op, left, right, dtype) if lanes_of(e, scope, lanes) == 1:
                    return Binary(op, named(left, guarded), named(right, True), dtype)
                case _:
                    return map_children(e, lambda c: named(c, guarded))

        rest = map_expressions(s, lambda e: named(e, False))
        return self.remarked(tuple(found.values())), rest

    def remarked(self, first: tuple[Let, ...]) -> tuple[Stmt, ...]:
        """With a comment above the first ones of the kernel."""
        if not first or self.said:
            return first
        self.said = True
        return Comment(REMARK), *first

    def may(self, e: Load, certain: frozenset[Place], scope: PrintScope) -> bool:
        """The element is there whatever the condition says, and not at hand already."""
        buf = scope.buffers[e.buffer]
        if e.lanes > 1 or buf.lanes > 1 or is_single(buf) or e.buffer in scope.spun:
            return False
        # a number as the place in an array of the kernel's own: compilers see that it is there
        plain = buf.space is Space.RM and all(isinstance(i, Const) for i in e.index)
        if plain or (e.buffer, e.index) in certain:
            return False
        ranges = [bounds(i, scope.known) for i in e.index]
        there = buf.least_shape
        if all(r is not None and r[0] >= 0 and r[1] < n for r, n in zip(ranges, there, strict=True)):
            return True
        return any(
            index == e.index and _no_larger(scope.buffers[other].shape, there) for other, index in certain
        )


def _knowing(scope: PrintScope, known: Known) -> PrintScope:
    return replace(scope, known=known)


def _no_larger(shape: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return len(shape) == len(other) and all(a <= b for a, b in zip(shape, other, strict=True))


def _written(s: Stmt) -> frozenset[Place]:
    return frozenset([(s.buffer, s.index)]) if isinstance(s, Store) and s.lanes == 1 else frozenset()


def _always(e: Expr, scope: PrintScope, lanes: dict[int, int]) -> Iterator[Place]:
    """What an expression reads whatever its conditions say. lanes: of its parts, as far as they are known."""
    match e:
        case Load(buffer, index, _, 1):
            yield buffer, index
    parts = children(e)
    match e:
        case Select(cond, _, _, _) if lanes_of(e, scope, lanes) == 1:
            parts = (cond,)
        case Binary("&&" | "||", left, _, _) if lanes_of(e, scope, lanes) == 1:
            parts = (left,)
    for part in parts:
        yield from _always(part, scope, lanes)
