"""K164: vector lanes are 2, 4 or 8 (CUDA), or 2, 4, 8 or 16 (OpenCL, C), single elements of one dimension."""

from collections.abc import Iterator

from mdh.checker.loops import by_layer
from mdh.checker.subject import Subject
from mdh.diagnostics import Diagnostic
from mdh.hardware import Layer
from mdh.language import LANGUAGES

CODE = "K164"


def check_vectors(subject: Subject) -> Iterator[Diagnostic]:
    """At most one split over VEC; its tile is 1, its parts a vector width of the target."""
    loops = list(by_layer(subject.plan, Layer.VEC))
    widths = LANGUAGES[subject.target].widths
    legal = ", ".join(map(str, widths))
    for loop in loops:
        labels = subject.at_core(loop.step, loop.dim)
        name = subject.dim(loop.dim)
        if loop.tile != 1:
            headline = f"VEC takes `{name}` in tiles of {loop.tile}; lanes hold one element each"
            yield Diagnostic(
                CODE, headline, labels + subject.at_tile(loop.step, loop.dim), help="tile 1 at this step"
            )
        elif loop.parts not in widths:
            headline = f"VEC has {loop.parts} lanes of `{name}`, {subject.target} has vectors of {legal}"
            said = f"make the tile that this step splits one of {legal}"
            witness = (("lanes", loop.parts), ("widths", widths))
            yield Diagnostic(CODE, headline, labels, help=said, witness=witness)
    if len(loops) > 1:
        first, second = loops[0], loops[1]
        names = f"`{subject.dim(first.dim)}` and `{subject.dim(second.dim)}`"
        headline = f"VEC splits {names}; a vector has one dimension"
        labels = subject.at_core(second.step, second.dim, "again") + subject.at_core(first.step, first.dim)
        yield Diagnostic(
            CODE, headline, labels, help="keep one of them; the other can be unrolled (`^`, @unroll)"
        )
