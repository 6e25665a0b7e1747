"""The C function as it is written, run statement after statement: a judge that shares no step with the
compiler beyond the parser."""

from mdh.reference.interpreter.arithmetic import Undecided
from mdh.reference.interpreter.run import interpret
from mdh.reference.interpreter.scope import EndlessLoop, UnknownMeaning
from mdh.reference.interpreter.statements import Chosen

__all__ = ["Chosen", "EndlessLoop", "Undecided", "UnknownMeaning", "interpret"]
