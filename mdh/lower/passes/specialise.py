"""Partial evaluation: loops over constant arrays that the schedule unrolls become code without them.

Requires: names that hide no other. Guarantees: no read of a constant array at an index of numbers; no loop
that is to be unrolled whole and whose variable is in the index of such a read.

What a zero is multiplied by is left out, unless floats keep to the letter (0 * NaN is NaN). So is what then
adds nothing to its sum. What all copies of a body compute alike is computed once in front of them.

Source: Jones, Gomard and Sestoft, "Partial Evaluation and Automatic Program Generation", 1993.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from mdh.hardware import Space
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Var, map_children, walk
from mdh.ir.kernel import Alloc, Buf, Comment, For, ForKind, If, Let, Stmt, Store
from mdh.ir.walk import (
    allocated,
    declared_by,
    expressions,
    map_expressions,
    statements,
    substitute_in,
    trips,
    with_bodies,
    with_buffers,
    writes,
)
from mdh.lower.passes.folding import Folding

PRODUCT = "product"
"""The stem of names of what copies share."""


def specialise(
    body: tuple[Stmt, ...], bufs: Mapping[str, Buf], names: set[str], *, strict: bool
) -> tuple[Stmt, ...]:
    """bufs: the kernel's arrays. names: those in use; new ones are added. strict: floats keep to the
    letter."""
    constants = {n: b for n, b in bufs.items() if b.values is not None}
    lanes = {n: b.lanes for n, b in allocated(body).items() if b.lanes > 1}
    return tuple(_Specialiser(Folding(constants, strict), lanes, names, {}).block(body))


@dataclass(frozen=True, slots=True)
class _Product:
    """A value with a name. lanes: of a vector; 1 for a number."""

    name: str
    value: Expr
    lanes: int

    @property
    def reference(self) -> Expr:
        """What stands for the value."""
        dtype = self.value.dtype
        return (
            Var(self.name, dtype) if self.lanes == 1 else Load(self.name, (Const(0, I32),), dtype, self.lanes)
        )

    @property
    def definition(self) -> tuple[Stmt, ...]:
        dtype = self.value.dtype
        if self.lanes == 1:
            return (Let(self.name, self.value, dtype),)
        row = Buf(self.name, Space.RM, dtype, (1,), (1,), lanes=self.lanes)
        return Alloc(row), Store(self.name, (Const(0, I32),), self.value)


@dataclass(frozen=True, slots=True)
class _Specialiser:
    """lanes: of the registers that hold vectors. numbers: by stem, from which number on names are looked for;
    earlier ones are in use."""

    folding: Folding
    lanes: Mapping[str, int]
    names: set[str]
    numbers: dict[str, int]

    def block(self, body: tuple[Stmt, ...]) -> Iterator[Stmt]:
        for s in body:
            if isinstance(s, For) and self._unrolls(s):
                yield from self._copies(s)
                continue
            t = map_expressions(s, self.folding.folded)
            match t:
                case If(Const(value), then, orelse) if s != t:
                    yield from self.block(then if value else orelse)
                case Store(buffer, index, value) if _is_element(value, buffer, index):
                    pass
                case _:
                    t = with_bodies(t, lambda inner: tuple(self.block(inner)))
                    if not _is_empty(t):
                        yield t

    def _unrolls(self, s: For) -> bool:
        whole = (
            s.kind is ForKind.UNROLL and s.factor == 0 and isinstance(s.start, Const) and trips(s) is not None
        )
        return whole and any(
            isinstance(n, Load) and n.buffer in self.folding.constants and _names(n.index, s.var)
            for t in statements(s.body)
            for e in expressions(t)
            for n in walk(e)
        )

    def _copies(self, s: For) -> Iterator[Stmt]:
        """The turns of a loop one after another, behind what they share."""
        shared, inner = self._shared(s)
        assert isinstance(s.start, Const) and isinstance(s.step, Const)
        first, step = int(s.start.value), int(s.step.value)
        values = [Const(first + turn * step, s.start.dtype) for turn in range(trips(s) or 0)]
        plain = tuple(t for t in inner if isinstance(t, Store | Comment))
        if len(plain) == len(inner):
            yield from _needed(shared, list(self._stores(plain, s.var, values)))
            return
        out: list[Stmt] = []
        for turn, value in enumerate(values):
            one = substitute_in(self._renamed(inner), {s.var: value})
            out += [t for t in self.block(one) if turn == 0 or not isinstance(t, Comment)]
        yield from _needed(shared, out)

    def _stores(self, body: tuple[Store | Comment, ...], var: str, values: list[Const]) -> Iterator[Stmt]:
        """The turns of a loop that holds nothing but stores. Most turns are of such loops, so what does not
        change is computed once."""
        by_turn = self.folding.by_turn
        stores = [t for t in body if isinstance(t, Store)]
        each = [(tuple(by_turn(e, var) for e in t.index), by_turn(t.value, var)) for t in stores]
        for turn, value in enumerate(values):
            left = iter(each)
            for t in body:
                if isinstance(t, Comment):
                    if turn == 0:
                        yield t
                    continue
                places, of = next(left)
                index, new = tuple([p(value) for p in places]), of(value)
                if not _is_element(new, t.buffer, index):
                    yield replace(t, index=index, value=new)

    def _fresh(self, stem: str) -> str:
        """As `names.fresh`, without a look at each of the names that are in use."""
        name, n = stem, self.numbers.get(stem, 2)
        while name in self.names:
            name, n = f"{stem}_{n}", n + 1
        self.names.add(name)
        self.numbers[stem] = n
        return name

    def _shared(self, s: For) -> tuple[list[_Product], tuple[Stmt, ...]]:
        """The products that have the same value in every turn, and the body with names in place of them."""
        inner = list(statements(s.body))
        changing = {s.var, *(n for t in inner if (n := declared_by(t)) is not None)}
        written = {n for t in inner for n in writes(t)}
        found: dict[Expr, _Product] = {}

        def named(e: Expr) -> Expr:
            if isinstance(e, Binary) and e.op == "*" and e.dtype.is_float and _constant(e, changing, written):
                if e not in found:
                    found[e] = _Product(self._fresh(PRODUCT), self.folding.folded(e), self._lanes(e))
                return found[e].reference
            return map_children(e, named)

        body = tuple(_with_each(t, named) for t in s.body)
        return list(found.values()), body

    def _lanes(self, e: Expr) -> int:
        """The lanes of a value: 1 for a number."""
        loads = [n for n in walk(e) if isinstance(n, Load)]
        return max((max(n.lanes, self.lanes.get(n.buffer, 1)) for n in loads), default=1)

    def _renamed(self, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        """A copy of a body, whose declarations get names of their own."""
        own = {n for s in body if (n := declared_by(s)) is not None and isinstance(s, Let | Alloc)}
        if not own:
            return body
        new = {n: self._fresh(n) for n in own}
        lets = {s.name: s.dtype for s in body if isinstance(s, Let)}
        out = substitute_in(body, {n: Var(new[n], t) for n, t in lets.items()})
        named = (replace(s, name=new[s.name]) if isinstance(s, Let) else s for s in out)
        return tuple(_with_buffers(s, new) for s in named)


def _with_each(s: Stmt, f: Callable[[Expr], Expr]) -> Stmt:
    """A statement with `f` applied to all expressions in it, those of its bodies included."""
    return with_bodies(map_expressions(s, f), lambda inner: tuple(_with_each(x, f) for x in inner))


def _with_buffers(s: Stmt, names: Mapping[str, str]) -> Stmt:
    return with_bodies(with_buffers(s, names), lambda inner: tuple(_with_buffers(x, names) for x in inner))


def _needed(shared: list[_Product], copies: list[Stmt]) -> Iterator[Stmt]:
    """The copies, behind the products that two of them use. A single use has the value itself."""
    if not shared:
        yield from copies
        return
    uses: Counter[str] = Counter()
    for s in statements(tuple(copies)):
        for e in expressions(s):
            uses.update(
                n.name if isinstance(n, Var) else n.buffer for n in walk(e) if isinstance(n, Var | Load)
            )
    single = {p.reference: p.value for p in shared if uses[p.name] == 1}
    for p in shared:
        if uses[p.name] > 1:
            yield from p.definition

    def whole(e: Expr) -> Expr:
        return single[e] if e in single else map_children(e, whole)

    yield from (_with_each(s, whole) for s in copies) if single else copies


def _is_empty(s: Stmt) -> bool:
    """Whether nothing is left of a loop or a branch."""
    return (isinstance(s, For) and not s.body) or (isinstance(s, If) and not s.then and not s.orelse)


def _is_element(e: Expr, buffer: str, index: tuple[Expr, ...]) -> bool:
    """Whether a value is this element, which is then stored as it is."""
    return isinstance(e, Load) and e.buffer == buffer and e.index == index


def _names(index: tuple[Expr, ...], name: str) -> bool:
    return any(isinstance(n, Var) and n.name == name for e in index for n in walk(e))


def _constant(e: Expr, changing: set[str], written: set[str]) -> bool:
    """Whether a product has the same value in all turns."""
    return all(
        not (isinstance(n, Var) and n.name in changing)
        and not (isinstance(n, Load) and n.buffer in written)
        and not isinstance(n, Call)
        for n in walk(e)
    )
