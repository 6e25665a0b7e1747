"""Headers and trials as JSON objects and back. Fields that a newer mdh added are kept as `extra`."""

import json
from dataclasses import MISSING, fields
from math import isfinite
from typing import Any

from mdh.passwords import masked, masked_command
from mdh.results.trial import LONGEST, SHORTEST, Candidate, Number, Outcome, Trial
from mdh.schema import SchemaError, convert
from mdh.tuner.records.header import Header
from mdh.tuner.records.line import BadLineError, Fields

SCHEMA = "mdh.record/1"
MESSAGE_LIMIT = 20_000
"""The most characters of a message that are kept."""
_HEADER = (
    "program", "sizes", "types", "device", "machine", "target", "key", "parts", "versions", "method",
    "command", "seed", "created", "schedule",
)  # fmt: skip
"""The fields of a header, in the order of a line."""
_OUTCOME = tuple(f.name for f in fields(Outcome))
_OBJECTS = frozenset({"sizes", "types", "parts", "versions", "values", "resources"})
"""Fields that are pairs here and objects in JSON."""
_NOT_IN_LINES = frozenset({"number", "candidate", "outcome", "extra"})
"""Names of fields here that no line has. A field of that name in a line is a newer mdh's."""


def header_fields(header: Header) -> Fields:
    written = {"schema": SCHEMA, **_written(header, _HEADER), "created": _lasting(header.created)}
    return {**written, **_extra_fields(header.extra)}


def header_from(line: Fields) -> Header:
    """A header, without passwords that an earlier mdh left in commands. Raises BadLineError if a field is
    missing or of another type."""
    left = without_passwords(line)
    _taken(left, "schema", str)
    key = _taken(left, "key", str)
    found = _known(left, Header)
    header = Header(**found, extra=_rest(left))
    if header.key != key:
        raise BadLineError("its key is not that of its parts")
    return header


def trial_fields(trial: Trial, mark: str) -> Fields:
    """A trial as a JSON object. mark: of the record's header."""
    c, o = trial.candidate, trial.outcome
    return {
        "record": mark,
        "trial": trial.number,
        "origin": trial.origin,
        "phase": trial.phase,
        "started": _lasting(trial.started),
        "elapsed": _lasting(trial.elapsed),
        **_written(c, ("key", "values")),
        **_written(o, _OUTCOME),
        "failure": None if o.failure is None else str(o.failure),
        "message": o.message[:MESSAGE_LIMIT],
        "warm": [float(v) for v in o.warm if SHORTEST <= v <= LONGEST],
        "cold": [float(v) for v in o.cold if SHORTEST <= v <= LONGEST],
        "build_seconds": _lasting(o.build_seconds),
        "check_seconds": _lasting(o.check_seconds),
        "measure_seconds": _lasting(o.measure_seconds),
        "clocks": [float(v) for v in o.clocks if 0.0 <= v <= LONGEST],
        "schedule": c.schedule,
        **_extra_fields(trial.extra),
    }


def trial_from(line: Fields) -> Trial:
    """A trial. Raises BadLineError if a field is missing or of another type."""
    left = {"origin": "", "phase": "", **without_passwords(line)}
    _taken(left, "record", str)
    number = _taken(left, "trial", Number)
    candidate, outcome = Candidate(**_known(left, Candidate)), Outcome(**_known(left, Outcome))
    found = _known(left, Trial)
    return Trial(number, candidate, outcome=outcome, **found, extra=_rest(left))


def without_passwords(line: Fields) -> Fields:
    """A line of either kind without the passwords that an earlier mdh left in commands and in heads of
    schedules."""
    texts = {"command": masked_command, "schedule": masked}
    known = {n: mask(line[n]) for n, mask in texts.items() if isinstance(line.get(n), str)}
    return {**line, **known}


def _lasting(seconds: float) -> float:
    """A duration that JSON can hold. A clock that was set back, or a driver without a clock, gives negative
    or infinite ones."""
    return min(max(float(seconds), 0.0), LONGEST) if isfinite(seconds) else 0.0


def _written(value: object, names: tuple[str, ...]) -> Fields:
    found = {name: getattr(value, name) for name in names}
    return {name: dict(one) if name in _OBJECTS else one for name, one in found.items()}


def _known(left: Fields, kind: type) -> dict[str, Any]:
    """The fields of a dataclass that the line has; they are removed from `left`."""
    own = [f for f in fields(kind) if f.name not in _NOT_IN_LINES]
    return {f.name: _taken(left, f.name, f.type) for f in own if f.name in left or f.default is MISSING}


def _taken(left: Fields, name: str, kind: Any) -> Any:
    if name not in left:
        raise BadLineError(f"it has no field `{name}`")
    value = left.pop(name)
    try:
        return convert(list(convert(value, dict).items()) if name in _OBJECTS else value, kind)
    except SchemaError as error:
        raise BadLineError(f"its field `{name}` cannot be: {error}") from None


def _rest(left: Fields) -> tuple[tuple[str, str], ...]:
    return tuple((name, json.dumps(value)) for name, value in left.items())


def _extra_fields(extra: tuple[tuple[str, str], ...]) -> Fields:
    return {name: json.loads(text) for name, text in extra}
