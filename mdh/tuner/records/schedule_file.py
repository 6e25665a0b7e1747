"""Writes the best schedule without holes; its head says what was measured, how, when and on what."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from mdh.machine import machine_names
from mdh.report.text import seconds_text
from mdh.results.trial import Trial
from mdh.schedule.canonical import canonical
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.tuner.records.disk import replace_file
from mdh.tuner.records.header import Header, moment_text


@dataclass(frozen=True, slots=True)
class Search:
    """The result of a search. seconds: of tuning. baselines: what the best is compared with, by name
    (`default schedule`), in seconds a run. unconfirmed: why the finals could not confirm the best."""

    trials: int
    failed: int
    seconds: float
    baselines: tuple[tuple[str, float], ...] = ()
    unconfirmed: str = ""


def best_schedule_text(header: Header, trial: Trial, search: Search) -> str:
    """The trial's schedule in canonical form, with `key: value` comments at its head. The user's own comments
    stay below them. `target` is set if mdh knows the machine by name."""
    schedule = canonical(parse_schedule(Source("<best schedule>", trial.candidate.schedule)))
    lines = _lines(header, trial, search)
    # those of an earlier tuning are replaced
    kept = [line for line in schedule.comments if line.partition(":")[0] not in lines]
    target = header.machine if header.machine in machine_names() else schedule.target
    told = (f"{key}: {_one_line(text)}" for key, text in lines.items() if _one_line(text))
    return print_schedule(replace(schedule, comments=(*told, *kept), target=target, program=header.program))


def write_best_schedule(path: str | Path, header: Header, trial: Trial, search: Search) -> None:
    """Writes the file atomically. Raises Failed F111."""
    replace_file(path, best_schedule_text(header, trial, search).encode("utf-8"))


def _lines(header: Header, trial: Trial, search: Search) -> dict[str, str]:
    """The comment lines by their keys, in their order."""
    o = trial.outcome
    clocks = f", {' and '.join(f'{c:g}' for c in o.clocks)} MHz" if o.clocks else ""
    samples = f"median of {len(o.warm)} warm runs, {o.clock} clock{clocks}"
    method = header.method
    if trial.phase == "quick":
        # a trial that only the search measured says so
        finals = f"finals could not confirm it ({search.unconfirmed})" if search.unconfirmed else "no finals"
        method = f"{method.partition(';')[0]}; {finals}"
    return {
        "tuned": f"trial {trial.number}, {trial.phase}, proposed by {trial.origin}",
        "program": header.program,
        "sizes": _pairs(header.sizes),
        "types": " ".join(f"{name} {text}" for name, text in header.types),
        "device": f"{o.title or header.device} ({header.machine}, {header.target})",
        "time": f"{seconds_text(o.seconds)}, {samples}" if o.seconds is not None else "",
        "cold": f"{seconds_text(median(o.cold))}, median of {len(o.cold)} runs" if o.cold else "",
        "compared": "; ".join(_compared(name, s, o.seconds) for name, s in search.baselines),
        "holes": _pairs(trial.candidate.values),
        "search": f"{search.trials} trials, {search.failed} of them failed, {search.seconds:.0f} s,"
        f" seed {header.seed}",
        "method": method,
        "versions": ", ".join(f"{name} {text}" for name, text in o.versions or header.versions),
        "when": moment_text(trial.started or header.created),
        "command": header.command,
        "record": header.mark,
    }


def _compared(name: str, baseline: float, seconds: float | None) -> str:
    gain = f", {baseline / seconds:.2f} times as long" if seconds else ""
    return f"{name} {seconds_text(baseline)}{gain}"


def _pairs(pairs: tuple[tuple[str, int | str], ...]) -> str:
    return " ".join(f"{name}={value}" for name, value in pairs)


def _one_line(text: str) -> str:
    """The text on one line. Titles and commands come from outside, and a line break would end the comment."""
    return re.sub(
        r"[\s\x00-\x1f\x7f\x85\u2028\u2029]+", " ", text.encode("utf-8", "replace").decode()
    ).strip()
