"""The first line of a record: what was tuned, where, how, and with which versions."""

from dataclasses import dataclass
from datetime import UTC, datetime

from mdh.ir.program import Program
from mdh.results.trial import Duration
from mdh.schedule.model import Schedule
from mdh.schedule.printer import print_schedule
from mdh.tuner.records.key import Parts, Setting, key_of, key_parts


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a record. program: the C function. schedule: the text with the holes. sizes: what `-D`
    bound. types: array -> `f32[64][64]`. device: its title. machine, target: what candidates are checked for.
    parts: what the record's key is made of. method: how times are taken, in words. command: what starts the
    same tuning. created: seconds since the epoch. extra: fields of a newer mdh, as JSON text."""

    program: str
    schedule: str
    sizes: tuple[tuple[str, int | str], ...]
    types: tuple[tuple[str, str], ...]
    device: str
    machine: str
    target: str
    parts: Parts
    versions: tuple[tuple[str, str], ...] = ()
    method: str = ""
    command: str = ""
    seed: int = 0
    created: Duration = 0.0
    extra: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str:
        return key_of(self.parts)

    @property
    def mark(self) -> str:
        """The name by which lines of the record refer to this header."""
        return self.key[:16]


def header_of(
    program: Program,
    template: Schedule,
    setting: Setting,
    *,
    sizes: tuple[tuple[str, int | str], ...] = (),
    method: str = "",
    command: str = "",
    seed: int = 0,
    created: float = 0.0,
) -> Header:
    """The header of a new record."""
    types = ((b.name, f"{b.dtype}{''.join(f'[{n}]' for n in b.shape)}") for b in program.buffers)
    return Header(
        program=program.name,
        schedule=print_schedule(template),
        sizes=sizes,
        types=tuple(types),
        device=setting.title,
        machine=setting.machine.name,
        target=setting.target,
        parts=key_parts(program, template, setting),
        versions=setting.versions,
        method=method,
        command=command,
        seed=seed,
        created=created,
    )


def moment_text(seconds: float) -> str:
    """Seconds since the epoch as ISO 8601 in UTC; empty for 0, and for times outside of the calendar."""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if seconds else ""
    except (ValueError, OverflowError, OSError):
        return ""
