"""Keys of results: one result may stand for another if and only if their keys are equal.

A key is the SHA-256 of named parts, so that a message can say which of them differ.
"""

import json
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any

from mdh.ir.program import Program
from mdh.machine import Machine
from mdh.schedule.canonical import canonical
from mdh.schedule.model import Schedule, Section
from mdh.schedule.printer import print_schedule
from mdh.schedule.where import names_of
from mdh.tuner.records.meaning import program_meaning

Parts = tuple[tuple[str, str], ...]
"""Pairs (name, text) of everything that decides a result; their order does not matter."""


_MEASURED = frozenset(
    {
        "memory",
        "clock",
        "bandwidth",
        "peak_f32",
        "peak_f64",
        "tensor_f16",
        "tensor_tf32",
        "tensor_i8",
        "tensor_f64",
        "tensor_f8",
    }
)
_ESTIMATED = frozenset({"partitions"})
"""Fields that only estimated times depend on."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and with which versions candidates are built, judged and timed.

    title: of the device. versions: (`mdh`, `0.1.0`), (`nvrtc`, `13.0`), … of tool, compiler, runtime, driver.
    check: the level at which results are judged, in the caller's words (`2 inputs`).
    """

    machine: Machine
    target: str
    title: str
    deterministic: bool = False
    versions: tuple[tuple[str, str], ...] = ()
    check: str = ""
    at: tuple[tuple[str, int], ...] = ()
    """Values of the program's open sizes, at which candidates are judged and timed."""


def candidate_key(program: Program, schedule: Schedule, setting: Setting) -> str:
    """The key of one kernel and its results: hex SHA-256."""
    return key_of(key_parts(program, schedule, setting))


def key_of(parts: Parts) -> str:
    return _digest(sorted(list(part) for part in parts))


def key_parts(program: Program, schedule: Schedule, setting: Setting) -> Parts:
    """The parts of a key. Short ones are kept as they are, and long ones as name and digest. `arrays` repeats
    a part of `program`, so that messages can name other sizes and types."""
    machine = setting.machine
    return (
        *program_parts(program, deterministic=setting.deterministic),
        ("schedule", schedule_part(schedule)),
        ("constants", ", ".join(f"{n}={v}" for n, v in _constants(program, schedule))),
        ("machine", machine_part(machine)),
        ("device", setting.title),
        ("target", setting.target),
        ("check", setting.check),
        *((("at", ", ".join(f"{name}={value}" for name, value in setting.at)),) if setting.at else ()),
        *((f"version of {name}", text) for name, text in sorted(setting.versions)),
    )


def machine_part(machine: Machine) -> str:
    """The part of a key for the machine that candidates are checked for."""
    return f"{machine.name} {_digest(_limits(machine))[:32]}"


def program_parts(program: Program, *, deterministic: bool) -> Parts:
    """The parts of a key for what is computed, whatever the schedule and the machine."""
    arrays = "; ".join(f"{b.name} {b.dtype} {'x'.join(map(str, b.shape))}" for b in program.buffers)
    return (
        ("program", f"{program.name} {_digest(program_meaning(program))[:32]}"),
        ("arrays", arrays),
        ("strict_fp", "yes" if program.strict_fp else "no"),
        ("deterministic", "yes" if deterministic else "no"),
        *((("allowed", ", ".join(program.allowed)),) if program.allowed else ()),
    )


def schedule_part(schedule: Schedule) -> str:
    """The part of a key for a schedule."""
    return _digest(schedule_meaning(schedule))[:32]


def schedule_meaning(schedule: Schedule) -> str:
    """The canonical text without comments and header lines: what decides the space or the kernel."""
    plain = replace(canonical(schedule), target=None, program=None, sizes=(), comments=(), trailing=())
    return print_schedule(replace(plain, sections=tuple(map(_bare, plain.sections))))


def _bare(section: Section) -> Section:
    steps = tuple(replace(step, comments=(), remark="", slash=False) for step in section.steps)
    wheres = tuple(replace(where, comments=(), remark="") for where in section.wheres)
    fuses = tuple(replace(fuse, comments=(), remark="") for fuse in section.fuses)
    return replace(section, steps=steps, wheres=wheres, fuses=fuses, comments=(), remark="")


def _constants(program: Program, schedule: Schedule) -> list[tuple[str, int]]:
    """The program's macros that conditions of the schedule name. Others change nothing."""
    named = {n.text for s in schedule.sections for w in s.wheres for n in names_of(w.condition)}
    return [(name, value) for name, value in program.constants if name in named]


def _limits(machine: Machine) -> dict[str, Any]:
    """The fields of a machine that decide whether a schedule is legal and which kernel it gives. Speeds and
    memory sizes are left out, because some drivers report momentary values. So is what a file does not say:
    keys of before there was such a field stay what they are."""
    without = _MEASURED | _ESTIMATED | (frozenset() if machine.clustered_units else {"clustered_units"})
    return {name: value for name, value in asdict(machine).items() if name not in without}


def _digest(value: Any) -> str:
    """Hex SHA-256 of a value's canonical JSON text."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode("ascii")).hexdigest()
