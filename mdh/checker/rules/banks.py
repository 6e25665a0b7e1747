"""K167, and K110 for `@pad` and `@swizzle`: how the rows of a staged buffer map to the banks."""

from collections.abc import Iterator

from mdh.checker.subject import Subject, listed
from mdh.diagnostics import Diagnostic
from mdh.hardware import Engine
from mdh.ir.plan import Holding, Staging

SWIZZLE, EFFECT = "K167", "K110"
SPANS = (32, 64, 128)
CHUNK = 16
"""Bytes that a swizzle moves as one unit."""


def check_banks(subject: Subject) -> Iterator[Diagnostic]:
    """K167. Rows of a swizzled buffer are whole spans, without padding, copied at most 16 bytes at once.

    K110. A padded or swizzled buffer has more than one dimension.
    """
    for i, step in enumerate(subject.plan.steps):
        for staging in step.stagings:
            if staging.pad:
                yield from _one_row(subject, i, staging, "pad")
            if staging.swizzle:
                yield from _one_row(subject, i, staging, "swizzle")
                yield from _swizzled(subject, i, staging)
        for holding in step.holdings:
            if holding.pad:
                yield from _one_row(subject, i, holding, "pad")


def _one_row(subject: Subject, i: int, entry: Staging | Holding, name: str) -> Iterator[Diagnostic]:
    # a buffer of one dimension has one row at every size
    if len(entry.layout) == 1:
        headline = f"`@{name}` has no effect on `{entry.buffer}`: it is one row"
        labels = subject.at_entry_attr(i, entry.buffer, name)
        said = "leave it out; it changes how far apart rows of the fastest dimension lie"
        yield Diagnostic(EFFECT, headline, labels, help=said)


def _swizzled(subject: Subject, i: int, staging: Staging) -> Iterator[Diagnostic]:
    size = subject.program.buffer_of[staging.buffer].dtype.bytes
    labels = subject.at_entry_attr(i, staging.buffer, "swizzle")
    if staging.pad:
        headline = f"`{staging.buffer}` is both padded and swizzled"
        labels += subject.at_entry_attr(i, staging.buffer, "pad")
        yield Diagnostic(SWIZZLE, headline, labels, help="keep one of the two")
    if (staging.vec or 1) * size > CHUNK:
        headline = f"vec={staging.vec} is {(staging.vec or 1) * size} bytes, a swizzle moves {CHUNK} as one"
        labels += subject.at_entry_attr(i, staging.buffer, "copy")
        yield Diagnostic(SWIZZLE, headline, labels, help=f"vec: at most {CHUNK // size}")
    for copy in subject.copies(i, staging.buffer):
        row = copy.tile.shape[staging.layout[-1]] * size
        if row % staging.swizzle == 0:
            continue
        fact = f"rows of `{staging.buffer}` have {row} bytes"
        headline = f"{fact}, which is no multiple of {staging.swizzle}"
        fitting = [f"@swizzle({n})" for n in SPANS if row % n == 0]
        other = "" if staging.engine is Engine.TMA else ", or @pad"
        said = listed(fitting) if fitting else f"rows of a multiple of {SPANS[0]} bytes{other}"
        witness = (("row", row), ("span", staging.swizzle))
        yield Diagnostic(SWIZZLE, headline, labels, help=said, witness=witness)
