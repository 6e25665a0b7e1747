"""Counts the assignments that a function runs without running them; only the headers of its loops run."""

from collections.abc import Iterator, Mapping
from typing import Any, assert_never

from mdh.ir.syntax import (
    Assignment,
    Block,
    Declaration,
    Element,
    ForStatement,
    Function,
    IfStatement,
    Name,
    Statement,
    walked,
)
from mdh.reference.c.integers import Undecided
from mdh.reference.c.types import INT, type_of
from mdh.reference.interpreter.bounded import BoundedScalarArithmetic
from mdh.reference.interpreter.expressions import Code, Run
from mdh.reference.interpreter.memory import ArrayObject
from mdh.reference.interpreter.scope import ExecutionState, ScalarObject, UnknownMeaning
from mdh.reference.interpreter.statements import Statements


def steps(function: Function, scalars: Mapping[str, Any], limit: int) -> int:
    """The most assignments that the function runs (both branches of an `if` count). Returns limit + 1 if
    there are more, or if a trip count depends on more than numbers and scalar parameters."""
    counter = _StepCounter(ExecutionState(BoundedScalarArithmetic()), scalars, limit)
    try:
        return min(counter.all_of(function), limit + 1)
    except (TooManySteps, UnknownMeaning, Undecided):
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
        self.scope[name] = ArrayObject(name, INT, (), [])

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
                self.scope = self.scope.new_child()
                total = sum(self._count(inner) for inner in s.body)
                self.scope = self.scope.parents
                return total
            case IfStatement():
                return self._count(s.then) + (0 if s.other is None else self._count(s.other))
            case ForStatement():
                self.scope = self.scope.new_child()
                total = self._loop(s)
                self.scope = self.scope.parents
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
            self.scope[d.name] = ScalarObject(slot, type_of(d.type))
            self.unknown.add(slot)

    def _forgotten(self, name: str) -> None:
        found = self.scope.get(name)
        if isinstance(found, ScalarObject):
            self.unknown.add(found.slot)

    def _loop(self, loop: ForStatement) -> int:
        if loop.first is None or loop.cond is None or loop.next is None:
            raise TooManySteps
        for name in _assigned(loop.body):
            self._forgotten(name)
        start = self.statement_of(loop.first)
        target = loop.first.target if isinstance(loop.first, Assignment) else loop.first
        found = None if isinstance(target, Element) else self.scope.get(target.name)
        if not isinstance(found, ScalarObject):
            raise UnknownMeaning("a loop that counts in an array")
        self.unknown.discard(found.slot)
        test, move = self.truth(loop.cond), self.statement_of(loop.next)
        start()
        total = self._trips(test, move)
        # nests are rectangular, so a count that depends on an outer variable is not needed
        self.unknown.add(found.slot)
        return total * self._count(loop.body) if total else 0

    def _trips(self, test: Run, move: Run) -> int:
        count = 0
        while test():
            move()
            count += 1
            if count > self.limit:
                raise TooManySteps
        return count


def _assigned(s: Statement) -> Iterator[str]:
    for inner in walked(s):
        if isinstance(inner, Assignment) and isinstance(inner.target, Name):
            yield inner.target.name
