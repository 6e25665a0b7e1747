"""K190: what the language has and the compiler does not lower yet."""

from collections.abc import Iterator

from mdh.check.subject import Draft, Subject, at, parts
from mdh.diagnostics import Diagnostic
from mdh.schedule.model import Place

CODE = "K190"
LATER = ("NOD", "DEV", "WGP", "MMA")


def check_lowered(subject: Subject) -> Iterator[Diagnostic]:
    """No split over NOD, DEV, WGP or MMA has more than one part; no TMA copy or store, no warp roles."""
    for s, step in enumerate(subject.plan.steps):
        for split in step.splits:
            if split.layer in LATER:
                given = f"{parts(split.parts)} of `{subject.dim(split.dim)}`"
                headline = f"{split.layer} with {given} is not lowered yet"
                said = "use BLK, WRP, THR or VEC" if split.layer != "MMA" else "use THR and a register tile"
                yield Diagnostic(CODE, headline, subject.at_core(s, split.dim), help=said)
    yield from check_lowered_attributes(subject.draft)


def check_lowered_attributes(draft: Draft) -> Iterator[Diagnostic]:
    for step in draft.steps:
        for attr in step.attrs:
            if attr.name == "roles":
                yield Diagnostic(CODE, "`@roles` is not lowered yet", at(attr.span), help="leave it out")
        for mem in (*step.inputs, *step.outputs):
            if isinstance(mem.value, Place) and mem.value.region == "HM":
                headline = f"`{mem.value.buffer}` in host memory is not lowered yet"
                yield Diagnostic(CODE, headline, at(mem.span), help="buffers start in DM")
            for attr in mem.attrs:
                first = attr.args[0] if attr.args else None
                if (
                    attr.name in ("copy", "store")
                    and first
                    and first.value == "tma"
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
