"""Runs inside a Dask worker: holds one bench of its machine, for one tuning at a time.

Dask is asked to call only `serve`. It is sent by its name, takes JSON and returns JSON.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic

from mdh.diagnostics import Failed
from mdh.results.trial import Candidate, Effort, Job, Limits, Outcome
from mdh.schema import convert
from mdh.tuner.cluster.inventory import take_inventory
from mdh.tuner.cluster.messages import outcome_json, read_request
from mdh.tuner.measure.local import LocalBench
from mdh.tuner.measure.wire import Json, NonsenseError, failed_json, ground_json

LEASE = 120.0
"""Seconds without a message from the tuner after which its bench is closed, because the tuner was killed."""


@dataclass
class RemoteSession:
    """A tuning that uses this worker. holder: the tuner; heard: when its last request came."""

    name: str
    holder: Json
    bench: LocalBench
    heard: float = field(default_factory=monotonic)
    trials: dict[str, "asyncio.Task[tuple[Outcome, ...]]"] = field(default_factory=dict)
    watch: "asyncio.Task[None] | None" = None

    @property
    def expired(self) -> bool:
        return monotonic() - self.heard > LEASE

    async def close(self) -> None:
        for task in self.trials.values():
            task.cancel()
        await self.bench.close()


class Seat:
    """The session of this process. opening: the session that is being opened, and the task that does it."""

    def __init__(self) -> None:
        self.held: RemoteSession | None = None
        self.opening: tuple[str, asyncio.Task[LocalBench]] | None = None
        self.changing = asyncio.Lock()

    def session(self, name: str) -> RemoteSession | None:
        if self.held is None or self.held.name != name:
            return None
        self.held.heard = monotonic()
        return self.held

    async def clear(self) -> None:
        held, self.held = self.held, None
        if held is not None:
            if held.watch is not None and held.watch is not asyncio.current_task():
                held.watch.cancel()
            await held.close()


_SEAT = Seat()


async def serve(text: str) -> str:
    """Answers one request of a tuner. `failed` in an answer holds diagnostics of the machine or the program.
    `refused` means that no tuner asks this."""
    try:
        request = read_request(text)
    except NonsenseError as error:
        return json.dumps({"refused": str(error)})
    try:
        return json.dumps(await _ANSWERS[request["do"]](request))
    except Failed as failed:
        return json.dumps({"failed": failed_json(failed)})


async def _look(request: Json) -> Json:
    return await take_inventory()


async def _begin(request: Json) -> Json:
    """Opens the bench. The answer `busy` means that another tuning has this worker; `force` names one that is
    known to be dead."""
    async with _SEAT.changing:
        held = _SEAT.held
        if held is not None and not held.expired and held.name not in (request["session"], request["force"]):
            return {"busy": held.name, "holder": held.holder}
        same = _SEAT.session(request["session"])
        if same is not None:
            return _about(same.bench)
        await _SEAT.clear()
        bench = LocalBench(convert(request["job"], Job), tuple(request["devices"]), request["jobs"])
        if not await _opened(request["session"], bench):
            return {"lost": True}
        session = RemoteSession(request["session"], request["holder"], bench)
        session.watch = asyncio.create_task(_expire(session))
        _SEAT.held = session
        return _about(bench)


async def _opened(name: str, bench: LocalBench) -> bool:
    """Returns False if the tuner ends its session meanwhile, for example after an interrupt. Then the worker
    is free when the tuner returns."""
    task = asyncio.create_task(bench.__aenter__())
    _SEAT.opening = name, task
    try:
        await asyncio.wait({task})
    finally:
        _SEAT.opening = None
        task.cancel()
    if task.cancelled():
        return False
    task.result()
    return True


def _about(bench: LocalBench) -> Json:
    return {"slots": bench.slots, **ground_json(bench.ground)}


async def _expire(session: RemoteSession) -> None:
    while _SEAT.held is session:
        await asyncio.sleep(LEASE / 10)
        if session.expired:
            async with _SEAT.changing:
                if _SEAT.held is session:
                    await _SEAT.clear()


async def _measure(request: Json) -> Json:
    """Measures one candidate, or several in one process. The answer `lost` means that this process has no
    bench for the session."""
    session = _SEAT.session(request["session"])
    if session is None:
        return {"lost": True}
    candidates = tuple(Candidate(**c) for c in request["candidates"])
    effort, limits = Effort(**request["effort"]), Limits(**request["limits"])
    task = asyncio.create_task(_outcomes(session.bench, candidates, effort, limits))
    session.trials[request["trial"]] = task
    try:
        await asyncio.wait({task})
    finally:
        session.trials.pop(request["trial"], None)
        task.cancel()
    if task.cancelled():
        return {"lost": True}
    outcomes = task.result()
    return {"outcomes": [outcome_json(c, o) for c, o in zip(candidates, outcomes, strict=True)]}


async def _outcomes(
    bench: LocalBench, candidates: tuple[Candidate, ...], effort: Effort, limits: Limits
) -> tuple[Outcome, ...]:
    if len(candidates) == 1:
        return (await bench.trial(candidates[0], effort, limits),)
    return await bench.duel(candidates, effort, limits)


async def _stop(request: Json) -> Json:
    """Cancels a trial that nobody waits for any more."""
    session = _SEAT.session(request["session"])
    task = None if session is None else session.trials.get(request["trial"])
    if task is not None:
        task.cancel()
    return {}


async def _beat(request: Json) -> Json:
    return {} if _SEAT.session(request["session"]) is not None else {"lost": True}


async def _end(request: Json) -> Json:
    if _SEAT.opening is not None and _SEAT.opening[0] == request["session"]:
        _SEAT.opening[1].cancel()
    if _SEAT.session(request["session"]) is not None:
        with suppress(OSError):
            await _SEAT.clear()
    return {}


_ANSWERS: dict[str, Callable[[Json], Awaitable[Json]]] = {
    "look": _look,
    "begin": _begin,
    "measure": _measure,
    "stop": _stop,
    "beat": _beat,
    "end": _end,
}
