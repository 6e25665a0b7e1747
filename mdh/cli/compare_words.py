"""Turns the words of `mdh compare` into its task. Wrong words are reported at their place."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from os.path import realpath
from pathlib import Path

from mdh.cli.command_line import CommandLine, at_word
from mdh.cli.console import log
from mdh.cli.files import read_schedule
from mdh.cli.job import defines_of, load_timed_program
from mdh.cli.options import Request
from mdh.cli.trace import Trace
from mdh.cli.values import device_or_default
from mdh.compare.closing import is_open
from mdh.compare.library import NAMES
from mdh.compare.recorded import Shelf, shelf_of
from mdh.compare.task import Away, Contender, Task
from mdh.device.api import demand_spec
from mdh.diagnostics import Failed
from mdh.ir.program import Program
from mdh.machine import load_machine, machine_names
from mdh.results.comparison import Entry, Peer
from mdh.results.trial import Job
from mdh.schedule.cases import demand_one
from mdh.tuner.duration import parse_duration
from mdh.tuner.records.listing import SUFFIX
from mdh.wording import meant

DEFAULT = "default"
"""The name of mdh's own schedule in --schedule."""


@dataclass(frozen=True, slots=True)
class CompareWords:
    """The options as typed. records: None if the option is absent."""

    schedules: tuple[str, ...]
    devices: tuple[str, ...]
    machines: tuple[str, ...]
    records: tuple[str, ...] | None
    baselines: tuple[str, ...]
    budget: str | None
    repeat: int
    seed: int
    drawn: bool = False


def task_of(request: Request, words: CompareWords) -> Task:
    """The task. Raises Failed for wrong words (F210, D110, F150, F190) and for errors in the files."""
    line = request.line
    words = replace(words, schedules=_expanded(line, words.schedules))
    budget = words.budget
    seconds = None if budget is None else at_word(line, budget, lambda: parse_duration(budget))
    # one file may have several spellings
    files = [s if s == DEFAULT else realpath(s) for s in words.schedules]
    _once(line, "--schedule", words.schedules, files)
    _once(line, "--baseline", words.baselines, words.baselines)
    places = words.records or ()
    _once(line, "--records", places, [realpath(p) for p in places])
    devices, machines = _devices(line, words), _machines(line, words)
    _known(line, words.baselines)
    contenders = _contenders(line, words)
    program = load_timed_program(request, Trace())
    shelf = _shelf(request, words, program)
    _remark(contenders, shelf, words, program)
    assert program.source is not None
    defines = tuple(defines_of(request).items())
    job = Job(
        program.source.name, program.source.text, defines, request.function, request.strict_fp,
        request.deterministic, "", words.seed, request.allow,
    )  # fmt: skip
    place = next((p for p in words.records or () if os.path.isdir(p) or _to_come(words, p)), None)
    peers = tuple(map(Peer.product, words.baselines))
    return Task(
        job, program, contenders, devices, machines, peers, shelf, seconds, place, words.repeat,
        command=line.source.text, drawn=words.drawn,
    )  # fmt: skip


def _expanded(line: CommandLine, given: Sequence[str]) -> tuple[str, ...]:
    """The words after --schedule, with its schedules in the place of a folder, `step2` before `step10`.
    Raises Failed F102 for a folder without schedules."""
    out: list[str] = []
    for word in given:
        if not os.path.isdir(word) or word == DEFAULT:
            out.append(word)
            continue
        found = sorted(Path(word).glob("*.mdh"), key=_in_order)
        if not found:
            headline = f"the folder `{word}` holds no schedule"
            raise line.fail("F102", headline, word, help="give a folder with files *.mdh, or a schedule")
        out.extend(map(str, found))
    return tuple(out)


def _in_order(path: Path) -> list[tuple[int, str]]:
    """Names in the order of their letters and whole numbers."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", path.name)]


def _once(line: CommandLine, option: str, given: Sequence[str], meant: Sequence[str]) -> None:
    """Raises Failed F210 if two words mean the same. meant: the meaning of each of `given`."""
    for n, one in enumerate(meant):
        if one in meant[:n]:
            headline = f"{option} names `{given[n]}` twice"
            raise line.fail("F210", headline, given[n], help="name each once", last=True)


def _devices(line: CommandLine, words: CompareWords) -> tuple[str, ...]:
    """The devices; without devices and machines, the default device. Raises Failed D110, F210."""
    for spec in words.devices:
        at_word(line, spec, partial(demand_spec, spec))
    numbered = [s if ":" in s or s == "oclgrind" else f"{s}:0" for s in words.devices]
    _once(line, "--device", words.devices, numbered)
    return words.devices if words.devices or words.machines else (device_or_default(None),)


def _machines(line: CommandLine, words: CompareWords) -> tuple[Away, ...]:
    """The machines. One without a file of mdh's is named after its file: all CPUs have one name."""
    found = []
    for word in words.machines:
        machine = at_word(line, word, partial(load_machine, word))
        name = machine.name if machine.name in machine_names() else Path(word).stem
        found.append(Away(name, machine))
    _once(line, "--machine", words.machines, [a.name for a in found])
    return tuple(found)


def _known(line: CommandLine, names: Sequence[str]) -> None:
    """Raises Failed F210 for an unknown library."""
    for name in names:
        if name not in NAMES:
            hint = meant(name, NAMES, always=f"baselines: {', '.join(NAMES)}")
            raise line.fail("F210", f"no baseline is called `{name}`", name, help=hint)


def _contenders(line: CommandLine, words: CompareWords) -> tuple[Contender, ...]:
    """The schedules, named after their files, with as many folders as tell them apart. Raises Failed F101 to
    F105, S1xx."""
    run = Trace().pipeline
    names = _names([p for p in words.schedules if p != DEFAULT], (DEFAULT, *words.baselines))
    out = []
    for path in words.schedules:
        if path == DEFAULT:
            out.append(Contender(Entry(DEFAULT), None))
            continue
        schedule = run.schedule(read_schedule(line, path))
        demand_one(schedule, "compare takes a schedule for fixed sizes: write the steps of a case to a file")
        out.append(Contender(Entry(names[path], path), schedule))
    return tuple(out)


def _names(paths: Sequence[str], others: Sequence[str]) -> dict[str, str]:
    """Path -> the shortest end of it, in whole words and without its suffix, that is not an end of another
    path and not one of `others`; the whole path if there is none."""
    parts = {p: Path(realpath(p)).with_suffix("").parts for p in paths}
    out = {}
    for path, mine in parts.items():
        rest = [theirs for other, theirs in parts.items() if other != path]
        ends = (mine[-n:] for n in range(1, len(mine)))
        end = next(
            (e for e in ends if all(e != r[-len(e) :] for r in rest) and "/".join(e) not in others), None
        )
        out[path] = path if end is None else "/".join(end)
    return out


def _shelf(request: Request, words: CompareWords, program: Program) -> Shelf:
    """The records in the named folders and files, else in this folder. Raises Failed F101, F197, F170 …"""
    line, deterministic = request.line, request.deterministic
    if words.records is None:
        try:
            return shelf_of((".",), program, deterministic=deterministic)
        except (OSError, Failed):
            # nobody asked for it
            return Shelf()
    found = [
        at_word(line, place, partial(shelf_of, (place,), program, deterministic=deterministic))
        for place in words.records
        if not _to_come(words, place)
    ]
    return Shelf(
        tuple(s for one in found for s in one.sections),
        sum(one.others for one in found),
        tuple(r for one in found for r in one.remarks),
    )


def _to_come(words: CompareWords, place: str) -> bool:
    """Whether this is a folder that does not exist yet, for what --budget tunes."""
    return words.budget is not None and not os.path.exists(place) and Path(place).suffix != SUFFIX


def _remark(contenders: Sequence[Contender], shelf: Shelf, words: CompareWords, program: Program) -> None:
    """Remarks about what the user might not expect, before anything runs."""
    for remark in shelf.remarks if words.records is not None else ():
        log(remark)
    there = [p for p in words.records or () if not _to_come(words, p)]
    if there and not shelf.sections:
        others = "" if not shelf.others else f"; there are {shelf.others} of other programs or sizes"
        log(f"no record in {', '.join(there)} is of `{program.name}` with these sizes{others}")
    open_ = [c.entry.name for c in contenders if is_open(c.schedule)]
    if open_ and not shelf.sections and words.budget is None:
        holes = "has holes and no tuning" if len(open_) == 1 else "have holes and no tuning"
        tunes = "; --budget 1m tunes" if words.devices or not words.machines else ""
        log(f"{', '.join(open_)} {holes} on record: a first point is taken{tunes}")
