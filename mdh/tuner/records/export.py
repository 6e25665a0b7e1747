"""Records for other tools: JSON Lines, CSV, and the T4 results format of the autotuning community.

T4: https://github.com/odgaard/TuningSchema, results-schema.json, version 1.0.0. Its times have no unit; here
they are milliseconds, as in the files of the tools that write it.
"""

import csv
import io
import json
from collections.abc import Sequence
from typing import Any, assert_never

from mdh.printable import encodable
from mdh.results.trial import Failure, Trial
from mdh.tuner.records.form import header_fields, trial_fields
from mdh.tuner.records.header import Header, moment_text
from mdh.tuner.records.line import seal
from mdh.tuner.records.read import RecordSection

FORMATS = ("jsonl", "csv", "t4")
T4_VERSION = "1.0.0"

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_COLUMNS = (
    "program", "machine", "device", "record", "trial", "origin", "phase", "failure", "code", "message",
    "seconds", "samples", "clock", "stopped", "build_seconds", "check_seconds", "measure_seconds", "started",
    "elapsed", "key", "schedule",
)  # fmt: skip


def export_text(form: str, sections: Sequence[RecordSection]) -> str:
    """The text of the sections. form: one of FORMATS; t4 has room for the first section only."""
    match form:
        case "jsonl":
            return jsonl_text(sections)
        case "csv":
            return csv_text(sections)
        case _:
            return t4_text(sections[0])


def jsonl_text(sections: Sequence[RecordSection]) -> str:
    """The record format itself, with checksums."""
    lines = []
    for section in sections:
        lines.append(seal(header_fields(section.header)))
        lines.extend(seal(trial_fields(t, section.header.mark)) for t in section.trials)
    return b"".join(lines).decode("ascii")


def csv_text(sections: Sequence[RecordSection]) -> str:
    """A row for each trial: fixed columns, then one for each hole. Times are in seconds. A text that a
    spreadsheet would take for a formula begins with an apostrophe."""
    holes = dict.fromkeys(n for s in sections for t in s.trials for n, _ in t.candidate.values)
    rows = [_csv_row([*_COLUMNS, *holes])]
    for section in sections:
        for trial in section.trials:
            values = dict(trial.candidate.values)
            row = [*_row(section.header, trial), *(values.get(name, "") for name in holes)]
            rows.append(_csv_row([_cell(cell) if isinstance(cell, str) else cell for cell in row]))
    return "".join(rows)


def _csv_row(cells: Sequence[object]) -> str:
    """A row with its newline. The csv library quotes a carriage return only if rows end in one."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue().removesuffix("\r\n") + "\n"


def t4_text(section: RecordSection) -> str:
    results = [_t4(trial) for trial in section.trials]
    return json.dumps({"schema_version": T4_VERSION, "results": results}, indent=1, allow_nan=False) + "\n"


def _row(header: Header, trial: Trial) -> list[object]:
    o = trial.outcome
    return [
        header.program, header.machine, o.title or header.device, header.mark, trial.number, trial.origin,
        trial.phase, "" if o.failure is None else str(o.failure), o.code, o.message,
        "" if o.seconds is None else o.seconds, len(o.warm), o.clock, int(o.stopped), o.build_seconds,
        o.check_seconds, o.measure_seconds, moment_text(trial.started), trial.elapsed, trial.candidate.key,
        trial.candidate.schedule,
    ]  # fmt: skip


def _t4(trial: Trial) -> dict[str, Any]:
    o = trial.outcome
    found = [{"name": name, "value": value, "unit": ""} for name, value in o.resources]
    if o.seconds is not None:
        found.insert(0, {"name": "time", "value": o.seconds * 1e3, "unit": "ms"})
    return {
        "timestamp": moment_text(trial.started),
        "configuration": dict(trial.candidate.values) or {"schedule": trial.candidate.schedule},
        "objectives": ["time"],
        "times": {
            "compilation_time": o.build_seconds * 1e3,
            "runtimes": [s * 1e3 for s in o.warm],
            "framework": 0.0,
            "search_algorithm": 0.0,
            "validation": o.check_seconds * 1e3,
        },
        "invalidity": _invalidity(o.failure),
        "correctness": int(o.failure is None),
        "measurements": found,
    }


def _invalidity(failure: Failure | None) -> str:
    """T4's class for a failure. A failed launch and a process that died are `runtime`."""
    match failure:
        case None:
            return "correct"
        case Failure.LAUNCH | Failure.CRASH | Failure.RUNTIME:
            return "runtime"
        case Failure.WRONG:
            return "correctness"
        case Failure.COMPILE | Failure.TIMEOUT | Failure.CONSTRAINTS:
            return str(failure)
        case _:
            assert_never(failure)


def _cell(text: str) -> str:
    """A text that is no formula for a spreadsheet, with an apostrophe before it if needed. Invalid bytes of
    compilers' messages are escaped."""
    shown = encodable(text)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown
