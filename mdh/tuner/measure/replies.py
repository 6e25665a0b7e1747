"""Validates the answers of a worker. A worker that sends anything else is lost, because a candidate's kernel
runs in its process and may have written anywhere."""

from typing import Any

from mdh.schema import Int64, Text, record_type
from mdh.tuner.measure.shape import FAILED, Amount, Finite, NonsenseError, fits, listed
from mdh.tuner.measure.wire import Json

_RUNS = record_type(
    {"warm": listed(Finite), "cold": listed(Finite), "clock": Text, "stopped": bool}, more=True
)
_REFUSED = record_type({"failed": FAILED}, flags=("poisoned",), more=True)
_GREETING = record_type(
    {"title": Text, "target": Text, "machine": Text, "versions": listed(tuple[Text, Text])}, more=True
)
_REPLIES = {
    "build": record_type(
        {
            "text": Text, "image": Text | None, "cached": Text, "seconds": Amount,
            "resources": listed(tuple[Text, Int64]),
        },
        more=True,
    ),
    "expect": record_type({}, more=True),
    "load": record_type({"seconds": Amount}, more=True),
    "time": record_type(
        {"results": listed(dict[str, Any]), "clocks": listed(Finite), "seconds": Amount}, more=True
    ),
}  # fmt: skip
"""By the kind of request."""


def demanded(request: Json, reply: Json) -> Json:
    """The reply, if it is one to the request. Raises NonsenseError."""
    do = request["do"]
    right = fits(reply, _REFUSED if "failed" in reply else _REPLIES[do])
    if right and do == "time" and "failed" not in reply:
        results = reply["results"]
        right = len(results) == len(request["names"]) and all(
            fits(r, _RUNS) or fits(r, _REFUSED) for r in results
        )
    if not right:
        raise NonsenseError(f"no worker answers that to `{do}`")
    return reply


def greeting(hello: Json) -> Json:
    """The first message of a worker: about its device, empty, or why it cannot work. Raises NonsenseError."""
    if hello and not fits(hello, _REFUSED if "failed" in hello else _GREETING):
        raise NonsenseError("no worker begins with that")
    return hello
