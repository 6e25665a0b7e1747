"""How `mdh.tune` and kernels that tune themselves run the tuner."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from mdh.api.explained import say
from mdh.api.kernel import at_sizes
from mdh.api.options import of_type, shown
from mdh.api.texts import GivenTexts
from mdh.diagnostics import Failed, fail
from mdh.frontend.open_defines import demand_closed, split_defines
from mdh.ir.program import Program
from mdh.results.trial import Job, Trial
from mdh.results.tuning import RunProgress, Tuned
from mdh.tuner.duration import parse_duration
from mdh.tuner.order import Order
from mdh.tuner.runtime.interrupt import Interrupt
from mdh.tuner.start import nothing_legal, start, unfound

T = TypeVar("T")
Watch = Callable[[RunProgress, Trial | None], None]


def silent_watch(now: RunProgress, trial: Trial | None, /) -> None:
    """The watch that does nothing."""


def job_of(
    given: GivenTexts, device: str, seed: int = 0, *, deterministic: bool, at: Mapping[str, int] = {}
) -> Job:
    """at: values of the sizes that stay open."""
    bound, opened = split_defines(given.source, given.defines)
    mine = {r.name for r in given.ranges}
    ranges = (*(size for size in opened if size.name not in mine), *given.ranges)
    names = {r.name for r in ranges}
    return Job(
        given.source.name, given.source.text, tuple((n, v) for n, v in bound.items() if n not in names),
        given.function, given.strict_fp, deterministic, device, seed, given.allow, ranges, tuple(at.items()),
    )  # fmt: skip


def values_at(program: Program, given: GivenTexts, at: Mapping[str, int]) -> dict[str, int]:
    """The values of the open sizes at which kernels are timed: those of `at`, or those that chose a case of a
    table. Raises Failed F211 for a missing one, A111 for one that is not in its range."""
    of_type("at", at, Mapping, "a mapping of open sizes to numbers")
    bound = {r.name: given.defines[r.name] for r in given.ranges}
    values = {n: v for n, v in {**bound, **at}.items() if isinstance(v, int)}
    names = {size.name for size in program.opens}
    for size in (s for s in program.opens if s.name not in values):
        demand_closed([size.name], f"give its value for the tuning: at={{{size.name!r}: {size.most}}}")
    at_sizes(program, values)
    wrong = next((name for name in at if name not in names), None)
    if wrong is not None:
        raise fail("F211", f"`at` gives a value to `{wrong}`, which does not stay open", help="leave it out")
    return values


def run_order(order: Order, watch: Watch = silent_watch) -> Tuned:
    """The result of a tuning, whose best schedule exists. Raises Failed if none was found."""
    found = waited_for(start(order, watch, Interrupt(), say))
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


def waited_for(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, also if an event loop runs in this thread already, as in notebooks."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
