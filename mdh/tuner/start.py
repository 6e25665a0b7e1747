"""Runs an order: on devices, on a cluster, or simulated from a record."""

import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, Protocol

from mdh.device.cache import Cache, open_cache
from mdh.diagnostics import Diagnostic, Failed, fail
from mdh.language import LANGUAGES
from mdh.machine import Machine, load_machine, machine_names
from mdh.results.goal import Ended
from mdh.results.tuning import Tuned
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.candidates.proposals import ELSEWHERE, NOT_ADMITTED, SET_ASIDE
from mdh.tuner.conduct import run_session
from mdh.tuner.loop.state import Watch
from mdh.tuner.measure.bench import Bench, Ground
from mdh.tuner.measure.local import LocalBench
from mdh.tuner.order import Order
from mdh.tuner.records.header import Header
from mdh.tuner.records.read import read_record
from mdh.tuner.records.replay import ReplayBench
from mdh.tuner.records.sound import sound
from mdh.tuner.runtime.background import in_background
from mdh.tuner.runtime.interrupt import Interrupt, unless_asked
from mdh.tuner.session import make_session, prepared

_NOT_REFUSED = ("duplicate", ELSEWHERE, NOT_ADMITTED, SET_ASIDE)
"""Reasons why legal points are not measured."""
Say = Callable[[str], None]
"""Called with a remark for the user."""


class OpenedBench(Bench, Protocol):
    """A bench that must be entered before it says where it measures."""

    ground: Ground

    async def __aenter__(self) -> Any: ...


async def start(order: Order, watch: Watch, interrupt: Interrupt, say: Say) -> Tuned | None:
    """The result; None if the user ended it before anything could be measured. Raises Failed for errors of
    the whole tuning: in the schedule, the record or the device."""
    if order.replay is not None:
        return await _replay(order, watch, interrupt, say)
    begun = time.monotonic()
    bench = await unless_asked(interrupt, in_background(partial(_bench, order, say)))
    if bench is None or await unless_asked(interrupt, bench.__aenter__()) is None:
        return None
    try:
        made = await unless_asked(interrupt, in_background(partial(make_session, order, bench.ground)))
        if made is None:
            return None
        with closing(made) as session:
            for remark in session.remarks:
                say(remark)
            if not session.space.variables and session.around is None:
                say("the schedule has no holes: it is measured as it stands")
            return await run_session(session, bench, watch, interrupt, begun=begun)
    finally:
        await bench.close()


def _bench(order: Order, say: Say) -> OpenedBench:
    if order.cluster is not None:
        made: OpenedBench = import_module("mdh.tuner.cluster.bench").ClusterBench(
            order.job, order.cluster, order.devices, order.jobs, say
        )
        return made
    return LocalBench(order.job, order.devices, order.jobs, _cache(say), say=say)


def _cache(say: Say) -> Cache | None:
    """The cache of compiled candidates; None if it cannot be used, so that all is built again."""
    try:
        return open_cache()
    except Failed as failed:
        say(f"{failed.diagnostics[0].headline}; nothing is kept there")
        return None


async def _replay(order: Order, watch: Watch, interrupt: Interrupt, say: Say) -> Tuned:
    path = order.replay
    assert path is not None
    header, trials, remarks = await in_background(partial(read_record, path))
    trials, doubts = sound(path, trials)
    for remark in (*remarks, *doubts):
        say(remark)
    ground = Ground(_machine_of(order, header, say), header.target, header.device, header.versions)
    if order.schedule is None:
        order = replace(order, schedule=parse_schedule(Source(path, header.schedule)))
    session = prepared(order, ground)
    _same_program(path, header, session.header)
    bench = ReplayBench(trials)
    session.admits = bench.admits
    return await run_session(session, bench, watch, interrupt, clock=bench.clock)


def _machine_of(order: Order, header: Header, say: Say) -> Machine:
    """The machine that candidates are checked for: the named one, else the record's if mdh knows it."""
    if order.machine is not None:
        return order.machine
    if header.machine in machine_names():
        return load_machine(header.machine)
    fitting = (load_machine(name) for name in machine_names())
    like = (m for m in fitting if header.target in m.targets and m.kind == LANGUAGES[header.target].kind)
    chosen = next(like, None)
    if chosen is None:
        raise fail(
            "F150", f"no machine has the target `{header.target}`, for which `{order.replay}` was recorded",
            help="is the record damaged? `mdh db show` tells what it says",
        )  # fmt: skip
    say(f"the record's machine `{header.machine}` has no file: {chosen.name} stands for it")
    return chosen


def _same_program(path: str, there: Header, here: Header) -> None:
    """Raises Failed F197 if the record is of another program, or of other values of its open sizes."""
    old, new = dict(there.parts), dict(here.parts)
    if old.get("program") != new.get("program"):
        what = f"`{there.program}`, arrays {old.get('arrays', '')}" if there.program else "another program"
        raise fail(
            "F197", f"`{path}` is a record of another program: {what}",
            help=f"this one is `{here.program}`, arrays {new.get('arrays', '')}; -D gives other sizes",
        )  # fmt: skip
    if old.get("at") != new.get("at"):
        headline = f"the times of `{path}` were taken with {old.get('at', 'fixed sizes')}"
        raise fail(
            "F197", headline, help=f"this tuning is for {new.get('at', 'fixed sizes')}; give the same --at"
        )


def nothing_legal(tuned: Tuned) -> Diagnostic | None:
    """F198: the search looked at points of the schedule, and none of them is legal."""
    over = tuned.ended in (Ended.EXHAUSTED, Ended.STUCK)
    refused = tuple((reason, n) for reason, n in tuned.skipped if reason not in _NOT_REFUSED)
    known = (*tuned.earlier, *tuned.trials)
    if not over or not tuned.variables or not refused or any(t.candidate.values for t in known):
        return None
    looked = sum(n for _, n in refused)
    if tuned.ended is Ended.EXHAUSTED:
        headline = f"the space is empty: none of its {looked:,} points is legal"
    else:
        headline = f"no legal point was found: {looked:,} were looked at"
    return Diagnostic(
        "F198", headline, notes=tuple(f"{n:,} points: {reason}" for reason, n in refused[:5]),
        help="`mdh explain FILE.c --schedule S.mdh --space` counts what each rule leaves",
    )  # fmt: skip


def unfound(tuned: Tuned) -> Diagnostic:
    """F195: every candidate failed, or none was legal."""
    measured, skipped = len(tuned.measured), sum(n for _, n in tuned.skipped)
    if measured:
        # finals too may show each of them to be wrong
        known = (*tuned.measured, *tuned.earlier, *tuned.trials)
        first = next(t.outcome for t in known if t.outcome.failure is not None)
        lines = first.message.splitlines() or ["no message"]
        notes = (f"the first: {first.failure}, {first.code or 'no code'}: {lines[0]}",)
        return Diagnostic(
            "F195", f"none of {measured} candidates was right", notes=notes,
            help="`mdh run` with the default schedule shows whether the device works at all",
        )  # fmt: skip
    if tuned.ended is Ended.BUDGET:
        return Diagnostic(
            "F195", f"the time was up after {tuned.elapsed:.1f} s, before the first candidate was measured",
            help="a larger --budget, or --trials N without one",
        )  # fmt: skip
    reasons = tuple(f"{n:,} points: {reason}" for reason, n in tuned.skipped[:5])
    return Diagnostic(
        "F195", f"nothing was measured: none of {skipped:,} points that were drawn is legal", notes=reasons,
        help="`mdh explain FILE.c --schedule S.mdh --space` counts what each rule leaves",
    )  # fmt: skip
