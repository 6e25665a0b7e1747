"""Runs some of a loop's iterations, which a slice of the program names."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from mdh.ir.syntax import ForStatement
from mdh.reference.interpreter.arithmetic import Value

Do = Callable[[], None]


class Chosen(Protocol):
    """Chooses the iterations that are run, if not all are."""

    def values(self, loop: ForStatement, outer: tuple[int, ...]) -> Sequence[int] | None:
        """Values of the loop's variable, in the loop's order; None: the loop runs as C says.

        outer: the values of the variables of the loops around it, outermost first.
        """
        ...

    def exact(self, loop: ForStatement) -> bool:
        """Whether the loop has all these values; otherwise its header says which of them."""
        ...


def where_run(slot: int, frame: list[Value], header: tuple[Do, Callable[[], Any], Do], body: Do) -> Do:
    """`body`, if the loop with this header (start, condition, step) gives its variable the value that it
    has."""
    first, test, move = header

    def run() -> None:
        value = frame[slot]
        first()
        start = frame[slot]
        move()
        step = frame[slot] - start
        frame[slot] = value
        away = value - start
        if away % step == 0 and away // step >= 0 and test():
            body()

    return run
