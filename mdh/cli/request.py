"""The user's request as one value: the options that `check`, `compile`, `run` and `explain` share."""

from dataclasses import dataclass

from mdh.cli.command_line import CommandLine


@dataclass(frozen=True, slots=True)
class Request:
    """Words as typed; nothing has been read yet. defines, sets: the words after -D and --set."""

    line: CommandLine
    file: str
    schedule: str | None = None
    target: str | None = None
    machine: str | None = None
    device: str | None = None
    defines: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    function: str | None = None
    strict_fp: bool = False
    deterministic: bool = False

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the call reads."""
        return tuple(p for p in (self.file, self.schedule, self.machine) if p is not None)
