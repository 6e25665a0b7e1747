"""The default domain of a hole without a set: language.md section 6."""

from itertools import permutations

from mdh.checker.resolve import AXES
from mdh.hardware import Combine, Engine, Layer, Space
from mdh.ir.program import Program
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.results.trial import Value
from mdh.schedule.model import Section
from mdh.tuner.space.atoms import fitting_atoms
from mdh.tuner.space.chain import Choice
from mdh.tuner.space.engines import engines
from mdh.tuner.space.places import VariablePlace

LOOP = "FOR"
"""The value of a core hole that is a loop."""
LARGEST_RANK = 6
"""The largest rank of a buffer whose layouts are all listed (720)."""


def core_layers(machine: Machine, target: str) -> tuple[Layer, ...]:
    """The layers that a core hole may split over, without those that are not lowered yet."""
    if machine.kind == "cpu":
        return (Layer.BLK, Layer.THR, Layer.VEC)
    clusters = (Layer.CLU,) if LANGUAGES[target].seen(machine).cluster > 1 else ()
    return (*clusters, Layer.BLK, Layer.WRP, Layer.THR, Layer.VEC)


def core_choices(opening: VariablePlace, machine: Machine, target: str) -> tuple[Choice, ...]:
    """Any layer on any axis (VEC has one axis), and a loop. The loop's place among the loops of the step is a
    variable of its own (`loop_orders`)."""
    if opening.values is not None:
        return choices_of(tuple(str(v) for v in opening.values))
    split = tuple(Choice(name, 1 if name == Layer.VEC else 7) for name in core_layers(machine, target))
    return (Choice(None, 0, LOOP), *split)


def loop_orders(dims: int) -> tuple[str, ...]:
    """The nesting orders of the loops of a step: for each of its core holes, the place from outside."""
    return tuple(",".join(str(n + 1) for n in p) for p in permutations(range(dims)))


def choices_of(words: tuple[str, ...], *, apart: bool = False) -> tuple[Choice, ...]:
    """The choices of a set. Words of one layer form one choice, unless `apart`."""
    out: dict[tuple[str, int] | str, Choice] = {}
    for word in words:
        name, _, axis = word.partition(".")
        layer = Layer.named(name)
        if layer is None:
            out[word] = Choice(None, 0, word)
            continue
        bit = 1 << AXES[axis]
        key = (layer, bit if apart else 0)
        out[key] = Choice(layer, bit | (out[key].axes if key in out else 0))
    return tuple(out.values())


def free_values(
    opening: VariablePlace, section: Section, program: Program, machine: Machine
) -> tuple[Value, ...]:
    """The domain of a hole that is neither a tile nor a core entry. An entry of a layout may be any
    dimension."""
    if opening.values is not None:
        return opening.values
    rank = len(program.buffer_of[opening.buffer].shape) if opening.buffer in program.buffer_of else 0
    match opening.what:
        case "memory":
            name = opening.buffer
            return ("^", *(f"{name}:{r}[{p}]" for r in (Space.SM, Space.RM) for p in _layouts(rank)))
        case "region":
            return (Space.DM, Space.SM, Space.RM)
        case "layout":
            return _layouts(rank)
        case "entry":
            return tuple(range(1, rank + 1))
        case _:
            return _argument_values(opening, section, program, machine)


def _layouts(rank: int) -> tuple[str, ...]:
    """Every permutation. For a buffer of many dimensions, the natural one and those with two dimensions
    exchanged."""
    natural = tuple(range(1, rank + 1))
    if rank <= LARGEST_RANK:
        return tuple(",".join(map(str, p)) for p in permutations(natural))
    out = [natural]
    for a in range(rank):
        for b in range(a + 1, rank):
            swapped = list(natural)
            swapped[a], swapped[b] = swapped[b], swapped[a]
            out.append(tuple(swapped))
    return tuple(",".join(map(str, p)) for p in out)


def _argument_values(
    opening: VariablePlace, section: Section, program: Program, machine: Machine
) -> tuple[Value, ...]:
    """The domain in the table of attributes. Engines and atoms are those that the machine has and mdh
    lowers."""
    assert opening.parameter is not None
    values = opening.parameter.domain
    if Engine.PLAIN in opening.parameter.words:
        return engines(opening, section, program, machine, values)
    if opening.attribute == "combine" and any(a.name == "roles" for s in section.steps for a in s.attrs):
        return (*values, Combine.STREAM)
    if opening.attribute == "atom":
        stage = next(s for s in program.stages if s.name == opening.stage)
        words = {a.word for a in fitting_atoms(stage, section, machine)}
        return tuple(v for v in values if v in words) or values
    return values
