"""The concrete schedule: what is lowered on this machine, with fallbacks taken and entries without effect
removed.

Requires steps without holes, with as many entries as the stage has dimensions.
"""

from dataclasses import replace

from mdh.checker.options import copying
from mdh.machine import Machine
from mdh.schedule.canonical import canonical_section
from mdh.schedule.model import Arg, Attr, Mem, Section, Step


def concrete(section: Section, extents: tuple[int, ...], machine: Machine) -> Section:
    """The canonical section. Each `@copy` has the one engine that `machine`, as the target sees it, uses."""
    chosen = tuple(
        replace(step, inputs=tuple(_mem(mem, machine) for mem in step.inputs)) for step in section.steps
    )
    return canonical_section(replace(section, steps=chosen), extents)


def concrete_steps(steps: tuple[Step, ...], extents: tuple[int, ...], machine: Machine) -> tuple[Step, ...]:
    return concrete(Section(None, steps), extents, machine).steps


def _mem(mem: Mem, machine: Machine) -> Mem:
    return replace(mem, attrs=tuple(_engine(attr, machine) for attr in mem.attrs))


def _engine(attr: Attr, machine: Machine) -> Attr:
    """`@copy(tma else async, vec=4)` as `@copy(async, vec=4)`."""
    if attr.name != "copy" or all(arg.fallback is None for arg in attr.args):
        return attr
    engine = copying(attr, machine, []).engine
    args = tuple(Arg(engine, span=a.span) if a.fallback is not None else a for a in attr.args)
    return replace(attr, args=args)
