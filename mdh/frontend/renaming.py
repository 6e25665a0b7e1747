"""Gives values that an array holds at different times arrays of their own.

A program that fails the proof of its dependences may pass it then. Two forms of renaming are known:

- A snapshot: if nothing in a nest writes an element before the nest reads it, the nest reads a copy of the
  array that is made in front of it (node splitting).
- An expansion: if each turn of outer loops writes what it reads of an array, each turn has an array of its
  own. Behind the nest, the array gets what the last turn leaves in it (privatisation).

Source: Padua and Wolfe, "Advanced compiler optimizations for supercomputers", CACM 29(12), 1986.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from mdh.frontend.dependences import written
from mdh.frontend.statements import Array, Assign, Statement, Use, used_names
from mdh.ir.affine import from_expr
from mdh.ir.clauses import exact_clauses
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Const, Expr, Load, Var, map_children
from mdh.ir.names import fresh
from mdh.ir.statement import Held, LoopVar
from mdh.poly.dataflow import Access, last_box, meets_before, written_first
from mdh.source import Span

MOST_BYTES = 1 << 30
"""An array is not expanded to more than this."""
MOST_PAIRS = 400
"""Reads times writes of an array that are asked about."""
ROOM = 3
"""Places of the text are multiplied by it, so that there are places behind each, and in front."""
Box = tuple[tuple[int, int], ...]
"""Inclusive ranges of subscripts."""


@dataclass
class Renaming:
    """The statements so far, and the arrays that they use. held: the loops of the program around them."""

    arrays: dict[str, Array]
    taken: set[str]
    statements: list[Statement]
    held: tuple[Held, ...]
    changed: bool = False

    def array(self, old: Array, stem: str, shape: tuple[int, ...]) -> Array:
        name = fresh(stem, self.taken)
        self.arrays[name] = found = Array(name, old.dtype, shape, False, True, old.span)
        self.changed = True
        return found

    def copy(self, target: str, source: str, box: Box, turn: Sequence[int], place: int, span: Span) -> None:
        """`target[e] = source[turn, e]` over a box of elements."""
        loops = tuple(
            LoopVar(fresh(f"e{k}", self.taken), f"e{k}", low, 1, high - low + 1, span)
            for k, (low, high) in enumerate(box)
        )
        at = tuple(_plus(v.name, v.start) for v in loops)
        t = self.arrays[source].dtype
        first = tuple(Const(n, I32) for n in turn)
        read, write = Load(source, (*first, *at), t), Load(target, at, t)
        around = (*(h.was for h in self.held), *loops)
        uses = (Use(read, around, span, (), False, place), Use(write, around, span, (), True, place))
        self.statements.append(Assign(write, read, (), loops, span, uses, self.held))


def spread(statements: Sequence[Statement]) -> list[Statement]:
    """The statements with places between those of the text."""
    return [_each_use(s, lambda u: replace(u, position=u.position * ROOM)) for s in statements]


def renamed(
    nest: Sequence[Statement], others: Sequence[Statement], arrays: Mapping[str, Array], taken: set[str]
) -> Renaming | None:
    """The statements of a nest after every renaming that is legal in it; None if there is none.

    A nest is what stands in one loop, besides loops of the program. others: statements that may read what the
    nest leaves. arrays: with their shapes.
    """
    out = Renaming(dict(arrays), taken, [], nest[0].held)
    around = (*(h.was for h in nest[0].held), *nest[0].loops[:1])
    _rename_nest(_Nest(list(nest), others, around), out)
    return out if out.changed else None


@dataclass
class _Nest:
    """The statements of a nest, others that may read what it leaves, and the loops of the program around it
    with its own outermost one."""

    statements: list[Statement]
    others: Sequence[Statement]
    outermost: tuple[LoopVar, ...]

    def holds(self, loops: tuple[LoopVar, ...]) -> bool:
        """Whether something in these loops stands in the nest."""
        return loops[: len(self.outermost)] == self.outermost

    def accesses(self, name: str, *, write: bool) -> list[tuple[int, Access, Load]]:
        """(number of the statement, access, element) of an array. Values that locals kept from before the
        nest are left out."""
        out = []
        for n, s in enumerate(self.statements):
            w = written(s)
            pairs = zip(w.accesses.accesses, w.elements, strict=True)
            out += [
                (n, (w.accesses, a), e)
                for a, e in pairs
                if a.buffer == name and a.write == write and self.holds(a.loops)
            ]
        return out

    def places(self) -> tuple[int, int]:
        found = [u.position for s in self.statements for u in s.uses if self.holds(u.loops)]
        return min(found), max(found)

    def span(self, name: str) -> Span:
        return next(s.span for s in self.statements if name in {t.buffer for t in s.targets})


def _rename_nest(nest: _Nest, out: Renaming) -> None:
    names = sorted({t.buffer for s in nest.statements for t in s.targets})
    after: list[Callable[[], None]] = []
    for name in names:
        copy = _expanded(nest, name, out)
        if copy is not None:
            after.append(copy)
        else:
            _snapshot(nest, name, out)
    out.statements.extend(nest.statements)
    for copy in after:
        copy()


def _snapshot(nest: _Nest, name: str, out: Renaming) -> None:
    """Reads of elements before the nest writes them go to a copy, if another write of the nest follows."""
    writes = [a for _, a, _ in nest.accesses(name, write=True)]
    found: dict[tuple[int, Load], list[Access]] = {}
    for n, access, e in nest.accesses(name, write=False):
        if e not in nest.statements[n].targets:
            found.setdefault((n, e), []).append(access)
    if len(found) * len(writes) > MOST_PAIRS:
        return
    old = [
        (n, e)
        for (n, e), reads in found.items()
        if not any(meets_before(w, r) for w in writes for r in reads)
        and any(meets_before(r, w) for w in writes for r in reads)
        and all(nest.holds(u.loops) for u in nest.statements[n].uses if u.load == e)
    ]
    array = out.arrays[name]
    if not old or array.shape is None:
        return
    kept = out.array(array, f"{name}_before", array.shape)
    box = _box([e for _, e in old], [nest.statements[n].loops for n, _ in old], array.shape)
    out.copy(kept.name, name, box, (), nest.places()[0] - 1, nest.span(name))
    for n, e in old:
        nest.statements[n] = changed_loads(nest.statements[n], _swap(e, replace(e, buffer=kept.name)))


def _swap(old: Load, new: Load) -> Callable[[Expr], Expr]:
    return lambda e: new if e == old else e


def _box(elements: Sequence[Load], loops: Sequence[tuple[LoopVar, ...]], shape: tuple[int, ...]) -> Box:
    """A box around all elements that loads reach."""
    ends: list[list[tuple[int, int]]] = [[] for _ in shape]
    for e, around in zip(elements, loops, strict=True):
        ranges = {v.name: (0, v.extent - 1) for v in around}
        for k, i in enumerate(e.index):
            f = from_expr(i)
            known = f is not None and f.names <= ranges.keys()
            ends[k].append(f.bounds(ranges) if f is not None and known else (0, shape[k] - 1))
    return tuple(
        (max(0, min(a for a, _ in own)), min(n - 1, max(b for _, b in own)))
        for own, n in zip(ends, shape, strict=True)
    )


def _expanded(nest: _Nest, name: str, out: Renaming) -> Callable[[], None] | None:
    """Gives each turn of outer loops its own array; None if that is not legal, or not needed. Returns what
    copies the last turn's elements back."""
    array = out.arrays[name]
    writes, reads = nest.accesses(name, write=True), nest.accesses(name, write=False)
    if array.shape is None or not reads or len(reads) * len(writes) > MOST_PAIRS:
        return None
    exact = [a for n, a, _ in writes if _is_exact(nest.statements[n])]
    around = _common([x.loops for _, (_, x), _ in (*writes, *reads)])
    depth = next((d for d in range(len(around), 0, -1)
                  if all(written_first(r, exact, d) for _, r, _ in reads)), 0)  # fmt: skip
    everywhere = [e for *_, e in (*writes, *reads)]
    own = [v for v in around[:depth] if not v.held and not _shows(v, everywhere)]
    if not own or prod((*array.shape, *(v.extent for v in own))) * array.dtype.bytes > MOST_BYTES:
        return None
    used = any(_mentions(s, name) for s in nest.others)
    box: Box | None = ()
    if used or not array.temp:
        box = last_box([a for _, a, _ in writes], exact, depth, array.shape)
        if box is None:
            return None
    each = out.array(array, f"{name}_each", (*(v.extent for v in own), *array.shape))
    turn = tuple(Var(v.name) for v in own)

    def moved(x: Expr) -> Expr:
        return (
            replace(x, buffer=each.name, index=(*turn, *x.index))
            if isinstance(x, Load) and x.buffer == name
            else x
        )

    for n in {n for n, *_ in (*writes, *reads)}:
        nest.statements[n] = changed_loads(nest.statements[n], moved)
    place, span, last = nest.places()[1] + 1, array.span, [v.extent - 1 for v in own]
    return lambda: out.copy(name, each.name, box, last, place, span) if box else None


def _is_exact(s: Statement) -> bool:
    """Whether the domain of what the statement writes is known exactly, from its loops' variables."""
    if not isinstance(s, Assign) or len({u.position for u in s.uses if u.write}) > 1:
        # each side of a branch writes in its place, and only where its condition holds
        return False
    names, ranges = {v.name for v in s.loops}, {v.name: v.extent for v in s.loops}
    return used_names(s.conds) <= names and exact_clauses(s.conds, ranges) is not None


def _common(nests: Sequence[tuple[LoopVar, ...]]) -> tuple[LoopVar, ...]:
    """The loops around all."""
    first, *rest = nests
    n = 0
    while n < len(first) and all(len(o) > n and o[n] == first[n] for o in rest):
        n += 1
    return first[:n]


def _shows(v: LoopVar, elements: Sequence[Load]) -> bool:
    """Whether one subscript is the same in all elements: the loop's variable and a constant."""
    columns = zip(*(e.index for e in elements), strict=True)
    forms = ([from_expr(i) for i in column] for column in columns)
    return any(f[0] is not None and f[0].terms == ((v.name, 1),) and all(x == f[0] for x in f) for f in forms)


def _mentions(s: Statement, name: str) -> bool:
    return any(u.load.buffer == name for u in s.uses)


def _plus(name: str, low: int) -> Expr:
    return Var(name) if not low else Binary("+", Var(name), Const(low, I32), I32)


def _each_use(s: Statement, change: Callable[[Use], Use]) -> Statement:
    return replace(s, uses=tuple(map(change, s.uses)))


def changed_loads(s: Statement, change: Callable[[Expr], Expr]) -> Statement:
    """The statement with loads changed, everywhere in it."""

    def deep(e: Expr) -> Expr:
        return change(map_children(e, deep))

    def element(e: Load) -> Load:
        found = deep(e)
        assert isinstance(found, Load)
        return found

    s = _each_use(s, lambda u: replace(u, load=element(u.load), conds=tuple(map(deep, u.conds))))
    if isinstance(s, Assign):
        return replace(s, target=element(s.target), value=deep(s.value), conds=tuple(map(deep, s.conds)))
    return replace(s, targets=tuple(map(element, s.targets)), values=tuple(map(deep, s.values)))
