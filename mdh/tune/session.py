"""One tuning from its order to its result: space, record, suggestions, the loop, the outputs."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random

from mdh.check.run import check
from mdh.diagnostics import Failed, fail
from mdh.ir.plan import Plan
from mdh.machine import machine_names
from mdh.pipeline import Pipeline
from mdh.schedule.default import default_schedule
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.target.text import KernelText
from mdh.tune.api import Bench, Searcher
from mdh.tune.around.neighbours import Neighbours
from mdh.tune.around.subject import subject_of
from mdh.tune.aside import aside
from mdh.tune.belief import believed
from mdh.tune.experience import Experience, experience_of
from mdh.tune.finals import unconfirmed
from mdh.tune.goal import Ended
from mdh.tune.interrupt import Interrupt, unless_asked
from mdh.tune.measure.failures import of_candidate
from mdh.tune.opened import open_values, template_of
from mdh.tune.order import Book, Forgetful, Ground, Order
from mdh.tune.outputs import Outputs, set_aside
from mdh.tune.proposals import Gate, Making, Proposal, Proposals
from mdh.tune.records.best import best
from mdh.tune.records.file import Record
from mdh.tune.records.header import Header, header_of
from mdh.tune.records.key import Setting, candidate_key
from mdh.tune.records.schedule_file import Search
from mdh.tune.result import Sizes, Tuned
from mdh.tune.run import Run, Watch, tune
from mdh.tune.search.make import AROUND, make_searcher, study_name
from mdh.tune.shortlist import Shortlist
from mdh.tune.space.account import account
from mdh.tune.space.identity import identity
from mdh.tune.space.make import make_space
from mdh.tune.space.model import Point
from mdh.tune.space.space import Space
from mdh.tune.suggestions import best_of_records, first_point, point_of
from mdh.tune.thinking import beside_workers
from mdh.tune.values import QUICK, Candidate, Failure, Trial

METHOD = (
    "every candidate judged on {inputs} sets of arrays, then timed warm; finalists timed in turns and judged"
    " on more, the winner timed alone in a fresh process"
)
_UNBOUND = "`where` holds for holes: schedules around this one are not bound by it"
_ACCOUNT = 0.5
"""Seconds of asking the checker how many points of the space are legal."""


@dataclass
class Session:
    """What an order becomes once its space is known. record: trials of earlier runs, and where new ones go;
    outputs: None for a simulation, which writes nothing. experience: of the model, None: it has none, or has
    no say."""

    order: Order
    ground: Ground
    space: Space
    setting: Setting
    header: Header
    baseline: Plan
    record: Book
    outputs: Outputs | None
    searcher: Searcher
    gate: Gate | None = None
    only: Gate | None = None
    """Suggestions too must pass it."""
    remarks: tuple[str, ...] = ()
    experience: Experience | None = None
    earlier: tuple[Trial, ...] = ()
    """Trials of the record that the run goes on with."""

    @property
    def around(self) -> Neighbours | None:
        """The search, where schedules around schedules are searched and not the points of the space."""
        return self.searcher if isinstance(self.searcher, Neighbours) else None

    def point(self, candidate: Candidate) -> Point | None:
        """Where a candidate lies in what is searched; None: nowhere."""
        if self.around is not None:
            return (candidate.schedule,)
        return point_of(self.space, candidate)

    def planned(self, candidate: Candidate) -> Plan | None:
        point = self.point(candidate)
        plan = None if point is None else (self.around or self.space).plan(point)
        return plan if isinstance(plan, Plan) else None

    def plan(self, schedule: Schedule) -> Plan:
        """Of a schedule without holes."""
        return _checked(self.order, self.ground, schedule)

    def close(self) -> None:
        self.record.close()

    def candidate(self, plan: Plan, point: Point | None = None) -> Candidate:
        """point: of the space, if it is one. The text names the machine only where mdh knows one of that
        name: files must be readable."""
        schedule = parse_schedule(Source("<candidate>", plan.text))
        if plan.machine.name not in machine_names():
            schedule = replace(schedule, target=None)
        names = (v.name for v in self.space.variables)
        values = () if point is None else tuple(zip(names, point, strict=True))
        key = candidate_key(plan.program, schedule, self.setting)
        return Candidate(key, print_schedule(schedule), values)


def make_session(order: Order, ground: Ground) -> Session:
    """Opens the space and the record. Raises Failed: what the schedule or its space is refused with, F111 for
    the folder of the outputs, that and F170 to F174 for the record."""
    session = prepared(order, ground)
    outputs = Outputs(order.place, f"{order.program.name}.{ground.machine.name}", session.header)
    path = order.record or str(outputs.record_path)
    outputs.demand_place()
    if not order.resume:
        set_aside(path)
    session.record = record = Record.open(path, session.header)
    session.earlier, doubts = believed(path, record.trials, session.point, session.plan)
    session.remarks = (*record.remarks, *doubts)
    if order.model:
        session.experience = experience_of(
            session.planned, session.setting, session.baseline, session.earlier, resume=order.resume
        )
        session.remarks += session.experience.remarks
    wheres = () if order.schedule is None else [w for s in order.schedule.sections for w in s.wheres]
    if session.around is not None and wheres:
        session.remarks += (_UNBOUND,)
    outputs.written["record"] = path
    outputs.earlier = best(session.earlier) is None
    session.outputs = outputs
    return session


def prepared(order: Order, ground: Ground) -> Session:
    """All of a session that is not on disk."""
    program, machine, target = order.program, ground.machine, ground.target
    deterministic = order.job.deterministic
    default = default_schedule(program, machine, target, deterministic=deterministic)
    template = template_of(order, default)
    space = make_space(program, template, machine, target, deterministic=deterministic, default=default)
    if not space.variables:
        only = space.plan(())
        if isinstance(only, Failed):
            # the only program that there is
            raise only
    check = f"{QUICK.inputs} inputs"
    setting = Setting(machine, target, ground.title, deterministic, ground.versions, check)
    header = header_of(
        program, template, setting, sizes=order.job.defines, method=METHOD.format(inputs=QUICK.inputs),
        command=order.command, seed=order.seed, created=time.time(),
    )  # fmt: skip
    baseline = Pipeline().check(program, None, machine, target, deterministic=deterministic).plan
    searcher = _searcher(order, ground, space)
    return Session(order, ground, space, setting, header, baseline, Forgetful(), None, searcher)


def _searcher(order: Order, ground: Ground, space: Space) -> Searcher:
    """Raises Failed F180 to F185."""
    program, machine, target = order.program, ground.machine, ground.target
    if order.sampler != AROUND:
        study = study_name(program.name, ground.title, space)
        return make_searcher(order.sampler, space, seed=order.seed, storage=order.storage, study=study)
    for option, given in (("--storage", order.storage), ("--replay", order.replay)):
        if given is not None:
            raise fail(
                "F185", f"the sampler `{AROUND}` makes schedules of its own: {option} has no points of them",
                help="leave one of the two out",
            )  # fmt: skip

    single = len(program.stages) == 1
    subjects = {None if single else s.name: subject_of(program, s, machine, target) for s in program.stages}
    return Neighbours(partial(_checked, order, ground), subjects, Random(f"{order.seed} {AROUND}"))


def _checked(order: Order, ground: Ground, schedule: Schedule) -> Plan:
    program, machine, target = order.program, ground.machine, ground.target
    deterministic = order.job.deterministic
    # of a program of a single element a schedule has no section
    default = (
        None if schedule.sections else default_schedule(program, machine, target, deterministic=deterministic)
    )
    return check(program, schedule, machine, target, deterministic=deterministic, default=default)


async def run_session(
    session: Session,
    bench: Bench,
    watch: Watch,
    interrupt: Interrupt,
    *,
    clock: Callable[[], float] = time.monotonic,
    begun: float | None = None,
) -> Tuned:
    """Searches until the goal. begun: when the budget began, by the clock. Never raises for what candidates
    do. Raises Failed F111 where the best cannot be written."""
    earlier = session.earlier
    begin = await unless_asked(interrupt, aside(partial(_beginning, session, earlier)))
    # whom the user interrupts here has the best of the record, and nothing is asked of the search
    proposals, keys = begin or (_untold(session, {}), ("", ""))
    run = Run(
        bench, proposals, session.record, session.order.goal, interrupt, watch, lambda _: None,
        baseline_key=keys[0], given_key=keys[1],
        first=1 + max((t.number for t in session.record.trials), default=-1),
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
        # its head tells of the whole search
        run.found(run.best)
    return _tuned(session, run, earlier, ended, _winner(session, run))


def _beginning(session: Session, earlier: Sequence[Trial]) -> tuple[Proposals, tuple[str, str]]:
    """What the search begins with, told of what the record holds; the keys of what it is compared with."""
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


def _untold(session: Session, known: Mapping[str, float | None]) -> Proposals:
    """known: times of the record by candidate."""
    kind = session.ground.machine.kind
    start = session.experience.constants if session.experience else None
    shortlist = Shortlist(kind, _rng(session, "model"), start) if session.order.model else None
    around = session.around
    planner = session.space if around is None else around
    making = Making(
        session.candidate if around is None else lambda plan, _: session.candidate(plan), identity
    )
    return Proposals(
        planner, session.searcher, making, gate=session.gate,
        shortlist=shortlist, rng=_rng(session, "drawn"), known=known,
    )  # fmt: skip


def _suggest(session: Session, proposals: Proposals) -> tuple[str, str]:
    """The device's default first, what the schedule says next, then the best of other records. Returns the
    keys of the first two; of a point that there is not, the empty text."""
    default, point = session.candidate(session.baseline), _default_point(session)
    baseline, given = default.key, ""
    if _allowed(session, session.baseline):
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


def _default_point(session: Session) -> Point | None:
    """Where the default schedule lies in its own space, that of its opened tiles."""
    if session.order.schedule is not None or session.around is not None:
        return None
    program, ground = session.order.program, session.ground
    deterministic = session.order.job.deterministic
    default = default_schedule(program, ground.machine, ground.target, deterministic=deterministic)
    values: Point = open_values(default)
    if len(values) != len(session.space.variables) or session.space.rank(values) is None:
        return None
    plan = session.space.plan(values)
    same = not isinstance(plan, Failed) and identity(plan) == identity(session.baseline)
    return values if same else None


def _enqueue(
    session: Session, proposals: Proposals, origin: str, point: Point | None, plan: Plan | Failed | None
) -> str:
    """The key of the suggested candidate; empty where there is none that may be measured. point: of the
    space."""
    if plan is None or isinstance(plan, Failed) or not _allowed(session, plan):
        return ""
    candidate = session.candidate(plan, point)
    if session.around is not None:
        point = session.around.begin(candidate.schedule)
    proposals.enqueue(Proposal(candidate, origin, point), plan)
    return candidate.key


def _rng(session: Session, use: str) -> Random:
    return Random(f"{session.order.seed} {use}")


def _allowed(session: Session, plan: Plan) -> bool:
    return session.only is None or session.only.admits(plan)


def _search_of(session: Session, run: Run) -> Search:
    quick = run.candidates
    failed = sum(1 for t in quick if t.outcome.failure is not None)
    first = "first point of the schedule" if session.around is None else "given schedule"
    names = (("default schedule", run.baseline), (first, run.given))
    baselines = tuple((n, t.outcome.seconds) for n, t in names if t is not None and t.outcome.seconds)
    doubt = unconfirmed(run.best, session.record.trials)
    return Search(len(quick), failed, run.paid + run.elapsed, baselines, doubt)


def _write_best(session: Session, run: Run, trial: Trial | None) -> None:
    if session.outputs is not None:
        session.outputs.write_schedule(trial, _search_of(session, run))


def _winner(session: Session, run: Run) -> tuple[Plan, KernelText] | None:
    """The best as a plan and as text; its folder is written."""
    if run.best is None:
        return None
    order, pipeline = session.order, Pipeline()
    plan = session.plan(parse_schedule(Source("<best schedule>", run.best.candidate.schedule)))
    text = pipeline.emit(pipeline.lower(plan), order.program)
    if session.outputs is not None:
        try:
            session.outputs.write_kernel(text, plan, dict(order.job.defines), plan.text)
        except Failed as failed:
            # a full disk costs the folder, not what was found
            best = session.outputs.schedule_path
            safe = f"the schedule is safe: `mdh compile` with {best} writes the folder"
            run.trouble += tuple(replace(d, help=d.help or safe) for d in failed.diagnostics)
    return plan, text


def _sizes(session: Session, ended: Ended) -> Sizes | None:
    """Of the space; what lies around a schedule is not counted."""
    space = session.space
    if session.around is not None:
        return None
    legal = None if ended is Ended.INTERRUPTED else account(space, seconds=_ACCOUNT).interval
    return Sizes(space.raw, space.count, legal)


def _tuned(
    session: Session, run: Run, earlier: tuple[Trial, ...], ended: Ended,
    winner: tuple[Plan, KernelText] | None,
) -> Tuned:  # fmt: skip
    order, ground, space = session.order, session.ground, session.space
    return Tuned(
        program=order.program.name,
        defines=order.job.defines,
        devices=order.devices,
        title=ground.title,
        machine=ground.machine.name,
        target=ground.target,
        sampler=session.searcher.name,
        seed=order.seed,
        variables=() if session.around is not None else space.variables,
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
    )
