"""Counts the assignments that a function runs without running them; only the headers of its loops run."""

from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from mdh.ir.syntax import (
    Assignment,
    Block,
    Declaration,
    Element,
    Expression,
    ForStatement,
    Function,
    IfStatement,
    Name,
    Statement,
    Values,
    operands,
    walked,
)
from mdh.reference.c.types import INT, type_of
from mdh.reference.interpreter.exact import ExactArithmetic
from mdh.reference.interpreter.expressions import Code, Run
from mdh.reference.interpreter.memory import ArrayObject
from mdh.reference.interpreter.scope import ExecutionState, ScalarObject, UnknownMeaning
from mdh.reference.interpreter.statements import Statements


def steps(function: Function, scalars: Mapping[str, Any], limit: int) -> int:
    """The most assignments that the function runs (both branches of an `if` count). Returns limit + 1 if
    there are more, or if the trip counts depend on more than numbers and variables of outer loops."""
    counter = _StepCounter(ExecutionState(ExactArithmetic()), scalars, limit)
    try:
        return min(counter.all_of(function), limit + 1)
    except (TooManySteps, UnknownMeaning):
        return limit + 1


class TooManySteps(Exception):  # noqa: N818 - it is an outcome
    """The count exceeds the limit."""


class _StepCounter(Statements):
    """Counts assignments. unknown: slots of scalars whose values only a run can tell."""

    def __init__(self, machine: ExecutionState, scalars: Mapping[str, Any], limit: int) -> None:
        super().__init__(machine, {}, scalars, None)
        self.limit = limit
        self.unknown: set[int] = set()

    def all_of(self, f: Function) -> int:
        for d in f.constants:
            self._declared(d)
        for p in f.parameters:
            if p.extents or p.pointer:
                self._hidden(p.name)
            else:
                self.scalar_parameter(p)
        return self._count(f.body)

    def name(self, name: str) -> Code:
        code = super().name(name)
        if code.slot in self.unknown:
            raise UnknownMeaning(name)
        return code

    def _hidden(self, name: str) -> None:
        """Declares an array, whose elements are unknown here."""
        self.scope.declare(name, ArrayObject(name, INT, (), []))

    def _count(self, s: Statement) -> int:
        match s:
            case Declaration():
                self._declared(s)
                return 0 if s.initial is None else 1
            case Assignment(target):
                if isinstance(target, Name):
                    self._forgotten(target.name)
                return 1
            case Block():
                self.scope.open()
                total = sum(self._count(inner) for inner in s.body)
                self.scope.close()
                return total
            case IfStatement():
                return self._count(s.then) + (0 if s.other is None else self._count(s.other))
            case ForStatement():
                self.scope.open()
                total = self._loop(s)
                self.scope.close()
                return total
            case _:
                assert_never(s)

    def _declared(self, d: Declaration) -> None:
        """Declares a scalar. A known initial value is kept until it is assigned."""
        if d.extents:
            self._hidden(d.name)
            return
        try:
            self.declaration(d)()
        except UnknownMeaning:
            slot = self.machine.slot(0)
            self.scope.declare(d.name, ScalarObject(slot, type_of(d.type)))
            self.unknown.add(slot)

    def _forgotten(self, name: str) -> None:
        found = self.scope.find(name)
        if isinstance(found, ScalarObject):
            self.unknown.add(found.slot)

    def _loop(self, loop: ForStatement) -> int:
        if loop.first is None or loop.cond is None or loop.next is None:
            raise TooManySteps
        for name in _assigned(loop.body):
            self._forgotten(name)
        start = self.statement_of(loop.first)
        target = loop.first.target if isinstance(loop.first, Assignment) else Name(loop.first.name)
        found = self.scope.find(target.name) if isinstance(target, Name) else None
        if not isinstance(found, ScalarObject):
            raise UnknownMeaning("a loop that counts in an array")
        self.unknown.discard(found.slot)
        test, move = self.truth(loop.cond), self.statement_of(loop.next)
        start()
        assert isinstance(target, Name)
        inner = set(_headers(loop.body))
        if target.name in inner or inner & set(_declared_in(loop.body)):
            total = self._one_by_one(loop, test, move)
        else:
            total = self._trips(test, move)
            total *= self._count(loop.body) if total else 0
        self._forgotten(target.name)
        return total

    def _trips(self, test: Run, move: Run) -> int:
        count = 0
        while test():
            move()
            count += 1
            if count > self.limit:
                raise TooManySteps
        return count

    def _one_by_one(self, loop: ForStatement, test: Run, move: Run) -> int:
        total = visits = 0
        while test():
            total += self._count(loop.body)
            move()
            visits += 1
            if max(total, visits) > self.limit:
                raise TooManySteps
        return total


def _assigned(s: Statement) -> Iterator[str]:
    for inner in walked(s):
        if isinstance(inner, Assignment) and isinstance(inner.target, Name):
            yield inner.target.name


def _declared_in(s: Statement) -> Iterator[str]:
    """Scalars of the body that are no loop's variable, because they may depend on a loop's variable."""
    counters = {id(inner.first) for inner in walked(s) if isinstance(inner, ForStatement)}
    for inner in walked(s):
        if isinstance(inner, Declaration) and id(inner) not in counters:
            yield inner.name


def _headers(s: Statement) -> Iterator[str]:
    """Names in the headers of the loops of `s`."""
    for loop in walked(s):
        if not isinstance(loop, ForStatement):
            continue
        match loop.first:
            case Declaration(initial=initial) if initial is not None and not isinstance(initial, Values):
                yield from _names(initial)
            case Assignment(value=value):
                yield from _names(value)
            case _:
                pass
        if loop.cond is not None:
            yield from _names(loop.cond)
        if loop.next is not None:
            yield from _names(loop.next.value)


def _names(e: Expression) -> Iterator[str]:
    if isinstance(e, Name):
        yield e.name
    elif isinstance(e, Element):
        yield e.array
    for part in operands(e):
        yield from _names(part)
