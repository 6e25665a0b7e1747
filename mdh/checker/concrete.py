"""The concrete schedule: what is lowered on this machine, with fallbacks taken and entries without effect
removed.

Requires steps without holes, with as many entries as the stage has dimensions.
"""

from dataclasses import replace

from mdh.checker.options import copying
from mdh.checker.subject import Draft
from mdh.ir.program import Buffer
from mdh.schedule.canonical import canonical_section
from mdh.schedule.model import Arg, Attr, BufferPlace, Mem, Section, Step


def concrete(section: Section, draft: Draft) -> Section:
    """The canonical section. Each `@copy` has the one engine that the machine, as the target sees it,
    uses."""
    chosen = tuple(
        replace(step, inputs=tuple(_mem(mem, draft) for mem in step.inputs)) for step in section.steps
    )
    return canonical_section(replace(section, steps=chosen), draft.extents)


def concrete_steps(steps: tuple[Step, ...], draft: Draft) -> tuple[Step, ...]:
    return concrete(Section(None, steps), draft).steps


def _mem(mem: Mem, draft: Draft) -> Mem:
    if not isinstance(mem.value, BufferPlace):
        return mem
    buffer = draft.program.buffer_of[mem.value.buffer]
    return replace(mem, attrs=tuple(_engine(attr, draft, buffer) for attr in mem.attrs))


def _engine(attr: Attr, draft: Draft, buffer: Buffer) -> Attr:
    """`@copy(tma else async, vec=4)` as `@copy(async, vec=4)`."""
    if attr.name != "copy" or all(arg.fallback is None for arg in attr.args):
        return attr
    engine = copying(attr, draft.machine, buffer, []).engine
    args = tuple(Arg(engine, span=a.span) if a.fallback is not None else a for a in attr.args)
    return replace(attr, args=args)
