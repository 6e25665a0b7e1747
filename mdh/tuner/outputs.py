"""The files of a run: the best schedule, complete at every moment; the record; the kernel's folder."""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from mdh.diagnostics import Failed
from mdh.ir.plan import Plan
from mdh.printable import encodable
from mdh.results.trial import Trial
from mdh.target.folder import folder
from mdh.target.text import KernelText
from mdh.tuner.records.disk import replace_file, unwritten
from mdh.tuner.records.header import Header
from mdh.tuner.records.listing import SUFFIX
from mdh.tuner.records.read import read_contents
from mdh.tuner.records.schedule_file import Search, write_best_schedule

_HEAD = 1 << 16
"""Bytes at the beginning of a schedule that hold its head."""


def set_aside(path: str) -> None:
    """Renames a record that is not continued to the next free name. Raises Failed F111."""
    old = Path(path)
    if not os.path.exists(old):
        return
    try:
        old.rename(free_name(old, SUFFIX))
    except OSError as error:
        raise unwritten(path, error) from None


def free_name(path: Path, suffix: str) -> Path:
    """The first free name beside `path`: NAME.1.mdh beside NAME.mdh."""
    names = (path.with_suffix(f".{n}{suffix}") for n in count(1))
    return next(name for name in names if not os.path.exists(name))


def _tuned_by(path: Path, mark: str) -> bool:
    """Whether the tuning of this mark wrote the schedule (its head says so), or the file does not exist."""
    try:
        with path.open("rb") as file:
            return f"record: {mark}".encode() in file.read(_HEAD)
    except FileNotFoundError:
        return True
    except OSError:
        return False


@dataclass
class Outputs:
    """The files NAME.<machine>.mdh and NAME.<machine>.jsonl and the folder NAME.<machine>, in `place`. If
    those belong to another tuning or to the user, the names have this tuning's mark. earlier: a schedule is
    there that no trial of the record found; it is renamed before the first one is written."""

    place: Path
    stem: str
    header: Header
    earlier: bool = False
    written: dict[str, str] = field(default_factory=dict)
    record_path: Path = field(init=False)
    _own: str = field(init=False)

    def __post_init__(self) -> None:
        marked = f"{self.stem}.{self.header.mark[:8]}"
        ours = self._holds_ours(self.place / f"{self.stem}{SUFFIX}")
        free = ours and _tuned_by(self.place / f"{self.stem}.mdh", self.header.mark)
        self._own = self.stem if free else marked
        # trials that are there are continued, whatever happened to the schedule beside them
        self.record_path = self.place / f"{self.stem if ours else marked}{SUFFIX}"

    @property
    def schedule_path(self) -> Path:
        return self.place / f"{self._own}.mdh"

    def _holds_ours(self, record: Path) -> bool:
        """Whether there is no record, or this tuning is in it."""
        try:
            held = (
                [s.header.mark for s in read_contents(str(record)).sections] if os.path.exists(record) else []
            )
        except Failed:
            # opening the record reports what is wrong with it
            held = []
        return not held or self.header.mark in held

    def demand_place(self) -> None:
        """Makes the folder and tests that files can be made in it, before hours are spent. Raises Failed
        F111."""
        try:
            self.place.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.place):
                pass
        except OSError as error:
            raise unwritten(self.schedule_path, error) from None

    def write_schedule(self, trial: Trial | None, search: Search) -> None:
        """Writes the best schedule so far. None: the one that was written proved wrong, and nothing else is
        right. Raises Failed F111."""
        if self.earlier:
            self._keep_earlier()
        if trial is None:
            self.schedule_path.unlink(missing_ok=True)
            self.written.pop("schedule", None)
            return
        write_best_schedule(self.schedule_path, self.header, trial, search)
        self.written["schedule"] = str(self.schedule_path)

    def _keep_earlier(self) -> None:
        """Renames the earlier schedule. Raises Failed F111."""
        path = self.schedule_path
        if os.path.exists(path):
            kept = free_name(path, ".mdh")
            try:
                replace_file(kept, path.read_bytes())
            except OSError as error:
                raise unwritten(path, error) from None
            self.written["earlier"] = str(kept)
        self.earlier = False

    def write_kernel(
        self, text: KernelText, plan: Plan, defines: Mapping[str, str | int], schedule: str
    ) -> None:
        """Writes the folder that `mdh compile -o` writes. Raises Failed F111."""
        files = folder(text, plan.program, schedule, defines=defines, arch=plan.machine.arch)
        inside = self.place / self._own
        for name, content in files.items():
            replace_file(inside / name, encodable(content).encode("utf-8"))
        self.written["kernel"] = f"{inside}/"
