"""K190: features of the language that the compiler does not lower yet."""

from collections.abc import Iterator
from itertools import islice

from mdh.checker.loops import by_layer
from mdh.checker.subject import Draft, Subject, at, parts
from mdh.diagnostics import Diagnostic
from mdh.hardware import Engine, Layer, Space
from mdh.schedule.model import BufferPlace

CODE = "K190"
LATER = (Layer.NOD, Layer.DEV, Layer.WGP)


def check_lowered(subject: Subject) -> Iterator[Diagnostic]:
    """No split over NOD, DEV or WGP has more than one part; no TMA copy or store, no warp roles."""
    for layer in LATER:
        for loop in islice(by_layer(subject.plan, layer), 1):
            given = f"{parts(loop.parts)} of `{subject.dim(loop.dim)}`"
            headline = f"{layer} with {given} is not lowered yet"
            labels = subject.at_core(loop.step, loop.dim)
            yield Diagnostic(CODE, headline, labels, help="use BLK, WRP, THR or VEC")
    yield from check_lowered_attributes(subject.draft)


def check_lowered_attributes(draft: Draft) -> Iterator[Diagnostic]:
    for step in draft.steps:
        for attr in step.attrs:
            if attr.name == "roles":
                yield Diagnostic(CODE, "`@roles` is not lowered yet", at(attr.span), help="leave it out")
        for mem in (*step.inputs, *step.outputs):
            if isinstance(mem.value, BufferPlace) and mem.value.region == Space.HM:
                headline = f"`{mem.value.buffer}` in host memory is not lowered yet"
                yield Diagnostic(CODE, headline, at(mem.span), help="buffers start in DM")
            for attr in mem.attrs:
                first = attr.args[0] if attr.args else None
                if (
                    attr.name in ("copy", "store")
                    and first
                    and first.value == Engine.TMA
                    and first.fallback is None
                ):
                    headline = f"`@{attr.name}(tma)` is not lowered yet"
                    yield Diagnostic(
                        CODE, headline, at(attr.span), help="`@copy(tma else async else plain)` falls back"
                    )
                if attr.name == "copy" and any(a.value == "multicast" for a in attr.args):
                    yield Diagnostic(
                        CODE, "`multicast` is not lowered yet", at(attr.span), help="leave it out"
                    )
