"""The messages between the tuner and its workers on other machines: JSON texts only. Both sides validate what
they receive."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from mdh.results.trial import Candidate, Limits, Outcome, Trial
from mdh.tuner.measure.shape import (
    FAILED,
    NonsenseError,
    Shape,
    amount,
    fields,
    flag,
    listed,
    optional,
    parsed,
    row,
    text,
    whole,
)
from mdh.tuner.measure.wire import Json
from mdh.tuner.records.form import trial_fields, trial_from

_INT = whole(-(1 << 63), (1 << 63) - 1)
_MOST = 1 << 12
"""The most slots, cores and devices of one machine, and candidates in one request."""
_HOLDER = fields({"host": text, "boot": text, "pid": whole(0, 1 << 31), "space": text, "started": text})
_JOB = fields(
    {
        "path": text, "source": text, "function": optional(text), "strict_fp": flag, "deterministic": flag,
        "device": text, "seed": _INT, "defines": listed(row(text, lambda v: text(v) or _INT(v))),
    }
)  # fmt: skip
_EFFORT = fields(
    {
        "samples": whole(1, 1 << 20), "seconds": amount, "cold": flag, "inputs": whole(0, 1 << 10),
        "give_up": optional(amount),
    }
)  # fmt: skip
_LIMITS = fields({"build": amount, "launch": amount, "measure": amount, "trial": amount})
_CANDIDATE = fields({"key": text, "schedule": text})
REQUESTS: Mapping[str, Shape] = {
    "look": fields({"do": text}, more=True),
    "begin": fields(
        {
            "do": text, "session": text, "holder": _HOLDER, "job": _JOB, "devices": listed(text, most=_MOST),
            "jobs": optional(whole(1, _MOST)), "force": text,
        }
    ),
    "measure": fields(
        {
            "do": text, "session": text, "trial": text, "effort": _EFFORT, "limits": _LIMITS,
            "candidates": listed(_CANDIDATE, least=1, most=_MOST),
        }
    ),
    "stop": fields({"do": text, "session": text, "trial": text}),
    "beat": fields({"do": text, "session": text}),
    "end": fields({"do": text, "session": text}),
}  # fmt: skip
"""The shape of each request, by its name."""
_GONE = fields({"lost": flag})
_REFUSED = fields({"failed": FAILED})
_NOTHING = fields({})
_ABOUT = fields(
    {
        "slots": whole(1, _MOST), "machine": text, "target": text, "title": text,
        "versions": listed(row(text, text)),
    }
)  # fmt: skip
_INVENTORY = fields(
    {
        "mdh": text, "host": text, "boot": text, "pid": whole(0, 1 << 31), "visible": optional(text),
        "cores": listed(whole(0, 1 << 20), most=_MOST), "default": text,
        "devices": listed(row(text, text, text), most=_MOST),
    },
    more=True,
)  # fmt: skip
_OUTCOME = fields({"warm": listed(amount), "cold": listed(amount)}, more=True)
"""`trial_from` checks its other fields."""
_ANSWERS: Mapping[str, tuple[Shape, ...]] = {
    "look": (_INVENTORY,),
    "begin": (_ABOUT, fields({"busy": text, "holder": _HOLDER}), _GONE, _REFUSED),
    "measure": (fields({"outcomes": listed(_OUTCOME, least=1, most=_MOST)}), _GONE, _REFUSED),
    "stop": (_NOTHING,),
    "beat": (_NOTHING, _GONE),
    "end": (_NOTHING,),
}


def read_request(message: str) -> Json:
    """A request of a tuner, validated. Raises NonsenseError."""
    value = parsed(message)
    shape = REQUESTS.get(value["do"]) if text(value.get("do")) else None
    if shape is None or not shape(value):
        raise NonsenseError("no tuner of mdh asks that")
    return value


def read_answer(do: str, message: str) -> Json:
    """The answer of a worker to the request `do`, validated. Raises NonsenseError."""
    value = parsed(message)
    if not any(shape(value) for shape in _ANSWERS[do]):
        raise NonsenseError("it gives no answer that a worker of mdh gives")
    return value


def candidate_json(candidate: Candidate) -> Json:
    """A candidate without its values: its schedule is enough for a worker."""
    return {"key": candidate.key, "schedule": candidate.schedule}


def read_candidate(value: Mapping[str, Any]) -> Candidate:
    return Candidate(value["key"], value["schedule"])


def limits_json(limits: Limits) -> Json:
    return asdict(limits)


def read_limits(value: Mapping[str, Any]) -> Limits:
    return Limits(**value)


def outcome_json(candidate: Candidate, outcome: Outcome) -> Json:
    """An outcome in the form of a record."""
    return trial_fields(Trial(0, candidate, "", "", outcome), "")


def read_outcome(value: Json) -> Outcome:
    """An outcome. Raises BadLineError, a ValueError, if it is malformed."""
    return trial_from(value).outcome
