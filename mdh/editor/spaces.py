"""Which values a hole may have: those of the search space, else what the text alone says."""

from dataclasses import dataclass

from mdh.checker.open_default import default_for
from mdh.checker.parallel_loops import shared_loops
from mdh.diagnostics import INTERNAL_ERRORS, Failed
from mdh.editor.analysis import Analysis
from mdh.results.trial import Value
from mdh.schedule.holes import HolePlace, OpenHole, holes
from mdh.schedule.model import Schedule
from mdh.source import Span
from mdh.tuner.space import make_space
from mdh.tuner.space.sections import named_sections

SHOWN = 24
"""Values that are shown of a hole."""
IN_WORDS = {
    HolePlace.TILE: "divisors of the tile around it, and powers of two up to it",
    HolePlace.MEMORY: "`^`, or any region and layout of the buffer",
    HolePlace.REGION: "`DM`, `SM`, `RM`",
    HolePlace.LAYOUT: "any permutation of the dimensions",
    HolePlace.LAYOUT_ENTRY: "any dimension of the buffer",
    HolePlace.CORE: "any layer of the machine and axis, or a loop",
    HolePlace.STAGE: "`kernel`, `inline`, and `in STAGE:step` for steps that stage its results",
}


@dataclass(frozen=True, slots=True)
class HoleRange:
    """name: by which a search calls the hole, `?bm` or `2.tile.i`. values: all legal ones; None if they are
    not known, as where the schedule has mistakes. words: what is known then."""

    name: str
    place: str
    values: tuple[Value, ...] | None
    words: str
    span: Span


def range_at(analysis: Analysis, offset: int, word: str) -> HoleRange | None:
    """The hole at an offset, or the one of a name such as `?bm`, as in conditions. Counting a space takes up
    to half a second."""
    if analysis.schedule is None:
        return None
    found = _hole_at(analysis.schedule, offset, word)
    if found is None or found.hole.span is None:
        return None
    span, domain = found.hole.span, found.parameter.domain if found.parameter is not None else ()
    words = IN_WORDS.get(found.place) or ", ".join(f"`{v}`" for v in domain)
    name, values = _counted(analysis, span)
    if values is None:
        values = found.hole.values
    said = name or (f"?{found.hole.name}" if found.hole.name else "?")
    return HoleRange(said, str(found.place), values, words, span)


def _hole_at(schedule: Schedule, offset: int, word: str) -> OpenHole | None:
    parts = [Schedule(case.sections) for case in schedule.cases]
    every = [h for part in (schedule, *parts) for h in holes(part)]
    here = (h for h in every if h.hole.span and h.hole.span.start <= offset <= h.hole.span.end)
    named = (h for h in every if h.hole.name is not None and f"?{h.hole.name}" == word)
    return next(here, None) or next(named, None)


def _counted(analysis: Analysis, span: Span) -> tuple[str, tuple[Value, ...] | None]:
    """The name and values of a hole by the search space of its schedule."""
    program, machine, given = analysis.program, analysis.machine, analysis.schedule
    if program is None or machine is None or given is None or given.cases or program.opens:
        return "", None
    try:
        default = default_for(program, machine, analysis.target, deterministic=False, given=given)
        shared = shared_loops(program, given, default, holes=True)
        places = named_sections(
            program, given, machine, default, analysis.target, shared, deterministic=False
        )[2]
        name = next((f"?{p.variable}" if p.named else p.variable for p in places if p.span == span), "")
        space = make_space(program, given, machine, analysis.target, default=default)
    except Failed:
        return "", None
    except INTERNAL_ERRORS:
        # a hover has no place for a bug of the search; `mdh explain --space` reports it
        return "", None
    return name, next((v.values for v in space.variables if v.name == name), None)
