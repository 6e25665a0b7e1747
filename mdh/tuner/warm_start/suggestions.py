"""Points that are worth measuring before a search knows anything: the schedule's own, and earlier winners."""

from collections.abc import Mapping
from pathlib import Path
from random import Random

from mdh.diagnostics import Failed
from mdh.results.trial import Candidate, Value
from mdh.results.variable import Metric, Point, Variable
from mdh.tuner.records.best import ranked
from mdh.tuner.records.header import Header
from mdh.tuner.records.listing import SUFFIX
from mdh.tuner.records.read import RecordSection, read_contents
from mdh.tuner.space.space import ExactSpace

_TRIES = 200
_BEST_OF_RECORD = 3
_SAME = ("program", "arrays", "strict_fp", "deterministic", "allowed", "machine", "device", "target")
"""Parts of a record's key that must equal this tuning's, so that its results are worth a try."""


def point_of(space: ExactSpace, candidate: Candidate) -> Point | None:
    """The point of a candidate's values; None if the space has no such point. Also None if it has no holes,
    because the values then do not tell whether the candidate is its only program."""
    values: Mapping[str, Value] = dict(candidate.values)
    if not space.variables or values.keys() != {v.name for v in space.variables}:
        return None
    point = tuple(values[v.name] for v in space.variables)
    known = all(value in v.values for v, value in zip(space.variables, point, strict=True))
    return point if known and space.rank(point) is not None else None


def first_point(space: ExactSpace, rng: Random) -> Point | None:
    """The schedule's own point: the middle of every set, or a legal point if that is illegal. None if none
    was found."""
    point = space.nearest([_middle(v) for v in space.variables])
    if not isinstance(space.plan(point), Failed):
        return point
    drawn = space.draw_legal(rng, _TRIES)
    return None if drawn is None else drawn[0]


def _middle(variable: Variable) -> Value:
    """The middle of numbers, or the first word."""
    return variable.values[0 if variable.kind is Metric.WORD else len(variable.values) // 2]


def best_of_records(place: Path, own: Header) -> tuple[Candidate, ...]:
    """The best of other records in the folder for the same program on the same device."""
    parts = dict(own.parts)
    found: list[Candidate] = []
    for path in sorted(place.glob(f"*{SUFFIX}")):
        try:
            sections: tuple[RecordSection, ...] = read_contents(str(path)).sections
        except Failed:
            # a file that is no record, or damaged, suggests nothing
            continue
        for section in sections:
            theirs = dict(section.header.parts)
            same = all(theirs.get(name) == parts.get(name) for name in _SAME)
            if same and section.header.mark != own.mark:
                found.extend(row[-1].candidate for row in ranked(section.trials)[:_BEST_OF_RECORD])
    return tuple(dict.fromkeys(found))
