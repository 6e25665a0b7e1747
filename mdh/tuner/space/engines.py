"""The values of `?` in `@copy` and `@store`: engines that the machine has, and that may move the array.

The copy engine (`tma`) copies all inputs that a step stages, or none of them (K166). So the engines of a step
are chosen together, with the widths, which `tma` does not have.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from mdh.hardware import Engine, Layer, Space
from mdh.ir.atoms import WGMMA
from mdh.ir.copy_engine import unmapped
from mdh.ir.program import DimKind, Program, Stage
from mdh.machine import Machine
from mdh.results.trial import Value
from mdh.schedule.model import Arg, Attr, BufferPlace, Hole, Mem, Section, Unit
from mdh.tuner.space.free import VariableGroup
from mdh.tuner.space.places import VariablePlace


def engines(
    place: VariablePlace, section: Section, program: Program, machine: Machine, words: Sequence[Value]
) -> tuple[Value, ...]:
    """Those of `words` that may copy or store the array of the place."""
    stage = next(s for s in program.stages if s.name == place.stage)
    boxes = Engine.TMA in machine.copy_engines and _boxable(stage, program, place.buffer)
    if place.attribute == "store":
        return tuple(w for w in words if w != Engine.TMA or (boxes and _grouped(section)))
    known = tuple(w for w in words if w in machine.copy_engines)
    fixed = set(_written_engines(section, program, stage, place, machine))
    # with roles one warp group copies, and atoms of warp groups read what the copy engine has swizzled
    needed = any(a.name == "roles" for step in section.steps for a in step.attrs) or _grouped(section)
    if boxes and (needed or fixed == {Engine.TMA}):
        return tuple(w for w in known if w == Engine.TMA)
    return known if boxes and not fixed else tuple(w for w in known if w != Engine.TMA)


def _boxable(stage: Stage, program: Program, buffer: str) -> bool:
    array = program.buffer_of[buffer]
    plain = not stage.scattered and all(d.kind is not DimKind.PS for d in stage.dims)
    return plain and unmapped(array) is None


def _grouped(section: Section) -> bool:
    """Whether warp groups issue the section's atoms."""
    said = [a.args[0].value for a in section.steps[-1].attrs if a.name == "atom" and a.args]
    last = (c.value for c in section.steps[-1].cores)
    return WGMMA in said and any(isinstance(unit, Unit) and unit.layer is Layer.MMA for unit in last)


def _written_engines(
    section: Section, program: Program, stage: Stage, place: VariablePlace, machine: Machine
) -> Iterator[Engine]:
    """The engines that the other inputs staged at the step are copied by, as it is written."""
    step = section.steps[place.step]
    for buffer, mem in zip(program.inputs(stage), step.inputs, strict=True):
        if buffer != place.buffer and isinstance(mem.value, BufferPlace) and mem.value.region is Space.SM:
            first = next((a.args[0] for a in mem.attrs if a.name == "copy" and a.args), Arg(Engine.PLAIN))
            chain: Arg | None = first
            while chain is not None and not isinstance(chain.value, Hole):
                if chain.value in machine.copy_engines:
                    yield Engine(str(chain.value))
                    break
                chain = chain.fallback


def engine_groups(
    places: Sequence[VariablePlace], index: Mapping[str, int], domains: Mapping[int, tuple[Value, ...]]
) -> tuple[VariableGroup, ...]:
    """The engines and widths of each step's copies, chosen together. places: those of holes that no other
    place shares."""
    out = []
    copies = [p for p in places if p.attribute == "copy" and p.parameter is not None]
    for at in dict.fromkeys((p.stage, p.step) for p in copies):
        here = [p for p in copies if (p.stage, p.step) == at]
        chosen = [p for p in here if p.parameter is not None and p.parameter.name is None]
        if not any(Engine.TMA in domains[index[p.variable]] for p in chosen):
            continue
        pairs = [[q for q in here if q.buffer == p.buffer] for p in chosen]
        rows = [list(_rows([domains[index[q.variable]] for q in pair])) for pair in pairs]
        joined = (row for row in product(*rows) if len({r[0] == Engine.TMA for r in row}) == 1)
        variables = tuple(index[q.variable] for pair in pairs for q in pair)
        out.append(VariableGroup(variables, tuple(sum(row, ()) for row in joined)))
    return tuple(out)


def _rows(columns: Sequence[tuple[Value, ...]]) -> Iterator[tuple[Value, ...]]:
    """Engine and width; `tma` with one width, which it does not use."""
    for row in product(*columns):
        if row[0] != Engine.TMA or row[1:] == tuple(column[0] for column in columns[1:]):
            yield row


def without_unused(template: Mem, bound: Mem) -> Mem:
    """The bound entry without what its engine does not use, where the engine is open in the template: `tma`
    has no width, padding, window or hints; only it sends to several blocks and stores in pieces."""
    moving = [a for a in template.attrs if a.name in ("copy", "store") and a.args]
    if not any(isinstance(a.args[0].value, Hole) for a in moving):
        return bound
    attrs = tuple(_used(a) if a.name in ("copy", "store") and a.args else a for a in bound.attrs)
    boxes = any(a.name == "copy" and a.args and a.args[0].value == Engine.TMA for a in attrs)
    dropped = ("pad", "window", "cache") if boxes else ()
    return Mem(bound.value, tuple(a for a in attrs if a.name not in dropped), bound.span)


def _used(attr: Attr) -> Attr:
    """`@copy` or `@store` with the arguments that its engine uses."""
    if attr.args[0].value == Engine.TMA:
        kept = tuple(a for a in attr.args if a.name != "vec")
    else:
        kept = tuple(a for a in attr.args if a.value != "multicast" and a.name != "subtile")
    return Attr(attr.name, kept, attr.span)
