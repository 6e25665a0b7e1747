"""Runs a session from its first suggestion to its result: the search, the loop, the outputs."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random

from mdh.diagnostics import Failed
from mdh.ir.plan import Plan
from mdh.pipeline import Pipeline
from mdh.results.goal import Ended
from mdh.results.trial import Failure, Trial
from mdh.results.tuning import Sizes, Tuned, unconfirmed
from mdh.results.variable import Point, Variable
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.text import KernelText
from mdh.tuner.candidates.open_tiles import open_values
from mdh.tuner.candidates.proposals import CandidateQueue, Proposal
from mdh.tuner.candidates.shortlist import Shortlist
from mdh.tuner.loop.run import tune
from mdh.tuner.loop.state import Run, Watch
from mdh.tuner.measure.bench import Bench
from mdh.tuner.measure.failures import of_candidate
from mdh.tuner.records.best import best
from mdh.tuner.records.schedule_file import Search
from mdh.tuner.runtime.background import in_background
from mdh.tuner.runtime.interrupt import Interrupt, unless_asked
from mdh.tuner.runtime.processors import beside_workers
from mdh.tuner.session import TuningSession
from mdh.tuner.space.account import account
from mdh.tuner.space.identity import identity
from mdh.tuner.warm_start.suggestions import best_of_records, first_point, point_of

_ACCOUNT = 0.5
"""Seconds that are spent on asking the checker how many points of the space are legal."""


async def run_session(
    session: TuningSession,
    bench: Bench,
    watch: Watch,
    interrupt: Interrupt,
    *,
    clock: Callable[[], float] = time.monotonic,
    begun: float | None = None,
) -> Tuned:
    """Searches until the goal. begun: when the budget began, by the clock. Candidates never make it raise.
    Raises Failed F111 if the best schedule cannot be written."""
    earlier = session.earlier
    begin = await unless_asked(interrupt, in_background(partial(_beginning, session, earlier)))
    # a user who interrupts here gets the record's best, and the search is not started
    proposals, keys = begin or (_untold(session, {}), ("", ""))
    run = Run(
        bench, proposals, session.keep, session.order.goal, interrupt, watch, lambda _: None,
        baseline_key=keys[0], given_key=keys[1],
        first=1 + max((t.number for t in session.trials), default=-1),
        earlier=tuple(t for t in earlier if t.phase == "quick"),
        paid=max((t.elapsed for t in earlier), default=0.0),
        clock=clock,
        started=begun,
        refuted={t.candidate.key for t in earlier if t.outcome.failure is Failure.WRONG},
        silent=begin is None,
    )  # fmt: skip
    run.found = lambda trial: _write_best(session, run, trial)
    latest = {t.candidate.key: t for t in earlier if t.phase == "quick" and of_candidate(t.outcome)}
    run.baseline, run.given = latest.get(run.baseline_key), latest.get(run.given_key)
    run.best = best(earlier)
    if run.best is not None:
        run.found(run.best)
    with beside_workers():
        ended = await tune(run)
    if session.experience is not None and not run.silent:
        session.experience.keep(proposals.learned)
    if run.best is not None:
        # its head describes the whole search
        run.found(run.best)
    return _tuned(session, run, earlier, ended, _winner(session, run))


def _beginning(session: TuningSession, earlier: Sequence[Trial]) -> tuple[CandidateQueue, tuple[str, str]]:
    """The queue that the search begins with, which knows the results of the record; and the keys of the two
    baselines."""
    known: dict[str, float | None] = {}
    for trial in earlier:
        if trial.phase != "quick" or not of_candidate(trial.outcome):
            continue
        known[trial.candidate.key] = trial.outcome.seconds
        point = session.point(trial.candidate)
        if point is not None:
            session.searcher.tell(point, trial.outcome.seconds)
    proposals = _untold(session, known)
    return proposals, _suggest(session, proposals)


def _untold(session: TuningSession, known: Mapping[str, float | None]) -> CandidateQueue:
    """A queue that has been told nothing yet. known: times of the record by candidate."""
    kind = session.ground.machine.kind
    start = session.experience.constants if session.experience else None
    rng = _rng(session, "model")
    shortlist = Shortlist(kind, rng, start, session.at_sizes) if session.order.model else None
    around = session.around
    planner = session.space if around is None else around
    candidate = session.candidate if around is None else lambda plan, _: session.candidate(plan)
    return CandidateQueue(
        planner, session.searcher, candidate, admits=session.admits,
        shortlist=shortlist, rng=_rng(session, "drawn"), known=known,
    )  # fmt: skip


def _suggest(session: TuningSession, proposals: CandidateQueue) -> tuple[str, str]:
    """Suggests the device's default first, then the given schedule, then the best of other records. Returns
    the keys of the first two; an empty text for a point that does not exist."""
    default, point = session.candidate(session.baseline), _default_point(session)
    baseline, given = default.key, ""
    if session.admits(session.baseline):
        if point is not None:
            default = session.candidate(session.baseline, point)
        if session.around is not None and session.order.schedule is None:
            point = session.around.begin(default.schedule)
        proposals.enqueue(Proposal(default, "default", point), session.baseline)
    if session.order.schedule is not None:
        first = first_point(session.space, _rng(session, "first"))
        plan = None if first is None else session.space.plan(first)
        given = _enqueue(session, proposals, "given", first, plan)
    if session.outputs is not None:
        for one in best_of_records(session.order.place, session.header):
            _enqueue(session, proposals, "record", point_of(session.space, one), session.planned(one))
    return baseline, given


def _default_point(session: TuningSession) -> Point | None:
    """The point of the default schedule in its own space, in which its tiles are holes."""
    if session.order.schedule is not None or session.around is not None:
        return None
    values: Point = open_values(session.default, session.order.program, session.ground.machine)
    if len(values) != len(session.space.variables) or session.space.rank(values) is None:
        return None
    plan = session.space.plan(values)
    same = not isinstance(plan, Failed) and identity(plan) == identity(session.baseline)
    return values if same else None


def _enqueue(
    session: TuningSession,
    proposals: CandidateQueue,
    origin: str,
    point: Point | None,
    plan: Plan | Failed | None,
) -> str:
    """The key of the suggested candidate; empty if there is none that may be measured. point: its point in
    the space."""
    if plan is None or isinstance(plan, Failed) or not session.admits(plan):
        return ""
    candidate = session.candidate(plan, point)
    if session.around is not None:
        point = session.around.begin(candidate.schedule)
    proposals.enqueue(Proposal(candidate, origin, point), plan)
    return candidate.key


def _rng(session: TuningSession, use: str) -> Random:
    return Random(f"{session.order.seed} {use}")


def _search_of(session: TuningSession, run: Run) -> Search:
    quick = run.candidates
    failed = sum(1 for t in quick if t.outcome.failure is not None)
    first = "first point of the schedule" if session.around is None else "given schedule"
    names = (("default schedule", run.baseline), (first, run.given))
    baselines = tuple((n, t.outcome.seconds) for n, t in names if t is not None and t.outcome.seconds)
    doubt = unconfirmed(run.best, session.trials)
    return Search(len(quick), failed, run.paid + run.elapsed, baselines, doubt)


def _write_best(session: TuningSession, run: Run, trial: Trial | None) -> None:
    if session.outputs is not None:
        session.outputs.write_schedule(trial, _search_of(session, run))


def _winner(session: TuningSession, run: Run) -> tuple[Plan, KernelText] | None:
    """The best as a plan and as text. Its folder is written."""
    if run.best is None:
        return None
    order, pipeline = session.order, Pipeline()
    plan = session.plan(parse_schedule(Source("<best schedule>", run.best.candidate.schedule)))
    text = pipeline.emit(pipeline.lower(plan), order.program)
    if session.outputs is not None:
        try:
            session.outputs.write_kernel(text, plan, order.job.compiled, plan.text)
        except Failed as failed:
            # a full disk costs the folder, but not the result
            best = session.outputs.schedule_path
            safe = f"the schedule is safe: `mdh compile` with {best} writes the folder"
            run.trouble += tuple(replace(d, help=d.help or safe) for d in failed.diagnostics)
    return plan, text


def _sizes(session: TuningSession, ended: Ended) -> Sizes | None:
    """The sizes of the space. The space around a schedule is not counted."""
    space = session.space
    if session.around is not None:
        return None
    legal = None if ended is Ended.INTERRUPTED else account(space, seconds=_ACCOUNT).interval
    return Sizes(space.raw, space.count, legal)


def best_point_of(
    found: Trial | None, variables: tuple[Variable, ...], trials: Iterable[Trial]
) -> Trial | None:
    """The best trial that is a point of the space. It differs from `found` if the default schedule wins.
    Readers of the record use the same rule."""
    if found is not None and (found.candidate.values or not variables):
        return found
    return best(t for t in trials if t.candidate.values)


def _tuned(
    session: TuningSession, run: Run, earlier: tuple[Trial, ...], ended: Ended,
    winner: tuple[Plan, KernelText] | None,
) -> Tuned:  # fmt: skip
    order, ground = session.order, session.ground
    variables = () if session.around is not None else session.space.variables
    return Tuned(
        program=order.program.name,
        defines=order.job.sizes,
        devices=order.devices,
        title=ground.title,
        machine=ground.machine.name,
        target=ground.target,
        sampler=session.searcher.name,
        seed=order.seed,
        variables=variables,
        sizes=_sizes(session, ended),
        trials=tuple(run.trials),
        earlier=earlier,
        best=run.best,
        baseline=run.baseline,
        given=run.given,
        skipped=run.proposals.reasons,
        elapsed=run.elapsed,
        ended=ended,
        files=tuple(session.outputs.written.items()) if session.outputs else (),
        trouble=run.trouble,
        plan=None if winner is None else winner[0],
        text=None if winner is None else winner[1],
        learned=session.experience.times if session.experience else 0,
        best_point=best_point_of(run.best, variables, (*earlier, *run.trials)),
    )
