"""Conditions (`where`) that are counted with the tiles: their values are numbers, and not too many.

A condition is tested as soon as all of its variables are known. Until then, chains keep the values of those
that they have walked. Numbers that are no tiles get a chain of their own, with one step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from mdh.diagnostics import Failed
from mdh.results.trial import Value
from mdh.schedule.model import Section, Where
from mdh.schedule.where import evaluate, names_of
from mdh.tuner.space.chain import Chain, ChainStep, Choice
from mdh.tuner.space.signature import Bounds

MOST = 20_000
"""The most combinations of the values of all variables of counted conditions."""


def holds(where: Where, values: Mapping[str, Value]) -> bool:
    """values: of holes and constants. True also where the condition has no value: the checker says why."""
    known = {name: value for name, value in values.items() if isinstance(value, int)}
    try:
        return bool(evaluate(where.condition, known))
    except (Failed, KeyError):
        return True


@dataclass(frozen=True)
class Condition:
    """names: of its variables, by their numbers. constants: of the program."""

    where: Where
    names: Mapping[int, str]
    constants: Mapping[str, int]

    def holds(self, values: Mapping[int, Value]) -> bool:
        """values: of all its variables."""
        return holds(self.where, {**self.constants, **{name: values[i] for i, name in self.names.items()}})


def counted(
    sections: Sequence[Section],
    index: Mapping[str, int],
    constants: Mapping[str, int],
    values: Mapping[int, Sequence[Value] | None],
) -> tuple[Condition, ...]:
    """The conditions of the sections that can be counted, in their order. index: variables by name. values:
    of each variable, at most; None: of one that takes other values than numbers."""
    out: list[Condition] = []
    used: dict[int, int] = {}
    for where in (w for section in sections for w in section.wheres):
        names = {index[n.text]: n.text for n in names_of(where.condition) if n.hole and n.text in index}
        more = {i: len(values.get(i) or ()) for i in names}
        if names and all(more.values()) and prod((used | more).values()) <= MOST:
            used |= more
            out.append(Condition(where, names, constants))
    return tuple(out)


def number_chain(stage: int, variable: int, values: Sequence[int], steps: int, bounds: Bounds) -> Chain:
    """The chain of a number that is no tile. It is like a dimension that is split once, by a loop, into tiles
    of this size."""
    loop = (Choice(None),)
    first = ChainStep(variable, tuple(values), None, None, loop)
    rest = (ChainStep(None, None, None, None, loop),) * (steps - 1)
    return Chain(stage, max(values), (first, *rest), bounds, (), True, frozenset((variable,)),
                 frozenset((variable,)))  # fmt: skip
