"""Validates the answers of a worker. A worker that sends anything else is lost, because a candidate's kernel
runs in its process and may have written anywhere."""

from mdh.tuner.measure.shape import (
    FAILED,
    NonsenseError,
    amount,
    either,
    fields,
    flag,
    listed,
    number,
    row,
    text,
    whole,
)
from mdh.tuner.measure.shape import optional as maybe
from mdh.tuner.measure.wire import Json

_COUNT = 1 << 20
_INT = whole(-(1 << 63), (1 << 63) - 1)
_RUNS = fields({"warm": listed(number), "cold": listed(number), "clock": text, "stopped": flag}, more=True)
_REFUSED = fields({"failed": FAILED, "poisoned": flag}, may=("poisoned",), more=True)
_GREETING = {"title": text, "target": text, "machine": text, "versions": listed(row(text, text))}
_SHAPES = {
    "build": fields(
        {
            "text": text, "image": maybe(text), "cached": text, "seconds": amount,
            "resources": listed(row(text, _INT)),
        },
        more=True,
    ),
    "expect": fields({}, more=True),
    "load": fields({"seconds": amount}, more=True),
    "time": fields(
        {
            "results": listed(either(_RUNS, _REFUSED), most=_COUNT), "clocks": listed(number),
            "seconds": amount,
        },
        more=True,
    ),
}  # fmt: skip
"""By the kind of request."""


def demanded(request: Json, reply: Json) -> Json:
    """The reply, if it is one to the request. Raises NonsenseError."""
    do = request["do"]
    fits = _REFUSED(reply) if "failed" in reply else _SHAPES[do](reply)
    fits = fits and (do != "time" or "failed" in reply or len(reply["results"]) == len(request["names"]))
    if not fits:
        raise NonsenseError(f"no worker answers that to `{do}`")
    return reply


def greeting(hello: Json) -> Json:
    """The first message of a worker: about its device, empty, or why it cannot work. Raises NonsenseError."""
    fits = _REFUSED(hello) if "failed" in hello else not hello or fields(_GREETING, more=True)(hello)
    if not fits:
        raise NonsenseError("no worker begins with that")
    return hello
