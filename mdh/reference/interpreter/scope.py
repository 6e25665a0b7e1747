"""The meaning of names at a place of the text, and the state that the closures run on."""

from collections import ChainMap
from dataclasses import dataclass, field

from mdh.reference.c.types import Type
from mdh.reference.interpreter.arithmetic import ScalarArithmetic, Value
from mdh.reference.interpreter.memory import ArrayObject
from mdh.source import Span


class EndlessLoop(Exception):  # noqa: N818 - it is an outcome, not a programming error
    """The loops ran more iterations than the caller allows."""

    def __init__(self, place: Span | None) -> None:
        where = "" if place is None else f" at line {place.line}"
        super().__init__(f"the loop{where} runs more iterations than are allowed")


class UnknownMeaning(Exception):  # noqa: N818 - as above
    """A construct that the interpreter does not know. The front end refuses it too."""


@dataclass(frozen=True, slots=True)
class ScalarObject:
    """A scalar object: its place in the frame."""

    slot: int
    type: Type


@dataclass(slots=True)
class ExecutionState:
    """The frame of scalar objects, and how many iterations may still run."""

    arithmetic: ScalarArithmetic
    frame: list[Value] = field(default_factory=list)
    left: list[int] = field(default_factory=lambda: [0])

    def slot(self, value: Value) -> int:
        self.frame.append(value)
        return len(self.frame) - 1


Names = ChainMap[str, ScalarObject | ArrayObject]
"""The names that are visible in a block, by the blocks around it (C11 6.2.1)."""
