"""How `mdh.tune` and kernels that tune themselves run the tuner."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mdh.api.explained import say
from mdh.api.options import shown
from mdh.api.texts import GivenTexts
from mdh.diagnostics import Failed, fail
from mdh.results.trial import Job, Trial
from mdh.results.tuning import RunProgress, Tuned
from mdh.tuner.duration import parse_duration
from mdh.tuner.order import Order
from mdh.tuner.runtime.interrupt import Interrupt
from mdh.tuner.start import nothing_legal, start, unfound

Watch = Callable[[RunProgress, Trial | None], None]


def silent_watch(now: RunProgress, trial: Trial | None, /) -> None:
    """The watch that does nothing."""


def job_of(given: GivenTexts, device: str, seed: int = 0, *, deterministic: bool) -> Job:
    return Job(
        given.source.name, given.source.text, tuple(given.bound.items()), given.function, given.strict_fp,
        deterministic, device, seed, given.allow,
    )  # fmt: skip


def run_order(order: Order, watch: Watch = silent_watch) -> Tuned:
    """The result of a tuning, whose best schedule exists. Raises Failed if none was found."""
    found = _waited_for(start(order, watch, Interrupt(), say))
    assert found is not None
    if found.trouble:
        raise Failed(*found.trouble)
    if found.best is None:
        raise Failed(unfound(found))
    if (empty := nothing_legal(found)) is not None:
        raise Failed(empty)
    return found


def seconds_of(budget: float | str) -> float:
    """The seconds of a budget. Raises Failed F190 if that is no time."""
    if isinstance(budget, str):
        return parse_duration(budget)
    if not budget > 0:
        raise fail("F190", f"{shown(budget)} seconds are no time at all", help="give a positive number")
    return budget


def _waited_for(work: Coroutine[Any, Any, Tuned | None]) -> Tuned | None:
    """The result of `work`, also if an event loop runs in this thread already, as in notebooks."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
