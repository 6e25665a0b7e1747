"""The interface of float arithmetic in the interpreter. Integers are the same in all arithmetics."""

from collections.abc import Callable
from typing import Any, Protocol

from mdh.reference.c.types import Type
from mdh.source import Span

Value = Any
"""An integer, or a float as the arithmetic represents it. An element that nothing wrote is a Python float."""


class ScalarArithmetic(Protocol):
    """Each method is called once for its place in the text, and returns what is done each time that the place
    runs.

    statement: the number of the statement that the operation belongs to.
    """

    def operation(self, op: str, t: Type, statement: int) -> Callable[[Value, Value], Value]:
        """+ - * / of two values of type `t`."""
        ...

    def comparison(self, op: str, place: Span | None) -> Callable[[Value, Value], int]: ...

    def negation(self) -> Callable[[Value], Value]: ...

    def truth(self, place: Span | None) -> Callable[[Value], bool] | None:
        """A test whether a value is other than 0; None if Python's own truth is the same."""
        ...

    def from_integer(self, t: Type) -> Callable[[int], Value]: ...

    def to_integer(self, t: Type, place: Span | None) -> Callable[[Value], int]: ...

    def conversion(self, source: Type, target: Type) -> Callable[[Value], Value] | None: ...

    def storing(self, source: Type, target: Type, statement: int) -> Callable[[Value], Value] | None:
        """The conversion that an assignment makes."""
        ...

    def function(self, name: str, t: Type, place: Span | None) -> Callable[..., Value]:
        """A function of math.h by its double name, in float or double."""
        ...

    def choice(self, op: str, *, first: bool) -> Callable[[Value, Value], Value] | None:
        """`x op y ? x : y`, or `x op y ? y : x` if not `first`. It is continuous, even if the comparison is
        in doubt. None: no such shortcut is needed."""
        ...
