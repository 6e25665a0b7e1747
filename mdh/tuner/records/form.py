"""Headers and trials as JSON objects and back. What a newer mdh adds is kept, as `extra`."""

import json
from collections.abc import Callable
from math import isfinite
from typing import Any, TypeVar

from mdh.passwords import masked, masked_command
from mdh.results.trial import Candidate, Failure, Outcome, Trial, Value
from mdh.tuner.records.header import Header
from mdh.tuner.records.line import BadLineError, Fields

SCHEMA = "mdh.record/1"
MESSAGE_LIMIT = 20_000
"""Characters of a message that are kept: compilers write more than anybody reads."""

LONGEST = 1e11
"""Seconds, and MHz, that anything may have; three thousand years, so that moments fit."""
SHORTEST = 1e-12
"""Seconds that a timed run takes at least: less than a cycle of any clock."""
LAST = 1 << 62
"""Above every number of a trial."""

T = TypeVar("T")


def header_fields(header: Header) -> Fields:
    return {
        "schema": SCHEMA,
        "program": header.program,
        "sizes": dict(header.sizes),
        "types": dict(header.types),
        "device": header.device,
        "machine": header.machine,
        "target": header.target,
        "key": header.key,
        "parts": dict(header.parts),
        "versions": dict(header.versions),
        "method": header.method,
        "command": header.command,
        "seed": header.seed,
        "created": _lasting(header.created),
        "schedule": header.schedule,
        **_extra_fields(header.extra),
    }


def header_from(fields: Fields) -> Header:
    """Without the passwords that an earlier mdh left in commands. Raises BadLineError where a field is
    missing or of another type."""
    r = _Reader(fields)
    r.take("schema", _text)
    key = r.take("key", _text)
    header = Header(
        program=r.take("program", _text),
        schedule=masked(r.take("schedule", _text)),
        sizes=r.take("sizes", _map(_value)),
        types=r.take("types", _map(_text)),
        device=r.take("device", _text),
        machine=r.take("machine", _text),
        target=r.take("target", _text),
        parts=r.take("parts", _map(_text)),
        versions=r.take("versions", _map(_text), ()),
        method=r.take("method", _text, ""),
        command=masked_command(r.take("command", _text, "")),
        seed=r.take("seed", _int, 0),
        created=r.take("created", _duration, 0.0),
        extra=r.rest(),
    )
    if header.key != key:
        raise BadLineError("its key is not that of its parts")
    return header


def trial_fields(trial: Trial, mark: str) -> Fields:
    """`mark`: of the record's header."""
    c, o = trial.candidate, trial.outcome
    return {
        "record": mark,
        "trial": trial.number,
        "origin": trial.origin,
        "phase": trial.phase,
        "started": _lasting(trial.started),
        "elapsed": _lasting(trial.elapsed),
        "key": c.key,
        "values": dict(c.values),
        "failure": None if o.failure is None else str(o.failure),
        "code": o.code,
        "message": o.message[:MESSAGE_LIMIT],
        "warm": [float(v) for v in o.warm if SHORTEST <= v <= LONGEST],
        "cold": [float(v) for v in o.cold if SHORTEST <= v <= LONGEST],
        "clock": o.clock,
        "stopped": o.stopped,
        "build_seconds": _lasting(o.build_seconds),
        "check_seconds": _lasting(o.check_seconds),
        "measure_seconds": _lasting(o.measure_seconds),
        "resources": dict(o.resources),
        "clocks": [float(v) for v in o.clocks if 0.0 <= v <= LONGEST],
        "device": o.device,
        "title": o.title,
        "versions": dict(o.versions),
        "innocent": o.innocent,
        "schedule": c.schedule,
        **_extra_fields(trial.extra),
    }


def without_passwords(fields: Fields) -> Fields:
    """Of a line of either kind: what an earlier mdh left in commands and in the heads of schedules."""
    texts = {"command": masked_command, "schedule": masked}
    known = {n: mask(fields[n]) for n, mask in texts.items() if isinstance(fields.get(n), str)}
    return {**fields, **known}


def trial_from(fields: Fields) -> Trial:
    """Raises BadLineError where a field is missing or of another type."""
    r = _Reader(fields)
    r.take("record", _text)
    outcome = Outcome(
        failure=r.take("failure", _failure),
        code=r.take("code", _text, ""),
        message=r.take("message", _text, ""),
        warm=r.take("warm", _list(_run), ()),
        cold=r.take("cold", _list(_run), ()),
        clock=r.take("clock", _text, ""),
        stopped=r.take("stopped", _flag, False),
        build_seconds=r.take("build_seconds", _duration, 0.0),
        check_seconds=r.take("check_seconds", _duration, 0.0),
        measure_seconds=r.take("measure_seconds", _duration, 0.0),
        resources=r.take("resources", _map(_int), ()),
        clocks=r.take("clocks", _list(_duration), ()),
        device=r.take("device", _text, ""),
        title=r.take("title", _text, ""),
        versions=r.take("versions", _map(_text), ()),
        innocent=r.take("innocent", _flag, False),
    )
    schedule = masked(r.take("schedule", _text))
    candidate = Candidate(r.take("key", _text), schedule, r.take("values", _map(_value), ()))
    return Trial(
        number=r.take("trial", _count),
        candidate=candidate,
        origin=r.take("origin", _text, ""),
        phase=r.take("phase", _text, ""),
        outcome=outcome,
        started=r.take("started", _duration, 0.0),
        elapsed=r.take("elapsed", _duration, 0.0),
        extra=r.rest(),
    )


def _lasting(seconds: float) -> float:
    """What a clock that was set back, or a driver that knows no time, makes of a duration has no place in
    JSON, or none that is believed."""
    return min(max(float(seconds), 0.0), LONGEST) if isfinite(seconds) else 0.0


class _Reader:
    """Takes fields one at a time; `rest` is what no one has taken."""

    def __init__(self, fields: Fields) -> None:
        self.fields = dict(fields)

    def take(self, name: str, convert: Callable[[Any], T], *default: T) -> T:
        if name not in self.fields and default:
            return default[0]
        if name not in self.fields:
            raise BadLineError(f"it has no field `{name}`")
        try:
            return convert(self.fields.pop(name))
        except TypeError:
            raise BadLineError(f"its field `{name}` is of another type") from None
        except ValueError as error:
            raise BadLineError(f"its field `{name}` {error}") from None

    def rest(self) -> tuple[tuple[str, str], ...]:
        return tuple((name, json.dumps(value)) for name, value in self.fields.items())


def _extra_fields(extra: tuple[tuple[str, str], ...]) -> Fields:
    return {name: json.loads(text) for name, text in extra}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise TypeError


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise TypeError


def _int(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise TypeError


def _count(value: Any) -> int:
    if 0 <= _int(value) < LAST:
        return _int(value)
    raise ValueError(f"is not from 0 to {LAST - 1:,}")


def _duration(value: Any) -> float:
    """Seconds or MHz."""
    number = value if isinstance(value, float) else _int(value)
    if 0 <= number <= LONGEST:
        return float(number)
    raise ValueError("is below zero" if number < 0 else "is larger than any time")


def _run(value: Any) -> float:
    """Seconds of a timed run. A time that no device can have would win for ever."""
    if _duration(value) >= SHORTEST:
        return float(value)
    raise ValueError("holds a time that no run takes")


def _value(value: Any) -> Value:
    return value if isinstance(value, str) else _int(value)


def _failure(value: Any) -> Failure | None:
    if value is None:
        return None
    if value in set(Failure):
        return Failure(value)
    raise TypeError


def _list(convert: Callable[[Any], T]) -> Callable[[Any], tuple[T, ...]]:
    def read(value: Any) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise TypeError
        return tuple(convert(v) for v in value)

    return read


def _map(convert: Callable[[Any], T]) -> Callable[[Any], tuple[tuple[str, T], ...]]:
    def read(value: Any) -> tuple[tuple[str, T], ...]:
        if not isinstance(value, dict):
            raise TypeError
        return tuple((name, convert(v)) for name, v in value.items())

    return read
