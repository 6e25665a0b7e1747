"""Conditions (`where`) that are counted with the tiles: those on numbers.

A condition is tested as soon as all of its variables are known. Until then, chains keep the values of those
that they have walked. Numbers that are no tiles get a chain of their own, with one step.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field

from mdh.diagnostics import Failed
from mdh.results.trial import Value
from mdh.schedule.model import Section, Where
from mdh.schedule.where import evaluate, names_of
from mdh.tuner.space.chain import Chain, ChainStep, Choice
from mdh.tuner.space.signature import Bounds


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
    _known: dict[tuple[Value, ...], bool] = field(default_factory=dict, compare=False, repr=False)

    def holds(self, values: Mapping[int, Value]) -> bool:
        """values: of all its variables, and of others. Few combinations are asked for again and again."""
        mine = tuple(values[i] for i in self.names)
        found = self._known.get(mine)
        if found is None:
            named = dict(zip(self.names.values(), mine, strict=True))
            found = self._known[mine] = holds(self.where, {**self.constants, **named})
        return found


def on_numbers(
    sections: Sequence[Section],
    index: Mapping[str, int],
    constants: Mapping[str, int],
    numbers: Container[int],
) -> tuple[Condition, ...]:
    """The conditions of the sections on variables that are numbers. index: variables by name."""
    out = []
    for where in (w for section in sections for w in section.wheres):
        names = {index[n.text]: n.text for n in names_of(where.condition) if n.hole and n.text in index}
        if names and all(i in numbers for i in names):
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
