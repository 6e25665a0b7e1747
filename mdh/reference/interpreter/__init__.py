"""Runs the C function as it is written, statement after statement: a reference that shares nothing with the
compiler but the parser."""

from mdh.reference.c.integers import Undecided
from mdh.reference.interpreter.chosen import Chosen
from mdh.reference.interpreter.run import Elements, interpret_bounded, interpret_elements
from mdh.reference.interpreter.scope import EndlessLoop, UnknownMeaning
from mdh.reference.interpreter.steps import steps

__all__ = [
    "Chosen", "Elements", "EndlessLoop", "Undecided", "UnknownMeaning", "interpret_bounded",
    "interpret_elements", "steps",
]  # fmt: skip
