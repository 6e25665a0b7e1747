"""Makes orders from the words of `mdh tune` or from a project file. Texts are read, but nothing runs yet."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from mdh.cli.at import points
from mdh.cli.command_line import CommandLine, at_span, at_word
from mdh.cli.constants import array_text
from mdh.cli.job import defines_of, load_program, load_schedule
from mdh.cli.options import Request
from mdh.cli.trace import Trace
from mdh.cli.tune_words import TuneWords, check_words, devices_of, goal_of
from mdh.cli.values import at_define, parse_defines
from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.frontend.constant_sizes import sizes_of_constants
from mdh.frontend.open_defines import demand_closed
from mdh.ir.open_size import OpenSize
from mdh.ir.program import Program
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.results.goal import Goal
from mdh.results.trial import Job
from mdh.schedule.cases import demand_one, only
from mdh.schedule.model import Schedule
from mdh.textfile import read_program_text, read_schedule_text
from mdh.tuner.order import Order
from mdh.tuner.over.order import OverOrder
from mdh.tuner.project import ProjectEntry, listed
from mdh.tuner.search.make import DEFAULT

T = TypeVar("T")


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
    schedule, ranges = only(load_schedule(request, trace))
    program = load_program(request, trace, ranges)
    defines = defines_of(request)
    at = _at(line, words, request, program, {r.name: defines[r.name] for r in ranges})
    options = (request.function, request.strict_fp, request.deterministic, request.allow)
    order = _order(line, words, program, schedule, tuple(defines.items()), options, None)
    return open_at(order, ranges, at) if at else order


def _at(
    line: CommandLine, words: TuneWords, request: Request, program: Program, chosen: Mapping[str, int | str]
) -> dict[str, int]:
    """The values of the open sizes at which kernels are timed: those of --at, or those that chose the case of
    a table. Raises Failed F107 for wrong ones, F211 for none."""
    bound = {name: value for name, value in chosen.items() if isinstance(value, int)}
    if len(words.at) > 1:
        hint = "give one; `--over M=1..4096` tunes for a range of sizes"
        raise line.fail("F107", "--at is given twice, and a tuning is for one size", words.at[1], help=hint)
    if words.at:
        return bound | points(line, words.at, program, 0)[0]
    left = [size for size in program.opens if size.name not in bound]
    hint = "give its value for the tuning: --at " + ",".join(f"{s.name}={s.most}" for s in left)
    at_define(line, request.defines, lambda: demand_closed([s.name for s in left], hint))
    return bound


def over_of(
    line: CommandLine, words: TuneWords, request: Request | None, ranges: Sequence[str]
) -> tuple[OverOrder, Goal]:
    """What `--over` tunes, and its goal. Raises Failed for wrong words."""
    check_words(line, words)
    if request is None:
        hint = "write `mdh tune FILE.c --over M=1..4096`"
        raise line.fail("F107", "--over needs a file", ranges[0], help=hint)
    others = {
        "--at": words.at[0] if words.at else None, "--replay": words.replay, "--cluster": words.cluster,
        "--record": words.record, "--html": words.html, "--storage": words.storage,
    }  # fmt: skip
    option = next((option for option, value in others.items() if value is not None), None)
    if option is not None:
        headline = f"{option} is for one tuning, and --over makes one for each of several ranges"
        raise line.fail("F107", headline, option, help="leave one of the two out")
    whole = replace(request, defines=(*request.defines, *ranges))
    schedule = load_schedule(request, Trace())
    demand_one(schedule)
    program = load_program(whole, Trace())
    named = parse_defines(line, ranges)
    opens = tuple(size for size in program.opens if size.name in named)
    closed = next((name for name in named if name not in {size.name for size in opens}), None)
    if closed is not None:
        wrong = next(w for w in ranges if w.partition("=")[0] == closed)
        headline = f"--over `{wrong}` is no range of a size"
        raise line.fail("F107", headline, wrong, help="write --over M=1..4096, or bind the size by -D")
    other = next((size for size in program.opens if size.name not in named), None)
    if other is not None:
        wrong = next(w for w in request.defines if w.partition("=")[0] == other.name)
        headline = f"`{other.name}` stays open, and --over has no range for it"
        raise line.fail("F107", headline, wrong, help=f"write --over {wrong}, or bind it to a number")
    defines = tuple((name, value) for name, value in defines_of(whole).items() if name not in named)
    options = (request.function, request.strict_fp, request.deterministic, request.allow)
    order = _order(line, words, program, schedule, defines, options, None)
    return OverOrder(order, opens), goal_of(line, words)


def open_at(order: Order, ranges: Sequence[OpenSize], at: Mapping[str, int]) -> Order:
    """The order for a program whose sizes stay open. ranges: those of a table's case; at: values of all."""
    given = {r.name for r in ranges}
    opens = (*(size for size in order.program.opens if size.name not in given), *ranges)
    names = {size.name for size in opens}
    defines = tuple((name, value) for name, value in order.job.defines if name not in names)
    return replace(order, job=replace(order.job, defines=defines, ranges=opens, at=tuple(at.items())))


def _of_entry(line: CommandLine, words: TuneWords, entry: ProjectEntry) -> Order:
    run = Pipeline()
    source = at_span(entry.at("file"), lambda: read_program_text(entry.file))
    defines = _defines_of(entry)
    defines |= _at_constant(entry, lambda: sizes_of_constants(source, defines, entry.function))
    read = partial(
        run.read, source, defines=defines, function=entry.function, strict_fp=entry.strict_fp,
        allow=entry.allow,
    )  # fmt: skip
    program = _at_constant(entry, read)
    at_span(entry.at("file"), lambda: demand_closed([size.name for size in program.opens]))
    schedule = None
    if entry.schedule is not None:
        path = entry.schedule
        text = at_span(entry.at("schedule"), lambda: read_schedule_text(path))
        schedule = at_span(entry.at("schedule"), lambda: run.schedule(text, entry.set))
    options = (entry.function, entry.strict_fp, entry.deterministic, entry.allow)
    return _order(line, words, program, schedule, tuple(defines.items()), options, entry.device)


def _defines_of(entry: ProjectEntry) -> dict[str, int | str]:
    """The defines, with constants and patterns among them. Raises Failed F108, F115, C127."""
    defines = dict(entry.defines)
    for key, given in (("const", entry.const), ("const_pattern", entry.const_pattern)):
        for name, path in given.items():
            if name in defines:
                headline = f"`{key}` binds `{name}`, which is bound already"
                raise fail("F108", headline, entry.at(key), help="keep one of the two")
            defines[name] = at_span(entry.at(key), partial(array_text, path, pattern=key == "const_pattern"))
    return defines


def _at_constant(entry: ProjectEntry, arrow: Callable[[], T]) -> T:
    """Runs `arrow`. Errors about a constant are shown first where it is listed, those without a place at the
    program's file."""
    try:
        return at_span(entry.at("file"), arrow)
    except Failed as failed:
        raise Failed(*(_listed(entry, d) for d in failed.diagnostics)) from failed


def _listed(entry: ProjectEntry, d: Diagnostic) -> Diagnostic:
    name = dict(d.witness).get("define")
    key = next((k for k in ("const", "const_pattern") if name in getattr(entry, k)), None)
    if key is None:
        return d
    own = (label for label in d.labels if label.span.source is not entry.source)
    return replace(d, labels=(Label(entry.at(key)), *own))


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
