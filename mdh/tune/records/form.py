"""Headers and trials as JSON objects and back. What a newer mdh adds is kept, as `extra`."""

import json
from collections.abc import Callable
from math import isfinite
from typing import Any, TypeVar

from mdh.tune.records.header import Header
from mdh.tune.records.line import BadLineError, Fields
from mdh.tune.values import Candidate, Failure, Outcome, Trial, Value

SCHEMA = "mdh.record/1"
MESSAGE_LIMIT = 20_000
"""Characters of a message that are kept: compilers write more than anybody reads."""

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
        "created": float(header.created),
        "schedule": header.schedule,
        **_extra_fields(header.extra),
    }


def header_from(fields: Fields) -> Header:
    """Raises BadLineError where a field is missing or of another type."""
    r = _Reader(fields)
    r.take("schema", _text)
    key = r.take("key", _text)
    header = Header(
        program=r.take("program", _text),
        schedule=r.take("schedule", _text),
        sizes=r.take("sizes", _map(_value)),
        types=r.take("types", _map(_text)),
        device=r.take("device", _text),
        machine=r.take("machine", _text),
        target=r.take("target", _text),
        parts=r.take("parts", _map(_text)),
        versions=r.take("versions", _map(_text), ()),
        method=r.take("method", _text, ""),
        command=r.take("command", _text, ""),
        seed=r.take("seed", _int, 0),
        created=r.take("created", _number, 0.0),
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
        "started": float(trial.started),
        "elapsed": float(trial.elapsed),
        "key": c.key,
        "values": dict(c.values),
        "failure": None if o.failure is None else str(o.failure),
        "code": o.code,
        "message": o.message[:MESSAGE_LIMIT],
        "warm": _finite(o.warm),
        "cold": _finite(o.cold),
        "clock": o.clock,
        "stopped": o.stopped,
        "build_seconds": float(o.build_seconds),
        "check_seconds": float(o.check_seconds),
        "measure_seconds": float(o.measure_seconds),
        "resources": dict(o.resources),
        "clocks": _finite(o.clocks),
        "device": o.device,
        "title": o.title,
        "versions": dict(o.versions),
        "innocent": o.innocent,
        "schedule": c.schedule,
        **_extra_fields(trial.extra),
    }


def trial_from(fields: Fields) -> Trial:
    """Raises BadLineError where a field is missing or of another type."""
    r = _Reader(fields)
    r.take("record", _text)
    outcome = Outcome(
        failure=r.take("failure", _failure),
        code=r.take("code", _text, ""),
        message=r.take("message", _text, ""),
        warm=r.take("warm", _list(_number), ()),
        cold=r.take("cold", _list(_number), ()),
        clock=r.take("clock", _text, ""),
        stopped=r.take("stopped", _flag, False),
        build_seconds=r.take("build_seconds", _number, 0.0),
        check_seconds=r.take("check_seconds", _number, 0.0),
        measure_seconds=r.take("measure_seconds", _number, 0.0),
        resources=r.take("resources", _map(_int), ()),
        clocks=r.take("clocks", _list(_number), ()),
        device=r.take("device", _text, ""),
        title=r.take("title", _text, ""),
        versions=r.take("versions", _map(_text), ()),
        innocent=r.take("innocent", _flag, False),
    )
    candidate = Candidate(r.take("key", _text), r.take("schedule", _text), r.take("values", _map(_value), ()))
    return Trial(
        number=r.take("trial", _int),
        candidate=candidate,
        origin=r.take("origin", _text, ""),
        phase=r.take("phase", _text, ""),
        outcome=outcome,
        started=r.take("started", _number, 0.0),
        elapsed=r.take("elapsed", _number, 0.0),
        extra=r.rest(),
    )


def _finite(values: tuple[float, ...]) -> list[float]:
    """JSON has no number for what a driver or a clock says where it knows none."""
    return [float(v) for v in values if isfinite(v)]


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


def _number(value: Any) -> float:
    # whole numbers beyond 64 bits are no seconds and no MHz
    if isinstance(value, float) or (isinstance(value, int) and abs(_int(value)) < 1 << 64):
        return float(value)
    raise TypeError


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
