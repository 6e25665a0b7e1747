"""Translates statements to closures, in C's order (C11 6.8)."""

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import Any, assert_never

from numpy.typing import NDArray

from mdh.ir.syntax import (
    Assignment,
    Block,
    Conditional,
    Declaration,
    Expression,
    ForStatement,
    Function,
    IfStatement,
    Infix,
    Name,
    Statement,
    Values,
)
from mdh.reference.c.integers import wrapping
from mdh.reference.c.types import Type, type_of
from mdh.reference.interpreter.arithmetic import Value
from mdh.reference.interpreter.chosen import Chosen, Do, where_run
from mdh.reference.interpreter.expressions import Code, Expressions, Run
from mdh.reference.interpreter.memory import ArrayObject, of_array, poison
from mdh.reference.interpreter.rounding import rounded
from mdh.reference.interpreter.scope import EndlessLoop, ExecutionState, ScalarObject, UnknownMeaning


class Statements(Expressions):
    """A function's body. arrays: by parameter name; only: which iterations run."""

    def __init__(
        self,
        machine: ExecutionState,
        arrays: Mapping[str, NDArray[Any]],
        scalars: Mapping[str, Any],
        only: Chosen | None,
    ) -> None:
        super().__init__(machine)
        self.arrays = arrays
        self.scalars = scalars
        self.only = only
        self.loops: list[int] = []
        self.numbered = 0
        self.parameters: dict[str, ArrayObject] = {}
        self.written: set[str] = set()

    def function(self, f: Function) -> Do:
        """A closure that runs the whole function once."""
        for d in f.constants:
            # at once, since extents of later ones and of parameters may name it
            self.declaration(d)()
        for p in f.parameters:
            if not p.extents and not p.pointer:
                self.scalar_parameter(p)
        for p in f.parameters:
            if p.extents or p.pointer:
                self._array_parameter(p)
        return self.block(f.body)

    def scalar_parameter(self, p: Declaration) -> None:
        t = type_of(p.type)
        given = self.scalars[p.name]
        value = rounded(float(given), t) if t.real else wrapping(t)(int(given))
        self.scope[p.name] = ScalarObject(self.machine.slot(value), t)

    def _array_parameter(self, p: Declaration) -> None:
        given = self.arrays[p.name]
        inner = tuple(self._extent(e) for e in p.extents[1:])
        # C ignores the first extent of a parameter
        extents = (given.size // max(1, prod(inner)), *inner)
        memory = of_array(p.name, type_of(p.type), extents, given, lazy=self.only is not None)
        self.parameters[p.name] = memory
        self.scope[p.name] = memory

    def _extent(self, e: Expression | None) -> int:
        if e is None:
            raise UnknownMeaning("an extent that is not given")
        return int(self.expression(e).run())

    def statement_of(self, s: Statement) -> Do:
        self.numbered += 1
        self.statement = self.numbered
        if not isinstance(s, Block):
            self.place = s.span or self.place
        match s:
            case Declaration():
                return self.declaration(s)
            case Assignment():
                return self.assignment(s)
            case Block():
                return self.block(s)
            case ForStatement():
                return self.loop(s)
            case IfStatement():
                return self._if(s)
            case _:
                assert_never(s)

    def block(self, b: Block) -> Do:
        self.scope = self.scope.new_child()
        body = [self.statement_of(s) for s in b.body]
        self.scope = self.scope.parents
        return _sequence(body)

    def declaration(self, d: Declaration) -> Do:
        t = type_of(d.type)
        if d.extents:
            return self._local_array(d, t)
        frame, nothing = self.machine.frame, poison(t)
        # the name is in scope in its own initialiser (C11 6.2.1)
        slot = self.machine.slot(nothing)
        self.scope[d.name] = ScalarObject(slot, t)
        if d.initial is None:

            def forget() -> None:
                frame[slot] = nothing

            return forget
        initial = d.initial.items[0] if isinstance(d.initial, Values) else d.initial
        if isinstance(initial, Values):
            raise UnknownMeaning(f"the initialiser of {d.name}")
        return _into_frame(frame, slot, self.converted(self.expression(initial), t, store=True))

    def _local_array(self, d: Declaration, t: Type) -> Do:
        inner = tuple(self._extent(e) for e in d.extents[1:])
        first = d.extents[0]
        if first is None:
            if not isinstance(d.initial, Values):
                raise UnknownMeaning(f"the extent of {d.name}")
            extents = (_open_extent(d.initial, inner), *inner)
        else:
            extents = (self._extent(first), *inner)
        size = prod(extents)
        fresh: list[Value] = [poison(t)] * size
        data = list(fresh)
        self.scope[d.name] = ArrayObject(d.name, t, extents, data)
        places: list[tuple[int, Run]] = []
        if isinstance(d.initial, Values):
            fresh = [0.0 if t.real else 0] * size
            places = [
                (k, self.converted(self.expression(e), t, store=True))
                for k, e in _flat_items(d.initial, extents)
            ]

        def fill() -> None:
            data[:] = fresh
            for k, run in places:
                data[k] = run()

        return fill

    def assignment(self, a: Assignment) -> Do:
        target, frame = a.target, self.machine.frame
        if isinstance(target, Name):
            found = self.scope.get(target.name)
            if not isinstance(found, ScalarObject):
                raise UnknownMeaning(target.name)
            slot = found.slot
            if a.op == "=":
                return _into_frame(
                    frame, slot, self.converted(self.expression(a.value), found.type, store=True)
                )
            update = self._update(a, found.type)

            def change() -> None:
                frame[slot] = update(frame[slot])

            return change
        memory = self.memory(target.array)
        self.written.add(target.array)
        index, data = self.index(memory, target), memory.data
        if a.op == "=":
            run = self.converted(self.expression(a.value), memory.type, store=True)

            def put() -> None:
                data[index()] = run()

            return put
        update = self._update(a, memory.type)

        def change_element() -> None:
            k = index()
            data[k] = update(data[k])

        return change_element

    def _update(self, a: Assignment, t: Type) -> Callable[[Value], Value]:
        """C11 6.5.16.2: E1 op= E2 is E1 = E1 op E2, in the common type, then converted to that of E1."""
        op, held = a.op[:-1], list[Value]([None])
        value = self.expression(a.value)
        # the old value goes through the same conversions as any expression
        old = Code(t, lambda: held[0])
        common, read, convert = self.operands(op, old, value)
        compute = self.joining(op, common)
        if read is old.run and common == t:
            return lambda before: compute(before, convert())
        store = self.converted(Code(common, lambda: held[0]), t, store=True)

        def update(before: Value) -> Value:
            held[0] = before
            held[0] = compute(read(), convert())
            return store()

        return update

    def loop(self, loop: ForStatement) -> Do:
        place = self.place
        self.scope = self.scope.new_child()
        first = _nothing if loop.first is None else self.statement_of(loop.first)
        slot = self._variable(loop)
        self.place = place
        test = self.truth(loop.cond) if loop.cond is not None else (lambda: True)
        move = _nothing if loop.next is None else self.statement_of(loop.next)
        outer = tuple(self.loops)
        if slot is not None:
            self.loops.append(slot)
        body = self.statement_of(loop.body)
        if slot is not None:
            self.loops.pop()
        self.scope = self.scope.parents
        left, frame = self.machine.left, self.machine.frame

        def run() -> None:
            first()
            count = 0
            while test():
                body()
                move()
                count += 1
                if count > left[0]:
                    raise EndlessLoop(loop.span)
            left[0] -= count

        if self.only is None or slot is None:
            return run
        if self.only.exact(loop):
            return self._chosen(loop, slot, outer, run, body)
        return self._chosen(loop, slot, outer, run, where_run(slot, frame, (first, test, move), body))

    def _chosen(self, loop: ForStatement, slot: int, outer: tuple[int, ...], run: Do, body: Do) -> Do:
        """The loop over the values that `only` gives."""
        only, frame, left = self.only, self.machine.frame, self.machine.left
        assert only is not None

        def run_chosen() -> None:
            values = only.values(loop, tuple(frame[s] for s in outer))
            if values is None:
                run()
                return
            for value in values:
                frame[slot] = int(value)
                body()
            left[0] -= len(values)
            if left[0] < 0:
                raise EndlessLoop(loop.span)

        return run_chosen

    def _variable(self, loop: ForStatement) -> int | None:
        """The slot of the variable that the loop moves."""
        name: str | None = None
        match loop.first, loop.next:
            case _, Assignment(target=Name(moved)):
                name = moved
            case Declaration(declared), _:
                name = declared
            case _:
                pass
        found = None if name is None else self.scope.get(name)
        return found.slot if isinstance(found, ScalarObject) else None

    def _if(self, s: IfStatement) -> Do:
        chosen = self._as_choice(s)
        if chosen is not None:
            return self.assignment(chosen)
        test = self.truth(s.cond)
        then = self.statement_of(s.then)
        other = None if s.other is None else self.statement_of(s.other)
        if other is None:

            def run() -> None:
                if test():
                    then()

            return run

        def run_either() -> None:
            if test():
                then()
            else:
                other()

        return run_either

    def _as_choice(self, s: IfStatement) -> Assignment | None:
        """`if (x > m) m = x;` as `m = x > m ? x : m`, if the arithmetic has a shortcut; else None."""
        inner = s.then.body[0] if isinstance(s.then, Block) and len(s.then.body) == 1 else s.then
        match s.cond, inner:
            case Infix("<" | "<=" | ">" | ">=" as op, left, right), Assignment(target, "=", value) if (
                s.other is None and {target, value} == {left, right}
            ):
                pass
            case _:
                return None
        if not self.expression(value).type.real or self.machine.arithmetic.choice(op, first=True) is None:
            return None
        return Assignment(target, "=", Conditional(s.cond, value, target), inner.span)


def _into_frame(frame: list[Value], slot: int, run: Run) -> Do:
    def put() -> None:
        frame[slot] = run()

    return put


def _nothing() -> None:
    pass


def _sequence(body: list[Do]) -> Do:
    """A closure that runs the statements one after another."""
    match body:
        case []:
            return _nothing
        case [only]:
            return only
        case [one, two]:

            def both() -> None:
                one()
                two()

            return both
        case _:
            every = tuple(body)

            def run() -> None:
                for do in every:
                    do()

            return run


def _flat_items(values: Values, extents: tuple[int, ...], base: int = 0) -> Iterator[tuple[int, Expression]]:
    """(flat index, expression) of each item of an array's initialiser (C11 6.7.9); inner braces may be left
    out."""
    inner = extents[1:]
    size, at = prod(inner), 0
    for item in values.kept(extents[0]):
        if not isinstance(item, Values):
            yield base + at, item
            at += 1
        elif inner:
            at = -(-at // size) * size
            yield from _flat_items(item, inner, base + at)
            at += size
        else:
            yield from _flat_items(item, (1,), base + at)
            at += 1


def _open_extent(values: Values, inner: tuple[int, ...]) -> int:
    """The first extent of `int a[][N] = {…}`: as many as the items fill."""
    size, at = prod(inner), 0
    for item in values.items:
        at = -(-at // size) * size + size if isinstance(item, Values) else at + 1
    return -(-at // size)
