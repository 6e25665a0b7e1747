"""The parts of a tuning, once its order is read: its space, its record, its searcher."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random

from mdh.checker.inlining import staged
from mdh.checker.open_default import default_for
from mdh.checker.plan_at import plan_at
from mdh.checker.run import check
from mdh.diagnostics import Failed, fail
from mdh.ir.plan import Plan
from mdh.ir.program import CALLS, Program
from mdh.machine import machine_names
from mdh.results.trial import QUICK, Candidate, Trial
from mdh.results.variable import Point
from mdh.schedule.model import Schedule
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.tuner.candidates.open_calls import with_choices
from mdh.tuner.candidates.open_tiles import opened
from mdh.tuner.local_search.neighbours import Neighbours
from mdh.tuner.local_search.subject import Subjects
from mdh.tuner.measure.bench import Ground
from mdh.tuner.order import Order
from mdh.tuner.outputs import Outputs, set_aside
from mdh.tuner.records.best import best
from mdh.tuner.records.file import Record
from mdh.tuner.records.header import Header, header_of
from mdh.tuner.records.key import Setting, candidate_key
from mdh.tuner.search.interfaces import Searcher
from mdh.tuner.search.make import AROUND, make_searcher, study_name
from mdh.tuner.space.make import make_space
from mdh.tuner.space.space import ExactSpace
from mdh.tuner.warm_start.belief import believed
from mdh.tuner.warm_start.learned import Experience, experience_of
from mdh.tuner.warm_start.suggestions import point_of

METHOD = (
    "every candidate judged on {inputs} sets of arrays, then timed warm; finalists timed in turns and judged"
    " on more, the winner timed alone in a fresh process"
)
_UNBOUND = "`where` holds for holes: schedules around this one are not bound by it"


@dataclass
class TuningSession:
    """A tuning whose space is known. record, outputs: None for a simulation, which writes nothing.
    experience: of the cost model; None if the model is not used."""

    order: Order
    ground: Ground
    space: ExactSpace
    setting: Setting
    header: Header
    default: Schedule
    baseline: Plan
    record: Record | None
    outputs: Outputs | None
    searcher: Searcher
    admits: Callable[[Plan], bool] = lambda _: True
    """Whether a plan may be measured: in a simulation only what the record has."""
    remarks: tuple[str, ...] = ()
    experience: Experience | None = None
    earlier: tuple[Trial, ...] = ()
    """Trials of the record that the run continues."""

    @property
    def around(self) -> Neighbours | None:
        """The local search, if whole schedules are searched instead of points of the space; else None."""
        return self.searcher if isinstance(self.searcher, Neighbours) else None

    def point(self, candidate: Candidate) -> Point | None:
        """The point of a candidate in the searched space; None if it has none."""
        if self.around is not None:
            return (candidate.schedule,)
        return point_of(self.space, candidate)

    def planned(self, candidate: Candidate) -> Plan | None:
        point = self.point(candidate)
        plan = None if point is None else (self.around or self.space).plan(point)
        return plan if isinstance(plan, Plan) else None

    def seen(self, candidate: Candidate) -> Plan | None:
        """The plan of a candidate as the cost model sees it: at the sizes at which it is timed."""
        plan = self.planned(candidate)
        return None if plan is None else self.at_sizes(plan)

    def at_sizes(self, plan: Plan) -> Plan:
        return plan_at(plan, dict(self.order.job.at))

    def plan(self, schedule: Schedule) -> Plan:
        """The checked plan of a schedule without holes."""
        return _checked(self.order, self.ground, self.default, schedule)

    @property
    def trials(self) -> Sequence[Trial]:
        """Every trial on record, those of this run included."""
        return () if self.record is None else self.record.trials

    def keep(self, trial: Trial) -> None:
        """Puts a trial on record. Nobody keeps those of a simulation."""
        if self.record is not None:
            self.record.append(trial)

    def close(self) -> None:
        if self.record is not None:
            self.record.close()

    def candidate(self, plan: Plan, point: Point | None = None) -> Candidate:
        """A candidate to measure. point: its point in the space, if it has one. The text names the machine
        only if mdh knows a machine of that name, so that files stay readable."""
        schedule = parse_schedule(Source("<candidate>", plan.text))
        if plan.machine.name not in machine_names():
            schedule = replace(schedule, target=None)
        names = (v.name for v in self.space.variables)
        values = () if point is None else tuple(zip(names, point, strict=True))
        key = candidate_key(plan.program, schedule, self.setting)
        return Candidate(key, print_schedule(schedule), values)


def make_session(order: Order, ground: Ground) -> TuningSession:
    """Opens the space and the record. Raises Failed: errors of the schedule or its space, F111 for the folder
    of the outputs, and F111 and F170 to F174 for the record."""
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
            session.seen,
            session.setting,
            session.at_sizes(session.baseline),
            session.earlier,
            resume=order.resume,
        )
        session.remarks += session.experience.remarks
    wheres = () if order.schedule is None else [w for s in order.schedule.sections for w in s.wheres]
    if session.around is not None and wheres:
        session.remarks += (_UNBOUND,)
    outputs.written["record"] = path
    outputs.earlier = best(session.earlier) is None
    session.outputs = outputs
    return session


def prepared(order: Order, ground: Ground) -> TuningSession:
    """All parts of a session that are not on disk."""
    program, machine, target = order.program, ground.machine, ground.target
    deterministic = order.job.deterministic
    default = default_for(program, machine, target, deterministic=deterministic)
    template = _template(order, default, ground)
    rest = default_for(program, machine, target, deterministic=deterministic, given=template)
    space = make_space(program, template, machine, target, deterministic=deterministic, default=rest)
    if not space.variables:
        only = space.plan(())
        if isinstance(only, Failed):
            # the space holds only this program
            raise only
    judged = f"{QUICK.inputs} inputs"
    setting = Setting(machine, target, ground.title, deterministic, ground.versions, judged, order.job.at)
    header = header_of(
        program, template, setting, sizes=order.job.sizes, method=METHOD.format(inputs=QUICK.inputs),
        command=order.command, seed=order.seed, created=time.time(),
    )  # fmt: skip
    baseline = check(program, default, machine, target, deterministic=deterministic, default=default)
    searcher = _searcher(order, ground, space, default, staged(program, template, machine, rest).program)
    return TuningSession(order, ground, space, setting, header, default, baseline, None, None, searcher)


def _template(order: Order, default: Schedule, ground: Ground) -> Schedule:
    """The schedule whose holes are searched: the user's, else the default one with its tile sizes as holes.
    For a local search, a schedule without holes."""
    program, machine, deterministic = order.program, ground.machine, order.job.deterministic
    if order.schedule is not None:
        return order.schedule
    if order.sampler == AROUND:
        return default
    if CALLS not in program.allowed:
        return opened(default, program, machine)
    # the steps of all kernels, those of stages that the default leaves to a library among them
    own = replace(program, allowed=tuple(word for word in program.allowed if word != CALLS))
    steps = default_for(own, machine, ground.target, deterministic=deterministic)
    return with_choices(opened(steps, program, machine), program, ground.target, deterministic=deterministic)


def _searcher(
    order: Order, ground: Ground, space: ExactSpace, default: Schedule, computed: Program
) -> Searcher:
    """The searcher. computed: the program with the template's inline stages in their readers. Raises Failed
    F180 to F185."""
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
    subject = Subjects(computed, machine, target).of
    return Neighbours(partial(_checked, order, ground, default), subject, Random(f"{order.seed} {AROUND}"))


def _checked(order: Order, ground: Ground, default: Schedule, schedule: Schedule) -> Plan:
    return check(
        order.program, schedule, ground.machine, ground.target, deterministic=order.job.deterministic,
        # a program of a single element has no section in its schedule
        default=None if schedule.sections else default,
    )  # fmt: skip
