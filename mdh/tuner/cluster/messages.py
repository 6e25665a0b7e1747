"""The messages between the tuner and its workers on other machines: JSON texts only. Both sides validate what
they receive."""

from collections.abc import Mapping
from typing import Annotated, Any

from mdh.frontend.open_program import MOST_VALUE
from mdh.results.trial import Candidate, Outcome, Trial
from mdh.schema import Int64, Meta, Text, record_type
from mdh.tuner.measure.wire import FAILED, GROUND, Amount, Json, NonsenseError, fits, listed, parsed
from mdh.tuner.records.form import trial_fields, trial_from

_MOST = 1 << 12
"""The most slots, cores and devices of one machine, and candidates in one request."""
_Count = Annotated[int, Meta(ge=1, le=_MOST)]
_Process = Annotated[int, Meta(ge=0, le=1 << 31)]
_HOLDER = record_type({"host": Text, "boot": Text, "pid": _Process, "space": Text, "started": Text})
_Size = Annotated[int, Meta(ge=1, le=MOST_VALUE)]
_RANGE = record_type({"name": Text, "least": _Size, "most": _Size, "multiple": _Size})
_JOB = record_type(
    {
        "path": Text, "source": Text, "function": Text | None, "strict_fp": bool, "deterministic": bool,
        "device": Text, "seed": Int64, "defines": listed(tuple[Text, Text | Int64]),
        "allow": listed(Text), "ranges": listed(_RANGE), "at": listed(tuple[Text, _Size]),
    }
)  # fmt: skip
_EFFORT = record_type(
    {
        "samples": Annotated[int, Meta(ge=1, le=1 << 20)], "seconds": Amount, "cold": bool,
        "inputs": Annotated[int, Meta(ge=0, le=1 << 10)], "give_up": Amount | None,
    }
)  # fmt: skip
_LIMITS = record_type({"build": Amount, "launch": Amount, "measure": Amount, "trial": Amount})
_CANDIDATE = record_type({"key": Text, "schedule": Text})
_IN_SESSION = record_type({"do": Text, "session": Text})
REQUESTS: Mapping[str, Any] = {
    "look": record_type({"do": Text}, more=True),
    "begin": record_type(
        {
            "do": Text, "session": Text, "holder": _HOLDER, "job": _JOB, "devices": listed(Text, most=_MOST),
            "jobs": _Count | None, "force": Text,
        }
    ),
    "measure": record_type(
        {
            "do": Text, "session": Text, "trial": Text, "effort": _EFFORT, "limits": _LIMITS,
            "candidates": listed(_CANDIDATE, least=1, most=_MOST),
        }
    ),
    "stop": record_type({"do": Text, "session": Text, "trial": Text}),
    "beat": _IN_SESSION,
    "end": _IN_SESSION,
}  # fmt: skip
"""Types of requests by what is asked."""
_GONE = record_type({"lost": bool})
_REFUSED = record_type({"failed": FAILED})
_NOTHING = record_type({})
_ABOUT = record_type({"slots": _Count, **GROUND})
_INVENTORY = record_type(
    {
        "mdh": Text, "host": Text, "boot": Text, "pid": _Process, "visible": Text | None,
        "cores": listed(Annotated[int, Meta(ge=0, le=1 << 20)], most=_MOST), "default": Text,
        "devices": listed(tuple[Text, Text, Text], most=_MOST),
    },
    more=True,
)  # fmt: skip
_OUTCOME = record_type({"warm": listed(Amount), "cold": listed(Amount)}, more=True)
"""`trial_from` checks its other fields."""
_ANSWERS: Mapping[str, tuple[Any, ...]] = {
    "look": (_INVENTORY,),
    "begin": (_ABOUT, record_type({"busy": Text, "holder": _HOLDER}), _GONE, _REFUSED),
    "measure": (record_type({"outcomes": listed(_OUTCOME, least=1, most=_MOST)}), _GONE, _REFUSED),
    "stop": (_NOTHING,),
    "beat": (_NOTHING, _GONE),
    "end": (_NOTHING,),
}


def read_request(message: str) -> Json:
    """A request of a tuner, validated. Raises NonsenseError."""
    value = parsed(message)
    do = value.get("do")
    if not isinstance(do, str) or do not in REQUESTS or not fits(value, REQUESTS[do]):
        raise NonsenseError("no tuner of mdh asks that")
    return value


def read_answer(do: str, message: str) -> Json:
    """The answer of a worker to the request `do`, validated. Raises NonsenseError."""
    value = parsed(message)
    if not any(fits(value, kind) for kind in _ANSWERS[do]):
        raise NonsenseError("it gives no answer that a worker of mdh gives")
    return value


def candidate_json(candidate: Candidate) -> Json:
    """A candidate without its values: its schedule is enough for a worker."""
    return {"key": candidate.key, "schedule": candidate.schedule}


def outcome_json(candidate: Candidate, outcome: Outcome) -> Json:
    """An outcome in the form of a record."""
    return trial_fields(Trial(0, candidate, "", "", outcome), "")


def read_outcome(value: Json) -> Outcome:
    """An outcome. Raises BadLineError, a ValueError, if it is malformed."""
    return trial_from(value).outcome
