"""Makes orders from the words of `mdh tune` or from a project file. Texts are read, but nothing runs yet."""

from dataclasses import dataclass, replace
from pathlib import Path

from mdh.cli.command_line import CommandLine, at_span, at_word
from mdh.cli.job import load_schedule, load_timed_program
from mdh.cli.options import Request
from mdh.cli.trace import Trace
from mdh.cli.tune_words import TuneWords, check_words, devices_of, goal_of
from mdh.cli.values import parse_defines
from mdh.frontend.c.open_defines import demand_closed
from mdh.ir.program import Program
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.results.goal import Goal
from mdh.results.trial import Job
from mdh.schedule.cases import demand_one
from mdh.schedule.model import Schedule
from mdh.textfile import C_LIMIT, SCHEDULE_LIMIT, read_text
from mdh.tuner.order import Order
from mdh.tuner.project import ProjectEntry, listed
from mdh.tuner.search.make import DEFAULT


@dataclass(frozen=True, slots=True)
class Listing:
    """Orders whose goals are not set yet. goal: of all of them together."""

    orders: tuple[Order, ...]
    goal: Goal


def orders_of(line: CommandLine, words: TuneWords, request: Request | None) -> Listing:
    """One order for a file, else one for each entry of the project file. Raises Failed for wrong words."""
    check_words(line, words)
    goal = goal_of(line, words)
    if request is not None:
        return Listing((_of_request(line, words, request),), goal)
    entries = at_word(line, "tune", lambda: listed(Path()))
    return Listing(tuple(_of_entry(line, words, entry) for entry in entries), goal)


def _of_request(line: CommandLine, words: TuneWords, request: Request) -> Order:
    trace = Trace()
    schedule = load_schedule(request, trace)
    demand_one(schedule)
    program = load_timed_program(request, trace)
    defines = tuple(parse_defines(line, request.defines).items())
    options = (request.function, request.strict_fp, request.deterministic, request.allow)
    return _order(line, words, program, schedule, defines, options, None)


def _of_entry(line: CommandLine, words: TuneWords, entry: ProjectEntry) -> Order:
    run = Pipeline()
    defines = entry.defines
    source = at_span(entry.at("file"), lambda: read_text(entry.file, limit=C_LIMIT))
    program = at_span(
        entry.at("file"),
        lambda: run.read(
            source, defines=defines, function=entry.function, strict_fp=entry.strict_fp, allow=entry.allow
        ),
    )
    at_span(entry.at("file"), lambda: demand_closed([size.name for size in program.opens]))
    schedule = None
    if entry.schedule is not None:
        path = entry.schedule
        text = at_span(entry.at("schedule"), lambda: read_text(path, limit=SCHEDULE_LIMIT))
        schedule = at_span(entry.at("schedule"), lambda: run.schedule(text, entry.set))
    options = (entry.function, entry.strict_fp, entry.deterministic, entry.allow)
    return _order(line, words, program, schedule, tuple(defines.items()), options, entry.device)


def _order(
    line: CommandLine, words: TuneWords, program: Program, schedule: Schedule | None,
    defines: tuple[tuple[str, int | str], ...], options: tuple[str | None, bool, bool, tuple[str, ...]],
    device: str | None,
) -> Order:  # fmt: skip
    function, strict_fp, deterministic, allow = options
    devices = () if words.replay is not None else devices_of(line, words, device)
    assert program.source is not None
    job = Job(
        program.source.name, program.source.text, defines, function, strict_fp, deterministic,
        devices[0] if devices else "", words.seed, allow,
    )  # fmt: skip
    order = Order(
        job, program, schedule, devices, place=Path(words.output), record=words.record, resume=words.resume,
        sampler=words.sampler or DEFAULT, model=words.model, seed=words.seed, jobs=words.jobs,
        storage=words.storage, cluster=words.cluster, replay=words.replay, command=line.source.text,
    )  # fmt: skip
    name = words.machine
    if name is None:
        return order
    return replace(order, machine=at_word(line, name, lambda: load_machine(name)))
