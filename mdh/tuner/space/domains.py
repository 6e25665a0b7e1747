"""What a hole ranges over where the schedule gives it no set: language.md section 6."""

from itertools import permutations

from mdh.checker.resolve import AXES
from mdh.hardware import Engine, Layer, Space
from mdh.ir.program import Program
from mdh.language import LANGUAGES
from mdh.machine import Machine
from mdh.results.trial import Value
from mdh.tuner.space.chain import Choice
from mdh.tuner.space.places import Opening

LOOP = "FOR"
"""The value of an open core entry that is a loop."""
LARGEST_RANK = 6
"""Of a buffer whose layouts are all listed: 720 of them."""


def core_layers(machine: Machine, target: str) -> tuple[Layer, ...]:
    """The layers that a core hole may split over; those that are not lowered yet are left out."""
    if machine.kind == "cpu":
        return (Layer.BLK, Layer.THR, Layer.VEC)
    clusters = (Layer.CLU,) if LANGUAGES[target].seen(machine).cluster > 1 else ()
    return (*clusters, Layer.BLK, Layer.WRP, Layer.THR, Layer.VEC)


def core_choices(opening: Opening, machine: Machine, target: str) -> tuple[Choice, ...]:
    """Any layer on any axis (VEC has one), and a loop; where that stands among the loops of the step is a
    variable of its own (`loop_orders`)."""
    if opening.values is not None:
        return choices_of(tuple(str(v) for v in opening.values))
    split = tuple(Choice(name, 1 if name == Layer.VEC else 7) for name in core_layers(machine, target))
    return (Choice(None, 0, LOOP), *split)


def loop_orders(dims: int) -> tuple[str, ...]:
    """How the loops of a step may nest: for each of its open entries the place from outside."""
    return tuple(",".join(str(n + 1) for n in p) for p in permutations(range(dims)))


def choices_of(words: tuple[str, ...], *, apart: bool = False) -> tuple[Choice, ...]:
    """The choices of a set: words of one layer together, unless they must be told `apart`."""
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


def free_values(opening: Opening, program: Program, machine: Machine) -> tuple[Value, ...]:
    """The domain of a hole that is no tile and no core entry; an entry of a layout: any dimension."""
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
            return _argument_values(opening, machine)


def _layouts(rank: int) -> tuple[str, ...]:
    """Every permutation; of a buffer of many dimensions the natural one with two of them exchanged."""
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


def _argument_values(opening: Opening, machine: Machine) -> tuple[Value, ...]:
    """The attribute table's domain; copy engines: those that the machine has and mdh lowers to."""
    assert opening.parameter is not None
    values = opening.parameter.domain
    if opening.attribute == "copy" and opening.parameter.words and opening.parameter.name is None:
        return tuple(v for v in values if v in machine.copy_engines and v != Engine.TMA)
    return values
