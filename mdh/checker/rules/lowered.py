"""K190: features of the language that the compiler does not lower yet."""

from collections.abc import Iterator
from itertools import islice

from mdh.checker.loops import by_layer
from mdh.checker.options import number
from mdh.checker.subject import Draft, Subject, at, parts
from mdh.diagnostics import Diagnostic
from mdh.hardware import Layer, Space
from mdh.schedule.model import BufferPlace

CODE = "K190"
LATER = (Layer.NOD, Layer.DEV)


def check_lowered(subject: Subject) -> Iterator[Diagnostic]:
    """No split over NOD or DEV has more than one part, and none over WGP without wgmma; no TMA store."""
    step = None if subject.plan.atoms is None else subject.plan.steps[subject.plan.atoms].product
    for layer in LATER if step is not None and step.atom.grouped else (*LATER, Layer.WGP):
        for loop in islice(by_layer(subject.plan, layer), 1):
            given = f"{parts(loop.parts)} of `{subject.dim(loop.dim)}`"
            headline = f"{layer} with {given} is not lowered yet"
            labels = subject.at_core(loop.step, loop.dim)
            said = "use WRP, or `@atom(wgmma)`" if layer is Layer.WGP else "use BLK, WRP, THR or VEC"
            yield Diagnostic(CODE, headline, labels, help=said)
    yield from check_lowered_attributes(subject.draft)


def check_lowered_attributes(draft: Draft) -> Iterator[Diagnostic]:
    for step in draft.steps:
        for attr in step.attrs:
            if attr.name == "roles" and (number(attr, "load") or 1) > 1:
                headline = "more than one warp group that copies is not lowered yet"
                yield Diagnostic(CODE, headline, at(attr.span), help="`load=1`")
        for mem in (*step.inputs, *step.outputs):
            if isinstance(mem.value, BufferPlace) and mem.value.region == Space.HM:
                headline = f"`{mem.value.buffer}` in host memory is not lowered yet"
                yield Diagnostic(CODE, headline, at(mem.span), help="buffers start in DM")
